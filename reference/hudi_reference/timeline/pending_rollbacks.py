"""Checks for pending rollbacks and restores before a completion, spec "Timeline > Actions".

A write must not complete after its rollback was planned, and must not build on a write that is rolled back.
"""

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
    """Raises WriteConflict if a restore is pending.

    A restore rolls back all pending writes, regardless of their requested times.
    """
    for pending in timeline.pending:
        if pending.action == "restore":
            raise WriteConflict(
                "the table is being restored", rule="TL-023", path=pending.file_name, expected="no pending restore",
                remedy="write again after the restore has completed",
            )  # fmt: skip


@implements("TL-019", "TL-030")
def check_not_rolled_back(storage: Storage, properties: TableProperties, timeline: Timeline, requested: str) -> None:
    """Raises WriteConflict if a rollback of the write or a restore is pending.

    The caller holds the lock under which rollbacks and restores are planned.
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
def check_base_commits_exist(storage: Storage, properties: TableProperties, seen: Timeline, timeline: Timeline) -> None:
    """Raises WriteConflict if a write that `seen` has as completed was rolled back meanwhile, or its rollback is pending.

    A file that was written on the basis of such a write contains rows that no longer exist. Writes older than the active
    timeline were archived, and still exist.
    """
    rolled_back = {_target_of(storage, properties, pending) for pending in timeline.pending if pending.action == "rollback"}
    known = {commit.identity for commit in timeline.commits if commit.requested not in rolled_back}
    for commit in seen.commits:
        if commit.identity not in known and commit.requested >= (timeline.start or ""):
            raise WriteConflict(
                "this write builds on one that was or is being rolled back", rule="TL-019", path=commit.file_name,
                expected="the same commit as when the write began", remedy="write again on the current state of the table",
            )  # fmt: skip
