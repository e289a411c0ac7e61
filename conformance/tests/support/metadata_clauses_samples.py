"""Damages of the metadata table."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import validated_tables_samples as t
from clause_places_samples import (
    COSMETIC,
    WRONG,
    Clause,
    NotPossible,
    entry,
    first,
    last,
    latest_base_files,
    latest_log_files,
    stored,
)

from hudi_reference.files.bloom.bloom import make_file_filter
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import split_path
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.keys import bloom_filters_key
from hudi_reference.metadata.partitions import IndexGroups
from hudi_reference.metadata.records import ColumnStats, MetadataRecord, PartitionStats, SecondaryEntry
from hudi_reference.metadata.schema import SCHEMA as METADATA_SCHEMA
from hudi_reference.metadata.writer import Entries, encode_log_file
from hudi_reference.storage import Storage

# The metadata table.


def entries(storage: Storage, index: str) -> dict[str, Any]:
    """The records of an index by key."""
    snapshot = stored(storage).opened.indexes
    if snapshot is None or index not in snapshot.usable:
        raise NotPossible
    return {key: one for found in snapshot.slices(index) for key, one in snapshot.metadata.records_of_slice(found).items()}


def change_index(storage: Storage, index: str, added: Sequence[MetadataRecord] = (), removed: Sequence[str] = ()) -> None:
    """Append blocks with these records and removed keys to the newest log files of an index."""
    snapshot = stored(storage).opened.indexes
    if snapshot is None or index not in snapshot.usable:
        raise NotPossible
    slices = {one.file_id: one for one in snapshot.slices(index)}
    for group, part in Entries(added, removed).in_groups(IndexGroups.from_ids(slices)).items():
        if not slices[group].log_files:
            raise NotPossible
        path = f"{METADATA_FOLDER}/{slices[group].path(slices[group].log_files[-1])}"
        instant = next(iter(read_log_file(storage, path))).instant
        storage.put(path, storage.get(path) + encode_log_file(index, instant, part, METADATA_SCHEMA))


def index_named(storage: Storage, start: str) -> str:
    """The first usable index whose name begins so."""
    return first(
        one for one in (entry(storage, "hoodie.table.metadata.partitions") or "").split(",") if one.startswith(start) and one
    )


def _changed_entry(start: str, pick: Callable[[Any], bool], change: Callable[[Any], Any]) -> Callable[[Storage], None]:
    """Change the payload of the first record that fits."""

    def edit(storage: Storage) -> None:
        index = index_named(storage, start)
        records = sorted(entries(storage, index).items())
        key, record = first((key, one) for key, one in records if pick(one.payload) and _concerns(storage, one.payload))
        change_index(storage, index, [MetadataRecord(key, change(record.payload))])

    return edit


def _concerns(storage: Storage, payload: Any) -> bool:
    """Whether an entry of a file is that of a file of the latest state."""
    name = getattr(payload, "file_name", None)
    return name is None or any(path.endswith(name) for path in (*latest_base_files(storage), *latest_log_files(storage)))


def _removed_entry(start: str, pick: Callable[[str, Any], bool] = lambda key, payload: True) -> Callable[[Storage], None]:
    def edit(storage: Storage) -> None:
        index = index_named(storage, start)
        records = sorted(entries(storage, index).items())
        change_index(
            storage,
            index,
            removed=[first(key for key, one in records if pick(key, one.payload) and _concerns(storage, one.payload))],
        )

    return edit


def _file_list(change: Callable[[dict[str, Any], Storage, str], None]) -> Callable[[Storage], None]:
    """Change the listing of a partition with a latest base file."""

    def edit(storage: Storage) -> None:
        path = last(latest_base_files(storage))
        folder, name = split_path(path)
        record = entries(storage, "files")[folder or "."]
        files = dict(record.payload.files)
        change(files, storage, name)
        change_index(storage, "files", [MetadataRecord(record.key, replace(record.payload, files=files))])

    return edit


def _without_filter(storage: Storage) -> None:
    key = bloom_filters_key(*split_path(last(latest_base_files(storage))))
    if key not in entries(storage, "bloom_filters"):
        raise NotPossible
    change_index(storage, "bloom_filters", removed=[key])


def _has_range(payload: Any) -> bool:
    return (
        isinstance(payload, ColumnStats | PartitionStats) and payload.least is not None and payload.least != payload.greatest
        and not payload.is_deleted and not payload.column.startswith("_hoodie")
    )  # fmt: skip


def _narrow(payload: Any) -> Any:
    return replace(payload, greatest=payload.least, is_tight=True)


def _elsewhere(storage: Storage) -> None:
    records = sorted(entries(storage, index_named(storage, "record_index")).items())
    key, here = first(records)
    there = first(one.payload for _, one in records if one.payload.location.file_id != here.payload.location.file_id)
    change_index(storage, "record_index", [MetadataRecord(key, there)])


def _metadata_file(storage: Storage, index: str, kind: str) -> str:
    """A file of the latest slice of an index: `base` or `log`."""
    snapshot = stored(storage).opened.indexes
    if snapshot is None or index not in snapshot.usable:
        raise NotPossible
    names = [
        one.path(name)
        for one in snapshot.slices(index)
        for name in ((one.base_file,) if kind == "base" else one.log_files)
        if name
    ]
    return f"{METADATA_FOLDER}/{last(names)}"


def _lose_metadata_write(storage: Storage) -> None:
    """The completed file of the last write of the metadata table is lost; its other files stay."""
    inside = stored(storage).metadata_table
    if inside is None:
        raise NotPossible
    storage.delete(f"{METADATA_FOLDER}/{inside.path_of(last(inside.commits))}")


METADATA = (
    Clause(
        "an entry with another size",
        ("MDT-013",),
        WRONG,
        _file_list(lambda files, s, name: files.update({name: replace(files[name], size=files[name].size + 7)})),
    ),
    Clause(
        "a listed file that is deleted",
        ("MDT-008",),
        WRONG,
        _file_list(lambda files, s, name: files.update({name: replace(files[name], is_deleted=True)})),
    ),
    Clause(
        "an entry of a file that is not there",
        ("MDT-008",),
        WRONG,
        _file_list(lambda files, s, name: files.update({_gone(name): files[name]})),
    ),
    Clause(
        "a partition without an entry",
        ("MDT-008",),
        WRONG,
        _removed_entry("files", lambda key, payload: key != "__all_partitions__"),
    ),
    Clause(
        "no list of partitions", ("MDT-007",), WRONG, _removed_entry("files", lambda key, payload: key == "__all_partitions__")
    ),
    Clause("statistics too narrow", ("MDT-010",), WRONG, _changed_entry("column_stats", _has_range, _narrow)),
    Clause(
        "statistics too wide",
        ("MDT-014",),
        COSMETIC,
        _changed_entry(
            "column_stats",
            lambda p: _has_range(p) and isinstance(p.greatest.value, int) and p.file_name.endswith(".parquet"),
            lambda p: replace(p, greatest=replace(p.greatest, value=p.greatest.value + 1000)),
        ),
    ),
    Clause("no statistics", ("MDT-001",), WRONG, _removed_entry("column_stats", lambda key, payload: _has_range(payload))),
    Clause("partition statistics too narrow", ("MDT-010",), WRONG, _changed_entry("partition_stats", _has_range, _narrow)),
    Clause(
        "no partition statistics",
        ("MDT-001",),
        COSMETIC,
        _removed_entry("partition_stats", lambda key, payload: _has_range(payload)),
    ),
    Clause("a key without a location", ("IDX-010",), WRONG, _removed_entry("record_index")),
    Clause("a key located elsewhere", ("IDX-010",), WRONG, _elsewhere),
    Clause(
        "a location of no row",
        ("IDX-010",),
        COSMETIC,
        lambda s: change_index(
            s, "record_index", [MetadataRecord("no such key", first(entries(s, "record_index").values()).payload)]
        ),
    ),
    Clause("no filter of a file", ("MDT-001",), COSMETIC, _without_filter),
    Clause(
        "a filter of other keys",
        ("IDX-004", "IDX-006"),
        WRONG,
        _changed_entry(
            "bloom_filters",
            lambda p: not p.is_deleted,
            lambda p: replace(p, text=make_file_filter(pa.array(["other"])).encode()),
        ),
    ),
    Clause("a secondary entry missing", ("IDX-024",), WRONG, _removed_entry("secondary_index_")),
    Clause(
        "a secondary entry of no row",
        ("IDX-024",),
        COSMETIC,
        lambda s: change_index(s, index_named(s, "secondary_index_"), [MetadataRecord("none$none", SecondaryEntry())]),
    ),
    Clause(
        "expression statistics too narrow",
        ("IDX-035",),
        WRONG,
        _changed_entry("expr_index_", lambda p: isinstance(p, ColumnStats | PartitionStats) and p.least != p.greatest, _narrow),
    ),
    Clause("no expression statistics", ("MDT-001",), COSMETIC, _removed_entry("expr_index_")),
    Clause("lost log file of the listing", ("TL-036",), WRONG, lambda s: s.delete(_metadata_file(s, "files", "log"))),
    Clause("lost base file of the listing", ("TL-036",), WRONG, lambda s: s.delete(_metadata_file(s, "files", "base"))),
    Clause(
        "damaged base file of the listing",
        ("BF-002", "BLK-024"),
        WRONG,
        lambda s: t.flip(s, _metadata_file(s, "files", "base"), 60),
    ),
    Clause(
        "damaged base file of the record index",
        ("BF-002", "BLK-024"),
        WRONG,
        lambda s: t.flip(s, _metadata_file(s, "record_index", "base"), 60),
    ),
    Clause(
        "damaged log file of the listing",
        ("BLK-015", "LF-012", "BLK-022", "BF-002", "MDT-002", "BLK-024", "LF-010"),
        WRONG,
        lambda s: t.flip(s, _metadata_file(s, "files", "log"), len(s.get(_metadata_file(s, "files", "log"))) // 2),
    ),
    Clause("lost write of the metadata table", ("MDT-008", "OCC-008", "TL-036"), WRONG, _lose_metadata_write),
    Clause("cut commit of the metadata table", ("TL-002",), WRONG, lambda s: t.cut(s, _metadata_commit(s), 50)),
)


def _metadata_commit(storage: Storage) -> str:
    inside = stored(storage).metadata_table
    if inside is None:
        raise NotPossible
    return f"{METADATA_FOLDER}/{inside.path_of(last(inside.commits))}"


def _gone(name: str) -> str:
    file_id, token, rest = name.split("_")
    return f"{'0' * 8}{file_id[8:]}_{token}_{rest}"
