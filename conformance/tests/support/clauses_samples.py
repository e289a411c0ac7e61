"""Damages that can be made to any table with files of that kind, whoever wrote it: one list for each topic of the validator.

A damage edits a table in memory. It raises `NotPossible` if the table has no place for it.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t

from hudi_conformance.validator.stored.table import StoredTable, load_table
from hudi_reference.clock import ManualClock
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.bloom.bloom import make_file_filter
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.partitions import IndexGroups
from hudi_reference.metadata.records import ColumnStats, MetadataRecord, PartitionStats, SecondaryEntry
from hudi_reference.metadata.schema import SCHEMA as METADATA_SCHEMA
from hudi_reference.metadata.writer import Entries, encode_log_file
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State

#: After all golden tables were made, so that no writer is at work.
LATER = 2_000_000_000_000
WRONG, LOST, SPACE, COSMETIC = "wrong-answers", "data-lost", "lost-space", "cosmetic"


class NotPossible(Exception):
    """The table has no place for the damage."""


@dataclass(frozen=True)
class Clause:
    """A damage. One of `rules` must be found with that severity, and no rule of these before the damage."""

    name: str
    rules: tuple[str, ...]
    severity: str
    edit: Callable[[Storage], object]

    def __str__(self) -> str:
        return self.name


def copied(folder: Path) -> Storage:
    """The table in a folder, in memory, with the times of its files."""
    storage = MemoryStorage()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            storage.put(path.relative_to(folder).as_posix(), path.read_bytes())
    return storage


def stored(storage: Storage) -> StoredTable:
    """The table as the validator finds it."""
    return load_table("memory:///clauses", storage=storage, clock=ManualClock(LATER))


def first(found: Any) -> Any:
    """The first of several. Raises NotPossible if there is none."""
    for one in found:
        return one
    raise NotPossible


def last(found: Any) -> Any:
    """The last of several. Raises NotPossible if there is none."""
    return first(reversed(list(found)))


# Places.


def writes(storage: Storage) -> list[Instant]:
    """The completed writes of the active timeline whose metadata names data files, by requested time."""
    table = stored(storage)
    return [instant for instant, commit in table.commits.items() if any(stat.path for stat in commit.stats)]


def path_of(storage: Storage, instant: Instant) -> str:
    """The path of the file of an instant."""
    return stored(storage).path_of(instant)


def latest_base_files(storage: Storage) -> list[str]:
    """The base files of the latest slices that the active timeline names."""
    table = stored(storage)
    named = {path for commit in table.commits.values() for path in commit.paths}
    found = (one.path(one.base_file) for one in table.groups.latest_slices if one.base_file)
    return sorted(path for path in found if path in named)


def older_base_files(storage: Storage) -> list[str]:
    """Base files of earlier slices that the active timeline names."""
    table = stored(storage)
    latest = set(latest_base_files(storage))
    named = {path for commit in table.commits.values() for path in commit.paths}
    slices = (one for group in table.groups for one in group.slices if one.base_file)
    found = {one.path(one.base_file or "") for one in slices} - latest
    return sorted(path for path in found if path in named and path in table.listing.files)


def latest_log_files(storage: Storage) -> list[str]:
    """The log files of the latest slices that the active timeline names."""
    table = stored(storage)
    named = {path for commit in table.commits.values() for path in commit.paths}
    return sorted(path for one in table.groups.latest_slices for path in map(one.path, one.log_files) if path in named)


def change_record(storage: Storage, instant: Instant, change: Callable[[Any], object]) -> None:
    """Change the record in the completed file of an action."""
    table = stored(storage)
    path = table.path_of(instant)
    record = read_action(storage.get(path), path, instant)
    change(record)
    if storage.get(path).lstrip()[:1] == b"{":
        storage.put(path, json.dumps(record).encode())
    else:
        storage.put(path, write_action(instant, record, bytes(16)))


def properties(**changes: str | None) -> Callable[[Storage], None]:
    """Change properties, with a right checksum; `__` stands for a point."""
    given = {key.replace("__", "."): value for key, value in changes.items()}
    return lambda storage: t.change_properties(storage, given)


def entry(storage: Storage, key: str) -> str | None:
    """The value of a property."""
    return load(storage.get(PROPERTIES_PATH)).get(key)


def needs(key: str, edit: Callable[[Storage], object]) -> Callable[[Storage], object]:
    """An edit of tables that have a property."""

    def checked(storage: Storage) -> object:
        if not entry(storage, key):
            raise NotPossible
        return edit(storage)

    return checked


def rewrite(storage: Storage, path: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Store a base file with changed rows, the same footer entries, and commit metadata that has its size."""
    metadata = pq.read_schema(pa.BufferReader(storage.get(path))).metadata
    sink = pa.BufferOutputStream()
    pq.write_table(change(read_base_file(storage, path)).replace_schema_metadata(metadata), sink)
    storage.put(path, sink.getvalue().to_pybytes())
    resize(storage, path)


def resize(storage: Storage, path: str) -> None:
    """The metadata of the write of a file has its present size."""
    for instant in writes(storage):
        if path in stored(storage).commits[instant].paths:

            def change(record: Any) -> None:
                for stat in t.stats_of(record):
                    if stat["path"] == path:
                        stat["fileSizeInBytes"] = stat["totalWriteBytes"] = len(storage.get(path))

            change_record(storage, instant, change)


def with_value(name: str, value: Any, row: int = 0) -> Callable[[pa.Table], pa.Table]:
    """Changes one value of a column."""

    def change(table: pa.Table) -> pa.Table:
        if name not in table.column_names or table.num_rows <= row:
            raise NotPossible
        number, field = table.column_names.index(name), table.schema.field(name)
        values = table.column(name).to_pylist()
        values[row] = value
        return table.set_column(number, field.with_nullable(True), pa.array(values, field.type))

    return change


def in_base(change: Callable[[pa.Table], pa.Table]) -> Callable[[Storage], None]:
    """Changes the rows of a latest base file that is Parquet and has at least one row."""

    def edit(storage: Storage) -> None:
        path = last(p for p in latest_base_files(storage) if p.endswith(".parquet") and read_base_file(storage, p).num_rows)
        rewrite(storage, path, change)

    return edit


# Properties and layout.


def _other_boolean(key: str) -> Callable[[Storage], object]:
    return lambda s: t.change_properties(s, {key: "true" if (entry(s, key) or "false").lower() == "false" else "false"})


def _to_copy_on_write(storage: Storage) -> None:
    if not latest_log_files(storage):
        raise NotPossible
    t.change_properties(storage, {"hoodie.table.type": "COPY_ON_WRITE"})


def _add_to_list(key: str, value: str) -> Callable[[Storage], object]:
    return needs(key, lambda s: t.change_properties(s, {key: f"{entry(s, key)},{value}"}))


RECORD_KEY, PARTITION = "hoodie.table.recordkey.fields", "hoodie.table.partition.fields"
PROPERTIES = (
    Clause(
        "wrong checksum", ("PROP-011",), WRONG, lambda s: t.change_properties(s, {"hoodie.table.checksum": "1"}, checksum=False)
    ),
    Clause(
        "another name, old checksum",
        ("PROP-011",),
        WRONG,
        lambda s: t.change_properties(s, {"hoodie.table.name": "other"}, checksum=False),
    ),
    Clause("no table name", ("PROP-004",), WRONG, properties(hoodie__table__name=None)),
    Clause("no table type", ("PROP-005",), WRONG, properties(hoodie__table__type=None)),
    Clause("unknown table type", ("PROP-005",), WRONG, properties(hoodie__table__type="MERGE_ON_MOON")),
    Clause("no version", ("PROP-006",), WRONG, properties(hoodie__table__version=None)),
    Clause("version 99", ("COMPAT-004",), WRONG, properties(hoodie__table__version="99")),
    Clause("version 3", ("COMPAT-002",), WRONG, properties(hoodie__table__version="3")),
    Clause("layout 7", ("PROP-010",), WRONG, properties(hoodie__timeline__layout__version="7")),
    Clause("no layout", ("PROP-010",), WRONG, properties(hoodie__timeline__layout__version=None)),
    Clause("unknown merge mode", ("MRG-016",), WRONG, properties(hoodie__record__merge__mode="BY_MOON")),
    Clause("copy-on-write with log files", ("TL-038",), WRONG, _to_copy_on_write),
    Clause(
        "record key that is no column",
        ("PROP-007",),
        WRONG,
        needs(RECORD_KEY, properties(hoodie__table__recordkey__fields="no_such_column")),
    ),
    Clause(
        "partition field that is no column",
        ("PROP-008",),
        WRONG,
        needs(PARTITION, properties(hoodie__table__partition__fields="no_such_column")),
    ),
    Clause(
        "ordering field that is no column",
        ("PROP-009",),
        COSMETIC,
        needs("hoodie.table.precombine.field", properties(hoodie__table__precombine__field="no_such_column")),
    ),
    Clause("unknown format of base files", ("PROP-001",), WRONG, properties(hoodie__table__base__file__format="CSV")),
    Clause("another format of base files", ("BF-010",), WRONG, properties(hoodie__table__base__file__format="ORC")),
    Clause(
        "folders without names of fields",
        ("LAY-018",),
        WRONG,
        needs(PARTITION, _other_boolean("hoodie.datasource.write.hive_style_partitioning")),
    ),
    Clause("no partition fields", ("PROP-008",), WRONG, needs(PARTITION, properties(hoodie__table__partition__fields=None))),
    Clause(
        "an index that is not there", ("PROP-012",), WRONG, _add_to_list("hoodie.table.metadata.partitions", "record_indexx")
    ),
    Clause(
        "an index in both lists",
        ("PROP-012",),
        WRONG,
        needs("hoodie.table.metadata.partitions", properties(hoodie__table__metadata__partitions__inflight="files")),
    ),
    Clause("empty properties", ("LAY-013", "PROP-011", "PROP-004"), WRONG, lambda s: s.put(PROPERTIES_PATH, b"")),
    Clause("no properties", ("LAY-013",), WRONG, lambda s: s.delete(PROPERTIES_PATH)),
    Clause("binary properties", ("PROP-011", "PROP-004"), WRONG, lambda s: s.put(PROPERTIES_PATH, bytes(range(256)) * 4)),
)


def _partition(storage: Storage) -> str:
    """A partition with a file of a latest slice and a partition metadata file."""
    files = stored(storage).listing.files
    found = (split_path(path)[0] for path in (*latest_base_files(storage), *latest_log_files(storage)))
    return first(p for p in found if f"{p}/.hoodie_partition_metadata".lstrip("/") in files)


def _metafile(storage: Storage) -> str:
    return f"{_partition(storage)}/.hoodie_partition_metadata".lstrip("/")


def _marker_left(storage: Storage) -> None:
    write, path = last(writes(storage)), last(latest_base_files(storage))
    storage.put(f".hoodie/.temp/{write.requested}/{path}.marker.CREATE", b"")


LAYOUT = (
    Clause("no partition metadata", ("LAY-003",), COSMETIC, lambda s: s.delete(_metafile(s))),
    Clause("wrong depth", ("LAY-003",), COSMETIC, lambda s: s.put(_metafile(s), b"commitTime=1\npartitionDepth=9\n")),
    Clause("junk in partition metadata", ("LAY-003",), COSMETIC, lambda s: s.put(_metafile(s), b"\0\xff\0")),
    Clause("base file without a token", ("BF-003", "TL-036"), LOST, lambda s: _rename(s, last(latest_base_files(s)), "part-0.parquet")),
    Clause("log file with a suffix", ("LF-002", "TL-036"), LOST, lambda s: _rename(s, last(latest_log_files(s)), "{}.bak")),
    Clause("foreign file", ("BF-003",), SPACE, lambda s: s.put(f"{_partition(s)}/part-0001.parquet".lstrip("/"), b"PAR1")),
    Clause("markers of a completed write", ("OCC-027",), SPACE, _marker_left),
    Clause("temporary file in the timeline", ("LAY-017",), SPACE,
           lambda s: s.put(path_of(s, last(writes(s))) + ".tmp.1234", b"x")),
)  # fmt: skip


def _rename(storage: Storage, path: str, name: str) -> None:
    folder, old = split_path(path)
    t.move(storage, path, f"{folder}/{name.format(old)}".lstrip("/"))


# Timeline.


def _swap(storage: Storage) -> None:
    found = [one for one in writes(storage) if stored(storage).commits[one].paths]
    if len(found) < 2:
        raise NotPossible
    one, other = (path_of(storage, instant) for instant in found[-2:])
    first_content, second = storage.get(one), storage.get(other)
    storage.put(one, second)
    storage.put(other, first_content)


def _retime(storage: Storage, instant: Instant, completion: str) -> None:
    if stored(storage).properties.is_legacy:
        raise NotPossible
    path = path_of(storage, instant)
    t.move(storage, path, path.replace(f"_{instant.completion}.", f"_{completion}." if completion else "."))


def _remove_action(storage: Storage, number: int) -> None:
    """All files of a write with a later write in its file groups."""
    found = writes(storage)
    if len(found) < 2 - number:
        raise NotPossible
    for file in stored(storage).state_files:
        if file.instant.requested == found[number].requested and file.instant.action != "savepoint":
            storage.delete(file.path)


def _state_file(storage: Storage, state: State) -> str:
    """The pending file of a completed write that still has the other one."""
    table = stored(storage)
    done = {instant.requested: instant for instant in writes(storage)}
    found = [f for f in table.state_files if f.instant.requested in done and f.instant.state is state]
    return last(f.path for f in found if f.instant.action in ("commit", "deltacommit"))


TIMELINE = (
    Clause("empty commit", ("TL-002", "COMPAT-003"), WRONG, lambda s: s.put(path_of(s, last(writes(s))), b"")),
    Clause("cut commit", ("TL-002", "COMPAT-003"), WRONG, lambda s: t.cut(s, path_of(s, last(writes(s))), 50)),
    Clause("binary commit", ("TL-002", "COMPAT-003"), WRONG, lambda s: s.put(path_of(s, last(writes(s))), bytes(range(256)))),
    Clause("swapped commits", ("BF-009", "LF-035"), WRONG, _swap),
    Clause("completed before it was requested", ("TL-004",), WRONG, lambda s: _retime(s, last(writes(s)), "20200101000000000")),
    Clause("no completion time", ("TL-031",), WRONG, lambda s: _retime(s, last(writes(s)), "")),
    Clause("short completion time", ("TL-027", "TL-031"), WRONG, lambda s: _retime(s, last(writes(s)), "20991231")),
    Clause("unknown action", ("TL-037",), LOST, lambda s: t.move(s, path_of(s, last(writes(s))), path_of(s, last(writes(s))) + "x")),
    Clause("an earlier write lost", ("OCC-008", "ARC-004", "TL-036", "RDR-008", "MDT-001"), WRONG, lambda s: _remove_action(s, 0)),
    Clause("a completed write without its requested file", ("TL-048",), COSMETIC,
           lambda s: s.delete(_state_file(s, State.REQUESTED))),
    Clause("a completed write without its inflight file", ("TL-048",), COSMETIC,
           lambda s: s.delete(_state_file(s, State.INFLIGHT))),
)  # fmt: skip


# Files.


def _retyped(table: pa.Table) -> pa.Table:
    name = first(f.name for f in table.schema if not f.name.startswith("_") and pa.types.is_string(f.type))
    number = table.column_names.index(name)
    return table.set_column(number, name, pa.array([[1]] * table.num_rows, pa.list_(pa.int32())))


FILES = (
    Clause("lost base file", ("TL-036",), LOST, lambda s: s.delete(last(latest_base_files(s)))),
    Clause("lost older base file", ("TL-036",), LOST, lambda s: s.delete(last(older_base_files(s)))),
    Clause("lost log file", ("TL-036",), LOST, lambda s: s.delete(last(latest_log_files(s)))),
    Clause("cut base file", ("TL-005",), LOST, lambda s: t.cut(s, last(latest_base_files(s)), 30)),
    Clause("empty base file", ("TL-005",), LOST, lambda s: s.put(last(latest_base_files(s)), b"")),
    Clause("longer base file", ("TL-005",), WRONG, lambda s: _append(s, last(latest_base_files(s)), b"PAR1")),
    Clause("base file of junk", ("BF-002",), LOST, lambda s: _junk(s, last(latest_base_files(s)))),
    Clause("wrong magic of a base file", ("BF-002",), LOST, lambda s: t.flip(s, last(latest_base_files(s)), -1)),
    Clause("cut log file", ("TL-005", "BLK-015"), LOST, lambda s: t.cut(s, last(latest_log_files(s)), 20)),
    Clause("empty log file", ("TL-005",), LOST, lambda s: s.put(last(latest_log_files(s)), b"")),
    Clause("log file of junk", ("BLK-015", "LF-012"), LOST, lambda s: _junk(s, last(latest_log_files(s)))),
    Clause("wrong magic of a block", ("BLK-015", "LF-012"), LOST, lambda s: t.flip(s, last(latest_log_files(s)), 0)),
    Clause("wrong length of a block", ("BLK-015", "LF-024", "LF-010"), LOST, lambda s: t.flip(s, last(latest_log_files(s)), 13)),
    Clause("wrong version of a block", ("LF-027",), WRONG, lambda s: t.flip(s, last(latest_log_files(s)), 17)),
    Clause("base file of another attempt", ("BF-007",), SPACE, lambda s: _copy(s, last(latest_base_files(s)), token="9-9-9")),
    Clause("base file of no write", ("RDR-008", "ARC-004"), SPACE,
           lambda s: _copy(s, last(latest_base_files(s)), instant="20991231000000000")),
    Clause("base file in another partition", ("TL-036",), LOST,
           lambda s: t.move(s, last(latest_base_files(s)), f"elsewhere/{split_path(last(latest_base_files(s)))[1]}")),
    Clause("a column of another type", ("LF-038",), WRONG, in_base(_retyped)),
    Clause("fewer rows", ("TL-007",), LOST, in_base(lambda table: table.slice(1))),
    Clause("no meta columns", ("META-001",), WRONG, in_base(lambda table: table.drop_columns(
        [c for c in table.column_names if c.startswith("_hoodie")][:1] or _none()))),
)  # fmt: skip


def _none() -> Any:
    raise NotPossible


def _append(storage: Storage, path: str, data: bytes) -> None:
    storage.put(path, storage.get(path) + data)


def _junk(storage: Storage, path: str) -> None:
    storage.put(path, (bytes(range(256)) * (len(storage.get(path)) // 256 + 1))[: len(storage.get(path))])


def _copy(storage: Storage, path: str, *, token: str | None = None, instant: str | None = None) -> None:
    folder, name = split_path(path)
    file_id, old_token, rest = name.split("_")
    old_instant, _, extension = rest.partition(".")
    copy = f"{file_id}_{token or old_token}_{instant or old_instant}.{extension}"
    storage.put(f"{folder}/{copy}".lstrip("/"), storage.get(path))


# Deep.


def _duplicate(storage: Storage) -> None:
    in_base(lambda table: pa.concat_tables([table, table.slice(0, 1)]))(storage)


DEEP = (
    Clause("another key", ("META-007",), WRONG, in_base(with_value("_hoodie_record_key", "no such key"))),
    Clause("no key", ("META-007",), WRONG, in_base(with_value("_hoodie_record_key", None))),
    Clause("another partition path", ("META-009",), WRONG, in_base(with_value("_hoodie_partition_path", "no/such/path"))),
    Clause("another file name", ("META-010",), COSMETIC, in_base(with_value("_hoodie_file_name", "other.parquet"))),
    Clause("a commit that never was", ("META-003",), WRONG, in_base(with_value("_hoodie_commit_time", "20200101000000000"))),
    Clause("a commit in the future", ("META-003",), WRONG, in_base(with_value("_hoodie_commit_time", "20990101000000000"))),
    Clause("a row twice", ("PROP-017",), WRONG, _duplicate),
)


# History.


def _history(storage: Storage) -> tuple[str, str]:
    """A level file of the history and its manifest."""
    history = stored(storage).history
    file = first(history.manifest.files if history.manifest is not None else ())
    return f"{history.folder}/{file.name}", f"{history.folder}/manifest_{history.manifest.number}"  # type: ignore[union-attr]


def _drop_archived_row(storage: Storage) -> None:
    """The last archived write whose files are still on storage is removed from the history."""
    path, manifest = _history(storage)
    rows = pq.read_table(pa.BufferReader(storage.get(path)))
    instants = {file.name.instant for file in stored(storage).data_files.values()}
    number = last(n for n, time in enumerate(rows.column("instantTime").to_pylist()) if time in instants)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.concat_tables([rows.slice(0, number), rows.slice(number + 1)]), sink)
    content = json.loads(storage.get(manifest))
    for file in content["files"]:
        if path.endswith(file["fileName"]):
            file["fileLen"] = sink.tell()
    storage.put(path, sink.getvalue().to_pybytes())
    storage.put(manifest, json.dumps(content).encode())


HISTORY = (
    Clause("lost level file", ("LSM-012",), WRONG, lambda s: s.delete(_history(s)[0])),
    Clause("cut level file", ("LSM-011",), WRONG, lambda s: t.cut(s, _history(s)[0], 30)),
    Clause("level file of junk", ("LSM-011", "LSM-017", "LSM-018", "LSM-013"), WRONG, lambda s: _junk(s, _history(s)[0])),
    Clause("cut manifest", ("LSM-010",), WRONG, lambda s: t.cut(s, _history(s)[1], 5)),
    Clause("lost manifest", ("LSM-009", "LSM-010"), WRONG, lambda s: s.delete(_history(s)[1])),
    Clause("lost archived write", ("ARC-004",), WRONG, _drop_archived_row),
    Clause(
        "lost history",
        ("ARC-004", "LSM-007"),
        WRONG,
        lambda s: [_history(s), [s.delete(i.path) for i in list(s.list(stored(s).history.folder))]],
    ),
)


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
    Clause("no filter of a file", ("MDT-001",), COSMETIC, _removed_entry("bloom_filters")),
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
    Clause("lost log file of the listing", ("TL-036",), LOST, lambda s: s.delete(_metadata_file(s, "files", "log"))),
    Clause("lost base file of the listing", ("TL-036",), LOST, lambda s: s.delete(_metadata_file(s, "files", "base"))),
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


# Traces of lost updates and of faults of services.


def _new_instant(storage: Storage, after: Instant, plus: int = 1) -> Instant:
    return replace(after, requested=f"{int(after.requested) + plus:017}",
                   completion=f"{int(after.completion or after.requested) + plus:017}")  # fmt: skip


def publish(storage: Storage, instant: Instant, record: Any) -> str:
    """Store the three files of an action; the path of the completed one."""
    table = stored(storage)
    path = table.path_of(instant)
    storage.put(path, json.dumps(record).encode() if table.properties.is_legacy else write_action(instant, record, bytes(16)))
    for state in (State.REQUESTED, State.INFLIGHT):
        if state is State.INFLIGHT or ACTIONS[instant.action].has_requested:
            storage.put(table.path_of(replace(instant, state=state, completion=None)), b"")
    return path


def _same_parent(storage: Storage) -> None:
    """Another write that was based on the same base file as the last one stored its file a moment later."""
    table = stored(storage)
    write, stat = first(
        (instant, stat) for instant in writes(storage) for stat in table.commits[instant].stats
        if table.commits[instant].operation in ("UPSERT", "INSERT", "DELETE") and stat.previous_base_file and not stat.is_log
        and stat.path in table.listing.files
    )  # fmt: skip
    path = stat.path
    record = read_action(storage.get(table.path_of(write)), table.path_of(write), write)
    stat = first(one for one in t.stats_of(record) if one["path"] == path)
    other = _new_instant(storage, write)
    new = path.replace(write.requested, other.requested)
    storage.put(new, storage.get(path))
    record["partitionToWriteStats"] = {stat["partitionPath"]: [{**stat, "path": new}]}
    publish(storage, other, record)


def _write_after_replacement(storage: Storage) -> None:
    """A write to a file group that completed after the group was replaced."""
    table = stored(storage)
    for replacing, commit in table.commits.items():
        for partition, ids in commit.replaced.items():
            for path, file in table.data_files.items():
                if file.partition == partition and file.name.file_id in ids and path.endswith(".parquet"):
                    owner = next((i for i, c in table.commits.items() if path in c.paths), None)
                    if owner is None or owner.requested >= replacing.requested:
                        continue
                    record = read_action(storage.get(table.path_of(owner)), table.path_of(owner), owner)
                    stat = first(one for one in t.stats_of(record) if one["path"] == path)
                    other = replace(_new_instant(storage, replacing), action=owner.action)
                    new = path.replace(owner.requested, other.requested)
                    storage.put(new, storage.get(path))
                    record["partitionToWriteStats"] = {partition: [{**stat, "path": new, "prevCommit": owner.requested,
                                                                    "prevBaseFile": split_path(path)[1]}]}  # fmt: skip
                    record["operationType"] = "UPSERT"
                    publish(storage, other, record)
                    return
    raise NotPossible


def _rollback_that_ate_a_commit(storage: Storage) -> None:
    """A completed rollback names the last completed write and its files, which are gone."""
    table = stored(storage)
    write = last(writes(storage))
    removed: dict[str, list[str]] = {}
    for path in table.commits[write].paths:
        removed.setdefault(split_path(path)[0], []).append(split_path(path)[1])
        storage.delete(path)
    later = _new_instant(storage, write, 1000)
    record = {
        "startRollbackTime": later.requested, "timeTakenInMillis": 1, "totalFilesDeleted": len(removed),
        "commitsRollback": [write.requested], "version": 1,
        "partitionMetadata": {p: {"partitionPath": p, "successDeleteFiles": names, "failedDeleteFiles": [],
                                  "rollbackLogFiles": {}, "logFilesFromFailedCommit": {}} for p, names in removed.items()},
        "instantsRollback": [{"commitTime": write.requested, "action": write.action}],
    }  # fmt: skip
    publish(storage, replace(later, action="rollback"), record)


def _savepoint_without_files(storage: Storage) -> None:
    """A savepoint of the first write; then its files are gone."""
    table = stored(storage)
    write = first(writes(storage))
    files: dict[str, list[str]] = {}
    for path in sorted(table.commits[write].paths):
        files.setdefault(split_path(path)[0], []).append(split_path(path)[1])
    record = {
        "savepointedBy": "me", "savepointedAt": 1, "comments": "", "version": 1,
        "partitionMetadata": {p: {"partitionPath": p, "savepointDataFile": names} for p, names in files.items()},
    }  # fmt: skip
    publish(storage, replace(_new_instant(storage, write, 0), action="savepoint"), record)
    storage.delete(first(p for p in sorted(table.commits[write].paths) if p in table.listing.files))


def _wedged_index(storage: Storage) -> None:
    """The metadata table ends at the write before the last one: its update never completed."""
    inside = stored(storage).metadata_table
    write = last(writes(storage))
    if inside is None:
        raise NotPossible
    mine = [instant for instant in inside.commits if instant.requested == write.requested]
    for path in [*(p for i in mine for p in inside.commits[i].paths), *(inside.path_of(i) for i in mine)]:
        storage.delete(f"{METADATA_FOLDER}/{path}")
    if not mine:
        raise NotPossible


def _nulled_arrays(storage: Storage) -> None:
    """The newest base file of a group has nulls where the one before has arrays."""

    def change(table: pa.Table) -> pa.Table:
        name = first(f.name for f in table.schema if pa.types.is_list(f.type))
        return table.set_column(table.column_names.index(name), name, pa.nulls(table.num_rows, table.schema.field(name).type))

    in_base(change)(storage)


TRACES = (
    Clause("two writes on one base file", ("OCC-013",), LOST, _same_parent),
    Clause("a write to a replaced group", ("OCC-016", "OCC-013"), LOST, _write_after_replacement),
    Clause("a rollback that removed a completed write", ("TL-019",), LOST, _rollback_that_ate_a_commit),
    Clause("a savepoint without its files", ("TL-021",), LOST, _savepoint_without_files),
    Clause("a metadata table that stays behind", ("MDT-008",), WRONG, _wedged_index),
    Clause("arrays turned null", ("META-004", "CMP-002"), LOST, _nulled_arrays),
)

TOPICS = {
    "properties": PROPERTIES, "layout": LAYOUT, "timeline": TIMELINE, "history": HISTORY, "files": FILES, "rows": DEEP,
    "metadata table": METADATA, "traces": TRACES,
}  # fmt: skip


def all_clauses() -> Iterator[Clause]:
    """All damages."""
    for topic in TOPICS.values():
        yield from topic
