"""Services that are paused beside writers and beside each other, step by step: schedules on which deployed engines were seen to
lose updates or files.

The engine under test executes all of them. Each case gives the order of the steps; the expected result follows from the
property in `concurrent_table`.
"""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.concurrent_table import HALTS, NewUri, Stage
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.tables_under_services import as_of, keep_commits, keep_versions

SERVICES = pytest.mark.needs("halt.service")
MOR = pytest.mark.needs("merge-on-read")
COMPACTS = pytest.mark.needs("service.compaction", "service.clean")
RESTORES = pytest.mark.needs("service.savepoint", "service.restore")


@HALTS
@SERVICES
@BOTH_TYPES
@pytest.mark.needs("service.rollback")
@pytest.mark.parametrize("mode", ["OPTIMISTIC_CONCURRENCY_CONTROL", "SINGLE_WRITER"])
@pytest.mark.requirements("TL-019", "TL-030")
def test_a_writer_completes_while_it_is_rolled_back(engine: Client, new_uri: NewUri, type: str, mode: str) -> None:
    """The plan of the rollback is published, the writer completes, the rollback continues: either the write is rolled back and
    its writer gets an error, or it stays (invariants 13 and 29).
    """
    stage = Stage(engine, new_uri()).set(type)
    policy = "LAZY" if mode.startswith("OPTIMISTIC") else "EAGER"  # with a heartbeat, or without one
    options = {"hoodie.write.concurrency.mode": mode, "hoodie.clean.failed.writes.policy": policy}
    instant = stage.begins("writer", {"a": "written"}, options=options)
    assert instant is not None
    stage.starts("rollback", stage.call("rollback", instant=instant), "requested")
    stage.ends("writer")
    stage.finishes("rollback")
    stage.check("both have ended")


def with_logs(engine: Client, uri: str) -> Stage:
    """Return a table with three logs in one file group."""
    stage = Stage(engine, uri).set("MERGE_ON_READ")
    for number in range(3):
        stage.writes({"a": f"old {number}"})
    return stage


def compacting(engine: Client, uri: str) -> tuple[Stage, str]:
    """Return a table with logs, and the requested time of a planned compaction."""
    stage = Stage(engine, uri).set("MERGE_ON_READ")
    stage.writes({"a": "in a log"})
    return stage, stage.planned("compaction")


def settled(stage: Stage, plan: str) -> None:
    """Check that the plan was executed once, its files exist, and the rows do not need older ones."""
    stage.check("the executors have ended")
    stage.check_published(plan, "commit")
    stage.runs("clean", options=keep_versions(1))
    stage.check("older slices were cleaned")


@HALTS
@SERVICES
@MOR
@COMPACTS
@pytest.mark.requirements("SVC-005", "TL-051")
@pytest.mark.parametrize("first", ["slow", "quick"])
def test_two_executors_of_one_plan(engine: Client, new_uri: NewUri, first: str) -> None:
    """One stores its files and pauses, another one executes the same plan; then both finish, in either order (invariants 4 and
    19).
    """
    stage, plan = compacting(engine, new_uri())
    ended = []
    for worker in ("slow", "quick"):
        if stage.starts(worker, stage.call("compaction", "execute", plan)):
            ended.append(worker)
    for worker in sorted(ended, key=lambda name: name != first):
        stage.finishes(worker)
    settled(stage, plan)


@HALTS
@MOR
@COMPACTS
@pytest.mark.requirements("NBC-002", "NBC-003", "OCC-015")
def test_a_log_that_was_pending_when_a_compaction_was_planned(engine: Client, new_uri: NewUri) -> None:
    """The only writer of a table completes before a concurrent compaction is executed: its change is read once, in one of the
    slices (invariants 14 and 15).
    """
    stage = Stage(engine, new_uri()).set("MERGE_ON_READ")
    stage.writes({"a": "in a log"})
    alone = {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}
    assert stage.begins("writer", {"a": "later", "b": "later"}, options=alone)
    plan = stage.planned("compaction")
    stage.ends("writer")
    stage.check("the writer has ended")
    stage.runs("compaction", "execute", plan)
    settled(stage, plan)


@HALTS
@SERVICES
@BOTH_TYPES
@pytest.mark.needs("service.clustering")
@pytest.mark.parametrize("first", ["writer", "clustering"])
@pytest.mark.requirements("SVC-009", "OCC-016")
def test_a_running_clustering_conflicts_with_a_write(engine: Client, new_uri: NewUri, type: str, first: str) -> None:
    """A writer has stored its files, a clustering of the file group is planned and stores its own; both finish (invariant
    21).
    """
    stage = Stage(engine, new_uri()).set(type)
    assert stage.begins("writer", {"a": "written"})
    plan = stage.planned("clustering")
    stage.starts("clustering", stage.call("clustering", "execute", plan))
    ends = {"writer": stage.ends, "clustering": stage.finishes}
    done = [ends[name](name) for name in sorted(ends, key=lambda name: name != first)]
    assert any(done)
    stage.check("both have ended")


@HALTS
@MOR
@pytest.mark.needs("service.log-compaction")
@pytest.mark.requirements("LCP-005", "LCP-003")
def test_compacted_blocks_keep_their_order(engine: Client, new_uri: NewUri) -> None:
    """Old logs are compacted while a newer one is pending: in either order of storing, the newer one wins (invariant 20)."""
    stage = with_logs(engine, new_uri())
    stage.begins("writer", {"a": "late"})
    plan = stage.planned("log-compaction")
    stage.ends("writer")
    stage.runs("log-compaction", "execute", plan)
    stage.check("the log compaction has ended")


@HALTS
@SERVICES
@MOR
@pytest.mark.needs("service.log-compaction")
@pytest.mark.requirements("LCP-005", "SVC-005")
def test_a_crashed_log_compaction_changes_nothing(engine: Client, new_uri: NewUri) -> None:
    """Its files exist, and it is executed, or planned, once more (invariant 16)."""
    stage = with_logs(engine, new_uri())
    plan = stage.planned("log-compaction")
    stage.starts("crashed", stage.call("log-compaction", "execute", plan))
    stage.check("its files are there")
    stage.runs("log-compaction", "execute", plan)
    stage.check("it was carried out again")
    stage.writes({"a": "new"})
    stage.runs("log-compaction")
    stage.check("another one was planned")


@HALTS
@BOTH_TYPES
@RESTORES
@pytest.mark.requirements("TL-023")
def test_a_restore_removes_writes_completed_after_the_savepoint(engine: Client, new_uri: NewUri, type: str) -> None:
    """A writer began before the savepointed write and completed after it, so that the savepoint does not contain it (invariant
    31).
    """
    stage = Stage(engine, new_uri()).set(type)
    assert stage.begins("early", {"a": "completed late"})
    saved = stage.writes({"c": "saved"})
    rows = dict(stage.rows)
    assert stage.runs("savepoint", instant=saved)
    assert stage.ends("early")
    stage.writes({"c": "after"})
    if stage.runs("restore", instant=saved):
        stage.rows = rows
    stage.check("the restore has ended")


@HALTS
@BOTH_TYPES
@RESTORES
@pytest.mark.parametrize("began", ["before", "after"])
@pytest.mark.requirements("TL-023", "TL-051", "OCC-019")
def test_a_writer_completes_after_a_restore(engine: Client, new_uri: NewUri, type: str, began: str) -> None:
    """It began before or after the savepoint. It may complete, but no removed row is readable again (invariant 32)."""
    stage = Stage(engine, new_uri()).set(type)
    if began == "before":
        assert stage.begins("slow", {"a": "slow"})
    saved = stage.writes({"c": "saved"})
    rows = dict(stage.rows)
    assert stage.runs("savepoint", instant=saved)
    stage.writes({"c": "removed"})
    if began == "after":
        stage.writes({"b": "removed"})
        assert stage.begins("slow", {"a": "slow"})
    if stage.runs("restore", instant=saved):
        stage.rows = rows
    stage.ends("slow")
    stage.check("the slow writer has ended")
    stage.writes({"b": "next"})
    stage.check("the next writer has completed")


@HALTS
@SERVICES
@RESTORES
@BOTH_TYPES
@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("TL-023", "SVC-006")
def test_a_clustering_removed_by_a_restore_stays_removed(engine: Client, new_uri: NewUri, type: str) -> None:
    """It completed after the savepoint. After the restore its file groups can be written again (invariant 31)."""
    stage = Stage(engine, new_uri()).set(type)
    saved = stage.writes({"c": "saved"})
    assert stage.runs("savepoint", instant=saved)
    assert stage.runs("clustering")
    assert stage.runs("restore", instant=saved)
    stage.check("the restore has ended")
    stage.writes({"a": "next"})
    stage.check("the next writer has completed")


CLEANS = pytest.mark.needs("service.clean", "service.savepoint", "read.as-of", "copy-on-write")


def cleaning(engine: Client, uri: str) -> tuple[Stage, str, list[dict[str, object]]]:
    """Return a table whose older slices a clean deletes, an instant that needs one of them, and its rows."""
    stage = Stage(engine, uri).set("COPY_ON_WRITE")
    saved = stage.writes({"a": "old"})
    rows = as_of(engine, stage.uri, saved)
    for number in range(3):
        stage.writes({"a": f"new {number}"})
    return stage, saved, rows


@HALTS
@CLEANS
@pytest.mark.needs("halt.planned")
@pytest.mark.requirements("SVC-002", "TL-021")
def test_a_savepoint_between_plan_and_publication_of_a_clean(engine: Client, new_uri: NewUri) -> None:
    """Either there is no savepoint, or the files that it protects exist (invariant 24)."""
    stage, saved, rows = cleaning(engine, new_uri())
    stage.starts("clean", stage.call("clean", "schedule", options=keep_commits(1)), "planned")
    has_savepoint = stage.runs("savepoint", instant=saved)
    stage.finishes("clean")
    stage.runs("clean")
    if has_savepoint:
        stage.runs("restore", instant=saved)
        assert stage.values() == [(found["id"], found["value"]) for found in rows], "the state of the savepoint"
    else:
        stage.check("there is no savepoint")


@HALTS
@CLEANS
@pytest.mark.needs("service.restore")
@pytest.mark.requirements("TL-021", "CLN-002")
@pytest.mark.parametrize("policy", ["commits", "versions"])
def test_a_savepoint_during_a_planned_clean(engine: Client, new_uri: NewUri, policy: str) -> None:
    """A state whose files the plan deletes gets no savepoint, or its files are kept; other states can be savepointed (invariant
    24).
    """
    stage, saved, rows = cleaning(engine, new_uri())
    keep = keep_commits(1) if policy == "commits" else keep_versions(1)
    plan = stage.planned("clean", options=keep)
    has_savepoint = stage.runs("savepoint", instant=saved)
    newest = stage.writes({"a": "newest"})
    kept = dict(stage.rows)
    assert stage.engine.service(stage.uri, "savepoint", instant=newest) is not None
    stage.runs("clean", "execute", plan)
    stage.check("the clean has ended")
    if has_savepoint:
        assert as_of(engine, stage.uri, saved) == rows
    for number in range(3):
        stage.writes({"a": f"later {number}"})
    stage.runs("clean", options=keep)
    assert stage.runs("restore", instant=newest), "a savepointed state can be restored"
    stage.rows = kept
    stage.check("back at the newer savepoint")
