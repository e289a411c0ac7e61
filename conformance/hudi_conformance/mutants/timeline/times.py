"""Mutants in how instant times are drawn."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.timeline import instant_generator
from hudi_reference.timeline.instant_generator import TimeGenerator
from hudi_reference.timeline.shared_counter import SharedCounter

_WAIT = "        self.clock.sleep(self.skew + _RESOLUTION)\n"


@mutant(breaks=("TT-003", "TT-008", "TT-009"))
def times_grow_in_one_process_only(patch: Patch) -> None:
    """Draws times that are later than those of the same process, and does not wait for the clocks of others."""
    patch.edit(TimeGenerator.drawn, _WAIT, "")


@mutant(breaks=("TT-008", "TT-003"))
def half_the_bound_is_waited(patch: Patch) -> None:
    """Waits half as long as clocks may differ."""
    patch.edit(TimeGenerator.drawn, "self.skew + _RESOLUTION", "self.skew // 2")


@mutant(breaks=("TT-008", "TT-003"))
def the_wait_comes_after_the_lock(patch: Patch) -> None:
    """Gives up the lock first and waits then."""
    patch.edit(
        TimeGenerator.drawn,
        _WAIT + "        self._last = time\n        yield time\n",
        "        self._last = time\n        yield time\n    self.clock.sleep(self.skew + _RESOLUTION)\n",
    )


@mutant(breaks="TT-007")
def a_lock_for_each_process(patch: Patch) -> None:
    """Takes a lock in memory, which processes on other machines do not see."""
    patch.edit(
        TimeGenerator.drawn,
        "with held(self.lock, owner or",
        "from hudi_reference.locks import InProcessLock\n    with held(InProcessLock(), owner or",
    )


@mutant(breaks="TT-005")
def the_bound_cannot_be_set(patch: Patch) -> None:
    """Takes its own idea of how far clocks differ, whatever is configured."""
    patch.edit(instant_generator.skew_bound, "options.get(SKEW_KEY)", "None")


@mutant(breaks="TT-010")
def the_bound_is_capped(patch: Patch) -> None:
    """Waits a few milliseconds whatever is configured."""
    patch.edit(instant_generator.skew_bound, "return int(text)", "return min(int(text), 5)")


@mutant(breaks="TT-010")
def a_bound_of_nothing_is_taken(patch: Patch) -> None:
    """Runs with a bound of 0."""
    patch.edit(instant_generator.skew_bound, "if not (text.isascii() and text.isdigit() and int(text) > 0):", "if not text:")


@mutant(breaks="TT-006")
def the_counter_starts_over(patch: Patch) -> None:
    """Keeps the counter in the memory of its process, which a crash empties."""
    patch.edit(
        SharedCounter.requested,
        "max(FIRST - 1 if stored is None else int(self.storage.get(self.path)), int(known or 0)) + 1\n",
        'self.__dict__.get("last", FIRST - 1) + 1\n        self.last = time\n',
    )


@mutant(breaks="TT-006")
def the_counter_is_overwritten(patch: Patch) -> None:
    """Stores the next time without a look whether somebody else has done so since it was read."""
    patch.edit(
        SharedCounter.requested,
        "self.storage.replace(self.path, str(time).encode(), stored.version)",
        "self.storage.put(self.path, str(time).encode())",
    )


@mutant(breaks="TT-009")
def a_clock_that_was_set_back_is_waited_for(patch: Patch) -> None:
    """Waits until the clock has come back to where the timeline is, however long that takes."""
    patch.edit(TimeGenerator._read_later_than, "if waited >= self.patience:", "if False:")
