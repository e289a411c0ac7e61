"""Mutants of lock providers, and of writers that hold a lock."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.locks import lock
from hudi_reference.locks.lease import LeasedLock
from hudi_reference.locks.storage_based import StoredLease

_PRECONDITION = "if found is None or found.owner != self._holder or found.expired:"
_REPLACE = "self._storage.replace(self.name, data, version)"


@mutant(breaks="LOCK-001")
def lock_released_twice(patch: Patch) -> None:
    """Releases the lock, and again when closing; by then another writer may hold it."""
    patch.edit(lock.hold_lock, "        raise\n    lock.release(owner)\n", "        raise\n" + 2 * "    lock.release(owner)\n")


@mutant(breaks="LOCK-001")
def lost_lease_overwritten(patch: Patch) -> None:
    """Releases or renews the lease without checking that it is still held."""
    patch.edit(StoredLease._write_mine, _PRECONDITION, "if found is None:")


@mutant(breaks="LOCK-001")
def lease_replaced_unconditionally(patch: Patch) -> None:
    """Overwrites an expired lease without a condition on its version."""
    patch.edit(StoredLease._write, _REPLACE, "self._storage.put(self.name, data)")


@mutant(breaks="LOCK-001")
def expired_lease_deleted_before_create(patch: Patch) -> None:
    """Deletes the object of the expired lease and creates its own; another process that did the same loses its lease."""
    patch.edit(StoredLease._write, _REPLACE, "self._storage.delete(self.name)\n        self._storage.create(self.name, data)")


@mutant(breaks=("LOCK-002", "TT-007"))
def shared_lock_without_clock_skew_wait(patch: Patch) -> None:
    """Does not wait for the clock skew of other machines."""
    patch.set(LeasedLock, "in_process", True)
