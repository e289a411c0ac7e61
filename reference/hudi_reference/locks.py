"""What keeps writers of one table apart while they decide something together.

A lock belongs to an owner, not to a thread: whoever names the same owner is inside already. The lock that is here works among
the threads of one process; writers on several machines need one that all of them can reach.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Condition
from typing import Protocol
from weakref import WeakValueDictionary

from hudi_reference.errors import LockNotHeld, LockNotObtained
from hudi_reference.storage import LocalStorage, Storage


class Lock(Protocol):
    """Held by at most one owner at a time; an owner may take it again, and gives it up as often as it took it."""

    #: Whether only threads of this process can hold it, so that all who do share one clock.
    in_process: bool

    def acquire(self, owner: str) -> None:
        """Return when `owner` holds the lock; raises LockNotObtained if that takes too long."""

    def release(self, owner: str) -> None:
        """Give the lock up once; raises LockNotHeld if `owner` does not hold it."""


class InProcessLock:
    """A lock among the threads of this process. `patience` in seconds."""

    in_process = True

    def __init__(self, patience: float = 60) -> None:
        self._patience = patience
        self._changed = Condition()
        self._owner: str | None = None
        self._depth = 0

    def acquire(self, owner: str) -> None:
        """Wait for the owner before."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._owner in (None, owner), self._patience):
                raise LockNotObtained(
                    "somebody else holds the lock of the table", rule="TT-007", expected=f"the lock for {owner}",
                    found=f"{self._owner} held it for {self._patience:g} seconds", cure="try again later",
                )  # fmt: skip
            self._owner, self._depth = owner, self._depth + 1

    def release(self, owner: str) -> None:
        """Let the next one in."""
        with self._changed:
            if self._owner != owner:
                raise LockNotHeld("the lock is not this owner's to release", expected=owner, found=str(self._owner))
            self._depth -= 1
            if self._depth == 0:
                self._owner = None
                self._changed.notify()


@contextmanager
def held(lock: Lock, owner: str) -> Iterator[None]:
    """Hold the lock for the length of a block, whatever happens in it."""
    lock.acquire(owner)
    try:
        yield
    finally:
        lock.release(owner)


_numbers = count(1)


def new_owner(what: str) -> str:
    """A name that no other owner in this process has."""
    return f"{what} {next(_numbers)}"


_locks: WeakValueDictionary[str, InProcessLock] = WeakValueDictionary()


def lock_of(storage: Storage) -> InProcessLock:
    """The lock of the table in this storage: for one folder the same one all over this process."""
    key = f"folder {storage.root.absolute()}" if isinstance(storage, LocalStorage) else f"object {id(storage)}"
    return _locks.setdefault(key, InProcessLock())
