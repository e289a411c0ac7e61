"""The steps of a write in their order, and its heartbeats, seen in the requests of the reference.

Only the reference can be observed, from inside its process.
"""

import io
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fastavro
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import CrashingStorage, crash_states
from hudi_conformance.suite.support.concurrent.competing_writers import CompetingWriters
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.recorded_locks import RecordingStorage
from hudi_conformance.suite.support.concurrent.slow_writers import LAZY, OPTIMISTIC, InterruptedLock, SlowWriter
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import create_updated_table, read_snapshot
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import WritableTable, clean, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import ConcurrentChange, HeartbeatLost, HudiError, MalformedMetadata, Misuse, UnsupportedTableFeature
from hudi_reference.ids import SeededIds
from hudi_reference.locks import lock_of
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.write.write import MOVES_KEY

NEEDED = pytest.mark.needs("create", "write.upsert")
START = 1_767_225_600_000
#: Early conflict detection, for writers with heartbeats.
EARLY = {**OPTIMISTIC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}
KEYS = {"hoodie.write.concurrency.record.key.check.enable": "true"}


def table_in_memory(type: str = "COPY_ON_WRITE", version: int = 8) -> tuple[WritableTable, RecordingStorage]:
    """Return a table with one commit, and its storage, which records every request and the holder of the lock at that time."""
    spec = Program(type, "COMMIT_TIME_ORDERING", True).spec()  # type: ignore[arg-type]
    storage = RecordingStorage(MemoryStorage(), 1_000_000)
    options = {"storage": storage, "clock": ManualClock(START), "ids": SeededIds(1), "table_type": spec.type}
    create_table("memory:///steps", name="steps", schema=dict(spec.schema), record_key=("id",), partition=("city",),
                 version=version, **options)  # type: ignore[arg-type]  # fmt: skip
    options.pop("table_type")
    table = open_table("memory:///steps", **options)  # type: ignore[arg-type]
    table.upsert(as_arrow([row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x", "rio")]))
    storage.requests.clear()
    return table, storage


@NEEDED
@BOTH_TYPES
@pytest.mark.requirements("OCC-004", "OCC-005", "OCC-007", "OCC-010")
def test_a_write_takes_its_steps_in_order(engine: Client, type: str) -> None:
    """OCC-004: begin time and requested file are made under the lock, then the inflight file, then data files, each after its
    marker and without the lock; the conflict check and the completed file are in one lock section. Nothing is stored after
    that.
    """
    only_in_process(engine)
    table, storage = table_in_memory(type)
    instant = table.upsert(as_arrow([row("a", 2, "y"), row("c", 2, "y", "rio"), row("d", 2, "y")]))
    changes = [(what, owner) for what, owner in storage.requests if what.startswith(("create", "put", "replace", "delete"))]
    paths = [what.partition(" ")[2] for what, _ in changes]
    action = "commit" if type == "COPY_ON_WRITE" else "deltacommit"
    requested, inflight, completed = (
        next(n for n, path in enumerate(paths) if path.startswith(f".hoodie/timeline/{instant}") and path.endswith(ending))
        for ending in ("requested", "inflight", f".{action}")
    )
    data = [n for n, path in enumerate(paths) if not path.startswith(".hoodie/") and instant in path]
    assert len(data) == 3
    assert requested < inflight < min(data) <= max(data) < completed
    for number in data:
        assert any(path.startswith(f".hoodie/.temp/{instant}/{paths[number]}.marker.") for path in paths[:number])
    assert {changes[n][1] for n in data} == {None}, "the writer holds the lock while it stores data files"
    assert changes[requested][1] is not None, "the begin time was not generated under the lock"
    assert all(what.startswith("delete") for what, _ in changes[completed + 1 :])
    completing = changes[completed][1]
    owners = [owner for what, owner in storage.requests if what == "names .hoodie/timeline" and owner == completing]
    assert completing is not None and owners, "the timeline was not read under the lock of the conflict check"


@NEEDED
@BOTH_TYPES
@pytest.mark.requirements("OCC-023", "OCC-004")
def test_the_completed_file_appears_complete(engine: Client, type: str) -> None:
    """OCC-023: as soon as the completed file is visible, it holds the record of the whole write; it is stored once."""
    only_in_process(engine)
    table, storage = table_in_memory(type)
    seen: list[bytes] = []

    class Looking(CrashingStorage):
        """Reads a completed file as soon as it exists, and whenever it changes."""

        def create(self, path: str, data: bytes) -> None:
            super().create(path, data)
            self.look(path)

        def put(self, path: str, data: bytes) -> None:
            super().put(path, data)
            self.look(path)

        def look(self, path: str) -> None:
            """Remember what a reader would read."""
            if path.endswith("commit"):
                seen.append(self.get(path))

    watched = replace(table, storage=Looking(storage, 1_000_000))
    watched.upsert(as_arrow([row("a", 2, "y"), row("c", 2, "y", "rio")]))
    (content,) = seen
    (record,) = fastavro.reader(io.BytesIO(content))
    assert {p: len(stats) for p, stats in record["partitionToWriteStats"].items()} == {"oslo": 1, "rio": 1}


@NEEDED
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("OCC-005")
def test_the_begin_time_is_later_than_all_generated_times(engine: Client) -> None:
    """OCC-005: the begin time is later than every time that was generated before, also by writers that ran while this one read
    the table.
    """
    only_in_process(engine)
    table, _ = table_in_memory()
    quick: list[str] = []

    def meanwhile() -> None:
        quick.append(table.upsert(as_arrow([row("c", 2, "quick", "rio")])))

    slow = replace(table, lock=InterruptedLock(lock_of(table.storage), "request", meanwhile))
    instant = slow.upsert(as_arrow([row("a", 2, "y")]))
    (completed,) = [i for i in table.timeline.completed if i.requested == quick[0]]
    assert completed.completion is not None and instant > completed.completion


@NEEDED
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("OCC-009")
def test_an_update_may_be_a_delete_and_an_insert(engine: Client) -> None:
    """OCC-009: the old file group loses the record, a new one has it, and the next update of the key goes there. In tables
    where the stored version affects the merge, such updates are refused.
    """
    only_in_process(engine)
    table, _ = table_in_memory()
    moving = replace(table, options={MOVES_KEY: "true"})
    (home,) = {found.file_id for found in table.file_groups().latest_slices if found.partition == "oslo"}
    moving.upsert(as_arrow([row("a", 2, "moved")]))
    groups = {found.file_id: keys for found, keys in held_keys(table) if found.partition == "oslo"}
    assert groups.pop(home) == {"b"} and list(groups.values()) == [{"a"}]
    table.upsert(as_arrow([row("a", 3, "again")]))
    assert {found.file_id: keys for found, keys in held_keys(table) if found.partition == "oslo"} == {home: {"b"}, **groups}
    assert sorted(table.snapshot().column("value").to_pylist()) == ["again", "x", "x"]
    logs, _ = table_in_memory("MERGE_ON_READ")
    with pytest.raises(UnsupportedTableFeature, match="OCC-009"):
        replace(logs, options={MOVES_KEY: "true"}).upsert(as_arrow([row("a", 2, "moved")]))


def held_keys(table: WritableTable) -> list[tuple[FileSlice, set[str]]]:
    """Return the latest slices of a table, and the keys of their rows."""
    view = table.view()
    reader = view.reader(table)
    return [(found, set(reader.current_keys(found).to_pylist())) for found in view.groups.latest_slices]


def local(engine: Client, new_uri: Callable[[], str]) -> str:
    """A table in a folder."""
    only_in_process(engine)
    return create_updated_table(engine, new_uri(), 0).uri


def heartbeat_files(uri: str) -> list[Path]:
    """Return the heartbeat files of its writers."""
    return sorted((table_folder(uri) / ".hoodie" / ".heartbeat").glob("2*"))


@NEEDED
@pytest.mark.requirements("OCC-026")
def test_early_detection_aborts_on_markers_of_active_writers(engine: Client, new_uri: Callable[[], str]) -> None:
    """OCC-026: the second of two writers of one file group fails before its file is stored; the first one completes. Markers of
    a writer whose heartbeat has expired, and markers of other file groups, do not conflict.
    """
    uri = local(engine, new_uri)
    outcomes: list[str | HudiError] = []
    idle = SlowWriter(uri, lambda: None, options=EARLY)

    def meanwhile() -> None:
        outcomes.append(idle.outcome([row("b", 50, "second")]))
        outcomes.append(idle.outcome([row("c", 50, "second", "rio")]))

    first = SlowWriter(uri, meanwhile, options=EARLY).upsert([row("a", 50, "first")])
    refused, other = outcomes
    assert isinstance(refused, ConcurrentChange) and refused.rule == "OCC-026" and isinstance(other, str)
    (failed,) = open_table(uri).timeline.pending
    assert first < failed.requested and not list((table_folder(uri) / "oslo").glob(f"*_{failed.requested}.*"))
    assert {r["id"]: r["value"] for r in read_snapshot(engine, uri)} == {"a": "first", "b": "x", "c": "second"}

    def crash() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SlowWriter(uri, crash, options=EARLY).upsert([row("a", 60, "crashes")])
    (heartbeat,) = heartbeat_files(uri)
    os.utime(heartbeat, (0, 0))
    assert isinstance(idle.outcome([row("b", 60, "third")]), str), "a marker of an expired writer caused a conflict"
    assert {r["id"]: r["value"] for r in read_snapshot(engine, uri)} == {"a": "first", "b": "third", "c": "second"}


@NEEDED
@BOTH_TYPES
@pytest.mark.leaves_damage("two writers insert one key")
@pytest.mark.requirements("OCC-017")
def test_two_writers_insert_one_key(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """OCC-017: two writers put the same new key into a new file group. With the comparison of keys the second one aborts;
    without it both complete and the key occurs twice, as the specification allows. Other keys do not conflict.
    """
    only_in_process(engine)

    def both_insert(options: dict[str, str]) -> str | HudiError:
        uri, new = create_updated_table(engine, new_uri(), 0, type).uri, [row("new", 100, "slow")]
        quick = SlowWriter(uri, int, options=options)
        outcome = SlowWriter(uri, lambda: quick.upsert(new), options=options).outcome(new)
        assert [r["id"] for r in read_snapshot(engine, uri)].count("new") == (1 if options else 2)
        return outcome

    refused, both = both_insert(KEYS), both_insert({})
    assert isinstance(refused, ConcurrentChange) and refused.rule == "OCC-017" and isinstance(both, str)
    scene = CompetingWriters(engine, create_updated_table(engine, new_uri(), 0, type).uri)
    SlowWriter(scene.uri, lambda: scene.write("one"), options=KEYS).upsert([row("other", 100, "slow")])
    assert {"one", "other"} <= set(scene.read_values())


@NEEDED
@pytest.mark.requirements("TL-030", "OCC-027")
def test_heartbeats_last_from_the_request_to_the_end(engine: Client) -> None:
    """TL-030: the heartbeat exists whenever the requested file does; it is refreshed while files are stored, and deleted after
    the completion.
    """
    only_in_process(engine)
    table, storage = table_in_memory()
    ticking = {**LAZY, "hoodie.client.heartbeat.interval_in_ms": "1000"}
    instant = replace(table, options=ticking).upsert(as_arrow([row("a", 2, "y"), row("c", 2, "y", "rio"), row("d", 2, "y")]))
    changes = [what for what, _ in storage.requests if what.startswith(("create", "put", "delete"))]
    heartbeat = f"put .hoodie/.heartbeat/{instant}"
    assert changes.index(heartbeat) < changes.index(f"create .hoodie/timeline/{instant}.commit.requested")
    assert changes.count(heartbeat) > 1
    assert changes[-1] == f"delete .hoodie/.heartbeat/{instant}"


@NEEDED
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("TL-030", "OCC-019", "OCC-027")
def test_a_writer_without_heartbeat_does_not_complete(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-030: another process may have begun to roll its files back: the writer gets an error, and the next clean removes its
    files. The rows are those of the writers that completed.
    """
    uri = local(engine, new_uri)

    def stop() -> None:
        heartbeat_files(uri)[0].unlink()

    lost = SlowWriter(uri, stop, options={**OPTIMISTIC, **LAZY}).outcome([row("a", 50, "lost")])
    assert isinstance(lost, HeartbeatLost)
    assert {r["id"]: r["value"] for r in read_snapshot(engine, uri)} == {"a": "x", "b": "x", "c": "x"}
    clean(open_table(uri, options=OPTIMISTIC))
    assert not list((table_folder(uri) / ".hoodie" / ".temp").glob("2*/**/*.marker.*"))
    assert len(list((table_folder(uri) / "oslo").glob("*.parquet"))) == 1
    SlowWriter(uri, lambda: None, options=OPTIMISTIC).upsert([row("a", 60, "again")])
    assert {r["id"]: r["value"] for r in read_snapshot(engine, uri)} == {"a": "again", "b": "x", "c": "x"}


@NEEDED
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("TL-030", "OCC-027", "OCC-019")
def test_a_clean_rolls_back_expired_writers_only(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-030: a clean keeps the files of an active writer, which completes. A writer that aborts deletes its heartbeat, so that
    its files are rolled back at once.
    """
    uri = local(engine, new_uri)
    lazily = open_table(uri, options=OPTIMISTIC)
    SlowWriter(uri, lambda: clean(lazily), options=OPTIMISTIC).upsert([row("a", 50, "slow")])
    quick = SlowWriter(uri, lambda: None, options=OPTIMISTIC)
    loser = SlowWriter(uri, lambda: quick.upsert([row("b", 50, "quick")]), options=OPTIMISTIC).outcome([row("a", 60, "loses")])
    assert isinstance(loser, ConcurrentChange)
    assert heartbeat_files(uri) == [] and lazily.timeline.pending
    clean(lazily)
    assert not lazily.timeline.pending
    assert {r["id"]: r["value"] for r in read_snapshot(engine, uri)} == {"a": "slow", "b": "quick", "c": "x"}


@NEEDED
@pytest.mark.requirements("OCC-027", "TL-030")
def test_a_single_writer_rolls_back_failed_writes_first(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-030: the policy of a table with one writer: actions that are pending when it begins have failed. One of several
    writers must not roll them back.
    """
    uri = local(engine, new_uri)

    def crash() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SlowWriter(uri, crash).upsert([row("a", 50, "crashes")])
    alone = open_table(uri, options={"hoodie.write.concurrency.mode": "SINGLE_WRITER"})
    assert alone.timeline.pending
    alone.upsert(as_arrow([row("b", 50, "next")]))
    assert not alone.timeline.pending
    assert {r["id"]: r["value"] for r in read_snapshot(engine, uri)} == {"a": "x", "b": "next", "c": "x"}
    with pytest.raises(Misuse, match="EAGER"):
        open_table(uri, options={**OPTIMISTIC, "hoodie.clean.failed.writes.policy": "EAGER"}).upsert(
            as_arrow([row("b", 60, "z")])
        )


@NEEDED
@pytest.mark.requirements("OCC-001", "OCC-019")
def test_a_conflicting_write_is_retried_as_configured(engine: Client, new_uri: Callable[[], str]) -> None:
    """OCC-001: with one retry the write completes on the state that the other writer produced, so that no update is lost."""
    uri = local(engine, new_uri)
    quick, retries = SlowWriter(uri, int), {"hoodie.write.num.retries.on.conflict.failures": "1"}
    SlowWriter(uri, lambda: quick.upsert([row("b", 50, "quick")]), options=retries).upsert([row("a", 50, "slow")])
    assert {r["id"]: r["value"] for r in read_snapshot(engine, uri)} == {"a": "slow", "b": "quick", "c": "x"}


@NEEDED
@pytest.mark.requirements("OCC-001", "OCC-011")
def test_a_column_added_by_another_writer_is_kept(engine: Client, new_uri: Callable[[], str]) -> None:
    """OCC-001: a writer that read the table without the column aborts, in whatever file group it writes, and finds the column
    on its next attempt; otherwise the schema of the table would be the older one again.
    """
    uri = local(engine, new_uri)
    wider = as_arrow([row("c", 50, "quick", "rio")])
    wider = wider.append_column("more", [["m"]])
    grows = open_table(
        uri, options={"hoodie.write.set.null.for.missing.columns": "true", "hoodie.datasource.write.reconcile.schema": "true"}
    )
    lost = SlowWriter(uri, lambda: grows.upsert(wider)).outcome([row("a", 50, "slow")])
    assert isinstance(lost, ConcurrentChange) and "schema" in lost.message
    assert "more" in open_table(uri).snapshot().column_names


@NEEDED
@pytest.mark.requirements("OCC-001", "OCC-011")
def test_a_column_widened_by_another_writer_stays_wide(engine: Client, new_uri: Callable[[], str]) -> None:
    """OCC-001: the other writer has widened a column. A writer that read the table before aborts, in whatever file group it
    writes: with its schema the values of the other writer would not fit the column.
    """
    uri = local(engine, new_uri)
    wider = as_arrow([row("c", 50, "quick", "rio")])
    wider = wider.set_column(wider.column_names.index("ts"), "ts", [[50.5]])
    grows = open_table(uri, options={"hoodie.datasource.write.reconcile.schema": "true"})
    lost = SlowWriter(uri, lambda: grows.upsert(wider)).outcome([row("a", 50, "slow")])
    assert isinstance(lost, ConcurrentChange) and "schema" in lost.message
    found = {one["id"]: one["ts"] for one in open_table(uri).snapshot().to_pylist()}
    assert found["c"] == 50.5


@NEEDED
@pytest.mark.needs("merge-on-read", "service.compaction")
@pytest.mark.requirements("OCC-015", "TL-047")
def test_a_damaged_plan_is_reported_to_writers(engine: Client, new_uri: Callable[[], str]) -> None:
    """OCC-015: it is unknown whether a damaged plan contains the write's file groups: under optimistic control the write fails
    with an error that names the file. The table stays readable with exactly the committed rows.
    """
    only_in_process(engine)
    uri = create_updated_table(engine, new_uri(), 1, "MERGE_ON_READ").uri
    rows = read_snapshot(engine, uri)

    def plan() -> None:
        engine.service(uri, "compaction", phase="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
        (file,) = (table_folder(uri) / ".hoodie" / "timeline").glob("*.compaction.requested")
        shutil.copy(file, file.with_name("kept"))
        file.write_bytes(file.read_bytes()[:50])

    refused = SlowWriter(uri, plan, options=OPTIMISTIC).outcome([row("a", 50, "slow")])
    assert isinstance(refused, MalformedMetadata) and "compaction.requested" in (refused.path or "")
    (kept,) = (table_folder(uri) / ".hoodie" / "timeline").glob("kept")
    (file,) = (table_folder(uri) / ".hoodie" / "timeline").glob("*.compaction.requested")
    kept.rename(file)
    assert read_snapshot(engine, uri) == rows


@NEEDED
@BOTH_TYPES
@pytest.mark.requirements("OCC-004", "OCC-019")
def test_storage_fails_during_a_write(engine: Client, type: str) -> None:
    """OCC-019: whichever request is the first one that fails: afterwards the table can be read, the rows are those before the
    write or those after it, and the next write succeeds.
    """
    only_in_process(engine)
    before, after = {"a": "x", "b": "x", "c": "x"}, {"a": "y", "b": "x", "c": "y"}
    ended = False
    for allowed in range(1, 40):
        table, storage = table_in_memory(type)
        gone = replace(table, storage=FailingStorage(storage, allowed))
        try:
            gone.upsert(as_arrow([row("a", 2, "y"), row("c", 2, "y", "rio")]))
            ended = True
        except ConnectionError:
            pass
        rows = {r["id"]: r["value"] for r in table.snapshot().to_pylist()}
        assert rows in (before, after), allowed
        table.upsert(as_arrow([row("b", 3, "next")]))
        assert {r["id"]: r["value"] for r in table.snapshot().to_pylist()} == {**rows, "b": "next"}
        if ended:
            break
    assert ended


class FailingStorage(CrashingStorage):
    """A store whose requests fail after this many changes."""

    def _change(self, request: str) -> None:
        if len(self.changes) >= self.allowed:
            raise ConnectionError(f"no answer to {request}")
        self.changes.append(request)


@NEEDED
@BOTH_TYPES
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("OCC-027", "OCC-019", "TL-019")
@pytest.mark.versions(8, 9)
def test_a_clean_recovers_a_write_crashed_at_any_request(engine: Client, type: str, drawn_version: int) -> None:
    """OCC-019: before, between and after its requests: the rows are those before the write or those after it, before and after
    the clean; the clean leaves nothing pending, and no file or marker of a write that did not complete.
    """
    only_in_process(engine)
    table, storage = table_in_memory(type, drawn_version)
    before = {r["id"]: r["value"] for r in table.snapshot().to_pylist()}

    def act(crashing: Storage) -> None:
        reopen_table(crashing).upsert(as_arrow([row("a", 2, "y"), row("c", 2, "y", "rio"), row("d", 2, "y")]))

    states = list(crash_states(storage, act))
    assert len(states) > 12
    for state in states:
        other = reopen_table(state.storage)
        rows = {r["id"]: r["value"] for r in other.snapshot().to_pylist()}
        done = len(other.timeline.commits) > 1
        assert rows == ({"a": "y", "b": "x", "c": "y", "d": "y"} if done else before), state
        clean(other)
        assert not other.timeline.pending, state
        assert {r["id"]: r["value"] for r in other.snapshot().to_pylist()} == rows, state
        known = {instant.requested for instant in other.timeline.commits}
        paths = [
            info.path for info in state.storage.list() if not info.path.startswith((".hoodie/timeline", ".hoodie/.heartbeat"))
        ]
        assert done or not [path for path in paths if _instants_in(path) - known], state


def _instants_in(path: str) -> set[str]:
    """Return the instants in a path."""
    return set(re.findall(r"(?<!\d)\d{17}(?!\d)", path))


def reopen_table(storage: Storage) -> WritableTable:
    """Open the table with a clock that starts from the same state, and optimistic writers."""
    clock = ManualClock(START + 3_600_000)
    return open_table("memory:///steps", storage=storage, clock=clock, ids=SeededIds(7), options=OPTIMISTIC)
