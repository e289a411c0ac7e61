"""Planted bugs in how instant times are drawn."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.timeline import instant_generator
from hudi_reference.timeline.instant_generator import TimeGenerator
from hudi_reference.timeline.shared_counter import SharedCounter

_WAIT = "        self.clock.sleep(self.skew + _RESOLUTION)\n"


@planted(breaks=("TT-003", "TT-008", "TT-009"))
def times_grow_in_one_process_only(bug: Bug) -> None:
    """Draws times that are later than those of the same process, and does not wait for the clocks of others."""
    bug.edit(TimeGenerator.drawn, _WAIT, "")


@planted(breaks=("TT-008", "TT-003"))
def half_the_bound_is_waited(bug: Bug) -> None:
    """Waits half as long as clocks may differ."""
    bug.edit(TimeGenerator.drawn, "self.skew + _RESOLUTION", "self.skew // 2")


@planted(breaks=("TT-008", "TT-003"))
def the_wait_comes_after_the_lock(bug: Bug) -> None:
    """Gives up the lock first and waits then."""
    bug.edit(
        TimeGenerator.drawn,
        _WAIT + "        self._last = time\n        yield time\n",
        "        self._last = time\n        yield time\n    self.clock.sleep(self.skew + _RESOLUTION)\n",
    )


@planted(breaks="TT-007")
def a_lock_for_each_process(bug: Bug) -> None:
    """Takes a lock in memory, which processes on other machines do not see."""
    bug.edit(
        TimeGenerator.drawn,
        "with held(self.lock, owner or",
        "from hudi_reference.locks import InProcessLock\n    with held(InProcessLock(), owner or",
    )


@planted(breaks="TT-005")
def the_bound_cannot_be_set(bug: Bug) -> None:
    """Takes its own idea of how far clocks differ, whatever is configured."""
    bug.edit(instant_generator.skew_bound, "options.get(SKEW_KEY)", "None")


@planted(breaks="TT-010")
def the_bound_is_capped(bug: Bug) -> None:
    """Waits a few milliseconds whatever is configured."""
    bug.edit(instant_generator.skew_bound, "return int(text)", "return min(int(text), 5)")


@planted(breaks="TT-010")
def a_bound_of_nothing_is_taken(bug: Bug) -> None:
    """Runs with a bound of 0."""
    bug.edit(instant_generator.skew_bound, "if not (text.isascii() and text.isdigit() and int(text) > 0):", "if not text:")


@planted(breaks="TT-006")
def the_counter_starts_over(bug: Bug) -> None:
    """Keeps the counter in the memory of its process, which a crash empties."""
    bug.edit(
        SharedCounter.requested,
        "max(FIRST - 1 if stored is None else int(self.storage.get(self.path)), int(known or 0)) + 1\n",
        'self.__dict__.get("last", FIRST - 1) + 1\n        self.last = time\n',
    )


@planted(breaks="TT-006")
def the_counter_is_overwritten(bug: Bug) -> None:
    """Stores the next time without a look whether somebody else has done so since it was read."""
    bug.edit(
        SharedCounter.requested,
        "self.storage.replace(self.path, str(time).encode(), stored.version)",
        "self.storage.put(self.path, str(time).encode())",
    )


@planted(breaks="TT-009")
def a_clock_that_was_set_back_is_waited_for(bug: Bug) -> None:
    """Waits until the clock has come back to where the timeline is, however long that takes."""
    bug.edit(TimeGenerator._read_later_than, "if waited >= self.patience:", "if False:")
