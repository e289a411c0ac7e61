"""Mutants of compaction and log compaction."""

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups, log_scanner
from hudi_reference.query.file_groups import FileGroup
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.changes import KEY
from hudi_reference.services.compaction import compaction, log_compaction
from hudi_reference.services.compaction.compaction import Compactor
from hudi_reference.services.compaction.log_compaction import LogCompactor
from hudi_reference.services.planning import compaction_plan


@mutant(breaks="CMP-001")
def compaction_with_new_file_id(patch: Patch) -> None:
    """A compaction writes its base files under new file ids, so that the compacted slices stay."""
    patch.edit(Compactor.merge, "BaseFileName(file_slice.file_id,", "BaseFileName(self.table.ids.file_id(),")


@mutant(breaks=("CMP-002", "MRG-008", "MRG-010", "MRG-013", "OCC-003"))
def compaction_merges_in_commit_order(patch: Patch) -> None:
    """A compaction keeps the last log record of a key, whatever the merge mode of the table is."""
    patch.edit(
        Compactor.merge,
        "self.reader",
        "(lambda r, new: new(r, merging=new(r.merging, mode='COMMIT_TIME_ORDERING')))"
        "(self.reader, __import__('dataclasses').replace)",
    )


@mutant(breaks=("CMP-003", "RDR-012"))
def pending_compaction_hides_older_logs(patch: Patch) -> None:
    """Reads only the logs of the slice that a pending compaction has started."""
    patch.edit(FileGroup.latest, "while newest.pending_compaction and older:", "while False:")


@mutant(breaks="CMP-003")
def compaction_plan_omits_newest_log(patch: Patch) -> None:
    """A plan names all log files of a slice but the newest."""
    patch.edit(compaction_plan.Operation.to_record, "list(self.file_slice.log_files)", "list(self.file_slice.log_files)[:-1]")


@mutant(breaks="CMP-004")
def compaction_requires_base_file(patch: Patch) -> None:
    """A planner skips file groups that have logs and no base file."""
    patch.edit(compaction_plan.eligible, "not slice_.log_files or ", "not slice_.log_files or slice_.base_file is None or ")


@mutant(breaks="CMP-005")
def compaction_deletes_its_inputs(patch: Patch) -> None:
    """A compaction deletes the log files that it has merged."""
    patch.edit(
        compaction.CompactionExecution.work,
        "remove_strays(table, self.requested, self.stats)",
        "[table.storage.delete(op.file_slice.path(name)) for op in operations for name in op.file_slice.log_files]",
    )


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
def log_compaction_writes_base_file(patch: Patch) -> None:
    """A log compaction stores its result as a base file."""
    patch.edit(
        LogCompactor.merge,
        'LogFileName(file_slice.file_id, self.requested, 1, f"{number}-0-0")',
        "__import__('hudi_reference.layout.names', fromlist=['names'])"
        ".BaseFileName(file_slice.file_id, f'{number}-0-0', self.requested, 'parquet')",
    )


@mutant(breaks="LCP-001")
def log_compaction_completes_after_compaction(patch: Patch) -> None:
    """A log compaction completes although a later compaction has merged its inputs, and a reader applies it again."""
    patch.set(log_compaction, "overtaken_by", lambda *_: None)
    patch.edit(
        log_scanner._with_inputs_replaced,
        "default=None)",
        "default=None)\n    if newest is None:\n        yield from compacted",
    )


@mutant(breaks="LCP-002")
def compacted_block_without_instants(patch: Patch) -> None:
    """A log compaction omits the header with the compacted instants."""
    patch.edit(LogCompactor._writer, ", compacted=instants", "")


@mutant(breaks="LCP-003")
def compacted_block_and_its_inputs_applied(patch: Patch) -> None:
    """Applies the inputs of a log compaction before the compacted block."""
    patch.edit(
        log_scanner._with_inputs_replaced,
        "block.instant not in inputs | {instant}",
        "block.instant != instant",
    )


@mutant(breaks="LCP-004")
def pending_compacted_block_read(patch: Patch) -> None:
    """A reader uses a compacted block in place of its inputs while the log compaction is pending."""
    patch.edit(
        file_groups._slices,
        "is_legacy=is_legacy) else completion",
        "is_legacy=is_legacy) else completion or last",
    )
    patch.edit(
        LogScanner._is_applied,
        "return self.timeline.completion_of(block.instant) is not None",
        "return HeaderKey.COMPACTED_BLOCK_TIMES in block.header or self.timeline.completion_of(block.instant) is not None",
    )


@mutant(breaks="LCP-005")
def compacted_block_ordered_by_own_instant(patch: Patch) -> None:
    """Orders a compacted block by its own instant, after deltas that completed later."""
    patch.edit(
        log_scanner._with_inputs_replaced,
        "        if number == newest:\n            yield from",
        "    if newest is not None:\n        yield from",
    )
