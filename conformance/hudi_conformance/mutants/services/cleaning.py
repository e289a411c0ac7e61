"""Mutants of cleaning that change more than one function."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.clean.clean import CleanExecution


@mutant(breaks=("CLN-002", "CLN-001"))
def clean_plan_checked_during_deletion(patch: Patch) -> None:
    """A clean checks its plan when it comes to the last file: it has deleted the other ones before it refuses the plan."""
    patch.edit(CleanExecution.check_plan, "check_plan(self.table, self.requested, plan)", "pass")
    patch.edit(
        CleanExecution.delete_all,
        "table.storage.delete(path)",
        "path == files[-1] and check_plan(table, self.requested, plan)\n        table.storage.delete(path)",
    )
