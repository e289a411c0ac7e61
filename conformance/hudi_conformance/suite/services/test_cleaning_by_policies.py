"""The guarantees of each cleaning policy, beside pending writes and with default settings.

One test has a history whose writes are an hour apart, with a pending write at each position: only the reference in this process
can be given a clock.
"""

from collections.abc import Callable, Mapping

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.reference.pausing import PausableGreenlet
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write, send_heartbeat
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    COMMITS,
    VERSIONS,
    WRITES,
    create_updated_table,
    data_file_names,
    keep_commits,
    pending_actions,
    planned_deletions,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import base_files
from hudi_reference import WritableTable, clean, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.layout.names import BaseFileName, parse_data_file_name
from hudi_reference.storage import MemoryStorage

HOUR = 3_600_000
START = 1_767_225_600_000
#: The partition that each write changes; each of them has one file group.
HISTORY = ("oslo", "rio", "oslo", "oslo", "rio", "oslo", "bergen", "oslo")
#: Settings of a policy; its first readable write, by its position in the history of this many writes, None if nothing may be
#: deleted.
POLICIES: Mapping[str, tuple[dict[str, str], Callable[[int], int | None]]] = {
    "two commits": ({"hoodie.clean.commits.retained": "2"}, lambda writes: writes - 2),
    "five commits": ({"hoodie.clean.commits.retained": "5"}, lambda writes: writes - 5),
    "as many commits as there are": ({"hoodie.clean.commits.retained": "8"}, lambda writes: None),
    "three hours": (
        {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "3"},
        lambda writes: writes - 3,
    ),
}


def make_committed_table() -> tuple[WritableTable, ManualClock, list[str]]:
    """Return the table, its clock an hour after the last write, and the requested times of its writes."""
    spec, storage, clock = Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", True).spec(), MemoryStorage(), ManualClock(START, 1)
    options = {"storage": storage, "clock": clock, "ids": SeededIds(1)}
    create_table("memory:///old", name="old", schema=dict(spec.schema), record_key=("id",), partition=("city",), **options)  # type: ignore[arg-type]
    return open_table("memory:///old", **options), clock, []  # type: ignore[arg-type]


def write_until(table: WritableTable, clock: ManualClock, times: list[str], until: int) -> None:
    """Write up to that position in the history, one write an hour."""
    for number in range(len(times), until):
        times.append(table.upsert(as_arrow([row(HISTORY[number], number, f"write {number}", HISTORY[number])])))
        clock.sleep(HOUR)


def writes_needed(first: int) -> set[tuple[str, int]]:
    """Return the writes whose files must stay so that all reads from that write on succeed: by partition, its later ones and
    the one before.
    """
    found = set[tuple[str, int]]()
    for city in set(HISTORY):
        mine = [number for number, name in enumerate(HISTORY) if name == city]
        before = [number for number in mine if number < first]
        found |= {(city, number) for number in (*before[-1:], *mine[len(before) :])}
    return found


def writes_with_files(table: WritableTable, times: list[str]) -> set[tuple[str, int]]:
    """Return the writes whose base files exist, by partition, without those of a pending write."""
    names = [(info.path.split("/")[0], parse_data_file_name(info.path.rpartition("/")[2])) for info in table.storage.list()]
    return {(city, times.index(n.instant)) for city, n in names if isinstance(n, BaseFileName) and n.instant in times}


def read_values(table: WritableTable, time: str | None = None) -> list[str]:
    """Return the values of all rows, as of a time or of a snapshot."""
    found = table.snapshot(["value"]) if time is None else table.as_of(time, ["value"])
    return sorted(found.column("value").to_pylist())


@pytest.mark.needs("service.clean", "copy-on-write")
@pytest.mark.parametrize("pending_after", [None, *range(1, len(HISTORY))])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.requirements("CLN-001", "CLN-002", "CLN-003", "CLN-004", "CLN-005")
@pytest.mark.long
def test_a_clean_keeps_what_its_policy_guarantees(engine: Client, policy: str, pending_after: int | None) -> None:
    """CLN-004: every read from the first guaranteed write on is unchanged, and no other file is left. A pending write limits
    cleaning: the files that existed when it began stay, and it completes.
    """
    only_in_process(engine)
    options, promised = POLICIES[policy]
    table, clock, times = make_committed_table()
    slow = PausableGreenlet(table, lambda it: it.upsert(as_arrow([row("slow", 90, "slow", "slow")])))
    if pending_after is not None:
        write_until(table, clock, times, pending_after)
        slow.run("requested" if pending_after % 2 else "stored")
    write_until(table, clock, times, len(HISTORY))
    clock.time -= HOUR // 2
    first = promised(len(HISTORY))
    if first is not None and pending_after is not None:
        first = min(first, pending_after - 1)
    reads = [] if first is None or pending_after is not None else times[first:]
    before, now = [read_values(table, time) for time in reads], read_values(table)
    clean(table, options)
    assert writes_with_files(table, times) == writes_needed(0 if first is None else first)
    assert (read_values(table), [read_values(table, time) for time in reads]) == (now, before)
    if pending_after is not None:
        slow.run(None)
        assert read_values(table) == sorted([*now, "slow"])


def written_by(uri: str, partition: str = "oslo") -> list[str]:
    """Return the instants of the base files of a partition."""
    return sorted(path.stem.split("_")[2] for path in base_files(uri) if path.parent.name == partition)


@pytest.mark.needs(*WRITES, "service.clean", "copy-on-write")
@pytest.mark.requirements("CLN-002", "CLN-005")
def test_the_earliest_of_several_pending_writes_limits_a_clean(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLN-002: two writes are pending, and one commit is to be retained. What the earlier one may read stays, which is all from
    the newest commit before it on, and the slice before that; older slices are deleted.
    """
    table = create_updated_table(engine, new_uri(), 3)
    pending = []
    for number in range(2):
        pending.append(begin_write(table.uri, (row("c", 90 + number, "pending", "rio"),)))
        send_heartbeat(table.uri, pending[-1].instant)
        for update in range(2):
            rows = as_arrow([row("a", 10 + 2 * number + update, "later")])
            table.instants.append(engine.write(table.uri, "upsert", rows, options=SEVERAL_WRITERS))
    now = read_snapshot(engine, table.uri)
    engine.service(table.uri, "clean", options={**SEVERAL_WRITERS, **keep_commits(1)})
    assert written_by(table.uri) == table.instants[2:]
    assert all(write.files <= data_file_names(table.uri) for write in pending)
    assert read_snapshot(engine, table.uri) == now


@pytest.mark.needs(*WRITES, "service.clean", "copy-on-write")
@pytest.mark.parametrize(("policy", "kept"), [(COMMITS, 11), (VERSIONS, 3)])
@pytest.mark.requirements("CLN-004", "CLN-005", "CLN-006")
def test_a_policy_has_a_default_number(
    engine: Client, new_uri: Callable[[], str], policy: Mapping[str, str], kept: int
) -> None:
    """CLN-004: without a number, a clean by commits retains ten commits, and the slice before them; a clean by versions
    retains three versions of each file group.
    """
    table = create_updated_table(engine, new_uri(), 12)
    engine.service(table.uri, "clean", options=policy)
    assert written_by(table.uri) == table.instants[-kept:]
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@pytest.mark.needs(*WRITES, "service.clean", "copy-on-write", "inspect.table")
@pytest.mark.requirements("SVC-004", "CLN-001")
def test_a_second_clean_is_not_planned_beside_a_pending_one(engine: Client, new_uri: Callable[[], str]) -> None:
    """SVC-004: a clean is pending. Another one that is to be planned is that one, or names no file of it; when both were
    executed, nothing is pending, and the files of the newest commits are there.
    """
    table = create_updated_table(engine, new_uri(), 4)
    plans = [engine.service(table.uri, "clean", phase="schedule", options=keep_commits(number)) for number in (2, 1)]
    named = [planned_deletions(read_instant_file(table.uri, plan, "clean.requested")[1])
             for plan in dict.fromkeys(plans) if plan is not None]  # fmt: skip
    assert named and len({name for names in named for name in names}) == sum(map(len, named)), "a file is in two plans"
    engine.service(table.uri, "clean", options=keep_commits(1))
    assert pending_actions(engine, table.uri) == []
    assert read_snapshot(engine, table.uri) == table.rows[-1]
