"""Queries over time on tables that an engine writes: time travel, incremental windows, and changes that can be replayed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, combinations_with_replacement, pairwise
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines.registry import find
from hudi_conformance.model import Model
from hudi_conformance.model.windows import Window, incremental_rows
from hudi_conformance.suite.support.programs.drawn_checks import check_for_all
from hudi_conformance.suite.support.programs.write_programs import (
    BOTH_TYPES,
    TYPES,
    Program,
    Row,
    Step,
    as_arrow,
    draw_programs,
    expect_rows,
    row,
)
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, completion_time, table_folder
from hudi_reference.locks import hold_lock, lock_of
from hudi_reference.storage import storage_of

WRITES = ("create", "write.upsert", "write.delete", "read.snapshot", "read.projection", "delete.flag", "partition.plain")
COLUMNS = tuple(TYPES)
#: The number of programs check_programs for an engine in this process, and for one whose commits take seconds.
MANY, FEW = 20, 3


@dataclass(frozen=True)
class State:
    """The table after one write: its requested time, its completion time, and the rows that the engine then read."""

    instant: str
    completion: str
    rows: frozenset[tuple[Any, ...]]


@dataclass(frozen=True)
class History:
    """A table with all its states, and the columns `TYPES` of its rows."""

    uri: str
    states: tuple[State, ...]
    model: Model


def as_set(rows: pa.Table) -> frozenset[tuple[Any, ...]]:
    """Return the rows without an order."""
    return frozenset(zip(*(rows.column(name).to_pylist() for name in COLUMNS), strict=True))


def run_program(program: Program, uri: str, engine: Client, **properties: str) -> History:
    """Run a program and record each state of its table."""
    engine.create(uri, replace(program.spec(), properties=properties))
    model, states = program.model(), []
    for step in program.steps:
        instant = engine.write(uri, step.operation, as_arrow(step.rows))
        completion = completion_time(uri, instant)
        model.apply(step.operation, step.rows, instant, completion)
        states.append(State(instant, completion, as_set(engine.read(uri, Query(columns=COLUMNS)))))
    return History(uri, tuple(states), model)


def check_programs(engine: Client, check: Callable[[Program], None]) -> None:
    """Check programs of writes; the first failure is reported without shrinking, because each run takes many queries."""
    check_for_all(MANY if find(engine.name).factory else FEW, check, draw_programs(most_steps=4), shrinks=False)


@pytest.mark.requirements("TYP-008", "RDR-005", "RDR-006")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge-on-read", "merge.commit-time", "merge.event-time", "read.as-of")
def test_time_travel_returns_earlier_snapshots(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: as of each write the table has the rows that a snapshot had right after it."""

    def check(program: Program) -> None:
        history = run_program(program, new_uri(), engine)
        for state in history.states:
            found = engine.read(history.uri, Query("as-of", as_of=state.instant, columns=COLUMNS))
            assert as_set(found) == state.rows, f"as of {state.instant} of {program}"

    check_programs(engine, check)


def time_texts(instant: str) -> Iterator[tuple[str, str]]:
    """Yield the accepted notations of times at or near an instant, and the instant that each denotes."""
    date, time = f"{instant[:4]}-{instant[4:6]}-{instant[6:8]}", f"{instant[8:10]}:{instant[10:12]}:{instant[12:14]}"
    yield instant, instant
    yield f"{date} {time}.{instant[14:]}", instant
    yield f"{date} {time}", f"{instant[:14]}999"
    yield date, f"{instant[:8]}000000000"
    yield "2199-12-31", "21991231000000000"


@pytest.mark.requirements("TYP-008")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge.event-time", "read.as-of")
def test_notations_of_times(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: digits, a date with milliseconds, with seconds, alone: seconds denote their last millisecond, a date its
    midnight.

    A midnight before the first write is refused, or gives no row.
    """
    history = run_program(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    for state in history.states:
        for text, time in time_texts(state.instant):
            before = [known.rows for known in history.states if known.instant <= time]
            query = Query("as-of", as_of=text, columns=COLUMNS)
            with nullcontext() if before else suppress(ContractError):
                assert as_set(engine.read(history.uri, query)) == (before[-1] if before else frozenset()), f"as of {text}"


@pytest.mark.versions(9)
@pytest.mark.requirements("TYP-008")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge.event-time", "read.as-of", "table-version.9")
def test_times_since_1970(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: ten digits are seconds since 1970, thirteen digits milliseconds. 1.2.0 accepts both."""
    history = run_program(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    for state in history.states:
        moment = datetime.strptime(state.instant, "%Y%m%d%H%M%S%f").replace(tzinfo=UTC)
        for milliseconds, unit in ((round(moment.timestamp() * 1000), 1), (round(moment.timestamp()) * 1000 + 1000, 1000)):
            time = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)).strftime("%Y%m%d%H%M%S%f")[:17]
            before = [known.rows for known in history.states if known.instant <= time]
            query = Query("as-of", as_of=str(milliseconds // unit), columns=COLUMNS)
            assert as_set(engine.read(history.uri, query)) == before[-1], f"as of {milliseconds // unit}"


@pytest.mark.versions(9)
@pytest.mark.requirements("TYP-008")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge.event-time", "read.as-of", "table-version.9")
def test_a_letter_between_date_and_time(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: a T between date and time is accepted as a blank is, as by 1.2.0."""
    history = run_program(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    for text, time in time_texts(history.states[1].instant):
        if " " in text:
            query = Query("as-of", as_of=text.replace(" ", "T"), columns=COLUMNS)
            before = [known.rows for known in history.states if known.instant <= time]
            assert as_set(engine.read(history.uri, query)) == before[-1], f"as of {text}"


@pytest.mark.requirements("TYP-009", "TYP-010", "NBC-006")
@pytest.mark.needs(*WRITES, "copy-on-write", "merge-on-read", "merge.commit-time", "merge.event-time", "read.incremental")
@pytest.mark.long
def test_every_window_matches_the_model(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-009: each window between two completions of any program returns the records written in it, in their state at its end;
    a window with equal bounds is empty, one without bounds returns everything.
    """

    def check(program: Program) -> None:
        history = run_program(program, new_uri(), engine)
        times = [None, *(state.completion for state in history.states)]
        for begin, end in combinations_with_replacement(times, 2):
            right = incremental_rows(history.model, Window(begin, end))
            query = Query("incremental", begin=begin, end=end, columns=COLUMNS)
            expect_rows(engine, history.uri, right, f"after {begin} until {end} of {program}", query)

    check_programs(engine, check)


INSERTS = Step("upsert", (row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x", "rio")))
STEPS = (INSERTS, Step("upsert", (row("a", 2, "y"),)), Step("upsert", (row("a", 3, "z"), row("d", 1, "x"))))


@BOTH_TYPES
@pytest.mark.requirements("TYP-009", "TYP-010", "META-006")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.incremental", "read.projection", "partition.plain")
def test_consecutive_windows_return_each_change_once(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """TYP-009: a reader that begins each window at the end of the last one gets every write exactly once."""
    history = run_program(Program(type, "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    times = [None, *(state.completion for state in history.states)]
    found = [
        sorted((r["id"], r["value"]) for r in engine.read(history.uri, query).to_pylist())
        for begin, end in pairwise(times)
        for query in [Query("incremental", begin=begin, end=end, columns=("id", "value"))]
    ]
    assert found == [[("a", "x"), ("b", "x"), ("c", "x")], [("a", "y")], [("a", "z"), ("d", "x")]]
    whole = engine.read(history.uri, Query("incremental", begin=times[1], end=times[3], columns=("id", "value")))
    assert sorted(map(tuple, (r.values() for r in whole.to_pylist()))) == [("a", "z"), ("d", "x")]


@BOTH_TYPES
@pytest.mark.requirements("TYP-009", "RDR-007", "TL-055")
@pytest.mark.needs("create", "write.upsert", "service.archive", "read.incremental", "read.projection", "partition.plain")
def test_a_window_of_archived_writes_has_their_rows(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """TYP-009: the writes of the window are in the history only. Their files are not cleaned, so the window has their rows."""
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())
    steps = [(row(f"k{number}", 1, "x"), row("a", number, f"write {number}")) for number in range(7)]
    kept = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.metadata.enable": "false"}
    done = [completion_time(uri, engine.write(uri, "upsert", as_arrow(rows), options=kept)) for rows in steps]
    engine.service(uri, "archive", options={**archive_limits(3, 2), "hoodie.clean.automatic": "false"})
    active = [path.name for path in (table_folder(uri) / ".hoodie" / "timeline").iterdir()]
    assert not [name for name in active if any(time in name for time in done[:4])], "the writes were not archived"
    found = engine.read(uri, Query("incremental", begin=done[1], end=done[3], columns=("id", "value"))).to_pylist()
    assert sorted(map(tuple, (r.values() for r in found))) == [("a", "write 3"), ("k2", "x"), ("k3", "x")]


@pytest.mark.requirements("TYP-011", "CMP-005")
@pytest.mark.needs("create", "write.upsert", "service.compaction", "read.incremental", "read.projection", "merge-on-read")
@pytest.mark.needs("partition.plain", "log.avro", "merge.event-time")
def test_a_compaction_adds_nothing_to_windows(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-011: a window with only a compaction is empty, and the windows around it are the same as without the compaction."""
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True, STEPS)
    engine.create(uri, program.spec())
    done = [completion_time(uri, engine.write(uri, step.operation, as_arrow(step.rows))) for step in STEPS[:2]]
    compaction = engine.service(uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"})
    assert compaction is not None
    compacted = completion_time(uri, compaction)
    last = completion_time(uri, engine.write(uri, STEPS[2].operation, as_arrow(STEPS[2].rows)))

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
    """TYP-016: once every log was compacted, a read-optimized query returns the snapshot."""
    history = run_program(Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    read_optimized = Query("read-optimized", columns=COLUMNS)
    assert as_set(engine.read(history.uri, read_optimized)) != history.states[-1].rows
    engine.service(history.uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"})
    assert as_set(engine.read(history.uri, read_optimized)) == history.states[-1].rows


def replay_changes(rows: frozenset[tuple[Any, ...]], changes: pa.Table, program: Program) -> frozenset[tuple[Any, ...]]:
    """Return the rows after these changes; the image before each change must be the current row."""
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
@pytest.mark.long
def test_changes_transform_each_state_into_each_later_one(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-033: the changes between two completions, applied to the snapshot at the first, give the snapshot at the second."""
    compared = []

    def check(program: Program) -> None:
        history = run_program(program, new_uri(), engine, **CAPTURED)
        for old, new in combinations(history.states, 2):
            changes = engine.read(history.uri, Query("cdc", begin=old.completion, end=new.completion))
            found = replay_changes(old.rows, _by_time(changes), program)
            assert found == new.rows, f"after {old.completion} until {new.completion} of {program}"
            compared.append(program)

    check_programs(engine, check)
    assert compared, "no program has two states"


def _change_files(uri: str) -> Iterator[tuple[str, str]]:
    """Yield partition and file id of each change-capture file."""
    for path in table_folder(uri).rglob(".*.cdc"):
        yield path.parent.name, path.name.removeprefix(".").partition("_")[0]


@pytest.mark.requirements("TYP-004", "TYP-005", "LF-002")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "read.cdc", "copy-on-write", "partition.plain")
def test_change_capture_files_belong_to_the_file_group(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-004: an update of a copy-on-write table with change capture writes a change-capture file of the same file group
    beside the new base file; no snapshot merges it.
    """
    program = Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True, STEPS[:2])
    history = run_program(program, new_uri(), engine, **CAPTURED)
    newest = [path for path in table_folder(history.uri).rglob("*.parquet") if history.states[1].instant in path.name]
    assert [(path.parent.name, path.name.partition("_")[0]) for path in newest] == list(_change_files(history.uri))
    expect_rows(engine, history.uri, history.model.snapshot(), "with change-capture files beside the base files")


def _queries(states: Sequence[State], offered: frozenset[str]) -> Iterator[Query]:
    """Yield a query of each kind that the engine offers."""
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
def test_queries_do_not_wait_for_the_lock(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """RDR-004: the holder of the table's lock blocks writers, and no query.

    The lock is that of this process: an engine in another process does not use it.
    """
    history = run_program(Program(type, "EVENT_TIME_ORDERING", True, STEPS), new_uri(), engine)
    with hold_lock(lock_of(storage_of(history.uri)), "another writer"):
        for query in _queries(history.states, engine.hello.features):
            assert engine.read(history.uri, query).num_rows > 0, query.kind


@BOTH_TYPES
@pytest.mark.versions(9)
@pytest.mark.needs(
    "create", "create.table-version.9", "write.upsert", "read.snapshot", "read.incremental", "read.projection",
    "partition.url-encoded", "merge.event-time",
)  # fmt: skip
@pytest.mark.requirements("TYP-009", "TYP-010", "TYP-007")
def test_a_window_has_the_stored_partition_values(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TYP-010: an incremental query returns the partition values that were written, also if folders have them URL-encoded."""
    spec = Program(type, "EVENT_TIME_ORDERING", True, version=9).spec()  # type: ignore[arg-type]
    uri = new_uri()
    engine.create(uri, replace(spec, properties={"hoodie.datasource.write.partitionpath.urlencode": "true"}))
    first = engine.write(uri, "upsert", as_arrow((row("a", 1, "x", "new york/5"), row("b", 1, "x", "ü=%"))))
    engine.write(uri, "upsert", as_arrow((row("a", 2, "y", "new york/5"),)))
    asked = Query("incremental", None, completion_time(uri, first), columns=("id", "city", "value"))
    assert [tuple(one.values()) for one in engine.read(uri, asked).to_pylist()] == [("a", "new york/5", "y")]
    found = engine.read(uri, Query(columns=("id", "city"))).to_pylist()
    assert sorted(map(tuple, (one.values() for one in found))) == [("a", "new york/5"), ("b", "ü=%")]
