"""Mutants: writes that replace whole partitions."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.write import bucket_index, commit
from hudi_reference.write.commit import Commit


@mutant(breaks="TL-039")
def replacements_are_plain_commits(patch: Patch) -> None:
    """Records an overwrite, or the deletion of a partition, as a commit."""
    patch.edit(commit._action_of, "if operation in REPLACING", "if False")


@mutant(breaks="TL-012")
def replacements_request_nothing(patch: Patch) -> None:
    """Leaves the requested file of an overwrite empty."""
    patch.edit(commit._action_of, "write_no_plan(table.ids.sync_marker())", 'b""')


@mutant(breaks="OCC-013")
def replaced_groups_are_not_compared(patch: Patch) -> None:
    """A writer compares the file groups that it wrote, and not those that it replaces: of a deletion there are none."""
    patch.edit(Commit._check_conflicts, "self.replaced or {}", "{}")


@mutant(breaks="NBC-004")
def buckets_take_the_id_of_a_replaced_group(patch: Patch) -> None:
    """Gives the file group of a bucket the same id again after it was replaced, so that its rows stay hidden."""
    patch.edit(bucket_index.BucketLookup._new_id, "if (partition, file_id) not in used_up", "if file_id")
