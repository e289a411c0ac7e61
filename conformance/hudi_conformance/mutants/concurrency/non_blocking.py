"""Mutants: writers that do not block one another, and the order of actions and of records."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import incremental
from hudi_reference.records.keys import bucket_hash
from hudi_reference.services.compaction.compaction import Compactor
from hudi_reference.write import bucket_index as placing
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.config import Concurrency
from hudi_reference.write.concurrency.conflict_resolution import ConflictChecker


@mutant(breaks="NBC-004")
def non_blocking_writers_abort_all_the_same(patch: Patch) -> None:
    """A writer that need not block runs the overlap check of optimistic ones."""
    patch.edit(ConflictChecker._both, "return self.mode is Mode.NON_BLOCKING", "return False")


@mutant(breaks="NBC-004")
def every_writer_begins_a_group_of_its_own(patch: Patch) -> None:
    """Two writers to whom a bucket is new begin file groups with different ids for it."""
    patch.edit(bucket_hash.bucket_file_id, "if random is None else", "if False else")
    patch.edit(placing.BucketLookup._new_id, "if not self.fixed_ids:", "if True:")


@mutant(breaks="NBC-004")
def buckets_under_two_ids_do_not_meet(patch: Patch) -> None:
    """Optimistic writers compare file ids, so that two of them begin the file group of one bucket."""
    patch.edit(Commit._same_group, "identity if self.concurrency.index is None else", "identity if True else")


@mutant(breaks="NBC-004")
def every_table_does_without_blocking(patch: Patch) -> None:
    """Writers do not ask whether the table can do without blocking."""
    patch.edit(Concurrency.check, "if self.mode is Mode.NON_BLOCKING:", "if False:")


@mutant(breaks="NBC-005")
def compaction_knows_no_custom_merger(patch: Patch) -> None:
    """A table merges by a payload class or merger of its own in queries, and by event time in compactions."""
    patch.edit(
        Compactor.merge,
        "self.reader",
        "(lambda r, new: new(r, merging=new(r.merging, merger=None, mode='COMMIT_TIME_ORDERING')))"
        "(self.reader, __import__('dataclasses').replace)",
    )


@mutant(breaks="NBC-006")
def late_events_are_no_new_commits(patch: Patch) -> None:
    """An incremental query orders writes by the events that they brought: late data is older than what was there."""
    patch.edit(
        incremental.written_in,
        "window.holds(timeline.completion_of(time))",
        "window.holds(timeline.completion_of(time)) and ('ts' not in rows.column_names or (greatest := lambda part: "
        "pc.max(part.column('ts')).as_py() or 0)(rows.filter(pc.equal(rows.column(COMMIT_TIME), time))) >= greatest(rows))",
    )
