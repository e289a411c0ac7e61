"""The protocol of a table lock, which every lock provider implements."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Protocol

from hudi_reference.errors import LockNotHeld


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
