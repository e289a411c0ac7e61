"""Locks that writers on several machines share: a lease in a service that all of them can reach.

A stalled process does not notice that its lease has expired, and a crashed process cannot release its lease. Therefore a lease
expires unless it is renewed, and its holder renews it immediately before each publication (`check`). One gap remains: a process
that stalls between this renewal and its request for longer than the lease is valid.
"""

from threading import Lock as Mutex
from typing import Protocol

from hudi_reference.clock import Clock
from hudi_reference.errors import LockNotObtained, StorageFault
from hudi_reference.locks.lease_renewal import Renewal
from hudi_reference.locks.lock import InProcessLock
from hudi_reference.locks.timeout import LockTimeout
from hudi_reference.requirement import implements


class Lease(Protocol):
    """The lease of a lock, held by one process in a lock service.

    All methods raise AccessDenied if the service refuses the request, and StorageUnavailable if it does not answer.
    """

    #: The place of the lock, for messages.
    name: str

    def take(self) -> bool:
        """Try once to obtain the lease.

        True if this process holds it now or held it before, False if another process holds it.
        """

    def renew(self) -> None:
        """Extend the lease to its full duration from now on. Raises LockLost if this process does not hold it any more."""

    def give_back(self) -> None:
        """End the lease, so that other processes need not wait.

        Raises LockLost, without a change, if this process does not hold it.
        """


class LeasedLock:
    """A lock with a lease, which excludes other processes. The threads of this process share the lease and wait for each other.

    A background thread renews the lease every `renewed_every` milliseconds while it is held; with None, only `check` renews it.
    """

    in_process = False

    def __init__(self, lease: Lease, clock: Clock, timeout: LockTimeout, renewed_every: int | None = None) -> None:
        self._lease, self._clock, self._timeout = lease, clock, timeout
        self._local = InProcessLock(timeout.longest / 1000)
        self._renewing = Mutex()
        self._renewal = None if renewed_every is None else Renewal(self._renew, renewed_every)

    @implements("LOCK-001", "LOCK-002", "OCC-002")
    def acquire(self, owner: str) -> None:
        """Wait for the threads of this process, then for other processes. Raises LockNotObtained."""
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
        """End the lease; if the service does not answer, the lease expires. Raises LockNotHeld, LockLost."""
        self._local.check(owner)
        is_last = self._local.times_held(owner) == 1
        try:
            if is_last:
                self._end_lease()
        finally:
            self._local.release(owner)

    @implements("LOCK-001", "OCC-010")
    def check(self, owner: str) -> None:
        """Renew the lease, so that it is valid during the next request. Raises LockNotHeld, LockLost."""
        self._local.check(owner)
        self._renew()

    def _take(self, owner: str) -> None:
        for _ in self._timeout.tries(self._clock):
            if self._lease.take():
                return
        raise LockNotObtained(
            "another owner holds the lock of the table", rule="LOCK-001", path=self._lease.name, remedy="try again later",
            expected=f"the lock for {owner}", found=f"the lock was not free within {self._timeout}",
        )  # fmt: skip

    def _renew(self) -> None:
        with self._renewing:  # simultaneous renewals by the holder and the thread would conflict
            self._lease.renew()

    def _end_lease(self) -> None:
        if self._renewal is not None:
            self._renewal.end()
        try:
            self._lease.give_back()
        except StorageFault:
            return  # what was published under the lock remains valid, and the lease expires
