"""Indexes that users name: definitions, entries of secondary and expression indexes, creating and dropping, refusals."""

import datetime
import decimal
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import TABLE_TYPES, new_table, trip, trips

from hudi_reference import WritableTable, cluster, create_index, drop_index, open_table, rollback
from hudi_reference.errors import InvalidRows, Misuse, UnsupportedTableFeature
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.availability import PATH_KEY, USABLE, read_definitions
from hudi_reference.metadata.definitions import IndexDefinition, dump_definitions, parse_definitions
from hudi_reference.metadata.indexes.all import index_of
from hudi_reference.metadata.indexes.index_functions import values_of
from hudi_reference.metadata.indexes.secondary_index import secondary_texts
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.secondary_keys import parse_secondary_key
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.services.indexing.named_indexes import definition_in

BOTH = pytest.mark.parametrize("kind", TABLE_TYPES)
SETTINGS = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.index.enable": "true"}


def indexed_table(kind: str = "COPY_ON_WRITE") -> WritableTable:
    """A table with three rows and a record index."""
    table = new_table(partition=("p",), table_type=kind, options=SETTINGS)
    table.insert(trips(trip("a", "Ann", p="x"), trip("b", "Bo$b", p="y"), trip("c", None, p="y")))
    return opened(table)


def opened(table: WritableTable) -> WritableTable:
    """The table as it is now."""
    return open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids, options=SETTINGS)


def entries(table: WritableTable, partition: str) -> Mapping[str, MetadataRecord]:
    """The records of a partition of the metadata table, after a check that it may be used."""
    assert partition in read_properties(table.storage).fields(USABLE)
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    return metadata.records(partition, table.timeline)


def pairs(table: WritableTable) -> set[tuple[str, str]]:
    """Values and record keys in the index on `name`."""
    return {parse_secondary_key(key) for key in entries(table, "secondary_index_by_name")}


@BOTH
def test_secondary_index_follows_writes_and_services(kind: str) -> None:
    """IDX-021, IDX-030: changed values replace their entries, removed rows and nulls have none, moved rows keep theirs."""
    table = indexed_table(kind)
    create_index(table, "by_name", "name")
    assert pairs(opened(table)) == {("Ann", "a"), ("Bo$b", "b")}
    opened(table).upsert(trips(trip("a", "Zoe", p="x"), trip("c", "Cy", p="y"), trip("d", "Ann", p="z")))
    assert pairs(opened(table)) == {("Zoe", "a"), ("Bo$b", "b"), ("Cy", "c"), ("Ann", "d")}
    opened(table).delete(pa.table({"id": ["b"], "p": ["y"]}))
    unwanted = opened(table).upsert(trips(trip("d", None, p="z")))
    assert pairs(opened(table)) == {("Zoe", "a"), ("Cy", "c")}
    rollback(opened(table), unwanted)
    assert cluster(opened(table)) is not None
    assert pairs(opened(table)) == {("Zoe", "a"), ("Cy", "c"), ("Ann", "d")}
    opened(table).insert_overwrite(trips(trip("e", "Eve", p="x")))
    assert pairs(opened(table)) == {("Eve", "e"), ("Cy", "c"), ("Ann", "d")}


@BOTH
def test_expression_index_follows_writes(kind: str) -> None:
    """IDX-035: after each write the entries are those that a new index would have."""
    table = indexed_table(kind)
    create_index(table, "small", "name", using="column_stats", function="lower")
    for rows in (trips(trip("a", "Zoe", p="x")), trips(trip("n", "NEW", p="w"), trip("b", None, p="y"))):
        opened(table).upsert(rows)
        now = opened(table)
        expected = {one.key: one.payload for one in index_of(now, "expr_index_small").whole(now, now.view())}
        found = {key: one.payload for key, one in entries(now, "expr_index_small").items()}
        assert expected.items() <= found.items()
    assert cluster(opened(table)) is not None
    opened(table).delete_partitions(["w"])
    now = opened(table)
    partitions = {
        k: one for k, one in entries(now, "expr_index_small").items() if type(one.payload).__name__ == "PartitionStats"
    }
    expected = {one.key: one for one in index_of(now, "expr_index_small").whole(now, now.view())}
    assert partitions == {key: one for key, one in expected.items() if key in partitions} and len(partitions) == 2


def test_bloom_filter_of_an_expression() -> None:
    """IDX-035: the filter of each base file contains the texts of its values; log files would have none."""
    table = indexed_table()
    create_index(table, "few", "name", using="bloom_filters", function="lower", options={"numentries": "50", "fpp": "0.01"})
    assert len(entries(opened(table), "expr_index_few")) == 2
    with pytest.raises(UnsupportedTableFeature, match="merge-on-read"):
        create_index(indexed_table("MERGE_ON_READ"), "few", "name", using="bloom_filters", function="lower")


def test_created_and_dropped() -> None:
    """IDX-021, IDX-022: a created index has a definition; a dropped one has no definition, no files, and is not listed."""
    table = indexed_table()
    create_index(table, "by_name", "name")
    (found,) = read_definitions(table.storage, read_properties(table.storage))
    assert found == IndexDefinition("secondary_index_by_name", "secondary_index", "identity", ("name",), {}, "V1")
    with pytest.raises(Misuse, match="there is an index"):
        create_index(opened(table), "by_name", "id")
    assert drop_index(opened(table), "by_name") and not drop_index(opened(table), "by_name")
    properties = read_properties(table.storage)
    assert properties.get(PATH_KEY) is None and "secondary_index_by_name" not in properties.fields(USABLE)
    assert not [one for one in table.storage.list(".hoodie/metadata/secondary_index_by_name") if "secondary-index" in one.path]
    opened(table).upsert(trips(trip("a", "Zoe", p="x")))
    create_index(opened(table), "by_name", "name")
    assert pairs(opened(table)) == {("Zoe", "a"), ("Bo$b", "b")}


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"column": "gone"}, Misuse),
        ({"name": "a/b"}, Misuse),
        ({"using": "column_stats", "function": "concat"}, UnsupportedTableFeature),
        ({"using": "column_stats", "function": "year"}, UnsupportedTableFeature),
        ({"using": "column_stats", "function": "substring", "options": {"pos": "1"}}, UnsupportedTableFeature),
        ({"using": "column_stats", "function": "lower", "options": {"format": "y"}}, UnsupportedTableFeature),
    ],
)
def test_refused_indexes_leave_no_definition(more: dict[str, Any], error: type[Exception]) -> None:
    """IDX-034: unknown functions, columns and options are refused, and nothing is stored."""
    table = indexed_table()
    before = {info.path for info in table.storage.list()}
    with pytest.raises(error):
        create_index(table, **{"name": "n", "column": "name", **more})
    assert {info.path for info in table.storage.list()} == before


def test_secondary_index_needs_a_record_index() -> None:
    """IDX-021: without the places of records its entries lead nowhere."""
    table = new_table(options={"hoodie.metadata.enable": "true"})
    table.insert(trips(trip("a", "x")))
    with pytest.raises(UnsupportedTableFeature, match="record index"):
        create_index(table, "by_name", "name")


def test_unknown_function_is_refused_before_a_write() -> None:
    """PROP-001: another engine's index over a function that is not supported: nothing is written."""
    table = indexed_table()
    create_index(table, "small", "name", using="column_stats", function="lower")
    path = ".hoodie/.index_defs/index.json"
    table.storage.put(path, table.storage.get(path).replace(b'"lower"', b'"regexp_extract"'))
    before = {info.path for info in table.storage.list()}
    with pytest.raises(UnsupportedTableFeature, match="regexp_extract"):
        opened(table).upsert(trips(trip("a", "Zoe", p="x")))
    with pytest.raises(UnsupportedTableFeature, match="regexp_extract"):
        cluster(opened(table))
    assert {info.path for info in table.storage.list()} == before


DEPLOYED = b"""{
  "indexDefinitions" : {
    "secondary_index_s" : {
      "indexName" : "secondary_index_s",
      "indexType" : "secondary_index",
      "indexFunction" : "identity",
      "sourceFields" : [ "st.x" ],
      "indexOptions" : { },
      "version" : "V1"
    }
  }
}"""


def test_definitions_are_stored_as_deployed_writers_store_them() -> None:
    """IDX-022: the same bytes, with the member that Apache Hudi 1.2.0 adds."""
    assert dump_definitions(parse_definitions(DEPLOYED, "x")) == DEPLOYED


def test_definitions_in_settings() -> None:
    """IDX-032: settings of a writer by Hudi's names describe an index."""
    prefix = "hoodie.metadata.index"
    assert definition_in({f"{prefix}.secondary.column": "s", "hoodie.index.name": "n"}) == IndexDefinition(
        "secondary_index_n", "secondary_index", "identity", ("s",), {}, "V1"
    )
    found = definition_in(
        {f"{prefix}.expression.enable": "true", f"{prefix}.expression.column": "l", "hoodie.index.name": "n",
         f"{prefix}.expression.options": "expr=from_unixtime,format=yyyy"}
    )  # fmt: skip
    assert found == IndexDefinition(
        "expr_index_n", "column_stats", "from_unixtime", ("l",), {"expr": "from_unixtime", "format": "yyyy"}, "V1"
    )
    assert definition_in({}) is None


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([1.5, 1e20, -0.0, float("nan"), None]), ["1.5", "1.0E20", "-0.0", "NaN", None]),
        (pa.array([0.1, 1e10, float("inf")], pa.float32()), ["0.1", "1.0E10", "Infinity"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([b"\x01\x02", b"\xff", b""]), ["0102", "ff", ""]),
        (pa.array([decimal.Decimal("7.00"), decimal.Decimal("-0.50")]), ["7.00", "-0.50"]),
        (pa.array([datetime.date(1969, 12, 31)]), ["1969-12-31"]),
        (pa.array([-500000, 1577840523456789], pa.timestamp("us", "UTC")), ["-500000", "1577840523456789"]),
        (pa.array([-3, 3], pa.int32()), ["-3", "3"]),
    ],
)
def test_texts_of_secondary_values(values: pa.Array, texts: list[str | None]) -> None:
    """IDX-026: the texts that Apache Hudi 1.0.2 has for values of each type."""
    assert secondary_texts(values, "V1").to_pylist() == texts


TIMES = pa.array([1577835000123456, -500000, 1593518400000000, None], pa.timestamp("us", "UTC"))
TEXTS = pa.array([" Abc ", "xaY", "Äß", None])


@pytest.mark.parametrize(
    ("name", "options", "column", "expected"),
    [
        ("year", {}, TIMES, [2019, 1969, 2020, None]),
        ("month", {}, TIMES, [12, 12, 6, None]),
        ("day", {}, TIMES, [31, 31, 30, None]),
        ("hour", {}, TIMES, [23, 23, 12, None]),
        ("unix_timestamp", {}, TIMES, [1577835000, 0, 1593518400, None]),
        ("date_format", {"format": "yyyy-MM 'at' HH"}, TIMES, ["2019-12 at 23", "1969-12 at 23", "2020-06 at 12", None]),
        ("lower", {}, TEXTS, [" abc ", "xay", "äß", None]),
        ("upper", {}, TEXTS, [" ABC ", "XAY", "ÄSS", None]),
        ("trim", {}, TEXTS, ["Abc", "xaY", "Äß", None]),
        ("ltrim", {}, TEXTS, ["Abc ", "xaY", "Äß", None]),
        ("rtrim", {"trimString": " cY"}, TEXTS, [" Ab", "xa", "Äß", None]),
        ("length", {}, TEXTS, [5, 3, 2, None]),
        ("substring", {"pos": "2", "len": "2"}, TEXTS, ["Ab", "aY", "ß", None]),
        ("substring", {"pos": "-2", "len": "2"}, TEXTS, ["c ", "aY", "Äß", None]),
        ("substring", {"pos": "-4", "len": "2"}, TEXTS, ["Ab", "x", "", None]),
        ("from_unixtime", {}, pa.array([1577840523, -1]), ["2020-01-01 01:02:03", "1969-12-31 23:59:59"]),
        ("to_date", {"format": "yyyy-MM-dd"}, pa.array(["2020-02-29", "bad", "2021-02-29"]), [datetime.date(2020, 2, 29), None, None]),
        ("date_add", {"days": "10"}, pa.array([datetime.date(2020, 2, 29)]), [datetime.date(2020, 3, 10)]),
        ("date_sub", {"days": "10"}, pa.array([datetime.date(2020, 2, 29)]), [datetime.date(2020, 2, 19)]),
        ("identity", {}, pa.array([1.5]), [1.5]),
    ],
)  # fmt: skip
def test_functions_of_expression_indexes(name: str, options: dict[str, str], column: pa.Array, expected: list[Any]) -> None:
    """IDX-036 to IDX-042: the values that Apache Hudi 1.0.2 on Spark 3.5 has for the same rows."""
    assert values_of(name, options, column).to_pylist() == expected


def test_years_that_no_date_has_are_refused() -> None:
    """IDX-042: seconds beyond the year 9999 are refused instead of being indexed wrongly."""
    with pytest.raises(InvalidRows):
        values_of("from_unixtime", {}, pa.array([2**50]))
