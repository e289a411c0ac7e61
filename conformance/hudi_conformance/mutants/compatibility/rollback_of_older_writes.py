"""Mutants: rollback and restore of writes from before a migration."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.rollback import restore, rollback


@mutant(breaks="TL-019")
def shared_logs_keep_what_was_rolled_back(patch: Patch) -> None:
    """Undoes a write of version 6 to logs by removing its instant alone."""
    patch.edit(rollback.check_own_files, "if target.state is not State.COMPLETED:", "if target:")


@mutant(breaks="TL-023")
def a_restore_plans_what_it_cannot_carry_out(patch: Patch) -> None:
    """Publishes the plan of a restore before it looks at what the writes left, and stops halfway."""
    patch.edit(restore.plan_restore, "check_own_files(table, found)", "pass")
