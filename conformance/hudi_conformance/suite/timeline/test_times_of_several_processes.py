"""Times that processes on several machines draw: a simulation, in which true time passes only where somebody waits.

The clocks are set apart, by as much as is reckoned with and no more. The tests know laws that hold, and no times.
"""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError

Json = Any
DRAWS = pytest.mark.needs("compute.true-time.draw")
#: Who draws in which order, in rounds that begin at once: in turns, in both orders, one alone for long, in a crowd.
PROGRAM = [[0, 1, 2], [2, 1, 0], [1], [0], [0, 0, 0, 2], [2, 0, 2, 0, 1, 1], [0, 1], [1, 2]]


def drawn(engine: Client, skew: int | None, clocks: list[int], program: list[list[int]] = PROGRAM) -> list[Json]:
    """What the processes drew, in the order in which they held the lock."""
    asked = {"source": "clocks", "skew": skew, "clocks": clocks, "program": program}
    found = engine.compute("true-time.draw", asked)
    assert [one["process"] for one in found] == [process for part in program for process in part]
    return list(found)


def moment(time: str) -> int:
    """The milliseconds since the epoch that an instant time stands for."""
    seen = datetime.strptime(time[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return int(seen.timestamp()) * 1000 + int(time[14:])


def waits(found: list[Json], clocks: list[int]) -> list[int]:
    """For each time how long the lock was held after the clock had been read, in milliseconds of true time."""
    return [int(one["released"] or 0) - (moment(one["time"]) - clocks[one["process"]]) for one in found]


def are_increasing(times: list[str]) -> bool:
    """Each one later than the one before, as texts."""
    return all(before < after for before, after in pairwise(times))


@DRAWS
@pytest.mark.requirements("TT-003", "TT-009", "TT-008", "TT-002")
@pytest.mark.parametrize("skew", [1, 7, 200, 1000])
def test_times_grow_whoever_draws_them(engine: Client, skew: int) -> None:
    """With clocks apart by the bound, to either side, no time is drawn twice and each is later than all drawn before it."""
    for clocks in ([0, 0, 0], [skew, 0, skew // 2], [0, skew, 0], [-skew, 0, -1], [skew // 2, -(skew - skew // 2), 0]):
        times = [one["time"] for one in drawn(engine, skew, clocks)]
        assert are_increasing(times), f"clocks set to {clocks}: {times}"


@DRAWS
@pytest.mark.requirements("TT-009")
def test_a_slow_clock_gives_a_later_time_than_the_fast_one_before_it(engine: Client) -> None:
    """A process whose clock is behind that of the previous one, by up to the bound, draws a later time all the same."""
    for behind in (1, 50, 99, 100):
        fast, slow = drawn(engine, 100, [0, -behind], [[0, 1]])
        assert slow["time"] > fast["time"], f"{behind} ms behind"


@DRAWS
@pytest.mark.requirements("TT-007")
def test_only_one_process_draws_at_a_time(engine: Client) -> None:
    """Every time is drawn, and the file that carries it created, while its process alone holds the lock of all processes."""
    clocks = [0, 40, 100]
    found = drawn(engine, 100, clocks)
    free = 0
    for one in found:
        assert one["acquired"] is not None, "no lock that all processes share was taken"
        read = moment(one["time"]) - clocks[one["process"]]
        assert free <= int(one["acquired"]) <= read <= int(one["published"]) <= int(one["released"])
        free = int(one["released"])


@DRAWS
@pytest.mark.requirements("TT-008", "TT-010", "TT-005")
@pytest.mark.parametrize("skew", [1, 5, 99, 101, 250, 5000, 60000])
def test_the_lock_is_held_for_the_bound_after_the_clock_was_read(engine: Client, skew: int) -> None:
    """Whatever bound is configured, a process waits at least that long between reading its clock and giving up the lock."""
    clocks = [0, skew, skew // 2]
    found = drawn(engine, skew, clocks, [[0, 1, 2], [1, 0]])
    assert min(waits(found, clocks)) >= skew


@DRAWS
@pytest.mark.requirements("TT-005", "TT-010")
def test_clocks_have_a_bound_when_none_is_configured(engine: Client) -> None:
    """Without a setting processes on several machines wait more than 100 ms: some difference of clocks is reckoned with."""
    assert min(waits(drawn(engine, None, [0, 0, 0]), [0, 0, 0])) > 100


@DRAWS
@pytest.mark.requirements("TT-010")
@pytest.mark.parametrize("skew", [0, -1])
def test_a_bound_that_is_none_is_refused(engine: Client, skew: int) -> None:
    """Without any difference of clocks reckoned with no order is promised: nobody runs on such a setting without a word."""
    with pytest.raises(ContractError):
        drawn(engine, skew, [0, 0, 0])


@DRAWS
@pytest.mark.requirements("TT-006", "TT-005", "TT-001")
def test_a_counter_goes_on_where_it_was(engine: Client) -> None:
    """Times from one counter that all processes share grow without a lock, also after the process that keeps it died."""
    program: list[list[int | str]] = [[0, 1, 2, "crash", 2, 1], ["crash"], [0, "crash", "crash", 1], [2, 0]]
    found = engine.compute("true-time.draw", {"source": "counter", "skew": None, "clocks": [0, 9, -9], "program": program})
    times = [one["time"] for one in found]
    assert len(times) == 9
    assert len({len(time) for time in times}) == 1, "their order as texts is their order as numbers"
    assert are_increasing(times), times
