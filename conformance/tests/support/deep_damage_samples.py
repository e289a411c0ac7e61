"""Sound tables in memory, and edits of their rows, log blocks and indexes, for the tests of the deep checks."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from validated_tables_samples import change_properties

from hudi_conformance.validator.all_checks import DEEP
from hudi_conformance.validator.checks.finding import Finding
from hudi_conformance.validator.stored.table import StoredTable, load_table
from hudi_conformance.validator.validation import Validation, validate
from hudi_reference import cluster, compact, create_index, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.bloom.bloom import make_file_filter
from hudi_reference.files.log.block import Block, HeaderKey, encode_block
from hudi_reference.files.log.content import decode_rows, encode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.ids import RandomIds
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.partitions import IndexGroups
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.schema import SCHEMA as METADATA_SCHEMA
from hudi_reference.metadata.writer import Entries, encode_log_file
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.schema.avro import parse_schema
from hudi_reference.storage import MemoryStorage, Storage

SCHEMA = {
    "type": "record",
    "name": "trip",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "p", "type": "string"},
        {"name": "city", "type": ["null", "string"], "default": None},
        {"name": "fare", "type": ["null", "long"], "default": None},
        {"name": "tags", "type": ["null", {"type": "array", "items": "string"}], "default": None},
        {"name": "ts", "type": "long"},
    ],
}
START = 1_790_000_000_000
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
}
_BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}

Edit = Callable[[Storage], object]


def rows(*numbers: int, ts: int = 1, fare: int = 10) -> pa.Table:
    """Rows with these keys; even ones are in the partition x, odd ones in y."""
    return pa.table(
        {
            "id": [f"k{number:02}" for number in numbers],
            "p": ["x" if number % 2 == 0 else "y" for number in numbers],
            "city": [f"City{number}" for number in numbers],
            "fare": pa.array([fare + number for number in numbers], pa.int64()),
            "tags": pa.array([["a", "b"] for _ in numbers], pa.list_(pa.string())),
            "ts": pa.array([ts for _ in numbers], pa.int64()),
        }
    )


def _create(table_type: str, options: dict[str, str], **given: Any) -> Any:
    return create_table(
        "memory:///deep", name="deep", schema=SCHEMA, record_key=["id"], partition=["p"], ordering=["ts"],
        table_type=table_type, storage=MemoryStorage(), clock=ManualClock(START), ids=RandomIds(), options=options, **given,
    )  # fmt: skip


def _reopened(table: Any, options: dict[str, str]) -> Any:
    return open_table("memory:///deep", storage=table.storage, clock=table.clock, ids=table.ids, options=options)


def _written(table_type: str, options: dict[str, str], **given: Any) -> Any:
    table = _create(table_type, options, **given)
    table.upsert(rows(*range(16)))
    _reopened(table, options).upsert(rows(0, 1, 2, 3, ts=2, fare=50))
    return table


def copy_on_write() -> Storage:
    """Two slices of one file group in each of two partitions, without a metadata table."""
    return _written("COPY_ON_WRITE", {}).storage  # type: ignore[no-any-return]


def inserted() -> Storage:
    """A copy-on-write table with one insert."""
    table = _create("COPY_ON_WRITE", {})
    table.insert(rows(*range(16)))
    return table.storage  # type: ignore[no-any-return]


def hfiles() -> Storage:
    """A copy-on-write table whose base files are HFiles, which have no statistics of columns."""
    return _written("COPY_ON_WRITE", {}, properties={"hoodie.table.base.file.format": "HFILE"}).storage  # type: ignore[no-any-return]


def bootstrapped() -> Storage:
    """A copy-on-write table that was bootstrapped with whole rows: all its columns are in its own files."""
    return _written("COPY_ON_WRITE", {}, properties={"hoodie.bootstrap.base.path": "/source"}).storage  # type: ignore[no-any-return]


def merge_on_read() -> Storage:
    """One base file and one log file in each of two partitions."""
    table = _written("MERGE_ON_READ", {})
    table = _reopened(table, {})
    table.delete(pa.table({"id": ["k04", "k05"], "p": ["x", "y"]}))
    return table.storage  # type: ignore[no-any-return]


def compacted() -> Storage:
    """Two slices of one file group in each of two partitions: one with a log file, and that of its compaction."""
    table = _written("MERGE_ON_READ", {})
    assert compact(_reopened(table, {}), {"hoodie.compact.inline.max.delta.commits": "1"})
    return table.storage  # type: ignore[no-any-return]


def with_foreign_merger(make: Callable[[], Storage] = compacted) -> Storage:
    """A table whose records foreign code merges, so that it is not known what its slices with log files contain."""
    storage = make()
    change_properties(
        storage,
        {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": "0a4bd4f2-0000-4000-8000-1b2c3d4e5f60"},
    )
    return storage


def compacted_by_foreign_code() -> Storage:
    """The same, whose compaction made another value of two versions than the modes of Apache Hudi."""
    storage = with_foreign_merger()
    rewrite(
        storage, base_files(storage)[-1], lambda rows: with_value("fare", rows.column("id").to_pylist().index("k00"), 77)(rows)
    )
    return storage


def indexed_by_foreign_code() -> Storage:
    """The same with indexes, where the versions of a key in log files are no row, and so it has no location."""
    storage = with_foreign_merger(indexed_merge_on_read)
    change_index(storage, "record_index", removed=["k00"])
    return storage


def without_meta_columns() -> Storage:
    """A copy-on-write table whose rows have no meta columns."""
    return _written("COPY_ON_WRITE", {}, properties={"hoodie.populate.meta.fields": "false"}).storage  # type: ignore[no-any-return]


def bucketed() -> Storage:
    """A copy-on-write table with a bucket index of four buckets."""
    table = _create("COPY_ON_WRITE", _BUCKETS)
    table.upsert(rows(*range(60)))
    return table.storage  # type: ignore[no-any-return]


def indexed(table_type: str = "COPY_ON_WRITE", **given: Any) -> Storage:
    """A table with every kind of index."""
    table = _written(table_type, INDEXED, **given)
    create_index(_reopened(table, INDEXED), "by_city", "city")
    create_index(_reopened(table, INDEXED), "by_lower", "city", using="column_stats", function="lower")
    _reopened(table, INDEXED).upsert(rows(*range(6), ts=3, fare=70))
    return table.storage  # type: ignore[no-any-return]


def indexed_of_version_9() -> Storage:
    """A table of version 9, whose secondary index places an entry by the hash of its value."""
    return indexed(version=9)


def with_statistics(**properties: str) -> Storage:
    """A table whose only index has statistics of the columns of files."""
    options = {
        "hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.metadata.index.partition.stats.enable": "false",
    }  # fmt: skip
    return _written("COPY_ON_WRITE", options, properties=properties or None).storage  # type: ignore[no-any-return]


def with_nulls() -> Storage:
    """The same after an update that stored a null in each partition."""
    storage = with_statistics()
    table = open_table(
        "memory:///deep", storage=storage, clock=ManualClock(START + 10**8), options={"hoodie.metadata.enable": "true"}
    )
    changed = rows(2, 3, ts=5)
    table.upsert(changed.set_column(changed.column_names.index("fare"), "fare", pa.nulls(2, pa.int64())))
    return storage


def with_filters() -> Storage:
    """A table whose only index has bloom filters of files."""
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true"}
    return _written("COPY_ON_WRITE", options).storage  # type: ignore[no-any-return]


def with_statistics_of_orc() -> Storage:
    """The same with base files in the format ORC."""
    return with_statistics(**{"hoodie.table.base.file.format": "ORC"})


def with_filters_of_an_expression() -> Storage:
    """A table with an index that has bloom filters of the lower-case cities."""
    table = _written("COPY_ON_WRITE", INDEXED)
    create_index(_reopened(table, INDEXED), "by_lower", "city", using="bloom_filters", function="lower")
    return table.storage  # type: ignore[no-any-return]


def indexed_merge_on_read() -> Storage:
    """A merge-on-read table with every kind of index."""
    return indexed("MERGE_ON_READ")


def examined(storage: Storage, checks: Iterable[Any] = DEEP) -> Validation:
    """The result of the deep checks, none of which may break."""
    found = validate(load_table("memory:///deep", storage=storage), checks)
    assert not found.broken, found.broken
    return found


def found_in(storage: Storage) -> list[Finding]:
    """The findings of the deep checks."""
    return list(examined(storage).findings)


def without_statistics(found: Set[tuple[str, str]], expected: Set[tuple[str, str]]) -> Set[tuple[str, str]]:
    """Without findings that are not expected, of statistics: those of a write contradict rows that were changed."""
    return found - ({("TL-005", "cosmetic")} - expected)


def stored(storage: Storage) -> StoredTable:
    """The table as found."""
    return load_table("memory:///deep", storage=storage)


# Base files.


def base_files(storage: Storage, partition: str = "x") -> list[str]:
    """The paths of the base files of a partition, oldest first."""
    found = (info.path for info in storage.list(partition) if info.path.endswith(".parquet"))
    return sorted(found, key=lambda path: path.rpartition("_")[2])


def rewrite(
    storage: Storage, path: str, change: Callable[[pa.Table], pa.Table], entries: dict[bytes, bytes] | None = None
) -> None:
    """Store a base file with changed rows and the same footer, but for these entries."""
    file = read_base_file(storage, path)
    kept = pq.read_schema(pa.BufferReader(storage.get(path))).metadata
    schema = kept | (entries or {})
    sink = pa.BufferOutputStream()
    pq.write_table(change(file).replace_schema_metadata(schema), sink)
    storage.put(path, sink.getvalue().to_pybytes())


def with_value(name: str, row: int, value: Any) -> Callable[[pa.Table], pa.Table]:
    """Changes one value of a column."""

    def change(table: pa.Table) -> pa.Table:
        number, field = table.column_names.index(name), table.schema.field(name)
        values = table.column(name).to_pylist()
        values[row] = value
        return table.set_column(number, field.with_nullable(True), pa.array(values, field.type))

    return change


def in_newest(change: Callable[[pa.Table], pa.Table], entries: dict[bytes, bytes] | None = None, partition: str = "x") -> Edit:
    """Changes the newest base file of a partition."""
    return lambda storage: rewrite(storage, base_files(storage, partition)[-1], change, entries)


def other_filter(keys: Sequence[str]) -> dict[bytes, bytes]:
    """The footer entries of a bloom filter of other keys."""
    return {b"org.apache.hudi.bloomfilter": make_file_filter(pa.array(keys)).encode().encode()}


def duplicate_in_file(storage: Storage) -> None:
    """The first row twice in the newest base file."""
    in_newest(lambda table: pa.concat_tables([table, table.slice(0, 1)]))(storage)


def copied_group(storage: Storage) -> None:
    """A copy of the newest base file of a partition in another file group; its rows name the new file."""
    path = base_files(storage)[-1]
    partition, _, name = path.rpartition("/")
    other = f"{partition}/{'0' * 8}{name[8:]}"
    storage.put(other, storage.get(path))
    names = pa.array([other.rpartition("/")[2]])
    rewrite(storage, other, lambda table: table.slice(0, 1).set_column(4, "_hoodie_file_name", names))
    add_to_commit(storage, path, other)


def add_to_commit(storage: Storage, path: str, other: str) -> None:
    """The commit that stored a file names another one, too."""
    from hudi_reference.timeline.contents.avro_container import read_record, schema_of, write_record

    for info in storage.list(".hoodie/timeline"):
        content = storage.get(info.path)
        if not info.path.endswith(("commit",)) or path.encode() not in content:
            continue
        record = read_record(content, info.path)
        partition = path.rpartition("/")[0]
        stats = record["partitionToWriteStats"][partition]
        first = next(one for one in stats if one["path"] == path)
        added = {**first, "path": other, "fileId": other.rpartition("/")[2].partition("_")[0], "prevCommit": "null"}
        stats.append(added)
        schema = schema_of("HoodieCommitMetadata")
        storage.put(info.path, write_record(schema, record, b"0" * 16))


# Log files.


def log_files(storage: Storage, partition: str = "x") -> list[str]:
    """The paths of the log files of a partition."""
    return sorted(info.path for info in storage.list(partition) if ".log." in info.path)


def rewrite_log(storage: Storage, change: Callable[[Block], bytes | None], partition: str = "x", number: int = 0) -> None:
    """Store a log file with changed blocks; None leaves a block as it is."""
    path = log_files(storage, partition)[number]
    data = storage.get(path)
    parts = []
    for block in read_log_file(storage, path):
        changed = change(block)
        parts.append(data[block.offset : block.end] if changed is None else changed)
    storage.put(path, b"".join(parts))


def with_header(key: HeaderKey, value: str) -> Callable[[Block], bytes]:
    """A block with another header."""
    return lambda block: encode_block(block.kind, {**block.header, key: value}, bytes(block.content))  # type: ignore[dict-item]


def with_rows(change: Callable[[pa.Table], pa.Table]) -> Callable[[Block], bytes | None]:
    """A data block with changed rows."""

    def changed(block: Block) -> bytes | None:
        if HeaderKey.SCHEMA not in block.header or block.kind.name != "AVRO_DATA":
            return None
        schema = parse_schema(block.header[HeaderKey.SCHEMA], block.path)
        return encode_block(block.kind, block.header, encode_rows(change(decode_rows(block)), schema))  # type: ignore[arg-type]

    return changed


# Indexes.


def entries_of(storage: Storage, index: str) -> dict[str, MetadataRecord]:
    """The records of an index by key."""
    snapshot = stored(storage).opened.indexes
    assert snapshot is not None
    return {key: one for found in snapshot.slices(index) for key, one in snapshot.metadata.records_of_slice(found).items()}


def change_index(storage: Storage, index: str, added: Sequence[MetadataRecord] = (), removed: Sequence[str] = ()) -> None:
    """Append blocks with these records and removed keys to the newest log files of an index."""
    slices = _slices_of(storage, index)
    for group, part in Entries(added, removed).in_groups(IndexGroups.from_ids(slices)).items():
        _append_entries(storage, index, slices[group], part)


def lose_entry(storage: Storage, index: str) -> None:
    """Remove the entry of the first key, in whichever file group of the index it is."""
    key = min(entries_of(storage, index))
    for one in _slices_of(storage, index).values():
        _append_entries(storage, index, one, Entries(removed=[key]))


def copy_to_other_group(storage: Storage, index: str) -> None:
    """Store the first entry of an index also in a file group of the index to which its key does not belong."""
    key, record = min(entries_of(storage, index).items())
    slices = _slices_of(storage, index)
    own, _ = IndexGroups.from_ids(slices).locate(key)
    other = next(one for group, one in slices.items() if group != own)
    _append_entries(storage, index, other, Entries([record]))


def _slices_of(storage: Storage, index: str) -> dict[str, FileSlice]:
    snapshot = stored(storage).opened.indexes
    assert snapshot is not None
    return {one.file_id: one for one in snapshot.slices(index)}


def _append_entries(storage: Storage, index: str, found: FileSlice, entries: Entries) -> None:
    path = f"{METADATA_FOLDER}/{found.path(found.log_files[-1])}"
    instant = next(iter(read_log_file(storage, path))).instant
    storage.put(path, storage.get(path) + encode_log_file(index, instant, entries, METADATA_SCHEMA))


def schema_text() -> str:
    """The schema of the table as text."""
    return json.dumps(SCHEMA)


def keys_of(table: pa.Table) -> list[str]:
    """The record keys of rows."""
    return pc.unique(table.column("_hoodie_record_key")).to_pylist()  # type: ignore[no-any-return]


def clustered() -> Storage:
    """One file group in each of two partitions, stored by a clustering."""
    storage = copy_on_write()
    small = {"hoodie.clustering.plan.strategy.small.file.limit": "1000000000"}
    assert cluster(_reopened(_Made(storage), {}), small)
    return storage


class _Made:
    """What `_reopened` needs of a table."""

    def __init__(self, storage: Storage) -> None:
        self.storage, self.clock, self.ids = storage, ManualClock(START + 10**8), RandomIds()


@contextmanager
def small_parts(rows: int = 8) -> Iterator[None]:
    """A part has one file group of an index, or about so many rows."""
    checks = "hudi_conformance.validator.checks.deep"
    with patch(f"{checks}.key_entries.AT_ONCE", 1), patch(f"{checks}.keys.AT_ONCE", rows):
        yield
