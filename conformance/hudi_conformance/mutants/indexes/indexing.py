"""Mutants: indexes that are built beside others, and a metadata table that writers and services keep."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata import indexes
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Deltacommit
from hudi_reference.query.table import Table
from hudi_reference.services.indexing import indexing
from hudi_reference.services.indexing.indexing import Build
from hudi_reference.services.metadata_table import metadata_sync
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.services.planning import index_plan
from hudi_reference.services.planning.plan_execution import Publish
from hudi_reference.timeline.instant_generator import latest_time
from hudi_reference.write.commit import Commit

_HERE = f"__import__({__name__!r}, fromlist=['here'])"


@mutant(breaks=("SVC-012", "INX-015"))
def indexers_keep_the_lock(patch: Patch) -> None:
    """An indexer takes the lock when it begins to build, and gives it back when all is recorded."""
    build = 'commit = Deltacommit(metadata, self.requested, "BULK_INSERT")'
    patch.edit(Build.work, build, f"{build}; transitions.times.lock.acquire(owner)")
    patch.set(MetadataSync, "complete", recorded_and_released)


def recorded_and_released(sync: MetadataSync, metadata: MetadataTable, commit: Deltacommit) -> None:
    """The recording that comes last, and the lock is free again. Only who builds an index took it once more."""
    with sync.times.drawn(latest_time(metadata.timeline), sync.owner) as time:
        commit.complete(time)
    if sync.owner.startswith("record"):
        sync.times.lock.release(sync.owner)


@mutant(breaks="INX-001")
def indexes_cover_what_was_there_when_they_were_planned(patch: Patch) -> None:
    """An indexer begins the file groups anew, so that what others have added since the plan is lost."""
    patch.edit(Build.work, "groups = metadata.groups(one.partition)",
             "groups = metadata.groups(one.partition); clear(metadata, one.partition)")  # fmt: skip


@mutant(breaks=("INX-002", "INX-003"))
def indexes_are_planned_and_built_in_one_step(patch: Patch) -> None:
    """A scheduler stores the base files under the lock under which it plans."""
    _add_to_schedule(patch, "commit.base_files(one.partition, metadata.groups(one.partition), one.whole(table, table.view()))")


@mutant(breaks="INX-003")
def data_files_are_read_under_the_lock(patch: Patch) -> None:
    """A scheduler counts the records before it decides about file groups."""
    _add_to_schedule(patch, "len(list(one.whole(table, table.view())))")


def _add_to_schedule(patch: Patch, work: str) -> None:
    seeds = "commit.seeds(one.partition, one.groups_of({**table.options, **(options or {})}))"
    patch.edit(indexing.schedule_indexing, seeds, f"{seeds}; {work}")


@mutant(breaks="INX-004")
def plans_of_indexes_lie_with_the_metadata_table(patch: Patch) -> None:
    """A scheduler puts the plan onto the timeline of the metadata table."""
    plan = 'publish("indexing", plan_record(wanted, timeline.latest.requested))'
    patch.edit(
        indexing.schedule_indexing, plan, f"{_HERE}.beside(table, publish, plan_record(wanted, timeline.latest.requested))"
    )


def beside(table: Table, publish: Publish, plan: dict[str, object]) -> str:
    """The requested time of a plan that was published and taken elsewhere."""
    time = publish("indexing", plan)
    path = f"{table.properties.timeline_folder}/{time}.indexing.requested"
    table.storage.put(f".hoodie/metadata/{path}", table.storage.get(path))
    table.storage.delete(path)
    return time


@mutant(breaks="INX-005")
def plans_of_indexes_have_no_version(patch: Patch) -> None:
    """A scheduler leaves the version of the plan out."""
    patch.edit(index_plan.plan_record, 'return {"version": _VERSION', 'return {"version": None')


@mutant(breaks="INX-006")
def plans_hold_one_index(patch: Patch) -> None:
    """A scheduler that is asked for two indexes plans the first."""
    patch.edit(index_plan.plan_record, "for index in indexes", "for index in list(indexes)[:1]")


@mutant(breaks="INX-007")
def plans_name_kinds_of_indexes(patch: Patch) -> None:
    """A scheduler names the kind of an index, and not its partition."""
    patch.edit(index_plan.plan_record, "index.partition.value", "index.partition.name")


@mutant(breaks="INX-008")
def the_base_is_the_write_that_began_last(patch: Patch) -> None:
    """A scheduler takes the write that was requested last for the base instant, completed or not."""
    patch.edit(indexing.schedule_indexing, "timeline.latest.requested))", "timeline.writes[-1].requested))")


@mutant(breaks="INX-009")
def plans_need_further_metadata(patch: Patch) -> None:
    """An indexer does not get along with a plan whose elements have no map of further metadata."""
    needed = '(dict(info["extraMetadata"]), info["metadataPartitionPath"])[1]'
    patch.edit(index_plan.indexes_in, 'info["metadataPartitionPath"]', needed)


@mutant(breaks="INX-010")
def indexes_are_built_in_a_folder_of_their_own(patch: Patch) -> None:
    """An indexer stores its base files beside the partition."""
    patch.edit(Deltacommit.base_files, "self._store(partition,", 'self._store(f"{partition}_built",')


@mutant(breaks="INX-011")
def writers_keep_only_what_may_be_used(patch: Patch) -> None:
    """A writer adds nothing to an index that is being built."""
    patch.edit(MetadataSync._commit, "partitions = (*self.usable, *self.building)", "partitions = self.usable")


@mutant(breaks="INX-012")
def indexers_do_not_look_at_others(patch: Patch) -> None:
    """An indexer completes whatever the writers have added."""
    patch.edit(Build.check, "now.completed_between(self.requested)", "()")


@mutant(breaks="INX-012")
def indexers_ask_for_deltacommits_only(patch: Patch) -> None:
    """An indexer does not look whether a write that is known to the metadata table has added to this index."""
    patch.edit(Build._check_entries, "if one.concerned(commit)", "if False")


@mutant(breaks="INX-013")
def half_built_indexes_are_offered(patch: Patch) -> None:
    """An indexer that gives up leaves the index listed as usable."""
    patch.edit(indexing.give_up, "sync.store_lists(sync.usable,", "sync.store_lists((*sync.usable, *names),")


@mutant(breaks="INX-013")
def plans_of_indexes_stay_when_they_fail(patch: Patch) -> None:
    """An indexer that gives up leaves its plan pending, for ever."""
    patch.edit(indexing.give_up, "transitions.remove(pending)", "pass")


@mutant(breaks="INX-014")
def indexes_are_offered_while_they_are_built(patch: Patch) -> None:
    """A partition may be used as soon as its plan is made."""
    patch.edit(indexing.schedule_indexing, "sync.store_lists(sync.usable,",
             "sync.store_lists((*sync.usable, *(one.partition.value for one in wanted)),")  # fmt: skip


@mutant(breaks="SVC-012")
def cleans_forget_what_is_indexed(patch: Patch) -> None:
    """A clean deletes what only a pending plan of an index needs."""
    patch.edit(index_plan.files_to_index, "return frozenset(", "return frozenset() and frozenset(")


@mutant(breaks="MDT-001")
def only_the_listing_is_kept(patch: Patch) -> None:
    """Writers leave the record index and the bloom filters to a nightly job."""
    patch.edit(
        MetadataSync._commit, "for name in partitions:", "for name in partitions[-1:] if len(partitions) == 1 else ('files',):"
    )


@mutant(breaks="MDT-004")
def metadata_tables_are_never_compacted(patch: Patch) -> None:
    """Nobody looks after the metadata table."""
    patch.set(metadata_sync, "maintain", lambda metadata, data, building: None)


@mutant(breaks="MDT-008")
def cleaned_files_stay_listed(patch: Patch) -> None:
    """A clean deletes files and leaves them in the listing."""
    patch.edit(MetadataSync.follow, "deleted=_cleaned(record)", "deleted=()")


@mutant(breaks="MDT-008")
def files_of_failed_writes_are_listed(patch: Patch) -> None:
    """The listing that a metadata table begins with has whatever lies in storage."""
    patch.edit(indexes._all_files, "if info.path in read or", "if info.path.endswith('.parquet') or info.path in read or")


@mutant(breaks="IDX-010")
def clusterings_leave_the_record_index_alone(patch: Patch) -> None:
    """A clustering moves records, and the index says where they were."""
    patch.edit(indexes._changed_locations, '("COMPACT", "LOG_COMPACT")', '("COMPACT", "LOG_COMPACT", "CLUSTER")')


@mutant(breaks="IDX-010")
def deleted_keys_stay_in_the_record_index(patch: Patch) -> None:
    """A delete removes the record and not its entry."""
    patch.edit(indexes._changed_locations, "[key for key in old if key not in new]", "[]")


@mutant(breaks=("OCC-020", "OCC-021"))
def the_metadata_table_follows(patch: Patch) -> None:
    """A write completes, and the metadata table is brought up to date afterwards."""
    kept = "before_completion(table, inflight, content)"
    patch.edit(Commit.complete, f"check, {kept})", f"check); {_HERE}.afterwards(self, inflight, content)")


def afterwards(commit: Commit, *action: object) -> None:
    """Bring the metadata table up to date under a lock of its own."""
    from hudi_reference.locks import held
    from hudi_reference.write.commit import before_completion, transitions_of

    transitions = transitions_of(commit.table)
    with held(transitions.times.lock, "late"):
        before_completion(commit.table, *action)(transitions.times, "late")  # type: ignore[arg-type]


@mutant(breaks="PROP-012")
def old_metadata_tables_stay_usable(patch: Patch) -> None:
    """A writer that keeps no metadata table leaves the one that is there to readers."""
    patch.set(MetadataSync, "drop", lambda sync: None)
