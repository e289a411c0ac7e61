"""The protocol of a table lock, which every lock provider implements, and the lock among the threads of one process.

The latter suffices if all writers of a table are threads of this process.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from threading import Condition
from typing import Protocol
from weakref import WeakValueDictionary

from hudi_reference.errors import LockNotHeld, LockNotObtained
from hudi_reference.storage import LocalStorage, ObjectStorage, Storage


class Lock(Protocol):
    """A reentrant lock with at most one owner at a time; the owner releases it as often as it acquired it."""

    #: Whether only threads of this process can hold the lock, so that all holders use one clock.
    in_process: bool

    def acquire(self, owner: str) -> None:
        """Return when `owner` holds the lock. Raises LockNotObtained if that takes longer than the time limit."""

    def release(self, owner: str) -> None:
        """Undo one `acquire`. Raises LockNotHeld if `owner` does not hold the lock."""

    def check(self, owner: str) -> None:
        """Raises LockNotHeld unless `owner` still holds the lock.

        Called immediately before each publication, because the lease of a stalled process may have expired and another owner
        may hold the lock.
        """


@contextmanager
def hold_lock(lock: Lock, owner: str) -> Iterator[None]:
    """Hold the lock during a `with` block, and release it also when the block raises.

    Raises LockLost after the block if the lock was lost meanwhile. An exception of the block takes precedence.
    """
    lock.acquire(owner)
    try:
        yield
    except BaseException:
        with suppress(LockNotHeld):
            lock.release(owner)
        raise
    lock.release(owner)


_numbers = count(1)


def new_owner(what: str) -> str:
    """A name of an owner that is unique in this process."""
    return f"{what} {next(_numbers)}"


class InProcessLock:
    """A lock among the threads of this process. `timeout` is the longest wait, in seconds."""

    in_process = True

    def __init__(self, timeout: float = 60) -> None:
        self._timeout = timeout
        self._changed = Condition()
        self._owner: str | None = None
        self._depth = 0

    def acquire(self, owner: str) -> None:
        """Wait until no other owner holds the lock. Raises LockNotObtained."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._owner in (None, owner), self._timeout):
                raise LockNotObtained(
                    "another owner holds the lock of the table", rule="TT-007", expected=f"the lock for {owner}",
                    found=f"{self._owner} held it for {self._timeout:g} seconds", remedy="try again later",
                )  # fmt: skip
            self._owner, self._depth = owner, self._depth + 1

    def release(self, owner: str) -> None:
        """Release the lock once; after the last release, a waiting owner obtains it. Raises LockNotHeld."""
        with self._changed:
            self.check(owner)
            self._depth -= 1
            if self._depth == 0:
                self._owner = None
                self._changed.notify()

    def times_held(self, owner: str) -> int:
        """How often `owner` has acquired the lock without releasing it."""
        return self._depth if self._owner == owner else 0

    def check(self, owner: str) -> None:
        """Raises LockNotHeld unless `owner` holds the lock. This lock cannot be lost."""
        if self._owner != owner:
            raise LockNotHeld("the lock is not held by this owner", rule="LOCK-001", expected=owner, found=str(self._owner))


_locks: WeakValueDictionary[str, InProcessLock] = WeakValueDictionary()


def lock_of(storage: Storage) -> InProcessLock:
    """The lock of the table in this storage. In one process, the same folder or bucket prefix always has the same lock."""
    match storage:
        case LocalStorage():
            key = f"folder {storage.root.absolute()}"
        case ObjectStorage(name=name) if name:
            key = f"prefix {name}"
        case _:
            key = f"object {id(storage)}"
    return _locks.setdefault(key, InProcessLock())
