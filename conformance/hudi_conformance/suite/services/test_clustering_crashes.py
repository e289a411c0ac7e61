"""Clustering that crashes between any two of its requests to storage, and the order of these requests. Only an engine in this
process can be observed and stopped there.
"""

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Barrier, BrokenBarrierError

import pyarrow as pa
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import CrashingStorage, copy_storage, crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import ALLOW, CHANGES, GROUP, INSERTS, SORT, WITHDRAW, Type
from hudi_reference import WritableTable, cluster, create_table, open_table, rollback
from hudi_reference.clock import ManualClock
from hudi_reference.errors import WriteConflict
from hudi_reference.ids import SeededIds
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.services.clustering.clustering import execute_clustering
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.storage import MemoryStorage, Storage

OPTIONS = {SORT: "value,ts"}
URI = "memory:///clustered"
UPDATE = as_arrow([row("a", 90, "late"), row("k", 1, "new")])


def reopen_table(storage: Storage, options: dict[str, str] | None = None) -> WritableTable:
    """Open the table with a clock of its own."""
    return open_table(
        URI, storage=storage, clock=ManualClock(1_800_000_000_000), ids=SeededIds(1), options=options or {}
    )  # fmt: skip


def make_table(version: int, type: Type = "COPY_ON_WRITE", *, steps: Collection[Step] = (*INSERTS, *CHANGES)) -> MemoryStorage:
    """Return a table of that version in memory for which a clustering is due."""
    storage, clock, ids, spec = MemoryStorage(), ManualClock(1_790_000_000_000), SeededIds(0), Program(type,
        "EVENT_TIME_ORDERING", True).spec()  # fmt: skip
    create_table(URI, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
                 table_type=type, ordering=spec.ordering, version=version, storage=storage, clock=clock, ids=ids)  # fmt: skip
    table = open_table(URI, storage=storage, clock=clock, ids=ids)
    for step in steps:
        getattr(table, step.operation)(as_arrow(step.rows))
    return storage


def read_rows(storage: Storage) -> list[str]:
    """Return the rows of the table with their commit times."""
    found = reopen_table(storage).snapshot(["_hoodie_commit_time", "_hoodie_commit_seqno", "id", "value"]).to_pylist()
    return sorted(map(str, found))


def expect_settled(storage: Storage, when: object) -> None:
    """Check that nothing is pending, and that every data file is named by a completed action."""
    table = reopen_table(storage)
    assert not table.timeline.pending, when
    named = {path for commit in table.file_groups().commits.values() for path in commit.paths}
    listed = {info.path for info in storage.list(skip=".hoodie") if parse_data_file_name(split_path(info.path)[1])}
    assert listed == named, when


@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("TL-011", "SVC-005", "SVC-006", "TL-029", "CLU-035")
@BOTH_TYPES
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_a_crash_of_a_clustering_changes_no_row(engine: Client, type: Type, drawn_version: int) -> None:
    """CLU-035: wherever planning or execution crashes, the rows are the same; the next run finishes, and no file is
    left over.
    """
    only_in_process(engine)
    storage = make_table(drawn_version, type)
    expected, points = read_rows(storage), 0
    for crash in crash_states(storage, lambda store: cluster(reopen_table(store), OPTIONS)):
        assert read_rows(crash.storage) == expected, crash
        cluster(reopen_table(crash.storage), OPTIONS)
        assert read_rows(crash.storage) == expected, f"{crash}, then another run"
        expect_settled(crash.storage, crash)
        points += 1
    assert points >= 10


@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("SVC-005", "SVC-006", "TL-029")
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_a_crash_of_the_second_attempt_changes_no_row(engine: Client, drawn_version: int) -> None:
    """SVC-005: the rows stay the same if the second execution of the plan crashes too, at any request."""
    only_in_process(engine)
    storage = make_table(
        drawn_version, steps=(Step("insert", (row("a", 30, "x"), row("b", 10, "y"))), Step("insert", (row("d", 20, "y"),)))
    )
    requested, expected = schedule_clustering(reopen_table(storage), OPTIONS) or "", read_rows(storage)
    for first in crash_states(storage, lambda store: execute_clustering(reopen_table(store), requested)):
        for second in crash_states(first.storage, lambda store: execute_clustering(reopen_table(store), requested)):
            assert read_rows(second.storage) == expected, f"{first}; {second}"
            execute_clustering(reopen_table(second.storage), requested)
            assert read_rows(second.storage) == expected, f"{first}; {second}; finished"
            expect_settled(second.storage, f"{first}; {second}")


@pytest.mark.needs("service.clustering", "service.rollback")
@pytest.mark.requirements("TL-050", "TL-019", "SVC-005")
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_a_crash_of_the_rollback_of_a_clustering_changes_no_row(engine: Client, drawn_version: int) -> None:
    """TL-019: a crashed attempt is rolled back, then the plan: wherever that crashes, the rows are the same, and the next run
    finishes it.
    """
    only_in_process(engine)
    storage = make_table(drawn_version, steps=INSERTS)
    requested, expected = schedule_clustering(reopen_table(storage), OPTIONS) or "", read_rows(storage)
    points = crash_states(storage, lambda store: execute_clustering(reopen_table(store), requested))
    *_, half_done = (crash.storage for crash in points if crash.changes and crash.changes[-1].endswith(".parquet"))

    def roll_back_both(store: Storage) -> None:
        rollback(reopen_table(store), requested)
        rollback(reopen_table(store), requested)

    for crash in crash_states(half_done, roll_back_both):
        assert read_rows(crash.storage) == expected, crash
        if crash.ended:
            expect_settled(crash.storage, crash)
        cluster(reopen_table(crash.storage), OPTIONS)
        assert read_rows(crash.storage) == expected, f"{crash}, then another run"
        expect_settled(crash.storage, crash)


@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("SVC-009", "SVC-005")
@BOTH_TYPES
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_a_crash_of_an_aborting_clustering_loses_nothing(engine: Client, type: Type, drawn_version: int) -> None:
    """SVC-009: the groups were updated since the plan: wherever the executor crashes while it aborts, the update is there."""
    only_in_process(engine)
    storage = make_table(drawn_version, type, steps=INSERTS)
    requested = schedule_clustering(reopen_table(storage), OPTIONS) or ""
    reopen_table(storage, ALLOW).upsert(UPDATE)
    expected = read_rows(storage)

    def abort(store: Storage) -> None:
        with suppress(WriteConflict):
            execute_clustering(reopen_table(store), requested)

    for crash in crash_states(storage, abort):
        assert read_rows(crash.storage) == expected, crash
        cluster(reopen_table(crash.storage), OPTIONS)
        assert read_rows(crash.storage) == expected, f"{crash}, then another run"
        expect_settled(crash.storage, crash)


@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("SVC-009", "OCC-016")
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_a_writer_that_crashes_while_it_removes_a_plan_loses_nothing(engine: Client, drawn_version: int) -> None:
    """OCC-016: wherever it crashes, the rows are those before its write or those after it, and another clustering succeeds."""
    only_in_process(engine)
    storage = make_table(drawn_version, steps=INSERTS)
    schedule_clustering(reopen_table(storage), OPTIONS)
    before = set(read_rows(storage))
    for crash in crash_states(storage, lambda store: reopen_table(store, WITHDRAW).upsert(UPDATE)):
        found = read_rows(crash.storage)
        assert set(found) == before or any("late" in one for one in found), crash
        cluster(reopen_table(crash.storage), OPTIONS)
        assert read_rows(crash.storage) == found, crash


@dataclass
class InterruptedStorage(CrashingStorage):
    """A storage in which another process acts before the first request that `when` selects."""

    when: Callable[[str], bool] = field(default=lambda _: False)
    act: Callable[[], object] = field(default=lambda: None)

    def _change(self, request: str) -> None:
        if self.when(request):
            self.when = lambda _: False
            self.act()
        super()._change(request)


def interrupt_storage(storage: Storage, when: Callable[[str], bool], act: Callable[[], object]) -> InterruptedStorage:
    """Return the same storage, with another process."""
    return InterruptedStorage(storage, 1_000_000, when=when, act=act)


@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("SVC-009", "OCC-013")
@BOTH_TYPES
@pytest.mark.parametrize("place", ["inflight", "first output", "last output"])
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_an_update_during_the_execution_aborts_the_clustering(
    engine: Client, type: Type, place: str, drawn_version: int
) -> None:
    """SVC-009: another process updates a group while it is rewritten, or right before the completion: the clustering aborts."""
    only_in_process(engine)
    storage = make_table(drawn_version, type, steps=INSERTS)
    requested = schedule_clustering(reopen_table(storage), OPTIONS) or ""
    *_, whole = crash_states(storage, lambda store: execute_clustering(reopen_table(store), requested))
    files = [request for request in whole.changes if request.endswith((".inflight", ".parquet"))]
    wanted = {"inflight": files[0], "first output": files[1], "last output": files[-1]}[place]
    store = interrupt_storage(storage, wanted.__eq__, lambda: reopen_table(storage, ALLOW).upsert(UPDATE))
    with pytest.raises(WriteConflict):
        execute_clustering(reopen_table(store), requested)
    found = read_rows(storage)
    assert any("late" in one for one in found) and any("'k'" in one for one in found)
    expect_settled(storage, place)


@pytest.mark.needs("service.clustering", "service.rollback")
@pytest.mark.requirements("TL-050", "TL-051", "SVC-005")
@pytest.mark.parametrize("place", ["inflight", "first output", "last output"])
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_a_plan_that_is_rolled_back_during_its_execution_is_aborted(engine: Client, place: str, drawn_version: int) -> None:
    """TL-050: another process rolls attempt and plan back during the execution: the executor aborts, and no file or instant of
    both is left.
    """
    only_in_process(engine)
    storage = make_table(drawn_version, steps=INSERTS)
    requested, expected = schedule_clustering(reopen_table(storage), OPTIONS) or "", read_rows(storage)

    def withdrawn() -> None:
        while reopen_table(storage).timeline.pending:
            rollback(reopen_table(storage), requested)

    *_, whole = crash_states(storage, lambda store: execute_clustering(reopen_table(store), requested))
    files = [request for request in whole.changes if request.endswith((".inflight", ".parquet"))]
    wanted = {"inflight": files[0], "first output": files[1], "last output": files[-1]}[place]
    with pytest.raises(WriteConflict):
        execute_clustering(reopen_table(interrupt_storage(storage, wanted.__eq__, withdrawn)), requested)
    assert read_rows(storage) == expected
    expect_settled(storage, place)


@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("SVC-005", "TL-029", "TL-051")
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_two_executors_of_one_plan_make_one_clustering(engine: Client, drawn_version: int) -> None:
    """SVC-005: before any change of one executor another one executes the whole plan: the first aborts, or finds it completed;
    there is one completed file, and every file that it names exists.
    """
    only_in_process(engine)
    storage = make_table(drawn_version, steps=INSERTS)
    requested, expected = schedule_clustering(reopen_table(storage), OPTIONS) or "", read_rows(storage)
    *_, whole = crash_states(storage, lambda store: execute_clustering(reopen_table(store), requested))
    for number in range(len(whole.changes)):
        copy = copy_storage(storage)
        store = interrupt_storage(copy, lambda _: False, lambda: None)
        store.when = lambda _, s=store, n=number: len(s.changes) == n  # type: ignore[misc]
        store.act = lambda c=copy: execute_clustering(reopen_table(c), requested)  # type: ignore[misc]
        with suppress(WriteConflict):
            execute_clustering(reopen_table(store), requested)
        assert read_rows(copy) == expected, number
        expect_settled(copy, number)
        done = [name for name in copy.names(".hoodie/timeline") if name.endswith(".replacecommit")]
        assert len(done) == 1, number


@dataclass
class SynchronizedReads(CrashingStorage):
    """A storage whose readers of base files wait for one another."""

    barrier: Barrier = field(default_factory=lambda: Barrier(2, timeout=10))

    def open(self, path: str) -> pa.NativeFile:
        """Open when another thread has come as far."""
        self._wait(path)
        return super().open(path)

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read when another thread has come as far."""
        self._wait(path)
        return super().get(path, start, length)

    def _wait(self, path: str) -> None:
        if path.endswith(".parquet") and self.barrier.n_waiting < 2:
            self.barrier.wait()


@pytest.mark.needs("service.clustering")
@pytest.mark.requirements("CLU-036")
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_the_groups_of_a_plan_are_clustered_in_parallel(engine: Client, drawn_version: int) -> None:
    """CLU-036: two groups of one slice each are read at the same time. The files are those of a sequential execution."""
    only_in_process(engine)
    storage = make_table(drawn_version, steps=(Step("insert", (row("a", 1, "x"), row("c", 1, "x", "rio"))),))
    requested = schedule_clustering(reopen_table(storage), {**OPTIONS, GROUP: "1"}) or ""
    alone = copy_storage(storage)
    execute_clustering(replace(reopen_table(alone), parallelism=1), requested)
    synchronized = SynchronizedReads(storage, 1_000_000)
    try:
        execute_clustering(reopen_table(synchronized), requested)
    except BrokenBarrierError:
        pytest.fail("the groups were read one after the other")
    assert {i.path for i in storage.list(skip=".hoodie")} == {i.path for i in alone.list(skip=".hoodie")}
    assert all(storage.get(info.path) == alone.get(info.path) for info in storage.list(skip=".hoodie"))
