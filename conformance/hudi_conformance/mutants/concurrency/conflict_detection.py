"""Mutants of the snapshot of a writer, the set of concurrent actions, and the conflict check."""

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.records.changes import KEY
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit, write
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency import conflict_resolution, key_conflicts
from hudi_reference.write.concurrency.conflict_resolution import MATRIX, Cell, ConflictChecker, Verdict, WriteKind
from hudi_reference.write.concurrency.heartbeats import Heartbeats
from hudi_reference.write.locate import Located

_BOTH = Cell(Verdict.BOTH, "no conflict")


@mutant(breaks="OCC-006")
def snapshot_is_greatest_begin_time(patch: Patch) -> None:
    """A writer records the greatest begin time of the timeline as its snapshot, instead of the greatest completion time."""
    patch.edit(conflict_resolution.snapshot_time, "instant.completion or instant.requested", "instant.requested")


@mutant(breaks="OCC-006")
def snapshot_taken_at_begin_time(patch: Patch) -> None:
    """A writer takes what had completed at its begin time as its snapshot."""
    patch.edit(commit.begin, "base = base_timeline or table.timeline", "base = table.timeline")


@mutant(breaks="OCC-007")
def data_files_written_under_lock(patch: Patch) -> None:
    """A writer holds the table lock while it stores its files."""
    patch.edit(
        Commit.add_file,
        "storage.create(join_path(stat.partition, name), data)",
        "with __import__('hudi_reference.locks', fromlist=['locks']).held(transitions_of(self.table).times.lock, 'files'):"
        " storage.create(join_path(stat.partition, name), data)",
    )


@mutant(breaks="OCC-008")
def key_lookup_reads_pending_writes(patch: Patch) -> None:
    """A writer also looks keys up in the files of pending writes, and appends its changes to them."""

    def locate(incoming: Any, view: Any, reader: Any, **how: Any) -> Any:
        found = located(incoming, view, reader, **how)
        for pending in view.timeline.pending:
            for info in reader.storage.list():
                if info.path.endswith(f"_{pending.requested}.parquet"):
                    partition, _, name = info.path.rpartition("/")
                    slice_ = FileSlice(partition, name.partition("_")[0], pending.requested, name)
                    keys = reader.base_keys(slice_)
                    moved = [(slice_, rows.filter(pc.is_in(rows.column(KEY), value_set=keys))) for _, rows in found.known]
                    kept = [(s, r.filter(pc.invert(pc.is_in(r.column(KEY), value_set=keys)))) for s, r in found.known]
                    found = Located([(s, rows) for s, rows in (*kept, *moved) if rows.num_rows], found.new)
        return found

    located: Callable[..., Any] = write.locate  # type: ignore[attr-defined]
    patch.set(write, "locate", locate)


@mutant(breaks="OCC-009")
def moved_record_not_deleted(patch: Patch) -> None:
    """A writer that stores an update as delete and insert omits the delete; the key is in two file groups."""
    patch.edit(
        write._change_known, "if file_slice.base_instant:", "if moves:\n            pass\n        elif file_slice.base_instant:"
    )


@mutant(breaks="OCC-010")
def lock_released_between_check_and_publication(patch: Patch) -> None:
    """Releases the lock after the conflict check, and takes it again to publish."""
    patch.edit(
        Transitions.complete,
        "        check(timeline)\n",
        "        check(timeline)\n        self.times.lock.release(owner)\n        self.times.lock.acquire(owner)\n",
    )


@mutant(breaks="OCC-010")
def lock_released_between_check_and_completion(patch: Patch) -> None:
    """Checks for conflicts under the lock, releases it, and takes it again to complete."""
    patch.edit(
        Transitions.complete,
        "        check(timeline)\n",
        "        check(timeline)\n        self.times.lock.release(owner)\n        self.times.lock.acquire(owner)\n",
    )


@mutant(breaks="OCC-011")
def late_completions_of_earlier_actions_ignored(patch: Patch) -> None:
    """The conflict check covers actions that began after the snapshot, and not those that completed after it."""
    patch.edit(
        conflict_resolution.completed_since,
        "(instant.completion or instant.requested) > snapshot",
        "instant.requested > snapshot",
    )


@mutant(breaks="OCC-012")
def conflict_check_on_stale_timeline(patch: Patch) -> None:
    """A writer checks for conflicts on the timeline that it loaded when it began."""
    patch.edit(
        Commit._check_conflicts,
        "self.base_timeline, timeline, plans=plans",
        "self.base_timeline, self.base_timeline, plans=plans",
    )


@mutant(breaks="OCC-012")
def conflict_check_ignores_archived_actions(patch: Patch) -> None:
    """A writer checks for conflicts on the active timeline only."""
    everything = "now.completed if now.start == base.start else now.completed_between(snapshot)"
    patch.edit(conflict_resolution.completed_since, everything, "now.completed")


@mutant(breaks="OCC-013")
def log_file_conflicts_ignored(patch: Patch) -> None:
    """The conflict check compares the base files of two writes, and not their log files."""
    patch.edit(conflict_resolution.write_kinds, "for stat in stats:", "for stat in (s for s in stats if not s.is_log):")


@mutant(breaks="OCC-013")
def base_file_conflicts_ignored(patch: Patch) -> None:
    """The conflict check compares the log files of two writes, and not their base files."""
    patch.edit(conflict_resolution.write_kinds, "for stat in stats:", "for stat in (s for s in stats if s.is_log):")


@mutant(breaks="OCC-013")
def conflict_check_skipped(patch: Patch) -> None:
    """Completes without checking what other writers have done in the meantime."""
    patch.edit(Commit.complete, "self._check_conflicts(timeline, schema)", "pass")


@mutant(breaks="OCC-013")
def concurrent_base_files_of_group_allowed(patch: Patch) -> None:
    """Lets two writers complete that have both rewritten a file group."""
    patch.item(MATRIX, (WriteKind.REWRITES, WriteKind.REWRITES), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-013")
def concurrent_logs_always_allowed(patch: Patch) -> None:
    """Lets two writers complete that have both appended to a file group, whatever their concurrency mode."""
    patch.item(MATRIX, (WriteKind.APPENDS, WriteKind.APPENDS), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-013")
def overwrites_ignored_in_conflict_check(patch: Patch) -> None:
    """The conflict check covers commits, and not the actions that replace whole file groups."""
    patch.edit(
        conflict_resolution.completed_since, "instant.action in COMMITS", "instant.action in COMMITS - {'replacecommit'}"
    )


@mutant(breaks="OCC-013")
def replaced_groups_ignored_in_conflict_check(patch: Patch) -> None:
    """A writer compares the file groups that it wrote, and not those that it replaces; a deletion has none of the former."""
    patch.edit(Commit._check_conflicts, "self.replaced or {}", "{}")


@mutant(breaks="OCC-014")
def commit_deletes_all_heartbeats(patch: Patch) -> None:
    """A writer deletes the heartbeats of all writers when it completes, so that the others appear to have failed."""
    patch.edit(
        Heartbeats.delete,
        "self.storage.delete(heartbeat_path(instant))",
        "[self.storage.delete(info.path) for info in self.storage.list(FOLDER)]",
    )


@mutant(breaks="OCC-014")
def any_concurrent_commit_is_a_conflict(patch: Patch) -> None:
    """A writer aborts if any other action has completed in the meantime."""
    patch.edit(ConflictChecker.conflict, "theirs.get(self.same(identity))", "next(iter(theirs.values()), None)")


@mutant(breaks="OCC-014")
def same_partition_is_a_conflict(patch: Patch) -> None:
    """A writer aborts if another writer wrote to the same partition."""
    patch.edit(Commit._same_group, "return identity if", "return (partition, '') if")


@mutant(breaks="OCC-015")
def conflict_check_ignores_pending_plans(patch: Patch) -> None:
    """A writer checks completed actions only."""
    patch.edit(conflict_resolution.concurrent, "if plans and pending.action", "if False and pending.action")


@mutant(breaks="OCC-016")
def writes_to_clustered_groups_complete(patch: Patch) -> None:
    """Lets a writer complete in a file group that a clustering has replaced in the meantime."""
    patch.item(MATRIX, (WriteKind.REWRITES, WriteKind.CLUSTERS), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-016")
def logs_appended_to_clustered_groups(patch: Patch) -> None:
    """A writer adds its log files to file groups that a clustering has replaced since."""
    beside = Cell(Verdict.BOTH, "log files do not conflict")
    patch.item(conflict_resolution.MATRIX, (WriteKind.APPENDS, WriteKind.CLUSTERS), beside)  # type: ignore[arg-type]


@mutant(breaks=("OCC-016", "SVC-009"))
def clustering_of_overwritten_groups_completes(patch: Patch) -> None:
    """A clustering completes although its file groups were overwritten in the meantime; replaced rows reappear."""
    patch.item(MATRIX, (WriteKind.CLUSTERS, WriteKind.REPLACES), Cell(Verdict.BOTH, "no conflict"))  # type: ignore[arg-type]


@mutant(breaks="OCC-017")
def key_conflicts_in_new_groups_ignored(patch: Patch) -> None:
    """The comparison of keys skips the files of new file groups, in which two writers may insert the same key."""
    patch.edit(key_conflicts._keys_in, "elif stat.path:", "elif stat.previous_base_file is not None:")
