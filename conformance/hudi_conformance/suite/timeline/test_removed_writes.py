"""What rollbacks and restores record, what they leave of pending plans and of earlier rollbacks, and who continues them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write, send_heartbeat
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import ClusteredTable
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    create_updated_table,
    data_file_names,
    deleted_files,
    file_names,
    instant_files,
    pending_actions,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.tables_with_logs import FIRST, ROWS, LoggedTable
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, data_files, table_folder
from hudi_reference import open_table
from hudi_reference.services.rollback.rollback import schedule_rollback

NewUri = Callable[[], str]
ROLLBACKS = pytest.mark.needs(*WRITES, "service.rollback", "inspect.table")
RESTORES = pytest.mark.needs(*WRITES, "service.savepoint", "service.restore", "inspect.table")
COMPACTS = pytest.mark.needs("write.delete", "merge-on-read", "merge.event-time", "service.compaction")


def all_data_files(uri: str) -> set[str]:
    """Return the names of all base, log and change files."""
    return data_file_names(uri) | {path.name for path in table_folder(uri).rglob(".*.cdc")}


@ROLLBACKS
@BOTH_TYPES
@pytest.mark.requirements("TL-020")
def test_plan_and_record_of_a_rollback_name_the_action(engine: Client, new_uri: NewUri, type: str) -> None:
    """TL-020: the plan of a rollback names time and action of the write, and the completed file both of them again, the files
    by partition, and their number.
    """
    table = create_updated_table(engine, new_uri(), 2, type)
    before, newest = data_files(table.uri), table.instants[-1]
    instant = engine.service(table.uri, "rollback", instant=newest)
    assert instant is not None
    target = {"commitTime": newest, "action": "commit" if type == "COPY_ON_WRITE" else "deltacommit"}
    _, plan = read_instant_file(table.uri, instant, "rollback.requested")
    assert plan["instantToRollback"] == target
    _, record = read_instant_file(table.uri, instant, "rollback")
    assert (record["commitsRollback"], record["instantsRollback"]) == ([newest], [target])
    gone = before - data_files(table.uri)
    by_partition = {
        partition: file_names(found["successDeleteFiles"])
        for partition, found in record["partitionMetadata"].items()
        if found["successDeleteFiles"]
    }
    assert by_partition == {"oslo": {path.rpartition("/")[2] for path in gone}}
    assert record["totalFilesDeleted"] == len(deleted_files(record)) == len(gone) > 0


@ROLLBACKS
@BOTH_TYPES
@pytest.mark.requirements("SVC-006", "TL-029", "TL-020")
@pytest.mark.parametrize("state", ["requested", "inflight"])
def test_a_writer_completes_the_rollback_of_another(engine: Client, new_uri: NewUri, type: str, state: str) -> None:
    """SVC-006: a process crashed when it had planned the rollback of a failed write, or had removed the write. The next
    writer that rolls back failed writes completes this rollback: nothing is pending, and no second rollback is made.
    """
    table = create_updated_table(engine, new_uri(), 2, type)
    failed = begin_write(table.uri)
    planned = schedule_rollback(open_table(table.uri), failed.instant)
    timeline = table_folder(table.uri) / ".hoodie" / "timeline"
    if state == "inflight":
        (timeline / f"{planned}.rollback.inflight").touch()
        for path in [*table_folder(table.uri).rglob(f"*_{failed.instant}*"), *timeline.glob(f"{failed.instant}.*")]:
            if path.is_file():
                path.unlink()
    options = {"hoodie.clean.failed.writes.policy": "EAGER"}
    engine.write(table.uri, "upsert", as_arrow([row("b", 50, "afterwards")]), options=options)
    assert pending_actions(engine, table.uri) == []
    assert {name[:17] for name in instant_files(table.uri, "rollback")} == {planned}
    assert failed.files.isdisjoint(data_file_names(table.uri))
    assert [r["value"] for r in read_snapshot(engine, table.uri)] == ["update 3", "afterwards", "x"]


@ROLLBACKS
@pytest.mark.needs("copy-on-write")
@pytest.mark.requirements("TL-019", "TL-047")
def test_a_planned_rollback_beside_an_earlier_writer(engine: Client, new_uri: NewUri) -> None:
    """TL-019: the rollback of the newest commit is planned while an earlier writer is pending, which then completes. It is
    based on nothing that the rollback removes: the plan is executed, and only the newest commit is removed.
    """
    table = create_updated_table(engine, new_uri(), 1)
    slow = begin_write(table.uri, (row("c", 90, "slow", "rio"),))
    send_heartbeat(table.uri, slow.instant)
    newest = engine.write(table.uri, "upsert", as_arrow([row("b", 50, "newest")]), options=SEVERAL_WRITERS)
    planned = schedule_rollback(open_table(table.uri), newest)
    slow.complete()
    assert engine.service(table.uri, "rollback", phase="execute", instant=planned) == planned
    assert [found["value"] for found in read_snapshot(engine, table.uri)] == ["update 2", "x", "slow"]


@ROLLBACKS
@pytest.mark.needs("copy-on-write", "read.cdc")
@pytest.mark.requirements("TL-019", "TL-020")
@pytest.mark.parametrize("is_completed", [False, True])
def test_a_rollback_removes_change_files(engine: Client, new_uri: NewUri, is_completed: bool) -> None:
    """TL-019: in a table with change capture, the change files of a write are removed with its base files, and named, whether
    the write had completed or not.
    """
    uri = new_uri()
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), properties=CAPTURED))
    engine.write(uri, "upsert", as_arrow(FIRST.rows))
    before, rows = all_data_files(uri), read_snapshot(engine, uri)
    changes = (row("a", 20, "changed"), row("c", 20, "changed", "rio"))
    target = engine.write(uri, "upsert", as_arrow(changes)) if is_completed else begin_write(uri, changes).instant
    written = all_data_files(uri) - before
    assert sorted(name.endswith(".cdc") for name in written) == [False, False, True, True]
    instant = engine.service(uri, "rollback", instant=target)
    assert instant is not None
    named, after = deleted_files(read_instant_file(uri, instant, "rollback")[1]), all_data_files(uri)
    assert [name.endswith(".cdc") for name in after - before] == [], "files of the write are left"
    assert [name.endswith(".cdc") for name in written ^ named] == [], "the files that were removed are not those that are named"
    assert before <= after
    assert read_snapshot(engine, uri) == rows


@RESTORES
@BOTH_TYPES
@pytest.mark.requirements("TL-024")
def test_plan_and_record_of_a_restore_name_the_actions(engine: Client, new_uri: NewUri, type: str) -> None:
    """TL-024: plan and completed file of a restore name time and action of each write, newest first, and the completed file
    holds for each of them the metadata of a rollback, with its files.
    """
    table = create_updated_table(engine, new_uri(), 3, type)
    target, removed = table.instants[1], table.instants[:1:-1]
    files = {time: {name for name in data_file_names(table.uri) if time in name} for time in removed}
    engine.service(table.uri, "savepoint", instant=target)
    instant = engine.service(table.uri, "restore", instant=target)
    assert instant is not None
    action = "commit" if type == "COPY_ON_WRITE" else "deltacommit"
    _, plan = read_instant_file(table.uri, instant, "restore.requested")
    assert plan["instantsToRollback"] == [{"commitTime": time, "action": action} for time in removed]
    _, record = read_instant_file(table.uri, instant, "restore")
    named = [{"commitTime": one["commitTime"], "action": one["action"]} for one in record["restoreInstantInfo"]]
    assert named == plan["instantsToRollback"]
    for time in removed:
        (found,) = record["hoodieRestoreMetadata"][time]
        assert (found["commitsRollback"], deleted_files(found)) == ([time], files[time])
    assert record["startRestoreTime"] == instant


@RESTORES
@COMPACTS
@pytest.mark.requirements("TL-023", "SVC-006")
def test_a_restore_removes_plans_that_are_later(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a compaction was planned after the savepoint: its plan names log files that the restore deletes. It is removed
    with them, and the next compaction merges what is left.
    """
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2])
    rows = table.model.snapshot()
    engine.service(table.uri, "savepoint", instant=table.times[-1])
    engine.write(table.uri, "upsert", as_arrow(ROWS[2].rows))
    planned = table.schedule()
    engine.service(table.uri, "restore", instant=table.times[-1])
    assert pending_actions(engine, table.uri) == []
    assert not [name for name in instant_files(table.uri) if name.startswith(planned)]
    assert sorted(r["value"] for r in read_snapshot(engine, table.uri)) == sorted(r["value"] for r in rows)
    table.compact()
    table.check_rows("compacted after the restore")


@RESTORES
@COMPACTS
@pytest.mark.needs("service.log-compaction")
@pytest.mark.requirements("TL-023", "SVC-006", "LCP-001")
def test_a_restore_removes_later_plans_of_log_compactions(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a log compaction was planned after the savepoint: its plan names log files that the restore deletes. It is
    removed with them, and the next log compaction merges what is left.
    """
    table = LoggedTable(engine, new_uri()).write(*ROWS[:3])
    engine.service(table.uri, "savepoint", instant=table.times[-1])
    engine.write(table.uri, "upsert", as_arrow([row("a", 90, "removed")]))
    planned = table.schedule("log-compaction")
    engine.service(table.uri, "restore", instant=table.times[-1])
    assert pending_actions(engine, table.uri) == []
    assert not [name for name in instant_files(table.uri) if name.startswith(planned)]
    table.check_rows("after the restore")
    assert table.run("log-compaction") is not None
    table.check_rows("joined after the restore")


@RESTORES
@COMPACTS
@pytest.mark.requirements("TL-023", "SVC-006")
def test_a_restore_keeps_plans_that_are_earlier(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a compaction was planned before the savepoint. It is not later than the savepoint, so the restore keeps the plan,
    and it is executed with the files that it names; the log of the savepointed write belongs to its slice.
    """
    table = LoggedTable(engine, new_uri()).write(*ROWS[:2])
    planned = table.schedule()
    table.write(Step("upsert", (row("a", 25, "savepointed"),)))
    engine.service(table.uri, "savepoint", instant=table.times[-1])
    engine.write(table.uri, "upsert", as_arrow([row("a", 90, "removed")]))
    engine.service(table.uri, "restore", instant=table.times[-1])
    assert [(found["requested"], found["action"]) for found in pending_actions(engine, table.uri)] == [(planned, "compaction")]
    table.check_rows("after the restore")
    assert table.run("compaction", phase="execute", instant=planned) == planned
    table.check_rows("after the compaction")


@RESTORES
@pytest.mark.needs("service.clustering", "copy-on-write", "merge.event-time")
@pytest.mark.requirements("TL-023", "SVC-006")
def test_a_restore_removes_later_plans_of_clusterings(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a clustering was planned after the savepoint. The restore removes its plan, so that its file groups can be
    written again.
    """
    table = ClusteredTable(engine, new_uri()).write(FIRST)
    engine.service(table.uri, "savepoint", instant=table.times[-1])
    engine.write(table.uri, "upsert", as_arrow([row("a", 90, "removed")]))
    planned = table.schedule()
    engine.service(table.uri, "restore", instant=table.times[-1])
    assert pending_actions(engine, table.uri) == []
    assert not [name for name in instant_files(table.uri) if name.startswith(planned)]
    table.check_rows("after the restore")
    table.write(Step("upsert", (row("a", 20, "afterwards"),))).check_rows("written again")


@RESTORES
@pytest.mark.needs("service.rollback", "copy-on-write")
@pytest.mark.requirements("TL-023")
def test_a_restore_removes_later_rollbacks(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a write after the savepoint was rolled back. After a restore nothing of what happened after the savepoint is on
    the timeline, neither writes nor their rollbacks.
    """
    table = create_updated_table(engine, new_uri(), 3)
    target = table.instants[1]
    engine.service(table.uri, "savepoint", instant=target)
    assert engine.service(table.uri, "rollback", instant=table.instants[-1]) is not None
    instant = engine.service(table.uri, "restore", instant=target)
    assert {name[:17] for name in instant_files(table.uri) if name[:17] > target} == {instant}
    assert read_snapshot(engine, table.uri) == table.rows[1]


@RESTORES
@pytest.mark.needs("service.rollback", "copy-on-write")
@pytest.mark.requirements("TL-023")
def test_a_restore_leaves_earlier_rollbacks(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a restore resets the timeline to its target: a rollback before the target stays, one after it is removed."""
    table = create_updated_table(engine, new_uri(), 2)
    earlier = engine.service(table.uri, "rollback", instant=table.instants[-1])
    target = engine.write(table.uri, "upsert", as_arrow([row("b", 50, "target")]))
    rows = read_snapshot(engine, table.uri)
    engine.service(table.uri, "savepoint", instant=target)
    removed = engine.write(table.uri, "upsert", as_arrow([row("b", 60, "removed")]))
    engine.service(table.uri, "rollback", instant=removed)
    engine.write(table.uri, "upsert", as_arrow([row("b", 70, "later")]))
    engine.service(table.uri, "restore", instant=target)
    assert {name.partition(".")[0].partition("_")[0] for name in instant_files(table.uri, "rollback")} == {earlier}
    assert read_snapshot(engine, table.uri) == rows


@RESTORES
@pytest.mark.needs("service.rollback", "copy-on-write")
@pytest.mark.requirements("TL-020", "TL-022", "TL-024")
def test_records_have_the_versions_of_deployed_releases(engine: Client, new_uri: NewUri) -> None:
    """TL-020: the records of rollbacks, savepoints and restores name the version of their form, by which readers choose how to
    read them: 1, and 2 for the plan of a restore, which names its target.
    """
    table = create_updated_table(engine, new_uri(), 3)
    rollback = engine.service(table.uri, "rollback", instant=table.instants[-1])
    engine.service(table.uri, "savepoint", instant=table.instants[1])
    files = [(rollback, "rollback.requested"), (rollback, "rollback"), (table.instants[1], "savepoint")]
    found = [read_instant_file(table.uri, str(time), ending)[1]["version"] for time, ending in files]
    restore = engine.service(table.uri, "restore", instant=table.instants[1])
    found += [read_instant_file(table.uri, str(restore), ending)[1]["version"] for ending in ("restore.requested", "restore")]
    assert found == [1, 1, 1, 2, 1]
