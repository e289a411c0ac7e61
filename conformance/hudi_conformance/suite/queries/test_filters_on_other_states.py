"""Filters of queries that do not read the present merged rows, on tables whose indexes describe these."""

from dataclasses import replace

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, row
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
from hudi_conformance.suite.support.tables.written_tables import completion_time

FILTERS = pytest.mark.needs(*WRITES, "read.filter", "read.projection")
NAMED = pytest.mark.needs("service.index", "service.index.named")
#: Settings of a service that builds a secondary index.
BY_VALUE = {"hoodie.index.name": "by_value", f"{PREFIX}index.secondary.column": "value"}
#: Two writes of rows, and two that delete a row and change one.
EARLIER = (Step("upsert", (row("a", 1, "deleted"), row("b", 1, "stays"))), Step("upsert", (row("c", 1, "first", "rio"),)))
LATER = (Step("delete", (row("a", 2, "deleted"),)), Step("upsert", (row("c", 2, "second", "rio"),)))


def ids_as_of(engine: Client, uri: str, time: str, column: str, value: str) -> list[str]:
    """Return the sorted ids of the rows with this value at a past time."""
    query = Query("as-of", as_of=time, columns=("id",), where=((column, "=", value),))
    return sorted(engine.read(uri, query).column("id").to_pylist())


@FILTERS
@NAMED
@BOTH_TYPES
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TYP-008", "IDX-012", "IDX-024")
def test_a_filter_at_a_past_time_finds_its_rows(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TYP-008: since a past time one row was deleted, and one has got another value. The indexes of keys and values describe
    the present rows, so that a filter at that time is not decided by them.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write(*EARLIER)
    assert engine.service(table.uri, "index", options=BY_VALUE) is not None
    table.write(*LATER)
    for column, value, key in (("id", "a", "a"), ("value", "deleted", "a"), ("value", "first", "c")):
        assert ids_as_of(engine, table.uri, table.times[1], column, value) == [key], f"{column} = {value}"
    assert ids_as_of(engine, table.uri, table.times[1], "value", "second") == []


@FILTERS
@NAMED
@pytest.mark.needs("read.read-optimized")
@pytest.mark.requirements("TYP-017", "IDX-024")
def test_a_read_optimized_filter_finds_values_of_base_files(engine: Client, new_uri: NewUri) -> None:
    """TYP-017: a log file has changed a value, so that the index has no entry of the former one. The base file still has it,
    and a read-optimized query finds its row by it.
    """
    table = IndexedTable(engine, new_uri(), "MERGE_ON_READ", INDEXED).write(*INSERTS)
    assert engine.service(table.uri, "index", options=BY_VALUE) is not None
    table.write(*CHANGES)
    assert values_where(engine, table.uri, ("value", "=", "y"), kind="read-optimized") == ["b", "d"]
    assert values_where(engine, table.uri, ("value", "=", "x"), kind="read-optimized") == ["a", "c", "e"]


@FILTERS
@BOTH_TYPES
@pytest.mark.needs("read.incremental")
@pytest.mark.requirements("TYP-009", "IDX-012", "MDT-010")
def test_a_filter_in_a_past_window_finds_its_rows(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TYP-009: a window ends before a row was deleted and another one got another value. A filter selects the rows of the
    window, in their state at its end.
    """
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX)
    table.write(*EARLIER)
    begin, end = (completion_time(table.uri, instant) for instant in table.times)
    table.write(*LATER)
    for window, column, value, key in (
        (Query("incremental", end=begin), "id", "a", "a"),
        (Query("incremental", begin=begin, end=end), "value", "first", "c"),
    ):
        found = engine.read(table.uri, replace(window, columns=("id",), where=((column, "=", value),)))
        assert found.column("id").to_pylist() == [key], f"{column} = {value}"
