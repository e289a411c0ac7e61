"""Instant times that only grow, whoever draws them, spec "Timeline > Time", "TrueTime".

A writer draws a time under the lock of the table: it reads its clock and waits, still holding the lock, until no clock of
another writer can show that time or an earlier one. What the next writer reads is then later.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Protocol

from hudi_reference.clock import Clock
from hudi_reference.errors import ClockBehindTimeline, Misuse
from hudi_reference.layout.properties import TableProperties
from hudi_reference.locks import Lock, held, lock_for, new_owner
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage, storage_of
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.timeline.shared_counter import SharedCounter

#: The writers' setting for the largest difference between their clocks, in milliseconds.
SKEW_KEY = "hoodie.time.generator.max_expected_clock_skew_ms"
DEFAULT_SKEW = 200
#: The writers' setting for the URI of the folder in which their common counter lies, instead of clocks. All of them need it.
COUNTER_KEY = "hoodie.time.generator.counter"
#: Threads of one process share one clock: what is left is its resolution.
SKEW_IN_PROCESS = 1


class Times(Protocol):
    """Where requested and completion times come from."""

    #: The lock of the table.
    lock: Lock
    #: The zone that times are written in, None for that of this process.
    zone: tzinfo | None

    def requested(self, known: str = "") -> str:
        """A new time, later than `known` and than every time drawn before."""

    def drawn(self, known: str = "", owner: str | None = None) -> AbstractContextManager[str]:
        """A new time, later than `known`, and the lock of the table for as long as the block lasts.

        `owner` holds the lock already; None takes it here. Create the file that carries the time inside the block: a time
        that others overtake before its file is there would order actions otherwise than readers see them.
        """


@implements("TT-005", "TT-010")
def skew_bound(options: Mapping[str, str], lock: Lock) -> int:
    """The largest difference between the clocks of writers that is reckoned with, in milliseconds; as configured, uncapped.

    Raises Misuse for a value that is no positive number.
    """
    text = options.get(SKEW_KEY)
    if text is None:
        return SKEW_IN_PROCESS if lock.in_process else DEFAULT_SKEW
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise Misuse(f"{SKEW_KEY} is no bound", rule="TT-010", expected="milliseconds, more than 0", found=repr(text))
    return int(text)


@dataclass
class TimeGenerator:
    """Times from this machine's clock, for clocks that differ by at most `skew` milliseconds.

    `zone` is the zone that the table's times are written in, None that of this process. A zone that repeats an hour shows
    times that were there already: the generator waits for later ones, but no longer than `longest_wait` milliseconds.
    """

    clock: Clock
    lock: Lock
    zone: tzinfo | None = UTC
    skew: int = DEFAULT_SKEW
    longest_wait: int = 60_000
    _last: str = field(default="", init=False)

    @classmethod
    def of(
        cls,
        storage: Storage,
        properties: TableProperties,
        clock: Clock,
        options: Mapping[str, str] | None = None,
        lock: Lock | None = None,
    ) -> "TimeGenerator":
        """The generator for one table, under the lock that all its writers share: `lock`, or the one that the options name."""
        lock = lock or lock_for(storage, properties.get("hoodie.table.name") or "", options or {}, clock)
        return cls(clock, lock, properties.zone, skew_bound(options or {}, lock))

    def requested(self, known: str = "") -> str:
        """A new time, later than `known` and than every time this generator gave out.

        Raises ClockBehindTimeline, LockNotObtained.
        """
        with self.drawn(known) as time:
            return time

    @contextmanager
    @implements("TT-002", "TT-003", "TT-004", "TT-007", "TT-008", "TT-009", "TL-004", "TL-032")
    def drawn(self, known: str = "", owner: str | None = None) -> Iterator[str]:
        """A new time, later than `known` and than every time this generator gave out; the lock is held during the block.

        The value is the one read before the wait. Raises ClockBehindTimeline, LockNotObtained.
        """
        with held(self.lock, owner or new_owner("times")):
            time = self._read_later_than(max(known, self._last))
            self.clock.sleep(self.skew + _RESOLUTION)
            self._last = time
            yield time

    def _read_later_than(self, latest: str) -> str:
        """The clock's time; waits while that is not later than `latest`."""
        waited, step = 0, 1
        while (time := format_time(self.clock.now(), self.zone)) <= latest:
            if waited >= self.longest_wait:
                raise ClockBehindTimeline(
                    "this machine's clock is behind the timeline", rule="TT-009", expected=f"a time after {latest}",
                    found=time, remedy="set the clock, or the zone that the table's times are in; an hour that the zone "
                    "repeats passes by itself",
                )  # fmt: skip
            self.clock.sleep(step)
            waited, step = waited + step, min(2 * step, _LONGEST_STEP)
        return time


#: Clocks show whole milliseconds: this much more, and the next reading is later and not equal.
_RESOLUTION = 1
#: A wait begins with steps of a millisecond, which double up to this.
_LONGEST_STEP = 500


@implements("TT-004")
def latest_time(timeline: Timeline) -> str:
    """The latest requested or completion time on the timeline, "" if it is empty."""
    return max((max(i.requested, i.completion or "") for i in timeline.instants), default="")


@implements("TT-005")
def times_of(
    storage: Storage, properties: TableProperties, clock: Clock, options: Mapping[str, str], lock: Lock | None = None
) -> Times:
    """What one table's writers draw times from: the counter that their settings name, else their clocks.

    They do so under `lock`, or under that of the provider that the settings name.
    """
    generator = TimeGenerator.of(storage, properties, clock, options, lock)
    if counter := options.get(COUNTER_KEY):
        return SharedCounter(storage_of(counter), generator.lock)
    return generator
