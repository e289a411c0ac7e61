"""Writers under optimistic concurrency control: which writes conflict, and which writer aborts.

The reference is the slow writer. Beside it the engine under test writes or runs a service; from the timeline of the engine the
slow writer has to find out whether it may complete.
"""

from collections.abc import Callable

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.competing_writers import PLAN, CompetingWriters
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write
from hudi_conformance.suite.support.concurrent.slow_writers import BUCKETS, OPTIMISTIC, SlowWriter, group_of, id_of
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Row, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    create_updated_table,
    instant_files,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import completion_time, table_folder
from hudi_reference.errors import ConcurrentChange

#: Every insert creates a new file group.
SPREAD = {"hoodie.parquet.small.file.limit": "0"}
CONFLICT = pytest.raises(ConcurrentChange, match="OCC-013")


@pytest.fixture
def scene(engine: Client, new_uri: Callable[[], str], request: pytest.FixtureRequest) -> CompetingWriters:
    """The table, of the type that the test uses."""
    type = request.node.callspec.params.get("type", "COPY_ON_WRITE")
    return CompetingWriters(engine, create_updated_table(engine, new_uri(), 0, type).uri)


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("OCC-001", "OCC-010", "OCC-012", "OCC-013", "OCC-019")
def test_the_first_of_two_writers_of_one_file_group_wins(scene: CompetingWriters, type: str) -> None:
    """OCC-019: two writers change different keys of one file group. The second to complete gets a conflict error and leaves
    nothing visible; the lock is free, and the same write succeeds afterwards on the new state.
    """
    writer = SlowWriter(scene.uri, lambda: scene.write("b"))
    table = writer.table
    with CONFLICT:
        table.upsert(as_arrow(scene.rows_of_slow_write("a")))
    assert scene.read_values() == {"a": "x", "b": "quick", "c": "x"}
    names = instant_files(scene.uri)
    assert len({name[:17] for name in names} - {name[:17] for name in names if name[17] == "_"}) == 1, "an action stays pending"
    table.upsert(as_arrow(scene.rows_of_slow_write("a")))
    assert scene.read_values() == {"a": "slow", "b": "quick", "c": "x"}


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("OCC-001", "OCC-014", "OCC-022")
def test_writers_of_different_file_groups_both_complete(scene: CompetingWriters, type: str) -> None:
    """OCC-022: conflicts are decided by file group, not by partition or by the mere existence of another write. The later
    publisher has the later completion time, whenever it began to wait for the lock.
    """
    scene.engine.write(scene.uri, "insert", as_arrow([row("d", 1, "x")]), options={**SPREAD, **SEVERAL_WRITERS})
    quick: list[str] = []
    slow = SlowWriter(scene.uri, lambda: quick.append(scene.write("a"))).upsert(scene.rows_of_slow_write("c", city="rio"))
    assert completion_time(scene.uri, quick[0]) < completion_time(scene.uri, slow)
    assert scene.read_values() == {"a": "quick", "b": "x", "c": "slow", "d": "x"}
    if not group_of(scene.uri, quick[0]) & group_of(
        scene.uri, SlowWriter(scene.uri, lambda: None).upsert(scene.rows_of_slow_write("d"))
    ):
        SlowWriter(scene.uri, lambda: scene.write("b")).upsert(scene.rows_of_slow_write("d"))
        assert scene.read_values() == {"a": "quick", "b": "quick", "c": "slow", "d": "slow"}


@pytest.mark.needs(*WRITES, "write.bucket-index")
@BOTH_TYPES
@pytest.mark.requirements("OCC-014", "OCC-022", "LAY-021")
def test_buckets_of_two_partitions_are_two_file_groups(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """OCC-022: with a bucket index a bucket is a file group of its partition. Two writers change the buckets of one number in
    two partitions, and both complete.
    """
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())  # type: ignore[arg-type]
    engine.write(uri, "upsert", as_arrow([row("a", 1, "x"), row("a", 1, "x", "rio")]), options=BUCKETS)
    quick = as_arrow([row("a", 2, "quick", "rio")])
    SlowWriter(
        uri,
        lambda: engine.write(uri, "upsert", quick, options={**SEVERAL_WRITERS, **BUCKETS}),
        options={**OPTIMISTIC, **BUCKETS},
    ).upsert([row("a", 2, "slow")])
    found = engine.read(uri, Query(columns=("city", "value"))).to_pylist()
    assert {one["city"]: one["value"] for one in found} == {"oslo": "slow", "rio": "quick"}


@pytest.mark.needs("create", "read.snapshot")
@BOTH_TYPES
@pytest.mark.requirements("RDR-008", "TL-033")
def test_a_write_before_the_first_completed_one_is_not_read(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """RDR-008: of two writers of a new table the one that began first completes last. Its rows are not read before that,
    although no completed write is older.
    """
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())  # type: ignore[arg-type]
    early = begin_write(uri, (row("a", 1, "early"),))
    assert read_snapshot(engine, uri) == []
    later = SlowWriter(uri, lambda: None, options=OPTIMISTIC).upsert([row("b", 1, "later")])
    assert early.instant < later
    assert [found["id"] for found in read_snapshot(engine, uri)] == ["b"]
    early.complete()
    assert [found["id"] for found in read_snapshot(engine, uri)] == ["a", "b"]


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("OCC-006", "OCC-011")
def test_a_writer_that_began_earlier_is_in_the_concurrent_set(scene: CompetingWriters, type: str) -> None:
    """OCC-011: a writer that was requested first and completes during the slow write is in the concurrent set. Writes that
    completed before, and writes that stay pending, are not.
    """
    early = begin_write(scene.uri, (row("a", 50, "early"),))
    pending = begin_write(scene.uri, (row("a", 60, "never"),))
    scene.write("c", city="rio")
    SlowWriter(scene.uri, lambda: None).upsert(scene.rows_of_slow_write("c", city="rio"))
    with CONFLICT:
        SlowWriter(scene.uri, early.complete).upsert(scene.rows_of_slow_write("b"))
    assert early.instant < pending.instant
    assert scene.read_values() == {"a": "early", "b": "x", "c": "slow"}
    SlowWriter(scene.uri, lambda: None).upsert(scene.rows_of_slow_write("b"))
    assert scene.read_values() == {"a": "early", "b": "slow", "c": "slow"}


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("OCC-006", "OCC-011")
def test_a_completion_before_the_request_conflicts(scene: CompetingWriters, type: str) -> None:
    """OCC-011: a write is based on its snapshot. A write that completes after the table was read and before the begin time is
    drawn has a smaller completion time than that begin time, and still conflicts.
    """
    with CONFLICT:
        SlowWriter(scene.uri, lambda: scene.write("b"), "request").upsert(scene.rows_of_slow_write("a"))
    assert scene.read_values() == {"a": "x", "b": "quick", "c": "x"}


@pytest.mark.needs(*WRITES, "service.archive")
@pytest.mark.requirements("OCC-012", "OCC-011")
def test_archived_writes_are_in_the_concurrent_set(scene: CompetingWriters) -> None:
    """OCC-012: an action of the concurrent set that leaves the active timeline before the slow writer checks is found in the
    history.
    """

    def meanwhile() -> None:
        quick = scene.write("b")
        for _ in range(5):
            scene.write("c", city="rio")
        limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
        scene.engine.service(scene.uri, "archive", options=limits)
        assert not [name for name in instant_files(scene.uri) if name.startswith(quick)]

    with CONFLICT:
        SlowWriter(scene.uri, meanwhile, "request").upsert(scene.rows_of_slow_write("a"))
    assert scene.read_values() == {"a": "x", "b": "quick", "c": "quick"}


@pytest.mark.needs(*WRITES, "merge-on-read", "service.compaction")
@pytest.mark.parametrize("type", ["MERGE_ON_READ"])
@pytest.mark.requirements("OCC-015", "NBC-003")
def test_a_compaction_planned_during_a_write_conflicts(scene: CompetingWriters, type: str) -> None:
    """OCC-015: under optimistic control the write aborts because of the plan; other writers complete, and no change of theirs
    is lost. A plan that existed when the write began does not conflict.
    """
    scene.write("a")
    plans: list[str] = []

    def plan() -> None:
        instant = scene.engine.service(scene.uri, "compaction", phase="schedule", options=PLAN)
        assert instant is not None
        plans.append(instant)

    def compact() -> None:
        scene.engine.service(scene.uri, "compaction", phase="execute", instant=plans[-1])

    with pytest.raises(ConcurrentChange, match="OCC-015"):
        SlowWriter(scene.uri, plan, options=OPTIMISTIC).upsert(scene.rows_of_slow_write("b"))
    SlowWriter(scene.uri, lambda: None, options=OPTIMISTIC).upsert(scene.rows_of_slow_write("b"))
    compact()
    assert scene.read_values() == {"a": "quick", "b": "slow", "c": "x"}
    scene.write("a", value="again")
    SlowWriter(scene.uri, plan).upsert([row("b", 200, "streaming")])
    compact()
    assert scene.read_values() == {"a": "again", "b": "streaming", "c": "x"}


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("OCC-008")
def test_changes_go_to_the_committed_file_group(scene: CompetingWriters, type: str) -> None:
    """OCC-008: a pending write has put the key into a new file group; the engine writes to the group that holds the committed
    record, and to no other.
    """
    (home,) = {id_of(path.name) for path in (table_folder(scene.uri) / "oslo").glob("*.parquet")}
    relocating = _inserting(scene.uri, row("a", 90, "elsewhere"))
    instant = scene.write("a")
    assert group_of(scene.uri, instant) == {home}
    assert group_of(scene.uri, relocating) and home not in group_of(scene.uri, relocating)
    assert scene.read_values() == {"a": "quick", "b": "x", "c": "x"}


def _inserting(uri: str, change: Row) -> str:
    """Insert a row beside the one of the same key, and stop before the end; return the instant."""

    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    writer = SlowWriter(uri, stop)
    with pytest.raises(Stop):
        writer.table.insert(as_arrow([change]))
    return max(name[:17] for name in instant_files(uri))


@pytest.mark.needs(*WRITES, "merge-on-read", "service.compaction")
@pytest.mark.requirements("OCC-024", "SVC-013")
def test_inline_compaction_is_planned_after_the_write(engine: Client, new_uri: Callable[[], str]) -> None:
    """OCC-024: with inline compaction a plan follows the completion of the write that makes it due; without it there is no
    plan. The rows are the same.
    """
    uris = []
    for inline in ("true", "false"):
        uri = create_updated_table(engine, new_uri(), 0, "MERGE_ON_READ").uri
        options = {"hoodie.compact.inline": inline, "hoodie.compact.inline.max.delta.commits": "2"}
        writes = [engine.write(uri, "upsert", as_arrow([row("a", n, f"{n}")]), options=options) for n in range(2, 6)]
        planned = sorted(name[:17] for name in instant_files(uri, "compaction.requested"))
        assert bool(planned) == (inline == "true")
        assert not [plan for plan in planned for write in writes if write < plan < completion_time(uri, write)]
        uris.append(uri)
    assert read_snapshot(engine, uris[0]) == read_snapshot(engine, uris[1])


@pytest.mark.needs(*WRITES, "merge-on-read", "service.compaction")
@pytest.mark.requirements("OCC-024")
@pytest.mark.leaves_damage("it cuts a log file")
def test_a_failed_inline_service_keeps_the_write(engine: Client, new_uri: Callable[[], str]) -> None:
    """OCC-024: the inline compaction reads a damaged log file, in another partition. The write has completed, and reports
    success.
    """
    uri = create_updated_table(engine, new_uri(), 2, "MERGE_ON_READ").uri
    (log, *_) = sorted((table_folder(uri) / "oslo").glob(".*.log.*"))
    log.write_bytes(log.read_bytes()[:-30])
    for checksum in (table_folder(uri) / "oslo").glob(".*.log.*.crc"):
        checksum.unlink()
    options = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
    instant = engine.write(uri, "upsert", as_arrow([row("c", 9, "new", "rio")]), options=options)
    assert [name for name in instant_files(uri) if name.startswith(f"{instant}_")]
