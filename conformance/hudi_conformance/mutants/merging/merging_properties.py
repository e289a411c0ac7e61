"""Mutants against the laws of merging: what must not make a difference, makes one."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups
from hudi_reference.query.partition_columns import Folders
from hudi_reference.records.changes import Changes
from hudi_reference.services.compaction.compaction import Compactor
from hudi_reference.write.bucket_index import BucketLookup
from hudi_reference.write.writer import Writer


@mutant(breaks="LF-005")
def one_log_file_is_enough(patch: Patch) -> None:
    """Leaves out what does not fit into the first log file of a write."""
    patch.edit(
        Writer.append_log_file,
        "in roll_over(first, blocks, self.logs.max_file_size):",
        "in list(roll_over(first, blocks, self.logs.max_file_size))[:1]:",
    )


@mutant(breaks="MRG-005")
def keys_are_compared_without_case(patch: Patch) -> None:
    """Takes keys that differ in upper and lower case only for one record."""
    patch.edit(Changes.identities, "batch.column(KEY).to_pylist()", "[key.lower() for key in batch.column(KEY).to_pylist()]")


@mutant(breaks="MRG-009")
def event_time_needs_no_order_of_files(patch: Patch) -> None:
    """Has the newest log file of a slice merged first in every mode, since with event times the order decides nothing."""
    patch.edit(
        file_groups._slices, "sorted(logs, key=lambda log: log[0])", "sorted(logs, key=lambda log: log[0], reverse=True)"
    )


@mutant(breaks="MRG-027")
def compactions_have_an_order_of_their_own(patch: Patch) -> None:
    """Merges the log files of a slice from the newest on in a compaction, and from the oldest on in queries."""
    patch.edit(
        Compactor.merge,
        "reader.read(found, ",
        "reader.read(type(found)(**vars(found) | {'log_files': found.log_files[::-1]}), ",
    )


@mutant(breaks=("LAY-006", "LAY-008"))
def escaped_folders_are_compared_as_they_are(patch: Patch) -> None:
    """Leaves partitions out of a query by the names of their folders, escapes and all."""
    patch.edit(Folders._text, "unescape(text) if self.url_encode else text", "text")


@mutant(breaks="MRG-007")
def buckets_depend_on_the_size_of_the_input(patch: Patch) -> None:
    """Makes the bucket of a key of its hash and of how many rows come with it."""
    patch.edit(BucketLookup.locate, "for key in keys]", "for key in [f'{key}{len(keys)}' for key in keys]]")
