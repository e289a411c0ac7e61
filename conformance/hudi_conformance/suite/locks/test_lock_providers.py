"""Lock providers: one conformance test for all. Here those that need no service; `test_lock_services` runs the same laws.

Each lock of a bench stands for a process of its own; what they share is the service behind the provider.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent import lock_fixtures
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.lock_fixtures import START, VALIDITY, Bench
from hudi_reference.clock import ManualClock
from hudi_reference.errors import LockLost, LockNotHeld, LockNotObtained
from hudi_reference.locks import Lock

LEASES = ("expiring_file", "storage_based")
SHARED = ("file_system", *LEASES)
ALL = ("in_process", *SHARED)
#: Settings of somebody who waits for a shorter time than a lease lasts.
BRIEFLY = {"wait_time_ms": "100"}


@pytest.fixture
def bench(engine: Client, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """The provider that the test asks for, for a table that nobody else has."""
    only_in_process(engine)
    found: Bench = getattr(lock_fixtures, request.param)(tmp_path)
    yield found
    found.close()


def benches(*names: str) -> pytest.MarkDecorator:
    """The test runs on each of these providers."""
    return pytest.mark.parametrize("bench", names, indirect=True)


@dataclass
class Detector:
    """Counts who is inside, without any care: that is the lock's business."""

    inside: int = 0
    most: int = 0
    entered: int = 0

    def visit(self, lock: Lock, owner: str, rounds: int) -> None:
        """Go in and out."""
        for _ in range(rounds):
            lock.acquire(owner)
            self.inside += 1
            self.most = max(self.most, self.inside)
            time.sleep(0.001)
            self.entered += 1
            self.inside -= 1
            lock.release(owner)


def together(threads: list[Thread]) -> None:
    """Run them to their ends."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@benches(*ALL)
@pytest.mark.requirements("LOCK-001", "OCC-002", "LOCK-007")
def test_at_most_one_is_inside(bench: Bench) -> None:
    """Several processes, and several threads of each, take the lock in a loop: never are two inside, and all get in."""
    processes, rounds = bench.race
    detector = Detector()
    locks = [bench.lock() for _ in range(processes)]
    visits = [(lock, f"{n} {m}") for n, lock in enumerate(locks) for m in range(1 + (n == 0))]
    together([Thread(target=detector.visit, args=(lock, owner, rounds)) for lock, owner in visits])
    assert (detector.most, detector.entered) == (1, len(visits) * rounds)


@benches(*SHARED)
@pytest.mark.requirements("LOCK-001", "LOCK-002")
def test_at_most_one_process_is_inside(bench: Bench, tmp_path: Path) -> None:
    """The same with processes of the operating system, which share nothing but the service."""
    rounds = bench.race[1]
    assert lock_fixtures.race(bench, tmp_path, 2, rounds) == [f"{rounds} times inside, 0 times not alone"] * 2


@benches(*ALL)
@pytest.mark.requirements("LOCK-001", "LOCK-007")
def test_its_owner_takes_it_again(bench: Bench) -> None:
    """Who has the lock may take it again; others get in when he has given it up as often as he took it."""
    clock = ManualClock(START, step=0)
    mine, other = bench.lock(clock), bench.lock(clock, **BRIEFLY)
    mine.acquire("me")
    mine.acquire("me")
    mine.release("me")
    if bench.name != "in-process":
        with pytest.raises(LockNotObtained):
            other.acquire("another")
    mine.check("me")
    mine.release("me")
    other.acquire("another")
    other.release("another")


@benches(*ALL)
@pytest.mark.requirements("LOCK-001", "LOCK-007")
def test_a_stranger_cannot_give_it_up(bench: Bench) -> None:
    """Neither another owner of the same process nor another process takes the lock from its holder by giving it up."""
    clock = ManualClock(START, step=0)
    mine, other = bench.lock(clock), bench.lock(clock, **BRIEFLY)
    with pytest.raises(LockNotHeld):
        mine.release("me")
    mine.acquire("me")
    for lock, owner in ((mine, "a stranger"), (other, "a stranger"), (other, "me")):
        if lock is not mine or owner != "me":
            with pytest.raises(LockNotHeld):
                lock.release(owner)
            with pytest.raises(LockNotHeld):
                lock.check(owner)
    mine.check("me")
    mine.release("me")
    with pytest.raises(LockNotHeld):
        mine.release("me")


@benches(*SHARED)
@pytest.mark.requirements("LOCK-001", "LOCK-002", "OCC-002")
def test_who_waits_in_vain_is_told(bench: Bench) -> None:
    """After as many tries as the settings have, each as long as they say, waiting ends with an error; and nothing is held."""
    clock = ManualClock(START, step=0)
    mine, other = bench.lock(clock), bench.lock(clock, **BRIEFLY, **{"client.num_retries": "2"})
    mine.acquire("me")
    before = clock.time
    with pytest.raises(LockNotObtained):
        other.acquire("another")
    each, pause = int(BRIEFLY["wait_time_ms"]), 5_000
    assert clock.time - before == 3 * each + 2 * pause
    mine.check("me")
    mine.release("me")
    other.acquire("another")
    other.release("another")


@benches(*SHARED)
@pytest.mark.requirements("LOCK-001", "OCC-025")
def test_who_waits_gets_in_when_it_is_given_up(bench: Bench) -> None:
    """The next one looks again and again, and gets in without waiting for the end of any lease."""
    mine, other = bench.lock(ManualClock(START, step=0)), bench.lock(waiting := Releasing(START, step=0))
    mine.acquire("me")
    waiting.then = lambda: mine.release("me")
    other.acquire("another")
    assert waiting.time - START < VALIDITY
    with pytest.raises(LockNotHeld):
        mine.check("me")
    other.release("another")


class Releasing(ManualClock):
    """A clock on which something happens when somebody sleeps for the third time."""

    slept = 0
    then: Callable[[], None] = staticmethod(lambda: None)

    def sleep(self, milliseconds: int) -> None:
        """Count, then sleep."""
        self.slept += 1
        if self.slept == 3:
            self.then()
        super().sleep(milliseconds)


@benches(*LEASES)
@pytest.mark.requirements("LOCK-001")
def test_a_lease_that_ran_out_is_taken_over_and_its_holder_notices(bench: Bench) -> None:
    """Of a holder who stands still for too long another one takes over; the first then may neither publish nor give it up."""
    clock = ManualClock(START, step=0)
    mine, other = bench.lock(clock), bench.lock(clock)
    mine.acquire("me")
    assert bench.lapse is not None
    bench.lapse(bench, mine, clock)
    other.acquire("another")
    with pytest.raises(LockLost):
        mine.check("me")
    with pytest.raises(LockLost):
        mine.release("me")
    other.check("another")
    other.release("another")
    mine.acquire("me")
    mine.check("me")
    mine.release("me")


@benches("expiring_file", "storage_based")
@pytest.mark.requirements("LOCK-001")
def test_a_lease_that_is_renewed_is_not_taken_over(bench: Bench) -> None:
    """Whoever renews in time keeps the lock for as long as he likes."""
    clock = ManualClock(START, step=0)
    mine, other = bench.lock(clock), bench.lock(clock, **BRIEFLY)
    mine.acquire("me")
    for _ in range(3):
        clock.sleep(VALIDITY * 6 // 10)
        mine.check("me")
        if bench.name != "dynamodb":
            with pytest.raises(LockNotObtained):
                other.acquire("another")
    mine.release("me")


@benches("expiring_file", "storage_based")
@pytest.mark.requirements("LOCK-001")
def test_two_who_find_a_lease_over_do_not_both_take_it(bench: Bench) -> None:
    """Of many who see at once that the holder is gone one gets in; the others wait for him."""
    gone = bench.lock(ManualClock(int(time.time() * 1000) - VALIDITY - 1_000, step=0))
    gone.acquire("gone")
    detector = Detector()
    together([Thread(target=detector.visit, args=(bench.lock(), str(n), 3)) for n in range(6)])
    assert (detector.most, detector.entered) == (1, 18)


@benches(*SHARED)
@pytest.mark.requirements("LOCK-001")
def test_a_stolen_lock_is_noticed_and_left_to_the_thief(bench: Bench) -> None:
    """Somebody who keeps no rules takes the lock away: its holder may not publish any more, and gives up nothing."""
    clock = ManualClock(START, step=0)
    mine, other = bench.lock(clock), bench.lock(clock, **BRIEFLY)
    mine.acquire("me")
    assert bench.steal is not None
    bench.steal(bench)
    with pytest.raises(LockLost):
        mine.check("me")
    with pytest.raises(LockLost):
        mine.release("me")
    if bench.name != "zookeeper":  # there the thief's session is over
        with pytest.raises(LockNotObtained):
            other.acquire("another")


@benches("expiring_file", "storage_based")
@pytest.mark.requirements("LOCK-001")
def test_a_clock_that_is_set_back_keeps_others_out(bench: Bench) -> None:
    """With the holder's clock or that of the one who waits set back by an hour there is still one holder, and no wait without
    end."""
    for behind in ("holder", "waiting"):
        clocks = {name: ManualClock(START, step=0) for name in ("holder", "waiting")}
        mine, other = bench.lock(clocks["holder"]), bench.lock(clocks["waiting"], **BRIEFLY)
        mine.acquire("me")
        clocks[behind].time -= 3_600_000
        with pytest.raises(LockNotObtained):
            other.acquire("another")
        mine.check("me")
        mine.release("me")
        other.acquire("another")
        other.check("another")
        other.release("another")


@benches("storage_based")
@pytest.mark.requirements("LOCK-001")
def test_clocks_that_differ_take_no_lease_away(bench: Bench) -> None:
    """A lease is taken over half a second after its end, by the clock of the one who waits: so much clocks may differ."""
    clock = ManualClock(START, step=0)
    mine, other = bench.lock(clock), bench.lock(clock, wait_time_ms="0")
    mine.acquire("me")
    clock.sleep(VALIDITY + 500)
    with pytest.raises(LockNotObtained):
        other.acquire("another")
    clock.sleep(1)
    other.acquire("another")
    other.release("another")


@benches("expiring_file", "storage_based")
@pytest.mark.requirements("LOCK-001")
def test_a_thread_renews_the_lease_of_one_who_works_for_long(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any question of the holder's his lease is renewed, and not any more once he has given it back."""
    lock = bench.lock()
    renewed: list[float] = []
    renewal, lease = lock._renewal, lock._lease  # type: ignore[attr-defined]
    monkeypatch.setattr(renewal, "_seconds", 0.01)
    renew = lease.renew

    def noted() -> None:
        renewed.append(time.monotonic())
        renew()

    monkeypatch.setattr(lease, "renew", noted)
    lock.acquire("me")
    end = time.monotonic() + 20
    while len(renewed) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    lock.check("me")
    lock.release("me")
    so_far = len(renewed)
    assert so_far >= 4
    time.sleep(0.1)
    assert len(renewed) == so_far


@benches("file_system")
@pytest.mark.requirements("LOCK-001")
def test_a_file_without_expiry_stays(bench: Bench) -> None:
    """The lock of a dead holder stays until somebody deletes it: nobody can know that he is dead."""
    clock = ManualClock(START, step=0)
    bench.lock(clock).acquire("gone")
    clock.sleep(365 * 24 * 3_600_000)
    other = bench.lock(clock, **BRIEFLY)
    with pytest.raises(LockNotObtained):
        other.acquire("another")
    (Path(bench.uri.removeprefix("file://")) / ".hoodie" / "lock").unlink()
    other.acquire("another")
    other.release("another")


@benches("file_system", "expiring_file")
@pytest.mark.requirements("LOCK-001", "LOCK-002")
def test_the_empty_lock_file_of_another_engine_counts(bench: Bench) -> None:
    """Other engines leave the file empty; it is theirs until it is as old as the settings say, and for ever without them."""
    file = Path(bench.uri.removeprefix("file://")) / ".hoodie" / "lock"
    file.parent.mkdir()
    file.touch()
    os.utime(file, ns=(START * 1_000_000, START * 1_000_000))
    clock = ManualClock(START, step=0)
    mine = bench.lock(clock, **BRIEFLY)
    with pytest.raises(LockNotObtained):
        mine.acquire("me")
    clock.sleep(VALIDITY + 1_000)
    if bench.name == "file-system":
        with pytest.raises(LockNotObtained):
            mine.acquire("me")
    else:
        mine.acquire("me")
        mine.release("me")
