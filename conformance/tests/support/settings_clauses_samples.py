"""Damages of properties and of the layout."""

from collections.abc import Callable

import validated_tables_samples as t
from clause_places_samples import (
    COSMETIC,
    LOST,
    SPACE,
    WRONG,
    Clause,
    NotPossible,
    entry,
    first,
    last,
    latest_base_files,
    latest_log_files,
    needs,
    path_of,
    properties,
    stored,
    writes,
)

from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.storage import Storage

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


def _lose_metafile(*, is_listed: bool) -> Callable[[Storage], None]:
    """Lose the partition metadata file in a table whose files a metadata table lists, or in one without it."""

    def edit(storage: Storage) -> None:
        if (b"hoodie.table.metadata.partitions=" in storage.get(PROPERTIES_PATH)) is not is_listed:
            raise NotPossible
        storage.delete(_metafile(storage))

    return edit


def _marker_left(storage: Storage) -> None:
    write, path = last(writes(storage)), last(latest_base_files(storage))
    storage.put(f".hoodie/.temp/{write.requested}/{path}.marker.CREATE", b"")


LAYOUT = (
    Clause("no partition metadata", ("LAY-003",), WRONG, _lose_metafile(is_listed=False)),
    Clause("no partition metadata beside a metadata table", ("LAY-003",), COSMETIC, _lose_metafile(is_listed=True)),
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
