"""Restore: the table goes back to an instant, and what was written later is deleted, spec "Timeline > Actions".

    restore.requested   the plan: the writes to undo, newest first
    restore.inflight
    each write          hidden, its files deleted, then removed from the timeline, as in a rollback but without one
    rollbacks           of the time that is undone are removed
    restore.completed

Later is what had not completed when the instant did, so that the rows are those that a reader saw then. Wherever the process
dies, the table is as one of the writes in between left it, and whoever restores to the same instant goes on with the plan.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hudi_reference.errors import CannotUndo
from hudi_reference.query.file_groups import load_commit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.maintained_indexes import check_indexes_maintained
from hudi_reference.services.planning.plan_execution import Plan, carry_out, pending_of, planning, read_plan
from hudi_reference.services.planning.rollback_validation import check_left
from hudi_reference.services.rollback.rollback import (
    RollbackPlan,
    check_not_savepointed,
    check_own_files,
    files_of,
    remove_files_of,
    rollback_record,
    undo,
)
from hudi_reference.timeline.active import Timeline, completion_order
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State


@dataclass(frozen=True)
class RestorePlan:
    """What a restore is to do: (requested time, action) of each write to undo, newest first. `requested` is None before it is
    published.
    """

    target: str
    writes: tuple[tuple[str, str], ...]
    requested: str | None = None


@implements("TL-023", "TL-024", "TL-029")
def restore(table: Table, instant: str) -> str | None:
    """Take the table back to the commit that was requested at `instant`; the restore's requested time.

    None if nothing is later than that commit. Writers that run meanwhile find their actions gone. Raises CannotUndo, and then
    nothing has changed.
    """
    requested = schedule_restore(table, instant)
    return None if requested is None else execute_restore(table, requested)


def schedule_restore(table: Table, instant: str) -> str | None:
    """Publish the plan; its requested time, None if there is nothing to undo. The plan that is there if there is one."""
    with planning(table) as publish:
        plan = plan_restore(table, instant)
        if plan.requested is not None or not plan.writes:
            return plan.requested
        record = {
            "instantsToRollback": _named(plan.writes),
            "version": 2,
            "savepointToRestoreTimestamp": plan.target,
        }
        return publish("restore", record)


@implements("TL-023")
def plan_restore(table: Table, instant: str) -> RestorePlan:
    """What a restore to that instant would undo, or is undoing already. Changes nothing.

    Raises CannotUndo, and UnsupportedTableFeature for writes of table version 6 to logs, and for indexes that are not
    maintained here.
    """
    check_indexes_maintained(table)
    timeline = table.timeline
    for pending in pending_of(timeline, "restore"):
        return _under_way(_plan_of(pending.requested, read_plan(table, "restore", pending.requested)), instant)
    commit = next((found for found in timeline.commits if found.requested == instant), None)
    if commit is None:
        raise CannotUndo("no completed commit on the active timeline", rule="TL-023", found=instant)
    later = sorted(_later(table, timeline, commit), key=completion_order, reverse=True)
    check_not_savepointed(timeline, later)
    for found in later:
        check_own_files(table, found)
    check_left(table, timeline, later)
    return RestorePlan(instant, tuple((found.requested, found.action) for found in later))


def _under_way(plan: RestorePlan, instant: str) -> RestorePlan:
    """The plan of the restore that is under way. Raises CannotUndo if it leads elsewhere."""
    if plan.target != instant:
        raise CannotUndo(
            "another restore is under way", rule="TL-023", expected=f"a restore to {instant}", found=f"one to {plan.target}",
            remedy="finish that one first",
        )  # fmt: skip
    return plan


@implements("TL-023")
def _later(table: Table, timeline: Timeline, commit: Instant) -> Iterator[Instant]:
    """The writes, in any state, that had not completed when the commit did.

    A compaction that was planned before it changes no row, and what completed before needs the slice that it opens: it stays.
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
    """Carry out the plan that was requested then, from the beginning or from where somebody else stopped."""

    def work(record: Plan) -> Plan:
        plan, started, undone = _plan_of(requested, record), table.clock.now(), {}
        for time, action in plan.writes:
            found = next((write for write in table.timeline.writes if write.requested == time), None)
            files = () if found is None else files_of(table, found)
            undo(table, time, files)
            undone[time] = [rollback_record(table, RollbackPlan(time, action, files, requested), 0)]
        for found in table.timeline.instants:
            if found.action == "rollback" and plan.target < found.requested < requested:
                remove_files_of(table, found.requested, "rollback")
        return {
            "startRestoreTime": requested,
            "timeTakenInMillis": table.clock.now() - started,
            "instantsToRollback": [time for time, _ in plan.writes],
            "hoodieRestoreMetadata": undone,
            "version": 1,
            "restoreInstantInfo": _named(plan.writes),
        }

    return carry_out(table, "restore", requested, work)


def _plan_of(requested: str, record: Plan) -> RestorePlan:
    writes = tuple((write["commitTime"], write["action"]) for write in record["instantsToRollback"])
    return RestorePlan(record.get("savepointToRestoreTimestamp") or "", writes, requested)


def _named(writes: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"commitTime": time, "action": action} for time, action in writes]
