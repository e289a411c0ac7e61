"""The only source of time in the reference."""

import time
from dataclasses import dataclass, field
from typing import Protocol


class Clock(Protocol):
    """The time of one process."""

    def now(self) -> int:
        """Milliseconds since the epoch."""

    def sleep(self, milliseconds: int) -> None:
        """Return after at least this many milliseconds of this clock."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def sleep(self, milliseconds: int) -> None:
        """Block the calling thread."""
        time.sleep(milliseconds / 1000)


@dataclass
class ManualClock:
    """A clock that advances by `step` milliseconds at each reading, so that the same program gets the same instants.

    The step is the time between two readings. A sleep between them is part of the step, as far as it is not longer.
    """

    time: int
    step: int = 1000
    _ahead: int = field(default=0, init=False, repr=False)

    def now(self) -> int:
        """The time before the step."""
        self.time += self.step
        self._ahead = self.step
        return self.time - self.step

    def sleep(self, milliseconds: int) -> None:
        """Advance the clock by the part of the time that the last step does not cover."""
        covered = min(milliseconds, self._ahead)
        self._ahead -= covered
        self.time += milliseconds - covered
