"""Pausable writes and services of the reference.

The work runs in a greenlet. It pauses after it has released the lock of the table following its request, and before it
acquires the lock to complete. It cannot pause between taking a begin time or a plan and publishing it, because both happen
under one lock.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from greenlet import GreenletExit, getcurrent, greenlet

from hudi_conformance.contract.messages import Point
from hudi_reference import WritableTable
from hudi_reference.locks import Lock, lock_of


@dataclass
class PausableGreenlet:
    """A write or service on a table, which runs up to the point `until`."""

    table: WritableTable
    does: Callable[[WritableTable], str | None]
    until: Point | None = None
    #: The requested time of its action, None while it is unknown.
    instant: str | None = None

    def __post_init__(self) -> None:
        """Prepare the greenlet without starting it."""
        self._before = {found.requested for found in self.table.timeline.pending}
        self._running = greenlet(self.does)
        self._lock = PausableLock(self.table.lock or lock_of(self.table.storage), self.reached)

    def run(self, until: Point | None) -> bool:
        """Run up to that point, or to the end; whether it paused."""
        self.until = until
        self._running.parent = getcurrent()
        found = self._running.switch() if self._running else self._running.switch(replace(self.table, lock=self._lock))
        if self._running.dead:
            self.instant = found
        return not self._running.dead

    def reached(self, point: Point) -> None:
        """Pause if the work has reached the point `until`. Failed work has requested no action and does not pause."""
        new = {found.requested for found in self.table.timeline.pending} - self._before
        if self.until == point and (new or point != "requested"):
            self.instant = max(new, default=self.instant)
            self._running.parent.switch()

    def abandon(self) -> None:
        """Abandon the work, as a crash of its process would: no cleanup is done."""
        with suppress(GreenletExit):
            self._running.throw(GreenletExit)


@dataclass
class PausableLock:
    """The lock of the table, which detects the points by its calls."""

    lock: Lock
    reached: Callable[[Point], None]
    in_process: bool = True
    #: How often it is acquired and not released.
    depth: int = 0

    def acquire(self, owner: str) -> None:
        """See `Lock`."""
        if self.depth == 0 and owner.startswith("complete "):
            self.reached("stored")
        self.lock.acquire(owner)
        self.depth += 1

    def release(self, owner: str) -> None:
        """See `Lock`."""
        self.depth -= 1
        self.lock.release(owner)
        if self.depth == 0 and owner.startswith(("request ", "plan ")):
            self.reached("requested")

    def check(self, owner: str) -> None:
        """See `Lock`."""
        self.lock.check(owner)
