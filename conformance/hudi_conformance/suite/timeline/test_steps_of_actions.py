"""Steps of actions from request to completion, seen from outside: the files of each step, when they appear, and which of them
stay.
"""

import hashlib
import io
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import fastavro
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.explorer.crash_points import crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import begin_write
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    create_updated_table,
    data_file_names,
    deleted_files,
    instant_files,
    keep_commits,
    pending_actions,
    planned_deletions,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import INSERT, UPDATE, table_folder, write_table
from hudi_reference import WritableTable, clean, create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.ids import SeededIds
from hudi_reference.storage import MemoryStorage, Storage

CLEANS = pytest.mark.needs(*WRITES, "service.clean", "copy-on-write")
ACTIONS = "commit|deltacommit|replacecommit|clustering|compaction|logcompaction|clean|rollback|restore|savepoint|indexing"
#: The three forms of a file of the timeline.
FORMS = re.compile(rf"(\d{{17}}\.({ACTIONS})\.requested|\d{{17}}\.(({ACTIONS})\.)?inflight|\d{{17}}_\d{{17}}\.({ACTIONS}))")
TIMELINE = ".hoodie/timeline"


def timeline_folder(uri: str) -> Path:
    """Return the folder of the instants of a table."""
    return table_folder(uri) / TIMELINE


def begin_times(uri: str) -> set[str]:
    """Return the requested times of the actions on the timeline; the folder is created by the first of them."""
    if not timeline_folder(uri).is_dir():
        return set()
    return {name[:17] for name in instant_files(uri)}


@pytest.mark.needs(*WRITES, "write.delete", "service.clean", "service.savepoint", "service.rollback", "copy-on-write")
@pytest.mark.requirements("TL-001", "TL-025", "TL-031")
def test_every_action_is_an_instant(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-025: each write and each service creates an instant; every file in the folder has the form of one of the
    three states.
    """
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    upsert = (as_arrow([row("a", n, "y")]) for n in range(2, 9))
    steps: dict[str, Callable[[], str | None]] = {
        "insert": lambda: engine.write(uri, "insert", as_arrow(INSERT.rows)),
        "upsert": lambda: engine.write(uri, "upsert", next(upsert)),
        "upsert again": lambda: engine.write(uri, "upsert", next(upsert)),
        "delete": lambda: engine.write(uri, "delete", as_arrow([row("b", 9, "")]).select(["id", "city"])),
        "clean": lambda: engine.service(uri, "clean", options=keep_commits(1)),
        "upsert a third time": lambda: engine.write(uri, "upsert", next(upsert)),
        "rollback": lambda: engine.service(uri, "rollback", instant=max(begin_times(uri))),
    }
    for name, step in steps.items():
        before, files = begin_times(uri), data_file_names(uri)
        instant = step()
        assert data_file_names(uri) != files, f"{name} did not change the data files"
        assert instant is not None, f"{name} returned no instant"
        assert begin_times(uri) - before == {instant}, f"{name} has the begin time of another action"
        assert not [found for found in instant_files(uri) if not FORMS.fullmatch(found)], name
    before = instant_files(uri)
    engine.service(uri, "savepoint", instant=max(name[:17] for name in before if name.endswith(".commit")))
    assert {name.partition(".")[2] for name in instant_files(uri) - before} == {"savepoint.inflight", "savepoint"}


@CLEANS
@pytest.mark.requirements("TL-026", "TL-014", "TL-035")
def test_a_plan_is_published_with_the_request_and_never_changes(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-035: the requested file holds only the plan, the begin time is the same in all states, and the file stays
    byte-identical.
    """
    table = create_updated_table(engine, new_uri(), 3)
    requested = engine.service(table.uri, "clean", phase="schedule", options=keep_commits(1))
    assert requested is not None
    (name,) = instant_files(table.uri, "clean")
    assert name == f"{requested}.clean.requested"
    file = timeline_folder(table.uri) / name
    before, files = hashlib.sha256(file.read_bytes()).digest(), data_file_names(table.uri)
    record, plan = read_instant_file(table.uri, requested, "clean.requested")
    assert (record, bool(planned_deletions(plan))) == ("HoodieCleanerPlan", True)
    (table_folder(table.uri) / next(iter(table_folder(table.uri).rglob(min(planned_deletions(plan)))))).unlink()
    assert engine.service(table.uri, "clean", phase="execute", instant=requested) == requested
    assert hashlib.sha256(file.read_bytes()).digest() == before, "the execution changed the requested file"
    assert {found[:17] for found in instant_files(table.uri, "clean")} == {requested}
    assert files - data_file_names(table.uri) == planned_deletions(plan)
    assert deleted_files(read_instant_file(table.uri, requested, "clean")[1]) <= planned_deletions(plan)


@CLEANS
@pytest.mark.requirements("TL-032", "TL-031", "TL-004")
def test_completion_times_follow_the_order_of_completion(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-032: a clean is requested, a write begins and completes, the clean completes: its completion time is the later one."""
    table = create_updated_table(engine, new_uri(), 3)
    clean = engine.service(table.uri, "clean", phase="schedule", options=keep_commits(1))
    assert clean is not None
    write = engine.write(table.uri, "upsert", as_arrow([row("c", 9, "meanwhile", "rio")]))
    engine.service(table.uri, "clean", phase="execute", instant=clean)
    completions = {name[:17]: name[18:35] for name in instant_files(table.uri) if FORMS.fullmatch(name) and name[17] == "_"}
    assert clean < write < completions[write] < completions[clean]


@CLEANS
@pytest.mark.requirements("TL-050", "TL-052", "TL-029")
def test_an_interrupted_service_is_executed_again(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-050: an inflight file without its executor does not block: the plan is executed once, and the rows never change."""
    table = create_updated_table(engine, new_uri(), 3)
    clean = engine.service(table.uri, "clean", phase="schedule", options=keep_commits(1))
    assert clean is not None
    plan = timeline_folder(table.uri) / f"{clean}.clean.requested"
    plan.with_name(f"{clean}.clean.inflight").write_bytes(plan.read_bytes())
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    assert engine.service(table.uri, "clean", options=keep_commits(1)) == clean
    assert [name for name in instant_files(table.uri, "clean") if name.endswith(".clean")] == [
        name for name in instant_files(table.uri) if name.startswith(f"{clean}_")
    ]
    assert pending_actions(engine, table.uri) == []
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    files = instant_files(table.uri)
    with suppress(ContractError):  # a refusal is as right as doing nothing
        engine.service(table.uri, "clean", phase="execute", instant=clean)
    assert instant_files(table.uri) == files, "the second execution changed the timeline"


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("TL-051", "TL-052")
def test_only_inflight_actions_complete(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-051: a writer whose inflight file is missing, or whose action another process has completed, gets an error; no
    completed file appears.
    """
    table = create_updated_table(engine, new_uri(), 1, type)
    write = begin_write(table.uri)
    (inflight,) = timeline_folder(table.uri).glob(f"{write.instant}*.inflight")
    content = inflight.read_bytes()
    inflight.unlink()
    with pytest.raises(HudiError, match="TL-051"):
        write.complete()
    assert not list(timeline_folder(table.uri).glob(f"{write.instant}_*"))
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    inflight.write_bytes(content)
    write.complete()
    with pytest.raises(HudiError, match="TL-051"):
        write.complete()
    assert len(list(timeline_folder(table.uri).glob(f"{write.instant}_*"))) == 1


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("TL-046", "TL-048", "RDR-007")
def test_a_file_that_was_not_renamed_completes_nothing(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-046: a writer may store the file of a state under its name with a UUID and rename it. One that is killed before it
    renames the completed file leaves a pending write: readers neither see it nor refuse the table.
    """
    table = create_updated_table(engine, new_uri(), 1, type)
    write = begin_write(table.uri)
    write.complete()
    (completed,) = timeline_folder(table.uri).glob(f"{write.instant}_*")
    completed.rename(completed.with_name(f"{completed.name}.dd56275d-8776-49b8-a573-5836ead52825"))
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    assert [pending["requested"] for pending in pending_actions(engine, table.uri)] == [write.instant]


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("TL-049", "TL-048")
def test_files_come_after_the_inflight_file(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-049: no data file of a write is older than its inflight file, which is not older than its requested file."""
    uri = new_uri()
    _, instants = write_table(engine, uri, INSERT, UPDATE, type=type)
    for instant in instants:
        (inflight,) = timeline_folder(uri).glob(f"{instant}*.inflight")
        (requested,) = timeline_folder(uri).glob(f"{instant}*.requested")
        (completed,) = timeline_folder(uri).glob(f"{instant}_*")
        data = [path.stat().st_mtime_ns for path in table_folder(uri).rglob(f"*_{instant}*") if ".hoodie" not in path.parts]
        ages = [file.stat().st_mtime_ns for file in (requested, inflight)]
        assert data
        assert ages == sorted(ages)
        assert ages[1] <= min(data)
        assert max(data) <= completed.stat().st_mtime_ns


@pytest.mark.needs("read.snapshot", "read.projection", writer=WRITES)
@pytest.mark.requirements("TL-055")
def test_commits_of_other_writers_are_seen_at_once(writer: Client, reader: Client, new_uri: Callable[[], str]) -> None:
    """TL-055: a reader that has read the table sees each later commit of another writer in its next read."""
    uri = new_uri()
    write_table(writer, uri, INSERT)
    for number in range(2, 5):
        assert [r["value"] for r in read_snapshot(reader, uri) if r["id"] == "a"] == ["x" if number == 2 else f"{number - 1}"]
        writer.write(uri, "upsert", as_arrow([row("a", number, f"{number}")]))
    assert [r["value"] for r in read_snapshot(reader, uri) if r["id"] == "a"] == ["4"]


def create_table_in(storage: Storage, type: str, version: int) -> WritableTable:
    """Create an empty table in this storage."""
    clock, ids = ManualClock(1_790_000_000_000), SeededIds(0)
    spec = Program(type, "COMMIT_TIME_ORDERING", True).spec()  # type: ignore[arg-type]
    create_table("memory:///steps", name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, table_type=spec.type,
                 partition=spec.partition, version=version, storage=storage, clock=clock, ids=ids)  # fmt: skip
    return open_table("memory:///steps", storage=storage, clock=clock, ids=ids)


def reopen_table(storage: Storage) -> WritableTable:
    """Open the table with a clock and ids that start from the same state."""
    return open_table("memory:///steps", storage=storage, clock=ManualClock(1_800_000_000_000), ids=SeededIds(1))


@pytest.mark.needs("create", "write.insert", "write.upsert", "service.clean")
@BOTH_TYPES
@pytest.mark.requirements("TL-003", "TL-049", "TL-048", "TL-051")
@pytest.mark.versions(8, 9)
def test_timeline_files_are_created_atomically(engine: Client, type: str, drawn_version: int) -> None:
    """TL-048: wherever a writer or a clean crashes, every existing file of the timeline can be decoded, data files have their
    inflight file, and a completed file has all files of earlier states.
    """
    only_in_process(engine)
    storage = MemoryStorage()
    table = create_table_in(storage, type, drawn_version)
    for number in range(3):
        table.upsert(as_arrow([row("a", number, "x"), row("b", number, "x", "rio")]))

    def act(crashing: Storage) -> None:
        found = reopen_table(crashing)
        found.upsert(as_arrow([row("a", 9, "y")]))
        clean(found, keep_commits(1))

    states = list(crash_states(storage, act))
    assert len(states) > 5
    for state in states:
        names = state.storage.names(TIMELINE)
        for name in names:
            content = state.storage.get(f"{TIMELINE}/{name}")
            assert not content or len(list(fastavro.reader(io.BytesIO(content)))) == 1, f"{name}: {state}"
        for instant in {name[:17] for name in names}:
            of_it = [name for name in names if name.startswith(instant)]
            inflight = [name for name in of_it if name.endswith("inflight")]
            files = [info.path for info in state.storage.list() if f"_{instant}." in info.path]
            completed = [name for name in of_it if name.startswith(f"{instant}_")]
            assert inflight or not (completed or files), f"{of_it}: {state}"


class TakenInstants(MemoryStorage):
    """Storage in which another writer creates an instant file at the moment at which a writer asks for the same one."""

    taken: str | None = None
    is_raced = False

    def create(self, path: str, data: bytes) -> None:
        """Create an object after the other writer; raises ObjectExists."""
        if self.is_raced and self.taken is None and path.endswith(".requested"):
            self.taken = path.rpartition("/")[2]
            super().create(path, b"")
        super().create(path, data)


@pytest.mark.needs("create", "write.insert", "write.upsert")
@BOTH_TYPES
@pytest.mark.requirements("S3-002", "TL-034")
@pytest.mark.versions(8, 9)
def test_an_instant_of_another_writer_is_not_taken_over(engine: Client, type: str, drawn_version: int) -> None:
    """S3-002: a writer whose instant another process has created meanwhile fails or requests another one. TL-034: it stores
    nothing under the instant of the other.
    """
    only_in_process(engine)
    storage = TakenInstants()
    table = create_table_in(storage, type, drawn_version)
    table.upsert(as_arrow([row("a", 1, "x")]))
    storage.is_raced = True
    with suppress(HudiError):
        table.upsert(as_arrow([row("a", 2, "y")]))
    assert storage.taken is not None
    assert [name for name in storage.names(TIMELINE) if name.startswith(storage.taken[:17])] == [storage.taken]
    assert [info.path for info in storage.list() if f"_{storage.taken[:17]}" in info.path] == []
