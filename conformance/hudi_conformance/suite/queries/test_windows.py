"""Queries over time on tables that an engine writes: time travel, incremental windows, and changes that can be replayed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement, pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.registry import find
from hudi_conformance.model import Model
from hudi_conformance.model.windows import Window, written
from hudi_conformance.suite.support.programs.write_programs import (
    BOTH_TYPES,
    TYPES,
    Program,
    Row,
    Step,
    as_arrow,
    expect_rows,
    programs,
    row,
)
from hudi_conformance.suite.support.tables.windows import CAPTURED, completion_of
from hudi_conformance.suite.support.tables.written_tables import folder_of
from hudi_reference.locks import held, lock_of
from hudi_reference.storage import storage_of

WRITES = ("create", "write.upsert", "write.delete", "read.snapshot", "read.projection", "delete.flag", "partition.plain")
COLUMNS = tuple(TYPES)
#: Programs drawn for an engine in this process, and for one whose commits take seconds.
MANY, FEW = 20, 3


@dataclass(frozen=True)
class Kept:
    """The table after one write: its requested time, when it completed, and its rows as the engine then read them."""

    instant: str
    completion: str
    rows: frozenset[tuple[Any, ...]]


@dataclass(frozen=True)
class History:
    """A table with all states that it had; of rows the columns of `TYPES`."""

    uri: str
    states: tuple[Kept, ...]
    model: Model


def as_set(rows: pa.Table) -> frozenset[tuple[Any, ...]]:
    """The rows, in no order."""
    return frozenset(zip(*(rows.column(name).to_pylist() for name in COLUMNS), strict=True))


def carried_out(program: Program, uri: str, engine: Client, **properties: str) -> History:
    """Run a program and keep each state of its table."""
    engine.create(uri, replace(program.spec(), properties=properties))
    model, states = program.model(), []
    for step in program.steps:
        instant = engine.write(uri, step.operation, as_arrow(step.rows))
        completion = completion_of(uri, instant)
        model.apply(step.operation, step.rows, instant, completion)
        states.append(Kept(instant, completion, as_set(engine.read(uri, Query(columns=COLUMNS)))))
    return History(uri, tuple(states), model)


def drawn(engine: Client, check: Callable[[Program], None]) -> None:
    """Run the check on programs of writes; the first that fails is told as it is, since each run of one takes many queries."""
    settings(
        phases=(Phase.explicit, Phase.generate),
        max_examples=MANY if find(engine.name).factory else FEW,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )(given(programs(most_steps=4))(check))()


@pytest.mark.requirements("TYP-008", "RDR-005", "RDR-006")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge-on-read", "merge.commit-time", "merge.event-time", "read.as-of")
def test_the_past_is_what_a_snapshot_showed_then(engine: Client, new_uri: Callable[[], str]) -> None:
    """As of each write the table has the rows that a snapshot had right after it."""

    def check(program: Program) -> None:
        history = carried_out(program, new_uri(), engine)
        for state in history.states:
            found = engine.read(history.uri, Query("as-of", as_of=state.instant, columns=COLUMNS))
            assert as_set(found) == state.rows, f"as of {state.instant} of {program}"

    drawn(engine, check)


def texts_of(instant: str) -> Iterator[tuple[str, str]]:
    """How people write points of the timeline at or near an instant, and the instant that each stands for."""
    date, time = f"{instant[:4]}-{instant[4:6]}-{instant[6:8]}", f"{instant[8:10]}:{instant[10:12]}:{instant[12:14]}"
    yield instant, instant
    yield f"{date} {time}.{instant[14:]}", instant
    yield f"{date} {time}", f"{instant[:14]}999"
    yield date, f"{instant[:8]}000000000"
    yield "2199-12-31", "21991231000000000"


@pytest.mark.requirements("TYP-008")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge.event-time", "read.as-of")
def test_a_point_of_the_timeline_has_many_texts(engine: Client, new_uri: Callable[[], str]) -> None:
    """Digits, a date with milliseconds, with seconds, alone: seconds mean their last millisecond, a date its midnight.

    A midnight before the first write is refused, or shows no row.
    """
    history = carried_out(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    for state in history.states:
        for text, time in texts_of(state.instant):
            before = [known.rows for known in history.states if known.instant <= time]
            query = Query("as-of", as_of=text, columns=COLUMNS)
            with nullcontext() if before else suppress(ContractError):
                assert as_set(engine.read(history.uri, query)) == (before[-1] if before else frozenset()), f"as of {text}"


@pytest.mark.requirements("TYP-009", "TYP-010", "NBC-006")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge-on-read", "merge.commit-time", "merge.event-time", "read.incremental")
def test_every_window_is_what_the_model_says(engine: Client, new_uri: Callable[[], str]) -> None:
    """Each window between two completions of any program gives the records written in it, as its end left them; one whose
    ends meet is empty, one without ends holds everything.
    """

    def check(program: Program) -> None:
        history = carried_out(program, new_uri(), engine)
        times = [None, *(state.completion for state in history.states)]
        for begin, end in combinations_with_replacement(times, 2):
            right = written(history.model, Window(begin, end))
            query = Query("incremental", begin=begin, end=end, columns=COLUMNS)
            expect_rows(engine, history.uri, right, f"after {begin} until {end} of {program}", query)

    drawn(engine, check)


INSERTS = Step("upsert", (row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x", "rio")))
STEPS = (INSERTS, Step("upsert", (row("a", 2, "y"),)), Step("upsert", (row("a", 3, "z"), row("d", 1, "x"))))


@BOTH_TYPES
@pytest.mark.requirements("TYP-009", "TYP-010", "META-006")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.incremental", "read.projection", "partition.plain")
def test_windows_that_follow_one_another_give_each_change_once(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """A reader that begins each window where the last one ended meets every write once, and none twice."""
    history = carried_out(Program(type, "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    times = [None, *(state.completion for state in history.states)]
    found = [
        sorted((r["id"], r["value"]) for r in engine.read(history.uri, query).to_pylist())
        for begin, end in pairwise(times)
        for query in [Query("incremental", begin=begin, end=end, columns=("id", "value"))]
    ]
    assert found == [[("a", "x"), ("b", "x"), ("c", "x")], [("a", "y")], [("a", "z"), ("d", "x")]]
    whole = engine.read(history.uri, Query("incremental", begin=times[1], end=times[3], columns=("id", "value")))
    assert sorted(map(tuple, (r.values() for r in whole.to_pylist()))) == [("a", "z"), ("d", "x")]


@pytest.mark.requirements("TYP-011", "CMP-005")
@pytest.mark.needs("create", "write.upsert", "service.compaction", "read.incremental", "read.projection", "merge-on-read")
@pytest.mark.needs("partition.plain", "log.avro", "merge.event-time")
def test_a_compaction_makes_no_record_appear(engine: Client, new_uri: Callable[[], str]) -> None:
    """A window that has nothing but a compaction is empty, and the windows around it are as they would be without."""
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True, STEPS)
    engine.create(uri, program.spec())
    done = [completion_of(uri, engine.write(uri, step.operation, as_arrow(step.rows))) for step in STEPS[:2]]
    compaction = engine.service(uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"})
    assert compaction is not None
    compacted = completion_of(uri, compaction)
    last = completion_of(uri, engine.write(uri, STEPS[2].operation, as_arrow(STEPS[2].rows)))

    def keys(begin: str, end: str | None) -> list[tuple[str, str]]:
        found = engine.read(uri, Query("incremental", begin=begin, end=end, columns=("id", "value"))).to_pylist()
        return sorted((r["id"], r["value"]) for r in found)

    assert keys(done[1], compacted) == []
    assert keys(done[0], compacted) == [("a", "y")]
    assert keys(compacted, last) == keys(compacted, None) == [("a", "z"), ("d", "x")]


@pytest.mark.requirements("TYP-016", "CMP-006")
@pytest.mark.needs("create", "write.upsert", "service.compaction", "read.snapshot", "read.read-optimized", "read.projection")
@pytest.mark.needs("merge-on-read", "partition.plain", "log.avro", "merge.event-time")
def test_after_a_compaction_base_files_are_the_snapshot(engine: Client, new_uri: Callable[[], str]) -> None:
    """Once every log was compacted, the base files alone hold all that a snapshot shows."""
    history = carried_out(Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    read_optimized = Query("read-optimized", columns=COLUMNS)
    assert as_set(engine.read(history.uri, read_optimized)) != history.states[-1].rows
    engine.service(history.uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"})
    assert as_set(engine.read(history.uri, read_optimized)) == history.states[-1].rows


def replayed(rows: frozenset[tuple[Any, ...]], changes: pa.Table, program: Program) -> frozenset[tuple[Any, ...]]:
    """The rows after these changes; every change fits the row that it changes."""
    place = COLUMNS.index("city")
    state = {(r[0], r[place] if program.partitioned else None): r for r in rows}
    for change in changes.to_pylist():
        before, after = (_row(change[image]) for image in ("before", "after"))
        assert (before is None, after is None) == {"i": (True, False), "u": (False, False), "d": (False, True)}[change["op"]]
        some = after or before
        assert some is not None
        key = (some[0], some[place] if program.partitioned else None)
        assert state.pop(key, None) == before, f"{change} on {key}"
        if after is not None:
            state[key] = after
    return frozenset(state.values())


def _row(image: Row | None) -> tuple[Any, ...] | None:
    return None if image is None else tuple(image[name] for name in COLUMNS)


def _by_time(changes: pa.Table) -> pa.Table:
    return changes.sort_by([("ts_ms", "ascending")])


@pytest.mark.requirements("TYP-012", "TYP-013", "BLK-033", "BLK-035", "BLK-036")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge-on-read", "merge.commit-time", "merge.event-time", "read.cdc")
def test_changes_lead_from_each_state_to_each_later_one(engine: Client, new_uri: Callable[[], str]) -> None:
    """The changes between two completions, applied to the snapshot at the first, make the snapshot at the second."""

    def check(program: Program) -> None:
        history = carried_out(program, new_uri(), engine, **CAPTURED)
        for old, new in combinations(history.states, 2):
            changes = engine.read(history.uri, Query("cdc", begin=old.completion, end=new.completion))
            found = replayed(old.rows, _by_time(changes), program)
            assert found == new.rows, f"after {old.completion} until {new.completion} of {program}"

    drawn(engine, check)


def _change_files(uri: str) -> Iterator[tuple[str, str]]:
    """Partition and file id of each change-capture file."""
    for path in folder_of(uri).rglob(".*.cdc"):
        yield path.parent.name, path.name.removeprefix(".").partition("_")[0]


@pytest.mark.requirements("TYP-004", "TYP-005", "LF-002")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "read.cdc", "copy-on-write", "partition.plain")
def test_changes_of_copy_on_write_lie_with_the_base_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """An update of a table that captures changes leaves a change-capture file of the same group beside the new base file,
    which no snapshot merges."""
    program = Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, STEPS[:2])
    history = carried_out(program, new_uri(), engine, **CAPTURED)
    newest = [path for path in folder_of(history.uri).rglob("*.parquet") if history.states[1].instant in path.name]
    assert [(path.parent.name, path.name.partition("_")[0]) for path in newest] == list(_change_files(history.uri))
    expect_rows(engine, history.uri, history.model.snapshot(), "with change-capture files beside the base files")


def _queries(states: Sequence[Kept], offered: frozenset[str]) -> Iterator[Query]:
    """A query of each kind that the engine offers."""
    first = states[0]
    kinds = (
        Query(),
        Query("read-optimized"),
        Query("as-of", as_of=first.instant),
        Query("incremental", begin=first.completion),
    )
    yield from (query for query in kinds if f"read.{query.kind}" in offered)


@BOTH_TYPES
@pytest.mark.requirements("RDR-004")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "partition.plain")
def test_queries_go_on_while_the_lock_is_held(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """Whoever holds the lock of the table keeps writers waiting, and no query.

    The lock is that of this process: an engine of its own process would not meet it.
    """
    history = carried_out(Program(type, "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    with held(lock_of(storage_of(history.uri)), "somebody else"):
        for query in _queries(history.states, engine.hello.features):
            assert engine.read(history.uri, query).num_rows > 0, query.kind
