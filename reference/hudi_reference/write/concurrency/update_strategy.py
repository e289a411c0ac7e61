"""Writes to file groups for which a clustering is planned, spec "Concurrency Control".

    SparkRejectUpdateStrategy     the write is refused before it begins (the default)
    SparkAllowUpdateStrategy      the write begins. The first to complete wins: the clustering aborts because of the change, or
                                  the write aborts because its file group was replaced
    the same, and the setting     the plan is withdrawn, then the write begins
    to roll back on conflict

This concerns plans that are pending when a write begins. For plans that are made later the second line holds in any case.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hudi_reference.errors import MalformedMetadata, Misuse, WriteConflict
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, is_still_pending
from hudi_reference.timeline.contents.actions import load_action
from hudi_reference.timeline.contents.metadata import groups_of_clustering
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

STRATEGY_KEY = "hoodie.clustering.updates.strategy"
WITHDRAW_KEY = "hoodie.clustering.rollback.pending.replacecommit.on.conflict"
REJECT, ALLOW = "SparkRejectUpdateStrategy", "SparkAllowUpdateStrategy"


@implements("SVC-009", "OCC-017")
def apply_update_strategy(table: Table, timeline: Timeline, changed: Iterable[FileSlice]) -> None:
    """Apply the update strategy of the settings to a write that changes these slices.

    Raises WriteConflict if it refuses the write, Misuse for an unknown strategy.
    """
    name = table.options.get(STRATEGY_KEY, REJECT).rpartition(".")[2]
    if name not in (REJECT, ALLOW):
        raise Misuse("no such update strategy", rule="SVC-009", path=STRATEGY_KEY, expected=f"{REJECT} or {ALLOW}", found=name)
    if not (planned := planned_clusterings(table.storage, table.properties, timeline)):
        return
    # ER-124: a write is refused if a clustering is planned, as deployed; the text does not specify this.
    planned_for = {group: planned[group] for found in changed if (group := (found.partition, found.file_id)) in planned}
    if planned_for and name == REJECT:
        (partition, file_id), requested = min(planned_for.items())
        raise WriteConflict(
            "a clustering is planned for a file group that the write changes", rule="SVC-009",
            path=f"{requested}.clustering.requested", expected="no pending plan, or another update strategy",
            found=f"file group {file_id} in partition {partition!r}",
            remedy=f"write when the clustering is completed, or set {STRATEGY_KEY}={ALLOW}",
        )  # fmt: skip
    withdraw = table.hooks.withdraw_clustering
    if table.options.get(WITHDRAW_KEY) == "true" and withdraw is not None:
        for requested in sorted(set(planned_for.values())):
            withdraw(table, requested)


def planned_clusterings(storage: Storage, properties: TableProperties, timeline: Timeline) -> Mapping[GroupId, str]:
    """The requested time of the clustering that is pending for each file group.

    Raises MalformedMetadata if an action is pending and has no plan.
    """
    found: dict[GroupId, str] = {}
    for pending in timeline.pending:
        if pending.action == "clustering":
            plan = Instant(pending.requested, "clustering", State.REQUESTED)
            try:
                record: Mapping[str, Any] = load_action(storage, properties, plan) or {}
            except FileNotFoundError as error:
                if not is_still_pending(storage, properties, plan):
                    continue
                raise MalformedMetadata(
                    "the plan of a pending action is missing", rule="TL-047", path=plan.file_name
                ) from error
            found |= dict.fromkeys(groups_of_clustering(record), pending.requested)
    return found
