"""Rollback: a write that failed, or the newest one that completed, is undone, spec "Timeline > Actions".

    rollback.requested      the plan: which instant, and which files it wrote
    rollback.inflight
    the target is hidden    only if it had completed: from here on no reader sees it
    files are deleted       data files, markers, heartbeat
    the target is removed   its inflight file, then its requested file
    rollback.completed

The target is pending, and so invisible, for as long as any file of it is left: wherever the process dies, the rows are those
before the rollback or those after it, and whoever rolls the same instant back again goes on with the plan that is there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hudi_reference.errors import CannotUndo, UnsupportedTableFeature
from hudi_reference.layout.names import join_path, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.locks import held, new_owner
from hudi_reference.query.file_groups import load_commit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.maintained_indexes import check_indexes_maintained
from hudi_reference.services.planning.plan_execution import (
    PLANNED,
    Plan,
    by_partition,
    carry_out,
    location,
    path_in,
    pending_of,
    planning,
    read_plan,
)
from hudi_reference.services.planning.rollback_validation import check_left
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import State
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.concurrency.config import Concurrency
from hudi_reference.write.concurrency.heartbeats import Heartbeats, heartbeat_path
from hudi_reference.write.concurrency.markers import remove_markers


@dataclass(frozen=True)
class RollbackPlan:
    """What a rollback is to do: the action to undo, and the paths of its files. `requested` is None before it is published."""

    target: str
    action: str
    files: tuple[str, ...]
    requested: str | None = None


@implements("TL-019", "TL-020", "TL-029", "SVC-005")
def rollback(table: Table, instant: str) -> str:
    """Undo the write that was requested at `instant`; the requested time of the rollback.

    The caller has found that a pending write failed: that it is inflight proves nothing. Goes on with a rollback of that
    instant that was begun before. Of a compaction or clustering that was begun the attempt alone is undone: the plan is
    requested again, and its requested time is the answer. The plan of a clustering that was not begun is withdrawn.
    Raises CannotUndo, and then nothing has changed.
    """
    for pending in table.timeline.pending:
        if pending.requested == instant and pending.state is State.INFLIGHT and pending.action in PLANNED:
            return take_back(table, pending)
    return execute_rollback(table, schedule_rollback(table, instant))


@implements("TL-050", "SVC-006")
def take_back(table: Table, pending: Instant) -> str:
    """Undo a half-done attempt at a plan: its files go, and it is requested again. The requested time.

    Under the lock, so that nobody completes it meanwhile; nothing happens to an action that somebody has completed.
    """
    check_indexes_maintained(table)
    transitions = transitions_of(table)
    with held(transitions.times.lock, new_owner(f"take back {pending.requested}")):
        if pending in table.timeline.pending:
            for path in files_of(table, pending):
                table.storage.delete(path)
            transitions.revert(pending)
    return pending.requested


@implements("TL-050", "SVC-009")
def withdraw(table: Table, requested: str) -> None:
    """Take the plan of a clustering off the timeline, with what attempts at it have stored; nothing if it is not pending."""
    with planning(table) as publish:
        if not any(found.requested == requested for found in pending_of(table.timeline, "clustering")):
            return
        plan = plan_rollback(table, requested)
        rolls = plan.requested or publish("rollback", _plan_record(table, plan))
    execute_rollback(table, rolls)


def schedule_rollback(table: Table, instant: str, *, failed: bool = False) -> str:
    """Publish the plan; its requested time. The plan that is there if there is one. Raises CannotUndo.

    `failed` are writes that one has found dead: they are left alone if they have completed after all.
    """
    with planning(table) as publish:
        plan = plan_rollback(table, instant, failed=failed)
        return plan.requested or publish("rollback", _plan_record(table, plan))


@implements("TL-030")
def plan_rollback(table: Table, instant: str, *, failed: bool = False) -> RollbackPlan:
    """What a rollback of that instant would do, or is doing already. Changes nothing.

    Raises CannotUndo, UnsupportedTableFeature.
    """
    check_indexes_maintained(table)
    timeline = table.timeline
    for pending in pending_of(timeline, "rollback"):
        plan = _plan_of(pending.requested, read_plan(table, "rollback", pending.requested))
        if plan.target == instant:
            return plan
    target = next((found for found in timeline.writes if found.requested == instant), None)
    if target is None or (failed and target.state is State.COMPLETED):
        expected = "a pending one" if failed else None
        raise CannotUndo("no such write on the active timeline", rule="TL-019", expected=expected, found=instant)
    check_not_savepointed(timeline, (target,))
    if target.state is State.COMPLETED:
        _check_newest(timeline, target)
        check_left(table, timeline, (target,))
    else:
        _check_failed(table, target)
    return RollbackPlan(target.requested, target.action, files_of(table, target))


def execute_rollback(table: Table, requested: str) -> str:
    """Carry out the plan that was requested then, from the beginning or from where somebody else stopped.

    Raises CannotUndo if the target has completed since it was planned: the plan is dropped, and the write stays.
    """

    def work(record: Plan) -> Plan:
        plan, started = _plan_of(requested, record), table.clock.now()
        undo(table, plan.target, plan.files)
        return rollback_record(table, plan, table.clock.now() - started)

    check_indexes_maintained(table)
    _drop_if_overtaken(table, requested)
    return carry_out(table, "rollback", requested, work)


def _drop_if_overtaken(table: Table, requested: str) -> None:
    target = read_plan(table, "rollback", requested)["instantToRollback"]["commitTime"]
    for found in table.timeline.commits:
        if found.requested == target and (found.completion or "") > requested:
            remove_files_of(table, requested, "rollback")
            raise CannotUndo(
                "the write completed before it was rolled back", rule="TL-030", path=found.file_name,
                remedy="the plan was dropped; roll the write back again if it is not wanted",
            )  # fmt: skip


@implements("TL-019")
def undo(table: Table, target: str, files: Iterable[str]) -> None:
    """Remove an action and its files so that no reader ever sees a part of it. What is gone already is passed over.

    It is hidden, and leaves the timeline, under the lock: two who undo it do not put back what the other one has removed.
    """
    transitions, owner = transitions_of(table), new_owner(f"undo {target}")
    with held(transitions.times.lock, owner):
        found = next((write for write in table.timeline.writes if write.requested == target), None)
        if found is not None and found.state is State.COMPLETED:
            found = transitions.withdraw(found)
    for path in files:
        table.storage.delete(path)
    remove_markers(table.storage, target)
    heartbeats_of(table).delete(target)
    if found is not None:
        with held(transitions.times.lock, owner):
            transitions.remove(found)


def remove_files_of(table: Table, requested: str, action: str) -> None:
    """Forget an action that has changed nothing that lasts: its inflight file, the requested one, the completed one last."""
    folder = table.properties.timeline_folder
    named = ((name, parse_instant_name(name)) for name in table.storage.names(folder) if name.startswith(requested))
    found = [(known.state, name) for name, known in named if known and (known.requested, known.action) == (requested, action)]
    order = (State.INFLIGHT, State.REQUESTED, State.COMPLETED)
    for _, name in sorted(found, key=lambda file: order.index(file[0])):
        table.storage.delete(f"{folder}/{name}")


def files_of(table: Table, target: Instant) -> tuple[str, ...]:
    """The paths of all data files that carry the instant in their names, those of lost attempts among them.

    Raises UnsupportedTableFeature as `check_own_files` does.
    """
    check_own_files(table, target)
    listed = (info.path for info in table.storage.list(skip=META_FOLDER))
    return tuple(
        path for path in listed if (name := parse_data_file_name(split_path(path)[1])) and name.instant == target.requested
    )


@implements("TL-019", "TL-023")
def check_own_files(table: Table, target: Instant) -> None:
    """Raises UnsupportedTableFeature if an action wrote to log files of others: before table version 8 these were shared, and a
    migration leaves them as they are. What is in them cannot be taken back by deleting files (ER-107).
    """
    if target.state is not State.COMPLETED:
        return
    for path in sorted(load_commit(table.storage, table.properties, target).paths):
        name = parse_data_file_name(split_path(path)[1])
        if name is not None and name.instant != target.requested:
            raise UnsupportedTableFeature(
                "the action wrote to a file of another action, as before table version 8", rule="TL-019", path=path,
                found=target.file_name, remedy="undo such a write before the table is migrated",
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
    """Later writes stand on what this one wrote."""
    completion = target.completion or target.requested
    for other in timeline.writes:
        if other.requested > target.requested or (other.completion or "") > completion:
            raise CannotUndo(
                "a later write stands on this one", rule="TL-019", path=target.file_name, found=other.file_name,
                remedy="roll back the later one first, or restore the table to an earlier instant",
            )  # fmt: skip


@implements("TL-030")
def _check_failed(table: Table, target: Instant) -> None:
    """A plan that opens slices, or joins what is in them, is carried out again, not undone; and a writer whose heart beats has
    not failed.
    """
    if target.action in ("compaction", "logcompaction"):
        raise CannotUndo(
            "a plan that is pending is carried out again", rule="TL-030", path=target.file_name,
            expected="a write", found=target.action,
        )  # fmt: skip
    if heartbeats_of(table).is_active(target.requested):
        raise CannotUndo(
            "the writer of this instant is alive", rule="TL-030", path=heartbeat_path(target.requested),
            expected=f"no heartbeat for {heartbeats_of(table).tolerance // 1000} seconds",
            remedy="wait until it has completed or died",
        )  # fmt: skip


def heartbeats_of(table: Table) -> Heartbeats:
    """The heartbeats of the table's writers, which are taken to have the same settings as this process."""
    return Heartbeats.of(table.storage, table.clock, Concurrency.of(table.options))


def _plan_record(table: Table, plan: RollbackPlan) -> dict[str, Any]:
    requests = [
        {
            "partitionPath": split_path(path)[0],
            "fileId": "",
            "latestBaseInstant": "",
            "filesToBeDeleted": [location(table, path)],
            "logBlocksToBeDeleted": {},
        }
        for path in plan.files
    ]
    target = {"commitTime": plan.target, "action": plan.action}
    return {"instantToRollback": target, "RollbackRequests": requests, "version": 1}


def _plan_of(requested: str, record: Plan) -> RollbackPlan:
    target, requests = record["instantToRollback"], record["RollbackRequests"] or ()
    files = [path_in(request["partitionPath"], file) for request in requests for file in request["filesToBeDeleted"]]
    return RollbackPlan(target["commitTime"], target["action"], tuple(files), requested)


def rollback_record(table: Table, plan: RollbackPlan, milliseconds: int) -> dict[str, Any]:
    """What a completed rollback says; a restore says it of every write that it undid."""
    return {
        "startRollbackTime": plan.requested,
        "timeTakenInMillis": milliseconds,
        "totalFilesDeleted": len(plan.files),
        "commitsRollback": [plan.target],
        "partitionMetadata": {
            partition: {
                "partitionPath": partition,
                "successDeleteFiles": [location(table, join_path(partition, name)) for name in names],
                "failedDeleteFiles": [],
                "rollbackLogFiles": {},
                "logFilesFromFailedCommit": {},
            }
            for partition, names in by_partition(plan.files).items()
        },
        "version": 1,
        "instantsRollback": [{"commitTime": plan.target, "action": plan.action}],
    }
