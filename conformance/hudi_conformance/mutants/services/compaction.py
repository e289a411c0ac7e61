"""Planted bugs: compaction and log compaction."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.query import file_groups, slice_reader
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table
from hudi_reference.records.changes import KEY
from hudi_reference.services.compaction import compaction, log_compaction
from hudi_reference.services.compaction.compaction import Compactor
from hudi_reference.services.compaction.log_compaction import Joiner
from hudi_reference.services.planning import compaction_plan


@planted(breaks="CMP-001")
def compaction_makes_a_new_group(bug: Bug) -> None:
    """A compaction writes its base files under new file ids, so that what it compacted stays."""
    bug.edit(Compactor.merge, "BaseFileName(found.file_id,", "BaseFileName(self.table.ids.file_id(),")


@planted(breaks=("CMP-002", "MRG-008", "MRG-010", "MRG-013", "OCC-003"))
def compaction_merges_in_commit_order(bug: Bug) -> None:
    """A compaction lets the last log record of a key stay, whatever the table's merge mode."""
    bug.edit(
        Compactor.merge,
        "self.reader",
        "(lambda r, new: new(r, merging=new(r.merging, mode='COMMIT_TIME_ORDERING')))"
        "(self.reader, __import__('dataclasses').replace)",
    )


@planted(breaks="CMP-003")
def compaction_plans_leave_out_the_newest_log(bug: Bug) -> None:
    """A plan names all log files of a slice but the newest."""
    bug.edit(compaction_plan.Operation.to_record, "list(self.found.log_files)", "list(self.found.log_files)[:-1]")


@planted(breaks="CMP-004")
def compaction_needs_a_base_file(bug: Bug) -> None:
    """A planner passes over file groups that have logs and no base file."""
    bug.edit(compaction_plan.eligible, "not slice_.log_files or ", "not slice_.log_files or slice_.base_file is None or ")


@planted(breaks="CMP-005")
def compaction_deletes_its_inputs(bug: Bug) -> None:
    """A compaction deletes the log files that it has merged."""
    bug.edit(
        compaction.execute_compaction,
        "remove_strays(table, requested, stats)",
        "[table.storage.delete(op.found.path(name)) for op in operations for name in op.found.log_files]",
    )


@planted(breaks="CMP-006")
def compaction_forgets_deletes(bug: Bug) -> None:
    """A compaction merges rows alone: what the logs delete is in the new base file."""

    bug.edit(
        Compactor.merge,
        "reader.read(found, reader.schema.names)",
        f"__import__({__name__!r}, fromlist=['here']).with_deleted_rows(reader, found)",
    )


def with_deleted_rows(reader: SliceReader, found: file_groups.FileSlice) -> pa.Table:
    """The rows of a slice, with those of its base file whose keys its logs delete."""
    kept, base = (reader.read(found, reader.schema.names, logs=logs) for logs in (True, False))
    return pa.concat_tables([kept, base.filter(pc.invert(pc.is_in(base.column(KEY), value_set=kept.column(KEY))))])


@planted(breaks="LCP-001")
def log_compaction_makes_a_base_file(bug: Bug) -> None:
    """A log compaction stores what it has joined as a base file."""
    bug.edit(
        Joiner.join,
        'LogFileName(found.file_id, self.requested, 1, f"{number}-0-0")',
        "__import__('hudi_reference.layout.names', fromlist=['names'])"
        ".BaseFileName(found.file_id, f'{number}-0-0', self.requested, 'parquet')",
    )


@planted(breaks="LCP-002")
def joined_blocks_do_not_say_what_they_joined(bug: Bug) -> None:
    """A log compaction leaves the header with the instants out."""
    bug.edit(Joiner._writer, ", compacted=instants", "")


@planted(breaks="LCP-004")
def joined_blocks_count_before_they_are_committed(bug: Bug) -> None:
    """A reader takes a joined block for its inputs while the log compaction is still pending."""
    bug.edit(
        file_groups._slices,
        "parsed.instant in compactions else completion",
        "parsed.instant in compactions else completion or last",
    )
    bug.edit(
        SliceReader._counts,
        "return self.timeline.completion_of(block.instant) is not None",
        "return HeaderKey.COMPACTED_BLOCK_TIMES in block.header or self.timeline.completion_of(block.instant) is not None",
    )


@planted(breaks="LCP-001")
def overtaken_log_compactions_complete(bug: Bug) -> None:
    """A log compaction completes although a later compaction has merged its inputs, and a reader applies it once more."""
    bug.set(log_compaction, "overtaken_by", lambda *_: None)
    bug.edit(slice_reader._with_compacted_in_place, "(joined if places else ())", "joined")


@planted(breaks="SVC-004")
def plans_of_compactions_overlap(bug: Bug) -> None:
    """A planner does not look at the plans of other compactions."""
    bug.edit(compaction.plan_compaction, '("compaction", "clustering")', '("clustering",)')


@planted(breaks="SVC-007")
def inline_compaction_drops_the_plans_of_others(bug: Bug) -> None:
    """A writer that compacts takes every pending plan for its own failure, and removes it."""
    bug.edit(
        compaction.compact,
        "execute_compaction(table, pending.requested) for",
        "str(transitions_of(table).remove(pending)) for",
    )


@planted(breaks="SVC-010")
def compaction_overlooks_planned_clusterings(bug: Bug) -> None:
    """A compaction plan takes file groups that are planned for clustering."""
    bug.edit(compaction.plan_compaction, '("compaction", "clustering")', '("compaction",)')


@planted(breaks="SVC-011")
def compacted_groups_are_never_replaced(bug: Bug) -> None:
    """A reader shows a replaced group again once a compaction has given it a new base file."""
    bug.edit(
        file_groups.load_file_groups,
        "replaced.get(identity)",
        "None if any(c.compacted and identity in {(s.partition, s.file_id) for s in c.stats} for c in commits.values())"
        " else replaced.get(identity)",
    )


@planted(breaks="SVC-013")
def inline_compaction_leaves_no_plan(bug: Bug) -> None:
    """A writer that compacts leaves nothing of its plan on the timeline."""

    bug.edit(
        compaction.compact_after,
        "            compact(table,",
        f"            __import__({__name__!r}, fromlist=['here']).compact_without_a_plan(table,",
    )


def compact_without_a_plan(table: Table, options: Mapping[str, str]) -> None:
    """Compact, and delete what says how."""
    done = compaction.compact(table, options)
    for state in ("requested", "inflight"):
        table.storage.delete(f"{table.properties.timeline_folder}/{done}.compaction.{state}")


@planted(breaks="SVC-014")
def writers_compact_unless_told_not_to(bug: Bug) -> None:
    """A writer compacts by itself after every fifth delta commit, unless a setting forbids it."""
    bug.edit(compaction.compact_after, '== "true"', '!= "false"')


@planted(breaks="NBC-003")
def compaction_waits_for_writers(bug: Bug) -> None:
    """No compaction is planned while a write is under way."""
    bug.edit(
        compaction.plan_compaction,
        "not is_due(",
        'any(i.action == "deltacommit" for i in view.timeline.pending) or not is_due(',
    )
