"""Planted bugs against the laws of merging: what must not make a difference, makes one."""

from hudi_conformance.mutants.planting import Bug, planted
from hudi_reference.records.changes import Changes
from hudi_reference.table.write import Writer


@planted(breaks="LF-005")
def one_log_file_is_enough(bug: Bug) -> None:
    """Leaves out what does not fit into the first log file of a write."""
    bug.edit(
        Writer.append_log_file,
        "in roll_over(first, blocks, self.logs.max_file_size):",
        "in list(roll_over(first, blocks, self.logs.max_file_size))[:1]:",
    )


@planted(breaks="MRG-005")
def keys_are_compared_without_case(bug: Bug) -> None:
    """Takes keys that differ in upper and lower case only for one record."""
    bug.edit(Changes.identities, "batch.column(KEY).to_pylist()", "[key.lower() for key in batch.column(KEY).to_pylist()]")
