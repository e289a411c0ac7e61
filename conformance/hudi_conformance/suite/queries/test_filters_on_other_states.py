"""Filters of queries that do not read the present merged rows, on tables whose indexes describe these."""

import io
from dataclasses import replace

import fastavro
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, row
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    BY_VALUE,
    CHANGES,
    COMPACTED_AFTER,
    EVERY_INDEX,
    INDEXED,
    INSERTS,
    LISTED,
    PREFIX,
    RECORDS,
    WRITES,
    IndexedTable,
    values_where,
)
from hudi_conformance.suite.support.tables.tables_under_services import instant_files
from hudi_conformance.suite.support.tables.written_tables import completion_time

FILTERS = pytest.mark.needs(*WRITES, "read.filter", "read.projection")
NAMED = pytest.mark.needs("service.index", "service.index.named")
#: Settings of a service that builds bloom filters, and of one that builds a secondary index.
FILTERS_OF_KEYS = {f"{PREFIX}index.bloom.filter.enable": "true"}
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


def forget_write(table: IndexedTable, instant: str, partition: str) -> None:
    """Remove what a write added to a partition of the metadata table: its log files, and their names in the deltacommit."""
    home = table.folder / ".hoodie" / "metadata"
    for path in (home / partition).glob(f"*_{instant}.log.*"):
        path.unlink()
    (completed,) = (home / ".hoodie" / "timeline").glob(f"{instant}_*")
    reader, changed = fastavro.reader(io.BytesIO(completed.read_bytes())), io.BytesIO()
    assert reader.writer_schema is not None
    (commit,) = reader
    assert isinstance(commit, dict)
    assert commit["partitionToWriteStats"].pop(partition), "the write added nothing"
    fastavro.writer(changed, reader.writer_schema, [commit])
    completed.write_bytes(changed.getvalue())


@FILTERS
@NAMED
@pytest.mark.requirements("IDX-024", "MDT-010")
def test_an_index_without_its_first_write_stays_unused(engine: Client, new_uri: NewUri) -> None:
    """MDT-010: the first write after the creation of a secondary index added nothing to it, as with writers that create one by
    their settings. A filter finds the rows of that write, also if another index is created later.
    """
    with connect("reference") as writer:
        table = IndexedTable(writer, new_uri(), "COPY_ON_WRITE", {**LISTED, **RECORDS}).write(*INSERTS)
        assert writer.service(table.uri, "index", options=BY_VALUE) is not None
        table.write(Step("upsert", (row("n", 1, "new", "lima"),)))
        forget_write(table, table.times[-1], "secondary_index_by_value")
        assert writer.service(table.uri, "index", options=FILTERS_OF_KEYS) is not None
    assert values_where(engine, table.uri, ("value", "=", "new")) == ["n"]


@FILTERS
@NAMED
@pytest.mark.requirements("IDX-024", "MDT-010")
def test_an_index_whose_first_write_is_archived_stays_unused(engine: Client, new_uri: NewUri) -> None:
    """MDT-010: the first write after the creation of a secondary index added nothing to it. Later writes added their entries,
    and the first one is in the history of both tables only: a filter finds its rows nevertheless.
    """
    with connect("reference") as writer:
        table = IndexedTable(writer, new_uri(), "COPY_ON_WRITE", {**LISTED, **RECORDS, COMPACTED_AFTER: "3"}).write(*INSERTS)
        assert writer.service(table.uri, "index", options=BY_VALUE) is not None
        table.write(Step("upsert", (row("n", 1, "new", "lima"),)))
        forget_write(table, first := table.times[-1], "secondary_index_by_value")
        for number in range(40):
            table.write(Step("upsert", (row("a", 40 + number, f"update {number}"),)))
            writer.service(table.uri, "archive", options={**archive_limits(3, 2), **table.settings})
        active = (*instant_files(table.uri), *table.metadata_files(".hoodie/timeline/*"))
        assert not any(first in name for name in active), "the first write was not archived"
    for value, keys in (("new", ["n"]), ("update 39", ["a"]), ("absent", [])):
        assert values_where(engine, table.uri, ("value", "=", value)) == keys, value
