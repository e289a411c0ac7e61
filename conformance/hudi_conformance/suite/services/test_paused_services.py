"""Services that are paused beside writers and beside each other, step by step: schedules on which deployed engines were seen to
lose updates or files.

The engine under test executes all of them. Each case gives the order of the steps; the expected result follows from the
property in `concurrent_table`.
"""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.concurrent.concurrent_table import PAUSES, ConcurrentTable, NewUri
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.tables_under_services import keep_commits, keep_versions, read_as_of
from hudi_conformance.suite.support.tables.written_tables import table_folder

SERVICES = pytest.mark.needs("pause.service")
MOR = pytest.mark.needs("merge-on-read")
COMPACTS = pytest.mark.needs("service.compaction", "service.clean")
RESTORES = pytest.mark.needs("service.savepoint", "service.restore")


@PAUSES
@SERVICES
@BOTH_TYPES
@pytest.mark.needs("service.rollback")
@pytest.mark.parametrize("mode", ["OPTIMISTIC_CONCURRENCY_CONTROL", "SINGLE_WRITER"])
@pytest.mark.requirements("TL-019", "TL-030")
def test_a_writer_completes_while_it_is_rolled_back(engine: Client, new_uri: NewUri, type: str, mode: str) -> None:
    """TL-030: the plan of the rollback is published, the writer completes, the rollback continues: either the write is rolled
    back and its writer gets an error, or it stays (invariants 13 and 29).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    policy = "LAZY" if mode.startswith("OPTIMISTIC") else "EAGER"  # with a heartbeat, or without one
    options = {"hoodie.write.concurrency.mode": mode, "hoodie.clean.failed.writes.policy": policy}
    instant = table.begin("writer", {"a": "written"}, options=options)
    assert instant is not None
    table.start_service("rollback", table.call("rollback", instant=instant), "requested")
    table.finish("writer")
    table.finish_service("rollback")
    table.check("both have ended")


def table_with_logs(engine: Client, uri: str) -> ConcurrentTable:
    """Return a table with three logs in one file group."""
    table = ConcurrentTable(engine, uri).create("MERGE_ON_READ")
    for number in range(3):
        table.write({"a": f"old {number}"})
    return table


def table_with_planned_compaction(engine: Client, uri: str) -> tuple[ConcurrentTable, str]:
    """Return a table with logs, and the requested time of a planned compaction."""
    table = ConcurrentTable(engine, uri).create("MERGE_ON_READ")
    table.write({"a": "in a log"})
    return table, table.schedule("compaction")


def check_executed_once(table: ConcurrentTable, plan: str) -> None:
    """Check that the plan was executed once, its files exist, and the rows do not need older ones."""
    table.check("the executors have ended")
    table.check_published(plan, "commit")
    table.run("clean", options=keep_versions(1))
    table.check("older slices were cleaned")


@PAUSES
@SERVICES
@MOR
@COMPACTS
@pytest.mark.requirements("SVC-005", "TL-051")
@pytest.mark.parametrize("first", ["slow", "quick"])
def test_two_executors_of_one_plan(engine: Client, new_uri: NewUri, first: str) -> None:
    """SVC-005: one stores its files and pauses, another one executes the same plan; then both finish, in either order
    (invariants 4 and 19).
    """
    table, plan = table_with_planned_compaction(engine, new_uri())
    ended = []
    for worker in ("slow", "quick"):
        if table.start_service(worker, table.call("compaction", "execute", plan)):
            ended.append(worker)
    for worker in sorted(ended, key=lambda name: name != first):
        table.finish_service(worker)
    check_executed_once(table, plan)


@PAUSES
@MOR
@COMPACTS
@pytest.mark.requirements("NBC-002", "NBC-003", "OCC-015")
def test_a_log_that_was_pending_when_a_compaction_was_planned(engine: Client, new_uri: NewUri) -> None:
    """NBC-002: the only writer of a table completes before a concurrent compaction is executed: its change is read once, in one
    of the slices (invariants 14 and 15).
    """
    table = ConcurrentTable(engine, new_uri()).create("MERGE_ON_READ")
    table.write({"a": "in a log"})
    alone = {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}
    assert table.begin("writer", {"a": "later", "b": "later"}, options=alone)
    plan = table.schedule("compaction")
    table.finish("writer")
    table.check("the writer has ended")
    table.run("compaction", "execute", plan)
    check_executed_once(table, plan)


@PAUSES
@SERVICES
@BOTH_TYPES
@pytest.mark.needs("service.clustering")
@pytest.mark.parametrize("first", ["writer", "clustering"])
@pytest.mark.requirements("SVC-009", "OCC-016")
def test_a_running_clustering_conflicts_with_a_write(engine: Client, new_uri: NewUri, type: str, first: str) -> None:
    """OCC-016: a writer has stored its files, a clustering of the file group is planned and stores its own; both finish
    (invariant 21).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("writer", {"a": "written"})
    plan = table.schedule("clustering")
    table.start_service("clustering", table.call("clustering", "execute", plan))
    ends = {"writer": table.finish, "clustering": table.finish_service}
    done = [ends[name](name) for name in sorted(ends, key=lambda name: name != first)]
    assert any(done)
    table.check("both have ended")


@PAUSES
@SERVICES
@MOR
@pytest.mark.needs("service.compaction", "service.log-compaction", "service.rollback")
@pytest.mark.requirements("SVC-005", "TL-050")
@pytest.mark.parametrize("service", ["compaction", "log-compaction"])
def test_an_execution_that_was_rolled_back_and_begun_again(engine: Client, new_uri: NewUri, service: Service) -> None:
    """TL-050: an executor stores its files and pauses, this execution is rolled back, and another one of the same plan begins:
    the inflight file is there again, the files are not. The first one continues: the action completes with all its files, or
    not at all.
    """
    table = table_with_logs(engine, new_uri())
    plan = table.schedule(service)
    table.start_service("slow", table.call(service, "execute", plan))
    (inflight,) = (table_folder(table.uri) / ".hoodie" / "timeline").glob(f"{plan}.*inflight")
    begun = inflight.read_bytes()
    table.run("rollback", instant=plan)
    inflight.write_bytes(begun)
    table.finish_service("slow")
    table.check_published(plan, "commit" if service == "compaction" else "deltacommit")
    table.check("the first one has ended")


@PAUSES
@MOR
@pytest.mark.needs("service.log-compaction")
@pytest.mark.requirements("LCP-005", "LCP-003")
def test_compacted_blocks_keep_their_order(engine: Client, new_uri: NewUri) -> None:
    """LCP-005: old logs are compacted while a newer one is pending: in either order of storing, the newer one wins (invariant
    20).
    """
    table = table_with_logs(engine, new_uri())
    table.begin("writer", {"a": "late"})
    plan = table.schedule("log-compaction")
    table.finish("writer")
    table.run("log-compaction", "execute", plan)
    table.check("the log compaction has ended")


@PAUSES
@SERVICES
@MOR
@pytest.mark.needs("service.log-compaction")
@pytest.mark.requirements("LCP-005", "SVC-005")
def test_a_crashed_log_compaction_changes_nothing(engine: Client, new_uri: NewUri) -> None:
    """LCP-005: a crashed log compaction whose files exist changes no row, and it is executed, or planned, again
    (invariant 16).
    """
    table = table_with_logs(engine, new_uri())
    plan = table.schedule("log-compaction")
    table.start_service("crashed", table.call("log-compaction", "execute", plan))
    table.check("its files are there")
    table.run("log-compaction", "execute", plan)
    table.check("it was carried out again")
    table.write({"a": "new"})
    table.run("log-compaction")
    table.check("another one was planned")


@PAUSES
@BOTH_TYPES
@RESTORES
@pytest.mark.requirements("TL-023")
def test_a_restore_removes_writes_completed_after_the_savepoint(engine: Client, new_uri: NewUri, type: str) -> None:
    """TL-023: a writer began before the savepointed write and completed after it, so that the savepoint does not contain it
    (invariant 31).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    assert table.begin("early", {"a": "completed late"})
    saved = table.write({"c": "saved"})
    rows = dict(table.rows)
    assert table.run("savepoint", instant=saved)
    assert table.finish("early")
    table.write({"c": "after"})
    if table.run("restore", instant=saved):
        table.rows = rows
    table.check("the restore has ended")


@PAUSES
@BOTH_TYPES
@RESTORES
@pytest.mark.parametrize("began", ["before", "after"])
@pytest.mark.requirements("TL-023", "TL-051", "OCC-019")
def test_a_writer_completes_after_a_restore(engine: Client, new_uri: NewUri, type: str, began: str) -> None:
    """TL-023: a writer that began before or after the savepoint may complete after the restore, but no removed row is readable
    again (invariant 32).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    if began == "before":
        assert table.begin("slow", {"a": "slow"})
    saved = table.write({"c": "saved"})
    rows = dict(table.rows)
    assert table.run("savepoint", instant=saved)
    table.write({"c": "removed"})
    if began == "after":
        table.write({"b": "removed"})
        assert table.begin("slow", {"a": "slow"})
    if table.run("restore", instant=saved):
        table.rows = rows
    table.finish("slow")
    table.check("the slow writer has ended")
    table.write({"b": "next"})
    table.check("the next writer has completed")


@PAUSES
@SERVICES
@RESTORES
@BOTH_TYPES
@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("TL-023", "SVC-006")
def test_a_clustering_removed_by_a_restore_stays_removed(engine: Client, new_uri: NewUri, type: str) -> None:
    """TL-023: a clustering that completed after the savepoint is removed by the restore, and its file groups can be written
    again (invariant 31).
    """
    table = ConcurrentTable(engine, new_uri()).create(type)
    saved = table.write({"c": "saved"})
    assert table.run("savepoint", instant=saved)
    assert table.run("clustering")
    assert table.run("restore", instant=saved)
    table.check("the restore has ended")
    table.write({"a": "next"})
    table.check("the next writer has completed")


CLEANS = pytest.mark.needs("service.clean", "service.savepoint", "read.as-of", "copy-on-write")


def table_with_planned_clean(engine: Client, uri: str) -> tuple[ConcurrentTable, str, list[dict[str, object]]]:
    """Return a table whose older slices a clean deletes, an instant that needs one of them, and its rows."""
    table = ConcurrentTable(engine, uri).create("COPY_ON_WRITE")
    saved = table.write({"a": "old"})
    rows = read_as_of(engine, table.uri, saved)
    for number in range(3):
        table.write({"a": f"new {number}"})
    return table, saved, rows


@PAUSES
@CLEANS
@pytest.mark.needs("pause.planned")
@pytest.mark.requirements("SVC-002", "TL-021")
def test_a_savepoint_between_plan_and_publication_of_a_clean(engine: Client, new_uri: NewUri) -> None:
    """TL-021: either there is no savepoint, or the files that it protects exist (invariant 24)."""
    table, saved, rows = table_with_planned_clean(engine, new_uri())
    table.start_service("clean", table.call("clean", "schedule", options=keep_commits(1)), "planned")
    has_savepoint = table.run("savepoint", instant=saved)
    table.finish_service("clean")
    table.run("clean")
    if has_savepoint:
        table.run("restore", instant=saved)
        assert table.values() == [(found["id"], found["value"]) for found in rows], "the rows are not those of the savepoint"
    else:
        table.check("there is no savepoint")


@PAUSES
@CLEANS
@pytest.mark.needs("service.restore")
@pytest.mark.requirements("TL-021", "CLN-002")
@pytest.mark.parametrize("policy", ["commits", "versions"])
def test_a_savepoint_during_a_planned_clean(engine: Client, new_uri: NewUri, policy: str) -> None:
    """CLN-002: a state whose files the plan deletes gets no savepoint, or its files are kept; other states can be savepointed
    (invariant 24).
    """
    table, saved, rows = table_with_planned_clean(engine, new_uri())
    keep = keep_commits(1) if policy == "commits" else keep_versions(1)
    plan = table.schedule("clean", options=keep)
    has_savepoint = table.run("savepoint", instant=saved)
    newest = table.write({"a": "newest"})
    kept = dict(table.rows)
    assert table.engine.service(table.uri, "savepoint", instant=newest) is not None
    table.run("clean", "execute", plan)
    table.check("the clean has ended")
    if has_savepoint:
        assert read_as_of(engine, table.uri, saved) == rows
    for number in range(3):
        table.write({"a": f"later {number}"})
    table.run("clean", options=keep)
    assert table.run("restore", instant=newest), "the savepointed state was not restored"
    table.rows = kept
    table.check("back at the newer savepoint")
