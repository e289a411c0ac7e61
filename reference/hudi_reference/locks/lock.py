"""What a lock of a table is, whoever provides it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Protocol

from hudi_reference.errors import LockNotHeld


class Lock(Protocol):
    """Held by at most one owner at a time; an owner may take it again, and gives it up as often as it took it."""

    #: Whether only threads of this process can hold it, so that all who do share one clock.
    in_process: bool

    def acquire(self, owner: str) -> None:
        """Return when `owner` holds the lock; raises LockNotObtained if that takes too long."""

    def release(self, owner: str) -> None:
        """Give the lock up once; raises LockNotHeld if `owner` does not hold it."""

    def check(self, owner: str) -> None:
        """Raises LockNotHeld unless `owner` still holds the lock. Asked right before each publication: a lease may have run
        out while its holder was stalled, and somebody else be inside."""


@contextmanager
def held(lock: Lock, owner: str) -> Iterator[None]:
    """Hold the lock for the length of a block, whatever happens in it.

    Raises LockLost after the block if somebody else had the lock meanwhile; what went wrong in the block comes first.
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
    """A name that no other owner in this process has."""
    return f"{what} {next(_numbers)}"
