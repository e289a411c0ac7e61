"""Restore: resets the table to an instant and deletes what was written later, spec "Timeline > Actions".

    restore.requested   the plan: the writes to roll back, newest first
    restore.inflight
    each write          hidden, its files deleted, then removed from the timeline, as in a rollback but without one
    rollbacks           between the target and the restore are removed
    restore.completed

A write is later if it had not completed when the instant did, so that the rows are those that a reader saw then. After a crash
at any point the table is in the state after one of the writes in between, and a restore to the same instant continues the
plan.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_reference.errors import CannotUndo
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.plan_execution import (
    Plan,
    PlanExecution,
    carry_out,
    checked_plan,
    fields_of_plan,
    files_by_instant,
    hold_for_planning,
    pending_of,
)
from hudi_reference.services.planning.rollback_validation import check_state_complete
from hudi_reference.services.rollback.plan_check import check_restore_plan
from hudi_reference.services.rollback.records import RollbackPlan, rollback_record
from hudi_reference.services.rollback.rollback import (
    check_not_savepointed,
    check_own_files,
    files_of,
    forget_action,
    remove_action,
)
from hudi_reference.timeline.active import Timeline, completion_order
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS, State
from hudi_reference.write.preconditions import check_indexes_maintained


@dataclass(frozen=True)
class RestorePlan:
    """A plan: (requested time, action) of each write to roll back, newest first. `requested` is None before it is published."""

    target: str
    writes: tuple[tuple[str, str], ...]
    requested: str | None = None


@implements("TL-023", "TL-024", "TL-029")
def restore(table: Table, instant: str) -> str | None:
    """Restore the table to the commit that was requested at `instant`.

    Concurrent writers abort, because their actions are removed.

    Returns:
        The requested time of the restore; None if nothing is later than that commit.

    Raises:
        CannotUndo: the restore is not possible. Nothing has changed.
    """
    requested = schedule_restore(table, instant)
    return None if requested is None else execute_restore(table, requested)


def schedule_restore(table: Table, instant: str) -> str | None:
    """Publish a plan, unless one is pending; its requested time, None if there is nothing to roll back."""
    with hold_for_planning(table) as publish:
        plan = plan_restore(table, instant)
        if plan.requested is not None or not plan.writes:
            return plan.requested
        record = {
            "instantsToRollback": _instant_records(plan.writes),
            "version": 2,
            "savepointToRestoreTimestamp": plan.target,
        }
        return publish("restore", record)


@implements("TL-023")
def plan_restore(table: Table, instant: str) -> RestorePlan:
    """The plan of a restore to that instant: the pending one, or the one that would be made now. Changes nothing.

    Raises CannotUndo, and UnsupportedTableFeature for writes of table version 6 to logs, and for indexes that are not
    maintained here.
    """
    check_indexes_maintained(table)
    timeline = table.timeline
    for pending in pending_of(timeline, "restore"):
        plan = _plan_of(pending.requested, checked_plan(RestoreExecution(table, pending.requested)))
        return _pending_plan(plan, instant)
    commit = next((found for found in timeline.commits if found.requested == instant), None)
    if commit is None:
        raise CannotUndo("no completed commit on the active timeline", rule="TL-023", found=instant)
    _check_later_active(timeline, commit)
    later = sorted(_writes_to_roll_back(table, timeline, commit), key=completion_order, reverse=True)
    check_not_savepointed(timeline, later)
    for found in later:
        check_own_files(table, found)
    check_state_complete(table, timeline, later)
    return RestorePlan(instant, tuple((found.requested, found.action) for found in later))


def _check_later_active(timeline: Timeline, commit: Instant) -> None:
    """Raises CannotUndo if a write after the commit is archived: its files would stay, and with them its rows."""
    completion, active = commit.completion or commit.requested, {found.identity for found in timeline.instants}
    for found in timeline.archived.completed(completion):
        if found.action in COMMITS and found.identity not in active and (found.completion or found.requested) > completion:
            raise CannotUndo(
                "a later write is archived, and cannot be rolled back", rule="TL-023",
                expected="all writes after the savepoint on the active timeline", found=found.requested,
                remedy="read the table as of the savepoint, and write these rows",
            )  # fmt: skip


def files_of_restore(table: Table, plan: RestorePlan) -> tuple[str, ...]:
    """The paths of the data files that a restore deletes. Changes nothing."""
    times, files = {time for time, _ in plan.writes}, files_by_instant(table)
    return tuple(path for write in table.timeline.writes if write.requested in times for path in files.get(write.requested, ()))


def _pending_plan(plan: RestorePlan, instant: str) -> RestorePlan:
    """The plan of the pending restore. Raises CannotUndo if it has another target."""
    if plan.target != instant:
        raise CannotUndo(
            "another restore is pending", rule="TL-023", expected=f"a restore to {instant}", found=f"one to {plan.target}",
            remedy="execute the pending restore first",
        )  # fmt: skip
    return plan


@implements("TL-023")
def _writes_to_roll_back(table: Table, timeline: Timeline, commit: Instant) -> Iterator[Instant]:
    """The writes, in any state, that had not completed when the commit did.

    A compaction that was planned before the commit is kept: it changes no rows, and completed log files belong to its slice.
    """
    completion = commit.completion or commit.requested
    for found in timeline.writes:
        if found.state is State.COMPLETED and (found.completion or found.requested) <= completion:
            continue
        if found.requested > commit.requested or not _is_compaction(table, found):
            yield found


def _is_compaction(table: Table, found: Instant) -> bool:
    if found.state is not State.COMPLETED:
        return found.action == "compaction"
    return load_commit(table.storage, table.properties, found).operation == "COMPACT"


def execute_restore(table: Table, requested: str) -> str:
    """Execute the plan with that requested time, from the beginning or after an execution that did not complete."""
    return carry_out(RestoreExecution(table, requested))


class RestoreExecution(PlanExecution):
    """One execution of a restore plan."""

    action = "restore"

    def check_plan(self, plan: Plan) -> None:
        """Raise UnsafePlan if the plan would remove what must stay."""
        known = _plan_of(self.requested, plan)
        times = {time for time, _ in known.writes}
        check_restore_plan(self.table, self.requested, known.target, times)
        for found in self.table.timeline.writes:
            if found.requested in times:
                check_own_files(self.table, found)

    def work(self, plan: Plan) -> Plan:
        """Remove the writes of the plan with their files, then the rollbacks that are later than the target."""
        table, restore_plan, started = self.table, _plan_of(self.requested, plan), self.table.clock.now()
        files, writes = files_by_instant(table), {found.requested: found for found in table.timeline.writes}
        removed = {
            time: [self._remove_write(RollbackPlan(time, action, files.get(time, ()), self.requested), writes.get(time))]
            for time, action in _newest_first(restore_plan.writes, writes)
        }
        for found in table.timeline.instants:
            if found.action == "rollback" and restore_plan.target < found.requested < self.requested:
                forget_action(table, found.requested, "rollback")
        return {
            "startRestoreTime": self.requested,
            "timeTakenInMillis": table.clock.now() - started,
            "instantsToRollback": list(removed),
            "hoodieRestoreMetadata": removed,
            "version": 1,
            "restoreInstantInfo": _instant_records(restore_plan.writes),
        }

    def _remove_write(self, removed: RollbackPlan, found: Instant | None) -> dict[str, Any]:
        """Remove a write and its files; the rollback metadata of it. `found` is None if nothing of it was on the timeline."""
        if found is None:
            removed = replace(removed, files=())
        elif found.state is not State.COMPLETED:  # its writer may have stored more files since
            removed = replace(removed, files=files_of(self.table, found))
        else:
            check_own_files(self.table, found)
        remove_action(self.table, removed.target, removed.files)
        return rollback_record(self.table, removed, 0)


@implements("TL-023")
def _newest_first(planned: Iterable[tuple[str, str]], found: Mapping[str, Instant]) -> list[tuple[str, str]]:
    """The writes of a plan, each once, in the order in which they are removed, whatever the order in the plan.

    After each removal the rows are those of a committed state. `found` lacks the writes that an earlier execution has removed.
    """
    orders: Mapping[str, tuple[Any, ...]] = {time: completion_order(instant) for time, instant in found.items()}
    return sorted(dict(planned).items(), key=lambda one: orders.get(one[0], ()), reverse=True)


def _plan_of(requested: str, record: Plan) -> RestorePlan:
    with fields_of_plan("restore", requested):
        writes = tuple((write["commitTime"], write["action"]) for write in record["instantsToRollback"])
    return RestorePlan(record.get("savepointToRestoreTimestamp") or "", writes, requested)


def _instant_records(writes: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"commitTime": time, "action": action} for time, action in writes]
