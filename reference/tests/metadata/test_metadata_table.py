"""The metadata table: reading one of Apache Hudi 1.0.2, writing, merging, rebuilding; interrupted builds of indexes."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from reference_samples import TABLE_TYPES, new_table, trip, trips

from hudi_reference import WritableTable, create_table, index, open_table, restore
from hudi_reference.errors import ConcurrentChange, CorruptCommittedBlock, MalformedLogBlock, UnsupportedTableFeature
from hudi_reference.files.inspection.records import hfile_records
from hudi_reference.files.log.block import Block, HeaderKey, encode_block
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.layout.properties import read_properties
from hudi_reference.locks import hold_lock, new_owner
from hudi_reference.metadata.indexes.record_index import RECORD_INDEX
from hudi_reference.metadata.keys import ALL_PARTITIONS, column_stats_key
from hudi_reference.metadata.partitions import IndexGroups, file_id
from hudi_reference.metadata.record_merge import merge_payloads
from hudi_reference.metadata.records import Bound, ColumnStats, FileInfo, FileList, PartitionList, RecordLocation
from hudi_reference.metadata.schema import SCHEMA, SCHEMA_9
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Entries, first_log_file
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.services.indexing import indexing
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.services.planning.index_plan import plan_record
from hudi_reference.services.planning.plan_execution import hold_for_planning
from hudi_reference.storage import LocalStorage, MemoryStorage
from hudi_reference.storage.wrapped import FolderStorage, StorageWithPendingObject
from hudi_reference.timeline.contents.metadata import write_commit_metadata
from hudi_reference.write.commit import transitions_of

GOLDEN = Path(__file__).parents[3] / "fixtures" / "layout" / "with-metadata-table" / "table"
LISTED = {"hoodie.metadata.enable": "true"}
WANTED = {"hoodie.metadata.record.index.enable": "true"}
BOTH = pytest.mark.parametrize("kind", TABLE_TYPES)


def listed_table(kind: str = "COPY_ON_WRITE") -> WritableTable:
    """A table with two rows and a metadata table."""
    table = new_table(partition=("p",), table_type=kind, options=LISTED)
    table.insert(trips(trip("a", p="x"), trip("b", p="y")))
    return opened(table)


def opened(table: WritableTable) -> WritableTable:
    """The table as it is now."""
    return open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids, options=LISTED)


def keys_in(table: WritableTable) -> set[str]:
    """The keys that the record index has, after a check that it may be used."""
    assert "record_index" in read_properties(table.storage).fields(USABLE)
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    return set(metadata.records("record_index", table.timeline))


def test_metadata_table_of_apache_hudi_is_read() -> None:
    """MDT-006, MDT-007, MDT-015: base files and logs of Apache Hudi 1.0.2 together list the files in storage, and have
    statistics of each of its files."""
    table = open_table(GOLDEN.as_uri(), storage=LocalStorage(GOLDEN))
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    stored: dict[str, dict[str, int]] = {}
    for path in GOLDEN.glob("[!.]*/*"):
        if parse_data_file_name(path.name):
            stored.setdefault(path.parent.name, {})[path.name] = path.stat().st_size
    files = metadata.records("files", table.timeline)
    everything = files.pop(ALL_PARTITIONS).payload
    assert isinstance(everything, PartitionList) and set(everything.partitions) == set(stored)
    lists = {key: record.payload for key, record in files.items()}
    assert {k: {n: i.size for n, i in one.files.items()} for k, one in lists.items() if isinstance(one, FileList)} == stored
    statistics = metadata.records("column_stats", table.timeline)
    assert {column_stats_key("id", partition, name) for partition, names in stored.items() for name in names} <= set(statistics)


def stats(least: int | None, greatest: int | None, *, tight: bool = False, deleted: bool = False) -> ColumnStats:
    """Statistics of a column of numbers: three values, one of them null."""
    bounds = [None if value is None else Bound("LongWrapper", value) for value in (least, greatest)]
    return ColumnStats("ts", *bounds, 3, 1, None, 0, deleted, tight, file_name="f")


@pytest.mark.parametrize(
    ("old", "new", "least", "greatest", "count"),
    [
        (stats(3, 5), stats(4, 9), 3, 9, 6),
        (stats(None, None), stats(4, 9), 4, 9, 6),
        (stats(3, 5), stats(4, 9, tight=True), 4, 9, 3),
        (stats(3, 5, deleted=True), stats(4, 9), 4, 9, 3),
    ],
)
def test_statistics_are_widened_unless_they_are_tight(
    old: ColumnStats, new: ColumnStats, least: int, greatest: int, count: int
) -> None:
    """MDT-014: minimum of minima, maximum of maxima, nulls ignored; counts add up."""
    found = merge_payloads(old, new)
    assert isinstance(found, ColumnStats) and found.least is not None and found.greatest is not None
    assert (found.least.value, found.greatest.value, found.value_count) == (least, greatest, count)


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ({"a": FileInfo(1)}, {"b": FileInfo(2)}, {"a": FileInfo(1), "b": FileInfo(2)}),
        ({"a": FileInfo(1), "b": FileInfo(2)}, {"a": FileInfo(0, True)}, {"b": FileInfo(2)}),
        ({"a": FileInfo(3)}, {"a": FileInfo(2)}, {"a": FileInfo(3)}),
        ({"a": FileInfo(0, True)}, {"a": FileInfo(2)}, {"a": FileInfo(2)}),
        ({}, {"a": FileInfo(0, True)}, {"a": FileInfo(0, True)}),
    ],
)
def test_file_listings_are_merged(old: dict[str, FileInfo], new: dict[str, FileInfo], left: dict[str, FileInfo]) -> None:
    """MDT-006: a delete removes a file, and is kept if the file is not listed yet; the greater size counts."""
    assert merge_payloads(FileList(old), FileList(new)) == FileList(left)
    assert merge_payloads(PartitionList(old), PartitionList(new)) == PartitionList(left)


def test_first_log_block_equals_that_of_apache_hudi() -> None:
    """MDT-002: 80 bytes, the same as in the first log file of each file group of Apache Hudi."""
    deployed = (
        "234855444923 0000000000000042 00000001 00000001 00000001 00000000 00000011 3030303030303030303030303030303030"
        "0000000000000009 00000003 00000001 00 00000000 0000000000000048"
    )
    assert first_log_file("0" * 17) == bytes.fromhex(deployed)


def test_entries_go_to_the_file_group_of_their_key() -> None:
    """IDX-011: by the hash of the whole key, as in Apache Hudi: `a` to group 7 of 10, `__all_partitions__` to group 1."""
    groups = IndexGroups.from_ids(file_id("record_index", number) for number in range(10))
    parts = Entries(removed=("a", "__all_partitions__")).in_groups(groups)
    assert {group: part.removed for group, part in parts.items()} == {
        "record-index-0007-0": ["a"],
        "record-index-0001-0": ["__all_partitions__"],
    }


@BOTH
def test_interrupted_build_is_continued(kind: str) -> None:
    """SVC-005, INX-001: the indexer crashed with its base files stored and recorded; another indexer completes its plan."""
    table = listed_table(kind)
    requested = indexing.schedule_indexing(table, WANTED)
    assert requested is not None
    transitions = transitions_of(table)
    transitions.start(next(found for found in table.timeline.pending if found.requested == requested))
    indexing.IndexingExecution(table, requested).work(indexing.read_plan(table, "indexing", requested))
    opened(table).insert(trips(trip("c", p="x")))
    assert index(opened(table)) == requested
    assert keys_in(table) == {"a", "b", "c"}


def test_completed_index_is_published_after_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """INX-014, PROP-012: the indexer crashed after its completion; the next one publishes the index, and builds nothing."""
    table = listed_table()
    with monkeypatch.context() as crashing:
        crashing.setattr(indexing, "publish_indexes", lambda table, requested: None)
        assert index(table, WANTED) is not None
    opened(table).insert(trips(trip("c", p="x")))
    assert read_properties(table.storage).fields(INFLIGHT) == ("record_index",)
    assert index(opened(table), WANTED) is None
    assert keys_in(table) == {"a", "b", "c"}


def test_unlisted_build_is_dropped() -> None:
    """INX-013: the scheduler crashed before the partition was listed, so that writers do not add to it: no index is published."""
    table = listed_table()
    with hold_for_planning(table) as publish:
        publish("indexing", plan_record([RECORD_INDEX], table.timeline.commits[-1].requested))
    opened(table).insert(trips(trip("c", p="x")))
    with pytest.raises(ConcurrentChange):
        index(opened(table))
    assert index(opened(table), WANTED) is not None
    assert keys_in(table) == {"a", "b", "c"}


@BOTH
def test_missing_metadata_table_is_rebuilt(kind: str) -> None:
    """MDT-001: its folder was deleted, and the table lists its partitions: the next write rebuilds them."""
    table = listed_table(kind)
    index(table, WANTED)
    for info in table.storage.list(".hoodie/metadata"):
        table.storage.delete(info.path)
    opened(table).insert(trips(trip("c", p="x")))
    assert keys_in(table) == {"a", "b", "c"}


def test_unmaintained_indexes_do_not_become_stale() -> None:
    """OCC-020, PROP-001: an index was added during a write; the write does not complete without maintaining it."""
    table = listed_table()
    owner = new_owner("another engine")
    with hold_lock(transitions_of(table).times.lock, owner):
        sync = MetadataSync.for_table(table, transitions_of(table).times, owner)
        sync.store_lists(("files", "other_index"), ())
    before = table.timeline.commits
    with pytest.raises(UnsupportedTableFeature, match="other_index"):
        table.insert(trips(trip("c", p="x")))
    assert table.timeline.commits == before


def test_records_of_a_table_without_partitions() -> None:
    """MDT-005: the base path is `.` in the listing, and empty in the record index."""
    table = new_table(options={**LISTED, **WANTED})
    table.insert(trips(trip("a")))
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    assert set(metadata.records("files", table.timeline)) == {ALL_PARTITIONS, "."}
    location = metadata.records("record_index", table.timeline)["a"].payload
    assert isinstance(location, RecordLocation) and location.partition == ""


def _below(storage: MemoryStorage) -> FolderStorage:
    return FolderStorage(storage, "in/here")


def _ahead(storage: MemoryStorage) -> FolderStorage:
    return StorageWithPendingObject(storage, "in/here", "t/new", b"to come")


@pytest.mark.parametrize("make", [_below, _ahead])
def test_a_folder_is_a_storage(make: Callable[[MemoryStorage], FolderStorage]) -> None:
    """Objects below a folder by their paths in it; objects outside are not visible, and announced ones are."""
    storage = MemoryStorage()
    storage.put("in/there/x", b"outside")
    found = make(storage)
    found.create("t/a", b"12345")
    found.put("b", b"1")
    head = found.head("t/a")
    assert head is not None and (head.path, head.size) == ("t/a", 5)
    found.replace("t/a", b"67890", head.version)
    assert (found.get("t/a", 1, 2), found.open("t/a").read()) == (b"78", b"67890")
    assert [info.path for info in found.list()] == ["b", "t/a"]
    assert [info.path for info in found.list(skip="t")] == ["b"]
    assert found.names("t") == (("a", "new") if isinstance(found, StorageWithPendingObject) else ("a",))
    found.delete("b")
    assert found.head("b") is None and storage.get("in/here/t/a") == b"67890"
    if isinstance(found, StorageWithPendingObject):
        assert (found.get("t/new"), found.get("t/new", 3, 2)) == (b"to come", b"co")


def test_a_damaged_block_of_the_metadata_table_is_an_error() -> None:
    """BLK-016: without the block the listing would be that of an earlier time, and writes would build on it."""
    table = listed_table()
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    name = next(name for name in sorted(metadata.files("files"), reverse=True) if ".log." in name)
    data = bytearray(metadata.storage.get(f"files/{name}"))
    data[-1] ^= 1
    metadata.storage.put(f"files/{name}", bytes(data))
    with pytest.raises(CorruptCommittedBlock):
        metadata.records("files", table.timeline)


@pytest.mark.parametrize("schema", [SCHEMA, SCHEMA_9, None])
def test_writers_keep_the_later_schema_of_a_metadata_table(schema: AvroSchema | None) -> None:
    """LF-038: 1.2.0 and hudi-rs store it at version 8 too, hudi-rs without a schema in the commit. No later write has fewer
    fields (ER-269).
    """
    table = listed_table()
    metadata = MetadataTable.for_table(table)
    assert metadata is not None and table.properties.version == 8
    last = metadata.timeline.latest
    assert last is not None
    commit = load_commit(metadata.storage, metadata.properties, last)
    metadata.storage.put(metadata.path(last), write_commit_metadata("UPSERT_PREPPED", commit.stats, schema, bytes(16)))
    before = set(metadata.files("files"))
    table.insert(trips(trip("c", p="x")))
    (name,) = set(metadata.files("files")) - before
    (block,) = read_log_file(metadata.storage, f"files/{name}")
    assert isinstance(block, Block)
    assert ("HoodieValueTypeInfo" in block.header[HeaderKey.SCHEMA]) == (schema is not SCHEMA)


def test_a_block_without_schema_is_an_error() -> None:
    """LF-018: the records of the metadata table are decoded with the schema in the header of their block."""
    table = listed_table()
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    path = "files/" + next(name for name in sorted(metadata.files("files"), reverse=True) if ".log." in name)
    (block,) = read_log_file(metadata.storage, path)
    assert isinstance(block, Block)
    header = {key: text for key, text in block.header.items() if key != HeaderKey.SCHEMA}
    metadata.storage.put(path, encode_block(block.kind, header, bytes(block.content)))
    with pytest.raises(MalformedLogBlock, match="cannot be decoded"):
        metadata.records("files", table.timeline)
    with pytest.raises(MalformedLogBlock):
        hfile_records(next(block for block in read_log_file(metadata.storage, path) if isinstance(block, Block)))


def test_a_build_that_was_interrupted_is_planned_again():
    """SVC-012: a build whose file groups are gone cannot be completed. The next call removes it, plans the index again, and
    builds it.
    """
    table = new_table(partition=("p",), options={"hoodie.metadata.enable": "true"})
    table.insert(trips(trip("a", "n", 1, "p"), trip("b", "n", 1, "p")))
    wanted = {"hoodie.metadata.record.index.enable": "true"}
    interrupted = indexing.schedule_indexing(table, wanted)
    for info in table.storage.list(".hoodie/metadata/record_index"):
        table.storage.delete(info.path)
    built = index(table, wanted)
    assert built is not None and built > interrupted
    assert "record_index" in read_properties(table.storage).fields(USABLE)
    assert index(table, wanted) is None


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_a_restore_of_a_table_with_a_key_in_two_partitions(kind: str) -> None:
    """TL-023: an index that is not global gives both partitions the key. The record index is built anew with one of the places."""
    schema = {"type": "record", "name": "row", "fields": [{"name": name, "type": "string"} for name in ("id", "v", "p")]}
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.index.enable": "true"}
    table = create_table("memory:t", name="t", schema=schema, record_key=("id",), partition=("p",), table_type=kind,
                         storage=MemoryStorage(), options=options)  # fmt: skip
    times = [table.upsert(pa.table({"id": ["a"], "v": ["1"], "p": [partition]})) for partition in ("x", "y", "x")]
    restore(table, times[1])
    found = MetadataTable.for_table(table).records("record_index", table.timeline)
    assert {key: record.payload.partition for key, record in found.items()} == {"a": "y"}
    table.upsert(pa.table({"id": ["a"], "v": ["2"], "p": ["y"]}))
    assert sorted(table.snapshot(["v", "p"]).to_pylist(), key=str) == [{"v": "1", "p": "x"}, {"v": "2", "p": "y"}]
