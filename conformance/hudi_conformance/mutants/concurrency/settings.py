"""Planted bugs of concurrency: locks, times, the check for conflicts, services beside writers and beside each other.

None of them shows in a program that runs alone. `schedules.json` says which scenario finds each, and the shortest schedule.
"""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.locks import lock
from hudi_reference.timeline.instant_generator import TimeGenerator
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.conflict_resolution import MATRIX, Cell, Touch, Verdict

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


@planted(breaks="OCC-002")
def nobody_takes_the_lock(bug: Bug) -> None:
    """Decides everything without the lock of the table."""
    bug.edit(lock.held, _HELD, "    yield\n")
    bug.edit(Transitions._create, "if owner is not None:", "if False:")


@planted(breaks="OCC-010")
def the_lock_is_given_up_between_check_and_publication(bug: Bug) -> None:
    """Gives the lock up once the check has passed, and takes it again to publish."""
    bug.edit(
        Transitions.complete,
        "        check(timeline)\n",
        "        check(timeline)\n        self.times.lock.release(owner)\n        self.times.lock.acquire(owner)\n",
    )


@planted(breaks="OCC-013")
def writers_never_look_for_conflicts(bug: Bug) -> None:
    """Completes whatever others have done meanwhile."""
    bug.edit(Commit.complete, "self._check_conflicts(timeline, schema)", "pass")


@planted(breaks=("OCC-022", "S3-007"))
def completions_are_published_after_the_lock(bug: Bug) -> None:
    """Draws the completion time under the lock, and creates the file when the lock is given back."""
    bug.edit(
        Transitions.complete,
        "            return self._create(Instant(instant.requested, completes_as, State.COMPLETED, time), content, owner)",
        "            late = Instant(instant.requested, completes_as, State.COMPLETED, time)\n"
        "    return self._create(late, content)",
    )


@planted(breaks=("OCC-005", "TT-003"))
def requests_are_published_after_the_lock(bug: Bug) -> None:
    """Draws the requested time under the lock, and creates the file when the lock is given back."""
    bug.edit(
        Transitions.request,
        "            return self._create(Instant(time, action, State.REQUESTED), content, owner)",
        "            late = Instant(time, action, State.REQUESTED)\n    return self._create(late, content)",
    )


@planted(breaks="TT-003")
def times_are_the_clocks_of_the_moment(bug: Bug) -> None:
    """Gives out what the clock says, at once: whoever asks in the same millisecond gets it too."""
    bug.edit(
        TimeGenerator.drawn,
        "        time = self._read_later_than(max(known, self._last))\n        self.clock.sleep(self.skew + _RESOLUTION)\n",
        "        time = self._read_later_than('')\n",
    )


@planted(breaks="TT-004")
def completion_times_are_compared_with_their_own_request(bug: Bug) -> None:
    """Takes a completion time that is later than the action's request, whatever others have published."""
    bug.edit(Transitions.complete, "max(latest_time(timeline), instant.requested)", "instant.requested")


@planted(breaks="LOCK-001")
def the_lock_is_given_up_twice(bug: Bug) -> None:
    """Gives the lock up, and once more when closing: by then it may be somebody else's."""
    bug.edit(lock.held, "        raise\n    lock.release(owner)\n", "        raise\n" + 2 * "    lock.release(owner)\n")


@planted(breaks="OCC-025")
def a_writer_that_has_written_keeps_the_lock(bug: Bug) -> None:
    """Gives the lock back only where something failed."""
    bug.edit(lock.held, "        raise\n    lock.release(owner)\n", "        raise\n")


@planted(breaks="OCC-013")
def base_files_of_one_group_may_both_be_written(bug: Bug) -> None:
    """Lets two writers complete that have both rewritten a file group."""
    bug.item(MATRIX, (Touch.REWRITES, Touch.REWRITES), _BOTH)  # type: ignore[arg-type]


@planted(breaks="OCC-013")
def logs_are_never_in_conflict(bug: Bug) -> None:
    """Lets two writers complete that have both appended to a file group, whatever their mode."""
    bug.item(MATRIX, (Touch.APPENDS, Touch.APPENDS), _BOTH)  # type: ignore[arg-type]


@planted(breaks="OCC-016")
def writers_complete_in_clustered_groups(bug: Bug) -> None:
    """Lets a writer complete in a file group that a clustering has replaced meanwhile."""
    bug.item(MATRIX, (Touch.REWRITES, Touch.CLUSTERS), _BOTH)  # type: ignore[arg-type]
