"""Crash points: a process that crashes between two of its requests to storage.

Only requests that change something matter, since a read leaves the table as it is. A program with n changes can leave the
table in n + 1 states, and `crashes` produces all of them:

    for crash in crashes(storage, lambda store: clean(opened(store))):
        assert rows(crash.storage) in (before, after), crash
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hudi_conformance.counters import count
from hudi_conformance.storage_reads import StorageReads
from hudi_reference.storage import MemoryStorage, Storage


class Crash(BaseException):
    """The process has crashed. It is no `Exception`, so that no error handler of the program catches it."""


@dataclass
class CrashingStorage(StorageReads):
    """`storage` for as many changes as `allowed`; the process crashes before the next change has an effect."""

    storage: Storage
    allowed: int
    #: The changes so far, as "create .hoodie/timeline/...".
    changes: list[str] = field(default_factory=list)

    def put(self, path: str, data: bytes) -> None:
        """A change."""
        self._change(f"put {path}")
        self.storage.put(path, data)

    def create(self, path: str, data: bytes) -> None:
        """A change, also if the object exists: the process may crash before it gets the answer."""
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
    """The table after a process crashed after `changes`, or, if `ended`, after it finished."""

    storage: MemoryStorage
    changes: tuple[str, ...]
    ended: bool

    def __str__(self) -> str:
        last = self.changes[-1] if self.changes else "nothing"
        return f"{'finished' if self.ended else 'crashed'} after {len(self.changes)} changes, the last one: {last}"


def crash_states(storage: Storage, act: Callable[[CrashingStorage], object]) -> Iterator[Crashed]:
    """Every state in which `act` may leave a copy of `storage`: after 0, 1, 2, ... of its changes, and after it has finished.

    `act` runs once. The state that a crash leaves is the state before the next change, because a crashed process has no
    further effect.
    """
    recorded = _BeforeEachChange(copy_storage(storage), MOST_CHANGES)
    act(recorded)
    for number, state in enumerate(recorded.states):
        count(crash_points=1)
        yield Crashed(state, tuple(recorded.changes[:number]), ended=False)
    yield Crashed(recorded.storage, tuple(recorded.changes), ended=True)


@dataclass
class _BeforeEachChange(CrashingStorage):
    """A storage that keeps the state before each change."""

    storage: MemoryStorage
    states: list[MemoryStorage] = field(default_factory=list)

    def _change(self, request: str) -> None:
        if len(self.changes) == self.allowed:
            raise AssertionError(f"no end after {self.allowed} changes")
        self.states.append(_clone(self.storage))
        self.changes.append(request)


def _clone(storage: MemoryStorage) -> MemoryStorage:
    """The same objects with the same versions."""
    clone = MemoryStorage()
    clone._objects, clone._writes = dict(storage._objects), storage._writes
    return clone


#: A program with more changes than this has too many states to check.
MOST_CHANGES = 1000


def copy_storage(storage: Storage) -> MemoryStorage:
    """The same objects in memory."""
    copy = MemoryStorage()
    for info in storage.list():
        copy.put(info.path, storage.get(info.path))
    return copy
