"""Properties of every lock provider, as functions of a `LockFixture`: mutual exclusion, time-outs, expiry and loss of the lock.

The test modules of locks call them for each provider. Each lock of a fixture represents a separate process.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest

from hudi_conformance.suite.support.concurrent.lock_fixtures import START, VALIDITY, LockFixture, run_race
from hudi_reference.clock import ManualClock
from hudi_reference.errors import LockLost, LockNotHeld, LockNotObtained
from hudi_reference.locks import Lock

#: Settings of a writer whose wait is shorter than the lease.
BRIEFLY = {"wait_time_ms": "100"}


@dataclass
class Detector:
    """Counts the threads inside without synchronization: mutual exclusion is up to the lock."""

    inside: int = 0
    most: int = 0
    entered: int = 0

    def visit(self, lock: Lock, owner: str, rounds: int) -> None:
        """Enter and leave."""
        for _ in range(rounds):
            lock.acquire(owner)
            self.inside += 1
            self.most = max(self.most, self.inside)
            time.sleep(0.001)
            self.entered += 1
            self.inside -= 1
            lock.release(owner)


def run_in_threads(threads: list[Thread]) -> None:
    """Run the functions in threads, and wait until all have ended."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class ActingClock(ManualClock):
    """A clock that runs an action on the third sleep."""

    slept = 0
    then: Callable[[], None] = staticmethod(lambda: None)

    def sleep(self, milliseconds: int) -> None:
        """Count, then sleep."""
        self.slept += 1
        if self.slept == 3:
            self.then()
        super().sleep(milliseconds)


def at_most_one_is_inside(fixture: LockFixture) -> None:
    """Several processes, and several threads of each, take the lock in a loop: there are never two inside, and all enter."""
    processes, rounds = fixture.race
    detector = Detector()
    locks = [fixture.lock() for _ in range(processes)]
    visits = [(lock, f"{n} {m}") for n, lock in enumerate(locks) for m in range(1 + (n == 0))]
    run_in_threads([Thread(target=detector.visit, args=(lock, owner, rounds)) for lock, owner in visits])
    assert (detector.most, detector.entered) == (1, len(visits) * rounds)


def at_most_one_process_is_inside(fixture: LockFixture, tmp_path: Path) -> None:
    """The same with processes of the operating system, which share nothing but the service."""
    rounds = fixture.race[1]
    assert run_race(fixture, tmp_path, 2, rounds) == [f"{rounds} times inside, 0 times not alone"] * 2


def the_lock_is_reentrant(fixture: LockFixture) -> None:
    """The owner may acquire the lock again; others enter after it has released the lock as often as it acquired it."""
    clock = ManualClock(START, step=0)
    mine, other = fixture.lock(clock), fixture.lock(clock, **BRIEFLY)
    mine.acquire("me")
    mine.acquire("me")
    mine.release("me")
    if fixture.name != "in-process":
        with pytest.raises(LockNotObtained):
            other.acquire("another")
    mine.check("me")
    mine.release("me")
    other.acquire("another")
    other.release("another")


def only_the_holder_releases_the_lock(fixture: LockFixture) -> None:
    """Neither another owner in the same process nor another process can release the lock of its holder."""
    clock = ManualClock(START, step=0)
    mine, other = fixture.lock(clock), fixture.lock(clock, **BRIEFLY)
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


def waiting_for_the_lock_times_out(fixture: LockFixture) -> None:
    """After the configured number of retries with the configured waits, waiting ends with an error; and the lock is not
    held.
    """
    clock = ManualClock(START, step=0)
    mine, other = fixture.lock(clock), fixture.lock(clock, **BRIEFLY, **{"client.num_retries": "2"})
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


def a_waiter_acquires_the_released_lock(fixture: LockFixture) -> None:
    """A waiter retries, and acquires the lock without waiting for the end of any lease."""
    mine, other = fixture.lock(ManualClock(START, step=0)), fixture.lock(waiting := ActingClock(START, step=0))
    mine.acquire("me")
    waiting.then = lambda: mine.release("me")
    other.acquire("another")
    assert waiting.time - START < VALIDITY
    with pytest.raises(LockNotHeld):
        mine.check("me")
    other.release("another")


def an_expired_lease_is_taken_over_and_its_holder_notices(fixture: LockFixture) -> None:
    """If the holder stalls too long, another process takes over; the first one may then neither publish nor release."""
    clock = ManualClock(START, step=0)
    mine, other = fixture.lock(clock), fixture.lock(clock)
    mine.acquire("me")
    assert fixture.expire is not None
    fixture.expire(fixture, mine, clock)
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


def a_renewed_lease_is_not_taken_over(fixture: LockFixture) -> None:
    """A holder that renews in time keeps the lock without limit."""
    clock = ManualClock(START, step=0)
    mine, other = fixture.lock(clock), fixture.lock(clock, **BRIEFLY)
    mine.acquire("me")
    for _ in range(3):
        clock.sleep(VALIDITY * 6 // 10)
        mine.check("me")
        if fixture.name != "dynamodb":
            with pytest.raises(LockNotObtained):
                other.acquire("another")
    mine.release("me")


def a_removed_lock_is_noticed_and_not_released(fixture: LockFixture) -> None:
    """Another process removes the lock against the protocol: the holder may not publish any more, and releases nothing."""
    clock = ManualClock(START, step=0)
    mine, other = fixture.lock(clock), fixture.lock(clock, **BRIEFLY)
    mine.acquire("me")
    assert fixture.take_away is not None
    fixture.take_away(fixture)
    with pytest.raises(LockLost):
        mine.check("me")
    with pytest.raises(LockLost):
        mine.release("me")
    if fixture.name != "zookeeper":  # there the session of the other process has ended
        with pytest.raises(LockNotObtained):
            other.acquire("another")


def a_clock_that_is_set_back_keeps_mutual_exclusion(fixture: LockFixture) -> None:
    """If the clock of the holder or of the waiter is set back by an hour, there is still one holder, and no endless wait."""
    for behind in ("holder", "waiting"):
        clocks = {name: ManualClock(START, step=0) for name in ("holder", "waiting")}
        mine, other = fixture.lock(clocks["holder"]), fixture.lock(clocks["waiting"], **BRIEFLY)
        mine.acquire("me")
        clocks[behind].time -= 3_600_000
        with pytest.raises(LockNotObtained):
            other.acquire("another")
        mine.check("me")
        mine.release("me")
        other.acquire("another")
        other.check("another")
        other.release("another")


def a_thread_renews_the_lease_of_a_long_action(fixture: LockFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lease is renewed without any request by its holder, and not any more after its release."""
    lock = fixture.lock()
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
