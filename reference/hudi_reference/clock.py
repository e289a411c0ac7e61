"""The reference's only source of time."""

import time
from dataclasses import dataclass, field
from typing import Protocol


class Clock(Protocol):
    """Time as a writer sees it."""

    def now(self) -> int:
        """Milliseconds since the epoch."""

    def sleep(self, milliseconds: int) -> None:
        """Return after at least so many milliseconds of this clock."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def sleep(self, milliseconds: int) -> None:
        """Block the caller."""
        time.sleep(milliseconds / 1000)


@dataclass
class ManualClock:
    """A clock that moves by `step` milliseconds each time it is read: the same program, the same instants.

    The step is the time that passes until the next reading: who sleeps in between sleeps within it.
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
        """Move the clock instead of waiting, as far as it has not moved already."""
        covered = min(milliseconds, self._ahead)
        self._ahead -= covered
        self.time += milliseconds - covered
