"""Mutants of non-blocking concurrency control."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups, incremental
from hudi_reference.records.keys import bucket_hash
from hudi_reference.services.compaction import compaction
from hudi_reference.services.compaction.compaction import Compactor
from hudi_reference.write import locate
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.config import Concurrency
from hudi_reference.write.concurrency.conflict_resolution import ConflictChecker


@mutant(breaks=("NBC-002", "NBC-007", "RDR-015"))
def logs_assigned_by_begin_time(patch: Patch) -> None:
    """Puts a log file into the slice that was the newest when its action began."""
    patch.edit(file_groups._slices, "if start <= time)", "if start <= parsed.instant)")


@mutant(breaks="NBC-002")
def pending_base_files_start_slices(patch: Patch) -> None:
    """A base file of a pending write starts a slice; committed logs are assigned to it, and no reader returns them."""
    patch.edit(
        file_groups._slices,
        "        elif completion is not None:\n"
        "            slices[parsed.instant] = FileSlice(*identity, parsed.instant, base_file=name)\n",
        "        else:\n"
        "            slices[parsed.instant] = FileSlice(*identity, parsed.instant, base_file=name if completion else None)\n",
    )


@mutant(breaks="NBC-003")
def compaction_not_planned_during_writes(patch: Patch) -> None:
    """No compaction is planned while a write is pending."""
    patch.edit(
        compaction.plan_compaction,
        "not is_due(",
        'any(i.action == "deltacommit" for i in view.timeline.pending) or not is_due(',
    )


@mutant(breaks="NBC-004")
def non_blocking_writers_abort_on_overlap(patch: Patch) -> None:
    """A writer with non-blocking concurrency control runs the overlap check of optimistic writers."""
    patch.edit(ConflictChecker._may_both_complete, "return self.mode is Mode.NON_BLOCKING", "return False")


@mutant(breaks="NBC-004")
def concurrent_writers_create_bucket_twice(patch: Patch) -> None:
    """Two writers that are the first to write to a bucket create file groups with different ids for it."""
    patch.edit(bucket_hash.bucket_file_id, "if random is None else", "if False else")
    patch.edit(locate.BucketLookup._new_id, "if not self.fixed_ids:", "if True:")


@mutant(breaks="NBC-004")
def bucket_conflicts_compared_by_file_id(patch: Patch) -> None:
    """Optimistic writers compare file ids, so that two of them create the file group of one bucket."""
    patch.edit(Commit._same_group, "identity if self.concurrency.index is None else", "identity if True else")


@mutant(breaks="NBC-004")
def non_blocking_requirements_not_checked(patch: Patch) -> None:
    """Writers do not check whether the table supports non-blocking concurrency control."""
    patch.edit(Concurrency.check, "if self.mode is Mode.NON_BLOCKING:", "if False:")


@mutant(breaks="NBC-004")
def replaced_bucket_file_id_reused(patch: Patch) -> None:
    """Gives the file group of a bucket the same id again after it was replaced, so that its rows stay hidden."""
    patch.edit(locate.BucketLookup._new_id, "if (partition, file_id) not in used_up", "if file_id")


@mutant(breaks="NBC-005")
def compaction_ignores_custom_merger(patch: Patch) -> None:
    """Merges by the custom payload class or merger in queries, and by event time in compactions."""
    patch.edit(
        Compactor.merge,
        "self.reader",
        "(lambda r, new: new(r, merging=new(r.merging, merger=None, mode='COMMIT_TIME_ORDERING')))"
        "(self.reader, __import__('dataclasses').replace)",
    )


@mutant(breaks="NBC-006")
def incremental_query_ordered_by_event_time(patch: Patch) -> None:
    """An incremental query orders writes by their event times, so that late data appears older than the rows before it."""
    patch.edit(
        incremental.rows_written_in,
        "window.holds(timeline.completion_of(time))",
        "window.holds(timeline.completion_of(time)) and ('ts' not in rows.column_names or (greatest := lambda part: "
        "pc.max(part.column('ts')).as_py() or 0)(rows.filter(pc.equal(rows.column(COMMIT_TIME), time))) >= greatest(rows))",
    )
