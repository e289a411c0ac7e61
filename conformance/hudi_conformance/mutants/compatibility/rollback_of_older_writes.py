"""Planted bugs: rollback and restore of writes from before a migration."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.services.rollback import restore, rollback


@planted(breaks="TL-019")
def shared_logs_keep_what_was_rolled_back(bug: Bug) -> None:
    """Undoes a write of version 6 to logs by removing its instant alone."""
    bug.edit(rollback.check_own_files, "if target.state is not State.COMPLETED:", "if target:")


@planted(breaks="TL-023")
def a_restore_plans_what_it_cannot_carry_out(bug: Bug) -> None:
    """Publishes the plan of a restore before it looks at what the writes left, and stops halfway."""
    bug.edit(restore.plan_restore, "check_own_files(table, found)", "pass")
