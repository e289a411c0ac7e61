"""A process, and its access to the simulated store.

The program of a process is plain code on the protocols of the reference: storage, clock, lock and ids. It runs in a greenlet of
its own. Each request to the store pauses the greenlet and passes the request to the scheduler, which resumes it with the answer
when a schedule says so. When a process is discarded, its greenlet is ended by `GreenletExit`; requests of its error handlers
then raise it again, so that a crashed process has no further effect.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import pyarrow as pa
from greenlet import GreenletExit, greenlet

from hudi_conformance.explorer.simulation.simulated_store import Failed, Request, SimulatedStore, open_content
from hudi_conformance.explorer.simulation.stores import STORES, Store
from hudi_reference import WritableTable, open_table
from hudi_reference.clock import Clock
from hudi_reference.ids import Ids, SeededIds
from hudi_reference.locks import Lock
from hudi_reference.storage import ObjectInfo, Storage


@dataclass(frozen=True)
class Process:
    """A program with a name. It starts when the processes in `after` have ended; its clock differs by `skew` ms."""

    name: str
    program: "Callable[[Actor], object]"
    after: tuple[str, ...] = ()
    skew: int = 0


class Actor:
    """What a program gets: its storage, clock, lock and ids."""

    def __init__(self, process: Process, simulated: SimulatedStore, hub: greenlet) -> None:
        self.name = process.name
        self.skew = process.skew
        self._hub = hub
        self._is_crashed = False
        store = STORES["atomic"] if simulated.store is None else simulated.store
        self.storage: Storage = ActorStorage(self, store)
        self.clock: Clock = ActorClock(self)
        self.lock: Lock = ActorLock(self, simulated)
        self.ids: Ids = SeededIds(crc32(process.name.encode()))

    def ask(self, request: Request) -> Any:
        """Pause until the scheduler has executed the request; return its answer."""
        if self._is_crashed:
            raise GreenletExit
        try:
            answer = self._hub.switch(request)
        except GreenletExit:  # the process was discarded: requests of its error handlers have no effect
            self._is_crashed = True
            raise
        if answer.__class__ is Failed:
            raise answer.error.with_traceback(None)
        return answer

    def record_note(self, what: str, detail: Any = None) -> None:
        """Record a note: a step without effect."""
        self.ask(Request("note", what, detail))

    def open_table(self, **options: Any) -> WritableTable:
        """Open the table. `options` are keywords of `open_table` that replace those of the actor."""
        given = {"storage": self.storage, "clock": self.clock, "ids": self.ids, "lock": self.lock, **options}
        return replace(open_table("memory:///explored", **given), parallelism=1)


@dataclass(frozen=True)
class ActorStorage:
    """Storage whose requests are steps."""

    actor: Actor
    store: Store

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """One step."""
        part = None if start == 0 and length is None else (start, length)
        return self.actor.ask(Request("get", path, part))  # type: ignore[no-any-return]

    def open(self, path: str) -> pa.NativeFile:
        """One step: the whole object is read."""
        return open_content(self.actor.ask(Request("open", path)))

    def head(self, path: str) -> ObjectInfo | None:
        """One step."""
        return self.actor.ask(Request("head", path))  # type: ignore[no-any-return]

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """One step."""
        return list(self.actor.ask(Request("list", prefix, skip)))

    def names(self, folder: str) -> tuple[str, ...]:
        """One step."""
        return self.actor.ask(Request("names", folder))  # type: ignore[no-any-return]

    def put(self, path: str, data: bytes) -> None:
        """One step."""
        self.actor.ask(Request("put", path, data))

    def create(self, path: str, data: bytes) -> None:
        """As many steps as the store needs."""
        self.store.create(self.actor, path, data)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """As many steps as the store needs."""
        self.store.replace(self.actor, path, data, version)

    def delete(self, path: str) -> None:
        """One step."""
        self.actor.ask(Request("delete", path))


@dataclass(frozen=True)
class ActorClock:
    """The simulated clock plus the skew of the process."""

    actor: Actor

    def now(self) -> int:
        """One step."""
        return int(self.actor.ask(Request("now"))) + self.actor.skew

    def sleep(self, milliseconds: int) -> None:
        """One step, in which time advances for all processes."""
        self.actor.ask(Request("sleep", "", milliseconds))


class ActorLock:
    """The table lock. Acquiring and releasing it are steps; its holder acquires it again without a step."""

    def __init__(self, actor: Actor, simulated: SimulatedStore) -> None:
        self.in_process = simulated.shares_clock
        self._kind = None if simulated.lease is None else "lease"
        self._actor = actor
        self._owner: str | None = None
        self._depth = 0

    def acquire(self, owner: str) -> None:
        """Wait until the lock is free."""
        if self._owner != owner:
            self._actor.ask(Request("acquire", "", self._kind))
            self._owner, self._depth = owner, 0
        self._depth += 1

    def release(self, owner: str) -> None:
        """Raises LockNotHeld if it is not held, or not any more."""
        if self._owner == owner and self._depth > 1:
            self._depth -= 1
            return
        if self._owner == owner:
            self._owner = None
        self._actor.ask(Request("release"))

    def check(self, owner: str) -> None:
        """One step. Raises LockNotHeld if the lease ran out."""
        self._actor.ask(Request("check", "", self._kind))
