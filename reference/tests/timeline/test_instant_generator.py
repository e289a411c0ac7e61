"""Times of a writer whose zone repeats an hour, and the lock under which they are drawn."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hudi_reference.clock import ManualClock, SystemClock
from hudi_reference.errors import ClockBehindTimeline, LockNotHeld, LockNotObtained
from hudi_reference.locks import InProcessLock, hold_lock, lock_of
from hudi_reference.storage import LocalStorage, MemoryStorage
from hudi_reference.timeline.instant_generator import TimeGenerator
from hudi_reference.timeline.shared_counter import FIRST, SharedCounter

#: 2025-10-26T00:59:59Z in Berlin is 02:59:59, summer time; a second later it is two o'clock again.
BEFORE_THE_REPEATED_HOUR = 1761440399000
BERLIN = ZoneInfo("Europe/Berlin")


def test_times_do_not_go_back_in_a_repeated_hour() -> None:
    """TT-002: where the zone shows an hour once more, the writer waits until it is over, if it may wait so long."""
    clock = ManualClock(BEFORE_THE_REPEATED_HOUR, step=0)
    generator = TimeGenerator(clock, InProcessLock(), BERLIN, skew=1, longest_wait=3_700_000)
    times = [generator.requested()]
    clock.time += 1000
    times += [generator.requested() for _ in range(3)]
    assert times == sorted(set(times))
    assert times[0] == "20251026025959000"
    assert clock.time >= BEFORE_THE_REPEATED_HOUR + 3_600_000


def test_waiting_for_a_repeated_hour_is_limited() -> None:
    """TT-009: a writer does not wait an hour silently; the error states what is expected, and that the hour passes."""
    clock = ManualClock(BEFORE_THE_REPEATED_HOUR, step=0)
    generator = TimeGenerator(clock, InProcessLock(), BERLIN, skew=1)
    generator.requested()
    clock.time += 1000
    with pytest.raises(ClockBehindTimeline, match="an hour that the zone repeats passes by itself"):
        generator.requested()


def test_a_lock_has_one_owner() -> None:
    """TT-007: another owner times out, the owner itself acquires the lock again, and no other owner can release it."""
    lock = InProcessLock(timeout=0.01)
    with hold_lock(lock, "a"), hold_lock(lock, "a"):
        with pytest.raises(LockNotObtained):
            lock.acquire("b")
        with pytest.raises(LockNotHeld):
            lock.release("b")
    with hold_lock(lock, "b"):
        pass


def test_one_folder_has_one_lock(tmp_path: Path) -> None:
    """TT-007: all storage objects of one table have the same lock in this process."""
    one, other = LocalStorage(tmp_path), LocalStorage(tmp_path)
    lock = lock_of(one)
    assert lock_of(other) is lock
    assert lock_of(LocalStorage(tmp_path / "else")) is not lock
    assert lock_of(MemoryStorage()) is not lock


def test_threads_get_times_in_the_order_of_the_lock() -> None:
    """TT-003: threads with generators of their own never draw one time twice, and files created under it are in order."""
    lock = InProcessLock()
    published: list[str] = []

    def draw(_: int) -> None:
        generator = TimeGenerator(SystemClock(), lock, skew=1)
        for _ in range(5):
            with generator.drawn() as time:
                published.append(time)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(draw, range(4)))
    assert len(published) == 20
    assert published == sorted(set(published))


def test_a_counter_returns_times_later_than_the_timeline() -> None:
    """TT-006: times of the shared counter are later than what the table knows; several services on one storage share it."""
    storage, lock = MemoryStorage(), InProcessLock()
    one, other = SharedCounter(storage, lock), SharedCounter(storage, lock)
    times = [one.requested(), other.requested(), one.requested(str(FIRST + 100)), other.requested()]
    with one.drawn("") as time:
        times.append(time)
    assert times == [str(FIRST + n) for n in (0, 1, 101, 102, 103)]


def test_a_time_far_in_the_future_is_refused_at_once() -> None:
    """TT-009: if the longest wait does not suffice, the error comes at once, without a wait under the lock, and says what to do
    with a plan that has such a time."""
    clock = ManualClock(BEFORE_THE_REPEATED_HOUR, step=0)
    generator = TimeGenerator(clock, InProcessLock(), skew=1)
    with pytest.raises(ClockBehindTimeline, match="withdraw a plan"):
        generator.requested("20990101000000000")
    assert clock.time == BEFORE_THE_REPEATED_HOUR
