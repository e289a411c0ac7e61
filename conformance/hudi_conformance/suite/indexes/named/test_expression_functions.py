"""Results of the functions of expression indexes: their texts in bloom filters, and the time zone of functions of times."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.indexes.named_tables import NAMED, SETTINGS, NamedTable, expression_index
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_reference import open_table
from hudi_reference.files.bloom.bloom import decode_filter
from hudi_reference.metadata.keys import bloom_filters_key
from hudi_reference.metadata.records import BloomFilter, ColumnStats, MetadataRecord, PartitionStats
from hudi_reference.metadata.table import MetadataTable

MICROS = {"type": "long", "logicalType": "timestamp-micros"}
LOCAL = {"type": "long", "logicalType": "local-timestamp-micros"}
AT, AT_LOCAL = pa.timestamp("us", "UTC"), pa.timestamp("us")


@dataclass(frozen=True)
class Kind:
    """A column with an expression index: types, function and options, values, and the texts of the function's results."""

    avro: Any
    arrow: pa.DataType
    #: By the text of the result in a filter.
    values: Mapping[str, Any]
    #: Other texts of these results, which no filter holds.
    others: tuple[str, ...]
    function: str = "identity"
    options: Mapping[str, str] = field(default_factory=dict)


def decimal(precision: int, scale: int) -> tuple[Any, pa.DataType]:
    """Return the types of a decimal in Avro and in Arrow."""
    avro = {"type": "fixed", "name": "price", "size": 9, "logicalType": "decimal", "precision": precision, "scale": scale}
    return avro, pa.decimal128(precision, scale)


TIMES = {
    "2024-01-02 03:04:05.6789": datetime(2024, 1, 2, 3, 4, 5, 678900, UTC),
    "2024-01-02 03:04:06.0": datetime(2024, 1, 2, 3, 4, 6, tzinfo=UTC),
}
SECONDS = ("2024-01-02 03:04:05", "2024-01-02 03:04:06", "1704164645678900", "2024-01-02 03:04:05.678900")
KINDS: Mapping[str, Kind] = {
    "times": Kind(MICROS, AT, TIMES, SECONDS),
    "decimals": Kind(
        *decimal(20, 4), {"1.5000": Decimal("1.5"), "-20.0000": Decimal(-20)}, ("1.5", "15000", "-20", "-200000"),
    ),
    "dates": Kind(
        {"type": "int", "logicalType": "date"}, pa.date32(),
        {"2024-01-02": date(2024, 1, 2), "1969-12-31": date(1969, 12, 31)}, ("19724", "-1"),
    ),
    "true": Kind("boolean", pa.bool_(), {"true": True}, ("True", "1", "false")),
    "longs": Kind("long", pa.int64(), {"-7": -7, "1234567890123": 1234567890123}, ("7", "1.234567890123E12")),
    "doubles": Kind("double", pa.float64(), {"0.5": 0.5, "1.0E10": 1e10, "-3.0": -3.0}, ("10000000000.0", "1e10", "-3")),
    "floats": Kind("float", pa.float32(), {"0.1": 0.1, "2.5E-5": 2.5e-5}, ("0.10000000149011612", "2.5e-05")),
    "texts as times": Kind(
        "string", pa.string(),
        {"2024-01-02 03:04:05.678": "2024-01-02 03:04:05.678", "2024-01-02 03:04:06.5": "2024-01-02 03:04:06.500"},
        (*SECONDS, "2024-01-02 03:04:06.500"), "to_timestamp", {"format": "yyyy-MM-dd HH:mm:ss.SSS"},
    ),
    "texts as dates": Kind(
        "string", pa.string(), {"2024-01-02": "02/01/2024"}, ("02/01/2024", "19724"), "to_date", {"format": "dd/MM/yyyy"},
    ),
    "years": Kind(MICROS, AT, {"2024": datetime(2024, 5, 6, tzinfo=UTC)}, ("2024-05-06", "24"), "year"),
}  # fmt: skip


class TypedTable:
    """A copy-on-write table with one column `v`, and an index of it."""

    def __init__(self, engine: Client, uri: str, avro: Any, arrow: pa.DataType, settings: Mapping[str, str]) -> None:
        fields = [{"name": "id", "type": "string"}, {"name": "v", "type": ["null", avro], "default": None}]
        schema = {"type": "record", "name": "row", "fields": fields}
        spec = TableSpec(
            "typed", "COPY_ON_WRITE", schema, ("id",), merge_mode="COMMIT_TIME_ORDERING", version=engine.table_version
        )
        engine.create(uri, spec)
        self.engine, self.uri, self.arrow, self.settings = engine, uri, arrow, {**SETTINGS, **settings}

    def insert(self, key: str, values: list[Any]) -> None:
        """Insert rows with these values; their keys begin with that text."""
        columns = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("v", self.arrow)])
        rows = [{"id": f"{key}{number}", "v": value} for number, value in enumerate(values)]
        self.engine.write(self.uri, "upsert", pa.Table.from_pylist(rows, schema=columns), options=self.settings)

    def build(self, index: Mapping[str, str]) -> None:
        """Build an index with the settings of the writer."""
        assert self.engine.service(self.uri, "index", options={**self.settings, **index}) is not None

    def entries(self, partition: str) -> Mapping[str, MetadataRecord]:
        """Return the entries of the index by key."""
        table = open_table(self.uri)
        metadata = MetadataTable.for_table(table)
        assert metadata is not None, "there is no metadata table"
        return metadata.records(partition, table.timeline)

    def files(self) -> list[str]:
        """Return the names of the current base files."""
        names: list[str] = self.engine.read(self.uri, Query(columns=("_hoodie_file_name",))).column(0).unique().to_pylist()
        return names


@NAMED
@pytest.mark.needs("types.temporal", "types.decimal")
@pytest.mark.requirements("IDX-004", "IDX-035", "IDX-036")
@pytest.mark.parametrize("kind", KINDS)
def test_bloom_filters_of_an_expression_have_the_texts_of_its_values(engine: Client, new_uri: NewUri, kind: str) -> None:
    """IDX-004: the bloom filter of a base file holds the text of each result of the function as Java prints it: times with the
    digits of their fraction, at least one; decimals with all digits of their scale; dates, numbers and booleans.
    """
    one = KINDS[kind]
    options = {**one.options, "filtertype": "SIMPLE", "numentries": "50", "fpp": "0.000001"}
    table = TypedTable(engine, new_uri(), one.avro, one.arrow, {})
    table.insert("a", list(one.values.values()))
    table.build({**expression_index("f", "v", one.function, **options), "hoodie.expression.index.type": "bloom_filters"})
    found = {entry: record.payload for entry, record in table.entries("expr_index_f").items()}
    for name in table.files():
        entry = found.get(bloom_filters_key("", name))
        assert isinstance(entry, BloomFilter), f"{name} has no entry"
        stored = decode_filter(entry.type, entry.text, name)
        assert dict(zip(one.values, stored.may_hold(list(one.values)), strict=True)) == dict.fromkeys(one.values, True)
        assert dict(zip(one.others, stored.may_hold(list(one.others)), strict=True)) == dict.fromkeys(one.others, False)


@NAMED
@pytest.mark.requirements("IDX-004", "IDX-035")
def test_bloom_filters_of_an_expression_leave_out_nulls(engine: Client, new_uri: NewUri) -> None:
    """IDX-004: a null has no text. A bloom filter of an expression holds the texts of the other values alone."""
    table = TypedTable(engine, new_uri(), "string", pa.string(), {})
    table.insert("a", ["Some", None])
    options = {"filtertype": "SIMPLE", "numentries": "50", "fpp": "0.000001"}
    table.build({**expression_index("f", "v", "lower", **options), "hoodie.expression.index.type": "bloom_filters"})
    found = {entry: record.payload for entry, record in table.entries("expr_index_f").items()}
    for name in table.files():
        entry = found.get(bloom_filters_key("", name))
        assert isinstance(entry, BloomFilter), f"{name} has no entry"
        assert list(decode_filter(entry.type, entry.text, name).may_hold(["some", "null", "none"])) == [True, False, False]


TOKYO = {"spark.sql.session.timeZone": "Asia/Tokyo"}
EVENING = datetime(2023, 12, 31, 18, 30, 5, tzinfo=UTC)


def seconds(time: datetime) -> int:
    """Return the seconds of a time since 1970."""
    return int(time.timestamp())


#: Function -> types, options, two values, and the result for each; EVENING is the next year in Tokyo.
IN_TOKYO: Mapping[str, tuple[Any, pa.DataType, dict[str, str], tuple[Any, Any], tuple[Any, Any]]] = {
    "year": (MICROS, AT, {}, (EVENING, EVENING + timedelta(days=366)), (2024, 2025)),
    "day": (MICROS, AT, {}, (EVENING, EVENING + timedelta(days=3)), (1, 4)),
    "hour": (MICROS, AT, {}, (EVENING, EVENING + timedelta(hours=2)), (3, 5)),
    "from_unixtime": (
        "long", pa.int64(), {"format": "yyyy-MM-dd HH"}, (seconds(EVENING), seconds(EVENING) + 7200),
        ("2024-01-01 03", "2024-01-01 05"),
    ),
    "date_format": (
        MICROS, AT, {"format": "yyyy-MM-dd HH"}, (EVENING, EVENING + timedelta(hours=2)), ("2024-01-01 03", "2024-01-01 05"),
    ),
    "to_date": (MICROS, AT, {}, (EVENING, EVENING + timedelta(days=1)), (19723, 19724)),
    "to_timestamp": (
        "string", pa.string(), {}, ("2024-01-01 03:30:05", "2024-01-01 05:30:05"),
        (seconds(EVENING) * 1_000_000, (seconds(EVENING) + 7200) * 1_000_000),
    ),
    "unix_timestamp": (
        "string", pa.string(), {}, ("2024-01-01 03:30:05", "2024-01-01 05:30:05"), (seconds(EVENING), seconds(EVENING) + 7200),
    ),
}  # fmt: skip


def check_bounds(table: TypedTable, expected: tuple[Any, Any]) -> None:
    """Check that the entry of each current base file has these bounds of the function's results."""
    found = [record.payload for record in table.entries("expr_index_f").values()]
    entries = {one.file_name: one for one in found if isinstance(one, ColumnStats)}
    for name in table.files():
        assert name in entries, f"{name} has no entry"
        one = entries[name]
        assert (one.least and one.least.value, one.greatest and one.greatest.value) == expected, name


def write_with_index(table: TypedTable, index: Mapping[str, str], values: tuple[Any, Any], phase: str) -> None:
    """Build the index of a file with the values, and write another one with them in the phase `written`."""
    table.insert("a", list(values))
    table.build(index)
    if phase == "written":
        table.insert("b", list(values))


PHASES = pytest.mark.parametrize("phase", ["built", "written"])


@NAMED
@PHASES
@pytest.mark.needs("types.temporal")
@pytest.mark.requirements("IDX-035", "IDX-037", "IDX-039", "IDX-040", "IDX-042")
@pytest.mark.parametrize("function", IN_TOKYO)
def test_functions_of_times_are_those_of_the_time_zone_of_the_writer(
    engine: Client, new_uri: NewUri, function: str, phase: str
) -> None:
    """IDX-037: a function of times has the result that it has in the time zone among the settings of the request: that of the
    writer that builds the index, and that of the writer that adds a file (ER-165).
    """
    avro, arrow, options, values, expected = IN_TOKYO[function]
    table = TypedTable(engine, new_uri(), avro, arrow, TOKYO)
    write_with_index(table, expression_index("f", "v", function, **options), values, phase)
    check_bounds(table, expected)


#: Function -> options, and the result for each of two local times.
OF_LOCAL_TIMES: Mapping[str, tuple[dict[str, str], tuple[Any, Any]]] = {
    "hour": ({}, (18, 20)),
    "date_format": ({"format": "yyyy-MM-dd HH"}, ("2023-12-31 18", "2023-12-31 20")),
    "to_date": ({}, (19722, 19722)),
}


@NAMED
@PHASES
@pytest.mark.needs("types.temporal", "types.avro")
@pytest.mark.requirements("IDX-035", "IDX-040", "IDX-042")
@pytest.mark.parametrize("function", OF_LOCAL_TIMES)
def test_functions_of_local_times_have_no_time_zone(engine: Client, new_uri: NewUri, function: str, phase: str) -> None:
    """IDX-040: a local time names an hour and a day in no time zone. Its functions are the same for writers of all zones."""
    options, expected = OF_LOCAL_TIMES[function]
    local = EVENING.replace(tzinfo=None)
    table = TypedTable(engine, new_uri(), LOCAL, AT_LOCAL, TOKYO)
    write_with_index(table, expression_index("f", "v", function, **options), (local, local + timedelta(hours=2)), phase)
    check_bounds(table, expected)


#: Function -> options, two texts, and the lesser and the greater result.
OF_TEXTS: Mapping[str, tuple[dict[str, str], tuple[str, str], tuple[Any, Any]]] = {
    "trim": ({}, ("  \tx\n ", " \ny  "), ("\tx\n", "\ny")),
    "ltrim": ({}, ("  \tx ", " \ny"), ("\tx ", "\ny")),
    "rtrim": ({}, (" x\t  ", " x\n "), (" x\t", " x\n")),
    "length": ({}, ("\u00e9\U0001f600", "abc"), (2, 3)),
    "lower": ({}, ("\U0001f600", "\ue000"), ("\ue000", "\U0001f600")),
    "substring": ({"pos": "-3", "len": "2"}, ("ab", "wxyz"), ("a", "xy")),
}


@NAMED
@PHASES
@pytest.mark.requirements("IDX-035")
@pytest.mark.parametrize("function", OF_TEXTS)
def test_functions_of_texts_are_those_of_sql(engine: Client, new_uri: NewUri, function: str, phase: str) -> None:
    """IDX-035: a function of texts is the one of SQL: spaces are trimmed, and no other white space; the length is a number of
    characters, not of bytes; a substring may begin before the text. Texts are ordered by their bytes in UTF-8.
    """
    options, values, expected = OF_TEXTS[function]
    table = TypedTable(engine, new_uri(), "string", pa.string(), {})
    write_with_index(table, expression_index("f", "v", function, **options), values, phase)
    check_bounds(table, expected)


@NAMED
@PHASES
@pytest.mark.requirements("IDX-035", "IDX-036")
@pytest.mark.parametrize("kind", ["double", "float"])
def test_a_nan_is_the_greatest_result_of_an_expression(engine: Client, new_uri: NewUri, kind: str, phase: str) -> None:
    """IDX-035: in SQL a NaN is greater than all numbers. The lesser bound of a file with a NaN is that of its numbers."""
    table = TypedTable(engine, new_uri(), kind, pa.float64() if kind == "double" else pa.float32(), {})
    write_with_index(table, expression_index("f", "v", "identity"), (math.nan, -1.5), phase)
    found = [record.payload for record in table.entries("expr_index_f").values()]
    entries = [one for one in found if isinstance(one, ColumnStats) and one.file_name in table.files()]
    assert entries
    for one in entries:
        assert one.least is not None and one.greatest is not None
        assert one.least.value == -1.5
        assert isinstance(one.greatest.value, float)
        assert math.isnan(one.greatest.value)


@NAMED
@BOTH_TYPES
@pytest.mark.needs("write.delete-partition")
@pytest.mark.requirements("IDX-035", "MDT-001")
def test_a_deleted_partition_has_no_statistics_of_an_expression(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-035: an expression index has the statistics of each partition that has files, and none of a partition that a write
    has deleted. Rows that are written into that partition again have those of their own values alone.
    """
    table = NamedTable(engine, new_uri(), type, expression_index("low", "value", "lower"))
    table.write(Step("upsert", (row("u", 1, "Upper", "rio"),)), Step("delete_partition", (row("any", 0, "", "rio"),)))
    assert set(partitions_of(table)) == {"oslo"}
    table.write(Step("upsert", (row("v", 2, "Mixed", "rio"),)))
    assert partitions_of(table)["rio"] == ("mixed", "mixed")


def partitions_of(table: NamedTable) -> dict[str, tuple[Any, Any]]:
    """Return the bounds of each partition in the index `low`."""
    found = [record.payload for record in table.records("expr_index_low").values()]
    entries = [one for one in found if isinstance(one, PartitionStats)]
    return {one.partition: (one.least and one.least.value, one.greatest and one.greatest.value) for one in entries}
