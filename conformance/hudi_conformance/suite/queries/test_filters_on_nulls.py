"""Tests for null in filters: whatever indexes a table has, the rows are those of a full scan.

A reader with statistics may leave out a file only if they count its nulls. They say nothing about a column that was added after
the file was written: all its rows have null.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    CHANGES,
    EVERY_INDEX,
    INDEXED,
    INSERTS,
    PREFIX,
    WRITES,
    IndexedTable,
    values_where,
)
from hudi_conformance.suite.support.tables.renamed_columns import GROWING

SETTINGS: Mapping[str, Mapping[str, str]] = {"every": EVERY_INDEX, "none": {f"{PREFIX}enable": "false"}}
NULLS = pytest.mark.needs(*WRITES, "read.filter", "read.filter.null", "read.projection")
INDEXES = pytest.mark.parametrize("indexes", SETTINGS)
#: Values become null, and null becomes a value again; one of two new keys, which are in one file, has none.
NO_VALUES = (
    Step("upsert", ({**row("a", 90, ""), "value": None}, {**row("c", 91, "", "rio"), "value": None})),
    Step("upsert", (row("a", 92, "again"), {**row("new", 1, ""), "value": None}, row("newer", 1, "y"))),
)


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
    table = IndexedTable(engine, new_uri(), type, SETTINGS[indexes])
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
    _table_with_an_added_column(engine, uri, type, SETTINGS[indexes], later)
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
    engine.write(uri, "upsert", pa.Table.from_pylist(rows, arrow), options=dict(SETTINGS["none"]))
    assert values_where(engine, uri, ("place.city", "is", None)) == ["b", "c"]
    assert values_where(engine, uri, ("place.city", "is not", None)) == ["a"]
    assert values_where(engine, uri, ("place", "is", None)) == ["c"]
