"""Mutants of compaction and log compaction."""

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups, log_scanner
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.changes import KEY
from hudi_reference.services.compaction import compaction, log_compaction
from hudi_reference.services.compaction.compaction import Compactor


def with_deleted_rows(reader: SliceReader, found: file_groups.FileSlice) -> pa.Table:
    """The rows of a slice, with those of its base file whose keys its logs delete."""
    kept, base = (reader.read(found, reader.schema.names, logs=logs) for logs in (True, False))
    return pa.concat_tables([kept, base.filter(pc.invert(pc.is_in(base.column(KEY), value_set=kept.column(KEY))))])


@mutant(breaks="CMP-006")
def compaction_ignores_deletes(patch: Patch) -> None:
    """A compaction merges rows only: records that the logs delete are in the new base file."""

    patch.edit(
        Compactor.merge,
        "reader.read(file_slice, reader.schema.names)",
        f"__import__({__name__!r}, fromlist=['here']).with_deleted_rows(reader, file_slice)",
    )


@mutant(breaks="LCP-001")
def log_compaction_completes_after_compaction(patch: Patch) -> None:
    """A log compaction completes although a later compaction has merged its inputs, and a reader applies it again."""
    patch.set(log_compaction, "find_later_compaction", lambda *_: None)
    patch.edit(
        log_scanner.apply_log_compactions,
        "*places_of.pop(instant, ())",
        "*(places_of.pop(instant, ()) if found else ())",
    )


@mutant(breaks="LCP-004")
def pending_compacted_block_read(patch: Patch) -> None:
    """A reader uses a compacted block in place of its inputs while the log compaction is pending."""
    patch.edit(
        file_groups.make_slices,
        "in compactions else completion",
        "in compactions else completion or last",
    )
    patch.edit(
        LogScanner._is_applied,
        "return self.timeline.completion_of(block.instant) is not None",
        "return HeaderKey.COMPACTED_BLOCK_TIMES in block.header or self.timeline.completion_of(block.instant) is not None",
    )


@mutant(breaks="CMP-001")
def elapsed_time_triggers_no_compaction(patch: Patch) -> None:
    """Counts delta commits also where the time since the last compaction decides."""
    patch.set(compaction, "TRIGGERS", {**compaction.TRIGGERS, "TIME_ELAPSED": lambda enough, _: enough})


@mutant(breaks="CMP-001")
def either_trigger_of_compactions_needs_both(patch: Patch) -> None:
    """Plans a compaction for enough delta commits and enough time where one of them is enough."""
    patch.set(compaction, "TRIGGERS", {**compaction.TRIGGERS, "NUM_OR_TIME": lambda enough, late: enough and late})


@mutant(breaks="CMP-001")
def one_of_both_triggers_of_compactions_is_enough(patch: Patch) -> None:
    """Plans a compaction for enough delta commits or enough time where both are needed."""
    patch.set(compaction, "TRIGGERS", {**compaction.TRIGGERS, "NUM_AND_TIME": lambda enough, late: enough or late})
