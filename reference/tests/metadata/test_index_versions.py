"""Indexes of tables of version 9: types of values in statistics, secondary indexes by value, and definitions with versions."""

import datetime
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_reference import clean, compact, create_index, create_table, open_table
from hudi_reference.errors import MalformedIndexEntry, UnsupportedTableFeature
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.layout.properties import PROPERTIES_PATH, read_properties
from hudi_reference.metadata.availability import DEFINITIONS_PATH, METADATA_FOLDER, read_definitions
from hudi_reference.metadata.codec import decode_entries, encode_record
from hudi_reference.metadata.indexes.all import index_of
from hudi_reference.metadata.partitions import IndexGroups, file_id
from hudi_reference.metadata.records import Bound, ColumnStats, MetadataRecord, PartitionStats, ValueType
from hudi_reference.metadata.schema import SCHEMA_9
from hudi_reference.metadata.secondary_keys import parse_secondary_key, prefix_of, secondary_key
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.value_types import bound_of_stored, stored_bound, value_type_of
from hudi_reference.metadata.writer import encode_base_records
from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.storage import MemoryStorage
from hudi_reference.tables import WritableTable

EACH_TYPE = pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
OPTIONS = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 18}
COLUMNS: dict[str, Any] = {
    "id": "string", "ts": "long", "p": "string", "s": "string", "day": {"type": "int", "logicalType": "date"},
    "at": {"type": "long", "logicalType": "timestamp-micros"}, "local": {"type": "long", "logicalType": "local-timestamp-micros"},
    "wide": DECIMAL, "half": "float", "flag": "boolean", "empty": "int",
}  # fmt: skip
SCHEMA = {
    "type": "record",
    "name": "t",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in COLUMNS.items()],
}


def rows(*numbers: int, s: str | None = "a$b", p: str | None = None) -> pa.Table:
    """Rows whose values follow from their numbers; odd and even ones are in different partitions."""
    moment = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    found = [
        {
            "id": f"k{n}", "ts": n, "p": p or "xy"[n % 2], "s": s, "day": datetime.date(1970, 1, 1) + datetime.timedelta(n),
            "at": moment + datetime.timedelta(n), "local": datetime.datetime(2000, 1, 1) + datetime.timedelta(n),
            "wide": Decimal(-n).scaleb(-3), "half": n / 2, "flag": n > 3, "empty": None,
        }
        for n in numbers
    ]  # fmt: skip
    types = [
        ("id", pa.string()), ("ts", pa.int64()), ("p", pa.string()), ("s", pa.string()), ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")), ("local", pa.timestamp("us")), ("wide", pa.decimal128(38, 18)),
        ("half", pa.float32()), ("flag", pa.bool_()), ("empty", pa.int32()),
    ]  # fmt: skip
    return pa.Table.from_pylist(found, schema=pa.schema(types))


def made(kind: Any, version: int = 9, **options: str) -> WritableTable:
    """A table of four writes, two partitions and a deleted row."""
    table = create_table(
        "memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",), table_type=kind,
        storage=MemoryStorage(), options={**OPTIONS, **options}, version=version,
    )  # fmt: skip
    for found in (rows(1, 2, 3, 4), rows(5, 6, s=None), rows(2, 7, s="Ann")):
        table.upsert(found)
    table.delete(pa.table({"id": ["k3"], "p": ["y"]}))
    return table


def again(table: WritableTable, **options: str) -> WritableTable:
    """The table opened again, by a writer with other settings."""
    return open_table("memory:", storage=table.storage, options={**OPTIONS, **options})


def entries(table: WritableTable, partition: str) -> dict[str, MetadataRecord]:
    """The entries of an index."""
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    return metadata.records(partition, table.timeline)


def expect_entries_of_new_indexes(table: WritableTable) -> None:
    """Every index has the keys that it would have if it were created now, and its statistics are equal."""
    for partition in read_properties(table.storage).fields("hoodie.table.metadata.partitions"):
        expected = {one.key: one for one in index_of(table, partition).whole(table, table.view())}
        stored = entries(table, partition)
        assert stored.keys() >= expected.keys(), partition
        if partition.endswith("_stats"):
            assert {key: stored[key] for key in expected} == expected


def expect_equal_rows(table: WritableTable, where: list[Comparison]) -> int:
    """The filtered rows, counted; they are the same without the metadata table."""
    plain = again(table, **{"hoodie.metadata.enable": "false"}).snapshot(["id", "p"], where).to_pylist()
    found = again(table).snapshot(["id", "p"], where).to_pylist()
    assert sorted(map(str, found)) == sorted(map(str, plain))
    return len(found)


# Values of columns s, de, dd, da, tm and tn in tables that Apache Hudi 1.2.0 wrote: the value, its type and what is stored.
STORED: list[tuple[pa.DataType, Bound, ValueType, Bound]] = [
    (pa.bool_(), Bound("BooleanWrapper", True), ValueType(2), Bound("BooleanWrapper", True)),
    (pa.int16(), Bound("IntWrapper", -9), ValueType(3), Bound("IntWrapper", -9)),
    (pa.int64(), Bound("LongWrapper", 30_000_000_000), ValueType(4), Bound("LongWrapper", 30_000_000_000)),
    (pa.float32(), Bound("FloatWrapper", 1.5), ValueType(5), Bound("FloatWrapper", 1.5)),
    (pa.float64(), Bound("DoubleWrapper", -3.25), ValueType(6), Bound("DoubleWrapper", -3.25)),
    (pa.string(), Bound("StringWrapper", "s-1"), ValueType(7), Bound("StringWrapper", "s-1")),
    (pa.binary(), Bound("BytesWrapper", b"\x03\xff"), ValueType(8), Bound("BytesWrapper", b"\x03\xff")),
    (pa.decimal128(10, 2), Bound("DecimalWrapper", Decimal("-21.37")), ValueType(10, "10,2"), Bound("BytesWrapper", b"\xf7\xa7")),
    (pa.decimal128(25, 6), Bound("DecimalWrapper", Decimal("9.000037")), ValueType(10, "25,6"), Bound("BytesWrapper", b"\x00\x89Te")),
    (pa.decimal128(10, 2), Bound("DecimalWrapper", Decimal("-1.28")), ValueType(10, "10,2"), Bound("BytesWrapper", b"\x80")),
    (pa.date32(), Bound("DateWrapper", -3253), ValueType(12), Bound("IntWrapper", -3253)),
    (pa.timestamp("us", "UTC"), Bound("LongWrapper", 1577923200123456), ValueType(16), Bound("LongWrapper", 1577923200123456)),
    (pa.timestamp("us"), Bound("LongWrapper", 915235200000000), ValueType(19), Bound("LongWrapper", 915235200000000)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "bound", "type_", "stored"), STORED, ids=lambda one: str(one)[:24])
def test_bounds_are_stored_as_apache_hudi_stores_them(kind: Any, bound: Bound, type_: ValueType, stored: Bound) -> None:
    """MDT-017: a decimal is its unscaled number in the fewest bytes, a date an integer, and the type says which."""
    assert value_type_of(kind) == type_
    assert stored_bound(bound, type_, is_least=True) == stored
    assert bound_of_stored(stored, type_) == bound


def test_bounds_of_unknown_types_are_refused() -> None:
    """MDT-017: an unknown ordinal, and a wrapper of another type, are damage; nothing is guessed."""
    stats = ColumnStats("c", Bound("IntWrapper", 1), Bound("IntWrapper", 2), 2, 0, 0, 0, value_type=ValueType(3), file_name="f")
    entry = encode_record(MetadataRecord("k", stats), SCHEMA_9)
    assert [one.payload for one in decode_entries([entry], SCHEMA_9, "f")] == [stats]
    for found in (21, 7):
        changed = entry.value.replace(b"\x02\x06\x00", bytes([2, 2 * found, 0]))
        assert changed != entry.value
        with pytest.raises(MalformedIndexEntry):
            list(decode_entries([Entry(entry.row, changed)], SCHEMA_9, "f"))


def test_lists_of_values_are_kept() -> None:
    """MDT-017: a bound may be a list of values with different wrappers; it is written as it was read."""
    bound = Bound("ArrayWrapper", (Bound("IntWrapper", 1), None, Bound("StringWrapper", "b")))
    stats = ColumnStats("c", bound, bound, 2, 0, 0, 0, value_type=ValueType(7), file_name="f")
    (read,) = decode_entries([encode_record(MetadataRecord("k", stats), SCHEMA_9)], SCHEMA_9, "f")
    assert read.payload == stats


@EACH_TYPE
def test_every_type_is_indexed_and_pruned_without_losing_rows(kind: str) -> None:
    """MDT-017, MDT-018, IDX-044: new indexes of version 9 hold the types; filters on each column return what a full read does."""
    table = made(kind)
    metadata = MetadataTable.for_table(table)
    assert metadata is not None and metadata.properties.version == 9
    found = {one.partition: one.version for one in read_definitions(table.storage, read_properties(table.storage))}
    assert found == {"column_stats": "V2", "record_index": "V1"}
    types = {one.payload.column: one.payload.value_type for one in entries(table, "column_stats").values()
             if isinstance(one.payload, ColumnStats) and one.payload.least is not None}  # fmt: skip
    assert types["wide"] == ValueType(10, "38,18") and types["day"] == ValueType(12) and types["at"] == ValueType(16)
    assert types["local"] == ValueType(19) and "empty" not in types
    data = rows(1, 4, 6)
    for column in set(COLUMNS) - {"empty"}:
        for value in data.column(column).to_pylist():
            for operator in ("=", "<", ">=", "!="):
                expect_equal_rows(table, [(column, operator, value)])
    assert expect_equal_rows(table, [("wide", "<=", Decimal("-0.006"))]) == 2
    if kind == "MERGE_ON_READ":
        compact(again(table, **{"hoodie.compact.inline.max.delta.commits": "1"}))
    again(table).upsert(rows(8, 9))
    clean(again(table, **{"hoodie.clean.commits.retained": "1"}))
    expect_entries_of_new_indexes(again(table))


def test_secondary_keys_of_later_indexes() -> None:
    """IDX-045, IDX-046: a null is one NUL, a NUL in a text is escaped; the hash of all up to the separator selects the group."""
    assert secondary_key(None, "k1", "V2") == "\0$k1"
    assert secondary_key("\0", "k$1", "V2") == "\\\0$k\\$1"
    assert secondary_key("a\\$", "k", "V2") == "a\\\\\\$$k"
    assert parse_secondary_key("\0$k1", "V2") == (None, "k1") and parse_secondary_key("\\\0$k1", "V2") == ("\0", "k1")
    assert parse_secondary_key("\0$k1", "V1") == ("\0", "k1")
    # Java's hash of "a$" is 97 * 31 + 36 = 3043.
    groups = IndexGroups.from_ids((file_id("secondary_index_by_s", number) for number in range(10)), prefix_of)
    assert groups.locate("a$k1")[0] == groups.locate("a$k2")[0] == "secondary-index-by-s-0003-0"


@EACH_TYPE
def test_secondary_index_follows_writes(kind: str) -> None:
    """IDX-044, IDX-045, IDX-046: nulls have entries, dates are day numbers, and all rows of a value are in one file group."""
    table = made(kind)
    create_index(again(table), "by_s", "s")
    create_index(again(table), "by_day", "day")
    again(table).upsert(rows(2, 8, s=None))
    again(table).upsert(rows(5, s="z"))
    again(table).delete(pa.table({"id": ["k4"], "p": ["x"]}))
    found = {parse_secondary_key(key, "V2") for key in entries(table, "secondary_index_by_s")}
    assert found == {("a$b", "k1"), (None, "k2"), ("z", "k5"), (None, "k6"), ("Ann", "k7"), (None, "k8")}
    days = {parse_secondary_key(key, "V2") for key in entries(table, "secondary_index_by_day")}
    assert days == {(str(n), f"k{n}") for n in (1, 2, 5, 6, 7, 8)}
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    for one in metadata.as_table.view().groups.latest_slices:
        groups = IndexGroups.from_ids(metadata.groups(one.partition), prefix_of)
        if one.partition.startswith("secondary_index_"):
            assert all(groups.locate(key)[0] == one.file_id for key in metadata.records_of_slice(one))
    for value in ("a$b", "z", "Ann", "none"):
        expect_equal_rows(table, [("s", "=", value)])
    assert expect_equal_rows(table, [("day", "in", [datetime.date(1970, 1, 7), datetime.date(1970, 1, 9)])]) == 2


def upgraded(table: WritableTable) -> WritableTable:
    """A table of version 8 whose properties, and those of its metadata table, say version 9, as an upgrade leaves them."""
    for path in (PROPERTIES_PATH, f"{METADATA_FOLDER}/{PROPERTIES_PATH}"):
        text = table.storage.get(path).decode()
        table.storage.put(path, text.replace("hoodie.table.version=8", "hoodie.table.version=9").encode())
    return again(table)


@EACH_TYPE
def test_indexes_of_an_upgraded_table_stay_as_they_are(kind: str) -> None:
    """IDX-043, IDX-049: the definition decides how entries are stored, not the version of the table; a new index is V2."""
    table = made(kind, version=8)
    create_index(again(table), "by_s", "s")
    table = upgraded(table)
    table.upsert(rows(8, 9, s=None))
    create_index(again(table), "by_day", "day")
    again(table).upsert(rows(10, s="z"))
    statistics = [*entries(table, "column_stats").values(), *entries(table, "partition_stats").values()]
    assert all(isinstance(one.payload, ColumnStats | PartitionStats) and one.payload.value_type is None for one in statistics)
    assert None not in {parse_secondary_key(key, "V2")[0] for key in entries(table, "secondary_index_by_s")}
    assert ("10", "k10") in {parse_secondary_key(key, "V2") for key in entries(table, "secondary_index_by_day")}
    for column, value in (("s", "z"), ("s", "a$b"), ("day", datetime.date(1970, 1, 11)), ("ts", 9)):
        assert expect_equal_rows(table, [(column, "=", value)])
    expect_entries_of_new_indexes(again(table))


def test_indexes_of_unknown_versions_are_not_used() -> None:
    """IDX-043: a query ignores an index of an unknown version; a write that would have to maintain it is refused at its start."""
    table = made("COPY_ON_WRITE")
    assert index_is_read(table)
    document = json.loads(table.storage.get(DEFINITIONS_PATH))
    document["indexDefinitions"]["column_stats"]["version"] = "V3"
    table.storage.put(DEFINITIONS_PATH, json.dumps(document).encode())
    before = {info.path for info in table.storage.list()}
    assert expect_equal_rows(table, [("ts", ">", 5)]) == 2
    assert not index_is_read(table)
    with pytest.raises(UnsupportedTableFeature, match="V3"):
        again(table).upsert(rows(11))
    assert {info.path for info in table.storage.list()} == before


def test_damaged_definitions_do_not_stop_queries() -> None:
    """MDT-010: a query needs no index, so that damage in the definitions only means that none is used."""
    table = made("COPY_ON_WRITE")
    table.storage.put(DEFINITIONS_PATH, b"{")
    assert expect_equal_rows(table, [("ts", ">", 5), ("_hoodie_record_key", "in", ["k6", "k7"])]) == 2
    assert not index_is_read(table)


def index_is_read(table: WritableTable) -> bool:
    """Whether a filter on `ts` reads column statistics."""
    read = list[str]()

    class Watched(MemoryStorage):
        def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
            read.append(path)
            return super().get(path, start, length)

        def open(self, path: str) -> pa.NativeFile:
            read.append(path)
            return super().open(path)

    storage = Watched()
    for info in table.storage.list():
        storage.put(info.path, table.storage.get(info.path))
    open_table("memory:", storage=storage).snapshot(["id"], [("ts", ">", 5)])
    return any("/column_stats/" in path for path in read)


def test_several_secondary_indexes_of_a_merge_on_read_table_are_not_used() -> None:
    """MDT-010: Apache Hudi 1.2.0 adds changes to one of them only, so a row may be missing in another."""
    table = made("MERGE_ON_READ")
    create_index(again(table), "by_day", "day")
    create_index(again(table), "by_flag", "flag")
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    for name in metadata.files("secondary_index_by_day"):
        if name.endswith(".hfile"):
            metadata.storage.put(f"secondary_index_by_day/{name}", encode_base_records((), SCHEMA_9))
    assert expect_equal_rows(table, [("day", "=", datetime.date(1970, 1, 2))]) == 1
