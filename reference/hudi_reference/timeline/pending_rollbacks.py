"""Whether somebody is about to undo a write, spec "Timeline > Actions": its writer must not complete it then."""

from collections.abc import Mapping
from typing import Any

from hudi_reference.errors import WriteConflict
from hudi_reference.layout.properties import TableProperties
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.actions import load_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State


@implements("TL-023")
def check_no_restore(timeline: Timeline) -> None:
    """Raises WriteConflict while the table is taken back: a restore undoes what is pending, whenever that was requested."""
    for pending in timeline.pending:
        if pending.action == "restore":
            raise WriteConflict(
                "the table is being restored", rule="TL-023", path=pending.file_name, expected="no pending restore",
                remedy="write again when the restore is completed",
            )  # fmt: skip


@implements("TL-019", "TL-030")
def check_not_undone(storage: Storage, properties: TableProperties, timeline: Timeline, requested: str) -> None:
    """Raises WriteConflict if a rollback of the write is planned, or a restore is under way. Called under the lock under which
    these are planned.
    """
    check_no_restore(timeline)
    for pending in timeline.pending:
        if pending.action == "rollback" and _target_of(storage, properties, pending) == requested:
            raise WriteConflict(
                "the write is being rolled back", rule="TL-019", path=pending.file_name, expected="the action inflight",
                remedy="write again",
            )  # fmt: skip


def _target_of(storage: Storage, properties: TableProperties, pending: Instant) -> str | None:
    plan = Instant(pending.requested, "rollback", State.REQUESTED)
    record: Mapping[str, Any] = load_action(storage, properties, plan) or {}
    target: str | None = (record.get("instantToRollback") or {}).get("commitTime")
    return target


@implements("TL-019", "TL-023", "OCC-008")
def check_still_there(storage: Storage, properties: TableProperties, seen: Timeline, timeline: Timeline) -> None:
    """Raises WriteConflict if a write was taken back, or its rollback is planned, that `seen` shows as completed: what was made
    from it holds rows that are no longer there. What is older than the active timeline was archived, and counts.
    """
    going = {_target_of(storage, properties, pending) for pending in timeline.pending if pending.action == "rollback"}
    known = {commit.identity for commit in timeline.commits if commit.requested not in going}
    for commit in seen.commits:
        if commit.identity not in known and commit.requested >= (timeline.start or ""):
            raise WriteConflict(
                "a write that this one builds on was taken back, or is about to be", rule="TL-019", path=commit.file_name,
                expected="the same commit as when the write began", remedy="write again on the new state",
            )  # fmt: skip
