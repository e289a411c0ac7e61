"""Mutants of services beside writers and beside each other."""

from collections.abc import Mapping

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Deltacommit
from hudi_reference.query.table import Table
from hudi_reference.services import default_hooks
from hudi_reference.services.clustering import clustering
from hudi_reference.services.compaction import compaction
from hudi_reference.services.indexing.indexing import IndexingExecution
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.services.rollback import failed_writes, rollback
from hudi_reference.timeline.instant_generator import latest_time

_ALL_THAT_PENDS = ("commit", "deltacommit", "replacecommit", "compaction", "logcompaction", "clustering")


@mutant(breaks=("SVC-002", "TL-030"))
def rollback_planned_before_lock(patch: Patch) -> None:
    """A rollback checks that a write is pending before it takes the lock, and is published under it: the write may have
    completed.
    """
    patch.edit(
        rollback.schedule_rollback,
        "    with hold_for_planning(table) as publish:\n        plan = plan_rollback(table, instant, failed=failed)\n",
        "    plan = plan_rollback(table, instant, failed=failed)\n    with hold_for_planning(table) as publish:\n",
    )
    patch.set(rollback, "_drop_if_overtaken", lambda *_: None)


@mutant(breaks=("SVC-009", "OCC-016"))
def replaced_groups_clustered(patch: Patch) -> None:
    """Executes the plan of a clustering after its file groups were replaced: their rows are in the table again."""
    patch.set(clustering, "check_unchanged", lambda *_: None)
    patch.edit(
        clustering.Rewriting.rewrite,
        "[self.view.groups.groups[identity].latest for identity in group.members]",
        "[self.view.groups.groups[identity].slices[-1] for identity in group.members]",
    )


@mutant(breaks="SVC-005")
def compaction_deletes_files_of_other_attempts(patch: Patch) -> None:
    """An executor of a compaction first deletes the files of another attempt, without checking again."""
    patch.edit(
        compaction.CompactionExecution.work,
        "    table, view, operations = self.table, view_for_write(self.table, self.requested), operations_in(plan)\n",
        "    for path in __import__('hudi_reference.services.planning.plan_execution', fromlist=['p'])"
        ".files_by_instant(self.table).get(self.requested, ()):\n        self.table.storage.delete(path)\n"
        "    table, view, operations = self.table, view_for_write(self.table, self.requested), operations_in(plan)\n",
    )
    patch.set(compaction, "check_stored", lambda *_: None)


@mutant(breaks="SVC-008")
def compaction_plans_rolled_back(patch: Patch) -> None:
    """A clean finds no heartbeat of a requested compaction, and rolls the plan back."""
    patch.set(failed_writes, "_WRITES", _ALL_THAT_PENDS)
    patch.edit(rollback._check_failed, 'if target.action in ("compaction", "logcompaction"):', "if False:")


@mutant(breaks="SVC-009")
def clustering_ignores_updates_after_plan(patch: Patch) -> None:
    """A clustering reads the current state of its groups, whatever files the plan names."""
    patch.set(clustering, "check_unchanged", lambda *_: None)


def recorded_and_released(sync: MetadataSync, metadata: MetadataTable, commit: Deltacommit) -> None:
    """Record a deltacommit under the lock, and release the lock for an index build that took it again."""
    with sync.times.drawn(latest_time(metadata.timeline), sync.owner) as time:
        commit.complete(time)
    if sync.owner.startswith("record"):
        sync.times.lock.release(sync.owner)


@mutant(breaks=("SVC-012", "INX-015"))
def indexer_holds_lock_while_building(patch: Patch) -> None:
    """An indexer takes the lock when it starts to build, and releases it when the index is complete."""
    build = 'commit = Deltacommit(metadata, self.requested, "BULK_INSERT")'
    patch.edit(IndexingExecution.work, build, f"{build}; transitions.times.lock.acquire(owner)")
    patch.set(MetadataSync, "complete", recorded_and_released)


def compact_without_plan(table: Table, options: Mapping[str, str]) -> None:
    """Compact, then delete the plan."""
    done = compaction.compact(table, options)
    for state in ("requested", "inflight"):
        table.storage.delete(f"{table.properties.timeline_folder}/{done}.compaction.{state}")


@mutant(breaks="SVC-013")
def inline_compaction_without_plan(patch: Patch) -> None:
    """An inline compaction stores no plan on the timeline."""

    patch.edit(
        default_hooks.inline_compaction,
        "            compact(table,",
        f"            __import__({__name__!r}, fromlist=['here']).compact_without_plan(table,",
    )
