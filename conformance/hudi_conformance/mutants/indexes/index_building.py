"""Mutants of index builds: plans, the build beside writers, and which indexes may be used."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query.table import Table
from hudi_reference.services.indexing import indexing
from hudi_reference.services.planning import index_plan
from hudi_reference.services.planning.plan_execution import Publish

_HERE = f"__import__({__name__!r}, fromlist=['here'])"


def _add_to_schedule(patch: Patch, work: str) -> None:
    seeds = "commit.seeds(one.partition, one.groups(size.settings, count), part)"
    patch.edit(indexing.schedule_indexing, seeds, f"{seeds}; {work}")


@mutant(breaks=("INX-002", "INX-003"))
def index_built_while_planned(patch: Patch) -> None:
    """A scheduler stores the base files under the lock under which it plans."""
    groups = "one.file_groups(metadata.groups(one.partition))"
    _add_to_schedule(patch, f"commit.base_files(one.partition, {groups}, one.whole(table, table.view()))")


@mutant(breaks="INX-003")
def index_planner_reads_data_under_lock(patch: Patch) -> None:
    """A scheduler counts the records under the lock before it decides on file groups."""
    _add_to_schedule(patch, "len(list(one.whole(table, table.view())))")


def beside(table: Table, publish: Publish, plan: dict[str, object]) -> str:
    """Publish a plan, then move its requested file to the metadata table; the requested time."""
    time = publish("indexing", plan)
    path = f"{table.properties.timeline_folder}/{time}.indexing.requested"
    table.storage.put(f".hoodie/metadata/{path}", table.storage.get(path))
    table.storage.delete(path)
    return time


@mutant(breaks="INX-004")
def index_plan_on_metadata_timeline(patch: Patch) -> None:
    """A scheduler writes the plan to the timeline of the metadata table."""
    plan = 'publish("indexing", plan_record(wanted, timeline.latest.requested))'
    patch.edit(
        indexing.schedule_indexing, plan, f"{_HERE}.beside(table, publish, plan_record(wanted, timeline.latest.requested))"
    )


@mutant(breaks="INX-009")
def index_plan_requires_extra_metadata(patch: Patch) -> None:
    """An indexer rejects a plan whose elements have no map of extra metadata."""
    needed = '(dict(info["extraMetadata"]), info["metadataPartitionPath"])[1]'
    patch.edit(index_plan.indexes_in, 'info["metadataPartitionPath"]', needed)
