"""Rollbacks and restores that are refused, or that come too late: they leave the timeline as it is, and no plan."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.actions_by_hand import edit_plan
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.concurrent.pending_writes import (
    SEVERAL_WRITERS,
    PendingWrite,
    begin_write,
    complete_unchecked,
    send_heartbeat,
)
from hudi_conformance.suite.support.programs.write_programs import as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    Known,
    create_updated_table,
    data_file_names,
    instant_files,
    pending_actions,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import open_table
from hudi_reference.services.rollback.restore import schedule_restore
from hudi_reference.services.rollback.rollback import schedule_rollback

NewUri = Callable[[], str]
ROLLBACKS = pytest.mark.needs(*WRITES, "service.rollback", "copy-on-write", "inspect.table")
SAVEPOINTS = pytest.mark.needs("service.savepoint")
RESTORES = pytest.mark.needs(*WRITES, "service.savepoint", "service.restore", "copy-on-write", "inspect.table")
SINGLE_WRITER = {"hoodie.clean.failed.writes.policy": "EAGER"}


def write_overlapping(engine: Client, uri: str) -> tuple[str, str]:
    """Write once while an earlier write is pending, which then completes; the instants of the earlier and the later one."""
    slow = begin_write(uri, (row("c", 90, "slow", "rio"),))
    send_heartbeat(uri, slow.instant)
    short = engine.write(uri, "upsert", as_arrow([row("b", 50, "short")]), options=SEVERAL_WRITERS)
    slow.complete()
    return slow.instant, short


def expect_refused_or_done(engine: Client, table: Known, service: Service, instant: str, removed: set[str]) -> None:
    """Check that the service removes the rows with these values, or is refused and changes neither files nor timeline.

    In both cases nothing is pending, and the next writer, which rolls back failed writes, finds nothing to roll back.
    """
    rows, files, timeline = read_snapshot(engine, table.uri), data_file_names(table.uri), instant_files(table.uri)
    is_refused = False
    try:
        engine.service(table.uri, service, instant=instant)
    except ContractError:
        is_refused = True
    assert pending_actions(engine, table.uri) == [], "a plan was left"
    if is_refused:
        assert (data_file_names(table.uri), instant_files(table.uri)) == (files, timeline)
        assert read_snapshot(engine, table.uri) == rows
    else:
        assert removed.isdisjoint(found["value"] for found in read_snapshot(engine, table.uri))
    engine.write(table.uri, "upsert", as_arrow([row("d", 1, "next")]), options=SINGLE_WRITER)
    kept = {found["value"] for found in rows} - removed if not is_refused else {found["value"] for found in rows}
    assert kept | {"next"} <= {found["value"] for found in read_snapshot(engine, table.uri)}


@ROLLBACKS
@pytest.mark.requirements("TL-019", "TL-020")
def test_a_refused_rollback_of_an_older_commit_leaves_no_plan(engine: Client, new_uri: NewUri) -> None:
    """TL-019: a commit with a later one is not rolled back. The refusal publishes no plan: a later process would execute it."""
    table = create_updated_table(engine, new_uri(), 3)
    expect_refused_or_done(engine, table, "rollback", table.instants[1], {"update 2"})


@ROLLBACKS
@SAVEPOINTS
@pytest.mark.requirements("TL-021", "TL-020")
def test_a_refused_rollback_of_a_savepointed_commit_leaves_no_plan(engine: Client, new_uri: NewUri) -> None:
    """TL-021: a commit with a savepoint is not rolled back, and the refusal publishes no plan."""
    table = create_updated_table(engine, new_uri(), 2)
    engine.service(table.uri, "savepoint", instant=table.instants[-1])
    rows = read_snapshot(engine, table.uri)
    expect_refused_or_done(engine, table, "rollback", table.instants[-1], set())
    assert read_snapshot(engine, table.uri)[:3] == rows


@ROLLBACKS
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.requirements("TL-019", "TL-020")
def test_the_rollback_of_one_of_two_overlapping_writes(engine: Client, new_uri: NewUri, first: bool) -> None:
    """TL-019: a write begins and completes while an earlier one is pending, which completes last. Each of them is newest by
    one of its times: the rollback of one removes it alone, or is refused and leaves no plan.
    """
    table = create_updated_table(engine, new_uri(), 1)
    slow, short = write_overlapping(engine, table.uri)
    expect_refused_or_done(engine, table, "rollback", slow if first else short, {"slow" if first else "short"})


@RESTORES
@pytest.mark.requirements("TL-021", "TL-023")
def test_a_refused_restore_past_a_savepoint_leaves_no_plan(engine: Client, new_uri: NewUri) -> None:
    """TL-021: a restore does not remove a commit with a savepoint, and the refusal publishes no plan."""
    table = create_updated_table(engine, new_uri(), 3)
    for number in (1, 2):
        engine.service(table.uri, "savepoint", instant=table.instants[number])
    rows = read_snapshot(engine, table.uri)
    expect_refused_or_done(engine, table, "restore", table.instants[1], set())
    assert read_snapshot(engine, table.uri)[:3] == rows


def plan_rollback_too_late(engine: Client, uri: str) -> tuple[PendingWrite, str]:
    """Plan the rollback of a write that completes nevertheless: its writer does not look for rollbacks."""
    write = begin_write(uri, (row("a", 90, "late"), row("d", 90, "late and new", "rio")))
    planned = schedule_rollback(open_table(uri), write.instant)
    complete_unchecked(uri, write)
    return write, planned


@ROLLBACKS
@pytest.mark.parametrize("by", ["the plan", "the next writer"])
@pytest.mark.requirements("TL-019", "TL-020", "TL-030")
def test_a_rollback_that_was_planned_too_late_removes_nothing(engine: Client, new_uri: NewUri, by: str) -> None:
    """TL-019: a write seemed to have failed, and its rollback was planned; then its writer completed it. It has not failed:
    whichever process executes the plan leaves all its rows and files, and drops the plan.
    """
    table = create_updated_table(engine, new_uri(), 1)
    write, planned = plan_rollback_too_late(engine, table.uri)
    rows = read_snapshot(engine, table.uri)
    assert [found["value"] for found in rows] == ["late", "x", "x", "late and new"]
    if by == "the plan":
        with pytest.raises(ContractError):
            engine.service(table.uri, "rollback", phase="execute", instant=planned)
    else:
        engine.write(table.uri, "upsert", as_arrow([row("b", 50, "next")]), options=SINGLE_WRITER)
    assert write.files <= data_file_names(table.uri)
    assert pending_actions(engine, table.uri) == []
    found = [one["value"] for one in read_snapshot(engine, table.uri)]
    assert found == ["late", "x" if by == "the plan" else "next", "x", "late and new"]


@RESTORES
@ROLLBACKS
@pytest.mark.parametrize("service", ["rollback", "restore"])
@pytest.mark.requirements("TL-021", "TL-019", "TL-023")
def test_a_commit_that_is_being_removed_is_not_savepointed(engine: Client, new_uri: NewUri, service: Service) -> None:
    """TL-021: the rollback of a commit is planned, or a restore past it. A savepoint of the commit is refused, or keeps it. In
    both cases the table can be written again once the plan was tried.
    """
    table = create_updated_table(engine, new_uri(), 3)
    target, newest = table.instants[-2:]
    plan = open_table(table.uri)
    planned = schedule_rollback(plan, newest) if service == "rollback" else schedule_restore(plan, target)
    is_protected = True
    try:
        engine.service(table.uri, "savepoint", instant=newest)
    except ContractError:
        is_protected = False
    with suppress(ContractError):
        if service == "rollback":
            engine.service(table.uri, "rollback", phase="execute", instant=planned)
        else:
            engine.service(table.uri, "restore", instant=target)
    assert read_snapshot(engine, table.uri) == table.rows[-1 if is_protected else -2]
    engine.write(table.uri, "upsert", as_arrow([row("b", 50, "next")]), options=SINGLE_WRITER)
    assert pending_actions(engine, table.uri) == []
    assert "next" in {found["value"] for found in read_snapshot(engine, table.uri)}


@RESTORES
@pytest.mark.requirements("TL-023", "TL-029")
def test_a_restore_is_not_that_to_another_commit(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a restore to one commit is pending, and a restore to a later one is requested. If it succeeds, the rows are those
    of the later one; if it is refused, they are as they were.
    """
    table = create_updated_table(engine, new_uri(), 4)
    schedule_restore(open_table(table.uri), table.instants[1])
    expected = table.rows[2]
    try:
        engine.service(table.uri, "restore", instant=table.instants[2])
    except ContractError:
        expected = table.rows[-1]
    assert read_snapshot(engine, table.uri) == expected


@RESTORES
@pytest.mark.requirements("TL-024")
def test_a_restore_removes_the_write_that_completed_last_first(engine: Client, new_uri: NewUri) -> None:
    """TL-024: of two writes after the savepoint the earlier one completed last. The plan of the restore names it first, so that
    after a crash in between the rows are those of a moment in the past.
    """
    table = create_updated_table(engine, new_uri(), 2)
    target = table.instants[-1]
    engine.service(table.uri, "savepoint", instant=target)
    slow, short = write_overlapping(engine, table.uri)
    instant = engine.service(table.uri, "restore", instant=target)
    assert instant is not None
    _, plan = read_instant_file(table.uri, instant, "restore.requested")
    assert [write["commitTime"] for write in plan["instantsToRollback"]] == [slow, short]
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@RESTORES
@ROLLBACKS
@pytest.mark.parametrize("service", ["rollback", "restore"])
@pytest.mark.requirements("TL-021", "TL-019", "TL-023")
def test_a_planned_removal_of_a_savepointed_commit(engine: Client, new_uri: NewUri, service: Service) -> None:
    """TL-021: an engine made a savepoint of a commit although its rollback, or a restore past it, was planned. The savepoint
    protects the commit: the process that executes the plan leaves its rows.
    """
    table = create_updated_table(engine, new_uri(), 3)
    target, newest = table.instants[-2:]
    engine.service(table.uri, "savepoint", instant=newest)
    (file,) = (table_folder(table.uri) / ".hoodie" / "timeline").glob(f"{newest}_*.savepoint")
    content = file.read_bytes()
    engine.service(table.uri, "savepoint", instant=newest, options={"delete": "true"})
    opened = open_table(table.uri)
    planned = schedule_rollback(opened, newest) if service == "rollback" else schedule_restore(opened, target)
    (file.parent / f"{newest}.savepoint.inflight").touch()
    file.write_bytes(content)
    with pytest.raises(ContractError):
        if service == "rollback":
            engine.service(table.uri, "rollback", phase="execute", instant=planned)
        else:
            engine.service(table.uri, "restore", instant=target)
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@ROLLBACKS
@pytest.mark.requirements("TL-019")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_rollback_leaves_no_file_of_its_write(engine: Client, new_uri: NewUri) -> None:
    """TL-019: the plan of a rollback leaves out the file of its write. A file that stays would be read again when the active
    timeline begins after the write, because older files without an instant count as committed.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = create_updated_table(engine, new_uri(), 3)
    newest = table.instants[-1]
    planned = schedule_rollback(open_table(table.uri), newest)
    edit_plan(table.uri, f"{planned}.rollback.requested", lambda plan: plan.update(RollbackRequests=[]))
    engine.service(table.uri, "rollback", phase="execute", instant=planned)
    assert [name for name in data_file_names(table.uri) if newest in name] == []
    assert read_snapshot(engine, table.uri) == table.rows[-2]
