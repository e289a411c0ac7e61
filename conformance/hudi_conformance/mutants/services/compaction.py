"""Mutants: compaction and log compaction."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups, log_scanner
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table
from hudi_reference.records.changes import KEY
from hudi_reference.services.compaction import compaction, log_compaction
from hudi_reference.services.compaction.compaction import Compactor
from hudi_reference.services.compaction.log_compaction import Joiner
from hudi_reference.services.planning import compaction_plan


@mutant(breaks="CMP-001")
def compaction_makes_a_new_group(patch: Patch) -> None:
    """A compaction writes its base files under new file ids, so that what it compacted stays."""
    patch.edit(Compactor.merge, "BaseFileName(found.file_id,", "BaseFileName(self.table.ids.file_id(),")


@mutant(breaks=("CMP-002", "MRG-008", "MRG-010", "MRG-013", "OCC-003"))
def compaction_merges_in_commit_order(patch: Patch) -> None:
    """A compaction lets the last log record of a key stay, whatever the table's merge mode."""
    patch.edit(
        Compactor.merge,
        "self.reader",
        "(lambda r, new: new(r, merging=new(r.merging, mode='COMMIT_TIME_ORDERING')))"
        "(self.reader, __import__('dataclasses').replace)",
    )


@mutant(breaks="CMP-003")
def compaction_plans_leave_out_the_newest_log(patch: Patch) -> None:
    """A plan names all log files of a slice but the newest."""
    patch.edit(compaction_plan.Operation.to_record, "list(self.found.log_files)", "list(self.found.log_files)[:-1]")


@mutant(breaks="CMP-004")
def compaction_needs_a_base_file(patch: Patch) -> None:
    """A planner passes over file groups that have logs and no base file."""
    patch.edit(compaction_plan.eligible, "not slice_.log_files or ", "not slice_.log_files or slice_.base_file is None or ")


@mutant(breaks="CMP-005")
def compaction_deletes_its_inputs(patch: Patch) -> None:
    """A compaction deletes the log files that it has merged."""
    patch.edit(
        compaction.execute_compaction,
        "remove_strays(table, requested, stats)",
        "[table.storage.delete(op.found.path(name)) for op in operations for name in op.found.log_files]",
    )


@mutant(breaks="CMP-006")
def compaction_forgets_deletes(patch: Patch) -> None:
    """A compaction merges rows alone: what the logs delete is in the new base file."""

    patch.edit(
        Compactor.merge,
        "reader.read(found, reader.schema.names)",
        f"__import__({__name__!r}, fromlist=['here']).with_deleted_rows(reader, found)",
    )


def with_deleted_rows(reader: SliceReader, found: file_groups.FileSlice) -> pa.Table:
    """The rows of a slice, with those of its base file whose keys its logs delete."""
    kept, base = (reader.read(found, reader.schema.names, logs=logs) for logs in (True, False))
    return pa.concat_tables([kept, base.filter(pc.invert(pc.is_in(base.column(KEY), value_set=kept.column(KEY))))])


@mutant(breaks="LCP-001")
def log_compaction_makes_a_base_file(patch: Patch) -> None:
    """A log compaction stores what it has joined as a base file."""
    patch.edit(
        Joiner.join,
        'LogFileName(found.file_id, self.requested, 1, f"{number}-0-0")',
        "__import__('hudi_reference.layout.names', fromlist=['names'])"
        ".BaseFileName(found.file_id, f'{number}-0-0', self.requested, 'parquet')",
    )


@mutant(breaks="LCP-002")
def joined_blocks_do_not_say_what_they_joined(patch: Patch) -> None:
    """A log compaction leaves the header with the instants out."""
    patch.edit(Joiner._writer, ", compacted=instants", "")


@mutant(breaks="LCP-004")
def joined_blocks_count_before_they_are_committed(patch: Patch) -> None:
    """A reader takes a joined block for its inputs while the log compaction is still pending."""
    patch.edit(
        file_groups._slices,
        "parsed.instant in compactions else completion",
        "parsed.instant in compactions else completion or last",
    )
    patch.edit(
        LogScanner._is_applied,
        "return self.timeline.completion_of(block.instant) is not None",
        "return HeaderKey.COMPACTED_BLOCK_TIMES in block.header or self.timeline.completion_of(block.instant) is not None",
    )


@mutant(breaks="LCP-001")
def overtaken_log_compactions_complete(patch: Patch) -> None:
    """A log compaction completes although a later compaction has merged its inputs, and a reader applies it once more."""
    patch.set(log_compaction, "overtaken_by", lambda *_: None)
    patch.edit(
        log_scanner._with_inputs_replaced,
        "default=None)",
        "default=None)\n    if newest is None:\n        yield from compacted",
    )


@mutant(breaks="SVC-004")
def plans_of_compactions_overlap(patch: Patch) -> None:
    """A planner does not look at the plans of other compactions."""
    patch.edit(compaction.plan_compaction, '("compaction", "clustering")', '("clustering",)')


@mutant(breaks="SVC-007")
def inline_compaction_drops_the_plans_of_others(patch: Patch) -> None:
    """A writer that compacts takes every pending plan for its own failure, and removes it."""
    patch.edit(
        compaction.compact,
        "execute_compaction(table, pending.requested) for",
        "str(transitions_of(table).remove(pending)) for",
    )


@mutant(breaks="SVC-010")
def compaction_overlooks_planned_clusterings(patch: Patch) -> None:
    """A compaction plan takes file groups that are planned for clustering."""
    patch.edit(compaction.plan_compaction, '("compaction", "clustering")', '("compaction",)')


@mutant(breaks="SVC-011")
def compacted_groups_are_never_replaced(patch: Patch) -> None:
    """A reader shows a replaced group again once a compaction has given it a new base file."""
    patch.edit(
        file_groups.load_file_groups,
        "replaced.get(identity)",
        "None if any(c.compacted and identity in {(s.partition, s.file_id) for s in c.stats} for c in commits.values())"
        " else replaced.get(identity)",
    )


@mutant(breaks="SVC-013")
def inline_compaction_leaves_no_plan(patch: Patch) -> None:
    """A writer that compacts leaves nothing of its plan on the timeline."""

    patch.edit(
        compaction.inline_compaction,
        "            compact(table,",
        f"            __import__({__name__!r}, fromlist=['here']).compact_without_a_plan(table,",
    )


def compact_without_a_plan(table: Table, options: Mapping[str, str]) -> None:
    """Compact, and delete what says how."""
    done = compaction.compact(table, options)
    for state in ("requested", "inflight"):
        table.storage.delete(f"{table.properties.timeline_folder}/{done}.compaction.{state}")


@mutant(breaks="SVC-014")
def writers_compact_unless_told_not_to(patch: Patch) -> None:
    """A writer compacts by itself after every fifth delta commit, unless a setting forbids it."""
    patch.edit(compaction.inline_compaction, '== "true"', '!= "false"')


@mutant(breaks="NBC-003")
def compaction_waits_for_writers(patch: Patch) -> None:
    """No compaction is planned while a write is under way."""
    patch.edit(
        compaction.plan_compaction,
        "not is_due(",
        'any(i.action == "deltacommit" for i in view.timeline.pending) or not is_due(',
    )
