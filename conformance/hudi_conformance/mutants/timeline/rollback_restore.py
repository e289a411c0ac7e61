"""Mutants of rollback, savepoint, and restore."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.rollback import restore, rollback
from hudi_reference.write.commit import Commit


@mutant(breaks=("TL-019", "TL-030"))
def write_and_rollback_both_complete(patch: Patch) -> None:
    """A write does not check whether its rollback is planned, and the rollback does not check whether the write has
    completed.
    """
    patch.edit(Commit.complete, "check_not_rolled_back(table.storage, table.properties, timeline, self.requested)", "pass")
    patch.set(rollback, "_drop_if_overtaken", lambda *_: None)


@mutant(breaks="TL-024")
def restore_without_plan(patch: Patch) -> None:
    """A restore computes what to roll back when it is executed: its plan names nothing."""
    patch.edit(restore.schedule_restore, '"instantsToRollback": _instant_records(plan.writes)', '"instantsToRollback": []')
    patch.edit(
        restore.RestoreExecution.work,
        "_plan_of(self.requested, plan), self.table.clock.now()",
        "RestorePlan(plan['savepointToRestoreTimestamp'], tuple((w.requested, w.action)"
        " for w in self.table.timeline.writes[::-1] if w.requested > plan['savepointToRestoreTimestamp']), self.requested),"
        " self.table.clock.now()",
    )
