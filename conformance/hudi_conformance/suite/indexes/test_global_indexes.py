"""Writers with a global index: a record key is in one partition, whichever partition the rows of a write name.

Apache Hudi 1.0.2 and 1.2.0 give the expected rows; `update.partition.path` says whether a record moves.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest

from hudi_conformance.contract import EngineError, Query, Refused
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Row, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import LISTED, RECORDS, IndexedTable
from hudi_conformance.suite.support.tables.tables_under_services import copy_golden_table
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import create_table, open_table
from hudi_reference.metadata.records import RecordLocation
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Entries, encode_log_file

WRITES = pytest.mark.needs("create", "write.upsert", "write.delete", "write.global-index",
                           "read.snapshot", "read.projection", "read.meta-columns", "partition.plain")  # fmt: skip
EVENT_TIME = pytest.mark.needs("merge.event-time")
_PATH = "update.partition.path"
#: A global index, and the settings that let it move records between partitions or not.
MOVING: Mapping[str, Mapping[str, str]] = {
    "record index": {"hoodie.index.type": "RECORD_INDEX", f"hoodie.record.index.{_PATH}": "true"},
    "simple index, by default": {"hoodie.index.type": "GLOBAL_SIMPLE"},
    "bloom index, by default": {"hoodie.index.type": "GLOBAL_BLOOM"},
}
STAYING: Mapping[str, Mapping[str, str]] = {
    "record index, by default": {"hoodie.index.type": "RECORD_INDEX"},
    "simple index": {"hoodie.index.type": "GLOBAL_SIMPLE", f"hoodie.simple.index.{_PATH}": "false"},
    "bloom index": {"hoodie.index.type": "GLOBAL_BLOOM", f"hoodie.bloom.index.{_PATH}": "false"},
}
EACH_MOVING = pytest.mark.parametrize("index", MOVING)
EACH_STAYING = pytest.mark.parametrize("index", STAYING)
#: Golden tables of deployed releases, and the key whose entry is missing in the record index.
LOST_ENTRIES = (
    ("queries.version-9.key-written-again.mor.without-entry", "b"),
    ("queries.skipping.late-delete-of-a-key.mor.without-entry", "a"),
)
#: Settings of a writer of a record index with one file group.
ONE_GROUP: Mapping[str, str] = {"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.min.filegroup.count": "1"}
FIRST = (row("a", 5, "a5"), row("b", 5, "b5"), row("c", 5, "c5", "rio"), row("d", 5, "d5"))


Mode = Literal["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"]


class GlobalTable(IndexedTable):
    """A table with a record index, whose writers have a global index, with the rows FIRST. Rows are listed as
    (partition, id, value).
    """

    def __init__(
        self, engine: Client, uri: str, type: Type, index: Mapping[str, str], mode: Mode = "EVENT_TIME_ORDERING"
    ) -> None:
        self.engine, self.uri, self.type, self.settings = engine, uri, type, {**LISTED, **RECORDS, **index}
        engine.create(uri, Program(type, mode, True).spec())
        self.first = self.rows_after(*FIRST)

    def rows_after(self, *rows: Row, delete: bool = False) -> list[tuple[str, str, str]]:
        """Write the rows; return those of the table, after a check that a record index has the partition of each."""
        self.engine.write(self.uri, "delete" if delete else "upsert", as_arrow(rows), options=self.settings)
        columns = ("_hoodie_partition_path", "id", "value", "city")
        found = [tuple(one.values()) for one in self.engine.read(self.uri, Query(columns=columns)).to_pylist()]
        assert all(path == city for path, _, _, city in found), found
        if "record_index" in self.listed_partitions():
            indexed = {key: path for key, (path, _) in self.keys_indexed().items()}
            assert indexed == {key: path for path, key, _, _ in found}
        return sorted((path, key, value) for path, key, value, _ in found)


@WRITES
@EVENT_TIME
@BOTH_TYPES
@EACH_MOVING
@pytest.mark.requirements("OCC-009", "MRG-006", "LAY-021", "META-009", "IDX-010")
def test_a_record_moves_to_the_partition_of_its_row(engine: Client, new_uri: NewUri, type: Type, index: str) -> None:
    """OCC-009: the record is deleted in its partition and inserted in the new one, and may move back. The rows of a write
    that stay in the partition are merged as usual.
    """
    table = GlobalTable(engine, new_uri(), type, MOVING[index])
    rest = [("oslo", "b", "b5"), ("oslo", "d", "d9")]
    assert table.rows_after(row("a", 9, "moved", "rio"), row("d", 9, "d9"), row("n", 1, "new", "rio")) == [
        *rest, ("rio", "a", "moved"), ("rio", "c", "c5"), ("rio", "n", "new")]  # fmt: skip
    assert table.rows_after(row("a", 10, "back")) == [("oslo", "a", "back"), *rest, ("rio", "c", "c5"), ("rio", "n", "new")]


@WRITES
@EVENT_TIME
@BOTH_TYPES
@EACH_MOVING
@pytest.mark.requirements("MRG-005", "OCC-009", "LAY-021")
def test_a_late_row_does_not_move_its_record(engine: Client, new_uri: NewUri, type: Type, index: str) -> None:
    """MRG-005: the row of another partition is merged with the stored record, and its ordering value is too low."""
    table = GlobalTable(engine, new_uri(), type, MOVING[index])
    assert table.rows_after(row("a", 1, "late", "rio")) == table.first


@WRITES
@EVENT_TIME
@BOTH_TYPES
@EACH_STAYING
@pytest.mark.requirements("MRG-006", "LAY-021", "META-009", "IDX-010")
def test_a_record_stays_in_its_partition(engine: Client, new_uri: NewUri, type: Type, index: str) -> None:
    """META-009: an update that names another partition changes the record where it is; a late one changes nothing."""
    table = GlobalTable(engine, new_uri(), type, STAYING[index])
    assert table.rows_after(row("a", 9, "updated", "rio"), row("b", 1, "late", "rio"), row("n", 1, "new", "rio")) == [
        ("oslo", "a", "updated"), ("oslo", "b", "b5"), ("oslo", "d", "d5"), ("rio", "c", "c5"), ("rio", "n", "new"),
    ]  # fmt: skip


@WRITES
@EVENT_TIME
@BOTH_TYPES
@pytest.mark.needs("table-version.9")
@pytest.mark.requirements("MRG-006", "LAY-021", "META-009")
def test_the_record_index_under_its_later_name(engine: Client, new_uri: NewUri, type: Type) -> None:
    """META-009: releases with table version 9 have another name for the record index of the whole table. Under this name, too,
    a record stays in its partition by default.
    """
    index = {"hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX", "hoodie.metadata.global.record.level.index.enable": "true"}
    table = GlobalTable(engine, new_uri(), type, index)
    assert table.rows_after(row("a", 9, "updated", "rio")) == sorted([*table.first[1:], ("oslo", "a", "updated")])


@WRITES
@EVENT_TIME
@BOTH_TYPES
@EACH_STAYING
@pytest.mark.requirements("OCC-008", "IDX-010", "LAY-021")
def test_a_delete_finds_the_key_in_any_partition(engine: Client, new_uri: NewUri, type: Type, index: str) -> None:
    """OCC-008: the partition columns of the key that is deleted name another partition; an unknown key is ignored."""
    table = GlobalTable(engine, new_uri(), type, STAYING[index])
    assert table.rows_after(row("a", 0, "", "nowhere"), row("unknown", 0, ""), delete=True) == [
        ("oslo", "b", "b5"), ("oslo", "d", "d5"), ("rio", "c", "c5")]  # fmt: skip


@WRITES
@EVENT_TIME
@BOTH_TYPES
@EACH_STAYING
@pytest.mark.requirements("IDX-010", "LAY-021", "OCC-008")
def test_a_deleted_key_is_new_in_any_partition(engine: Client, new_uri: NewUri, type: Type, index: str) -> None:
    """IDX-010: after a delete by key no file group holds the key. Its next row is an insert, in the partition that it names."""
    table = GlobalTable(engine, new_uri(), type, STAYING[index])
    table.rows_after(row("a", 0, ""), delete=True)
    assert table.rows_after(row("a", 1, "again", "rio"))[-2:] == [("rio", "a", "again"), ("rio", "c", "c5")]


def rows_after_upsert(engine: Client, uri: str, golden: str, key: str) -> list[dict[str, object]]:
    """The rows of a key after a write of it, through the record index, into a copy of the golden table."""
    fields = {"id": pa.string(), "ts": pa.int64(), "p": pa.string(), "fare": pa.float64(), "city": pa.string()}
    if "late" in golden:
        fields["_hoodie_is_deleted"] = pa.bool_()
    one = {"id": key, "ts": 9, "p": "x", "fare": 9.0, "city": "rio"}
    rows = pa.Table.from_pylist([one], pa.schema(fields))
    engine.write(uri, "upsert", rows, options={**LISTED, **RECORDS, "hoodie.index.type": "RECORD_INDEX"})
    found = engine.read(uri, Query(columns=("id", "fare"))).to_pylist()
    return [row for row in found if row["id"] == key]


@pytest.mark.needs(
    "write.upsert", "write.global-index", "merge-on-read", "read.snapshot", "read.projection", "merge.event-time"
)
@pytest.mark.parametrize(("golden", "key"), LOST_ENTRIES)
@pytest.mark.leaves_damage("the table has a row without an entry")
@pytest.mark.requirements("IDX-010", "OCC-008")
def test_a_key_without_an_entry_is_not_inserted_again(engine: Client, tmp_path: Path, golden: str, key: str) -> None:
    """IDX-010: a release lost the entry of a key that has a row (ER-202, ER-207); an upsert of the key changes this row."""
    uri, _ = copy_golden_table(golden, tmp_path)
    assert rows_after_upsert(engine, uri, golden, key) == [{"id": key, "fare": 9.0}]


@pytest.mark.needs(
    "write.upsert", "write.global-index", "merge-on-read", "read.snapshot", "read.projection", "read.filter",
    "merge.event-time", "service.compaction",
)  # fmt: skip
@pytest.mark.parametrize(("golden", "key"), LOST_ENTRIES)
@pytest.mark.leaves_damage("the table has a row without an entry")
@pytest.mark.requirements("IDX-010", "IDX-012", "OCC-008")
def test_a_key_without_an_entry_is_found_after_a_compaction(engine: Client, tmp_path: Path, golden: str, key: str) -> None:
    """IDX-012: a compaction moves the row of a key that lost its entry (ER-202, ER-207) to a base file, and adds no entry. A
    filter on the key finds the row, and an upsert of the key changes it.
    """
    uri, _ = copy_golden_table(golden, tmp_path)
    assert engine.service(uri, "compaction", options={**LISTED, **RECORDS, "hoodie.compact.inline.max.delta.commits": "1"})
    found = engine.read(uri, Query(columns=("id",), where=(("id", "=", key),))).to_pylist()
    assert found == [{"id": key}]
    assert rows_after_upsert(engine, uri, golden, key) == [{"id": key, "fare": 9.0}]


def write_with_unknown_encoding(uri: str, type: Type, key: str) -> None:
    """Write the rows FIRST with the reference; the entry of a key in its record index gets an unknown encoding."""
    spec, options = Program(type, "EVENT_TIME_ORDERING", True).spec(), {**LISTED, **RECORDS, **ONE_GROUP}
    table = create_table(uri, name="located", schema=dict(spec.schema), record_key=("id",), partition=("city",),
                         ordering=("ts",), table_type=type, options=options)  # fmt: skip
    instant = table.upsert(as_arrow(FIRST))
    metadata = MetadataTable.for_table(table := open_table(uri))
    assert metadata is not None
    records = dict(metadata.records("record_index", table.timeline))
    payload = records[key].payload
    assert isinstance(payload, RecordLocation)
    records[key] = replace(records[key], payload=replace(payload, location=replace(payload.location, encoding=2)))
    (path,) = (table_folder(uri) / ".hoodie" / "metadata" / "record_index").glob(f".*_{instant}.log.1_1-0-0")
    data = encode_log_file("record_index", instant, Entries(list(records.values())), metadata.schema)
    path.write_bytes(data.ljust(path.stat().st_size, b"\0"))  # it may not be shorter than its write left it


@pytest.mark.needs("write.upsert", "write.global-index", "read.snapshot", "read.projection", "read.filter",
                   "partition.plain", "merge.event-time")  # fmt: skip
@BOTH_TYPES
@pytest.mark.leaves_damage("an entry of the record index has an unknown encoding")
@pytest.mark.requirements("IDX-018")
def test_a_location_of_an_unknown_encoding(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-018: the encoding of a location is 0 or 1. With another one, a filter on the key and an upsert of it have the right
    rows, or are errors; the location is not that of another key.
    """
    uri, updated, filtered = new_uri(), "c5", Query(columns=("id",), where=(("id", "in", ("b", "c")),))
    write_with_unknown_encoding(uri, type, "c")
    with suppress(EngineError, Refused):
        assert sorted(one["id"] for one in engine.read(uri, filtered).to_pylist()) == ["b", "c"]
    with suppress(EngineError, Refused):
        engine.write(uri, "upsert", as_arrow([row("c", 9, "c9", "rio")]), options={**LISTED, **RECORDS, **ONE_GROUP})
        updated = "c9"
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    assert sorted((one["id"], one["value"]) for one in found) == [("a", "a5"), ("b", "b5"), ("c", updated), ("d", "d5")]


@WRITES
@EVENT_TIME
@BOTH_TYPES
@EACH_MOVING
@pytest.mark.requirements("MRG-011", "LAY-021")
def test_rows_of_one_write_have_one_partition_for_each_key(engine: Client, new_uri: NewUri, type: Type, index: str) -> None:
    """LAY-021: of two rows with one key the greater ordering value decides, although they name different partitions."""
    table = GlobalTable(engine, new_uri(), type, MOVING[index])
    rows = (row("n", 3, "n3"), row("n", 2, "n2", "rio"), row("d", 8, "d8", "rio"), row("d", 7, "d7"))
    assert table.rows_after(*rows) == [
        ("oslo", "a", "a5"),
        ("oslo", "b", "b5"),
        ("oslo", "n", "n3"),
        ("rio", "c", "c5"),
        ("rio", "d", "d8"),
    ]


@WRITES
@BOTH_TYPES
@pytest.mark.needs("merge.commit-time")
@pytest.mark.requirements("OCC-009", "MRG-006", "LAY-021")
def test_in_commit_time_order_every_row_moves_its_record(engine: Client, new_uri: NewUri, type: Type) -> None:
    """OCC-009: the last write decides, so that a row with a lower value of the former ordering field moves the record too."""
    table = GlobalTable(engine, new_uri(), type, MOVING["record index"], "COMMIT_TIME_ORDERING")
    assert table.rows_after(row("b", 1, "b1", "rio")) == [
        ("oslo", "a", "a5"), ("oslo", "d", "d5"), ("rio", "b", "b1"), ("rio", "c", "c5")]  # fmt: skip


@WRITES
@EVENT_TIME
@BOTH_TYPES
@EACH_MOVING
@pytest.mark.needs("merge.commit-time")
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
@pytest.mark.requirements("OCC-009", "LAY-021", "IDX-010")
def test_a_delete_by_key_names_another_partition(engine: Client, new_uri: NewUri, type: Type, index: str, mode: Mode) -> None:
    """OCC-009: a key identifies a record in the whole table. A delete by key removes the record from its partition, whatever
    partition it names, and moves nothing.
    """
    table = GlobalTable(engine, new_uri(), type, MOVING[index], mode)
    assert table.rows_after(row("b", 9, "", "rio"), row("c", 1, ""), delete=True) == [("oslo", "a", "a5"), ("oslo", "d", "d5")]


@WRITES
@EVENT_TIME
@BOTH_TYPES
@pytest.mark.requirements("OCC-009", "LAY-021")
def test_without_a_record_index_records_move_as_with_the_simple_index(engine: Client, new_uri: NewUri, type: Type) -> None:
    """LAY-021: the writer names the record index and the table has none; keys are looked up in all file groups."""
    uri, options = new_uri(), {**LISTED, "hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.enable": "false"}
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())
    for rows in (FIRST, (row("a", 9, "moved", "rio"),)):
        engine.write(uri, "upsert", as_arrow(rows), options=options)
    found = engine.read(uri, Query(columns=("id", "city"))).to_pylist()
    assert sorted((one["city"], one["id"]) for one in found) == [("oslo", "b"), ("oslo", "d"), ("rio", "a"), ("rio", "c")]


@WRITES
@EVENT_TIME
@BOTH_TYPES
@pytest.mark.needs("write.insert")
@pytest.mark.parametrize("index", ["simple index, by default", "bloom index, by default"])
@pytest.mark.requirements("LAY-021", "OCC-009")
def test_a_key_that_was_inserted_twice_moves_once(engine: Client, new_uri: NewUri, type: Type, index: str) -> None:
    """OCC-009: two inserts stored rows of one key in two file groups. An upsert with another partition path moves the record:
    it is there once, and in no other partition.
    """
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())
    apart = {"hoodie.parquet.small.file.limit": "0", "hoodie.merge.small.file.group.candidates.limit": "0"}
    for ts in (1, 2):
        engine.write(uri, "insert", as_arrow([row("a", ts, f"insert {ts}"), row(f"n{ts}", 1, "x")]), options=apart)
    engine.write(uri, "upsert", as_arrow([row("a", 3, "moved", "rio")]), options={**MOVING[index], **apart})
    found = engine.read(uri, Query(columns=("id", "city", "value"))).to_pylist()
    assert sorted((one["id"], one["city"], one["value"]) for one in found) == [
        ("a", "rio", "moved"), ("n1", "oslo", "x"), ("n2", "oslo", "x")]  # fmt: skip


@WRITES
@EVENT_TIME
@BOTH_TYPES
@pytest.mark.parametrize("index", ["simple index, by default", "bloom index, by default"])
@pytest.mark.parametrize("city", ["oslo", "rio", "lima"])
@pytest.mark.requirements("LAY-021", "OCC-009")
def test_a_key_in_two_partitions_ends_in_one(engine: Client, new_uri: NewUri, type: Type, index: str, city: str) -> None:
    """OCC-009: a writer without a global index stored rows of one key in two partitions. An upsert by a writer with one leaves
    a single row, in the partition that it names: one of the two or another one.
    """
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())
    for ts, place in ((1, "oslo"), (2, "rio")):
        engine.write(uri, "upsert", as_arrow([row("a", ts, "stored", place), row(f"n{ts}", 1, "x", place)]))
    engine.write(uri, "upsert", as_arrow([row("a", 3, "moved", city)]), options=MOVING[index])
    found = engine.read(uri, Query(columns=("id", "city", "value"))).to_pylist()
    assert sorted((one["id"], one["city"], one["value"]) for one in found) == [
        ("a", city, "moved"), ("n1", "oslo", "x"), ("n2", "rio", "x")]  # fmt: skip
