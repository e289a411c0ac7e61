"""Filters on tables with indexes: a query may skip files, and the rows are those that a full scan would give."""

import json
import math
import operator
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    CHANGES,
    EVERY_INDEX,
    INDEXED,
    INFLIGHT,
    INSERTS,
    PREFIX,
    USABLE,
    WRITES,
    IndexedTable,
    values_where,
)
from hudi_conformance.suite.support.tables.tables_under_services import copy_golden_table
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.locks import InProcessLock
from hudi_reference.storage import LocalStorage

SKIPS = pytest.mark.needs(*WRITES, "read.filter", "read.projection")
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
#: Values move out of the range of their base file and into the range of another one; one becomes null.
MOVES = (
    Step("upsert", (row("a", 90, "zz"), row("c", 91, "aa", "rio"))),
    Step("upsert", (row("d", 92, None), row("e", 3, "late"))),  # type: ignore[arg-type]
)


def expect_filters(table: IndexedTable, when: str, columns: Mapping[str, tuple[Any, ...]]) -> None:
    """Compare every filter on these columns and constants with the rows of the whole table."""
    rows = table.engine.read(table.uri, Query(columns=("id", "city", "ts", "value"))).to_pylist()
    for column, constants in columns.items():
        for constant in constants:
            for symbol, holds in COMPARISONS.items():
                found = values_where(table.engine, table.uri, (column, symbol, constant))
                wanted = [one["id"] for one in rows if one[column] is not None and holds(one[column], constant)]
                assert found == sorted(wanted), f"{when}: {column} {symbol} {constant!r}"


@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-010", "MDT-009", "MDT-001")
def test_a_filter_loses_no_row_that_statistics_describe(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-010: after updates in log files or new base files move values out of the ranges of older files, and after deletes,
    each comparison selects the rows of a full scan.
    """
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX)
    for steps in ((*INSERTS, *CHANGES), MOVES):
        table.write(*steps).check_rows(f"after {steps}")
        expect_filters(table, f"after {steps[-1]}", {"ts": (5, 31, 90, 91), "value": ("x", "zz"), "city": ("rio",)})


@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-010", "MDT-009")
def test_a_filter_over_many_partitions_loses_no_row(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-010: a reader may read the statistics of a column in all partitions at once if there are many. Each file is left out
    by its own ones, also where a later write has changed some of the partitions.
    """
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX)
    rows = [row(f"k{number:02}", number, f"v{number:02}", f"p{number:02}") for number in range(20)]
    changes = [row(one["id"], 100 - one["ts"], f"w{number:02}", one["city"]) for number, one in enumerate(rows[::3])]
    table.write(Step("upsert", tuple(rows)), Step("upsert", tuple(changes)))
    expect_filters(table, "of 20 partitions", {"ts": (1, 82), "value": ("w06",)})


@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("IDX-012", "IDX-010", "IDX-004")
def test_a_filter_on_the_key_finds_the_row(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-012: present, updated, deleted, replaced and absent keys."""
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX).write(*INSERTS, *CHANGES, *MOVES)
    table.write(Step("insert_overwrite", (row("z", 1, "all", "rio"), row("b", 50, "again", "rio"))))
    rows = {one["id"] for one in engine.read(table.uri, Query(columns=("id",))).to_pylist()}
    for key in ("a", "b", "c", "e", "n", "z", "none"):
        assert values_where(engine, table.uri, ("id", "=", key)) == [key] * (key in rows), key


#: Fields of a key, comparisons, and the values of the rows for which they hold.
KEYS: Mapping[str, tuple[tuple[str, ...], Mapping[tuple[str, str, Any], list[str]]]] = {
    "two fields": (
        ("id", "number"),
        {("id", "=", "a"): ["a7", "a8"], ("number", "=", 7): ["a7", "b7"]},
    ),
    "a number": (("number",), {("number", "=", 8): ["a8"], ("_hoodie_record_key", "=", "7"): ["b7"], ("id", "=", "a"): ["a8"]}),
}


@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("IDX-012", "PROP-007")
@pytest.mark.parametrize("fields", KEYS)
def test_a_filter_on_a_field_of_the_key_finds_its_rows(engine: Client, new_uri: NewUri, type: Type, fields: str) -> None:
    """IDX-012: an index has whole record keys. A value of one of several key fields is no key, the text of a number is."""
    uri, (key, expected) = new_uri(), KEYS[fields]
    columns = [{"name": n, "type": t} for n, t in (("id", "string"), ("number", "long"), ("ts", "long"), ("value", "string"))]
    schema = {"type": "record", "name": "row", "fields": columns}
    engine.create(uri, TableSpec("keyed", type, schema, key, ordering=("ts",)))
    for number, rows in enumerate(([("a", 7), ("b", 7)][len(key) == 1 :], [("a", 8)])):
        given = [{"id": i, "number": n, "ts": number, "value": f"{i}{n}"} for i, n in rows]
        types = pa.schema([("id", pa.string()), ("number", pa.int64()), ("ts", pa.int64()), ("value", pa.string())])
        engine.write(uri, "upsert", pa.Table.from_pylist(given, schema=types), options=dict(EVERY_INDEX))
    for where, values in expected.items():
        assert values_where(engine, uri, where, column="value") == values, where


@pytest.mark.needs("service.compaction")
@SKIPS
@pytest.mark.requirements("MDT-010", "RDR-018")
def test_a_filter_loses_no_row_after_a_compaction(engine: Client, new_uri: NewUri) -> None:
    """MDT-010: the statistics of the new base files replace those of the old slices."""
    table = IndexedTable(engine, new_uri(), "MERGE_ON_READ", EVERY_INDEX).write(*INSERTS, *CHANGES, *MOVES)
    engine.service(table.uri, "compaction", options={**EVERY_INDEX, "hoodie.compact.inline.max.delta.commits": "1"})
    expect_filters(table, "after a compaction", {"ts": (31, 90), "value": ("aa", "zz")})


@pytest.mark.needs("write.insert-overwrite")
@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("IDX-012", "OCC-021")
def test_keys_of_a_crashed_write_are_found_where_they_were(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-012: the metadata table has completed a write that moved keys to new file groups, and the table has not."""
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX).write(*INSERTS)
    crashed = engine.write(
        table.uri, "insert_overwrite", as_arrow((row("a", 50, "moved"), row("b", 50, "moved"))), options=dict(EVERY_INDEX)
    )
    for path in (table.folder / ".hoodie" / "timeline").glob(f"{crashed}_*"):
        path.unlink()
    for key, value in (("a", "x"), ("b", "y")):
        assert values_where(engine, table.uri, ("id", "=", key), column="value") == [value]


@pytest.mark.needs("read.read-optimized")
@SKIPS
@pytest.mark.requirements("IDX-012", "TYP-017")
def test_a_read_optimized_query_finds_keys_of_base_files(engine: Client, new_uri: NewUri) -> None:
    """IDX-012: the record index describes the merged rows; the base file still has a key that a log file deleted."""
    table = IndexedTable(engine, new_uri(), "MERGE_ON_READ", EVERY_INDEX).write(*INSERTS, *CHANGES)
    assert values_where(engine, table.uri, ("id", "=", "b"), kind="read-optimized") == ["b"]


@pytest.mark.needs("service.index", "service.index.named")
@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("IDX-035", "IDX-041")
def test_an_expression_index_loses_no_row_of_its_column(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-035: the statistics of lower(value) are those of the results, and do not exclude the values themselves."""
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write_with_index_of_lower_case()
    expect_filters(table, "with an expression index", {"value": ("UPPER", "upper", "Mixed", "x")})


#: Functions of the text column, and constants of comparisons with the column itself that are no results of the function.
FUNCTIONS: Mapping[str, tuple[Mapping[str, str], tuple[str, ...]]] = {
    "lower": ({}, ("UPPER", "Mixed")),
    "substring": ({"pos": "1", "len": "2"}, ("UPPER", "Mixed", "xyz")),
    "upper": ({}, ("xyz", "Mixed")),
}


@pytest.mark.needs("service.index", "service.index.named")
@SKIPS
@pytest.mark.requirements("IDX-035")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_index_that_was_built_last_loses_no_row_of_its_column(engine: Client, new_uri: NewUri, function: str) -> None:
    """IDX-035: the statistics of a function's results in each file exclude none of the values of the column (ER-166)."""
    table, (options, constants) = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", INDEXED), FUNCTIONS[function]
    for number, (value, city) in enumerate({"UPPER": "oslo", "Mixed": "rio", "xyz": "lima"}.items()):
        table.write(Step("upsert", (row(f"k{number}", 1, value, city),)))
    given = ",".join(f"{key}={value}" for key, value in {"expr": function, **options}.items())
    settings = {
        "hoodie.index.name": "built", f"{PREFIX}index.expression.enable": "true",
        f"{PREFIX}index.expression.column": "value", f"{PREFIX}index.expression.options": given,
    }  # fmt: skip
    assert engine.service(table.uri, "index", options=settings) is not None
    expect_filters(table, f"with an index of {function}", {"value": constants})


#: Settings of an index of the hours of a column, and of a writer with a time zone.
HOURS = {
    "hoodie.index.name": "hours", f"{PREFIX}index.expression.enable": "true",
    f"{PREFIX}index.expression.column": "at", f"{PREFIX}index.expression.options": "expr=hour",
}  # fmt: skip
TOKYO = {"spark.sql.session.timeZone": "Asia/Tokyo"}


@pytest.mark.needs("service.index", "service.index.named")
@SKIPS
@pytest.mark.requirements("IDX-035", "IDX-040")
def test_an_index_of_hours_of_another_zone_loses_no_row(engine: Client, new_uri: NewUri) -> None:
    """IDX-040: the writer had another time zone than the reader when it indexed the hours of timestamps (ER-166). The zone is
    not stored, so that the hours exclude no file.
    """
    uri = new_uri()
    types = {"id": "string", "p": "string", "ts": "long", "at": {"type": "long", "logicalType": "timestamp-micros"}}
    schema = {"type": "record", "name": "row", "fields": [{"name": name, "type": kind} for name, kind in types.items()]}
    engine.create(uri, TableSpec("hours", "COPY_ON_WRITE", schema, ("id",), partition=("p",), ordering=("ts",)))
    times = {key: datetime(2026, 11, 28, hour, tzinfo=UTC) for key, hour in {"morning": 6, "evening": 18}.items()}
    for key, time in times.items():
        rows = {"id": [key], "p": [key], "ts": pa.array([1], pa.int64()), "at": pa.array([time], pa.timestamp("us", "UTC"))}
        engine.write(uri, "upsert", pa.table(rows), options={**EVERY_INDEX, **TOKYO})
        if key == "morning":
            assert engine.service(uri, "index", options={**EVERY_INDEX, **TOKYO, **HOURS}) is not None
    for key, time in times.items():
        assert values_where(engine, uri, ("at", "=", time.isoformat())) == [key]


@pytest.mark.needs("service.index", "service.index.named")
@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("IDX-035", "PROP-012")
def test_an_expression_index_that_is_built_again_excludes_nothing(engine: Client, new_uri: NewUri, type: Type) -> None:
    """PROP-012: an index of lower(value) is replaced by one of upper(value), which is not built yet. The definition has the new
    function, the metadata table the results of the former one: the index is not listed as usable, so that no query uses it.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write_with_index_of_lower_case()
    other = {"hoodie.index.name": "by_city", f"{PREFIX}index.secondary.column": "city"}
    assert engine.service(table.uri, "index", options=other) is not None
    (definitions,) = (table.folder / ".hoodie" / ".index_defs").iterdir()
    definitions.write_text(definitions.read_text().replace("lower", "upper"))
    usable = ",".join(one for one in table.listed_partitions() if one != "expr_index_low")
    update_properties(
        LocalStorage(table.folder),
        InProcessLock(),
        {USABLE: usable, INFLIGHT: "expr_index_low"},
        comment="the index is planned",
    )
    expect_filters(table, "with a planned expression index", {"value": ("UPPER", "upper", "Mixed", "x")})


@pytest.mark.needs("service.index", "service.index.named")
@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("IDX-024", "IDX-030", "MDT-010")
def test_a_secondary_index_loses_no_row_of_its_column(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-024: a filter on the column selects the rows of a full scan: values with the characters that keys escape, values
    that changed, rows that were deleted or inserted again.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write_with_secondary_index(*MOVES)
    expect_filters(table, "with a secondary index", {"value": ("$", "x", "x$y\\", "y", "changed", "none")})


@pytest.mark.versions(9)
@pytest.mark.needs("create.table-version.9", "service.index", "service.index.named")
@SKIPS
@BOTH_TYPES
@pytest.mark.requirements("IDX-025", "BLK-026", "MDT-010")
def test_a_secondary_index_finds_keys_of_any_characters(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-025: the record keys after a value begin with any character: a prefix of keys in the index has no greatest one. The
    rows are in partitions of their own, so that each is found only by its own entry.
    """
    keys = ("a", "~", "\u00e9", "\uffee", "\U0001f600")
    rows = [row(f"{key}{value}", 1, value, f"city{place}") for value in ("x", "y") for place, key in enumerate(keys)]
    table = IndexedTable(engine, new_uri(), type, INDEXED, version=9).write(Step("upsert", tuple(rows)))
    table.index_values()
    table.write(Step("upsert", (row("\u00e9x", 2, "y", "city2"), row("\u00e9y", 2, "x", "city2"))))
    for value, other in (("x", "y"), ("y", "x")):
        found = [f"{key}{other if key == chr(0xE9) else value}" for key in keys]
        assert values_where(engine, table.uri, ("value", "=", value)) == sorted(found)


@pytest.mark.versions(9)
@pytest.mark.needs("create.table-version.9", "service.index", "service.index.named")
@SKIPS
@pytest.mark.leaves_damage("it removes the version of an index")
@pytest.mark.requirements("IDX-044", "IDX-026")
def test_an_index_without_its_version_loses_no_row(engine: Client, new_uri: NewUri) -> None:
    """IDX-044: the definition of a secondary index of dates lost its version. Its keys may be those of either version, which
    have different texts for a date, so that they exclude no file.
    """
    uri, types = new_uri(), {"id": "string", "ts": "long", "day": {"type": "int", "logicalType": "date"}}
    schema = {"type": "record", "name": "row", "fields": [{"name": name, "type": kind} for name, kind in types.items()]}
    spec = TableSpec("days", "COPY_ON_WRITE", schema, ("id",), ordering=("ts",), version=9)
    engine.create(uri, spec)
    for key, number in {"early": 20000, "late": 20001}.items():
        days = pa.array([number], pa.int32()).cast(pa.date32())
        rows = pa.table({"id": [key], "ts": pa.array([1], pa.int64()), "day": days})
        engine.write(uri, "insert", rows, options=dict(INDEXED))
    settings = {"hoodie.index.name": "by_day", f"{PREFIX}index.secondary.column": "day"}
    assert engine.service(uri, "index", options={**INDEXED, **settings}) is not None
    (definitions,) = (table_folder(uri) / ".hoodie" / ".index_defs").glob("*.json")
    document = json.loads(definitions.read_text())
    for one in document["indexDefinitions"].values():
        one.pop("version", None)
    definitions.write_text(json.dumps(document))
    (definitions.parent / f".{definitions.name}.crc").unlink(missing_ok=True)
    for key, day in (("early", "2024-10-04"), ("late", "2024-10-05")):
        assert values_where(engine, uri, ("day", "=", day)) == [key]


@SKIPS
@pytest.mark.versions(9)
@pytest.mark.needs("table-version.9", "merge-on-read", "log.avro", "log.delete")
@pytest.mark.requirements("MDT-010", "IDX-024")
def test_one_of_two_secondary_indexes_is_out_of_date(engine: Client, tmp_path: Path) -> None:
    """MDT-010: Apache Hudi 1.2.0 has updated one of two secondary indexes; a filter on either column selects the rows that are
    there, also if the properties say that both columns were texts from the beginning.
    """
    uri, _ = copy_golden_table("queries.version-9.two-secondary-indexes.mor.city-new", tmp_path)
    kinds = {"id": "string", "ts": "long", "p": "string", "fare": "double", "city": "string", "street": "string"}
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in kinds.items()]
    schema = json.dumps({"type": "record", "name": "row", "fields": fields}, separators=(",", ":"))
    with (table_folder(uri) / ".hoodie" / "hoodie.properties").open("a", encoding="latin-1") as file:
        file.write(f"\nhoodie.table.create.schema={schema}\n")
    for column, value, key in (
        ("city", "bonn", "a"),
        ("city", "oslo", "b"),
        ("street", "second", "a"),
        ("street", "first", "b"),
    ):
        assert values_where(engine, uri, (column, "=", value)) == [key], f"{column} = {value}"


@pytest.mark.needs(*WRITES, "read.filter", "read.projection", "merge-on-read")
@pytest.mark.requirements("MDT-010")
def test_a_filter_finds_numbers_beside_a_nan_in_a_log(engine: Client, new_uri: NewUri) -> None:
    """MDT-010: a log file has a NaN among its numbers, so that its bounds say nothing about the others. The base file alone
    does not have the number.
    """
    uri = new_uri()
    fields = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}, {"name": "d", "type": "double"}]
    schema = {"type": "record", "name": "row", "fields": fields}
    engine.create(uri, TableSpec("numbers", "MERGE_ON_READ", schema, ("id",), ordering=("ts",)))
    for ts, numbers in ((1, {"a": 1.0, "b": 2.0, "c": 3.0}), (2, {"a": math.nan, "b": 7.0})):
        rows = {"id": list(numbers), "ts": pa.array([ts] * len(numbers), pa.int64()), "d": list(numbers.values())}
        engine.write(uri, "upsert", pa.table(rows), options=dict(EVERY_INDEX))
    for symbol, value, expected in (("=", 7.0, ["b"]), (">", 5.0, ["b"]), (">=", 7.0, ["b"]), ("<", 4.0, ["c"])):
        assert values_where(engine, uri, ("d", symbol, value)) == expected, (symbol, value)


@pytest.mark.needs(*WRITES, "read.filter", "read.projection")
@BOTH_TYPES
@pytest.mark.requirements("MDT-010")
def test_texts_with_characters_beyond_the_first_65536(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-010: in UTF-16, U+1F600 comes before U+FF71, and in the order of characters and of bytes after it. Files of one
    partition have these texts; filters find both, whichever order the statistics of the partition have.
    """
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX)
    for key, text in (("a", "\uff71"), ("b", "\U0001f600"), ("c", "z")):
        table.write(Step("insert", (row(key, 1, text),)))
    for symbol, value, keys in (
        ("=", "\uff71", ["a"]), ("=", "\U0001f600", ["b"]), ("<", "\U0001f600", ["a", "c"]), (">", "\uff71", ["b"]),
    ):  # fmt: skip
        assert values_where(engine, table.uri, ("value", symbol, value)) == keys, (symbol, value)


@pytest.mark.needs(*WRITES, "read.filter", "read.projection")
@BOTH_TYPES
@pytest.mark.requirements("MDT-010")
def test_zeros_of_both_signs_are_equal(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-010: 0.0 and -0.0 are equal numbers, so that a file with one of them as a bound has values for the other."""
    uri = new_uri()
    types = {"id": "string", "p": "string", "ts": "long", "d": "double"}
    schema = {"type": "record", "name": "row", "fields": [{"name": n, "type": kind} for n, kind in types.items()]}
    engine.create(uri, TableSpec("zeros", type, schema, ("id",), partition=("p",), ordering=("ts",)))
    for partition, numbers in (("p", [0.0, 1.0]), ("q", [-1.0, -0.0])):
        keys = [f"{partition}{number}" for number in (1, 2)]
        rows = {"id": keys, "p": [partition] * 2, "ts": pa.array([1, 1], pa.int64()), "d": numbers}
        engine.write(uri, "upsert", pa.table(rows), options=dict(EVERY_INDEX))
    for symbol, value, expected in (
        ("<=", -0.0, ["p1", "q1", "q2"]), (">=", 0.0, ["p1", "p2", "q2"]), ("=", 0.0, ["p1", "q2"]), ("=", -0.0, ["p1", "q2"]),
        ("<", 0.0, ["q1"]), (">", -0.0, ["p2"]),
    ):  # fmt: skip
        assert values_where(engine, uri, ("d", symbol, value)) == expected, (symbol, value)
