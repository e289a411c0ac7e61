"""Mutants of instant times and of the time generator."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.timeline import instant_generator
from hudi_reference.timeline.instant_generator import TimeGenerator
from hudi_reference.timeline.instants import instant
from hudi_reference.timeline.shared_counter import SharedCounter
from hudi_reference.timeline.transitions import Transitions

_WAIT = "        self.clock.sleep(self.skew + _RESOLUTION)\n"


@mutant(breaks="TT-001")
def non_calendar_instants_ignored(patch: Patch) -> None:
    """Ignores instants that are not valid calendar times."""
    patch.edit(
        instant.instant_name_parts,
        "    action, state = known\n",
        "    if requested[12:14] > '59' or requested[10:12] > '59':\n        return None\n    action, state = known\n",
    )


@mutant(breaks=("TT-002", "TT-009", "TT-004"))
def instant_from_clock_only(patch: Patch) -> None:
    """Takes the time of the clock whatever the timeline contains."""
    patch.edit(TimeGenerator._read_later_than, "<= latest:", '<= "":')


@mutant(breaks="TT-003")
def instant_is_current_time(patch: Patch) -> None:
    """Returns the current time of the clock: two requests in one millisecond get the same instant."""
    patch.edit(
        TimeGenerator.drawn,
        "        time = self._read_later_than(max(known, self._last))\n        self.clock.sleep(self.skew + _RESOLUTION)\n",
        "        time = self._read_later_than('')\n",
    )


@mutant(breaks=("TT-003", "TT-008", "TT-009"))
def instants_monotonic_per_process_only(patch: Patch) -> None:
    """Generates times that are later than those of the same process, and does not wait for the clock skew of other
    processes.
    """
    patch.edit(TimeGenerator.drawn, _WAIT, "")


@mutant(breaks="TT-004")
def completion_time_after_own_request_only(patch: Patch) -> None:
    """Takes a completion time that is later than the request of the action, whatever other writers have published."""
    patch.edit(Transitions.complete, "max(latest_time(timeline), instant.requested)", "instant.requested")


@mutant(breaks="TT-005")
def clock_skew_setting_ignored(patch: Patch) -> None:
    """Uses a fixed maximum clock skew, whatever is configured."""
    patch.edit(instant_generator.skew_bound, "options.get(SKEW_KEY)", "None")


@mutant(breaks="TT-006")
def time_counter_not_persisted(patch: Patch) -> None:
    """Keeps the counter in the memory of its process, where a crash loses it."""
    patch.edit(
        SharedCounter.requested,
        "max(FIRST - 1 if stored is None else int(self.storage.get(self.path)), int(known or 0)) + 1\n",
        'self.__dict__.get("last", FIRST - 1) + 1\n        self.last = time\n',
    )


@mutant(breaks="TT-006")
def time_counter_overwritten(patch: Patch) -> None:
    """Stores the next time without checking whether another process has done so since it was read."""
    patch.edit(
        SharedCounter.requested,
        "self.storage.replace(self.path, str(time).encode(), stored.version)",
        "self.storage.put(self.path, str(time).encode())",
    )


@mutant(breaks="TT-007")
def time_generator_lock_in_memory(patch: Patch) -> None:
    """Takes a lock in memory, which processes on other machines do not see."""
    patch.edit(
        TimeGenerator.drawn,
        "with held(self.lock, owner or",
        "from hudi_reference.locks import InProcessLock\n    with held(InProcessLock(), owner or",
    )


@mutant(breaks=("TT-008", "TT-003"))
def half_of_clock_skew_waited(patch: Patch) -> None:
    """Waits half of the maximum clock skew."""
    patch.edit(TimeGenerator.drawn, "self.skew + _RESOLUTION", "self.skew // 2")


@mutant(breaks=("TT-008", "TT-003"))
def clock_skew_wait_after_lock(patch: Patch) -> None:
    """Releases the lock first and waits then."""
    patch.edit(
        TimeGenerator.drawn,
        _WAIT + "        self._last = time\n        yield time\n",
        "        self._last = time\n        yield time\n    self.clock.sleep(self.skew + _RESOLUTION)\n",
    )


@mutant(breaks=("TT-009", "TT-004"))
def completion_times_ignored_by_generator(patch: Patch) -> None:
    """Takes a time that is later than every requested time, and not later than every completion time."""
    patch.edit(instant_generator.latest_time, 'max(i.requested, i.completion or "")', "i.requested")


@mutant(breaks="TT-009")
def clock_set_back_awaited(patch: Patch) -> None:
    """Waits until the clock is past the timeline again, however long that takes."""
    patch.edit(TimeGenerator._read_later_than, "if waited >= self.longest_wait:", "if False:")


@mutant(breaks="TT-010")
def clock_skew_capped(patch: Patch) -> None:
    """Limits the maximum clock skew to a few milliseconds, whatever is configured."""
    patch.edit(instant_generator.skew_bound, "return int(text)", "return min(int(text), 5)")


@mutant(breaks="TT-010")
def zero_clock_skew_accepted(patch: Patch) -> None:
    """Accepts a maximum clock skew of 0."""
    patch.edit(instant_generator.skew_bound, "if not (text.isascii() and text.isdigit() and int(text) > 0):", "if not text:")
