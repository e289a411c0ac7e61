"""Locks that writers on several machines share: a lease, kept by a service that all of them reach.

A process that stands still cannot know that its lease has run out, nor can one that dies give it back. So a lease ends by
itself unless it is renewed, and whoever has it asks again, by renewing it, right before he publishes something: `check`. What
remains is a process that stands still between that and its request for as long as a lease lasts.
"""

from threading import Lock as Mutex
from typing import Protocol

from hudi_reference.clock import Clock
from hudi_reference.errors import LockNotObtained, StorageFault
from hudi_reference.locks.in_process import InProcessLock
from hudi_reference.locks.lease_renewal import Renewal
from hudi_reference.locks.timeout import Patience
from hudi_reference.requirement import implements


class Lease(Protocol):
    """The right to be the one who holds a lock, as one process has it from a service.

    All raise AccessDenied and StorageUnavailable where the service refuses or does not answer.
    """

    #: What it is a lease of, for messages.
    name: str

    def take(self) -> bool:
        """Try once; False where somebody else has it. Where it is ours already, True."""

    def renew(self) -> None:
        """Make it last for its full time from now on. Raises LockLost where it is somebody else's by now, or nobody's."""

    def give_back(self) -> None:
        """End it, so that others need not wait. Raises LockLost where it is not ours; then nothing changes."""


class LeasedLock:
    """A lock that other processes see. Threads of this process wait for each other first, and share its lease.

    With `renewed_every` milliseconds a thread of its own renews the lease while it is held; with None only `check` does.
    """

    in_process = False

    def __init__(self, lease: Lease, clock: Clock, patience: Patience, renewed_every: int | None = None) -> None:
        self._lease, self._clock, self._patience = lease, clock, patience
        self._local = InProcessLock(patience.longest / 1000)
        self._asking = Mutex()
        self._renewal = None if renewed_every is None else Renewal(self._renew, renewed_every)

    @implements("LOCK-001", "LOCK-002", "OCC-002")
    def acquire(self, owner: str) -> None:
        """Wait for the threads of this process, then for the others."""
        self._local.acquire(owner)
        if self._local.times_held(owner) > 1:
            return
        try:
            self._take(owner)
        except BaseException:
            self._local.release(owner)
            raise
        if self._renewal is not None:
            self._renewal.begin()

    @implements("LOCK-001", "OCC-025")
    def release(self, owner: str) -> None:
        """Give the lease back. Where the service cannot be told, it runs out by itself. Raises LockNotHeld, LockLost."""
        self._local.check(owner)
        is_last = self._local.times_held(owner) == 1
        try:
            if is_last:
                self._end_lease()
        finally:
            self._local.release(owner)

    @implements("LOCK-001", "OCC-010")
    def check(self, owner: str) -> None:
        """Renew the lease, so that it lasts for what comes next. Raises LockNotHeld, LockLost."""
        self._local.check(owner)
        self._renew()

    def _take(self, owner: str) -> None:
        for _ in self._patience.tries(self._clock):
            if self._lease.take():
                return
        raise LockNotObtained(
            "somebody else holds the lock of the table", rule="LOCK-001", path=self._lease.name, remedy="try again later",
            expected=f"the lock for {owner}", found=f"it was never free within {self._patience}",
        )  # fmt: skip

    def _renew(self) -> None:
        with self._asking:  # the holder and the thread would take each other's renewal for a stranger's
            self._lease.renew()

    def _end_lease(self) -> None:
        if self._renewal is not None:
            self._renewal.end()
        try:
            self._lease.give_back()
        except StorageFault:
            return  # what was published under the lock is there: that nobody can be told so is no failure of it
