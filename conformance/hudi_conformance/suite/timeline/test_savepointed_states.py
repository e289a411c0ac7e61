"""Which states a savepoint protects from cleans, and which states a restore can restore."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.actions_by_hand import add_milliseconds
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write, send_heartbeat
from hudi_conformance.suite.support.concurrent.slow_writers import InterruptedLock
from hudi_conformance.suite.support.programs.write_programs import as_arrow, row
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    create_updated_table,
    instant_files,
    keep_commits,
    keep_versions,
    pending_actions,
    read_as_of,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.tables_with_logs import DUE
from hudi_conformance.suite.support.tables.written_tables import completion_time, data_files, table_folder
from hudi_reference import clean, open_table, savepoint
from hudi_reference.errors import CannotProtect
from hudi_reference.locks import InProcessLock

NewUri = Callable[[], str]
SAVEPOINTS = pytest.mark.needs(*WRITES, "service.savepoint", "copy-on-write")
RESTORES = pytest.mark.needs(*WRITES, "service.savepoint", "service.restore", "copy-on-write")


@RESTORES
@pytest.mark.needs("service.clean")
@pytest.mark.parametrize("is_cleaned", [False, True])
@pytest.mark.requirements("TL-023", "TL-021")
def test_a_restore_keeps_writes_that_completed_before_its_target(engine: Client, new_uri: NewUri, is_cleaned: bool) -> None:
    """TL-023: a short write begins and completes while the write that is savepointed later is pending. It is not later than the
    savepoint: the restore keeps its rows, also after cleans, from which the savepoint protects its files.
    """
    table = create_updated_table(engine, new_uri(), 1)
    slow = begin_write(table.uri, (row("c", 90, "slow", "rio"),))
    send_heartbeat(table.uri, slow.instant)
    engine.write(table.uri, "upsert", as_arrow([row("b", 50, "short")]), options=SEVERAL_WRITERS)
    slow.complete()
    rows = read_snapshot(engine, table.uri)
    engine.service(table.uri, "savepoint", instant=slow.instant)
    for number in range(2):
        engine.write(table.uri, "upsert", as_arrow([row("b", 60 + number, "removed")]))
    if is_cleaned:
        engine.service(table.uri, "clean", options=keep_commits(1))
    engine.service(table.uri, "restore", instant=slow.instant)
    assert read_snapshot(engine, table.uri) == rows
    assert [found["value"] for found in rows] == ["update 2", "short", "slow"]


@RESTORES
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("TL-023", "CLN-003")
def test_a_restore_to_a_cleaned_state_is_refused(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a clean has deleted files of a commit without savepoint. A restore to it is refused and removes nothing: it could
    not bring the rows back. No plan of it stays that a later restore would continue.
    """
    table = create_updated_table(engine, new_uri(), 4)
    engine.service(table.uri, "clean", options=keep_commits(1))
    before = data_files(table.uri)
    with pytest.raises(ContractError):
        engine.service(table.uri, "restore", instant=table.instants[1])
    assert data_files(table.uri) == before
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    assert not [path.name for path in (table_folder(table.uri) / ".hoodie" / "timeline").glob("*.restore.*")]


@pytest.mark.needs(*WRITES, "service.savepoint", "service.clean", "service.compaction", "merge-on-read", "read.as-of")
@pytest.mark.requirements("TL-021")
def test_a_savepoint_keeps_a_slice_with_later_logs(engine: Client, new_uri: NewUri) -> None:
    """TL-021: a slice got more log files after the savepoint, and was compacted. A clean keeps the files that the savepoint
    protects, whatever it does with the later logs of the slice.
    """
    table = create_updated_table(engine, new_uri(), 2, "MERGE_ON_READ")
    protected, rows = table.instants[1], table.rows[1]
    engine.service(table.uri, "savepoint", instant=protected)
    assert engine.service(table.uri, "compaction", options=DUE) is not None
    engine.write(table.uri, "upsert", as_arrow([row("a", 60, "afterwards")]))
    engine.service(table.uri, "clean", options=keep_versions(1))
    assert read_as_of(engine, table.uri, protected) == rows
    assert [found["value"] for found in read_snapshot(engine, table.uri)] == ["afterwards", "x", "x"]


@SAVEPOINTS
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("TL-021")
def test_every_savepoint_keeps_its_files(engine: Client, new_uri: NewUri) -> None:
    """TL-021: of several savepoints each protects its files. A clean deletes the versions between them."""
    table = create_updated_table(engine, new_uri(), 5)
    for number in (0, 2):
        engine.service(table.uri, "savepoint", instant=table.instants[number])
    engine.service(table.uri, "clean", options=keep_versions(1))
    times = {path.rpartition("_")[2].partition(".")[0] for path in data_files(table.uri) if path.startswith("oslo")}
    assert times == {table.instants[0], table.instants[2], table.instants[-1]}


@SAVEPOINTS
@pytest.mark.requirements("TL-022")
def test_a_savepoint_names_the_time_at_which_it_was_made(engine: Client, new_uri: NewUri) -> None:
    """TL-022: the completed file of a savepoint has the time at which it was made, in milliseconds since 1970."""
    table = create_updated_table(engine, new_uri(), 1)
    before = time.time()
    engine.service(table.uri, "savepoint", instant=table.instants[0])
    _, record = read_instant_file(table.uri, table.instants[0], "savepoint")
    assert before - 60 < record["savepointedAt"] / 1000 < time.time() + 60


@SAVEPOINTS
@pytest.mark.requirements("TL-021", "TL-029")
def test_a_savepoint_that_crashed_is_finished(engine: Client, new_uri: NewUri) -> None:
    """TL-021: a process crashed when it had begun a savepoint. Another one makes a savepoint of the same commit: it is
    completed, and protects the commit.
    """
    table = create_updated_table(engine, new_uri(), 2)
    protected = table.instants[1]
    (table_folder(table.uri) / ".hoodie" / "timeline" / f"{protected}.savepoint.inflight").touch()
    engine.service(table.uri, "savepoint", instant=protected)
    _, record = read_instant_file(table.uri, protected, "savepoint")
    assert record["partitionMetadata"].keys() == {"oslo", "rio"}
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@SAVEPOINTS
@pytest.mark.needs("service.clean", "service.archive", "read.as-of")
@pytest.mark.requirements("TL-021", "CLN-003")
def test_no_savepoint_without_a_file_that_only_archived_writes_name(engine: Client, new_uri: NewUri) -> None:
    """TL-021: a clean has deleted a file of a commit, and the write that stored it is archived. A savepoint of the commit is
    refused: it could not bring the rows of that file back.
    """
    uri = new_uri()
    table = create_updated_table(engine, uri, 3)
    target, rows = table.instants[-1], table.rows[-1]
    engine.write(uri, "upsert", as_arrow([row("c", 50, "again", "rio")]))
    engine.write(uri, "upsert", as_arrow([row("b", 50, "again")]))
    engine.service(uri, "clean", options=keep_commits(1))
    engine.service(uri, "archive", options=archive_limits(4, 3))
    names = instant_files(uri)
    assert table.instants[0] not in {name[:17] for name in names} and target in {name[:17] for name in names}
    try:
        engine.service(uri, "savepoint", instant=target)
    except ContractError:
        assert instant_files(uri) == names
        return
    assert read_as_of(engine, uri, target) == rows


@RESTORES
@pytest.mark.needs("service.archive")
@pytest.mark.requirements("TL-023")
def test_a_restore_does_not_keep_an_archived_write_that_completed_later(engine: Client, new_uri: NewUri) -> None:
    """TL-023: a write began before the savepointed one, completed after it, and is archived. It is later than the savepoint:
    the restore removes its rows, or is refused and changes nothing.
    """
    uri = new_uri()
    create_updated_table(engine, uri, 1)
    slow = begin_write(uri, (row("c", 90, "slow", "rio"),))
    send_heartbeat(uri, slow.instant)
    protected = engine.write(uri, "upsert", as_arrow([row("b", 50, "protected")]), options=SEVERAL_WRITERS)
    rows = read_snapshot(engine, uri)
    slow.complete()
    engine.service(uri, "savepoint", instant=protected)
    for number in range(3):
        engine.write(uri, "upsert", as_arrow([row("a", 60 + number, f"later {number}")]))
    latest = read_snapshot(engine, uri)
    engine.service(uri, "archive", options=archive_limits(2, 1))
    assert slow.instant not in {name[:17] for name in instant_files(uri)}
    try:
        engine.service(uri, "restore", instant=protected)
    except ContractError:
        rows = latest
    assert read_snapshot(engine, uri) == rows


@SAVEPOINTS
@pytest.mark.needs("service.clean", "read.as-of")
@pytest.mark.requirements("TL-041", "CLN-003", "TYP-008")
def test_a_savepointed_state_lasts_until_the_next_write(engine: Client, new_uri: NewUri) -> None:
    """TL-041: a time between a savepointed write and the next one has the state of the savepoint: a read as of it returns these
    rows, also if the clean retained only later commits.
    """
    table = create_updated_table(engine, new_uri(), 1)
    time.sleep(0.1)
    for number in range(3):
        engine.write(table.uri, "upsert", as_arrow([row("a", 50 + number, "later")]))
    engine.service(table.uri, "savepoint", instant=table.instants[-1])
    engine.service(table.uri, "clean", options=keep_commits(1))
    between = add_milliseconds(completion_time(table.uri, table.instants[-1]), 20)
    assert read_as_of(engine, table.uri, between) == table.rows[-1]


@SAVEPOINTS
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("TL-021", "CLN-003")
def test_a_savepoint_that_is_overtaken_by_a_clean_leaves_nothing(engine: Client, new_uri: NewUri) -> None:
    """TL-021: a savepoint has begun, and before it has the lock of the table a clean deletes files of the commit. The savepoint
    is refused, and no savepoint of the commit is left, neither completed nor pending.
    """
    only_in_process(engine)
    table = create_updated_table(engine, new_uri(), 4)

    def delete() -> None:
        clean(open_table(table.uri), keep_commits(1))

    opened = replace(open_table(table.uri), lock=InterruptedLock(InProcessLock(timeout=0.5), "complete", delete))
    with pytest.raises(CannotProtect):
        savepoint(opened, table.instants[1])
    assert instant_files(table.uri, "savepoint") == set()
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@SAVEPOINTS
@pytest.mark.needs("service.clean", "read.as-of", "inspect.table")
@pytest.mark.requirements("TL-021", "SVC-004", "CLN-002")
def test_a_savepoint_of_a_commit_whose_clean_is_planned(engine: Client, new_uri: NewUri) -> None:
    """TL-021: a clean is planned that deletes files of a commit, which is savepointed then. The savepoint is refused and the
    clean deletes them, or it holds: then they stay. In both cases cleans go on, and none stays pending.
    """
    table = create_updated_table(engine, new_uri(), 4)
    planned = engine.service(table.uri, "clean", phase="schedule", options=keep_commits(1))
    assert planned is not None
    is_protected = True
    try:
        engine.service(table.uri, "savepoint", instant=table.instants[1])
    except ContractError:
        is_protected = False
    with suppress(ContractError):
        engine.service(table.uri, "clean", phase="execute", instant=planned)
    if is_protected:
        assert read_as_of(engine, table.uri, table.instants[1]) == table.rows[1]
    engine.write(table.uri, "upsert", as_arrow([row("a", 50, "next")]))
    engine.service(table.uri, "clean", options=keep_commits(1))
    assert pending_actions(engine, table.uri) == []
    assert [found["value"] for found in read_snapshot(engine, table.uri)] == ["next", "x", "x"]
