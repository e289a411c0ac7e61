"""Crash points: a process that dies between two of its requests to storage.

Only requests that change something matter: before and after a read the table is the same. So a program with n changes has
n + 1 states in which it may leave the table, and `crashes` makes all of them:

    for crash in crashes(storage, lambda store: clean(opened(store))):
        assert rows(crash.storage) in (before, after), crash
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from hudi_conformance.counters import count
from hudi_reference.storage import MemoryStorage, ObjectInfo, Storage


class Crash(BaseException):
    """The process is dead. No handler for errors sees this, as none would run."""


@dataclass
class CrashingStorage:
    """`storage` for as many changing requests as `allowed`; at the next one the process dies, before it has any effect."""

    storage: Storage
    allowed: int
    #: The changes so far, as "create .hoodie/timeline/...".
    changes: list[str] = field(default_factory=list)

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """As the storage does."""
        return self.storage.get(path, start, length)

    def open(self, path: str) -> pa.NativeFile:
        """As the storage does."""
        return self.storage.open(path)

    def head(self, path: str) -> ObjectInfo | None:
        """As the storage does."""
        return self.storage.head(path)

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """As the storage does."""
        return self.storage.list(prefix, skip=skip)

    def names(self, folder: str) -> tuple[str, ...]:
        """As the storage does."""
        return self.storage.names(folder)

    def put(self, path: str, data: bytes) -> None:
        """A change."""
        self._change(f"put {path}")
        self.storage.put(path, data)

    def create(self, path: str, data: bytes) -> None:
        """A change, also where the object is there: the process may die before it learns that."""
        self._change(f"create {path}")
        self.storage.create(path, data)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """A change."""
        self._change(f"replace {path}")
        self.storage.replace(path, data, version)

    def delete(self, path: str) -> None:
        """A change."""
        self._change(f"delete {path}")
        self.storage.delete(path)

    def _change(self, request: str) -> None:
        if len(self.changes) == self.allowed:
            raise Crash(f"before change {self.allowed + 1}: {request}")
        self.changes.append(request)


@dataclass(frozen=True)
class Crashed:
    """What a process left that died after `changes`; `ended` where it came to its end instead."""

    storage: MemoryStorage
    changes: tuple[str, ...]
    ended: bool

    def __str__(self) -> str:
        last = self.changes[-1] if self.changes else "nothing"
        return f"{'ended' if self.ended else 'died'} after {len(self.changes)} changes, the last one: {last}"


def crashes(storage: Storage, act: Callable[[CrashingStorage], object]) -> Iterator[Crashed]:
    """Every state in which `act` may leave a copy of `storage`: after 0, 1, 2 ... of its changes, and the last one at its end.

    `act` has to make the same requests each time: clock and ids are to start anew with each call.
    """
    for allowed in range(MOST_CHANGES):
        copy = copy_of(storage)
        crashing = CrashingStorage(copy, allowed)
        try:
            act(crashing)
        except Crash:
            count(crash_points=1)
            yield Crashed(copy, tuple(crashing.changes), ended=False)
        else:
            yield Crashed(copy, tuple(crashing.changes), ended=True)
            return
    raise AssertionError(f"no end after {MOST_CHANGES} changes")


#: A program with more changes than this makes too many states to look at.
MOST_CHANGES = 1000


def copy_of(storage: Storage) -> MemoryStorage:
    """The same objects in memory."""
    copy = MemoryStorage()
    for info in storage.list():
        copy.put(info.path, storage.get(info.path))
    return copy
