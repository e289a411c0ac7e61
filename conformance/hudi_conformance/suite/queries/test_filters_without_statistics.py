"""Columns that some files do not store, or have no statistics of, and tests for null: filters find their rows.

Deployed readers leave out a file without statistics of a column that the definition of the index names: they take its values
for null. So a definition names only columns that have statistics in every file. For a test for null a file may be left out only
if statistics count its nulls: a column that was added later is null in all its rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.column_statistics import STATISTICS
from hudi_conformance.suite.support.tables.metadata_tables import (
    CHANGES,
    EVERY_AND_NONE,
    EVERY_INDEX,
    INDEXED,
    INSERTS,
    PREFIX,
    WRITES,
    IndexedTable,
    values_where,
)
from hudi_conformance.suite.support.tables.renamed_columns import GROWING
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.availability import read_definitions
from hudi_reference.metadata.records import ColumnStats
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.storage import LocalStorage

FILTERS = pytest.mark.needs(*WRITES, "read.filter", "read.projection")
LIMIT = f"{PREFIX}index.column.stats.max.columns.to.index"
NUMBERS = ("first", "second", "third")
#: Settings of a writer that adds no rows to files.
NEW_FILES = {"hoodie.parquet.small.file.limit": "0"}
NULLS = pytest.mark.needs(*WRITES, "read.filter", "read.filter.null", "read.projection")
INDEXES = pytest.mark.parametrize("indexes", EVERY_AND_NONE)
#: Values become null, and null becomes a value again; one of two new keys, which are in one file, has none.
NO_VALUES = (
    Step("upsert", ({**row("a", 90, ""), "value": None}, {**row("c", 91, "", "rio"), "value": None})),
    Step("upsert", (row("a", 92, "again"), {**row("new", 1, ""), "value": None}, row("newer", 1, "y"))),
)


def create_table_of(engine: Client, uri: str, columns: Mapping[str, Any], type: Type = "COPY_ON_WRITE") -> IndexedTable:
    """Create a table of a text `id`, a number `ts`, and these columns with their Avro types."""
    fields: list[dict[str, Any]] = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
    fields += [{"name": name, "type": ["null", avro], "default": None} for name, avro in columns.items()]
    schema = {"type": "record", "name": "row", "fields": fields}
    engine.create(uri, TableSpec("rows", type, schema, ("id",), ordering=("ts",)))
    table = IndexedTable.__new__(IndexedTable)
    table.engine, table.uri = engine, uri
    return table


def rows_of(key: str, columns: Sequence[str]) -> pa.Table:
    """Return a row with this key, and 7 in each of the columns."""
    return pa.table({"id": [key], **{name: pa.array([7], pa.int64()) for name in ("ts", *columns)}})


def statistics_by_column(table: IndexedTable) -> dict[str, list[ColumnStats]]:
    """Return the statistics of each data column in the files."""
    found: dict[str, list[ColumnStats]] = {}
    for record in table.records("column_stats").values():
        if isinstance(record.payload, ColumnStats) and record.payload.column not in META_COLUMNS:
            found.setdefault(record.payload.column, []).append(record.payload)
    return found


def defined_columns(table: IndexedTable) -> set[str]:
    """Return the data columns that the definition of column statistics names."""
    storage = LocalStorage(table_folder(table.uri))
    known = read_definitions(storage, read_properties(storage))
    return {name for one in known if one.partition == "column_stats" for name in one.columns} - set(META_COLUMNS)


@FILTERS
@pytest.mark.requirements("MDT-011", "MDT-014")
def test_a_definition_names_columns_of_every_file(engine: Client, new_uri: NewUri) -> None:
    """MDT-011: the first write may index three columns, a later writer any number. The definition still names only columns that
    have statistics in every file, and a filter on another column finds the rows of both writes.
    """
    table = create_table_of(engine, new_uri(), dict.fromkeys(NUMBERS, "long"))
    for key, options in (("a", {LIMIT: "3"}), ("b", {})):
        engine.write(table.uri, "insert", rows_of(key, NUMBERS), options={**STATISTICS, **NEW_FILES, **options})
    for column in NUMBERS:
        assert values_where(engine, table.uri, (column, "=", 7)) == ["a", "b"], column
    stored = {column: {one.file_name for one in found} for column, found in statistics_by_column(table).items()}
    defined = defined_columns(table)
    assert {"id", "ts"} <= defined
    assert {column for column in defined if len(stored[column]) < len(stored["id"])} == set()


#: Comparisons of columns with statistics beside those of a column without, and the keys of the rows for which they hold.
MIXED: Mapping[tuple[tuple[str, str, Any], ...], list[str]] = {
    (("first", "=", 5), ("second", "=", 7)): ["a"],
    (("second", "=", 7), ("first", ">", 0)): ["a", "b"],
    (("second", ">", 2), ("ts", ">", 0), ("first", "<", 5)): ["b"],
    (("id", "=", "c"), ("second", "=", 3)): ["c"],
}


@FILTERS
@BOTH_TYPES
@pytest.mark.requirements("MDT-010")
def test_comparisons_of_columns_with_and_without_statistics(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-010: the writer names the columns that get statistics. A filter may compare others beside them, before and after
    updates in other files.
    """
    table = create_table_of(engine, new_uri(), dict.fromkeys(("first", "second"), "long"), type)
    options = {**STATISTICS, **NEW_FILES, f"{PREFIX}index.column.stats.column.list": "id,ts,first"}
    numbers = ("ts", "first", "second")
    for rows in ([("a", 1, 1, 1), ("b", 1, 2, 7)], [("a", 2, 5, 7)], [("c", 1, 8, 3)]):
        found = {name: pa.array([one[place] for one in rows], pa.int64()) for place, name in enumerate(numbers, 1)}
        engine.write(table.uri, "upsert", pa.table({"id": [one[0] for one in rows], **found}), options=options)
    for where, keys in MIXED.items():
        assert values_where(engine, table.uri, *where) == keys, where


@FILTERS
@pytest.mark.needs("schema.evolution")
@pytest.mark.requirements("MDT-011")
def test_a_new_column_beyond_the_limit_gets_no_statistics(engine: Client, new_uri: NewUri) -> None:
    """MDT-011: a write adds two columns while the limit allows one more. The definition names one of them, and filters on both
    find the row.
    """
    table = create_table_of(engine, new_uri(), {"first": "long"})
    options = {**STATISTICS, **NEW_FILES, LIMIT: "4", "hoodie.datasource.write.reconcile.schema": "true"}
    engine.write(table.uri, "insert", rows_of("a", ["first"]), options=options)
    engine.write(table.uri, "insert", rows_of("b", NUMBERS), options=options)
    assert len(defined_columns(table)) == 4
    assert defined_columns(table) >= {"id", "ts", "first"}
    assert [values_where(engine, table.uri, (name, "=", 7)) for name in NUMBERS] == [["a", "b"], ["b"], ["b"]]


@FILTERS
@pytest.mark.needs("types.avro")
@pytest.mark.requirements("MDT-014")
def test_enumerations_and_fixed_bytes_have_no_statistics(engine: Client, new_uri: NewUri) -> None:
    """MDT-014: the wrapper records have none for enumerations and fixed bytes. Columns of these types have no statistics, and a
    decimal in fixed bytes has.
    """
    columns = {
        "kind": {"type": "enum", "name": "kinds", "symbols": ["x", "y"]},
        "code": {"type": "fixed", "name": "code", "size": 2},
        "price": {"type": "fixed", "name": "price", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2},
    }
    table = create_table_of(engine, new_uri(), columns)
    values = {"kind": ["x"], "code": pa.array([b"ab"], pa.binary(2)), "price": pa.array([1], pa.decimal128(10, 2))}
    rows = pa.table({"id": ["a"], "ts": pa.array([1], pa.int64()), **values})
    engine.write(table.uri, "insert", rows, options=dict(STATISTICS))
    assert defined_columns(table) == {"id", "ts", "price"}
    assert statistics_by_column(table).keys() == {"id", "ts", "price"}


@FILTERS
@pytest.mark.needs("write.partial-update", "merge-on-read")
@pytest.mark.requirements("MDT-014", "MDT-010")
def test_a_partial_update_is_found_by_values_it_does_not_store(engine: Client, new_uri: NewUri) -> None:
    """MDT-014: a log file has one column of a record, its base file has the others. The statistics of the log file contain the
    values of the merged rows in all columns, because a reader may decide each file by several comparisons.
    """
    table = IndexedTable(engine, new_uri(), "MERGE_ON_READ", EVERY_INDEX).write(*INSERTS)
    table.write(Step("upsert", (row("b", 50, "z"),)))  # a row beside a in its file group
    before = {one.file_name for one in statistics_by_column(table)["value"]}
    for time in (98, 99):
        changed = pa.table({"id": ["a", "c"], "city": ["oslo", "rio"], "ts": pa.array([time, time], pa.int64())})
        engine.write(table.uri, "partial_update", changed, options=EVERY_INDEX)
    assert values_where(engine, table.uri, ("value", "=", "x"), ("ts", "=", 99)) == ["a", "c"]
    logs = [one for one in statistics_by_column(table)["value"] if one.file_name not in before]
    assert len(logs) == 4
    bounds = [(one.least and one.least.value, one.greatest and one.greatest.value) for one in logs]
    assert all(isinstance(least, str) and isinstance(greatest, str) and least <= "x" <= greatest for least, greatest in bounds)


@FILTERS
@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.requirements("MDT-014", "MDT-010")
def test_bounds_of_zeros_contain_both_signs(engine: Client, new_uri: NewUri, zero: float) -> None:
    """MDT-014: 0.0 and -0.0 are equal, and readers may compare the bounds as different numbers. So a zero that is the least
    value is stored as -0.0, and as the greatest one as 0.0, as in the footers of Parquet files.
    """
    table = create_table_of(engine, new_uri(), {"d": "double"})
    rows = {"id": ["a"], "ts": pa.array([1], pa.int64()), "d": pa.array([zero])}
    engine.write(table.uri, "upsert", pa.table(rows), options=STATISTICS)
    (found,) = statistics_by_column(table)["d"]
    assert found.least is not None and found.greatest is not None
    assert (str(found.least.value), str(found.greatest.value)) == ("-0.0", "0.0")
    for value in (0.0, -0.0):
        for symbol in ("=", ">=", "<="):
            assert values_where(engine, table.uri, ("d", symbol, value)) == ["a"], (symbol, value)


def expect_tests(table: IndexedTable, when: str) -> None:
    """Compare the rows with and without a value in each column with those of the model."""
    rows: Sequence[Row] = table.model.snapshot()
    for column in ("id", "city", "ts", "value"):
        for operator, is_null in (("is", True), ("is not", False)):
            wanted = sorted(one["id"] for one in rows if (one[column] is None) == is_null)
            found = values_where(table.engine, table.uri, (column, operator, None))
            assert found == wanted, f"{when}: {column} {operator} null"


@NULLS
@BOTH_TYPES
@INDEXES
@pytest.mark.requirements("MRG-015", "MDT-010")
def test_rows_with_and_without_a_value(engine: Client, new_uri: NewUri, type: Type, indexes: str) -> None:
    """MRG-015: a test for null selects rows after the merge, when values have become null and nulls have become values."""
    table = IndexedTable(engine, new_uri(), type, EVERY_AND_NONE[indexes])
    table.write(*INSERTS, *CHANGES)
    expect_tests(table, "without nulls")
    for step in NO_VALUES:
        expect_tests(table.write(step), f"after {step}")
    either = (("value", "is", None), ("id", "!=", "c"))
    assert values_where(engine, table.uri, *either) == ["new"]
    assert values_where(engine, table.uri, ("value", "is", None), ("value", "is not", None)) == []


@NULLS
@BOTH_TYPES
@pytest.mark.needs("service.index", "service.index.named")
@pytest.mark.requirements("IDX-024", "MDT-010")
def test_nulls_in_a_column_with_a_secondary_index(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-024: a secondary index has no entries for nulls, so that it cannot answer a test for null."""
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write_with_secondary_index(*NO_VALUES)
    expect_tests(table, "with a secondary index")


def _table_with_an_added_column(engine: Client, uri: str, type: Type, options: Mapping[str, str], later: Any) -> None:
    """Create a table and write two rows; then add a column, and write two rows with these values of it."""
    fields: list[dict[str, Any]] = [{"name": name, "type": "string"} for name in ("id", "p")]
    schema = {"type": "record", "name": "row", "fields": [*fields, {"name": "ts", "type": "long"}]}
    engine.create(uri, TableSpec("widened", type, schema, ("id",), partition=("p",), ordering=("ts",)))
    columns = {"id": pa.string(), "p": pa.string(), "ts": pa.int64()}
    first = [{"id": "a", "p": "x", "ts": 1}, {"id": "b", "p": "y", "ts": 1}]
    engine.write(uri, "upsert", pa.Table.from_pylist(first, pa.schema(columns)), options=dict(options))
    second = [{"id": "c", "p": "z", "ts": 2, "more": later[0]}, {"id": "d", "p": "w", "ts": 2, "more": later[1]}]
    widened = pa.schema({**columns, "more": pa.int64()})
    engine.write(uri, "upsert", pa.Table.from_pylist(second, widened), options={**options, **GROWING})


@NULLS
@BOTH_TYPES
@INDEXES
@pytest.mark.needs("schema.evolution")
@pytest.mark.parametrize("later", [(1, 2), (None, 2)], ids=["values", "null"])
@pytest.mark.requirements("MDT-010", "MRG-015", "TYP-007")
def test_files_that_are_older_than_the_column(
    engine: Client, new_uri: NewUri, type: Type, indexes: str, later: tuple[int | None, int]
) -> None:
    """MDT-010: a column was added after some files were written. There are no statistics of it in these files, and all their
    rows have null.
    """
    uri = new_uri()
    _table_with_an_added_column(engine, uri, type, EVERY_AND_NONE[indexes], later)
    empty = ["a", "b", *(["c"] if later[0] is None else [])]
    assert values_where(engine, uri, ("more", "is", None)) == empty
    assert values_where(engine, uri, ("more", "is not", None)) == sorted({"c", "d"} - {*empty})
    assert values_where(engine, uri, ("more", "is", None), ("ts", "<", 2)) == ["a", "b"]


@NULLS
@BOTH_TYPES
@pytest.mark.needs("read.filter.fields", "types.nested")
@pytest.mark.requirements("MRG-015", "TYP-007")
def test_a_field_of_a_null_struct_is_null(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-015: a field is null where its struct is null, and where it is null itself."""
    inner = {"type": "record", "name": "place", "fields": [{"name": "city", "type": ["null", "string"], "default": None}]}
    fields = [{"name": name, "type": kind} for name, kind in {"id": "string", "p": "string", "ts": "long"}.items()]
    place = {"name": "place", "type": ["null", inner], "default": None}
    schema = {"type": "record", "name": "row", "fields": [*fields, place]}
    uri = new_uri()
    engine.create(uri, TableSpec("places", type, schema, ("id",), partition=("p",), ordering=("ts",)))
    places = {"a": {"city": "rio"}, "b": {"city": None}, "c": None}
    rows = [{"id": key, "p": "x", "ts": 1, "place": found} for key, found in places.items()]
    arrow = pa.schema({"id": pa.string(), "p": pa.string(), "ts": pa.int64(), "place": pa.struct({"city": pa.string()})})
    engine.write(uri, "upsert", pa.Table.from_pylist(rows, arrow), options=dict(EVERY_AND_NONE["none"]))
    assert values_where(engine, uri, ("place.city", "is", None)) == ["b", "c"]
    assert values_where(engine, uri, ("place.city", "is not", None)) == ["a"]
    assert values_where(engine, uri, ("place", "is", None)) == ["c"]
