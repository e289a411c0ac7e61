"""What each policy of cleaning promises, on one history whose writes are an hour apart, wherever a writer is still at work.

Only the reference in this process can be given a clock.
"""

from collections.abc import Callable, Mapping

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.reference.pausing import HaltingGreenlet
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_reference import WritableTable, clean, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.layout.names import BaseFileName, parse_data_file_name
from hudi_reference.storage import MemoryStorage

HOUR = 3_600_000
START = 1_767_225_600_000
#: The partition that each write changes; each of them has one file group.
HISTORY = ("oslo", "rio", "oslo", "oslo", "rio", "oslo", "bergen", "oslo")
#: Settings of a policy; its first promised write, by its place in the history of so many writes, None where nothing may go.
POLICIES: Mapping[str, tuple[dict[str, str], Callable[[int], int | None]]] = {
    "two commits": ({"hoodie.clean.commits.retained": "2"}, lambda writes: writes - 2),
    "five commits": ({"hoodie.clean.commits.retained": "5"}, lambda writes: writes - 5),
    "as many commits as there are": ({"hoodie.clean.commits.retained": "8"}, lambda writes: None),
    "three hours": (
        {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "3"},
        lambda writes: writes - 3,
    ),
}


def made() -> tuple[WritableTable, ManualClock, list[str]]:
    """The table, its clock an hour after the last write, and the requested times of its writes."""
    spec, storage, clock = Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", True).spec(), MemoryStorage(), ManualClock(START, 1)
    world = {"storage": storage, "clock": clock, "ids": SeededIds(1)}
    create_table("memory:///old", name="old", schema=dict(spec.schema), record_key=("id",), partition=("city",), **world)  # type: ignore[arg-type]
    return open_table("memory:///old", **world), clock, []  # type: ignore[arg-type]


def goes_on(table: WritableTable, clock: ManualClock, times: list[str], until: int) -> None:
    """The writes up to that place in the history, an hour after each other."""
    for number in range(len(times), until):
        times.append(table.upsert(as_arrow([row(HISTORY[number], number, f"write {number}", HISTORY[number])])))
        clock.sleep(HOUR)


def needed(first: int) -> set[tuple[str, int]]:
    """Of which writes the files stay if all reads from that write on are to work: by partition, its own later ones and the one
    that was there before."""
    found = set[tuple[str, int]]()
    for city in set(HISTORY):
        mine = [number for number, name in enumerate(HISTORY) if name == city]
        before = [number for number in mine if number < first]
        found |= {(city, number) for number in (*before[-1:], *mine[len(before) :])}
    return found


def files(table: WritableTable, times: list[str]) -> set[tuple[str, int]]:
    """The writes whose base files are there, by partition; those of a pending write are left out."""
    names = [(info.path.split("/")[0], parse_data_file_name(info.path.rpartition("/")[2])) for info in table.storage.list()]
    return {(city, times.index(n.instant)) for city, n in names if isinstance(n, BaseFileName) and n.instant in times}


def values(table: WritableTable, time: str | None = None) -> list[str]:
    """The values of all rows, as of a time or now."""
    found = table.snapshot(["value"]) if time is None else table.as_of(time, ["value"])
    return sorted(found.column("value").to_pylist())


@pytest.mark.needs("service.clean", "copy-on-write")
@pytest.mark.parametrize("pending_after", [None, *range(1, len(HISTORY))])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.requirements("CLN-001", "CLN-002", "CLN-003", "CLN-004", "CLN-005")
def test_a_clean_keeps_what_its_policy_promises(engine: Client, policy: str, pending_after: int | None) -> None:
    """Every read from the first promised write on gives what it gave, and no other file is left. A writer that is at work holds
    cleaning back: what was there when it began stays, and it completes."""
    only_in_process(engine)
    options, promised = POLICIES[policy]
    table, clock, times = made()
    slow = HaltingGreenlet(table, lambda it: it.upsert(as_arrow([row("slow", 90, "slow", "slow")])))
    if pending_after is not None:
        goes_on(table, clock, times, pending_after)
        slow.go_on("requested" if pending_after % 2 else "stored")
    goes_on(table, clock, times, len(HISTORY))
    clock.time -= HOUR // 2
    first = promised(len(HISTORY))
    if first is not None and pending_after is not None:
        first = min(first, pending_after - 1)
    reads = [] if first is None or pending_after is not None else times[first:]
    before, now = [values(table, time) for time in reads], values(table)
    clean(table, options)
    assert files(table, times) == needed(0 if first is None else first)
    assert (values(table), [values(table, time) for time in reads]) == (now, before)
    if pending_after is not None:
        slow.go_on(None)
        assert values(table) == sorted([*now, "slow"])
