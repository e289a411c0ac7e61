"""Processes of the reference on one table in an object store, with drawn or chosen schedules; each run can be repeated."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.s3.run import Run, run_processes
from hudi_conformance.explorer.s3.scheduling import AtRandom, HeldBack, InOrder
from hudi_conformance.explorer.simulation.runs import Choice
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.object_store import LOCKED, ObjectStore, rows_of
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, row
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_reference import WritableTable, archive, clean, compact
from hudi_reference.clock import ManualClock
from hudi_reference.errors import StorageFault, WriteConflict

#: Few of these tests cite a rule: a mutant is looked for with all cases that cite its rules, and requests take their time.
pytestmark = [pytest.mark.s3, pytest.mark.needs("create", "write.upsert", "storage.s3")]

FIRST = (row("a", 1, "first", "oslo"), row("b", 1, "first", "rio"))
SEEDS = range(2)
#: What may happen to the requests of a writer, without a permanent failure of the store.
MISHAPS = ("lose-request", "lose-answer", "answer-409", "answer-503", "apply-answer-500", "stall")


def acknowledged(found: Run, names: tuple[str, ...]) -> set[str]:
    """Return the processes that succeeded. All others must have got a conflict error, or the error that the outcome is
    unknown.
    """
    for name in names:
        ended = found.results[name]
        assert ended.how == "returned" or isinstance(ended.error, WriteConflict | StorageFault), (
            f"{name} {ended}\n{describe_run(found)}"
        )
    return {name for name in names if found.results[name].how == "returned"}


def describe_run(found: Run) -> str:
    """Return a description of the run, for failure messages."""
    return "\n".join(found.trace)


@dataclass
class Running:
    """The number of processes that have not finished."""

    count: int

    def one(self, program: Callable[[], object]) -> Callable[[], object]:
        """Return the same program, which is counted down when it finishes."""

        def act() -> object:
            try:
                return program()
            finally:
                self.count -= 1

        return act


def two_writers(object_store: ObjectStore, type: str) -> tuple[str, dict[str, Callable[[], object]]]:
    """A table with two rows, and two writers that each change one of them."""
    program = Program(type, "EVENT_TIME_ORDERING", False)  # type: ignore[arg-type]
    table, clock = object_store.create_table(program, FIRST)
    return table, {
        "ann": object_store.upsert("ann", table, clock, [row("a", 2, "ann", "oslo")]),
        "bob": object_store.upsert("bob", table, clock, [row("b", 2, "bob", "rio")]),
    }


@BOTH_TYPES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.requirements("S3-007")
def test_acknowledged_writes_of_one_group_are_kept(engine: Client, object_store: ObjectStore, type: str, seed: int) -> None:
    """S3-007: two writers change two rows of one file group. The row of each successful writer is in the table, a writer with a
    conflict error has changed nothing, and each action is there once.
    """
    only_in_process(engine)
    table, writers = two_writers(object_store, type)
    found = run_processes(object_store.proxy, writers, AtRandom(tuple(writers), seed))
    done = acknowledged(found, tuple(writers))
    assert done, describe_run(found)
    expected = {"a": "ann" if "ann" in done else "first", "b": "bob" if "bob" in done else "first"}
    assert object_store.values(table) == expected, describe_run(found)
    assert len(object_store.completed(table)) == 1 + len(done)
    assert not found.best_effort


@pytest.mark.requirements("S3-007")
def test_a_run_is_repeatable(engine: Client, object_store: ObjectStore) -> None:
    """S3-007: the drawn schedule, repeated on a table like the first, gives the same requests with the same answers."""
    only_in_process(engine)
    traces = []
    scheduler: AtRandom | InOrder = AtRandom(("ann", "bob"), 5, MISHAPS, 12)
    for _ in range(2):
        table, clock = object_store.create_table(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", False), FIRST)
        writers = {
            name: object_store.upsert(name, table, clock, [row("a", ts, name, "oslo")]) for ts, name in ((2, "ann"), (3, "bob"))
        }
        found = run_processes(object_store.proxy, writers, scheduler)
        traces.append([without_names(line, table) for line in found.trace])
        scheduler = InOrder(("ann", "bob"), found.schedule)
    assert traces[0] == traces[1], "\n".join(f"{a}   |   {b}" for a, b in zip(*traces, strict=False) if a != b)
    assert any("[" in line for line in traces[0]), "no fault occurred"


def without_names(line: str, table: str) -> str:
    """Return a request without the table's name, and without random parts."""
    return re.sub(r"probe-[0-9a-f]{32}", "probe", line.replace(table, "table"))


@BOTH_TYPES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.requirements("S3-006")
def test_faults_of_two_writers_lose_and_duplicate_nothing(
    engine: Client, object_store: ObjectStore, type: str, seed: int
) -> None:
    """S3-006: requests and answers of two writers are lost or delayed: acknowledged writes are there once, writes refused
    because of a conflict are not there.
    """
    only_in_process(engine)
    table, writers = two_writers(object_store, type)
    found = run_processes(object_store.proxy, writers, AtRandom(tuple(writers), 100 + seed, MISHAPS, 8))
    done, values = acknowledged(found, tuple(writers)), object_store.values(table)
    for name, key in (("ann", "a"), ("bob", "b")):
        conflicted = isinstance(found.results[name].error, WriteConflict)
        allowed = {name} if name in done else {"first"} if conflicted else {"first", name}
        assert values[key] in allowed, f"{name} {found.results[name]}\n{describe_run(found)}"
    assert len(object_store.completed(table)) == 1 + sum(value != "first" for value in values.values()), describe_run(found)


@pytest.mark.parametrize("scheduler", ["drawn", "held back"])
@pytest.mark.requirements("S3-007")
def test_completions_appear_in_order(engine: Client, object_store: ObjectStore, scheduler: str) -> None:
    """S3-007: completions appear in the store in the order of their times, also if a writer is delayed right before its
    completion: a reader that sees a later one sees every earlier one.
    """
    only_in_process(engine)
    table, clock = object_store.create_table(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True), FIRST)
    writers = {
        "ann": object_store.upsert("ann", table, clock, [row("a", 2, "ann", "oslo")]),
        "bob": object_store.upsert("bob", table, clock, [row("b", 2, "bob", "rio")]),
    }
    drawn, held = AtRandom(("ann", "bob"), 1), HeldBack("ann", "bob", lambda request: request.completes, 70)
    found = run_processes(object_store.proxy, writers, drawn if scheduler == "drawn" else held)
    assert acknowledged(found, ("ann", "bob")) == {"ann", "bob"}, describe_run(found)
    published = [e.request.path.rpartition("/")[2] for e in found.exchanges if e.request.completes and e.changed]
    assert len(published) == 2
    assert published == object_store.completed(table)[1:], (
        f"a later completion appeared before an earlier one\n{describe_run(found)}"
    )


@BOTH_TYPES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.requirements("S3-007")
def test_a_reader_sees_committed_states(engine: Client, object_store: ObjectStore, type: str, seed: int) -> None:
    """S3-007: snapshots that are read while writers commit show complete commits, and no visible commit disappears."""
    only_in_process(engine)
    program = Program(type, "EVENT_TIME_ORDERING", True)  # type: ignore[arg-type]
    table, clock = object_store.create_table(program, FIRST)
    seen: list[dict[str, str]] = []

    def read() -> None:
        for _ in range(4):
            rows = rows_of(object_store.open_table("reader", table, clock))
            seen.append({row["id"]: row["value"] for row in rows})

    changes = [row("a", 2, "second", "oslo"), row("b", 2, "second", "rio")]
    processes: dict[str, Callable[[], object]] = {
        "writer": object_store.upsert("writer", table, clock, changes),
        "reader": read,
    }
    found = run_processes(object_store.proxy, processes, AtRandom(tuple(processes), seed))
    assert found.results["writer"].how == found.results["reader"].how == "returned", found.results
    states = [{"a": value, "b": value} for value in ("first", "second")]
    assert [states.index(one) for one in seen] == sorted(states.index(one) for one in seen), f"{seen}\n{describe_run(found)}"


def work_of(service: str, object_store: ObjectStore, table: str, clock: ManualClock) -> Callable[[], object]:
    """Return a process that carries out a service."""
    settings = {
        "clean": {"hoodie.clean.commits.retained": "1"},
        "archive": archive_limits(3, 2),
        "compaction": {"hoodie.compact.inline.max.delta.commits": "1"},
    }[service]
    act = {"clean": clean, "archive": archive, "compaction": lambda opened: compact(opened, settings)}[service]
    return lambda: act(object_store.open_table("service", table, clock, {**LOCKED, **settings}))  # type: ignore[operator]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("service", ["clean", "archive", "compaction"])
@pytest.mark.requirements("S3-007")
def test_a_writer_and_a_service_run_concurrently(engine: Client, object_store: ObjectStore, service: str, seed: int) -> None:
    """S3-007: while a service cleans, archives or compacts, a writer commits: its row is there if it reported success, and no
    other row changes.
    """
    only_in_process(engine)
    program = Program("MERGE_ON_READ" if service == "compaction" else "COPY_ON_WRITE", "EVENT_TIME_ORDERING", False)
    batches = [FIRST, *([row("b", number, f"value {number}", "rio")] for number in range(2, 5))]
    table, clock = object_store.create_table(program, *batches)
    processes: dict[str, Callable[[], object]] = {
        "writer": object_store.upsert("writer", table, clock, [row("a", 9, "writer", "oslo")]),
        "service": work_of(service, object_store, table, clock),
    }
    found = run_processes(object_store.proxy, processes, AtRandom(tuple(processes), seed))
    done = acknowledged(found, tuple(processes))
    expected = {"a": "writer" if "writer" in done else "first", "b": "value 4"}
    assert object_store.values(table) == expected, f"{found.results}\n{describe_run(found)}"


@pytest.mark.needs("service.archive")
@pytest.mark.requirements("S3-003")
def test_the_version_file_of_the_history_is_always_readable(engine: Client, object_store: ObjectStore) -> None:
    """S3-003: a read of the version file while an archiver replaces it returns a complete number, which never decreases."""
    only_in_process(engine)
    batches = [FIRST, *([row("b", number, f"value {number}", "rio")] for number in range(2, 7))]

    def once(table: WritableTable) -> None:
        archive(replace(table, options=archive_limits(5, 4)))

    program = Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", False)
    table, clock = object_store.create_table(program, *batches, prepare=once)
    running, storage_read = Running(1), object_store.storage("watcher", table)
    versions: list[int] = []

    def watch() -> None:
        while running.count:
            versions.append(int(storage_read.get(".hoodie/timeline/history/_version_")))

    def work() -> None:
        for fewest in (3, 2):
            archive(object_store.open_table("archiver", table, clock, {**LOCKED, **archive_limits(fewest + 1, fewest)}))

    processes: dict[str, Callable[[], object]] = {"archiver": running.one(work), "watcher": watch}
    found = run_processes(object_store.proxy, processes, InOrder(tuple(processes), ["archiver", "watcher"] * 300))
    assert [ended.how for ended in found.results.values()] == ["returned", "returned"], (
        f"{found.results}\n{describe_run(found)}"
    )
    assert versions == sorted(versions)
    assert len(set(versions)) > 1, "the version was not replaced while it was read"


@pytest.mark.requirements("S3-002")
def test_a_scheduled_conflict_aborts_the_later_writer(engine: Client, object_store: ObjectStore) -> None:
    """S3-002: both writers read and write their files, then one completes; the other gets a conflict error and writes again."""
    only_in_process(engine)
    table, clock = object_store.create_table(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", False), FIRST)
    writers = {
        "ann": object_store.upsert("ann", table, clock, [row("a", 2, "ann", "oslo")]),
        "bob": object_store.upsert("bob", table, clock, [row("b", 2, "bob", "rio")]),
    }
    found = run_processes(object_store.proxy, writers, InOrder(tuple(writers), ["bob"] * 9 + [Choice("ann")]))
    assert acknowledged(found, tuple(writers)) == {"ann"}, describe_run(found)
    assert isinstance(found.results["bob"].error, WriteConflict)
    object_store.upsert("bob", table, clock, [row("b", 2, "bob", "rio")])()
    assert object_store.values(table) == {"a": "ann", "b": "bob"}
