"""Mutants of rollback, savepoint, and restore."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.clean import clean
from hudi_reference.services.compaction import compaction
from hudi_reference.services.planning import plan_execution, rollback_validation
from hudi_reference.services.rollback import restore, rollback, savepoint
from hudi_reference.timeline import pending_rollbacks
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write.commit import Commit


@mutant(breaks="TL-019")
def rollback_of_version_6_keeps_log_blocks(patch: Patch) -> None:
    """Rolls back a write of version 6 to logs by removing its instant only."""
    patch.edit(rollback.check_own_files, "if target.state is not State.COMPLETED:", "if target:")


@mutant(breaks=("TL-019", "TL-030"))
def write_completes_despite_rollback_plan(patch: Patch) -> None:
    """A write completes although its rollback is planned."""
    patch.edit(Commit.complete, "check_not_rolled_back(table.storage, table.properties, timeline, self.requested)", "pass")


@mutant(breaks=("TL-019", "TL-030"))
def write_and_rollback_both_complete(patch: Patch) -> None:
    """A write does not check whether its rollback is planned, and the rollback does not check whether the write has
    completed.
    """
    patch.edit(Commit.complete, "check_not_rolled_back(table.storage, table.properties, timeline, self.requested)", "pass")
    patch.set(rollback, "_drop_if_overtaken", lambda *_: None)


@mutant(breaks=("TL-019", "TL-051"))
def rolled_back_write_completes(patch: Patch) -> None:
    """A writer that was rolled back while requested publishes the inflight state afterwards, and completes."""
    patch.edit(Transitions.complete, "if ACTIONS[instant.action].has_requested:", "if False:")


@mutant(breaks="TL-019")
def rollback_deletes_files_first(patch: Patch) -> None:
    """A rollback deletes the files of a completed write that readers still see."""
    patch.edit(rollback.remove_action, "            found = transitions.withdraw(found)\n", "            pass\n")


@mutant(breaks=("TL-019", "CLN-003"))
def rollback_ignores_cleaned_slices(patch: Patch) -> None:
    """The newest write is rolled back although a clean deletes the slices before it."""
    patch.edit(rollback.plan_rollback, "        check_state_complete(table, timeline, (target,))\n", "")


@mutant(breaks=("TL-019", "OCC-008"))
def writer_ignores_planned_rollback_of_base(patch: Patch) -> None:
    """A writer checks whether the write that it is based on was rolled back, and not whether its rollback is planned."""
    patch.edit(pending_rollbacks.check_base_commits_exist, "if commit.requested not in rolled_back", "if True")


@mutant(breaks="TL-019")
def compaction_of_planned_rollback(patch: Patch) -> None:
    """A compaction is planned over the logs of a write whose rollback is planned: its rows stay."""
    patch.edit(compaction.schedule_compaction, "[] if rolls_back_completed_write(table, table.timeline) else", "")


@mutant(breaks="TL-019")
def rollback_keeps_files(patch: Patch) -> None:
    """A rollback removes the instant and leaves its files on storage."""
    patch.edit(rollback.remove_action, "table.storage.delete(path)", "pass")


@mutant(breaks="TL-020")
def rollback_not_resumed(patch: Patch) -> None:
    """A rollback ignores the plan of an earlier attempt, which stays pending."""
    patch.edit(rollback.plan_rollback, "plan.target == instant", "False")


@mutant(breaks=("TL-021", "TL-022"))
def savepoint_ignores_planned_clean(patch: Patch) -> None:
    """A savepoint checks that no clean deletes its files when it begins, and not when it completes."""
    patch.edit(savepoint.savepoint, "content, lambda timeline: _check_kept(table, timeline, instant, files))", "content)")


@mutant(breaks="TL-021")
def savepoint_of_archived_write_completes(patch: Patch) -> None:
    """A savepoint completes although its write was archived in the meantime, so that it cannot be restored."""
    patch.edit(savepoint._check_kept, "    _check_active(timeline, instant)\n", "")


@mutant(breaks="TL-021")
def clean_ignores_savepoints(patch: Patch) -> None:
    """A clean applies the retention policy only."""
    patch.edit(clean.plan_clean, "savepointed_files(table, timeline)", "()")


@mutant(breaks="TL-022")
def savepoint_without_files(patch: Patch) -> None:
    """A savepoint names no file, so that the protected files must be inferred."""
    patch.edit(savepoint.savepoint, "by_partition(files)", "by_partition(())")


@mutant(breaks="TL-023")
def restore_plan_not_validated(patch: Patch) -> None:
    """Publishes the plan of a restore before it checks the state that the rollbacks leave, and stops in the middle."""
    patch.edit(restore.plan_restore, "check_own_files(table, found)", "pass")


@mutant(breaks="TL-023")
def plan_started_without_lock(patch: Patch) -> None:
    """An executor publishes the inflight state after its plan was removed."""
    patch.edit(Transitions.start, "if ACTIONS[instant.action].planned else None", "if False else None")


@mutant(breaks="TL-023")
def compaction_completes_during_restore(patch: Patch) -> None:
    """A compaction completes that a pending restore rolls back."""
    patch.edit(plan_execution.PlanExecution.check, "if ACTIONS[self.action].writes:", "if False:")


@mutant(breaks="TL-023")
def write_completes_during_restore(patch: Patch) -> None:
    """A writer that began before a restore completes while the restore is pending."""
    patch.edit(pending_rollbacks.check_no_restore, 'if pending.action == "restore":', "if False:")


@mutant(breaks=("TL-023", "SVC-005"))
def restore_without_lock(patch: Patch) -> None:
    """Of two executors of one restore the slower one creates pending files again that the faster one has removed."""
    patch.edit(
        rollback.remove_action,
        "    with held(transitions.times.lock, owner):\n        found = next(",
        "    if True:\n        found = next(",
    )


@mutant(breaks=("TL-023", "CLN-002"))
def clean_planned_during_restore(patch: Patch) -> None:
    """A clean is planned while a restore makes the slices current that it deletes."""
    patch.edit(clean.schedule_clean, " or rolls_back_completed_write(table, table.timeline)", "")


@mutant(breaks=("TL-023", "CLN-003"))
def restore_ignores_planned_cleans(patch: Patch) -> None:
    """A restore or rollback does not check planned cleans."""
    patch.edit(
        rollback_validation.check_state_complete,
        "to_be_deleted = files_of_pending_cleans(table, timeline)",
        "to_be_deleted = frozenset()",
    )


@mutant(breaks="TL-023")
def restore_keeps_files(patch: Patch) -> None:
    """A restore removes later instants from the timeline and leaves their files in storage."""
    patch.edit(restore.RestoreExecution._remove_write, "remove_action(table, time, files)", "remove_action(table, time, ())")


@mutant(breaks="TL-023")
def restore_by_requested_time(patch: Patch) -> None:
    """A restore keeps writes that were requested before the savepoint, also if they completed after it."""
    patch.edit(restore._later, "(found.completion or found.requested) <= completion", "found.requested <= commit.requested")


@mutant(breaks="TL-024")
def restore_without_plan(patch: Patch) -> None:
    """A restore computes what to roll back when it is executed: its plan names nothing."""
    patch.edit(restore.schedule_restore, '"instantsToRollback": _named(plan.writes)', '"instantsToRollback": []')
    patch.edit(
        restore.RestoreExecution.work,
        "_plan_of(self.requested, plan), self.table.clock.now()",
        "RestorePlan(plan['savepointToRestoreTimestamp'], tuple((w.requested, w.action)"
        " for w in self.table.timeline.writes[::-1] if w.requested > plan['savepointToRestoreTimestamp']), self.requested),"
        " self.table.clock.now()",
    )
