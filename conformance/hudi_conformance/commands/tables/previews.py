"""What the table services of the reference would do: the steps that `hudi-conformance service` shows before it asks.

A pending plan may come from another engine, or may have been changed. It is shown as its execution would carry it out, after
the same checks: a plan that would be refused is refused here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from hudi_reference.errors import ConcurrentChange
from hudi_reference.layout.metadata_settings import partitions_to_drop
from hudi_reference.metadata.availability import METADATA_FOLDER, usable_partitions
from hudi_reference.query.table import Table
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.clean.clean import files_of_clean
from hudi_reference.services.clustering.clustering import ClusteringExecution, check_unchanged, pending_withdrawals
from hudi_reference.services.clustering.plan import plan_clustering
from hudi_reference.services.clustering.plan_record import ClusteringPlan, parse_clustering_plan
from hudi_reference.services.compaction.compaction import CompactionExecution, plan_compaction
from hudi_reference.services.compaction.log_compaction import LogCompactionExecution, find_later_compaction, plan_log_compaction
from hudi_reference.services.indexing.indexing import IndexingExecution, indexes_to_build
from hudi_reference.services.indexing.named_indexes import plan_drop
from hudi_reference.services.planning.compaction_plan import Operation, operations_in
from hudi_reference.services.planning.plan_execution import (
    PLANNED,
    PlanExecution,
    checked_plan,
    files_by_instant,
    pending_of,
    stored_by,
)
from hudi_reference.services.rollback.failed_writes import plans_before_clean
from hudi_reference.services.rollback.records import RollbackPlan
from hudi_reference.services.rollback.restore import files_of_restore, plan_restore
from hudi_reference.services.rollback.rollback import files_of, find_attempt, plan_rollback, stored_files
from hudi_reference.services.rollback.savepoint import savepoint_files
from hudi_reference.services.withdrawal import plan_to_withdraw

Options = Mapping[str, str]
#: What happens, and to what.
Step = tuple[str, str]


def clean_steps(table: Table, _: str, options: Options) -> list[Step]:
    """Writes that are rolled back first, then the files of a clean."""
    rolled_back = [step for plan in plans_before_clean(table, options) for step in _steps_of_rollback(plan)]
    return [*rolled_back, *_deleting(files_of_clean(table, options))]


def compaction_steps(table: Table, _: str, options: Options) -> list[Step]:
    """The slices of pending plans, then those of a new plan."""
    pending = _pending(table, CompactionExecution, lambda one: _merging("compact", operations_in(checked_plan(one))))
    return [*pending, *_merging("compact", plan_compaction(table, options))]


def log_compaction_steps(table: Table, _: str, options: Options) -> list[Step]:
    """The slices of pending plans, then those of a new plan."""
    return [*_pending(table, LogCompactionExecution, _log_compaction), *_merging("join", plan_log_compaction(table, options))]


def _log_compaction(execution: PlanExecution) -> list[Step]:
    if find_later_compaction(execution.table, execution.table.timeline, execution.requested) is not None:
        return [("drop", f"{execution.requested} logcompaction, whose log files a later compaction merges")]
    return _merging("join", operations_in(checked_plan(execution)))


def _merging(verb: str, operations: Sequence[Operation]) -> list[Step]:
    found = (operation.file_slice for operation in operations)
    return [(verb, f"{slice_.path(slice_.file_id)}  {len(slice_.log_files)} log files") for slice_ in found]


def clustering_steps(table: Table, _: str, options: Options) -> list[Step]:
    """Plans whose withdrawal has begun, the groups of pending plans, then those of a new plan."""
    withdrawn, clusterings = [plan for _, plan in pending_withdrawals(table)], pending_of(table.timeline, "clustering")
    removed = set(withdrawn).difference(found.requested for found in clusterings)
    left = [step for time in sorted(removed) for step in _steps_of_rollback(plan_rollback(table, time))]
    pending = _pending(table, ClusteringExecution, lambda one: _clustering(one, withdrawn))
    return [*left, *pending, *_rewriting(plan_clustering(table, options))]


def _clustering(execution: PlanExecution, withdrawn: Sequence[str]) -> list[Step]:
    table, plan = execution.table, parse_clustering_plan(checked_plan(execution))
    try:
        check_unchanged(table.view(), plan.groups)
    except ConcurrentChange as error:
        return [("withdraw", f"{execution.requested} clustering: {error.message}, in {error.path or 'the table'}")]
    return [("withdraw", f"{execution.requested} clustering")] if execution.requested in withdrawn else _rewriting(plan)


def _rewriting(plan: ClusteringPlan) -> list[Step]:
    return [
        ("rewrite", f"{group.partition or 'the table'}  {', '.join(name for _, name in group.members)}  into {group.outputs}")
        for group in plan.groups
    ]


def _pending(table: Table, execution: type[PlanExecution], steps_of: Callable[[PlanExecution], Iterable[Step]]) -> list[Step]:
    """The steps of the pending plans of a service, and the files that earlier executions of these plans stored.

    Which of these files are stored again depends on the rows that the execution reads.
    """
    pending = pending_of(table.timeline, execution.action)
    stored, found = files_by_instant(table) if pending else {}, list[Step]()
    for plan in pending:
        found += steps_of(execution(table, plan.requested))
        own = stored_by(execution.action, stored.get(plan.requested, ()))
        found += [("delete", f"{path}  unless it is stored again") for path in own]
    return found


def rollback_steps(table: Table, instant: str, _: Options) -> list[Step]:
    """The write that is rolled back, or the execution of a plan that stays, and its files."""
    attempt = find_attempt(table, instant)
    if attempt is not None:
        return [("revert", f"{instant} {attempt.action}"), *_deleting(stored_files(table, attempt))]
    return _steps_of_rollback(plan_rollback(table, instant))


def _steps_of_rollback(plan: RollbackPlan) -> list[Step]:
    return [("undo", f"{plan.target} {plan.action}"), *_deleting(plan.files)]


def savepoint_steps(table: Table, instant: str, _: Options) -> list[Step]:
    """The files that are protected."""
    return [("protect", path) for path in savepoint_files(table, instant)]


def savepoint_deletion_steps(_: Table, instant: str, __: Options) -> list[Step]:
    """The savepoint whose files are not protected any more."""
    return [("give free", f"{instant} savepoint")]


def restore_steps(table: Table, instant: str, _: Options) -> list[Step]:
    """The writes that are rolled back, and their files."""
    plan = plan_restore(table, instant)
    return [*(("undo", f"{time} {action}") for time, action in plan.writes), *_deleting(files_of_restore(table, plan))]


def withdrawal_steps(table: Table, instant: str, _: Options) -> list[Step]:
    """The plan, and the files that its execution has stored."""
    plan = plan_to_withdraw(table, instant)
    stored = files_of(table, plan) if plan.action in PLANNED else ()
    return [("withdraw", f"{instant} {plan.action}"), *_deleting(stored)]


def archive_steps(table: Table, _: str, options: Options) -> list[Step]:
    """The actions that move to the history, and the files of the history that are merged."""
    plan = archive(table, options, dry_run=True)
    return [*(("move", f"{i.requested} {i.action}") for i in plan.instants), *_deleting(plan.to_delete)]


def index_steps(table: Table, _: str, options: Options) -> list[Step]:
    """The partitions of pending plans, then those of a new plan with the files that an earlier build has left in them."""
    pending = [step for found in pending_of(table.timeline, "indexing") for step in _building(table, found.requested)]
    new = indexes_to_build(table, options)
    left = [info.path for name in new for info in table.storage.list(f"{METADATA_FOLDER}/{name}/")]
    return [*pending, *(("build", name) for name in new), *_deleting(left)]


def _building(table: Table, requested: str) -> list[Step]:
    plan = checked_plan(IndexingExecution(table, requested))
    return [("build", info["metadataPartitionPath"]) for info in plan["indexPartitionInfos"] or ()]


def drop_index_steps(table: Table, name: str, _: Options) -> list[Step]:
    """The partitions of an index, and their files."""
    plan = plan_drop(table, name)
    return [*(("drop", partition) for partition in plan.partitions), *_deleting(plan.files)]


def settings_steps(table: Table) -> list[Step]:
    """The partitions of the metadata table that every action with the settings of the table drops."""
    return [("drop", partition) for partition in partitions_to_drop(table.options, usable_partitions(table.properties))]


def _deleting(paths: Iterable[str]) -> list[Step]:
    return [("delete", path) for path in paths]
