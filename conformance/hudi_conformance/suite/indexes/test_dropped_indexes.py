"""Indexes that are dropped: by a setting, by another engine, or with the whole metadata table; and created again."""

from collections.abc import Mapping
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    COMPACTED_AFTER,
    EVERY_INDEX,
    INDEXED,
    INSERTS,
    KEEPS,
    PREFIX,
    USABLE,
    IndexedTable,
    values_where,
)
from hudi_conformance.suite.support.tables.tables_under_services import keep_commits
from hudi_conformance.suite.support.tables.written_tables import files_below
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.locks import InProcessLock
from hudi_reference.storage import LocalStorage

#: The metadata table is compacted after every third write.
OFTEN: Mapping[str, str] = {COMPACTED_AFTER: "3"}
#: The name of an index that no release has.
UNKNOWN = "index_of_the_future"


def make_update(number: int) -> Step:
    """Return an update of one row."""
    return Step("upsert", (row("a", 40 + number, f"update {number}"),))


def list_partitions(table: IndexedTable, *names: str) -> None:
    """List these partitions of the metadata table, as another engine does."""
    update_properties(LocalStorage(table.folder), InProcessLock(), {USABLE: ",".join(names)}, comment="by another engine")


def drop_index(table: IndexedTable, partition: str) -> None:
    """Drop an index as another engine does: the properties do not list it any more, and its files are gone."""
    list_partitions(table, *sorted(set(table.listed_partitions()) - {partition}))
    for path in (table.folder / ".hoodie" / "metadata" / partition).iterdir():
        path.unlink()


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("PROP-012", "PROP-013", "MDT-004")
def test_writes_go_on_after_an_index_was_dropped(engine: Client, new_uri: NewUri, type: Type) -> None:
    """PROP-013: another engine has dropped the record index. Writes, and the compactions of the metadata table between them, do
    not look for its files, and the other indexes stay current.
    """
    table = IndexedTable(engine, new_uri(), type, {**INDEXED, **OFTEN}).write(*INSERTS)
    drop_index(table, "record_index")
    table.settings = {key: value for key, value in table.settings.items() if "record.index" not in key}
    for number in range(10):
        table.write(make_update(number))
    table.check("after ten writes")
    assert set(table.listed_partitions()) == {"files", "bloom_filters"}
    assert table.metadata_files("record_index/*") == []


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("PROP-012")
def test_a_writer_drops_the_index_that_it_disables(engine: Client, new_uri: NewUri, type: Type) -> None:
    """PROP-012: a writer whose settings disable the record index does not maintain it: it is not listed any more. The other
    indexes stay current.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED).write(*INSERTS)
    table.settings = {**table.settings, f"{PREFIX}record.index.enable": "false"}
    for number in range(3):
        table.write(make_update(number)).check(f"after update {number}")
    assert set(table.listed_partitions()) == {"files", "bloom_filters"}


@KEEPS
@BOTH_TYPES
@pytest.mark.needs("service.index", "service.index.named", "read.filter")
@pytest.mark.requirements("PROP-012", "PROP-013")
@pytest.mark.parametrize("by", ["a setting", "the service"])
def test_statistics_of_partitions_are_dropped_with_those_of_columns(
    engine: Client, new_uri: NewUri, type: Type, by: str
) -> None:
    """PROP-012: statistics of partitions are made from those of columns. When these are dropped, neither is listed, so that no
    query trusts statistics that later writes do not maintain.
    """
    if by == "the service":
        only_engines_of_this_project(engine, "whether DROP INDEX drops statistics of partitions with those of columns")
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX).write(*INSERTS)
    assert {"column_stats", "partition_stats"} <= set(table.listed_partitions())
    if by == "the service":
        engine.service(table.uri, "index", options={f"{PREFIX}index.drop": "column_stats"})
        assert {"column_stats", "partition_stats"}.isdisjoint(table.listed_partitions())
    table.settings = {**INDEXED, f"{PREFIX}index.column.stats.enable": "false"}
    table.write(Step("upsert", (row("c", 90, "changed", "rio"),))).check("after a write without statistics")
    assert set(table.listed_partitions()) == {"files", "bloom_filters", "record_index"}
    assert values_where(engine, table.uri, ("ts", "=", 90)) == ["c"]


@KEEPS
@BOTH_TYPES
@pytest.mark.needs("read.filter")
@pytest.mark.requirements("MDT-011", "PROP-012")
def test_a_column_that_has_statistics_again(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-011: a column has statistics, has none for one write, and has them again. A filter on it finds the row that was
    written meanwhile: the bounds of the partition contain it.
    """
    table = IndexedTable(engine, new_uri(), type, EVERY_INDEX)
    for column, key, ts, city in (("ts", "a", 1, "oslo"), ("value", "b", 90, "oslo"), ("ts", "c", 2, "rio")):
        table.write(Step("upsert", (row(key, ts, "x", city),)), options={f"{PREFIX}index.column.stats.column.list": column})
    assert values_where(engine, table.uri, ("ts", ">", 50)) == ["b"]


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("PROP-012", "MDT-002", "IDX-010")
def test_a_dropped_index_is_created_again(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-010: the record index is dropped after compactions of the metadata table, and created again: it has the keys of all
    rows, and none of its former files is expected.
    """
    settings = {**INDEXED, **OFTEN}
    table = IndexedTable(engine, new_uri(), type, settings).write(*INSERTS)
    for number in range(6):
        table.write(make_update(number))
    table.write(make_update(6), options={f"{PREFIX}record.index.enable": "false"})
    assert set(table.listed_partitions()) == {"files", "bloom_filters"}
    for number in range(7, 12):
        table.write(make_update(number), Step("insert", (row(f"n{number}", 1, "new"),))).check(f"after update {number}")
    assert set(table.listed_partitions()) == {"files", "bloom_filters", "record_index"}


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("PROP-001", "PROP-012")
def test_a_disabled_metadata_table_is_deleted_with_unknown_indexes(engine: Client, new_uri: NewUri, type: Type) -> None:
    """PROP-012: the table has an index that the engine does not know. A writer that disables the metadata table need not
    maintain it: it deletes the metadata table with all its partitions; a later writer creates a new one.
    """
    only_engines_of_this_project(engine, "what a writer does about indexes that it does not know")
    table = IndexedTable(engine, new_uri(), type, INDEXED).write(*INSERTS)
    list_partitions(table, "files", UNKNOWN)
    table.write(make_update(0), options={f"{PREFIX}enable": "false"})
    assert table.listed_partitions() == ()
    assert table.metadata_files("*/*") == []
    table.write(make_update(1)).check("it is made again")


#: What is done to a table with an index that the engine does not know, by the feature that it needs.
OPERATIONS: Mapping[str, Any] = {
    "write.upsert": lambda engine, table: engine.write(table.uri, "upsert", as_arrow((row("a", 99, "new"),))),
    "write.delete": lambda engine, table: engine.write(table.uri, "delete", as_arrow((row("a", 0, ""),))),
    "write.insert-overwrite": lambda engine, table: engine.write(table.uri, "insert_overwrite", as_arrow((row("z", 1, "z"),))),
    "write.delete-partition": lambda engine, table: engine.write(table.uri, "delete_partition", as_arrow((row("any", 0, ""),))),
    "service.clean": lambda engine, table: engine.service(table.uri, "clean", options=keep_commits(1)),
    "service.rollback": lambda engine, table: engine.service(table.uri, "rollback", instant=table.times[-1]),
    "service.restore": lambda engine, table: engine.service(table.uri, "restore", instant=table.times[0]),
    "service.clustering": lambda engine, table: engine.service(table.uri, "clustering"),
}


@KEEPS
@pytest.mark.requirements("PROP-001", "OCC-020")
@pytest.mark.parametrize("operation", [pytest.param(name, marks=pytest.mark.needs(name)) for name in OPERATIONS])
@pytest.mark.leaves_damage("it adds an index that the engine does not maintain")
def test_an_unknown_index_is_refused_before_the_first_byte(engine: Client, new_uri: NewUri, operation: str) -> None:
    """PROP-001: the table has an index that the engine does not know. An operation that cannot maintain it is refused before it
    writes or deletes a file.
    """
    only_engines_of_this_project(engine, "what an operation does about indexes that it does not know")
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", INDEXED).write(*INSERTS, make_update(0), make_update(1))
    list_partitions(table, "files", UNKNOWN)
    files = files_below(table.folder)
    with pytest.raises(ContractError):
        OPERATIONS[operation](engine, table)
    assert files_below(table.folder) == files, "the operation was refused after it had changed files"
    table.check_rows("the rows are those before")


@KEEPS
@BOTH_TYPES
@pytest.mark.needs("read.filter", "write.insert-overwrite")
@pytest.mark.requirements("PROP-012", "IDX-010")
def test_files_of_an_index_that_is_not_listed_are_not_read_again(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-010: a process crashed when it dropped the record index: the properties do not list it, but its files are there. A
    write moves rows to new file groups, and the next one builds the index again: look-ups find the rows where they are now.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED).write(*INSERTS, make_update(0))
    list_partitions(table, "files", "bloom_filters")
    moved = Step("insert_overwrite", (row("a", 50, "moved"), row("b", 50, "moved")))
    table.write(moved, options={f"{PREFIX}record.index.enable": "false"})
    table.write(Step("insert", (row("new", 1, "new"),))).check("built again")
    assert "record_index" in table.listed_partitions()
    for key in ("a", "b", "new"):
        assert values_where(engine, table.uri, ("id", "=", key)) == [key]
