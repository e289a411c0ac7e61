"""Mutants of the commit protocol: the table lock, begin and completion times, and the steps of a completion."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.locks import InProcessLock, lock
from hudi_reference.locks.lease import LeasedLock
from hudi_reference.query.table import Table
from hudi_reference.services.compaction import compaction
from hudi_reference.services.planning import plan_execution
from hudi_reference.timeline import active
from hudi_reference.timeline.instant_generator import times_of
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit, write_context
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.conflict_resolution import ConflictChecker

_HELD = """\
    lock.acquire(owner)
    try:
        yield
    except BaseException:
        with suppress(LockNotHeld):
            lock.release(owner)
        raise
    lock.release(owner)
"""
_HERE = f"__import__({__name__!r}, fromlist=['here'])"


@mutant(breaks=("OCC-001", "OCC-010"))
def conflict_check_before_lock(patch: Patch) -> None:
    """A writer checks for conflicts, then takes the lock and completes; two writers can pass the check at the same time."""
    patch.edit(
        Commit.complete,
        "transitions_of(table).complete(inflight, content, check,",
        "check(table.timeline), transitions_of(table).complete(inflight, content, lambda now: None,",
    )


@mutant(breaks="OCC-002")
def table_lock_not_taken(patch: Patch) -> None:
    """Runs every critical section without the table lock."""
    patch.edit(lock.held, _HELD, "    yield\n")
    patch.edit(Transitions._create, "if owner is not None:", "if False:")


@mutant(breaks="OCC-002")
def services_use_separate_lock(patch: Patch) -> None:
    """Writers exclude writers, and services exclude services, but not each other."""

    def transitions_of(table: Table) -> Transitions:
        times = times_of(table.storage, table.properties, table.clock, table.options, InProcessLock())
        return Transitions(table.storage, table.properties, times)

    patch.set(plan_execution, "transitions_of", transitions_of)


@mutant(breaks="OCC-004")
def failed_writer_always_deletes_its_files(patch: Patch) -> None:
    """A writer deletes its data files after every error, also if the completed instant that names them may exist."""
    patch.edit(
        Commit._abort_on_conflict,
        "        raise\n",
        "        raise\n    except BaseException:\n"
        "        [self.table.storage.delete(stat.path) for stat in self.stats]\n        raise\n",
    )


@mutant(breaks="OCC-004")
def files_uploaded_after_completion(patch: Patch) -> None:
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
def begin_time_from_local_clock(patch: Patch) -> None:
    """A writer takes its begin time from its own clock when it starts to read, without the time generator."""
    patch.edit(
        commit.begin,
        "announce=announce)",
        "requested=__import__('hudi_reference.timeline.instants.times', fromlist=['times']).format_time("
        "table.clock.now() - 60_000))",
    )


@mutant(breaks=("OCC-005", "TT-003"))
def request_published_after_lock(patch: Patch) -> None:
    """Generates the requested time under the lock, and creates the file after the lock is released."""
    patch.edit(
        Transitions.request,
        "            return self._create(Instant(time, action, State.REQUESTED), content, owner)",
        "            late = Instant(time, action, State.REQUESTED)\n    return self._create(late, content)",
    )


@mutant(breaks="OCC-019")
def aborted_write_keeps_lock(patch: Patch) -> None:
    """A writer that aborts with an error does not release the lock."""
    patch.edit(lock.held, "with suppress(LockNotHeld):\n            lock.release(owner)", "pass")


@mutant(breaks="OCC-019")
def conflicting_write_completes(patch: Patch) -> None:
    """A conflict is detected, and the write completes nevertheless."""
    patch.edit(
        ConflictChecker.check, "if (found := self.conflict(mine, other)) is not None:", "if (found := None) is not None:"
    )


@mutant(breaks="OCC-020")
def metadata_table_not_updated(patch: Patch) -> None:
    """A writer completes on a table with a metadata table without updating it."""
    patch.edit(
        write_context._unsupported,
        "if not maintained.issuperset(properties.fields(_USABLE)):",
        "if False:",
    )


def afterwards(commit: Commit, instant: Instant, content: bytes) -> None:
    """Update the metadata table under a second acquisition of the lock."""
    from hudi_reference.locks import held
    from hudi_reference.write.commit import before_completion, transitions_of

    transitions = transitions_of(commit.table)
    with held(transitions.times.lock, "late"):
        before_completion(commit.table, instant, content, transitions.times, "late")


@mutant(breaks=("OCC-020", "OCC-021"))
def metadata_table_updated_after_completion(patch: Patch) -> None:
    """A write completes, and the metadata table is updated afterwards."""
    kept = "partial(before_completion, table, inflight, content)"
    patch.edit(Commit.complete, f"check, {kept})", f"check); {_HERE}.afterwards(self, inflight, content)")


@mutant(breaks="OCC-021")
def metadata_timeline_defines_completion(patch: Patch) -> None:
    """A reader takes the actions that completed on the timeline of the metadata table for completed."""
    patch.edit(
        active.load_timeline,
        "    _check_folders(",
        "    names += tuple(n for n in storage.names('.hoodie/metadata/.hoodie/timeline') if '_' in n and n[17:18] == '_')\n"
        "    _check_folders(",
    )


@mutant(breaks="OCC-022")
def completion_time_generated_before_lock(patch: Patch) -> None:
    """A writer generates its completion time, then waits for the lock; later completions may have earlier times."""
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


@mutant(breaks=("OCC-022", "S3-007"))
def completion_published_after_lock(patch: Patch) -> None:
    """Generates the completion time under the lock, and creates the file after the lock is released."""
    patch.edit(
        Transitions.complete,
        "            return self._create(Instant(instant.requested, completes_as, State.COMPLETED, time), content, owner)",
        "            late = Instant(instant.requested, completes_as, State.COMPLETED, time)\n"
        "    return self._create(late, content)",
    )


@mutant(breaks="OCC-023")
def completed_instant_created_empty(patch: Patch) -> None:
    """A completed file is created empty, and its content is written afterwards."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "self.storage.create(path, b''), self.storage.put(path, content)",
    )


@mutant(breaks="OCC-024")
def marker_deletion_error_fails_completed_write(patch: Patch) -> None:
    """A writer that cannot delete its markers reports a failure although its write is completed; its caller writes again."""
    patch.edit(Commit._after_completion, "with suppress(StorageFault):", "if True:")


@mutant(breaks="OCC-024")
def inline_service_error_fails_write(patch: Patch) -> None:
    """A writer whose inline compaction fails reports that the write has failed."""
    patch.edit(compaction.inline_compaction, "with suppress(MalformedTable, UnsupportedFeature, WriteConflict):", "if True:")


@mutant(breaks="OCC-024")
def inline_services_before_completion(patch: Patch) -> None:
    """A writer runs its inline services before it has completed."""
    complete = "    with self._abort_on_conflict():\n"
    services = "    for service in table.hooks.after_completion:\n        service(table, self.base_timeline)\n"
    patch.edit(Commit.complete, complete, services + complete)
    patch.edit(Commit._after_completion, "self.table.hooks.after_completion", "()")


@mutant(breaks="OCC-025")
def successful_write_keeps_lock(patch: Patch) -> None:
    """Releases the lock only after an error."""
    patch.edit(lock.held, "        raise\n    lock.release(owner)\n", "        raise\n")


@mutant(breaks="OCC-025")
def lease_kept_after_write(patch: Patch) -> None:
    """Keeps the lease after the write, for the next write of the same process."""
    patch.edit(LeasedLock._end_lease, "self._lease.give_back()", "return")
