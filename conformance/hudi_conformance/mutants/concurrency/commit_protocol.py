"""Mutants of the commit protocol: the table lock, begin and completion times, and the steps of a completion."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.locks import InProcessLock, lock
from hudi_reference.query.table import Table
from hudi_reference.services.planning import plan_execution
from hudi_reference.timeline.instant_generator import times_of
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write.commit import Commit

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


@mutant(breaks="OCC-002")
def table_lock_not_taken(patch: Patch) -> None:
    """Runs every critical section without the table lock."""
    patch.edit(lock.hold_lock, _HELD, "    yield\n")
    patch.edit(Transitions._create, "if owner is not None:", "if False:")


@mutant(breaks="OCC-002")
def services_use_separate_lock(patch: Patch) -> None:
    """Writers exclude writers, and services exclude services, but not each other."""

    def transitions_of(table: Table) -> Transitions:
        times = times_of(table.storage, table.properties, table.clock, table.options, InProcessLock())
        return Transitions(table.storage, table.properties, times)

    patch.set(plan_execution, "transitions_of", transitions_of)


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


def afterwards(commit: Commit, instant: Instant, content: bytes) -> None:
    """Update the metadata table under a second acquisition of the lock."""
    from hudi_reference.locks import hold_lock
    from hudi_reference.write.commit import before_completion, transitions_of

    transitions = transitions_of(commit.table)
    with hold_lock(transitions.times.lock, "late"):
        before_completion(commit.table, instant, content, transitions.times, "late")


@mutant(breaks=("OCC-020", "OCC-021"))
def metadata_table_updated_after_completion(patch: Patch) -> None:
    """A write completes, and the metadata table is updated afterwards."""
    kept = "partial(before_completion, table, inflight, content)"
    patch.edit(Commit.complete, f"check, {kept})", f"check); {_HERE}.afterwards(self, inflight, content)")


@mutant(breaks="OCC-022")
def completion_time_generated_before_lock(patch: Patch) -> None:
    """A writer generates its completion time, then waits for the lock; later completions may have earlier times."""
    patch.edit(
        Transitions.complete,
        "    with hold_lock(self.times.lock, owner):\n",
        "    early = self.times.requested(instant.requested)\n    with hold_lock(self.times.lock, owner):\n",
    )
    patch.edit(
        Transitions._create,
        "path = self.path(instant)",
        "instant = __import__('dataclasses').replace(instant, completion=__import__('sys')._getframe(1).f_locals.get('early',"
        " instant.completion)); path = self.path(instant)",
    )


@mutant(breaks="OCC-024")
def inline_services_before_completion(patch: Patch) -> None:
    """A writer runs its inline services before it has completed."""
    complete = "    with self._abort_on_conflict():\n"
    services = "    for service in table.hooks.after_completion:\n        service(table, self.base_timeline)\n"
    patch.edit(Commit.complete, complete, services + complete)
    patch.edit(Commit._after_completion, "self.table.hooks.after_completion", "()")
