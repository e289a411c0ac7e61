"""Compaction: its result, that it changes no answer, and planning and execution by different processes."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write
from hudi_conformance.suite.support.programs.write_programs import TYPES, Step, expect_rows, row
from hudi_conformance.suite.support.tables.tables_to_cluster import plan_clustering
from hudi_conformance.suite.support.tables.tables_under_services import (
    Json,
    copy_golden_table,
    crash_service,
    data_file_names,
    instant_files,
    keep_versions,
    pending_actions,
    read_instant_file,
    read_snapshot,
    sort_rows,
)
from hudi_conformance.suite.support.tables.tables_with_logs import (
    COMPACTS,
    DELETES,
    DUE,
    FIRST,
    MODES,
    ROWS,
    WRITES,
    LoggedTable,
    Mode,
    NewUri,
    base_files_of_instant,
    log_file_names,
    read_base_file,
)
from hudi_conformance.suite.support.tables.written_tables import base_files, table_folder
from hudi_reference import open_table
from hudi_reference.timeline.contents.avro_container import schema_of, write_record
from hudi_reference.write.commit import transitions_of


@COMPACTS
@pytest.mark.needs("read.read-optimized", "read.meta-columns")
@pytest.mark.requirements("CMP-001", "CMP-003", "META-004")
@pytest.mark.leaves_damage("it deletes log files")
def test_a_compaction_creates_the_next_slice_of_the_same_group(engine: Client, new_uri: NewUri) -> None:
    """CMP-001: the new base file has the group's id, the plan's instant, and the rows of a snapshot with their own commit
    times.
    """
    table = LoggedTable(engine, new_uri()).write(*ROWS, Step("upsert", (row("b", 40, "gone", deleted=True),)))
    asked = Query(columns=("_hoodie_commit_time", "_hoodie_record_key", *TYPES))
    before, groups = sort_rows(engine.read(table.uri, asked)), {path.name.split("_")[0] for path in base_files(table.uri)}
    instant = table.compact()
    made = base_files_of_instant(table.uri, instant)
    assert {path.name.split("_")[0] for path in made} == groups and len(made) == len(groups)
    found = [one for path in made for one in read_base_file(path)]
    names = {name: path.name for path in made for name in (one["_hoodie_record_key"] for one in read_base_file(path))}
    assert {one["_hoodie_record_key"]: one["_hoodie_file_name"] for one in found} == names
    picked = [{name: one[name] for name in asked.columns or ()} for one in found]
    assert sorted(map(str, picked)) == sorted(map(str, before))
    assert sort_rows(engine.read(table.uri, asked)) == before
    for path in table_folder(table.uri).rglob(".*.log.*"):
        path.unlink()
    expect_rows(engine, table.uri, table.model.snapshot(), "without logs", Query("read-optimized", columns=tuple(TYPES)))


@COMPACTS
@pytest.mark.requirements("TL-015", "TL-044", "TL-035", "CMP-001")
def test_a_compaction_plans_files_and_reports_the_result(engine: Client, new_uri: NewUri) -> None:
    """TL-044: the plan names base and log files of each slice with logs; the completed commit names the new base files."""
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2])
    before = data_file_names(table.uri)
    instant = table.schedule()
    assert data_file_names(table.uri) == before, "the plan created a file"
    record, plan = read_instant_file(table.uri, instant, "compaction.requested")
    (operation,) = plan["operations"]
    assert (record, plan["version"], operation["partitionPath"]) == ("HoodieCompactionPlan", 2, "oslo")
    assert [*operation["deltaFilePaths"], operation["dataFilePath"]] == [
        *log_file_names(table.uri),
        next(path.name for path in base_files(table.uri) if path.parent.name == "oslo"),
    ]
    assert operation["baseInstantTime"] == table.times[0]
    assert instant_files(table.uri, "compaction") == {f"{instant}.compaction.requested"}
    assert table.run("compaction", phase="execute", instant=instant) == instant
    record, done = read_instant_file(table.uri, instant, "commit")
    (stat,) = done["partitionToWriteStats"]["oslo"]
    (made,) = base_files_of_instant(table.uri, instant)
    assert (record, done["operationType"], done["compacted"]) == ("HoodieCommitMetadata", "COMPACT", True)
    assert (stat["path"], stat["fileId"]) == (f"oslo/{made.name}", operation["fileId"])
    assert (stat["prevBaseFile"], stat["numWrites"]) == (operation["dataFilePath"], 2)
    assert (stat["fileSizeInBytes"], stat["totalLogFilesCompacted"]) == (made.stat().st_size, 1)
    table.check_rows("after the compaction")


@COMPACTS
@pytest.mark.parametrize("place", range(1, len(ROWS) + 1))
@MODES
@pytest.mark.requirements("CMP-002", "MRG-013", "MRG-008", "MRG-023", "MRG-025", "MRG-027", "OCC-003")
def test_a_compaction_at_any_time_changes_nothing(engine: Client, new_uri: NewUri, mode: Mode, place: int) -> None:
    """MRG-013: rows without deletes: with a compaction at any position, each snapshot is that of the writes alone."""
    table = LoggedTable(engine, new_uri(), mode).write(*ROWS[:place])
    table.run("compaction")
    table.check_rows(f"compacted after write {place}")
    table.write(*ROWS[place:])
    table.check_rows(f"compacted after write {place}, at the end")


@COMPACTS
@pytest.mark.parametrize("place", range(1, len(DELETES) + 1))
@pytest.mark.requirements("CMP-002", "CMP-006", "MRG-013", "OCC-003")
def test_in_commit_time_mode_deletes_survive_a_compaction(engine: Client, new_uri: NewUri, place: int) -> None:
    """MRG-013: the last version wins, a delete or a row: with a compaction at any position, each snapshot is that of the writes
    alone.
    """
    table = LoggedTable(engine, new_uri(), "COMMIT_TIME_ORDERING").write(*DELETES[:place])
    table.run("compaction")
    table.check_rows(f"compacted after write {place}")
    table.write(*DELETES[place:])
    table.check_rows(f"compacted after write {place}, at the end")


@COMPACTS
@pytest.mark.parametrize("between", [False, True])
@pytest.mark.requirements("CMP-002", "CMP-006", "MRG-029")
def test_a_compaction_drops_a_delete_and_its_ordering_value(engine: Client, new_uri: NewUri, between: bool) -> None:
    """CMP-006: a delete of ordering value 20 wins over a later row of 10, as long as its log is read. After a compaction the
    row is inserted.
    """
    table = LoggedTable(engine, new_uri()).write(FIRST, Step("upsert", (row("a", 20, "gone", deleted=True),)))
    if between:
        table.compact()
        assert {one["id"] for one in read_snapshot(engine, table.uri)} == {"b", "c"}
    table.write(Step("upsert", (row("a", 10, "again"),)))
    found = [one["value"] for one in read_snapshot(engine, table.uri) if one["id"] == "a"]
    assert found == (["again"] if between else [])


@COMPACTS
@pytest.mark.requirements("CMP-002", "CMP-006", "MRG-008")
def test_a_key_deleted_before_a_compaction_can_be_inserted_again(engine: Client, new_uri: NewUri) -> None:
    """CMP-006: after a delete by key and a compaction, a row with a lower ordering value than the deleted one is inserted."""
    table = LoggedTable(engine, new_uri()).write(FIRST, Step("delete", (row("a", 0, "gone"),)))
    table.compact()
    table.write(Step("upsert", (row("a", 5, "new"),)))
    assert [one["value"] for one in read_snapshot(engine, table.uri) if one["id"] == "a"] == ["new"]


@COMPACTS
@pytest.mark.needs("log.only-slices")
@pytest.mark.parametrize("name", ["log.only-logs", "log.only-logs.with-deletes"])
@pytest.mark.requirements("CMP-004", "CMP-001")
def test_a_slice_without_base_file_gets_one(engine: Client, tmp_path: Path, name: str) -> None:
    """CMP-001: log files without a base file are compacted into a base file with all rows."""
    uri, _ = copy_golden_table(name, tmp_path)
    before = sort_rows(engine.read(uri, Query(columns=("id", "ts", "name"))))
    instant = engine.service(uri, "compaction", options=DUE)
    assert instant is not None
    found = [one for path in base_files_of_instant(uri, instant) for one in read_base_file(path)]
    assert sorted(one["id"] for one in found) == sorted(one["id"] for one in before)
    assert sort_rows(engine.read(uri, Query(columns=("id", "ts", "name")))) == before


@COMPACTS
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("CMP-005", "TYP-008")
def test_the_slice_before_a_compaction_stays(engine: Client, new_uri: NewUri) -> None:
    """CMP-005: the compacted files stay, and reads as of earlier instants give the earlier rows."""
    table = LoggedTable(engine, new_uri()).write(*ROWS[:3])
    files = data_file_names(table.uri)
    table.compact()
    assert files <= data_file_names(table.uri)
    table.write(ROWS[3])
    for instant in table.times:
        asked = Query("as-of", as_of=instant, columns=tuple(TYPES))
        expect_rows(engine, table.uri, table.model.as_of(instant), f"as of {instant}", asked)


@COMPACTS
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("CMP-006", "CMP-005", "CLN-006")
def test_deleted_rows_stay_deleted_after_the_old_slice_is_cleaned(engine: Client, new_uri: NewUri) -> None:
    """CMP-005: deleted rows stay deleted when the old slice with the delete in its logs is cleaned."""
    table = LoggedTable(engine, new_uri()).write(*DELETES[:3])
    old = set(log_file_names(table.uri))
    table.compact()
    rows = read_snapshot(engine, table.uri)
    assert {one["id"] for one in rows} == {"c"}
    engine.service(table.uri, "clean", options=keep_versions(1))
    assert not old & data_file_names(table.uri)
    assert read_snapshot(engine, table.uri) == rows


@COMPACTS
@MODES
@pytest.mark.requirements("CMP-003", "NBC-002", "OCC-003", "SVC-006")
def test_writes_between_plan_and_execution(engine: Client, new_uri: NewUri, mode: Mode) -> None:
    """CMP-003: writes that complete after the plan are read before and after its execution, and are not part of it."""
    table = LoggedTable(engine, new_uri(), mode).write(*ROWS[:2])
    instant = table.schedule()
    table.check_rows("with a plan")
    table.write(*ROWS[2:])
    table.check_rows("written beside a plan")
    table.run("compaction", phase="execute", instant=instant)
    (made,) = base_files_of_instant(table.uri, instant)
    assert {one["_hoodie_commit_time"] for one in read_base_file(made)} <= set(table.times[:2])
    table.check_rows("after the execution")


@COMPACTS
@pytest.mark.requirements("SVC-005", "TL-029")
def test_a_plan_is_executed_once(engine: Client, new_uri: NewUri) -> None:
    """SVC-005: a second execution of a completed plan returns a result or an error; files and timeline are unchanged."""
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2])
    instant = table.schedule()
    table.run("compaction", phase="execute", instant=instant)
    files, instants = data_file_names(table.uri), instant_files(table.uri)
    with suppress(ContractError):
        table.run("compaction", phase="execute", instant=instant)
    assert (data_file_names(table.uri), instant_files(table.uri)) == (files, instants)
    table.check_rows("executed twice")


@COMPACTS
@pytest.mark.parametrize(
    ("strategy", "commits", "seconds", "is_due"),
    [
        ("NUM_COMMITS", 2, 9000, True),
        ("TIME_ELAPSED", 9, 1, True),
        ("TIME_ELAPSED", 2, 9000, False),
        ("NUM_OR_TIME", 9, 1, True),
        ("NUM_OR_TIME", 9, 9000, False),
        ("NUM_AND_TIME", 2, 1, True),
        ("NUM_AND_TIME", 9, 1, False),
        ("NUM_AND_TIME", 2, 9000, False),
    ],
)
@pytest.mark.requirements("CMP-001")
def test_commits_and_time_trigger_compactions(
    engine: Client, new_uri: NewUri, strategy: str, commits: int, seconds: int, is_due: bool
) -> None:
    """CMP-001: the strategy decides whether a compaction is due by the number of delta commits, by the time since the last
    compaction, or since the first of them without one, or by both.
    """
    prefix = "hoodie.compact.inline."
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2])
    sleep(1.1)
    table.write(ROWS[2])
    options = {f"{prefix}trigger.strategy": strategy, f"{prefix}max.delta.commits": str(commits),
               f"{prefix}max.delta.seconds": str(seconds)}  # fmt: skip
    planned = engine.service(table.uri, "compaction", phase="schedule", options=options)
    assert (planned is not None) == is_due


@COMPACTS
@pytest.mark.parametrize(("strategy", "is_due"), [("NUM_COMMITS", True), ("NUM_COMMITS_AFTER_LAST_REQUEST", False)])
@pytest.mark.requirements("CMP-001")
def test_a_pending_plan_begins_the_count_of_one_strategy(engine: Client, new_uri: NewUri, strategy: str, is_due: bool) -> None:
    """CMP-001: one strategy counts the delta commits since the last compaction that has completed, another one those since the
    last that was planned. One delta commit follows a pending plan; two make a compaction due.
    """
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2])
    table.schedule()
    table.write(Step("upsert", (row("c", 50, "more", "rio"),)))
    prefix = "hoodie.compact.inline."
    options = {f"{prefix}trigger.strategy": strategy, f"{prefix}max.delta.commits": "2"}
    planned = engine.service(table.uri, "compaction", phase="schedule", options=options)
    assert (planned is not None) == is_due


@COMPACTS
@pytest.mark.requirements("SVC-004", "CMP-003")
def test_a_group_is_in_one_plan_at_a_time(engine: Client, new_uri: NewUri) -> None:
    """SVC-004: while a plan is pending, another one includes only file groups that have logs and are not in it."""
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2])
    first = table.schedule()
    table.write(Step("upsert", (row("a", 50, "more"), row("c", 50, "more", "rio"))))
    second = table.schedule()
    plans = [read_instant_file(table.uri, instant, "compaction.requested")[1]["operations"] for instant in (first, second)]
    assert [[operation["partitionPath"] for operation in plan] for plan in plans] == [["oslo"], ["rio"]]
    table.check_rows("two plans")
    for instant in (second, first):
        table.run("compaction", phase="execute", instant=instant)
    table.check_rows("both carried out")


@COMPACTS
@pytest.mark.needs("inspect.table")
@pytest.mark.requirements("SVC-005", "SVC-006", "TL-029")
def test_a_crashed_compaction_is_finished(engine: Client, new_uri: NewUri) -> None:
    """SVC-005: with inflight file, marker and base file of the crashed attempt the rows are unchanged; the plan is executed
    again, once.
    """
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2], Step("upsert", (row("c", 20, "second", "rio"),)))
    instant = table.schedule()
    left = crash_service(table.uri, instant, "compaction")
    table.check_rows("half done")
    table.run("compaction", phase="execute", instant=instant)
    table.check_rows("finished")
    assert not left.exists()
    assert len(base_files_of_instant(table.uri, instant)) == 2
    assert pending_actions(engine, table.uri) == []


@COMPACTS
@pytest.mark.needs("inspect.table", "service.rollback")
@pytest.mark.requirements("TL-050", "SVC-006")
def test_a_crashed_compaction_is_rolled_back(engine: Client, new_uri: NewUri) -> None:
    """TL-050: the rollback deletes the files of the attempt and makes the plan requested again; then it is executed."""
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2])
    instant = table.schedule()
    left = crash_service(table.uri, instant, "compaction")
    engine.service(table.uri, "rollback", instant=instant)
    assert not left.exists()
    assert [(one["requested"], one["state"]) for one in pending_actions(engine, table.uri)] == [(instant, "REQUESTED")]
    table.check_rows("rolled back")
    table.run("compaction", phase="execute", instant=instant)
    table.check_rows("carried out")


#: A write (B begins, E ends) and a compaction (P is planned, X executed) in every order.
ORDERS = ("BEPX", "BPEX", "BPXE", "PBEX", "PBXE", "PXBE")


@COMPACTS
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.requirements("NBC-002", "NBC-003", "NBC-007", "CMP-003", "SVC-001")
def test_a_write_and_a_compaction_in_every_order(engine: Client, new_uri: NewUri, order: str) -> None:
    """NBC-003: a write by the reference and a compaction of the same file group both complete, and every change is
    read once.
    """
    table = LoggedTable(engine, new_uri(), "COMMIT_TIME_ORDERING").write(*ROWS[:2])
    late, found = (row("a", 90, "late"), row("b", 90, "gone", deleted=True)), dict[str, Any]()

    def end() -> None:
        found["write"].complete()
        table.model.apply("upsert", late, found["write"].instant)

    steps: dict[str, Callable[[], None]] = {
        "B": lambda: found.update(write=begin_write(table.uri, late)),
        "E": end,
        "P": lambda: found.update(plan=table.schedule()),
        "X": lambda: found.update(done=table.run("compaction", phase="execute", instant=found["plan"])),
    }
    for place, step in enumerate(order, 1):
        steps[step]()
        table.check_rows(f"after {order[:place]} of {order}")


@COMPACTS
@pytest.mark.requirements("SVC-011", "RDR-010", "TL-010")
def test_a_group_that_was_replaced_after_the_plan_stays_hidden(engine: Client, new_uri: NewUri) -> None:
    """SVC-011: whether the compaction completes or aborts, no row of the replaced group is read again."""
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2], Step("upsert", (row("c", 20, "second", "rio"),)))
    instant = table.schedule()
    groups = {str(path.parent.name): path.name.split("_")[0] for path in base_files(table.uri)}
    replace_group(table.uri, "oslo", groups["oslo"])
    expected = [one for one in table.model.snapshot() if one["city"] == "rio"]
    expect_rows(engine, table.uri, expected, "replaced")
    with suppress(ContractError):
        table.run("compaction", phase="execute", instant=instant)
    expect_rows(engine, table.uri, expected, "compacted")


def replace_group(uri: str, partition: str, file_id: str) -> None:
    """Write a completed replacecommit, requested now, that replaces a file group by nothing."""
    transitions = transitions_of(open_table(uri))
    record = {
        "partitionToWriteStats": {},
        "compacted": False,
        "extraMetadata": {},
        "version": 1,
        "operationType": "DELETE_PARTITION",
        "partitionToReplaceFileIds": {partition: [file_id]},
    }
    planned: Json = {"operationType": None, "clusteringPlan": None, "extraMetadata": {}, "version": 1}
    requested = transitions.request(
        "replacecommit", write_record(schema_of("HoodieRequestedReplaceMetadata"), planned, bytes(16))
    )
    inflight = transitions.start(requested)
    transitions.complete(inflight, write_record(schema_of("HoodieReplaceCommitMetadata"), record, bytes(16)))


@COMPACTS
@pytest.mark.requirements("SVC-010", "SVC-004")
def test_a_compaction_leaves_out_groups_of_a_clustering_plan(engine: Client, new_uri: NewUri) -> None:
    """SVC-010: of two groups with logs the one in a pending clustering plan is not compacted."""
    table = LoggedTable(engine, new_uri()).write(FIRST, Step("upsert", (row("a", 20, "second"), row("c", 20, "second", "rio"))))
    groups = {str(path.parent.name): path for path in base_files(table.uri)}
    plan_clustering(table.uri, "oslo", groups["oslo"])
    _, plan = read_instant_file(table.uri, table.schedule(), "compaction.requested")
    assert [operation["partitionPath"] for operation in plan["operations"]] == ["rio"]


@COMPACTS
@pytest.mark.requirements("SVC-014")
def test_writers_do_not_compact_by_default(engine: Client, new_uri: NewUri) -> None:
    """SVC-014: without a setting no delta commit triggers a compaction."""
    table = LoggedTable(engine, new_uri()).write(FIRST)
    table.write(*(Step("upsert", (row("a", number, f"update {number}"),)) for number in range(11, 18)))
    assert instant_files(table.uri, "compaction") == set()
    assert len(base_files(table.uri)) == 2


@COMPACTS
@pytest.mark.requirements("SVC-013", "MRG-010")
def test_inline_compaction_equals_the_service(engine: Client, new_uri: NewUri) -> None:
    """SVC-013: with inline compaction after two delta commits the rows, the base files and the actions are those of a
    service.
    """
    found = []
    for inline in (True, False):
        table = LoggedTable(engine, new_uri()).write(FIRST)
        if inline:
            options = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"}
            table.write(ROWS[1], options=options)
        else:
            table.write(ROWS[1])
            table.run("compaction")
        table.check_rows("compacted")
        (instant,) = {name.split(".")[0] for name in instant_files(table.uri, "compaction.requested")}
        plan, done = (
            read_instant_file(table.uri, instant, "compaction.requested")[1],
            read_instant_file(table.uri, instant, "commit")[1],
        )
        rows = [
            {name: one[name] for name in TYPES}
            for path in base_files_of_instant(table.uri, instant)
            for one in read_base_file(path)
        ]
        found.append((len(plan["operations"]), done["operationType"], sorted(map(str, rows))))
    assert found[0] == found[1]


@pytest.mark.needs(
    *WRITES, "service.compaction", "merge.event-time", writer=(*WRITES, "service.compaction", "merge.event-time")
)
@pytest.mark.requirements("SVC-015", "CMP-001", "TL-015", "MRG-010")
def test_one_engine_plans_and_another_compacts(writer: Client, reader: Client, new_uri: NewUri) -> None:
    """SVC-015: the plan on the timeline is all that the executor needs, by any process; then both engines read the
    same rows.
    """
    table = LoggedTable(writer, new_uri()).write(*ROWS[:3])
    instant = table.schedule()
    table.write(ROWS[3])
    assert table.run("compaction", reader, phase="execute", instant=instant) == instant
    for one in (reader, writer):
        table.check_rows(f"planned by {writer.name}, compacted by {reader.name}, read by {one.name}", one)


@pytest.mark.needs(
    *WRITES, "service.compaction", "merge.event-time", writer=(*WRITES, "service.compaction", "merge.event-time")
)
@pytest.mark.requirements("SVC-007", "SVC-006", "SVC-013")
def test_inline_and_external_compactions_work_on_one_table(writer: Client, reader: Client, new_uri: NewUri) -> None:
    """SVC-007: a writer with inline compaction runs while a plan of another process is pending: every plan is completed, once,
    and no row is wrong.
    """
    table = LoggedTable(writer, new_uri()).write(*ROWS[:2])
    first = table.schedule(engine=reader)
    table.write(ROWS[2], options={**DUE, **SEVERAL_WRITERS, "hoodie.compact.inline": "true"})
    table.check_rows("after the inline compaction", reader)
    if f"{first}.compaction.inflight" not in instant_files(table.uri):
        table.run("compaction", reader, phase="execute", instant=first)
    table.write(ROWS[3])
    table.run("compaction", reader)
    plans = {name.split(".")[0] for name in instant_files(table.uri, "compaction.requested")}
    done = [name.split("_")[0] for name in instant_files(table.uri) if name.endswith(".commit")]
    assert first in plans and sorted(done) == sorted(plans), "a plan is not completed exactly once"
    for one in (reader, writer):
        table.check_rows(f"read by {one.name}", one)
