"""Mutants of services beside writers and beside each other."""

from collections.abc import Mapping

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Deltacommit
from hudi_reference.query import file_groups
from hudi_reference.query.table import Table
from hudi_reference.services.clean import clean
from hudi_reference.services.clustering import clustering, plan
from hudi_reference.services.clustering.clustering import ClusteringExecution
from hudi_reference.services.compaction import compaction, log_compaction
from hudi_reference.services.indexing.indexing import IndexingExecution
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.services.planning import index_plan, plan_execution
from hudi_reference.services.rollback import failed_writes, rollback
from hudi_reference.timeline.instant_generator import latest_time
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write.concurrency import update_strategy

_ALL_THAT_PENDS = ("commit", "deltacommit", "replacecommit", "compaction", "logcompaction", "clustering")


@mutant(breaks=("SVC-001", "SVC-003"))
def service_deletes_files_under_lock(patch: Patch) -> None:
    """A service holds the lock while it deletes files: every writer waits for it."""
    patch.edit(
        plan_execution.carry_out,
        "    record = execution.work(plan)\n",
        "    with held(transitions.times.lock, 'worker'):\n        record = execution.work(plan)\n",
    )


@mutant(breaks="SVC-002")
def compaction_plan_made_before_lock(patch: Patch) -> None:
    """A planner takes the lock to publish a plan that it made before."""
    patch.edit(
        plan_execution.planning, "    with held(transitions.times.lock, owner):\n        yield publish", "    yield publish"
    )


@mutant(breaks=("SVC-002", "TL-023"))
def clean_planned_before_lock(patch: Patch) -> None:
    """A clean is planned, then the lock is taken, then the plan is published: a restore in between needs its files."""
    patch.edit(
        clean.schedule_clean,
        "    with planning(table) as publish:\n"
        '        if pending_of(table.timeline, "clean") or rolls_back_completed_write(table, table.timeline):\n'
        "            return None\n        plan = plan_clean(table, options)\n",
        "    plan = plan_clean(table, options)\n    with planning(table) as publish:\n",
    )


@mutant(breaks=("SVC-002", "TL-030"))
def rollback_planned_before_lock(patch: Patch) -> None:
    """A rollback checks that a write is pending before it takes the lock, and is published under it: the write may have
    completed.
    """
    patch.edit(
        rollback.schedule_rollback,
        "    with planning(table) as publish:\n        plan = plan_rollback(table, instant, failed=failed)\n",
        "    plan = plan_rollback(table, instant, failed=failed)\n    with planning(table) as publish:\n",
    )
    patch.set(rollback, "_drop_if_overtaken", lambda *_: None)


@mutant(breaks=("SVC-002", "SVC-004"))
def service_plans_before_lock(patch: Patch) -> None:
    """A service plans before it takes the lock, so that the plan may be older than the timeline on which it is published."""
    patch.edit(
        plan_execution.planning,
        "    with held(transitions.times.lock, owner):\n        yield publish",
        "    yield publish",
    )


@mutant(breaks="SVC-004")
def overlapping_compaction_plans(patch: Patch) -> None:
    """A planner does not check the plans of other compactions."""
    patch.edit(compaction.plan_compaction, '("compaction", "clustering")', '("clustering",)')


@mutant(breaks="SVC-004")
def inflight_plans_ignored_by_planner(patch: Patch) -> None:
    """A planner checks requested plans, and not inflight ones."""
    patch.edit(plan_execution.groups_in_plans, "if instant.action in actions)",
             "if instant.action in actions and instant.state is State.REQUESTED)")  # fmt: skip


@mutant(breaks=("SVC-004", "LCP-001"))
def log_compaction_of_groups_planned_for_compaction(patch: Patch) -> None:
    """A log compaction is planned over file groups of a pending compaction."""
    patch.edit(log_compaction.plan_log_compaction, "groups_in_plans(table, view.timeline)", "()")


@mutant(breaks="SVC-005")
def compaction_deletes_files_of_other_attempts(patch: Patch) -> None:
    """An executor of a compaction first deletes the files of another attempt, without checking again."""
    patch.edit(
        compaction.CompactionExecution.work,
        "    table, view, operations = self.table, self.table.view(), operations_in(plan)\n",
        "    for path in __import__('hudi_reference.services.planning.compaction_plan', fromlist=['p'])"
        ".files_of_instant(self.table, self.requested):\n        self.table.storage.delete(path)\n"
        "    table, view, operations = self.table, self.table.view(), operations_in(plan)\n",
    )
    patch.set(compaction, "check_stored", lambda *_: None)


@mutant(breaks=("SVC-005", "TL-051"))
def plan_completed_twice(patch: Patch) -> None:
    """An executor completes a plan without checking whether another executor has completed it."""
    patch.edit(
        Transitions.complete,
        "        if instant not in timeline.instants:\n            raise _state_changed(instant)\n",
        "",
    )


@mutant(breaks="SVC-007")
def inline_compaction_removes_other_plans(patch: Patch) -> None:
    """An inline compaction takes every pending plan for one of its own failures, and removes it."""
    patch.edit(
        compaction.compact,
        "execute_compaction(table, pending.requested) for",
        "str(transitions_of(table).remove(pending)) for",
    )


@mutant(breaks="SVC-008")
def compaction_plans_rolled_back(patch: Patch) -> None:
    """A clean finds no heartbeat of a requested compaction, and rolls the plan back."""
    patch.set(failed_writes, "_WRITES", _ALL_THAT_PENDS)
    patch.edit(rollback._check_failed, 'if target.action in ("compaction", "logcompaction"):', "if False:")


@mutant(breaks="SVC-008")
def clean_checks_completed_plans_only(patch: Patch) -> None:
    """A clean searches for plans among completed actions, where there are none."""
    patch.edit(plan_execution.groups_in_plans, "timeline.pending", "timeline.completed")


@mutant(breaks="SVC-008")
def clean_ignores_log_compaction_plans(patch: Patch) -> None:
    """A clean deletes files that a pending log compaction needs, after a compaction of the same group."""
    patch.edit(
        clean.plan_clean, "groups_in_plans(table, timeline)", "groups_in_plans(table, timeline, ('compaction', 'clustering'))"
    )


@mutant(breaks="SVC-008")
def clean_ignores_clustering_plans(patch: Patch) -> None:
    """A clean deletes files that a pending clustering needs, after a later write to the same group."""
    patch.edit(
        clean.plan_clean,
        "groups_in_plans(table, timeline)",
        "groups_in_plans(table, timeline, ('compaction', 'logcompaction'))",
    )


@mutant(breaks="SVC-009")
def clustering_ignores_concurrent_updates(patch: Patch) -> None:
    """A clustering completes whatever has been written to its groups since it read them."""
    patch.edit(ClusteringExecution.check_completion, "checker.check(mine, other)", "None")


@mutant(breaks="SVC-009")
def clustering_ignores_updates_after_plan(patch: Patch) -> None:
    """A clustering reads the current state of its groups, whatever files the plan names."""
    patch.set(clustering, "check_unchanged", lambda *_: None)


@mutant(breaks="SVC-009")
def writer_ignores_planned_clusterings(patch: Patch) -> None:
    """A writer continues although a clustering of its file group is planned, without being configured to."""
    patch.edit(update_strategy.apply_update_strategy, "if planned_for and name == REJECT:", "if False:")


@mutant(breaks="SVC-009")
def clustering_conflict_check_skipped(patch: Patch) -> None:
    """A clustering completes although a file group of its plan has changed in the meantime."""
    patch.edit(clustering.ClusteringExecution.check_completion, "        checker.check(mine, other)\n", "        pass\n")


@mutant(breaks="SVC-010")
def compaction_plan_ignores_clusterings(patch: Patch) -> None:
    """A compaction plan takes file groups that are planned for clustering."""
    patch.edit(compaction.plan_compaction, '("compaction", "clustering")', '("compaction",)')


@mutant(breaks="SVC-010")
def clustering_of_groups_planned_for_compaction(patch: Patch) -> None:
    """A clustering is planned over file groups of a pending compaction."""
    patch.edit(plan.Planner.candidates, "groups_in_plans(self.table, self.view.timeline)", "()")


@mutant(breaks="SVC-011")
def compaction_revives_replaced_groups(patch: Patch) -> None:
    """A reader returns a replaced group again once a compaction has given it a new base file."""
    patch.edit(
        file_groups.load_file_groups,
        "replaced.get(identity)",
        "None if any(c.compacted and identity in {(s.partition, s.file_id) for s in c.stats} for c in commits.values())"
        " else replaced.get(identity)",
    )


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


@mutant(breaks="SVC-012")
def clean_deletes_inputs_of_index_plan(patch: Patch) -> None:
    """A clean deletes files that only a pending index plan needs."""
    patch.edit(index_plan.files_to_index, "return frozenset(", "return frozenset() and frozenset(")


def compact_without_plan(table: Table, options: Mapping[str, str]) -> None:
    """Compact, then delete the plan."""
    done = compaction.compact(table, options)
    for state in ("requested", "inflight"):
        table.storage.delete(f"{table.properties.timeline_folder}/{done}.compaction.{state}")


@mutant(breaks="SVC-013")
def inline_compaction_without_plan(patch: Patch) -> None:
    """An inline compaction stores no plan on the timeline."""

    patch.edit(
        compaction.inline_compaction,
        "            compact(table,",
        f"            __import__({__name__!r}, fromlist=['here']).compact_without_plan(table,",
    )


@mutant(breaks="SVC-014")
def inline_clustering_on_by_default(patch: Patch) -> None:
    """A writer clusters after every fourth commit, unless a setting forbids it."""
    patch.edit(
        clustering.inline_clustering,
        "settings = ClusteringSettings.of(table.options)",
        'settings = ClusteringSettings.of({"hoodie.clustering.inline": "true", **table.options})',
    )


@mutant(breaks="SVC-014")
def inline_compaction_on_by_default(patch: Patch) -> None:
    """A writer compacts after every fifth delta commit, unless a setting forbids it."""
    patch.edit(compaction.inline_compaction, '== "true"', '!= "false"')
