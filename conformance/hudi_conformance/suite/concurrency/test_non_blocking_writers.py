"""Non-blocking writers: their prerequisites, and their behaviour beside each other and beside services.

The reference writes; the engine under test reads and runs the services.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations, product

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.competing_writers import PLAN
from hudi_conformance.suite.support.concurrent.concurrent_table import DUE
from hudi_conformance.suite.support.concurrent.slow_writers import BUCKETS, NON_BLOCKING, OPTIMISTIC, SlowWriter, group_of
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import read_snapshot
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, completion_time, table_folder
from hudi_reference import open_table
from hudi_reference.errors import ConcurrentChange, Misuse

NEEDED = (
    "create",
    "read.snapshot",
    "read.projection",
    "merge-on-read",
    "log.only-slices",
    "merge.event-time",
    "partition.plain",
)
#: The only bucket of a partition with one bucket.
ONE = {**NON_BLOCKING, "hoodie.bucket.index.num.buckets": "1"}
FIXED = "00000000-0000-0000-0000-000000000000"


def create_empty_table(engine: Client, uri: str, mode: str = "EVENT_TIME_ORDERING", type: str = "MERGE_ON_READ") -> str:
    """Create a table without rows."""
    engine.create(uri, Program(type, mode, True).spec())  # type: ignore[arg-type]
    return uri


def read_values(engine: Client, uri: str) -> dict[str, str]:
    """Return the values of a snapshot by key; a key that occurs twice fails."""
    rows = read_snapshot(engine, uri)
    assert len({r["id"] for r in rows}) == len(rows)
    return {r["id"]: r["value"] for r in rows}


@pytest.mark.needs(*NEEDED)
@pytest.mark.requirements("NBC-004", "NBC-001", "LAY-021")
@pytest.mark.parametrize("late", ["quick", "slow"])
def test_writers_of_one_file_group_both_complete(engine: Client, new_uri: Callable[[], str], late: str) -> None:
    """NBC-004: two non-blocking writers write versions of one new key, and one further key each. Neither aborts; there is one
    file group, with the id that follows from the bucket, and the version with the greater ordering value wins, in either order
    of completion.
    """
    uri = create_empty_table(engine, new_uri())
    ts = {"quick": 1, "slow": 1, late: 2}
    quick, instants = SlowWriter(uri, int, options=ONE), list[str]()

    def meanwhile() -> None:
        instants.append(quick.upsert([row("new", ts["quick"], "quick"), row("a", 1, "quick")]))

    slow = SlowWriter(uri, meanwhile, options=ONE).upsert([row("new", ts["slow"], "slow"), row("b", 1, "slow")])
    assert read_values(engine, uri) == {"new": late, "a": "quick", "b": "slow"}
    assert group_of(uri, slow) == group_of(uri, instants[0]) == {FIXED}
    assert completion_time(uri, instants[0]) < completion_time(uri, slow)


@pytest.mark.needs(*NEEDED)
@pytest.mark.requirements("RDR-008", "NBC-002", "NBC-004")
def test_a_pending_first_log_file_hides_no_rows(engine: Client, new_uri: Callable[[], str]) -> None:
    """RDR-008: the first log file of a file group belongs to a pending write, the second one to a completed write. The rows of
    the second are read, before and after the first write completes.
    """
    uri = create_empty_table(engine, new_uri())
    quick = SlowWriter(uri, int, options=ONE)
    quick.upsert([row("elsewhere", 1, "x", "rio")])

    def meanwhile() -> None:
        quick.upsert([row("a", 1, "quick")])
        assert read_values(engine, uri) == {"elsewhere": "x", "a": "quick"}

    SlowWriter(uri, meanwhile, options=ONE).upsert([row("b", 1, "slow")])
    assert read_values(engine, uri) == {"elsewhere": "x", "a": "quick", "b": "slow"}


@pytest.mark.needs(*NEEDED, "read.cdc", "service.compaction")
@pytest.mark.requirements("TYP-012", "NBC-004")
def test_a_change_is_against_the_rows_at_its_completion(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-012: a write of one file group completes while a slower one is pending. The change of the slower write has the row of
    the other one as image before it, although that was not there when the slower write began.
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, replace(program.spec(), properties=CAPTURED))
    quick, instants = SlowWriter(uri, int, options=ONE), list[str]()
    quick.upsert([row("a", 1, "first")])
    compacted = engine.service(uri, "compaction", options=DUE["compaction"])  # not every engine has changes of logs alone
    assert compacted is not None

    def meanwhile() -> None:
        instants.append(quick.upsert([row("a", 2, "quick")]))

    slow = SlowWriter(uri, meanwhile, options=ONE).upsert([row("a", 3, "slow")])
    changes = engine.read(uri, Query("cdc", begin=completion_time(uri, compacted))).to_pylist()
    images = {one["ts_ms"]: (one["op"], *(one[side] and one[side]["value"] for side in ("before", "after"))) for one in changes}
    assert images == {instants[0]: ("u", "first", "quick"), slow: ("u", "quick", "slow")}
    assert len(changes) == len(images)


@pytest.mark.needs(*NEEDED)
@pytest.mark.requirements("NBC-004")
def test_optimistic_writers_of_one_bucket_conflict(engine: Client, new_uri: Callable[[], str]) -> None:
    """NBC-004: under optimistic control the file groups of buckets have random ids. Two writers that create the same bucket
    still conflict, and the key is there once.
    """
    uri, options = create_empty_table(engine, new_uri()), {**OPTIMISTIC, **BUCKETS}
    quick = SlowWriter(uri, int, options=options)
    with pytest.raises(ConcurrentChange, match="OCC-013"):
        SlowWriter(uri, lambda: quick.upsert([row("new", 1, "quick")]), options=options).upsert([row("new", 2, "slow")])
    assert read_values(engine, uri) == {"new": "quick"}


@pytest.mark.needs(*NEEDED)
@pytest.mark.requirements("NBC-004")
@pytest.mark.parametrize(
    ("type", "without"), [("COPY_ON_WRITE", ""), ("MERGE_ON_READ", "hoodie.index.type"), ("MERGE_ON_READ", "simple")]
)
def test_non_blocking_control_has_prerequisites(engine: Client, new_uri: Callable[[], str], type: str, without: str) -> None:
    """NBC-004: on copy-on-write tables, without buckets, or with consistent-hashing buckets, non-blocking writers are refused
    before they begin; the table is unchanged.
    """
    uri = create_empty_table(engine, new_uri(), type=type)
    options = {key: value for key, value in NON_BLOCKING.items() if key != without}
    options |= {"hoodie.index.bucket.engine": "CONSISTENT_HASHING"} if without == "simple" else {}
    with pytest.raises(Misuse, match="NBC-004"):
        SlowWriter(uri, int, options=options).upsert([row("a", 1, "x")])
    assert read_snapshot(engine, uri) == []
    assert not list((table_folder(uri) / ".hoodie").glob("timeline/2*"))


@pytest.mark.needs(*NEEDED)
@pytest.mark.requirements("TL-030", "NBC-004")
def test_non_blocking_writers_roll_back_no_active_writer(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-030: with several writers a pending write may be active. A non-blocking writer that would roll back all of them before
    it begins is refused.
    """
    uri = create_empty_table(engine, new_uri())
    with pytest.raises(Misuse):
        SlowWriter(uri, int, options={**NON_BLOCKING, "hoodie.clean.failed.writes.policy": "EAGER"}).upsert([row("a", 1, "x")])
    assert read_snapshot(engine, uri) == []


@pytest.mark.needs(*NEEDED, "service.compaction")
@pytest.mark.requirements("NBC-002", "NBC-003", "NBC-004", "NBC-007")
@pytest.mark.parametrize(
    "steps", [order for order in permutations(("plan", "run", "end")) if order.index("plan") < order.index("run")]
)
def test_a_write_during_a_compaction_is_read_once(engine: Client, new_uri: Callable[[], str], steps: Sequence[str]) -> None:
    """NBC-003: a delta write begins before a compaction of its file group is planned. In every order of the plan, its execution
    and the end of the write, neither aborts, and the snapshot has the write from its completion on, and never twice.
    """
    uri = create_empty_table(engine, new_uri())
    writer, requested = SlowWriter(uri, int, options=ONE), list[str]()
    writer.upsert([row("a", 1, "x"), row("b", 1, "x")])
    writer.upsert([row("a", 2, "y")])
    expected = {"a": "y", "b": "x"}

    def meanwhile(done: Sequence[str]) -> None:
        for step in done:
            if step == "plan":
                requested.append(engine.service(uri, "compaction", phase="schedule", options=PLAN) or "")
            else:
                engine.service(uri, "compaction", phase="execute", instant=requested[0])
            assert read_values(engine, uri) == expected, step

    end = steps.index("end")
    SlowWriter(uri, lambda: meanwhile(steps[:end]), options=ONE).upsert([row("b", 2, "late")])
    expected["b"] = "late"
    assert read_values(engine, uri) == expected
    meanwhile(steps[end + 1 :])
    engine.service(uri, "compaction", options=PLAN)
    assert read_values(engine, uri) == expected


@pytest.mark.needs(*NEEDED, "service.compaction")
@pytest.mark.requirements("OCC-015")
def test_an_overwrite_of_a_group_with_a_planned_compaction(engine: Client, new_uri: Callable[[], str]) -> None:
    """OCC-015: a compaction is planned for a file group. Log files may be added to the group, but a non-blocking writer that
    replaces it aborts; when the plan is executed, the writer succeeds, and only its rows are left.
    """
    uri = create_empty_table(engine, new_uri())
    writer = SlowWriter(uri, int, options=ONE)
    writer.upsert([row("a", 1, "x"), row("b", 1, "x")])
    writer.upsert([row("a", 2, "y")])
    plan = engine.service(uri, "compaction", phase="schedule", options=PLAN)
    assert plan is not None
    instead = as_arrow([row("a", 1, "instead")])
    with pytest.raises(ConcurrentChange, match="OCC-015"):
        writer.table.insert_overwrite(instead)
    assert read_values(engine, uri) == {"a": "y", "b": "x"}
    engine.service(uri, "compaction", phase="execute", instant=plan)
    writer.table.insert_overwrite(instead)
    assert read_values(engine, uri) == {"a": "instead"}


@pytest.mark.needs(*NEEDED)
@pytest.mark.requirements("NBC-001")
@pytest.mark.parametrize("order", list(permutations((1, 2, 3))), ids=str)
def test_the_greatest_event_wins_in_any_order(engine: Client, new_uri: Callable[[], str], order: tuple[int, ...]) -> None:
    """NBC-001: three versions of a key are delivered in every order, by the engine itself if it writes."""
    uri = create_empty_table(engine, new_uri())
    writer = SlowWriter(uri, int, options=ONE)
    for ts in order:
        writer.upsert([row("a", ts, f"event {ts}")])
    assert read_values(engine, uri) == {"a": "event 3"}


@pytest.mark.needs(*NEEDED, "read.incremental", "inspect.table")
@pytest.mark.requirements("NBC-006", "NBC-001")
def test_actions_are_ordered_by_completion_and_records_by_event(engine: Client, new_uri: Callable[[], str]) -> None:
    """NBC-006: late data is committed last: the timeline has its commit as the newest one, an incremental query from the
    previous commit on returns the other rows of that commit, and the snapshot keeps the newer event.
    """
    uri = create_empty_table(engine, new_uri())
    writer = SlowWriter(uri, int, options=ONE)
    before = completion_time(uri, writer.upsert([row("a", 10, "new event")]))
    late = writer.upsert([row("a", 5, "late event"), row("b", 1, "other")])
    completed = engine.inspect(uri)["timeline"]["completed"]
    assert max(completed, key=lambda found: found["completion"])["requested"] == late
    assert read_values(engine, uri) == {"a": "new event", "b": "other"}
    rows = engine.read(uri, Query("incremental", begin=before, columns=("id", "ts", "value"))).to_pylist()
    assert {r["id"] for r in rows} - {"a"} == {"b"} and "late event" not in {r["value"] for r in rows}


@pytest.mark.needs(*NEEDED)
@pytest.mark.requirements("NBC-004", "NBC-001")
def test_four_nested_writers_all_complete(engine: Client, new_uri: Callable[[], str]) -> None:
    """NBC-004: four writers begin, each during the write of the one before, on two buckets and two partitions. None aborts, and
    for each key the result follows event time.
    """
    uri = create_empty_table(engine, new_uri())
    best: dict[str, tuple[int, str]] = {}

    def write(depth: int) -> None:
        ts = [7, 3, 9, 5][depth]
        rows = [
            row(key, ts + place, f"depth {depth}", city) for place, (key, city) in enumerate(product("ab", ("oslo", "rio")))
        ]
        rows = [{**r, "id": f"{r['id']} {r['city']}"} for r in rows[depth % 2 :]]
        SlowWriter(uri, (lambda: write(depth + 1)) if depth < 3 else int, options=NON_BLOCKING).upsert(rows)
        for r in rows:
            best[r["id"]] = max(best.get(r["id"], (0, "")), (r["ts"], r["value"]))

    write(0)
    assert read_values(engine, uri) == {key: value for key, (_, value) in best.items()}
    assert len(open_table(uri).timeline.commits) == 4
