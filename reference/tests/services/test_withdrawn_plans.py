"""A plan that another process withdraws after a timeline was loaded is no damage; a pending action without a plan is."""

import pytest
from service_tables import table_of

from hudi_reference.errors import MalformedMetadata
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.write.concurrency.conflict_resolution import concurrent_actions, planned_clusterings

SETTINGS = {
    "hoodie.clustering.plan.strategy.small.file.limit": str(1 << 30),
    "hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true",
}


def plans_that_writers_read(table, timeline):
    planned = planned_clusterings(table.storage, table.properties, timeline)
    return [*planned, *concurrent_actions(table.storage, table.properties, timeline, timeline, plans=True)]


@pytest.mark.parametrize(
    ("kind", "schedule"),
    [("COPY_ON_WRITE", lambda table: schedule_clustering(table, SETTINGS)), ("MERGE_ON_READ", schedule_compaction)],
)
def test_a_withdrawn_plan_is_ignored(kind, schedule):
    table, _, _ = table_of(kind)
    requested = schedule(table)
    timeline = table.timeline
    assert plans_that_writers_read(table, timeline)
    (plan,) = (info.path for info in table.storage.list(".hoodie/timeline") if f"/{requested}." in info.path)
    table.storage.delete(plan)
    assert plans_that_writers_read(table, timeline) == []


def test_a_pending_clustering_without_a_plan_is_an_error():
    table, _, _ = table_of("COPY_ON_WRITE")
    requested = schedule_clustering(table, SETTINGS)
    table.storage.put(f".hoodie/timeline/{requested}.clustering.inflight", b"")
    timeline = table.timeline
    table.storage.delete(f".hoodie/timeline/{requested}.clustering.requested")
    with pytest.raises(MalformedMetadata, match="plan of a pending action is missing"):
        plans_that_writers_read(table, timeline)
