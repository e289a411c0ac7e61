"""Rollback: removes a failed write, or the newest completed one, spec "Timeline > Actions".

    rollback.requested      the plan: which instant, and which files it wrote
    rollback.inflight
    the target is hidden    only if it had completed; from here on readers ignore it
    files are deleted       data files, markers, heartbeat
    the target is removed   its inflight file, then its requested file
    rollback.completed

The target is pending, and so invisible, until all its files are deleted. After a crash at any point the rows are those before
the rollback or those after it, and another rollback of the same instant continues the pending plan.
"""

from collections.abc import Iterable
from dataclasses import replace

from hudi_reference.errors import CannotUndo, UnsupportedTableFeature
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.locks import hold_lock, new_owner
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.plan_execution import (
    PLANNED,
    Plan,
    PlanExecution,
    carry_out,
    check_no_logs,
    checked_plan,
    files_by_instant,
    hold_for_planning,
    pending_of,
    rollback_target,
    shares_its_time,
    stored_by,
)
from hudi_reference.services.planning.rollback_validation import check_state_complete
from hudi_reference.services.rollback.plan_check import check_rollback_plan
from hudi_reference.services.rollback.records import RollbackPlan, encode_plan, plan_of, rollback_record
from hudi_reference.timeline.active import Timeline, instants_requested_at
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import ACTIONS, State
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.concurrency.config import Concurrency
from hudi_reference.write.concurrency.heartbeats import Heartbeats, heartbeat_path
from hudi_reference.write.concurrency.markers import remove_markers
from hudi_reference.write.preconditions import check_indexes_maintained


@implements("TL-019", "TL-020", "TL-029", "SVC-005")
def rollback(table: Table, instant: str) -> str:
    """Roll back the write that was requested at `instant`, or continue a pending rollback of it.

    The caller has to know that a pending write has failed: the state inflight does not show it. Of an inflight compaction, log
    compaction or clustering only the execution is rolled back: its plan becomes requested again. The plan of a clustering that
    is not inflight is withdrawn.

    Returns:
        The requested time of the rollback, or of the plan that is requested again.

    Raises:
        CannotUndo: the write must not be rolled back. Nothing has changed.
    """
    attempt = find_attempt(table, instant)
    if attempt is not None:
        return revert_attempt(table, attempt)
    return execute_rollback(table, schedule_rollback(table, instant))


def find_attempt(table: Table, instant: str) -> Instant | None:
    """The inflight execution of a plan that was requested at `instant`, of which a rollback removes the execution only."""
    found = (one for one in table.timeline.pending if one.requested == instant and one.action in PLANNED)
    return next((one for one in found if one.state is State.INFLIGHT), None)


@implements("TL-050", "SVC-006")
def revert_attempt(table: Table, pending: Instant) -> str:
    """Delete the files of an inflight execution of a plan, and make the plan requested again; its requested time.

    The lock is held, so that no process completes the action meanwhile. A completed action is left as it is.
    """
    check_indexes_maintained(table)
    transitions = transitions_of(table)
    with hold_lock(transitions.times.lock, new_owner(f"revert {pending.requested}")):
        if pending in table.timeline.pending:
            for path in stored_files(table, pending):
                table.storage.delete(path)
            transitions.revert(pending)
    return pending.requested


@implements("TL-050", "SVC-009")
def withdraw_clustering(table: Table, requested: str) -> None:
    """Remove the plan of a clustering from the timeline, with the files that executions of it stored; nothing if it is not
    pending.
    """
    with hold_for_planning(table) as publish:
        if not any(found.requested == requested for found in pending_of(table.timeline, "clustering")):
            return
        plan = plan_rollback(table, requested)
        rollback_time = plan.requested or publish("rollback", encode_plan(table, plan))
    execute_rollback(table, rollback_time)


def schedule_rollback(table: Table, instant: str, *, failed: bool = False) -> str:
    """Publish a plan, unless one is pending for the instant; its requested time. Raises CannotUndo.

    With `failed` the caller has found an expired heartbeat: the write is not rolled back if it has completed since.
    """
    with hold_for_planning(table) as publish:
        plan = plan_rollback(table, instant, failed=failed)
        return plan.requested or publish("rollback", encode_plan(table, plan))


@implements("TL-030")
def plan_rollback(table: Table, instant: str, *, failed: bool = False) -> RollbackPlan:
    """The plan of a rollback of that instant: the pending one, or the one that would be made now. Changes nothing.

    Raises CannotUndo, UnsupportedTableFeature, and UnsafePlan for a pending plan that would not be executed.
    """
    check_indexes_maintained(table)
    timeline = table.timeline
    for pending in pending_of(timeline, "rollback"):
        if pending_target(table, pending.requested) == instant:
            plan = checked_plan(RollbackExecution(table, pending.requested))
            return _with_all_files(table, plan_of(pending.requested, plan))
    target = next((found for found in timeline.writes if found.requested == instant), None)
    if target is None or (failed and target.state is State.COMPLETED):
        expected = "a pending one" if failed else None
        raise CannotUndo("no such write on the active timeline", rule="TL-019", expected=expected, found=instant)
    if shares_its_time(table, target.action, instant):
        raise CannotUndo(
            "two actions have this requested time", rule="TL-034", expected="one", found=instant,
            remedy=f"withdraw the plan: hudi-conformance service TABLE withdraw --instant {instant}",
        )  # fmt: skip
    check_not_savepointed(timeline, (target,))
    if target.state is State.COMPLETED:
        _check_newest(timeline, target)
        check_state_complete(table, timeline, (target,))
    else:
        _check_failed(table, target)
    return RollbackPlan(target.requested, target.action, files_of(table, target))


def execute_rollback(table: Table, requested: str) -> str:
    """Execute the plan with that requested time, from the beginning or after an execution that did not complete.

    Raises CannotUndo, and drops the plan, if the write completed before its rollback was planned; UnsafePlan for a plan that
    would remove what must stay.
    """
    check_indexes_maintained(table)
    _drop_if_overtaken(table, requested)
    return carry_out(RollbackExecution(table, requested))


class RollbackExecution(PlanExecution):
    """One execution of a rollback plan."""

    action = "rollback"

    def check_plan(self, plan: Plan) -> None:
        """Raise UnsafePlan if the plan would remove what must stay."""
        known = plan_of(self.requested, plan)
        check_rollback_plan(self.table, self.requested, known.target, known.files)
        if (target := _target_of(self.table, known)) is not None:
            check_own_files(self.table, target)

    def work(self, plan: Plan) -> Plan:
        """Remove the target and its files."""
        rollback_plan, started = _with_all_files(self.table, plan_of(self.requested, plan)), self.table.clock.now()
        remove_action(self.table, rollback_plan.target, rollback_plan.files)
        return rollback_record(self.table, rollback_plan, self.table.clock.now() - started)


@implements("TL-019")
def _with_all_files(table: Table, plan: RollbackPlan) -> RollbackPlan:
    """The plan with the files of its write that it leaves out.

    Such a file would be read again as soon as the active timeline begins after the write: older files without an instant count
    as committed.
    """
    target = _target_of(table, plan)
    own = () if target is None else stored_files(table, target)
    return replace(plan, files=tuple(dict.fromkeys((*plan.files, *own))))


def _target_of(table: Table, plan: RollbackPlan) -> Instant | None:
    """The write that a pending plan rolls back; None if it is removed already, or completed after the plan was made."""
    found = next((write for write in table.timeline.writes if write.requested == plan.target), None)
    return None if found is None or (found.completion or "") > (plan.requested or "") else found


def pending_target(table: Table, requested: str) -> str:
    """The requested time of the write that a pending rollback rolls back."""
    return rollback_target(table, requested)[0]


def _drop_if_overtaken(table: Table, requested: str) -> None:
    target = pending_target(table, requested)
    for found in table.timeline.commits:
        if found.requested == target and (found.completion or "") > requested:
            forget_action(table, requested, "rollback")
            raise CannotUndo(
                "the write completed before it was rolled back", rule="TL-030", path=found.file_name,
                remedy="the plan was dropped; roll the write back again if it is not wanted",
            )  # fmt: skip


@implements("TL-019")
def remove_action(table: Table, target: str, files: Iterable[str]) -> None:
    """Remove an action and its files so that no reader sees a part of it. Files that are missing already are ignored.

    The action is hidden, and later removed from the timeline, under the lock: of two processes that remove it, none restores
    what the other one has removed.
    """
    transitions, owner = transitions_of(table), new_owner(f"remove {target}")
    with hold_lock(transitions.times.lock, owner):
        now = instants_requested_at(table.storage, table.properties, target)
        found = next((instant for instant in now if ACTIONS[instant.action].writes), None)
        if found is not None and found.state is State.COMPLETED:
            found = transitions.withdraw(found)
    for path in files:
        table.storage.delete(path)
    remove_markers(table.storage, target)
    heartbeats_of(table).delete(target)
    if found is not None:
        with hold_lock(transitions.times.lock, owner):
            transitions.remove(found)


def forget_action(table: Table, requested: str, action: str) -> None:
    """Delete the files of an action from the timeline, inflight first and completed last.

    The effect of the action on the table remains.
    """
    folder = table.properties.timeline_folder
    named = ((name, parse_instant_name(name)) for name in table.storage.names(folder) if name.startswith(requested))
    found = [(known.state, name) for name, known in named if known and (known.requested, known.action) == (requested, action)]
    order = (State.INFLIGHT, State.REQUESTED, State.COMPLETED)
    for _, name in sorted(found, key=lambda file: order.index(file[0])):
        table.storage.delete(f"{folder}/{name}")


def files_of(table: Table, target: Instant) -> tuple[str, ...]:
    """The paths of all data files with the instant in their names, also of failed task attempts.

    Raises UnsupportedTableFeature as `check_own_files` does.
    """
    check_own_files(table, target)
    return stored_files(table, target)


def stored_files(table: Table, target: Instant) -> tuple[str, ...]:
    """The paths of the data files that an action stored, whatever else was written to them."""
    if target.state is not State.COMPLETED and shares_its_time(table, target.action, target.requested):
        return ()  # the files are those of a write
    return stored_by(target.action, files_by_instant(table).get(target.requested, ()))


@implements("TL-019", "TL-023")
def check_own_files(table: Table, target: Instant) -> None:
    """Raises UnsupportedTableFeature if an action wrote to log files of other actions, or others to those of a compaction.

    Before table version 8 log files were shared, and a migration keeps them. Such a write cannot be rolled back by deleting
    files (ER-107).
    """
    if target.action == "compaction":
        check_no_logs(table, target)
    if target.state is not State.COMPLETED:
        return
    for path in sorted(load_commit(table.storage, table.properties, target).paths):
        name = parse_data_file_name(split_path(path)[1])
        if name is not None and name.instant != target.requested:
            raise UnsupportedTableFeature(
                "the action wrote to a file of another action, as before table version 8", rule="TL-019", path=path,
                found=target.file_name, remedy="roll such a write back before the table is migrated",
            )  # fmt: skip


def check_not_savepointed(timeline: Timeline, targets: Iterable[Instant]) -> None:
    """Raises CannotUndo if a savepoint protects one of these."""
    savepoints = {instant.requested for instant in timeline.instants if instant.action == "savepoint"}
    for target in targets:
        if target.requested in savepoints:
            raise CannotUndo(
                "a savepoint protects this instant", rule="TL-021", path=target.file_name, expected="no savepoint",
                remedy="delete the savepoint first",
            )  # fmt: skip


def _check_newest(timeline: Timeline, target: Instant) -> None:
    """Raises CannotUndo if a later write exists: it may be based on the target."""
    completion = target.completion or target.requested
    for other in timeline.writes:
        if other.requested > target.requested or (other.completion or "") > completion:
            raise CannotUndo(
                "a later write may be based on this one", rule="TL-019", path=target.file_name, found=other.file_name,
                remedy="roll back the later one first, or restore the table to an earlier instant",
            )  # fmt: skip


@implements("TL-030")
def _check_failed(table: Table, target: Instant) -> None:
    """Raises CannotUndo for a pending compaction, which is executed again, and for a write whose writer is active."""
    if target.action in ("compaction", "logcompaction"):
        raise CannotUndo(
            "a pending plan is executed again, not rolled back", rule="TL-030", path=target.file_name,
            expected="a write", found=target.action,
        )  # fmt: skip
    if heartbeats_of(table).is_active(target.requested):
        raise CannotUndo(
            "the writer of this instant is active", rule="TL-030", path=heartbeat_path(target.requested),
            expected=f"no heartbeat for {heartbeats_of(table).tolerance // 1000} seconds",
            remedy="wait until the write has completed or its heartbeat has expired",
        )  # fmt: skip


def heartbeats_of(table: Table) -> Heartbeats:
    """The heartbeats of the table's writers, on the assumption that they have the settings of this process."""
    return Heartbeats.from_settings(table.storage, table.clock, Concurrency.from_options(table.options))
