"""Work of the reference that halts on its way, so that others go on meanwhile.

It runs in a greenlet of its own. It stops where it has given the lock of the table back after its request, and before it asks
for the lock to complete: begin times and plans are published under the lock that they are made under.
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
    """One process: what it does on the table, and how far it may go."""

    table: WritableTable
    does: Callable[[WritableTable], str | None]
    until: Point | None = None
    #: The requested time of its action, as far as it is known.
    instant: str | None = None

    def __post_init__(self) -> None:
        """Nothing has happened yet."""
        self._before = {found.requested for found in self.table.timeline.pending}
        self._running = greenlet(self.does)
        self._lock = PausableLock(self.table.lock or lock_of(self.table.storage), self.reached)

    def go_on(self, until: Point | None) -> bool:
        """Up to that point or to the end; whether it halts."""
        self.until = until
        self._running.parent = getcurrent()
        found = self._running.switch() if self._running else self._running.switch(replace(self.table, lock=self._lock))
        if self._running.dead:
            self.instant = found
        return not self._running.dead

    def reached(self, point: Point) -> None:
        """The work is at that point: wait there, if it is the one that was asked for. What failed has requested nothing."""
        new = {found.requested for found in self.table.timeline.pending} - self._before
        if self.until == point and (new or point != "requested"):
            self.instant = max(new, default=self.instant)
            self._running.parent.switch()

    def give_up(self) -> None:
        """The process has died: nothing of what it would do at its end happens."""
        with suppress(GreenletExit):
            self._running.throw(GreenletExit)


@dataclass
class PausableLock:
    """The lock of the table, by which the points are known."""

    lock: Lock
    reached: Callable[[Point], None]
    in_process: bool = True
    #: How often it was taken and not given back.
    depth: int = 0

    def acquire(self, owner: str) -> None:
        """As the lock does."""
        if self.depth == 0 and owner.startswith("complete "):
            self.reached("stored")
        self.lock.acquire(owner)
        self.depth += 1

    def release(self, owner: str) -> None:
        """As the lock does."""
        self.depth -= 1
        self.lock.release(owner)
        if self.depth == 0 and owner.startswith(("request ", "plan ")):
            self.reached("requested")

    def check(self, owner: str) -> None:
        """As the lock does."""
        self.lock.check(owner)
