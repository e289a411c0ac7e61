"""Mutants: writers under optimistic control, their steps, and what shows that they live."""

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.locks import lock
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.records.changes import KEY
from hudi_reference.services.compaction import compaction
from hudi_reference.services.rollback import failed_writes
from hudi_reference.timeline import active
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit, write, write_context
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency import conflict_resolution, key_conflicts, markers
from hudi_reference.write.concurrency.conflict_resolution import ConflictChecker
from hudi_reference.write.locate import Located


@mutant(breaks=("OCC-001", "OCC-010"))
def conflicts_are_checked_before_the_lock(patch: Patch) -> None:
    """A writer checks for conflicts, then takes the lock and completes: two writers pass the check together."""
    patch.edit(
        Commit.complete,
        "transitions_of(table).complete(inflight, content, check,",
        "check(table.timeline), transitions_of(table).complete(inflight, content, lambda now: None,",
    )


@mutant(breaks="OCC-004")
def files_follow_the_completion(patch: Patch) -> None:
    """A writer publishes the completion and uploads its files afterwards."""
    patch.edit(
        Commit.add_file,
        "storage.create(join_path(stat.partition, name), data)",
        "self.__dict__.setdefault('late', []).append((join_path(stat.partition, name), data))",
    )
    patch.edit(
        Commit._after_completion,
        "        remove_markers(",
        "        [self.table.storage.create(*file) for file in self.__dict__.get('late', ())]\n        remove_markers(",
    )


@mutant(breaks="OCC-005")
def writers_begin_at_the_time_that_they_started(patch: Patch) -> None:
    """A writer takes its begin time from its own clock when it starts to read, and asks no generator."""
    patch.edit(
        commit.begin,
        "announce=announce)",
        "requested=__import__('hudi_reference.timeline.instants.times', fromlist=['times']).format_time("
        "table.clock.now() - 60_000))",
    )


@mutant(breaks="OCC-006")
def the_snapshot_is_the_greatest_begin_time(patch: Patch) -> None:
    """A writer remembers the greatest begin time that it sees instead of the greatest completion time."""
    patch.edit(conflict_resolution.snapshot_time, "instant.completion or instant.requested", "instant.requested")


@mutant(breaks="OCC-006")
def the_snapshot_is_taken_when_the_action_begins(patch: Patch) -> None:
    """A writer takes what had completed at its begin time for what it is based on."""
    patch.edit(commit.begin, "base = base_timeline or table.timeline", "base = table.timeline")


@mutant(breaks="OCC-007")
def files_are_stored_under_the_lock(patch: Patch) -> None:
    """A writer holds the lock of the table while it stores its files."""
    patch.edit(
        Commit.add_file,
        "storage.create(join_path(stat.partition, name), data)",
        "with __import__('hudi_reference.locks', fromlist=['locks']).held(transitions_of(self.table).times.lock, 'files'):"
        " storage.create(join_path(stat.partition, name), data)",
    )


@mutant(breaks="OCC-008")
def keys_are_looked_up_in_pending_writes(patch: Patch) -> None:
    """A writer looks keys up in the files of pending writes, too, and lets these take its changes."""

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
def moved_records_stay_where_they_were(patch: Patch) -> None:
    """A writer that stores an update as delete and insert forgets the delete: the key is in two file groups."""
    patch.edit(
        write._change_known, "if file_slice.base_instant:", "if moves:\n            pass\n        elif file_slice.base_instant:"
    )


@mutant(breaks="OCC-011")
def completions_of_earlier_actions_are_missed(patch: Patch) -> None:
    """A writer looks at the actions that began after its snapshot, and not at those that completed after it."""
    patch.edit(
        conflict_resolution.completed_since,
        "(instant.completion or instant.requested) > snapshot",
        "instant.requested > snapshot",
    )


@mutant(breaks="OCC-012")
def the_concurrent_set_is_that_of_the_beginning(patch: Patch) -> None:
    """A writer looks for conflicts on the timeline that it loaded when it began."""
    patch.edit(
        Commit._check_conflicts,
        "self.base_timeline, timeline, plans=plans",
        "self.base_timeline, self.base_timeline, plans=plans",
    )


@mutant(breaks="OCC-012")
def archived_actions_are_not_asked_for(patch: Patch) -> None:
    """A writer looks for conflicts on the active timeline alone."""
    everything = "now.completed if now.start == seen.start else now.completed_between(snapshot)"
    patch.edit(conflict_resolution.completed_since, everything, "now.completed")


@mutant(breaks="OCC-013")
def log_files_are_in_nobodys_way(patch: Patch) -> None:
    """A writer compares the base files of two writes, and not their log files."""
    patch.edit(conflict_resolution.write_kinds, "for stat in stats:", "for stat in (s for s in stats if not s.is_log):")


@mutant(breaks="OCC-013")
def base_files_are_in_nobodys_way(patch: Patch) -> None:
    """A writer compares the log files of two writes, and not their base files."""
    patch.edit(conflict_resolution.write_kinds, "for stat in stats:", "for stat in (s for s in stats if s.is_log):")


@mutant(breaks="OCC-014")
def whoever_else_wrote_is_in_the_way(patch: Patch) -> None:
    """A writer aborts if anybody has completed anything meanwhile."""
    patch.edit(ConflictChecker.conflict, "theirs.get(self.same(identity))", "next(iter(theirs.values()), None)")


@mutant(breaks="OCC-014")
def the_partition_is_what_counts(patch: Patch) -> None:
    """A writer aborts if somebody else wrote to the same partition."""
    patch.edit(Commit._same_group, "return identity if", "return (partition, '') if")


@mutant(breaks="OCC-015")
def plans_that_are_pending_are_missed(patch: Patch) -> None:
    """A writer looks at completed actions only."""
    patch.edit(conflict_resolution.concurrent, "if plans and pending.action", "if False and pending.action")


@mutant(breaks="OCC-017")
def keys_of_new_file_groups_are_not_compared(patch: Patch) -> None:
    """The comparison of keys passes over the files of new file groups, where two writers insert the same key."""
    patch.edit(key_conflicts._keys_in, "elif stat.path:", "elif stat.previous_base_file is not None:")


@mutant(breaks="OCC-019")
def aborted_writes_keep_the_lock(patch: Patch) -> None:
    """A writer that aborts with an error does not give the lock back."""
    patch.edit(lock.held, "with suppress(LockNotHeld):\n            lock.release(owner)", "pass")


@mutant(breaks="OCC-019")
def losers_complete_all_the_same(patch: Patch) -> None:
    """A conflict is noticed, and the write completes."""
    patch.edit(
        ConflictChecker.check, "if (found := self.conflict(mine, other)) is not None:", "if (found := None) is not None:"
    )


@mutant(breaks="OCC-020")
def writers_pass_the_metadata_table_over(patch: Patch) -> None:
    """A writer completes on a table with a metadata table, and leaves that as it was."""
    patch.edit(
        write_context._unsupported,
        "if not maintained.issuperset(properties.fields(_USABLE)):",
        "if False:",
    )


@mutant(breaks="OCC-021")
def the_metadata_table_is_believed(patch: Patch) -> None:
    """A reader takes what has completed on the timeline of the metadata table for completed."""
    patch.edit(
        active.load_timeline,
        "    _check_folders(",
        "    names += tuple(n for n in storage.names('.hoodie/metadata/.hoodie/timeline') if '_' in n and n[17:18] == '_')\n"
        "    _check_folders(",
    )


@mutant(breaks="OCC-022")
def completion_times_are_drawn_before_the_lock(patch: Patch) -> None:
    """A writer draws its completion time, then waits for the lock: later completions may carry earlier times."""
    patch.edit(
        Transitions.complete,
        "    with held(self.times.lock, owner):\n",
        "    early = self.times.requested(instant.requested)\n    with held(self.times.lock, owner):\n",
    )
    patch.edit(
        Transitions._create,
        "path = self.path(instant)",
        "instant = __import__('dataclasses').replace(instant, completion=__import__('sys')._getframe(1).f_locals.get('early',"
        " instant.completion)); path = self.path(instant)",
    )


@mutant(breaks="OCC-023")
def completed_files_appear_empty(patch: Patch) -> None:
    """A completed file is created empty, and filled afterwards."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "self.storage.create(path, b''), self.storage.put(path, content)",
    )


@mutant(breaks="OCC-024")
def services_that_fail_fail_the_write(patch: Patch) -> None:
    """A writer whose inline compaction fails tells its caller that the write has failed."""
    patch.edit(compaction.inline_compaction, "with suppress(MalformedTable, UnsupportedFeature, WriteConflict):", "if True:")


@mutant(breaks="OCC-024")
def services_run_before_the_completion(patch: Patch) -> None:
    """A writer runs its services before it has completed, and not afterwards."""
    complete = "    with self._abort_on_conflict():\n"
    services = "    for service in table.hooks.after_completion:\n        service(table, self.base_timeline)\n"
    patch.edit(Commit.complete, complete, services + complete)
    patch.edit(Commit._after_completion, "self.table.hooks.after_completion", "()")


@mutant(breaks="OCC-026")
def markers_of_the_dead_block(patch: Patch) -> None:
    """Early detection counts the markers of writers whose heart has stopped."""
    patch.edit(markers.check_unmarked, "other < instant and heartbeats.is_active(other)", "other < instant")


@mutant(breaks="OCC-026")
def markers_are_not_looked_at(patch: Patch) -> None:
    """Early detection is switched on and detects nothing."""
    patch.edit(Commit._check_markers, "if self.concurrency.early:", "if False:")


@mutant(breaks="TL-030")
def hearts_beat_after_the_request(patch: Patch) -> None:
    """A writer beats for the first time when its action can be seen: until then it looks dead."""
    patch.edit(
        Transitions.request,
        "            announce(time)\n            return self._create(Instant(time, action, State.REQUESTED), content, owner)",
        "            created = self._create(Instant(time, action, State.REQUESTED), content, owner)\n"
        "            announce(time)\n            return created",
    )


@mutant(breaks="TL-030")
def the_silent_complete(patch: Patch) -> None:
    """A writer completes without asking whether its own heartbeat is still there."""
    patch.edit(Commit._check_heartbeat, "if not self.last_heartbeat:", "if True:")


@mutant(breaks=("TL-030", "OCC-027"))
def cleans_take_the_living_for_dead(patch: Patch) -> None:
    """A clean rolls back every pending write, whether its writer is alive or not."""
    patch.edit(failed_writes.roll_back_failed, "not heartbeats_of(table).is_active(pending.requested)", "True")
    from hudi_reference.services.rollback import rollback

    patch.edit(rollback._check_failed, "if heartbeats_of(table).is_active(target.requested):", "if False:")


@mutant(breaks="OCC-027")
def failed_writes_stay_for_ever(patch: Patch) -> None:
    """Nobody rolls back what a dead writer left."""
    patch.edit(failed_writes.roll_back_failed, "for pending in reversed(table.timeline.pending):", "for pending in ():")
