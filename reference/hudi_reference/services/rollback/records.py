"""The plan of a rollback and the metadata of a completed one as they are stored: HoodieRollbackPlan, HoodieRollbackMetadata."""

from dataclasses import dataclass
from typing import Any

from hudi_reference.layout.names import join_path, split_path
from hudi_reference.query.table import Table
from hudi_reference.services.planning.plan_execution import Plan, by_partition, fields_of_plan, location_in_plan, path_in


@dataclass(frozen=True)
class RollbackPlan:
    """A plan: the action to roll back, and the paths of its files. `requested` is None before the plan is published."""

    target: str
    action: str
    files: tuple[str, ...]
    requested: str | None = None


def encode_plan(table: Table, plan: RollbackPlan) -> dict[str, Any]:
    """The plan as it is stored: a request for each file."""
    requests = [
        {
            "partitionPath": split_path(path)[0],
            "fileId": "",
            "latestBaseInstant": "",
            "filesToBeDeleted": [location_in_plan(table, path)],
            "logBlocksToBeDeleted": {},
        }
        for path in plan.files
    ]
    target = {"commitTime": plan.target, "action": plan.action}
    return {"instantToRollback": target, "RollbackRequests": requests, "version": 1}


def plan_of(requested: str, record: Plan) -> RollbackPlan:
    """The plan that was requested then, from its record. Raises MalformedMetadata."""
    with fields_of_plan("rollback", requested):
        target, requests = record["instantToRollback"], record["RollbackRequests"] or ()
        files = [path_in(request["partitionPath"], file) for request in requests for file in request["filesToBeDeleted"]]
        return RollbackPlan(target["commitTime"], target["action"], tuple(files), requested)


def rollback_record(table: Table, plan: RollbackPlan, milliseconds: int) -> dict[str, Any]:
    """The metadata of a completed rollback. A restore has one for every write that it rolled back."""
    return {
        "startRollbackTime": plan.requested,
        "timeTakenInMillis": milliseconds,
        "totalFilesDeleted": len(plan.files),
        "commitsRollback": [plan.target],
        "partitionMetadata": {
            partition: {
                "partitionPath": partition,
                "successDeleteFiles": [location_in_plan(table, join_path(partition, name)) for name in names],
                "failedDeleteFiles": [],
                "rollbackLogFiles": {},
                "logFilesFromFailedCommit": {},
            }
            for partition, names in by_partition(plan.files).items()
        },
        "version": 1,
        "instantsRollback": [{"commitTime": plan.target, "action": plan.action}],
    }
