"""Mutants of index builds: plans, the build beside writers, and which indexes may be used."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata.writer import Deltacommit
from hudi_reference.query.table import Table
from hudi_reference.services.indexing import indexing
from hudi_reference.services.indexing.indexing import IndexingExecution
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.services.planning import index_plan
from hudi_reference.services.planning.plan_execution import Publish

_HERE = f"__import__({__name__!r}, fromlist=['here'])"


@mutant(breaks="INX-001")
def index_build_discards_concurrent_updates(patch: Patch) -> None:
    """An indexer creates the file groups again, so that the entries added since the plan are lost."""
    patch.edit(IndexingExecution.work, "groups = metadata.groups(one.partition)",
             "groups = metadata.groups(one.partition); clear(metadata, one.partition)")  # fmt: skip


def _add_to_schedule(patch: Patch, work: str) -> None:
    seeds = "commit.seeds(one.partition, one.groups_of({**table.options, **(options or {})}))"
    patch.edit(indexing.schedule_indexing, seeds, f"{seeds}; {work}")


@mutant(breaks=("INX-002", "INX-003"))
def index_built_while_planned(patch: Patch) -> None:
    """A scheduler stores the base files under the lock under which it plans."""
    _add_to_schedule(patch, "commit.base_files(one.partition, metadata.groups(one.partition), one.whole(table, table.view()))")


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


@mutant(breaks="INX-005")
def index_plan_without_version(patch: Patch) -> None:
    """A scheduler omits the version of the plan."""
    patch.edit(index_plan.plan_record, 'return {"version": _VERSION', 'return {"version": None')


@mutant(breaks="INX-006")
def index_plan_of_first_index_only(patch: Patch) -> None:
    """A scheduler that is asked for two indexes plans the first only."""
    patch.edit(index_plan.plan_record, "for index in indexes", "for index in list(indexes)[:1]")


@mutant(breaks="INX-007")
def index_plan_names_index_type(patch: Patch) -> None:
    """A scheduler names the type of an index, and not its partition."""
    patch.edit(index_plan.plan_record, "index.partition.value", "index.partition.name")


@mutant(breaks="INX-008")
def index_base_instant_is_last_request(patch: Patch) -> None:
    """A scheduler takes the write that was requested last as the base instant, completed or not."""
    patch.edit(indexing.schedule_indexing, "timeline.latest.requested))", "timeline.writes[-1].requested))")


@mutant(breaks="INX-009")
def index_plan_requires_extra_metadata(patch: Patch) -> None:
    """An indexer rejects a plan whose elements have no map of extra metadata."""
    needed = '(dict(info["extraMetadata"]), info["metadataPartitionPath"])[1]'
    patch.edit(index_plan.indexes_in, 'info["metadataPartitionPath"]', needed)


@mutant(breaks="INX-010")
def index_built_in_other_folder(patch: Patch) -> None:
    """An indexer stores its base files beside the partition."""
    patch.edit(Deltacommit.base_files, "self._store(partition,", 'self._store(f"{partition}_built",')


@mutant(breaks="INX-011")
def building_index_not_maintained(patch: Patch) -> None:
    """A writer adds nothing to an index that is being built."""
    patch.edit(MetadataSync._commit, "partitions = (*self.usable, *self.building)", "partitions = self.usable")


@mutant(breaks="INX-012")
def indexer_ignores_concurrent_writes(patch: Patch) -> None:
    """An indexer completes without checking what writers have added."""
    patch.edit(IndexingExecution.check_completion, "timeline.completed_between(self.requested)", "()")


@mutant(breaks="INX-012")
def indexer_checks_deltacommits_only(patch: Patch) -> None:
    """An indexer does not check whether a write that the metadata table contains has added to this index."""
    patch.edit(IndexingExecution._check_entries, "if one.concerned(commit)", "if False")


@mutant(breaks="INX-013")
def failed_index_listed_as_usable(patch: Patch) -> None:
    """An indexer that fails leaves the index listed as usable."""
    patch.edit(indexing.give_up, "sync.store_lists(sync.usable,", "sync.store_lists((*sync.usable, *names),")


@mutant(breaks="INX-013")
def failed_index_plan_kept(patch: Patch) -> None:
    """An indexer that fails leaves its plan pending."""
    patch.edit(indexing.give_up, "transitions.remove(pending)", "pass")


@mutant(breaks="INX-014")
def building_index_listed_as_usable(patch: Patch) -> None:
    """A partition is listed as usable as soon as its plan is made."""
    patch.edit(indexing.schedule_indexing, "sync.store_lists(sync.usable,",
             "sync.store_lists((*sync.usable, *(one.partition.value for one in wanted)),")  # fmt: skip
