"""Monotonically increasing instant times for all writers of a table, spec "Timeline > Time", "TrueTime".

A writer takes a time under the lock of the table: it reads its clock, and holds the lock until no clock of another writer can
show that time or an earlier one. The next writer therefore reads a later time.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Protocol

from hudi_reference.clock import Clock
from hudi_reference.errors import ClockBehindTimeline
from hudi_reference.layout.properties import TableProperties
from hudi_reference.locks import Lock, hold_lock, lock_for, new_owner
from hudi_reference.requirement import implements
from hudi_reference.settings import number_setting
from hudi_reference.storage import Storage, storage_of
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.timeline.shared_counter import SharedCounter

#: The setting for the largest difference between the clocks of writers, in milliseconds.
SKEW_KEY = "hoodie.time.generator.max_expected_clock_skew_ms"
DEFAULT_SKEW = 200
#: The setting for the URI of the folder of a shared counter, which replaces clocks. All writers of a table must set it.
COUNTER_KEY = "hoodie.time.generator.counter"
#: Threads of one process share one clock, so that only its resolution remains.
SKEW_IN_PROCESS = 1


class Times(Protocol):
    """A source of requested and completion times."""

    #: The lock of the table.
    lock: Lock
    #: The time zone of instant times, None for that of this process.
    zone: tzinfo | None

    def requested(self, known: str = "") -> str:
        """A new time, later than `known` and than every time returned before."""

    def drawn(self, known: str = "", owner: str | None = None) -> AbstractContextManager[str]:
        """A new time, later than `known`; the lock of the table is held during the block.

        `owner` holds the lock already; with None, it is acquired here. Create the file with the time inside the block: if
        another writer published a later time first, the order of actions would differ from the order in which readers see
        them.
        """


@implements("TT-005", "TT-010")
def skew_bound(options: Mapping[str, str], lock: Lock) -> int:
    """The largest difference between the clocks of writers, in milliseconds. Raises Misuse for an invalid setting."""
    default = SKEW_IN_PROCESS if lock.in_process else DEFAULT_SKEW
    return number_setting(options, SKEW_KEY, default, least=1, rule="TT-010")


@dataclass
class TimeGenerator:
    """Times from the clock of this machine, for clocks that differ by at most `skew` milliseconds.

    `zone` is the time zone of the table, None for that of this process. When the zone repeats an hour at the end of daylight
    saving, the generator waits for times later than those of the first pass, at most `longest_wait` milliseconds.
    """

    clock: Clock
    lock: Lock
    zone: tzinfo | None = UTC
    skew: int = DEFAULT_SKEW
    longest_wait: int = 60_000
    _last: str = field(default="", init=False)

    def requested(self, known: str = "") -> str:
        """A new time, later than `known` and than every time that this generator returned.

        Raises ClockBehindTimeline, LockNotObtained.
        """
        with self.drawn(known) as time:
            return time

    @contextmanager
    @implements("TT-002", "TT-003", "TT-004", "TT-007", "TT-008", "TT-009", "TL-004", "TL-032")
    def drawn(self, known: str = "", owner: str | None = None) -> Iterator[str]:
        """A new time, later than `known` and than every earlier one of this generator; the lock is held during the block.

        The time is the one that was read before the wait. Raises ClockBehindTimeline, LockNotObtained.
        """
        with hold_lock(self.lock, owner or new_owner("times")):
            time = self._read_later_than(max(known, self._last))
            self.clock.sleep(self.skew + _RESOLUTION)
            self._last = time
            yield time

    def _read_later_than(self, latest: str) -> str:
        """The time of the clock; waits until it is later than `latest`, if the longest wait suffices for that."""
        waited, step = 0, 1
        while (time := format_time(now := self.clock.now(), self.zone)) <= latest:
            if waited >= self.longest_wait or (waited == 0 and not self._is_reached(now, latest)):
                raise ClockBehindTimeline(
                    "the clock of this machine is behind the timeline", rule="TT-009", expected=f"a time after {latest}",
                    found=time, remedy="set the clock, or the zone that the table's times are in; an hour that the zone "
                    "repeats passes by itself; withdraw a plan with a time in the future: "
                    "hudi-conformance service TABLE withdraw --instant T",
                )  # fmt: skip
            self.clock.sleep(step)
            waited, step = waited + step, min(2 * step, _LONGEST_STEP)
        return time

    def _is_reached(self, now: int, latest: str) -> bool:
        """Whether the clock shows a later time within the longest wait.

        A time far in the future must not make other writers wait for the lock.
        """
        times = range(now, now + self.longest_wait + _LONGEST_STEP, _LONGEST_STEP)
        return any(format_time(time, self.zone) > latest for time in times)


#: Added to the wait, because clocks have whole milliseconds and the next reading must be later, not equal.
_RESOLUTION = 1
#: A wait consists of steps that begin with a millisecond and double up to this.
_LONGEST_STEP = 500


@implements("TT-004")
def latest_time(timeline: Timeline) -> str:
    """The latest requested or completion time on the timeline, "" if it is empty."""
    return max((max(i.requested, i.completion or "") for i in timeline.instants), default="")


@implements("TT-005")
def times_of(
    storage: Storage, properties: TableProperties, clock: Clock, options: Mapping[str, str], lock: Lock | None = None
) -> Times:
    """The source of times of a table: the shared counter of the settings, else the clock.

    It uses `lock`, or the lock of the provider that the settings name.
    """
    lock = lock or lock_for(storage, properties.get("hoodie.table.name") or "", options, clock)
    skew = skew_bound(options, lock)
    if counter := options.get(COUNTER_KEY):
        return SharedCounter(storage_of(counter), lock)
    return TimeGenerator(clock, lock, properties.zone, skew)
