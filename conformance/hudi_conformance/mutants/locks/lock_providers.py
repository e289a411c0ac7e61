"""Mutants of lock providers, and of writers that hold a lock."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.locks import InProcessLock, in_process, lock, lock_for
from hudi_reference.locks.dynamodb import DynamoLease
from hudi_reference.locks.file_system import FileLease
from hudi_reference.locks.hive import HiveLease
from hudi_reference.locks.lease import LeasedLock
from hudi_reference.locks.storage_based import StoredLease
from hudi_reference.locks.timeout import LockTimeout
from hudi_reference.locks.zookeeper import ZooKeeperLease
from hudi_reference.services.archive import archive
from hudi_reference.timeline.transitions import Transitions

_PRECONDITION = "if found is None or found.owner != self._holder or found.expired:"
_REPLACE = "self._storage.replace(self.name, data, version)"


@mutant(breaks="LOCK-001")
def lock_released_twice(patch: Patch) -> None:
    """Releases the lock, and again when closing; by then another writer may hold it."""
    patch.edit(lock.held, "        raise\n    lock.release(owner)\n", "        raise\n" + 2 * "    lock.release(owner)\n")


@mutant(breaks="LOCK-001")
def lease_not_revalidated(patch: Patch) -> None:
    """Takes the lease for held without checking its expiration, also after a long pause."""
    patch.edit(LeasedLock.check, "self._renew()", "pass")


@mutant(breaks=("LOCK-001", "OCC-010"))
def lock_not_revalidated_before_publication(patch: Patch) -> None:
    """Publishes without checking that the lock is still held."""
    patch.edit(Transitions._create, "if owner is not None:", "if False:")


@mutant(breaks="LOCK-001")
def lost_lease_overwritten(patch: Patch) -> None:
    """Releases or renews the lease without checking that it is still held."""
    patch.edit(StoredLease._write_mine, _PRECONDITION, "if found is None:")


@mutant(breaks="LOCK-001")
def lock_file_deleted_without_owner_check(patch: Patch) -> None:
    """Releases the lock by deleting the file, without reading its owner."""
    patch.edit(FileLease.give_back, "self.renew()", "pass")


@mutant(breaks="LOCK-001")
def existing_lock_file_taken_as_own(patch: Patch) -> None:
    """Reports the lock as acquired if the lock file already exists."""
    patch.edit(FileLease.take, "return self._found() == self._holder", "return True")


@mutant(breaks="LOCK-001")
def lock_released_by_other_thread(patch: Patch) -> None:
    """Lets a thread release the lock that does not hold it."""
    patch.edit(InProcessLock.release, "self.check(owner)", "pass")


@mutant(breaks=("LOCK-001", "LOCK-007"))
def reentrant_lock_freed_at_first_release(patch: Patch) -> None:
    """Frees a lock that was acquired twice at the first release."""
    patch.edit(InProcessLock.release, "self._depth -= 1", "self._depth = 0")


@mutant(breaks="LOCK-001")
def lease_replaced_unconditionally(patch: Patch) -> None:
    """Overwrites an expired lease without a condition on its version."""
    patch.edit(StoredLease._write, _REPLACE, "self._storage.put(self.name, data)")


@mutant(breaks="LOCK-001")
def expired_lease_deleted_before_create(patch: Patch) -> None:
    """Deletes the object of the expired lease and creates its own; another process that did the same loses its lease."""
    patch.edit(StoredLease._write, _REPLACE, "self._storage.delete(self.name)\n        self._storage.create(self.name, data)")


@mutant(breaks="LOCK-001")
def lease_expiry_by_other_clock(patch: Patch) -> None:
    """Checks the expiration by another clock than the one by which the lease was written."""
    patch.edit(StoredLease._is_over, "self._clock.now()", "__import__('time').time_ns() // 1_000_000")


@mutant(breaks="LOCK-001")
def lease_expiry_without_clock_skew(patch: Patch) -> None:
    """Takes a lease over in the millisecond after its expiration, without a margin for clock skew."""
    patch.edit(StoredLease._is_over, " + DRIFT", "")


@mutant(breaks="LOCK-001")
def expired_lease_never_taken_over(patch: Patch) -> None:
    """Acquires a lease only if it was released."""
    patch.edit(StoredLease._is_over, "record.expired or self._clock.now() > record.valid_until + DRIFT", "record.expired")


@mutant(breaks="LOCK-001")
def lease_renewed_after_release(patch: Patch) -> None:
    """Does not stop the renewal thread when the lease is released."""
    patch.edit(LeasedLock._end_lease, "self._renewal.end()", "pass")


@mutant(breaks="LOCK-001")
def lease_never_renewed(patch: Patch) -> None:
    """Starts no thread that renews the lease."""
    patch.edit(LeasedLock.acquire, "self._renewal.begin()", "pass")


@mutant(breaks="LOCK-001")
def lost_lease_not_reported(patch: Patch) -> None:
    """Reports no error if the lease turns out to be lost when it is released."""
    patch.edit(LeasedLock._end_lease, "except StorageFault:", "except Exception:")


@mutant(breaks=("LOCK-001", "LOCK-002"))
def lock_timeout_ignored(patch: Patch) -> None:
    """Continues as if it held the lock when the wait has timed out."""
    patch.edit(LeasedLock._take, "    raise LockNotObtained(", "    return None\n    raise LockNotObtained(")


@mutant(breaks="LOCK-001")
def lock_not_retried(patch: Patch) -> None:
    """Does not wait and retry, whatever the settings say."""
    patch.edit(LockTimeout.tries, "range(self.retries + 1)", "range(1)")


@mutant(breaks=("LOCK-002", "LOCK-001"))
def shared_lock_in_process_only(patch: Patch) -> None:
    """Excludes the threads of its own process only, without the lock service."""
    patch.edit(LeasedLock._take, "if self._lease.take():", "if True:")


@mutant(breaks=("LOCK-002", "TT-007"))
def shared_lock_without_clock_skew_wait(patch: Patch) -> None:
    """Does not wait for the clock skew of other machines."""
    patch.set(LeasedLock, "in_process", True)


@mutant(breaks="LOCK-002")
def lease_read_before_its_version(patch: Patch) -> None:
    """Reads the owner of the lease, then its version; another process that acquires it in between loses it."""
    patch.edit(
        StoredLease._read,
        "    info = self._storage.head(self.name)\n    if info is None:\n        return None, None\n    try:\n"
        "        return info.version, self._load(self._storage.get(self.name), info.modified)\n"
        "    except FileNotFoundError:\n        return info.version, None\n",
        "    try:\n        data = self._storage.get(self.name)\n    except FileNotFoundError:\n        data = None\n"
        "    info = self._storage.head(self.name)\n    if info is None:\n        return None, None\n"
        "    return info.version, None if data is None else self._load(data, info.modified)\n",
    )


@mutant(breaks="LOCK-003")
def archiving_ignores_lock_provider(patch: Patch) -> None:
    """Archives under the built-in lock, whatever provider is configured."""
    patch.edit(
        archive._archive,
        'with held(transitions_of(table).times.lock, new_owner("archive")):',
        'from hudi_reference.locks import lock_of\n    with held(lock_of(storage), new_owner("archive")):',
    )


@mutant(breaks="LOCK-003")
def lock_provider_setting_ignored(patch: Patch) -> None:
    """Reads the setting and uses the built-in lock."""
    patch.edit(lock_for, "PROVIDERS[name](ProviderContext(storage, table_name, options, clock))", "lock_of(storage)")


@mutant(breaks="LOCK-004")
def persistent_lock_node(patch: Patch) -> None:
    """Queues with a persistent node, which remains when the session of its owner ends."""
    patch.edit(ZooKeeperLease.take, "lock.acquire(blocking=False)", "lock.acquire(blocking=False, ephemeral=False)")


@mutant(breaks="LOCK-004")
def session_loss_not_detected(patch: Patch) -> None:
    """Takes its node for existing because it created it."""
    patch.edit(
        ZooKeeperLease._is_mine, "return found is not None and found.owner_session_id == client.client_id[0]", "return True"
    )


@mutant(breaks="LOCK-005")
def lock_item_put_unconditionally(patch: Patch) -> None:
    """Writes the item without a condition on its current version."""
    patch.edit(DynamoLease._put, "ConditionExpression=condition, **{", "**{} if values else {")


@mutant(breaks="LOCK-005")
def unchanged_lease_version_not_awaited(patch: Patch) -> None:
    """Takes a lease over without waiting whether its owner renews it."""
    patch.edit(DynamoLease._is_stale, "return now - self._seen[1] >= validity", "return True")


@mutant(breaks="LOCK-006")
def metastore_lock_shared(patch: Patch) -> None:
    """Requests a shared lock from the metastore."""
    patch.edit(HiveLease.take, "types.LockType.EXCLUSIVE", "types.LockType.SHARED_READ")


@mutant(breaks=("LOCK-007", "LOCK-008"))
def lock_per_client(patch: Patch) -> None:
    """Creates a separate lock for each process that opens the table."""
    patch.edit(in_process.lock_of, "return _locks.setdefault(key, InProcessLock())", "return InProcessLock()")


@mutant(breaks="LOCK-008")
def lock_service_required(patch: Patch) -> None:
    """Refuses to write without lock settings."""
    patch.edit(
        lock_for,
        "        return lock_of(storage)\n",
        "        raise Misuse('no lock provider', rule='LOCK-008')\n",
    )
