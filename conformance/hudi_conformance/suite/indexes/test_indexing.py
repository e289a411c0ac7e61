"""Indexes that are built while writes and services run: the plan, the entries of indexer and writers, and the outcome."""

from collections.abc import Callable, Mapping
from contextlib import suppress

import fastavro
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS
from hudi_conformance.suite.support.concurrent.explored_scenarios import explore_scenario, parametrize_scenarios
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write
from hudi_conformance.suite.support.concurrent.recorded_locks import RecordingStorage
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import SORT, NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    CHANGES,
    FILTERS,
    INDEXES,
    INFLIGHT,
    INSERTS,
    LISTED,
    RECORDS,
    WRITES,
    IndexedTable,
    completion_times,
)
from hudi_conformance.suite.support.tables.tables_under_services import instant_files, keep_commits, read_instant_file
from hudi_reference import create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.services.indexing.indexing import execute_indexing, schedule_indexing
from hudi_reference.storage import MemoryStorage
from hudi_reference.tables import WritableTable
from hudi_reference.timeline.contents.avro_container import Record, write_record

WANTED = ("bloom_filters", "record_index")
BUILT = {"record_index/*.hfile", "bloom_filters/*.hfile"}


def plan_two_indexes(engine: Client, uri: str, type: Type = "MERGE_ON_READ") -> tuple[IndexedTable, str]:
    """Return a table with rows and a listing of files, and the plan of two indexes."""
    table = IndexedTable(engine, uri, type).write(*INSERTS)
    instant = table.build_indexes(phase="schedule")
    assert instant is not None
    return table, instant


def is_done(table: IndexedTable, instant: str) -> bool:
    """Return whether that indexing has completed."""
    return any(name.startswith(f"{instant}_") for name in instant_files(table.uri, "indexing"))


@pytest.mark.needs(*WRITES, "service.index", "service.clustering", "service.clean")
@BOTH_TYPES
@pytest.mark.requirements("INX-001", "SVC-012")
def test_an_index_is_right_after_concurrent_actions(engine: Client, new_uri: NewUri, type: Type) -> None:
    """SVC-012: writes, a compaction, a clustering and a clean complete between the plan and the build, and a write after it.
    None of them aborts, and the indexes match the table.
    """
    table, instant = plan_two_indexes(engine, new_uri(), type)
    table.write(*CHANGES)
    if type == "MERGE_ON_READ" and "service.compaction" in engine.hello.features:
        assert engine.service(table.uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"}) is not None
    assert engine.service(table.uri, "clustering", options={SORT: "ts"}) is not None
    engine.service(table.uri, "clean", options=keep_commits(1))
    table.write(Step("insert", (row("p", 1, "x", "rio"),)))
    table.build_indexes(phase="execute", instant=instant)
    assert set(WANTED) <= set(table.listed_partitions()) and table.listed_partitions(INFLIGHT) == ()
    table.check("indexed")
    table.write(Step("upsert", (row("a", 60, "x"), row("q", 1, "x")))).check("written to afterwards")


@INDEXES
@BOTH_TYPES
@pytest.mark.requirements("INX-001", "INX-011")
def test_a_writer_that_began_before_the_plan_adds_its_entries(engine: Client, new_uri: NewUri, type: Type) -> None:
    """INX-011: a write that had begun when the plan was made completes during the build: neither waits for the other, and its
    keys are in the index.
    """
    table = IndexedTable(engine, new_uri(), type).write(*INSERTS)
    rows = (row("a", 70, "late"), row("x", 70, "late", "rio"))
    under_way = begin_write(table.uri, rows)
    instant = table.build_indexes(phase="schedule")
    under_way.complete()
    table.model.apply("upsert", rows, under_way.instant)
    table.build_indexes(phase="execute", instant=instant)
    table.check("indexed")


@pytest.mark.needs(*WRITES, "service.index", "service.clean")
@pytest.mark.requirements("SVC-012", "SVC-008")
def test_a_clean_keeps_the_files_that_an_indexer_reads(engine: Client, new_uri: NewUri) -> None:
    """SVC-008: a clean between plan and build deletes no file that the build needs; what the plan needs is cleaned after it."""
    table, instant = plan_two_indexes(engine, new_uri(), "COPY_ON_WRITE")
    before = table.files_listed()
    for number in range(3):
        table.write(Step("upsert", (row("a", 40 + number, "x"), row("d", 40 + number, "x"))))
    engine.service(table.uri, "clean", options=keep_commits(1))
    kept = all(files.items() <= table.files_stored()[partition].items() for partition, files in before.items())
    table.build_indexes(phase="execute", instant=instant)
    table.check("indexed")
    assert (engine.service(table.uri, "clean", options=keep_commits(1)) is not None) == kept
    table.check("cleaned")


@INDEXES
@pytest.mark.requirements("INX-004", "INX-005", "INX-006", "INX-007", "INX-008", "TL-018")
def test_the_plan_names_its_indexes_and_their_base_instant(engine: Client, new_uri: NewUri) -> None:
    """INX-008: the requested file has version 1, one element for each index with its partition, and the write that completed
    last.
    """
    table, instant = plan_two_indexes(engine, new_uri())
    name, plan = read_instant_file(table.uri, instant, "indexing.requested")
    assert (name, plan["version"]) == ("HoodieIndexPlan", 1)
    infos = plan["indexPartitionInfos"]
    assert sorted(info["metadataPartitionPath"] for info in infos) == list(WANTED)
    assert {info["indexUptoInstant"] for info in infos} == {table.times[-1]}
    table.build_indexes(phase="execute", instant=instant)
    assert {path.partition("/")[0] for pattern in BUILT for path in table.metadata_files(pattern)} == set(WANTED)
    name, record = read_instant_file(table.uri, instant, "indexing")
    assert name == "HoodieIndexCommitMetadata"
    assert sorted(info["metadataPartitionPath"] for info in record["indexPartitionInfos"]) == list(WANTED)


@INDEXES
@pytest.mark.requirements("INX-008")
def test_the_base_instant_is_the_write_that_completed_last(engine: Client, new_uri: NewUri) -> None:
    """INX-008: the base is not the write that began last: a write that began earlier and completed later is the base, and a
    pending one is not.
    """
    table = IndexedTable(engine, new_uri(), "MERGE_ON_READ").write(INSERTS[0])
    early, rows = begin_write(table.uri, (row("x", 1, "early", "rio"),)), (row("x", 1, "early", "rio"),)
    table.write(INSERTS[1], options=SEVERAL_WRITERS)
    early.complete()
    table.model.apply("upsert", rows, early.instant)
    begin_write(table.uri, (row("w", 1, "half"),))
    instant = table.build_indexes(phase="schedule")
    assert instant is not None
    _, plan = read_instant_file(table.uri, instant, "indexing.requested")
    assert {info["indexUptoInstant"] for info in plan["indexPartitionInfos"]} == {early.instant}
    table.build_indexes(phase="execute", instant=instant)
    table.check("indexed")


@INDEXES
@pytest.mark.requirements("INX-009")
def test_a_plan_without_extra_metadata_is_executed(engine: Client, new_uri: NewUri) -> None:
    """INX-009: a plan whose elements have no map of extra metadata is executed like any other."""
    table, instant = plan_two_indexes(engine, new_uri())
    path = table.folder / ".hoodie" / "timeline" / f"{instant}.indexing.requested"
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        schema, (plan,) = reader.writer_schema, list(reader)
    assert isinstance(plan, dict) and isinstance(schema, dict)
    plan["indexPartitionInfos"] = [{**info, "extraMetadata": None} for info in plan["indexPartitionInfos"]]
    path.write_bytes(write_record(schema, Record(plan, schema), bytes(16)))
    table.build_indexes(phase="execute", instant=instant)
    table.check("indexed")
    assert set(WANTED) <= set(table.listed_partitions())


@INDEXES
@pytest.mark.requirements("INX-002", "INX-003", "INX-010", "INX-011")
def test_the_indexer_adds_base_files_and_writers_add_log_files(engine: Client, new_uri: NewUri) -> None:
    """INX-011: before the build an index has only log files, with the keys of writers; the indexer adds base files to the same
    file groups, and both are read together. ER-200: of an index that is not listed as being built, writers add no entries.
    """
    table, instant = plan_two_indexes(engine, new_uri())
    table.write(Step("insert", tuple(row(f"k{number}", 1, "x") for number in range(20))))
    written = table.times[-1]
    assert [table.metadata_files(pattern) for pattern in BUILT] == [[], []]
    logs, is_listed = table.metadata_files(f"record_index/.*_{written}.log.*"), table.listed_partitions(INFLIGHT) == WANTED
    assert (logs and table.metadata_files(f"bloom_filters/.*_{written}.log.*")) or not is_listed
    table.build_indexes(phase="execute", instant=instant)
    bases = table.metadata_files(f"record_index/*_{instant}.hfile" if is_listed else "record_index/*.hfile")
    groups = {path.split("/")[1].split("_")[0] for path in bases}
    assert bases and (groups & {path.split("/.")[1].split("_")[0] for path in logs} or not is_listed)
    table.check("indexed")


@INDEXES
@pytest.mark.requirements("INX-014", "PROP-012", "PROP-013")
def test_an_index_is_usable_when_its_build_is_complete(engine: Client, new_uri: NewUri) -> None:
    """INX-014: an index is listed as usable only with a completed indexing action, before that at most as being built; a
    second request finds nothing to do.
    """
    table, instant = plan_two_indexes(engine, new_uri())
    assert table.listed_partitions(INFLIGHT) in ((), WANTED) and table.listed_partitions() == ("files",)
    assert table.build_indexes(phase="execute", instant=instant) == instant
    assert is_done(table, instant)
    assert table.listed_partitions(INFLIGHT) == () and table.listed_partitions() == ("bloom_filters", "files", "record_index")
    assert table.build_indexes() is None


def _no_deltacommit(table: IndexedTable, instant: str) -> None:
    """Remove the deltacommit of a completed write from the metadata table, as for a writer that does not maintain it."""
    home = table.folder / ".hoodie" / "metadata"
    for path in (*(home / ".hoodie" / "timeline").glob(f"{instant}*"), *home.glob(f"*/.*_{instant}.log.*")):
        path.unlink()


def _only_the_listing(table: IndexedTable, instant: str) -> None:
    """Keep the write only in the listing of files, as for a writer that maintains only the usable partitions."""
    home = table.folder / ".hoodie" / "metadata"
    (path,) = (home / ".hoodie" / "timeline").glob(f"{instant}_*")
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        schema, (record,) = reader.writer_schema, list(reader)
    assert isinstance(record, dict) and isinstance(schema, dict)
    record["partitionToWriteStats"] = {"files": record["partitionToWriteStats"]["files"]}
    path.write_bytes(write_record(schema, Record(record, schema), bytes(16)))
    for log in (*home.glob(f"record_index/.*_{instant}.log.*"), *home.glob(f"bloom_filters/.*_{instant}.log.*")):
        log.unlink()


@INDEXES
@pytest.mark.parametrize("forgets", [_no_deltacommit, _only_the_listing])
@pytest.mark.requirements("INX-012", "INX-013")
@pytest.mark.leaves_damage("it removes an action of the metadata table")
def test_an_index_with_missing_entries_is_not_published(
    engine: Client, new_uri: NewUri, forgets: Callable[[IndexedTable, str], None]
) -> None:
    """INX-012: a write without entries completes during the build: the indexer detects this and aborts. No index is published,
    its plan and its files are removed, queries and writes succeed, and a new plan succeeds. ER-200: an indexer that adds the
    entries itself need not abort.
    """
    table, instant = plan_two_indexes(engine, new_uri())
    table.write(Step("insert", (row("k", 1, "x"), row("l", 1, "x", "rio"))))
    forgets(table, table.times[-1])
    try:
        table.build_indexes(phase="execute", instant=instant)
    except ContractError:
        check_nothing_was_built(table, instant)
        assert table.build_indexes() is not None
    assert set(WANTED) <= set(table.listed_partitions())
    assert table.keys_indexed() == table.keys_of_rows()


def check_nothing_was_built(table: IndexedTable, instant: str) -> None:
    """Check that plan and files of an indexing that has ended are removed, and that writes go on."""
    assert table.listed_partitions() == ("files",) and table.listed_partitions(INFLIGHT) == ()
    assert not any(name.startswith(instant) for name in instant_files(table.uri, "indexing"))
    assert [table.metadata_files(pattern) for pattern in BUILT] == [[], []]
    table.write(Step("insert", (row("m", 1, "x"),))).check_rows("after the end of the indexer")


@pytest.mark.needs(*WRITES, "service.index", "service.savepoint", "service.restore")
@pytest.mark.requirements("INX-013")
def test_a_restore_ends_a_build(engine: Client, new_uri: NewUri) -> None:
    """INX-013: the table is restored to a time before the plan: an index of its base instant would contain rows that no longer
    exist, so it is not published. ER-200: an indexer that reads the state after the restore may publish the index of that.
    """
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE").write(*INSERTS)
    engine.service(table.uri, "savepoint", instant=table.times[-1])
    engine.write(table.uri, "upsert", as_arrow((row("y", 1, "new"),)), options=LISTED)
    instant = table.build_indexes(phase="schedule")
    engine.service(table.uri, "restore", instant=table.times[-1])
    with suppress(ContractError):
        table.build_indexes(phase="execute", instant=instant)
    table.check("restored")
    assert set(WANTED) <= set(table.listed_partitions()) or table.build_indexes() is not None
    table.check("indexed")


def open_recorded_table(settings: Mapping[str, str] = LISTED, rows: int = 3) -> tuple[WritableTable, RecordingStorage]:
    """Return a table in memory whose requests are recorded, each with the holder of the lock."""
    storage = RecordingStorage(MemoryStorage(), 1_000_000)
    given = {"storage": storage, "clock": ManualClock(1_767_225_600_000), "ids": SeededIds(1)}
    fields = [{"name": name, "type": ["null", "string"], "default": None} for name in ("id", "city", "value")]
    fields.insert(2, {"name": "ts", "type": ["null", "long"], "default": None})
    schema = {"type": "record", "name": "row", "fields": fields}
    create_table("memory:///watched", name="watched", schema=schema, record_key=("id",), partition=("city",), **given)  # type: ignore[arg-type]
    table = open_table("memory:///watched", options=settings, **given)  # type: ignore[arg-type]
    for number in range(rows):
        table.insert(as_arrow([row(f"k{number}", number, "x")]).select(["id", "city", "ts", "value"]))
    storage.requests.clear()
    return table, storage


@INDEXES
@pytest.mark.requirements("INX-003", "SVC-004", "INX-002")
def test_a_plan_takes_the_lock_for_a_short_time(engine: Client) -> None:
    """INX-003: from reading the timeline to the published plan there is one lock section, in which no data file is read:
    planning needs as many requests on a large table as on a small one, and builds nothing.
    """
    only_in_process(engine)
    counts = []
    for rows in (2, 9):
        table, storage = open_recorded_table(rows=rows)
        requested = schedule_indexing(table, {**RECORDS, **FILTERS})
        published = next(n for n, (what, _) in enumerate(storage.requests) if what.endswith(f"{requested}.indexing.requested"))
        locked = next(n for n, (_, owner) in enumerate(storage.requests) if owner is not None)
        section = [(what, owner) for what, owner in storage.requests[locked : published + 1] if "timeline" in what]
        assert None not in {owner for _, owner in section}
        assert section[0][0].startswith("names "), "the plan is made from the timeline of this section"
        assert not [what for what, _ in storage.requests if "parquet" in what or what.endswith(".hfile")]
        counts.append(len([what for what, owner in storage.requests if owner is not None]))
    assert counts[0] == counts[1]


@INDEXES
@pytest.mark.requirements("INX-015", "INX-002", "SVC-001")
def test_the_lock_is_held_for_the_timeline_only(engine: Client) -> None:
    """INX-015: while data files are read and base files are stored the lock is free; timeline entries are made under it."""
    only_in_process(engine)
    table, storage = open_recorded_table()
    requested = schedule_indexing(table, {**RECORDS, **FILTERS})
    assert requested is not None
    storage.requests.clear()
    execute_indexing(table, requested)
    work = [owner for what, owner in storage.requests if what.endswith((".parquet", ".hfile"))]
    assert len(work) > 3 and set(work) == {None}
    completing = [owner for what, owner in storage.requests if what.startswith("create") and f"{requested}_" in what
                  and "/timeline/" in what]  # fmt: skip
    assert len(completing) == 2 and None not in completing


@pytest.mark.requirements("SVC-012")
@parametrize_scenarios("indexing-beside-*")
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_an_indexer_does_not_conflict_with_other_actions(engine: Client, name: str, drawn_version: int) -> None:
    """SVC-012: an index is built beside a writer, a compaction, a clustering, a clean, in every order within bounds: none
    aborts, the lock is free during the build, and the index matches the table from the time at which it is published.
    """
    assert SCENARIOS[name].without_errors
    explore_scenario(engine, name, drawn_version)


@INDEXES
@pytest.mark.requirements("OCC-020", "INX-011")
def test_every_action_during_a_build_has_its_deltacommit(engine: Client, new_uri: NewUri) -> None:
    """OCC-020: each write that completes while an index is being built completes on the timeline of the metadata
    table first.
    """
    table, _ = plan_two_indexes(engine, new_uri())
    table.write(*CHANGES)
    data, metadata = (completion_times(folder) for folder in (table.folder, table.folder / ".hoodie" / "metadata"))
    assert all(metadata.get(instant, "never") < data[instant] for instant in table.times)
