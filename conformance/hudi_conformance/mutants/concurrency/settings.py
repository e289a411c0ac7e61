"""Mutants of concurrency: locks, times, the check for conflicts, services beside writers and beside each other.

None of them shows in a program that runs alone. `schedules.json` says which scenario finds each, and the shortest schedule.
"""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.locks import lock
from hudi_reference.timeline.instant_generator import TimeGenerator
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.conflict_resolution import MATRIX, Cell, Verdict, WriteKind

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
_BOTH = Cell(Verdict.BOTH, "nobody minds")


@mutant(breaks="OCC-002")
def nobody_takes_the_lock(patch: Patch) -> None:
    """Decides everything without the lock of the table."""
    patch.edit(lock.held, _HELD, "    yield\n")
    patch.edit(Transitions._create, "if owner is not None:", "if False:")


@mutant(breaks="OCC-010")
def the_lock_is_given_up_between_check_and_publication(patch: Patch) -> None:
    """Gives the lock up once the check has passed, and takes it again to publish."""
    patch.edit(
        Transitions.complete,
        "        check(timeline)\n",
        "        check(timeline)\n        self.times.lock.release(owner)\n        self.times.lock.acquire(owner)\n",
    )


@mutant(breaks="OCC-013")
def writers_never_look_for_conflicts(patch: Patch) -> None:
    """Completes whatever others have done meanwhile."""
    patch.edit(Commit.complete, "self._check_conflicts(timeline, schema)", "pass")


@mutant(breaks=("OCC-022", "S3-007"))
def completions_are_published_after_the_lock(patch: Patch) -> None:
    """Draws the completion time under the lock, and creates the file when the lock is given back."""
    patch.edit(
        Transitions.complete,
        "            return self._create(Instant(instant.requested, completes_as, State.COMPLETED, time), content, owner)",
        "            late = Instant(instant.requested, completes_as, State.COMPLETED, time)\n"
        "    return self._create(late, content)",
    )


@mutant(breaks=("OCC-005", "TT-003"))
def requests_are_published_after_the_lock(patch: Patch) -> None:
    """Draws the requested time under the lock, and creates the file when the lock is given back."""
    patch.edit(
        Transitions.request,
        "            return self._create(Instant(time, action, State.REQUESTED), content, owner)",
        "            late = Instant(time, action, State.REQUESTED)\n    return self._create(late, content)",
    )


@mutant(breaks="TT-003")
def times_are_the_clocks_of_the_moment(patch: Patch) -> None:
    """Gives out what the clock says, at once: whoever asks in the same millisecond gets it too."""
    patch.edit(
        TimeGenerator.drawn,
        "        time = self._read_later_than(max(known, self._last))\n        self.clock.sleep(self.skew + _RESOLUTION)\n",
        "        time = self._read_later_than('')\n",
    )


@mutant(breaks="TT-004")
def completion_times_are_compared_with_their_own_request(patch: Patch) -> None:
    """Takes a completion time that is later than the action's request, whatever others have published."""
    patch.edit(Transitions.complete, "max(latest_time(timeline), instant.requested)", "instant.requested")


@mutant(breaks="LOCK-001")
def the_lock_is_given_up_twice(patch: Patch) -> None:
    """Gives the lock up, and once more when closing: by then it may be somebody else's."""
    patch.edit(lock.held, "        raise\n    lock.release(owner)\n", "        raise\n" + 2 * "    lock.release(owner)\n")


@mutant(breaks="OCC-025")
def a_writer_that_has_written_keeps_the_lock(patch: Patch) -> None:
    """Gives the lock back only where something failed."""
    patch.edit(lock.held, "        raise\n    lock.release(owner)\n", "        raise\n")


@mutant(breaks="OCC-013")
def base_files_of_one_group_may_both_be_written(patch: Patch) -> None:
    """Lets two writers complete that have both rewritten a file group."""
    patch.item(MATRIX, (WriteKind.REWRITES, WriteKind.REWRITES), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-013")
def logs_are_never_in_conflict(patch: Patch) -> None:
    """Lets two writers complete that have both appended to a file group, whatever their mode."""
    patch.item(MATRIX, (WriteKind.APPENDS, WriteKind.APPENDS), _BOTH)  # type: ignore[arg-type]


@mutant(breaks="OCC-016")
def writers_complete_in_clustered_groups(patch: Patch) -> None:
    """Lets a writer complete in a file group that a clustering has replaced meanwhile."""
    patch.item(MATRIX, (WriteKind.REWRITES, WriteKind.CLUSTERS), _BOTH)  # type: ignore[arg-type]
