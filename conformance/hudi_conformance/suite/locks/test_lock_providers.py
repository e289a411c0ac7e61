"""Properties of lock providers. This module checks those that need no service; `test_lock_services` checks the same properties
on the others.

Each lock of a `LockFixture` represents a separate process; they share the service behind the provider.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent import lock_fixtures, lock_properties
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.lock_fixtures import START, VALIDITY, LockFixture
from hudi_conformance.suite.support.concurrent.lock_properties import BRIEFLY, Detector, run_in_threads
from hudi_reference.clock import ManualClock, SystemClock
from hudi_reference.errors import LockNotObtained, OutcomeUnknown, StorageUnavailable
from hudi_reference.locks.file_system import FileLease
from hudi_reference.locks.lease import Lease, LeasedLock
from hudi_reference.locks.storage_based import StoredLease
from hudi_reference.locks.timeout import LockTimeout
from hudi_reference.storage import MemoryStorage, Storage

LEASES = ("expiring_file", "storage_based")
SHARED = ("file_system", *LEASES)
ALL = ("in_process", *SHARED)


@pytest.fixture
def lock_fixture(engine: Client, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LockFixture]:
    """The lock provider of the test, for a table of its own."""
    only_in_process(engine)
    found: LockFixture = getattr(lock_fixtures, request.param)(tmp_path)
    yield found
    found.close()


def parametrize_providers(*names: str) -> pytest.MarkDecorator:
    """Parametrize a test with these providers."""
    return pytest.mark.parametrize("lock_fixture", names, indirect=True)


@parametrize_providers(*ALL)
@pytest.mark.requirements("LOCK-001", "OCC-002", "LOCK-007", "LOCK-008")
def test_at_most_one_is_inside(lock_fixture: LockFixture) -> None:
    """LOCK-001: several processes, and several threads of each, take the lock in a loop: there are never two inside, and all
    enter.
    """
    lock_properties.at_most_one_is_inside(lock_fixture)


@parametrize_providers(*SHARED)
@pytest.mark.requirements("LOCK-001", "LOCK-002")
def test_at_most_one_process_is_inside(lock_fixture: LockFixture, tmp_path: Path) -> None:
    """LOCK-001: several processes of the operating system, which share only the service, take the lock in a loop: there are
    never two inside, and all enter.
    """
    lock_properties.at_most_one_process_is_inside(lock_fixture, tmp_path)


@parametrize_providers(*ALL)
@pytest.mark.requirements("LOCK-001", "LOCK-007")
def test_the_lock_is_reentrant(lock_fixture: LockFixture) -> None:
    """LOCK-001: the owner may acquire the lock again; others enter after it has released the lock as often as it
    acquired it.
    """
    lock_properties.the_lock_is_reentrant(lock_fixture)


@parametrize_providers(*ALL)
@pytest.mark.requirements("LOCK-001", "LOCK-007")
def test_only_the_holder_releases_the_lock(lock_fixture: LockFixture) -> None:
    """LOCK-001: neither another owner in the same process nor another process can release the lock of its holder."""
    lock_properties.only_the_holder_releases_the_lock(lock_fixture)


@parametrize_providers(*SHARED)
@pytest.mark.requirements("LOCK-001", "LOCK-002", "OCC-002")
def test_waiting_for_the_lock_times_out(lock_fixture: LockFixture) -> None:
    """LOCK-001: after the configured number of retries with the configured waits, waiting ends with an error; and the lock is
    not held.
    """
    lock_properties.waiting_for_the_lock_times_out(lock_fixture)


@parametrize_providers(*SHARED)
@pytest.mark.requirements("LOCK-001", "OCC-025")
def test_a_waiter_acquires_the_released_lock(lock_fixture: LockFixture) -> None:
    """OCC-025: a waiter retries, and acquires the lock without waiting for the end of any lease."""
    lock_properties.a_waiter_acquires_the_released_lock(lock_fixture)


@parametrize_providers(*LEASES)
@pytest.mark.requirements("LOCK-001")
def test_an_expired_lease_is_taken_over_and_its_holder_notices(lock_fixture: LockFixture) -> None:
    """LOCK-001: if the holder stalls too long, another process takes over; the first one may then neither publish nor
    release.
    """
    lock_properties.an_expired_lease_is_taken_over_and_its_holder_notices(lock_fixture)


@parametrize_providers("expiring_file", "storage_based")
@pytest.mark.requirements("LOCK-001")
def test_a_renewed_lease_is_not_taken_over(lock_fixture: LockFixture) -> None:
    """LOCK-001: a holder that renews in time keeps the lock without limit."""
    lock_properties.a_renewed_lease_is_not_taken_over(lock_fixture)


@parametrize_providers("expiring_file", "storage_based")
@pytest.mark.requirements("LOCK-001")
def test_an_expired_lease_is_taken_over_once(lock_fixture: LockFixture) -> None:
    """LOCK-001: if many processes see at the same time that the lease has expired, one acquires it; the others wait."""
    gone = lock_fixture.lock(ManualClock(int(time.time() * 1000) - VALIDITY - 1_000, step=0))
    gone.acquire("gone")
    detector = Detector()
    run_in_threads([Thread(target=detector.visit, args=(lock_fixture.lock(), str(n), 3)) for n in range(6)])
    assert (detector.most, detector.entered) == (1, 18)


@parametrize_providers(*SHARED)
@pytest.mark.requirements("LOCK-001")
def test_a_removed_lock_is_noticed_and_not_released(lock_fixture: LockFixture) -> None:
    """LOCK-001: another process removes the lock against the protocol: the holder may not publish any more, and releases
    nothing.
    """
    lock_properties.a_removed_lock_is_noticed_and_not_released(lock_fixture)


@parametrize_providers("expiring_file", "storage_based")
@pytest.mark.requirements("LOCK-001")
def test_a_clock_that_is_set_back_keeps_mutual_exclusion(lock_fixture: LockFixture) -> None:
    """LOCK-001: if the clock of the holder or of the waiter is set back by an hour, there is still one holder, and no endless
    wait.
    """
    lock_properties.a_clock_that_is_set_back_keeps_mutual_exclusion(lock_fixture)


@parametrize_providers("storage_based")
@pytest.mark.requirements("LOCK-001")
def test_a_lease_is_not_taken_over_within_the_clock_skew(lock_fixture: LockFixture) -> None:
    """LOCK-001: a lease is taken over half a second after its end, by the clock of the waiter: this is the tolerated difference
    of clocks.
    """
    clock = ManualClock(START, step=0)
    mine, other = lock_fixture.lock(clock), lock_fixture.lock(clock, wait_time_ms="0")
    mine.acquire("me")
    clock.sleep(VALIDITY + 500)
    with pytest.raises(LockNotObtained):
        other.acquire("another")
    clock.sleep(1)
    other.acquire("another")
    other.release("another")


@parametrize_providers("expiring_file", "storage_based")
@pytest.mark.requirements("LOCK-001")
def test_a_thread_renews_the_lease_of_a_long_action(lock_fixture: LockFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """LOCK-001: the lease is renewed without any request by its holder, and not any more after its release."""
    lock_properties.a_thread_renews_the_lease_of_a_long_action(lock_fixture, monkeypatch)


@parametrize_providers("file_system")
@pytest.mark.requirements("LOCK-001")
def test_a_file_without_expiry_stays(lock_fixture: LockFixture) -> None:
    """LOCK-001: the lock of a crashed holder stays until it is deleted: without an expiry no process can detect the crash."""
    clock = ManualClock(START, step=0)
    lock_fixture.lock(clock).acquire("gone")
    clock.sleep(365 * 24 * 3_600_000)
    other = lock_fixture.lock(clock, **BRIEFLY)
    with pytest.raises(LockNotObtained):
        other.acquire("another")
    (Path(lock_fixture.uri.removeprefix("file://")) / ".hoodie" / "lock").unlink()
    other.acquire("another")
    other.release("another")


@parametrize_providers("file_system", "expiring_file")
@pytest.mark.requirements("LOCK-001", "LOCK-002")
def test_an_empty_lock_file_of_another_engine_is_respected(lock_fixture: LockFixture) -> None:
    """LOCK-001: other engines leave the file empty; it is valid until its configured expiry, and without an expiry for ever."""
    file = Path(lock_fixture.uri.removeprefix("file://")) / ".hoodie" / "lock"
    file.parent.mkdir()
    file.touch()
    os.utime(file, ns=(START * 1_000_000, START * 1_000_000))
    clock = ManualClock(START, step=0)
    mine = lock_fixture.lock(clock, **BRIEFLY)
    with pytest.raises(LockNotObtained):
        mine.acquire("me")
    clock.sleep(VALIDITY + 1_000)
    if lock_fixture.name == "file-system":
        with pytest.raises(LockNotObtained):
            mine.acquire("me")
    else:
        mine.acquire("me")
        mine.release("me")


@dataclass
class InterruptedLease:
    """A lease whose service does not answer the first renewals, and does then."""

    unanswered: int
    renewed: Event = field(default_factory=Event)
    name: str = "a service that is interrupted"

    def take(self) -> bool:
        """Obtain it at once."""
        return True

    def renew(self) -> None:
        """Fail some times, then succeed."""
        self.unanswered -= 1
        if self.unanswered >= 0:
            raise StorageUnavailable("the lock service does not answer")
        self.renewed.set()

    def give_back(self) -> None:
        """Release it."""


@pytest.mark.requirements("LOCK-001")
def test_a_renewal_without_an_answer_is_tried_again(engine: Client) -> None:
    """LOCK-001: the lock service does not answer some renewals of the thread that renews the lease during a long action. The
    thread goes on: an interruption that is shorter than the lease does not cost the lock.
    """
    only_in_process(engine)
    lease = InterruptedLease(unanswered=3)
    lock = LeasedLock(lease, SystemClock(), LockTimeout(wait=0, retries=0), renewed_every=1)
    lock.acquire("me")
    assert lease.renewed.wait(10), "the thread that renews the lease has stopped"
    lock.check("me")
    lock.release("me")


@parametrize_providers("expiring_file")
@pytest.mark.requirements("LOCK-001")
def test_a_lock_file_of_another_engine_is_valid_until_its_expiry(lock_fixture: LockFixture) -> None:
    """LOCK-001: the file of another engine names no expiry: it is valid for the configured time since it was modified."""
    file = Path(lock_fixture.uri.removeprefix("file://")) / ".hoodie" / "lock"
    file.parent.mkdir()
    file.touch()
    os.utime(file, ns=(START * 1_000_000, START * 1_000_000))
    mine = lock_fixture.lock(ManualClock(START + VALIDITY - 1_000, step=0), **BRIEFLY)
    with pytest.raises(LockNotObtained):
        mine.acquire("me")


class LosesFirstAnswer(MemoryStorage):
    """Storage that creates the first object, and loses the answer."""

    def create(self, path: str, data: bytes) -> None:
        """Create the object."""
        is_first = not self.list()
        super().create(path, data)
        if is_first:
            raise OutcomeUnknown("the answer was lost", path=path)


#: The leases that are objects in a storage, by the holder.
STORED: Mapping[str, Callable[[Storage, str], Lease]] = {
    "object": lambda storage, holder: StoredLease(storage, ManualClock(START), holder),
    "file": lambda storage, holder: FileLease(storage, holder, path="lock"),
}


@pytest.mark.parametrize("kind", STORED)
@pytest.mark.requirements("LOCK-001")
def test_a_lock_is_obtained_although_the_answer_was_lost(engine: Client, kind: str) -> None:
    """LOCK-001: the storage stores the lock and loses the answer. The holder finds its lock at the next try; before it is
    released, no other holder obtains it.
    """
    only_in_process(engine)
    storage, clock = LosesFirstAnswer(), ManualClock(START)
    timeout = LockTimeout(wait=3_000, step=1_000, retries=0)
    mine, others = (LeasedLock(STORED[kind](storage, holder), clock, timeout) for holder in ("me", "another"))
    mine.acquire("me")
    with pytest.raises(LockNotObtained):
        others.acquire("another")
    mine.release("me")
    others.acquire("another")
    others.release("another")
