"""Times that processes on several machines draw: a simulation in which true time passes only while a process waits.

The clocks differ by at most the tolerated skew. The tests check properties, not particular times.
"""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError

Json = Any
DRAWS = pytest.mark.needs("compute.true-time.draw")
#: The processes that draw, by rounds that begin at the same time: in turn, in both orders, one alone several times, many
#: together.
PROGRAM = [[0, 1, 2], [2, 1, 0], [1], [0], [0, 0, 0, 2], [2, 0, 2, 0, 1, 1], [0, 1], [1, 2]]


def draw_times(engine: Client, skew: int | None, clocks: list[int], program: list[list[int]] = PROGRAM) -> list[Json]:
    """Return the times that the processes drew, in the order in which they held the lock."""
    asked = {"source": "clocks", "skew": skew, "clocks": clocks, "program": program}
    found = engine.compute("true-time.draw", asked)
    assert [one["process"] for one in found] == [process for part in program for process in part]
    return list(found)


def milliseconds_of(time: str) -> int:
    """Return the milliseconds since the epoch of an instant time."""
    seen = datetime.strptime(time[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return int(seen.timestamp()) * 1000 + int(time[14:])


def waiting_times(found: list[Json], clocks: list[int]) -> list[int]:
    """Return for each time how long the lock was held after the clock had been read, in milliseconds of true time."""
    return [int(one["released"] or 0) - (milliseconds_of(one["time"]) - clocks[one["process"]]) for one in found]


def are_increasing(times: list[str]) -> bool:
    """Return whether each one is later than the one before, as texts."""
    return all(before < after for before, after in pairwise(times))


@DRAWS
@pytest.mark.requirements("TT-003", "TT-009", "TT-008", "TT-002")
@pytest.mark.parametrize("skew", [1, 7, 200, 1000])
def test_times_increase_over_all_processes(engine: Client, skew: int) -> None:
    """TT-002: if clocks differ by the bound, in either direction, no time is generated twice and each is later than all
    generated before it.
    """
    for clocks in ([0, 0, 0], [skew, 0, skew // 2], [0, skew, 0], [-skew, 0, -1], [skew // 2, -(skew - skew // 2), 0]):
        times = [one["time"] for one in draw_times(engine, skew, clocks)]
        assert are_increasing(times), f"clocks set to {clocks}: {times}"


@DRAWS
@pytest.mark.requirements("TT-009")
def test_a_slow_clock_gives_a_later_time_than_a_fast_one_before(engine: Client) -> None:
    """TT-009: a process whose clock is behind that of the previous one, by up to the bound, still generates a later time."""
    for behind in (1, 50, 99, 100):
        fast, slow = draw_times(engine, 100, [0, -behind], [[0, 1]])
        assert slow["time"] > fast["time"], f"{behind} ms behind"


@DRAWS
@pytest.mark.requirements("TT-007")
def test_only_one_process_draws_at_a_time(engine: Client) -> None:
    """TT-007: every time is generated, and its file is created, while only its process holds the lock of all processes."""
    clocks = [0, 40, 100]
    found = draw_times(engine, 100, clocks)
    free = 0
    for one in found:
        assert one["acquired"] is not None, "no shared lock was taken"
        read = milliseconds_of(one["time"]) - clocks[one["process"]]
        assert free <= int(one["acquired"]) <= read <= int(one["published"]) <= int(one["released"])
        free = int(one["released"])


@DRAWS
@pytest.mark.requirements("TT-008", "TT-010", "TT-005")
@pytest.mark.parametrize("skew", [1, 5, 99, 101, 250, 5000, 60000])
def test_the_lock_is_held_for_the_clock_skew_bound(engine: Client, skew: int) -> None:
    """TT-008: for any configured bound, a process waits at least that long between reading its clock and releasing the lock."""
    clocks = [0, skew, skew // 2]
    found = draw_times(engine, skew, clocks, [[0, 1, 2], [1, 0]])
    assert min(waiting_times(found, clocks)) >= skew


@DRAWS
@pytest.mark.requirements("TT-005", "TT-010")
def test_clock_skew_has_a_default_bound(engine: Client) -> None:
    """TT-005: without a setting, processes on several machines wait more than 100 ms: some clock skew is tolerated."""
    assert min(waiting_times(draw_times(engine, None, [0, 0, 0]), [0, 0, 0])) > 100


@DRAWS
@pytest.mark.requirements("TT-010")
@pytest.mark.parametrize("skew", [0, -1])
def test_an_invalid_bound_is_refused(engine: Client, skew: int) -> None:
    """TT-010: a bound of zero or less would not guarantee any order: the setting is refused with an error."""
    with pytest.raises(ContractError):
        draw_times(engine, skew, [0, 0, 0])
    assert draw_times(engine, 1, [0, 0, 0]), "the least bound is refused too"


@DRAWS
@pytest.mark.requirements("TT-006", "TT-005", "TT-001")
def test_a_counter_continues_after_a_crash(engine: Client) -> None:
    """TT-006: times from one shared counter increase without a lock, also after a crash of the process that serves it."""
    program: list[list[int | str]] = [[0, 1, 2, "crash", 2, 1], ["crash"], [0, "crash", "crash", 1], [2, 0]]
    found = engine.compute("true-time.draw", {"source": "counter", "skew": None, "clocks": [0, 9, -9], "program": program})
    times = [one["time"] for one in found]
    assert len(times) == 9
    assert len({len(time) for time in times}) == 1, "the times have different lengths"
    assert are_increasing(times), times
