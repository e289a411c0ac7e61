"""Planted bugs: writes that replace whole partitions."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.write import bucket_index, commit
from hudi_reference.write.commit import Commit


@planted(breaks="TL-039")
def replacements_are_plain_commits(bug: Bug) -> None:
    """Records an overwrite, or the deletion of a partition, as a commit."""
    bug.edit(commit.begin, "if operation in REPLACING", "if False")


@planted(breaks="TL-012")
def replacements_request_nothing(bug: Bug) -> None:
    """Leaves the requested file of an overwrite empty."""
    bug.edit(commit.begin, "write_no_plan(ids.sync_marker())", 'b""')


@planted(breaks="OCC-013")
def replaced_groups_are_not_compared(bug: Bug) -> None:
    """A writer compares the file groups that it wrote, and not those that it replaces: of a deletion there are none."""
    bug.edit(Commit._check_conflicts, "self.replaced or {}", "{}")


@planted(breaks="NBC-004")
def buckets_take_the_id_of_a_replaced_group(bug: Bug) -> None:
    """Gives the file group of a bucket the same id again after it was replaced, so that its rows stay hidden."""
    bug.edit(bucket_index.Placing._new_id, "if (partition, file_id) not in used_up", "if file_id")
