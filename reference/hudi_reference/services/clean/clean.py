"""Clean: deletes versions of files that no reader needs any more, spec "Table Management > Cleaning".

    clean.requested     the plan: the files, by partition
    clean.inflight      the plan again
    files are deleted   a missing file counts as deleted
    clean.completed     the same files, as deleted

Readers need none of these files. After a crash at any point the next clean deletes the remaining files of the plan, and makes a
new plan only when no plan is pending. A pending plan is checked before anything is deleted.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hudi_reference.layout.names import join_path
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.clean.plan_check import check_plan
from hudi_reference.services.planning.clean_plan import (
    CleanPolicy,
    change_files_of,
    deletable_slices,
    earliest_to_retain,
    planned_files,
    retained_time,
)
from hudi_reference.services.planning.index_plan import files_to_index
from hudi_reference.services.planning.plan_execution import (
    Plan,
    PlanExecution,
    by_partition,
    carry_out,
    checked_plan,
    execute_plans,
    groups_in_plans,
    hold_for_planning,
    location_in_plan,
    pending_of,
    rolls_back_completed_write,
)
from hudi_reference.services.rollback.failed_writes import plans_before_clean, rollback_expired_writes
from hudi_reference.services.rollback.savepoint import completed_savepoints, savepointed_files
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.preconditions import check_indexes_maintained

_HOUR = 3_600_000


@implements("TL-013", "TL-014", "TL-029", "SVC-005", "SVC-006", "CLN-004")
def clean(table: Table, options: Mapping[str, str] | None = None) -> str | None:
    """Execute the pending clean plans, then plan and execute one more.

    With `hoodie.clean.failed.writes.policy=LAZY` failed writes are rolled back first.

    Args:
        table: the table.
        options: settings by Hudi's names, as `hoodie.clean.policy` and `hoodie.clean.commits.retained`.

    Returns:
        The requested time of the last clean; None if there was nothing to delete.
    """
    check_indexes_maintained(table)
    rollback_expired_writes(table, options or {})
    return execute_plans(table, "clean", options, schedule_clean, execute_clean)


@implements("TL-014")
def files_of_clean(table: Table, options: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The paths of the files that `clean` would delete now: those of pending plans first, then those of a new plan.

    The files of the writes that it would roll back before are those of `plans_before_clean`. Changes nothing. Raises Misuse,
    UnsupportedTableFeature, and UnsafePlan for a pending plan that `clean` would refuse.
    """
    found: list[str] = []
    for pending in pending_of(table.timeline, "clean"):
        found += planned_files(checked_plan(CleanExecution(table, pending.requested)))
    new_plan = plan_clean(table, options, _timeline_after_rollbacks(table, options or {}))
    return tuple(dict.fromkeys((*found, *planned_files(new_plan or {}))))


def _timeline_after_rollbacks(table: Table, options: Mapping[str, str]) -> Timeline:
    """The timeline on which `clean` would plan: without the writes that it would roll back, and without their rollbacks."""
    plans, timeline = plans_before_clean(table, options), table.timeline
    gone = {time for plan in plans for time in (plan.target, plan.requested)}
    return replace(timeline, instants=tuple(found for found in timeline.instants if found.requested not in gone))


@implements("TL-014", "SVC-004", "SVC-006")
def schedule_clean(table: Table, options: Mapping[str, str] | None = None) -> str | None:
    """Publish a plan; its requested time. None if there is nothing to delete, or a plan or a rollback is pending."""
    with hold_for_planning(table) as publish:
        if pending_of(table.timeline, "clean"):
            return None
        plan = plan_clean(table, options)
        return None if plan is None else publish("clean", plan)


@implements("TL-014", "SVC-008")
def plan_clean(
    table: Table, options: Mapping[str, str] | None = None, timeline: Timeline | None = None
) -> dict[str, Any] | None:
    """The plan of a clean that would be made now, as a HoodieCleanerPlan. Changes nothing.

    None if there is nothing to delete, or a completed write is being rolled back. `timeline` is one that is not the timeline of
    the table. Raises Misuse, UnsupportedTableFeature.
    """
    check_indexes_maintained(table)
    timeline = timeline or table.timeline
    if rolls_back_completed_write(table, timeline):
        return None
    policy = CleanPolicy.from_options(options or {})
    zone = transitions_of(table).times.zone
    earliest = earliest_to_retain(policy, timeline, format_time(table.clock.now() - policy.hours * _HOUR, zone))
    groups = load_file_groups(table.storage, table.properties, timeline)
    planned = groups_in_plans(table, timeline)
    kept = savepointed_files(table, timeline) | files_to_index(table, timeline)
    slices = tuple(deletable_slices(policy, groups, earliest, kept, planned))
    files = [path for found in slices for path in found.paths if path.rpartition("/")[2] not in found.missing]
    files += change_files_of(table.storage, slices)
    if not files:
        return None
    return {
        "earliestInstantToRetain": None
        if earliest is None
        else {"timestamp": earliest.requested, "action": earliest.action, "state": "COMPLETED"},
        "lastCompletedCommitTimestamp": timeline.commits[-1].requested,
        "policy": policy.name,
        "filesToBeDeletedPerPartition": {},
        "version": 2,
        "filePathsToBeDeletedPerPartition": {
            partition: [
                {"filePath": location_in_plan(table, join_path(partition, name)), "isBootstrapBaseFile": False}
                for name in names
            ]
            for partition, names in by_partition(files).items()
        },
        "partitionsToBeDeleted": [],
        "extraMetadata": _savepoints(timeline),
    }


def _savepoints(timeline: Timeline) -> dict[str, str]:
    """The savepoints that the plan respects; archiving reads them."""
    found = [savepoint.requested for savepoint in completed_savepoints(timeline)]
    return {"savepointed_timestamps": ",".join(found)} if found else {}


@implements("TL-013", "TL-047", "SVC-005")
def execute_clean(table: Table, requested: str) -> str:
    """Execute the plan with that requested time, from the beginning or after an execution that did not complete.

    Raises UnsafePlan for a plan that would delete a file which a clean must keep; then nothing has changed.
    """
    return carry_out(CleanExecution(table, requested))


class CleanExecution(PlanExecution):
    """One execution of a clean plan."""

    action = "clean"
    repeats_plan = True

    def check_plan(self, plan: Plan) -> None:
        """Raise UnsafePlan if the plan would delete a file which a clean must keep."""
        check_plan(self.table, self.requested, plan)

    def delete_all(self, plan: Plan) -> tuple[str, ...]:
        """Delete the files of the plan; their paths. Engines may distribute this."""
        table, files = self.table, planned_files(plan)
        for path in files:
            table.storage.delete(path)
        return files

    def work(self, plan: Plan) -> Plan:
        """Delete the files of the plan."""
        table, started = self.table, self.table.clock.now()
        files = self.delete_all(plan)
        return _record(self.requested, plan, files, table.clock.now() - started)


@implements("TL-013", "TL-014", "CLN-008")
def _record(requested: str, plan: Plan, files: tuple[str, ...], milliseconds: int) -> dict[str, Any]:
    return {
        "startCleanTime": requested,
        "timeTakenInMillis": milliseconds,
        "totalFilesDeleted": len(files),
        "earliestCommitToRetain": retained_time(plan) or "",
        "lastCompletedCommitTimestamp": plan.get("lastCompletedCommitTimestamp") or "",
        "partitionMetadata": {
            partition: {
                "partitionPath": partition,
                "policy": plan["policy"],
                "deletePathPatterns": names,
                "successDeleteFiles": names,
                "failedDeleteFiles": [],
                "isPartitionDeleted": False,
            }
            for partition, names in by_partition(files).items()
        },
        "version": 2,
        "bootstrapPartitionMetadata": {},
        "extraMetadata": plan.get("extraMetadata") or {},
    }
