"""Mutants of lock providers, and of those who hold a lock."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.locks import InProcessLock, in_process, lock_for
from hudi_reference.locks.dynamodb import DynamoLease
from hudi_reference.locks.file_system import FileLease
from hudi_reference.locks.hive import HiveLease
from hudi_reference.locks.lease import LeasedLock
from hudi_reference.locks.storage_based import StoredLease
from hudi_reference.locks.timeout import Patience
from hudi_reference.locks.zookeeper import ZooKeeperLease
from hudi_reference.query.table import Table
from hudi_reference.services.archive import archive
from hudi_reference.services.planning import plan_execution
from hudi_reference.timeline.transitions import Transitions

_PRECONDITION = "if found is None or found.owner != self._holder or found.expired:"
_REPLACE = "self._storage.replace(self.name, data, version)"


@mutant(breaks="LOCK-001")
def a_lease_is_not_looked_at_before_publication(patch: Patch) -> None:
    """Whoever took the lock once believes that he has it, however long he stood still."""
    patch.edit(LeasedLock.check, "self._renew()", "pass")


@mutant(breaks=("LOCK-001", "OCC-010"))
def nobody_asks_before_publication(patch: Patch) -> None:
    """Publishes without asking whether the lock is still held."""
    patch.edit(Transitions._create, "if owner is not None:", "if False:")


@mutant(breaks="LOCK-001")
def a_lost_lease_is_given_back_all_the_same(patch: Patch) -> None:
    """Writes that the lease is free, or that it is ours, whoever has it by now."""
    patch.edit(StoredLease._write_mine, _PRECONDITION, "if found is None:")


@mutant(breaks="LOCK-001")
def a_lock_file_is_deleted_whoever_owns_it(patch: Patch) -> None:
    """Gives up the lock by deleting the file, without a look at what it holds."""
    patch.edit(FileLease.give_back, "self.renew()", "pass")


@mutant(breaks="LOCK-001")
def a_lock_file_that_is_there_is_ours(patch: Patch) -> None:
    """Takes the creation of the file for done where the file is there already."""
    patch.edit(FileLease.take, "return self._found() == self._holder", "return True")


@mutant(breaks="LOCK-001")
def any_thread_may_give_up(patch: Patch) -> None:
    """Gives up the lock for whoever asks for it."""
    patch.edit(InProcessLock.release, "self.check(owner)", "pass")


@mutant(breaks=("LOCK-001", "LOCK-007"))
def the_first_release_of_several_frees_it(patch: Patch) -> None:
    """An owner who took it twice and gave it up once does not have it any more."""
    patch.edit(InProcessLock.release, "self._depth -= 1", "self._depth = 0")


@mutant(breaks="LOCK-001")
def a_lease_is_taken_over_whatever_happened_since(patch: Patch) -> None:
    """Overwrites the object without saying which version of it was found over."""
    patch.edit(StoredLease._write, _REPLACE, "self._storage.put(self.name, data)")


@mutant(breaks="LOCK-001")
def a_lease_that_is_over_is_deleted_first(patch: Patch) -> None:
    """Deletes the object of the one before and creates its own: whoever did the same a moment ago loses his."""
    patch.edit(StoredLease._write, _REPLACE, "self._storage.delete(self.name)\n        self._storage.create(self.name, data)")


@mutant(breaks="LOCK-001")
def a_lease_is_over_by_the_clock_of_the_machine(patch: Patch) -> None:
    """Looks at another clock than the one by which the lease was taken."""
    patch.edit(StoredLease._is_over, "self._clock.now()", "__import__('time').time_ns() // 1_000_000")


@mutant(breaks="LOCK-001")
def clocks_are_taken_for_equal(patch: Patch) -> None:
    """Takes a lease over in the millisecond after its end."""
    patch.edit(StoredLease._is_over, " + DRIFT", "")


@mutant(breaks="LOCK-001")
def a_dead_holder_keeps_his_lease(patch: Patch) -> None:
    """Takes a lease only where it was given back."""
    patch.edit(StoredLease._is_over, "tenure.expired or self._clock.now() > tenure.valid_until + DRIFT", "tenure.expired")


@mutant(breaks="LOCK-001")
def a_renewal_comes_after_the_end(patch: Patch) -> None:
    """Lets the thread go on that renews the lease after it was given back."""
    patch.edit(LeasedLock._end_lease, "self._renewal.end()", "pass")


@mutant(breaks="LOCK-001")
def nobody_renews(patch: Patch) -> None:
    """Starts no thread that renews the lease."""
    patch.edit(LeasedLock.acquire, "self._renewal.begin()", "pass")


@mutant(breaks="LOCK-001")
def a_loss_is_kept_secret(patch: Patch) -> None:
    """Says nothing where the lease turns out to be lost when it is given back."""
    patch.edit(LeasedLock._end_lease, "except StorageFault:", "except Exception:")


@mutant(breaks=("LOCK-001", "LOCK-002"))
def waiting_ends_with_the_lock(patch: Patch) -> None:
    """Goes on as if it had the lock when it has waited for long enough."""
    patch.edit(LeasedLock._take, "    raise LockNotObtained(", "    return None\n    raise LockNotObtained(")


@mutant(breaks="LOCK-001")
def one_try_is_all(patch: Patch) -> None:
    """Does not pause and try again, whatever the settings say."""
    patch.edit(Patience.tries, "range(self.retries + 1)", "range(1)")


@mutant(breaks=("LOCK-002", "LOCK-001"))
def a_lock_of_one_process_for_several(patch: Patch) -> None:
    """Keeps the threads of its process apart and asks no service."""
    patch.edit(LeasedLock._take, "if self._lease.take():", "if True:")


@mutant(breaks=("LOCK-002", "TT-007"))
def a_shared_lock_is_taken_for_one_of_this_process(patch: Patch) -> None:
    """Does not wait for the clocks of the other machines."""
    patch.set(LeasedLock, "in_process", True)


@mutant(breaks="LOCK-003")
def the_archive_has_a_lock_of_its_own(patch: Patch) -> None:
    """Archives under the lock that is built in, whatever provider is configured."""
    patch.edit(
        archive._archive,
        'with held(transitions_of(table).times.lock, new_owner("archive")):',
        'from hudi_reference.locks import lock_of\n    with held(lock_of(storage), new_owner("archive")):',
    )


@mutant(breaks="LOCK-003")
def a_provider_is_chosen_in_vain(patch: Patch) -> None:
    """Reads the setting and uses the lock that is built in."""
    patch.edit(lock_for, "return PROVIDERS[name](Situation(storage, table_name, options, clock))", "return lock_of(storage)")


@mutant(breaks="LOCK-004")
def a_node_outlives_its_session(patch: Patch) -> None:
    """Queues with a node that stays when the session of its owner ends."""
    patch.edit(ZooKeeperLease.take, "lock.acquire(blocking=False)", "lock.acquire(blocking=False, ephemeral=False)")


@mutant(breaks="LOCK-004")
def the_end_of_a_session_goes_unnoticed(patch: Patch) -> None:
    """Believes that its node is there because it made it."""
    patch.edit(
        ZooKeeperLease._is_mine, "return found is not None and found.owner_session_id == client.client_id[0]", "return True"
    )


@mutant(breaks="LOCK-005")
def items_are_put_without_a_condition(patch: Patch) -> None:
    """Writes the item whatever is there by now."""
    patch.edit(DynamoLease._put, "ConditionExpression=condition, **{", "**{} if values else {")


@mutant(breaks="LOCK-005")
def a_version_is_stale_at_first_sight(patch: Patch) -> None:
    """Takes a lease over without waiting whether its owner renews it."""
    patch.edit(DynamoLease._is_stale, "return now - self._seen[1] >= validity", "return True")


@mutant(breaks="LOCK-006")
def a_shared_lock_in_the_metastore(patch: Patch) -> None:
    """Asks the metastore for a lock that readers share."""
    patch.edit(HiveLease.take, "types.LockType.EXCLUSIVE", "types.LockType.SHARED_READ")


@mutant(breaks=("LOCK-007", "LOCK-008"))
def a_lock_for_each_client(patch: Patch) -> None:
    """Gives whoever opens the table a lock of his own."""
    patch.edit(in_process.lock_of, "return _locks.setdefault(key, InProcessLock())", "return InProcessLock()")


@mutant(breaks="LOCK-008")
def no_writer_without_a_service(patch: Patch) -> None:
    """Refuses to write without settings of a lock."""
    patch.edit(
        lock_for,
        "        return lock_of(storage)\n",
        "        raise Misuse('no lock provider', rule='LOCK-008')\n",
    )


@mutant(breaks="OCC-002")
def services_have_a_lock_of_their_own(patch: Patch) -> None:
    """Writers exclude writers, and services exclude services."""

    def transitions_of(table: Table) -> Transitions:
        return Transitions.of(table.storage, table.properties, table.clock, table.options, InProcessLock())

    patch.set(plan_execution, "transitions_of", transitions_of)


@mutant(breaks="OCC-010")
def the_lock_is_free_between_check_and_completion(patch: Patch) -> None:
    """Looks for conflicts under the lock, gives it up, and takes it again to complete."""
    patch.edit(
        Transitions.complete,
        "        check(timeline)\n",
        "        check(timeline)\n        self.times.lock.release(owner)\n        self.times.lock.acquire(owner)\n",
    )


@mutant(breaks="OCC-025")
def the_lease_is_kept_for_the_next_write(patch: Patch) -> None:
    """Keeps the lease when the write is done: the same process will soon need it again."""
    patch.edit(LeasedLock._end_lease, "self._lease.give_back()", "return")


@mutant(breaks="LOCK-002")
def a_lease_is_read_before_its_version(patch: Patch) -> None:
    """Reads who has the lease, then which version that is: somebody may have taken it in between, and loses it."""
    patch.edit(
        StoredLease._read,
        "    info = self._storage.head(self.name)\n    if info is None:\n        return None, None\n    try:\n"
        "        return info.version, self._load(self._storage.get(self.name), info.modified)\n"
        "    except FileNotFoundError:\n        return info.version, None\n",
        "    try:\n        data = self._storage.get(self.name)\n    except FileNotFoundError:\n        data = None\n"
        "    info = self._storage.head(self.name)\n    if info is None:\n        return None, None\n"
        "    return info.version, None if data is None else self._load(data, info.modified)\n",
    )
