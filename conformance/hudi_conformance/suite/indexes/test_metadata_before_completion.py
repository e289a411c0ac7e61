"""The metadata table is updated before a write completes, and its entries have no effect until then.

Processes that crashed left its own services, and the builds of its indexes, in between; the next process completes them.
"""

import json
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Refused
from hudi_conformance.explorer.crash_points import crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project, only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    COMPACTED_AFTER,
    EVERY_INDEX,
    INDEXED,
    INFLIGHT,
    INSERTS,
    KEEPS,
    USABLE,
    WRITES,
    IndexedTable,
    completion_times,
    values_where,
)
from hudi_conformance.suite.support.tables.tables_under_services import Json, copy_golden_table, keep_commits, sort_rows
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import create_index, open_table, rollback
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.locks import InProcessLock
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.services.planning.compaction_plan import eligible_operations, plan_record
from hudi_reference.services.planning.plan_execution import hold_for_planning
from hudi_reference.services.rollback.rollback import schedule_rollback
from hudi_reference.storage import LocalStorage, Storage

#: A table with a metadata table, written by Apache Hudi in two commits.
GOLDEN = "layout.with-metadata-table"
READS = ("read.snapshot", "merge-on-read", "log.avro", "merge.event-time", "partition.plain")


def read_rows(engine: Client, uri: str, query: Query) -> list[Json]:
    """Return the rows of a query, in an order that does not depend on files."""
    return sort_rows(engine.read(uri, query))


@pytest.mark.needs(*READS, "read.as-of")
@pytest.mark.requirements("OCC-021", "RDR-018")
def test_metadata_entries_of_a_crashed_write_have_no_effect(engine: Client, tmp_path: Path) -> None:
    """OCC-021: the writer crashed between the commit of the metadata table and its own, so that only the latter is missing. The
    rows are those of the write before.
    """
    uri, _ = copy_golden_table(GOLDEN, tmp_path)
    first, last = sorted(completion_times(table_folder(uri)))
    before, after = read_rows(engine, uri, Query("as-of", as_of=first)), read_rows(engine, uri, Query())
    assert before != after
    assert completion_times(table_folder(uri) / ".hoodie" / "metadata")[last] < completion_times(table_folder(uri))[last]
    for path in (table_folder(uri) / ".hoodie" / "timeline").glob(f"*{last}_*"):
        path.unlink()
    assert read_rows(engine, uri, Query()) == before


@pytest.mark.needs(*READS, "write.upsert")
@pytest.mark.requirements("OCC-020", "PROP-001")
def test_metadata_is_up_to_date_before_a_write_completes(engine: Client, tmp_path: Path) -> None:
    """OCC-020: the write has completed on the timeline of the metadata table before it does on that of the table. An engine
    that cannot do that refuses to write; then nothing has changed.
    """
    uri, _ = copy_golden_table(GOLDEN, tmp_path)
    rows = engine.read(uri, Query())
    files = {path: path.read_bytes() for path in table_folder(uri).rglob("*") if path.is_file()}
    try:
        instant = engine.write(uri, "upsert", rows.slice(0, 1))
    except Refused:
        assert {path: path.read_bytes() for path in table_folder(uri).rglob("*") if path.is_file()} == files
        return
    data, metadata = (completion_times(folder) for folder in (table_folder(uri), table_folder(uri) / ".hoodie" / "metadata"))
    assert metadata.get(instant, "never") < data[instant]
    assert read_rows(engine, uri, Query()) == sort_rows(rows)


@pytest.mark.needs(*READS)
@pytest.mark.requirements("OCC-021", "RDR-018")
def test_a_pending_savepoint_hides_no_entries(engine: Client, tmp_path: Path) -> None:
    """OCC-021: the process that made a savepoint crashed, and left its inflight file. The write of the same time is completed,
    so that its entries count.
    """
    uri, _ = copy_golden_table(GOLDEN, tmp_path)
    rows, last = read_rows(engine, uri, Query()), max(completion_times(table_folder(uri)))
    (table_folder(uri) / ".hoodie" / "timeline" / f"{last}.savepoint.inflight").touch()
    assert read_rows(engine, uri, Query()) == rows


def begin_rollback(uri: str, instant: str) -> None:
    """Leave what a rollback leaves that crashed before it removed the entries of the write."""
    table, folder = open_table(uri), table_folder(uri)
    requested = schedule_rollback(table, instant)
    timeline = folder / ".hoodie" / "timeline"
    (timeline / f"{requested}.rollback.inflight").touch()
    for path in (*timeline.glob(f"{instant}*"), *folder.glob(f"*/*{instant}*")):
        path.unlink()


@pytest.mark.needs(*WRITES, "service.clean", "read.filter")
@BOTH_TYPES
@pytest.mark.requirements("OCC-021", "MDT-010", "IDX-010")
@pytest.mark.versions(8, 9)
def test_entries_of_a_write_that_is_rolled_back_have_no_effect(
    engine: Client, new_uri: NewUri, type: Type, drawn_version: int
) -> None:
    """OCC-021: a rollback has removed the files of a write, and crashed before it removed the entries. A clean between the two
    may have compacted the metadata table. Filters find the rows that the write had changed and deleted.
    """
    often = {**EVERY_INDEX, COMPACTED_AFTER: "2"}
    table = IndexedTable(engine, new_uri(), type, often, drawn_version)
    table.write(*INSERTS, Step("upsert", (row("a", 31, "changed"),)))
    instant = engine.write(table.uri, "delete", as_arrow([row("a", 0, ""), row("c", 0, "", "rio")]), options=often)
    engine.service(table.uri, "clean", options={**often, **keep_commits(1)})
    begin_rollback(table.uri, instant)
    table.check_rows("while the write is rolled back")
    assert values_where(engine, table.uri, ("id", "=", "a"), column="value") == ["changed"]
    assert values_where(engine, table.uri, ("value", "=", "x")) == ["c", "e"]


def make_update(number: int) -> Step:
    """Return an update of one row, and an insert of another."""
    return Step("upsert", (row("a", 40 + number, f"update {number}"), row(f"n{number}", 1, "new")))


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-004", "SVC-006", "MDT-008")
def test_a_crashed_compaction_of_the_metadata_table_is_finished(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-004: a writer crashed when it had planned a compaction of the metadata table. Later writers execute the plan: it
    does not stay pending, and the metadata table loses nothing.
    """
    table = IndexedTable(engine, new_uri(), type, {**INDEXED, COMPACTED_AFTER: "3"}).write(*INSERTS)
    metadata = MetadataTable.for_table(open_table(table.uri))
    assert metadata is not None
    inner = metadata.as_table
    with hold_for_planning(inner) as publish:
        planned = publish("compaction", plan_record(eligible_operations(inner, inner.view(), ())))
    for number in range(6):
        table.write(make_update(number)).check(f"after update {number}")
    timeline = table.folder / ".hoodie" / "metadata" / ".hoodie" / "timeline"
    pending = {path.name[:17] for path in timeline.glob("*.compaction.requested")}
    done = {path.name[:17] for path in timeline.glob("*_*.commit")}
    assert planned in pending <= done, "a compaction of the metadata table stays pending"


@pytest.mark.needs(*WRITES, "service.rollback")
@BOTH_TYPES
@pytest.mark.requirements("MDT-008", "MDT-004", "IDX-010")
def test_writes_are_rolled_back_beside_compactions_of_the_metadata_table(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-008: every other write is rolled back, so that at some time the metadata table is compacted between a write and its
    rollback, or by the rollback itself: its base files then have what the write added. None of it is left in an index.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED).write(*INSERTS)
    for number in range(9):
        table.write(make_update(number))
        changes = (row(f"r{number}", 1, "rolled back", "lima"), row("a", 90, "rolled back"))
        instant = engine.write(table.uri, "upsert", as_arrow(changes), options=INDEXED)
        assert engine.service(table.uri, "rollback", instant=instant) is not None
    assert table.metadata_files("files/*.hfile")
    table.check("after the last rollback")


@pytest.mark.needs(*WRITES, "service.rollback")
@BOTH_TYPES
@pytest.mark.requirements("OCC-021", "MDT-008")
def test_a_rollback_leaves_the_entries_of_later_writes(engine: Client, new_uri: NewUri, type: Type) -> None:
    """OCC-021: a write crashed when the metadata table had its entries, and another writer has completed a later write. The
    rollback of the first removes its entries alone.
    """
    listing = {**SEVERAL_WRITERS, "hoodie.rollback.using.markers": "false"}  # there are no markers of the first
    table = IndexedTable(engine, new_uri(), type, {**INDEXED, **SEVERAL_WRITERS}).write(*INSERTS)
    changes = as_arrow([row("r", 1, "rolled back", "lima")])
    crashed = engine.write(table.uri, "upsert", changes, options={**INDEXED, **SEVERAL_WRITERS})
    for path in (table.folder / ".hoodie" / "timeline").glob(f"{crashed}_*"):
        path.unlink()
    table.write(Step("upsert", (row("n", 1, "new", "bergen"),)))
    assert engine.service(table.uri, "rollback", instant=crashed, options=listing) is not None
    table.check("after the rollback")


@pytest.mark.needs(*WRITES, "service.index")
@BOTH_TYPES
@pytest.mark.requirements("INX-014", "PROP-012", "SVC-006")
def test_an_index_is_published_after_a_crash(engine: Client, new_uri: NewUri, type: Type) -> None:
    """INX-014: an indexer crashed when the indexing action had completed, before it listed the index as usable. The next one
    lists it, and builds nothing.
    """
    only_engines_of_this_project(engine, "whether an indexer completes its action or lists the index first")
    table = IndexedTable(engine, new_uri(), type).write(*INSERTS)
    assert table.build_indexes() is not None
    usable = table.listed_partitions()
    lists = {USABLE: "files", INFLIGHT: ",".join(name for name in usable if name != "files")}
    update_properties(LocalStorage(table.folder), InProcessLock(), lists, comment="before the crash")
    actions = {path.name for path in (table.folder / ".hoodie" / "timeline").glob("*.indexing*")}
    table.build_indexes()
    assert (table.listed_partitions(), table.listed_partitions(INFLIGHT)) == (usable, ())
    assert {path.name for path in (table.folder / ".hoodie" / "timeline").glob("*.indexing*")} == actions
    table.write(make_update(1)).check("after another write")


@pytest.mark.needs(*WRITES, "service.rollback", "read.filter", "read.projection")
@BOTH_TYPES
@pytest.mark.requirements("MDT-010", "OCC-021")
def test_statistics_that_a_rollback_creates_exclude_no_row(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-010: the settings of a rollback create the metadata table with statistics, while the files of the write are there.
    The rows before the write have other values: filters find them, by the statistics of files and of partitions.
    """
    plain = {"hoodie.metadata.enable": "false"}
    table = IndexedTable(engine, new_uri(), type, plain)
    table.write(Step("insert", (row("a", 1, "before"), row("b", 2, "other", "rio"))))
    instant = engine.write(table.uri, "upsert", as_arrow([row("a", 5, "rolled back")]), options=plain)
    assert engine.service(table.uri, "rollback", instant=instant, options=EVERY_INDEX) is not None
    for condition in (("ts", "=", 1), ("ts", "<", 2), ("value", "=", "before")):
        assert values_where(engine, table.uri, condition) == ["a"]


#: The definition of an expression index, as Apache Hudi stores it before it builds the index.
DEFINITION = {
    "indexName": "expr_index_low", "indexType": "column_stats", "indexFunction": "lower", "sourceFields": ["value"],
    "indexOptions": {"expr": "lower"},
}  # fmt: skip


@pytest.mark.needs(*WRITES, "read.filter", "read.projection")
@BOTH_TYPES
@pytest.mark.requirements("PROP-012", "IDX-035")
def test_a_definition_of_an_index_that_is_not_built_is_ignored(engine: Client, new_uri: NewUri, type: Type) -> None:
    """PROP-012: the build of an expression index failed before it stored a file, and its definition stayed. The index is not
    listed as usable: filters on its column find the rows, as if the table had no index.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED)
    table.write(*INSERTS, Step("upsert", (row("u", 1, "UPPER"), row("v", 2, "x", "lima"))))
    path = table.folder / ".hoodie" / ".index_defs" / "index.json"
    known = json.loads(path.read_text())["indexDefinitions"] if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"indexDefinitions": {**known, DEFINITION["indexName"]: DEFINITION}}))
    place = {"hoodie.table.index.defs.path": path.relative_to(table.folder).as_posix()}
    update_properties(LocalStorage(table.folder), InProcessLock(), place, comment="the build of the index failed")
    for value, keys in {"UPPER": ["u"], "x": ["a", "c", "e", "v"], "upper": []}.items():
        assert values_where(engine, table.uri, ("value", "=", value)) == keys


@pytest.mark.needs("create", "write.insert", "write.delete", "service.rollback", "service.clean", "service.index")
@pytest.mark.parametrize("compacted", ["before", "due"])
@pytest.mark.requirements("OCC-021", "MDT-010", "IDX-010", "IDX-024")
@pytest.mark.versions(8, 9)
def test_filters_find_every_row_during_a_rollback(engine: Client, new_uri: NewUri, compacted: str, drawn_version: int) -> None:
    """OCC-021: wherever a rollback crashes, a filter finds the rows that a read without indexes has. The metadata table was
    compacted after the write, so that its base files lack the rows that the write deleted; or a compaction is due: then readers
    that ignore pending rollbacks find the rows, too.
    """
    only_in_process(engine)
    often = {**EVERY_INDEX, COMPACTED_AFTER: "1"}
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", EVERY_INDEX, drawn_version)
    table.write(*INSERTS, Step("upsert", (row("a", 31, "changed"),)))
    create_index(open_table(table.uri), "by_value", "value")
    instant = engine.write(table.uri, "delete", as_arrow([row("a", 0, "")]), options=EVERY_INDEX)
    if compacted == "before":
        engine.service(table.uri, "clean", options={**often, **keep_commits(1)})

    def act(storage: Storage) -> None:
        rollback(open_table(table.uri, storage=storage, options=often), instant)

    found = list[int]()
    for state in crash_states(LocalStorage(table.folder), act):
        opened = open_table(table.uri, storage=state.storage)
        for path in state.storage.names(".hoodie/timeline") if compacted == "due" else ():
            if ".rollback." in path and not state.ended:
                state.storage.delete(f".hoodie/timeline/{path}")
        rows = opened.snapshot(["id", "value"]).to_pylist()
        for one in (one for one in rows if one["id"] in ("a", "c")):  # the deleted row, and one of another file
            for column in ("id", "value"):
                by_filter = opened.snapshot(["id", "value"], [(column, "=", one[column])]).to_pylist()
                assert one in by_filter, f"{column} = {one[column]!r}: {state}"
        found.append(len(rows))
    assert found == sorted(found)
    assert {*found} == {4, 5}


@KEEPS
@BOTH_TYPES
@pytest.mark.needs("service.rollback")
@pytest.mark.requirements("TL-019", "MDT-001")
def test_a_rollback_leaves_no_file_in_the_metadata_table(engine: Client, new_uri: NewUri, type: Type) -> None:
    """TL-019: the metadata table has completed a write that crashed before its own completion. After its rollback no file of it
    is in any partition of the metadata table: readers that take files before the first active instant for committed would
    read its entries later.
    """
    table = IndexedTable(engine, new_uri(), type, INDEXED).write(*INSERTS)
    crashed = engine.write(table.uri, "upsert", as_arrow((row("z", 1, "crashed"),)), options=dict(INDEXED))
    assert table.metadata_files(f"*/*{crashed}*")
    for path in (table.folder / ".hoodie" / "timeline").glob(f"{crashed}_*"):
        path.unlink()
    # The markers are gone: they were deleted after the completion that the case has taken away.
    by_listing = {**INDEXED, "hoodie.rollback.using.markers": "false"}
    engine.service(table.uri, "rollback", instant=crashed, options=by_listing)
    assert table.metadata_files(f"*/*{crashed}*") == []
    table.check("after the rollback")
