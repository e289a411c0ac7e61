"""Rollback, savepoint and restore: the files and metadata that they leave, their preconditions, and heartbeats."""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write, send_heartbeat
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    Known,
    create_updated_table,
    data_file_names,
    deleted_files,
    file_names,
    instant_files,
    keep_commits,
    keep_versions,
    pending_actions,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import data_files, table_folder
from hudi_reference import open_table
from hudi_reference.services.rollback.restore import schedule_restore
from hudi_reference.services.rollback.rollback import schedule_rollback

ROLLBACKS = pytest.mark.needs(*WRITES, "service.rollback", "inspect.table")
SAVEPOINTS = pytest.mark.needs(*WRITES, "service.savepoint")
RESTORES = pytest.mark.needs(*WRITES, "service.restore", "inspect.table")


@ROLLBACKS
@BOTH_TYPES
@pytest.mark.requirements("TL-019", "TL-020", "OCC-027")
def test_a_rollback_removes_files_of_a_crashed_writer(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-019: files, markers and instant of the failed write are deleted, the rollback is completed, and the rows are those
    before the write. No metadata names these files, since the writer crashed before it wrote any.
    """
    table = create_updated_table(engine, new_uri(), 2, type)
    before = data_files(table.uri)
    failed = begin_write(table.uri)
    assert len(failed.files) == 2
    instant = engine.service(table.uri, "rollback", instant=failed.instant)
    assert instant is not None
    assert data_files(table.uri) == before
    assert not [name for name in instant_files(table.uri) if name.startswith(failed.instant)]
    assert not (table_folder(table.uri) / ".hoodie" / ".temp" / failed.instant).exists()
    assert pending_actions(engine, table.uri) == []
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    name, plan = read_instant_file(table.uri, instant, "rollback.requested")
    assert (name, plan["instantToRollback"]["commitTime"]) == ("HoodieRollbackPlan", failed.instant)
    name, record = read_instant_file(table.uri, instant, "rollback")
    assert (name, record["commitsRollback"]) == ("HoodieRollbackMetadata", [failed.instant])
    assert record["startRollbackTime"] == instant


@ROLLBACKS
@BOTH_TYPES
@pytest.mark.requirements("TL-019", "TL-020")
def test_the_newest_commit_can_be_rolled_back(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-019: after the rollback of the newest commit, rows and files are those before it; plan and completed file name the
    commit and its files; the next write succeeds.
    """
    table = create_updated_table(engine, new_uri(), 2, type)
    before, newest = data_file_names(table.uri), table.instants[-1]
    instant = engine.service(table.uri, "rollback", instant=newest)
    assert instant is not None
    gone = before - data_file_names(table.uri)
    assert gone == {name for name in before if newest in name}
    assert read_snapshot(engine, table.uri) == table.rows[-2]
    _, plan = read_instant_file(table.uri, instant, "rollback.requested")
    planned = [file for request in plan["RollbackRequests"] for file in request["filesToBeDeleted"]]
    assert file_names(planned) == gone == deleted_files(read_instant_file(table.uri, instant, "rollback")[1])
    engine.write(table.uri, "upsert", as_arrow([row("b", 50, "afterwards")]))
    assert [r["value"] for r in read_snapshot(engine, table.uri)] == ["update 2", "afterwards", "x"]


@ROLLBACKS
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("TL-020", "TL-029", "SVC-005")
def test_a_crashed_rollback_is_finished(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-020: a rollback that crashed with some of the files deleted is continued: its plan is used, there is one rollback, and
    no file is left.
    """
    table = create_updated_table(engine, new_uri(), 2)
    before = data_files(table.uri)
    failed = begin_write(table.uri)
    planned = schedule_rollback(open_table(table.uri), failed.instant)
    next(table_folder(table.uri).rglob(min(failed.files))).unlink()
    engine.service(table.uri, "rollback", instant=failed.instant)
    assert data_files(table.uri) == before
    assert {name.partition(".")[0].partition("_")[0] for name in instant_files(table.uri, "rollback")} == {planned}
    assert pending_actions(engine, table.uri) == []
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@ROLLBACKS
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("TL-019")
def test_only_the_newest_commit_can_be_rolled_back(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-019: a commit with later commits stays, with all its files."""
    table = create_updated_table(engine, new_uri(), 3)
    before = data_files(table.uri)
    with pytest.raises(ContractError):
        engine.service(table.uri, "rollback", instant=table.instants[1])
    assert data_files(table.uri) == before
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@ROLLBACKS
@SAVEPOINTS
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("TL-021")
def test_a_savepointed_commit_cannot_be_rolled_back(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-021: while its savepoint exists, the commit and its files stay."""
    table = create_updated_table(engine, new_uri(), 2)
    engine.service(table.uri, "savepoint", instant=table.instants[-1])
    before = data_files(table.uri)
    with pytest.raises(ContractError):
        engine.service(table.uri, "rollback", instant=table.instants[-1])
    assert data_files(table.uri) == before
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@SAVEPOINTS
@BOTH_TYPES
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TL-021", "TL-022")
def test_a_savepoint_lists_its_protected_files(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-022: the completed file of a savepoint lists every file that a read as of it needs; its inflight file is empty, and it
    has no plan.
    """
    table = create_updated_table(engine, new_uri(), 2, type)
    protected = table.instants[1]
    assert engine.service(table.uri, "savepoint", instant=protected) == protected
    name, record = read_instant_file(table.uri, protected, "savepoint")
    listed = {
        (partition, file) for partition, files in record["partitionMetadata"].items() for file in files["savepointDataFile"]
    }
    needed = {
        path
        for path in data_files(table.uri)
        if protected in path or (table.instants[0] in path and (type == "MERGE_ON_READ" or path.startswith("rio")))
    }
    assert name == "HoodieSavepointMetadata"
    assert {f"{partition}/{file}" for partition, file in listed} >= needed
    states = {name for name in instant_files(table.uri, "savepoint") if not name.endswith(".savepoint")}
    assert states == {f"{protected}.savepoint.inflight"}
    assert (table_folder(table.uri) / ".hoodie" / "timeline" / f"{protected}.savepoint.inflight").read_bytes() == b""
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@SAVEPOINTS
@pytest.mark.needs("service.clean", "copy-on-write")
@pytest.mark.requirements("TL-021")
def test_no_savepoint_of_a_cleaned_commit(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-021: a commit older than the earliest one that the last clean retained gets no savepoint, because its files were
    deleted.
    """
    table = create_updated_table(engine, new_uri(), 4)
    engine.service(table.uri, "clean", options=keep_commits(1))
    with pytest.raises(ContractError):
        engine.service(table.uri, "savepoint", instant=table.instants[1])
    assert not [name for name in instant_files(table.uri) if name.endswith(".savepoint")]


@RESTORES
@SAVEPOINTS
@BOTH_TYPES
@pytest.mark.requirements("TL-023", "TL-024")
def test_a_restore_restores_the_savepoint(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-023: after a restore the rows are those of the savepoint, later files and instants are deleted from storage, and plan
    and completed file name the removed instants, newest first; no rollback is left, and the next write succeeds.
    """
    table = create_updated_table(engine, new_uri(), 4, type)
    target, later = table.instants[1], table.instants[:1:-1]
    kept = {name for name in data_file_names(table.uri) if not any(time in name for time in later)}
    engine.service(table.uri, "savepoint", instant=target)
    instant = engine.service(table.uri, "restore", instant=target)
    assert instant is not None
    assert read_snapshot(engine, table.uri) == table.rows[1]
    assert data_file_names(table.uri) == kept
    assert not [name for name in instant_files(table.uri) if any(name.startswith(time) for time in later)]
    assert not instant_files(table.uri, "rollback")
    assert pending_actions(engine, table.uri) == []
    name, plan = read_instant_file(table.uri, instant, "restore.requested")
    assert (name, plan["savepointToRestoreTimestamp"]) == ("HoodieRestorePlan", target)
    assert [rolled_back["commitTime"] for rolled_back in plan["instantsToRollback"]] == later
    name, record = read_instant_file(table.uri, instant, "restore")
    assert (name, record["instantsToRollback"]) == ("HoodieRestoreMetadata", later)
    assert set(record["hoodieRestoreMetadata"]) == set(later)
    engine.write(table.uri, "upsert", as_arrow([row("b", 50, "afterwards")]))
    assert [r["value"] for r in read_snapshot(engine, table.uri)] == ["update 2", "afterwards", "x"]


@RESTORES
@SAVEPOINTS
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("TL-021", "TL-023")
def test_a_restore_removes_no_savepointed_commit(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-021: a commit after the target has a savepoint, which protects its files until it is deleted. The restore is an error,
    and the table stays as it is; without that savepoint it succeeds.
    """
    table = create_updated_table(engine, new_uri(), 4)
    for place in (1, 2):
        engine.service(table.uri, "savepoint", instant=table.instants[place])
    before = data_files(table.uri)
    with pytest.raises(ContractError):
        engine.service(table.uri, "restore", instant=table.instants[1])
    assert not pending_actions(engine, table.uri), "a restore that fails has begun"
    assert data_files(table.uri) == before
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    engine.service(table.uri, "savepoint", instant=table.instants[2], options={"delete": "true"})
    engine.service(table.uri, "restore", instant=table.instants[1])
    assert read_snapshot(engine, table.uri) == table.rows[1]


@RESTORES
@SAVEPOINTS
@pytest.mark.needs("service.clean", "copy-on-write")
@pytest.mark.requirements("TL-023", "TL-021", "TL-041")
def test_a_restore_succeeds_after_a_clean(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-023: the clean has kept the files of a savepointed instant, so the table can be restored to it."""
    table = create_updated_table(engine, new_uri(), 5)
    engine.service(table.uri, "savepoint", instant=table.instants[2])
    engine.service(table.uri, "clean", options=keep_commits(1))
    engine.service(table.uri, "restore", instant=table.instants[2])
    assert read_snapshot(engine, table.uri) == table.rows[2]


@RESTORES
@SAVEPOINTS
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("TL-023", "TL-029", "SVC-005")
def test_a_crashed_restore_is_finished(engine: Client, new_uri: Callable[[], str]) -> None:
    """SVC-005: a restore crashed after it rolled back the newest write; another one continues with the plan: there is one
    restore, with the outcome of an undisturbed one.
    """
    table = create_updated_table(engine, new_uri(), 4)
    target, newest = table.instants[1], table.instants[-1]
    engine.service(table.uri, "savepoint", instant=target)
    planned = schedule_restore(open_table(table.uri), target)
    timeline = table_folder(table.uri) / ".hoodie" / "timeline"
    for path in [*timeline.glob(f"{newest}*"), *table_folder(table.uri).rglob(f"*_{newest}.parquet")]:
        path.unlink()
    engine.service(table.uri, "restore", instant=target)
    assert {name[:17] for name in instant_files(table.uri, "restore")} == {planned}
    assert read_snapshot(engine, table.uri) == table.rows[1]
    assert not [name for name in data_file_names(table.uri) if any(time in name for time in table.instants[2:])]
    assert pending_actions(engine, table.uri) == []


@RESTORES
@SAVEPOINTS
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("TL-023")
def test_a_restore_removes_writes_not_completed_at_the_savepoint(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-023: a write that was requested before the savepointed commit and completed after it is rolled back: its rows were not
    in the savepoint.
    """
    table = create_updated_table(engine, new_uri(), 1)
    slow = begin_write(table.uri, (row("c", 90, "slow", "rio"),))
    send_heartbeat(table.uri, slow.instant)
    target = engine.write(table.uri, "upsert", as_arrow([row("b", 50, "savepointed")]), options=SEVERAL_WRITERS)
    rows = read_snapshot(engine, table.uri)
    engine.service(table.uri, "savepoint", instant=target)
    slow.complete()
    assert read_snapshot(engine, table.uri) != rows
    engine.service(table.uri, "restore", instant=target)
    assert read_snapshot(engine, table.uri) == rows
    assert slow.files.isdisjoint(data_file_names(table.uri))


@pytest.mark.needs(*WRITES)
@BOTH_TYPES
@pytest.mark.requirements("TL-030")
def test_a_write_keeps_the_pending_write_of_another(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TL-030: while a write is pending another writer begins and completes: the files of the first stay, and it can
    complete.
    """
    table = create_updated_table(engine, new_uri(), 1, type)
    first = begin_write(table.uri, (row("c", 90, "first", "rio"),))
    send_heartbeat(table.uri, first.instant)
    engine.write(table.uri, "upsert", as_arrow([row("b", 50, "second")]), options=SEVERAL_WRITERS)
    assert first.files <= data_file_names(table.uri)
    first.complete()
    assert [r["value"] for r in read_snapshot(engine, table.uri)] == ["update 2", "second", "first"]


@ROLLBACKS
@pytest.mark.needs("copy-on-write", "service.clean")
@pytest.mark.requirements("TL-030")
def test_a_clean_keeps_the_pending_write_of_another(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-030: a clean does not delete files of a writer with a valid heartbeat."""
    table = create_updated_table(engine, new_uri(), 4)
    first = begin_write(table.uri, (row("c", 90, "first", "rio"),))
    send_heartbeat(table.uri, first.instant)
    engine.service(table.uri, "clean", options={**SEVERAL_WRITERS, **keep_commits(1)})
    assert first.files <= data_file_names(table.uri)
    first.complete()
    assert [r["value"] for r in read_snapshot(engine, table.uri)] == ["update 5", "x", "first"]


RELAYED = ("read.snapshot", "read.projection", "partition.plain", "copy-on-write", "write.upsert")


def create_updated_table_by(writer: Client, uri: str) -> Known:
    """Return a table by the writer, with four updates."""
    return create_updated_table(writer, uri, 4)


@pytest.mark.needs(*RELAYED, "service.clean", writer=(*WRITES, "service.clean"))
@pytest.mark.requirements("TL-047", "SVC-015", "SVC-013")
def test_a_clean_is_executed_by_another_process(writer: Client, reader: Client, new_uri: Callable[[], str]) -> None:
    """TL-047: one engine plans a clean, more rows are written, another engine executes the plan without options: the planned
    files are deleted.
    """
    table = create_updated_table_by(writer, new_uri())
    instant = writer.service(table.uri, "clean", phase="schedule", options=keep_commits(2))
    assert instant is not None
    planned = {path for path in data_files(table.uri) if any(time in path for time in table.instants[:2])}
    planned = {path for path in planned if path.startswith("oslo")}
    writer.write(table.uri, "upsert", as_arrow([row("b", 50, "afterwards")]))
    before, rows = data_files(table.uri), read_snapshot(writer, table.uri)
    assert reader.service(table.uri, "clean", phase="execute", instant=instant) == instant
    assert before - data_files(table.uri) == planned
    assert read_snapshot(reader, table.uri) == rows


@pytest.mark.needs(*RELAYED, "service.rollback", writer=(*WRITES, "service.rollback"))
@pytest.mark.requirements("TL-047", "TL-020")
def test_a_rollback_is_executed_by_another_process(writer: Client, reader: Client, new_uri: Callable[[], str]) -> None:
    """TL-047: the reference plans the rollback of a crashed writer, an engine executes it."""
    table = create_updated_table_by(writer, new_uri())
    before = data_files(table.uri)
    failed = begin_write(table.uri)
    planned = schedule_rollback(open_table(table.uri), failed.instant)
    assert reader.service(table.uri, "rollback", phase="execute", instant=planned) == planned
    assert data_files(table.uri) == before
    assert read_snapshot(reader, table.uri) == table.rows[-1]


@pytest.mark.needs(*RELAYED, "service.restore", writer=(*WRITES, "service.savepoint"))
@pytest.mark.requirements("TL-047", "TL-023", "TL-024")
def test_a_restore_is_executed_by_another_process(writer: Client, reader: Client, new_uri: Callable[[], str]) -> None:
    """TL-047: the reference plans a restore to a savepoint of the writer, an engine executes it."""
    table = create_updated_table_by(writer, new_uri())
    writer.service(table.uri, "savepoint", instant=table.instants[2])
    planned = schedule_restore(open_table(table.uri), table.instants[2])
    assert reader.service(table.uri, "restore", phase="execute", instant=planned) == planned
    assert read_snapshot(reader, table.uri) == table.rows[2]
    assert not [name for name in data_file_names(table.uri) if any(time in name for time in table.instants[3:])]


@pytest.mark.needs(
    *RELAYED, "read.as-of", "inspect.table", writer=(*WRITES, "service.clean", "service.savepoint", "service.restore")
)
@pytest.mark.requirements("TL-013", "TL-021", "TL-023")
def test_another_engine_reads_the_results_of_services(writer: Client, reader: Client, new_uri: Callable[[], str]) -> None:
    """TL-023: after savepoint, clean and restore by one engine another one sees the same rows, and the same completed
    actions.
    """
    table = create_updated_table_by(writer, new_uri())
    writer.service(table.uri, "savepoint", instant=table.instants[2])
    writer.service(table.uri, "clean", options=keep_commits(1))
    writer.service(table.uri, "restore", instant=table.instants[2])
    assert read_snapshot(reader, table.uri) == table.rows[2]
    completed = [(i["action"], i["completion"]) for i in reader.inspect(table.uri)["timeline"]["completed"]]
    named = {(name.rpartition(".")[2], name.partition("_")[2][:17]) for name in instant_files(table.uri) if "_" in name}
    assert set(completed) == named
    writer.write(table.uri, "upsert", as_arrow([row("b", 50, "afterwards")]))
    assert [r["value"] for r in read_snapshot(reader, table.uri)] == [r["value"] for r in read_snapshot(writer, table.uri)]


@pytest.mark.needs(
    *RELAYED, "service.clean", writer=(*WRITES, "service.clean", "service.savepoint", "service.rollback", "inspect.table")
)
@pytest.mark.requirements("TL-021", "TL-013", "TL-019", "SVC-007")
def test_services_of_two_engines_in_turn(writer: Client, reader: Client, new_uri: Callable[[], str]) -> None:
    """TL-021: after savepoint, rollback and clean by one engine, a clean by another deletes the files that are due, and keeps
    the files that the first engine protected.
    """
    table = create_updated_table_by(writer, new_uri())
    writer.service(table.uri, "savepoint", instant=table.instants[1])
    writer.service(table.uri, "rollback", instant=table.instants[-1])
    writer.service(table.uri, "clean", options=keep_commits(1))
    for number in range(2):
        newest = writer.write(table.uri, "upsert", as_arrow([row("b", 50 + number, "afterwards")]))
    rows = read_snapshot(reader, table.uri)
    assert reader.service(table.uri, "clean", options=keep_versions(1)) is not None
    kept = {path.rpartition("_")[2][:17] for path in data_files(table.uri) if path.startswith("oslo")}
    assert kept == {table.instants[1], newest}
    assert read_snapshot(reader, table.uri) == rows
