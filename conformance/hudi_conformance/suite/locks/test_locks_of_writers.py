"""Lock providers as writers of any engine use them, seen from outside: another process holds the lock, and releases it."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hudi_conformance.contract import Write
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.tables_under_services import instant_files, keep_commits
from hudi_conformance.suite.support.tables.written_tables import completed_files, table_folder
from hudi_reference.layout.names import parse_data_file_name

WRITES = pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "copy-on-write", "partition.plain")
_PACKAGE = "org.apache.hudi.client.transaction.lock."
#: A writer beside others, which waits for the lock for less than a second.
SHARED = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.metadata.enable": "false",
    "hoodie.write.lock.client.num_retries": "2",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "100",
    "hoodie.write.lock.num_retries": "2",
    "hoodie.write.lock.wait_time_ms_between_retry": "100",
    "hoodie.write.lock.wait_time_ms": "300",
}
BY_FILE = {**SHARED, "hoodie.write.lock.provider": f"{_PACKAGE}FileSystemBasedLockProvider"}
IN_PROCESS = {**SHARED, "hoodie.write.lock.provider": f"{_PACKAGE}InProcessLockProvider"}


def data_files(uri: str) -> set[str]:
    """Return the names of the data files of a table."""
    return {path.name for path in table_folder(uri).rglob("*") if parse_data_file_name(path.name) is not None}


def written_table(engine: Client, uri: str, type: str = "COPY_ON_WRITE", mode: str = "EVENT_TIME_ORDERING") -> Path:
    """Return the folder of a table with one row."""
    engine.create(uri, Program(type, mode, True).spec())  # type: ignore[arg-type]
    engine.write(uri, "upsert", as_arrow([row("a", 1, "x")]))
    return table_folder(uri)


@WRITES
@pytest.mark.requirements("LOCK-001", "LOCK-002", "OCC-002", "OCC-025")
def test_a_writer_does_not_publish_while_another_process_holds_the_lock_file(
    engine: Client, new_uri: Callable[[], str]
) -> None:
    """LOCK-001: the lock file in .hoodie is that of another process: a write is an error, and nothing completes; without the
    file the next write completes, and leaves no lock file.
    """
    uri = new_uri()
    lock = written_table(engine, uri) / ".hoodie" / "lock"
    lock.write_bytes(b"")
    before = completed_files(uri)
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_arrow([row("a", 2, "y")]), options=BY_FILE)
    assert completed_files(uri) == before
    lock.unlink(missing_ok=True)
    engine.write(uri, "upsert", as_arrow([row("a", 3, "z")]), options=BY_FILE)
    assert not lock.exists()
    expect_rows(engine, uri, [row("a", 3, "z")], "after the other process has released the lock")


@WRITES
@pytest.mark.requirements("TT-007", "LOCK-001")
def test_no_time_is_generated_without_the_lock(engine: Client, new_uri: Callable[[], str]) -> None:
    """TT-007: a process generates its times while it holds the lock: while another holds it no action is requested."""
    uri = new_uri()
    lock = written_table(engine, uri) / ".hoodie" / "lock"
    lock.write_bytes(b"")
    before = instant_files(uri)
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_arrow([row("a", 2, "y")]), options=BY_FILE)
    assert instant_files(uri) == before


@WRITES
@pytest.mark.needs("pause.write", "merge.commit-time")
@BOTH_TYPES
@pytest.mark.requirements("OCC-007")
def test_files_are_stored_while_another_process_holds_the_lock(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """OCC-007: a write has been requested, then another process takes the lock: the write stores its files without waiting. It
    completes when the lock is free.
    """
    uri = new_uri()
    lock = written_table(engine, uri, type, "COMMIT_TIME_ORDERING") / ".hoodie" / "lock"
    before = data_files(uri)
    work = Write(uri, "upsert", as_arrow([row("a", 2, "y")]), BY_FILE)
    assert engine.begin("slow", work, "requested")
    lock.write_bytes(b"")
    assert engine.resume("slow", "stored")
    assert data_files(uri) - before, "no file was stored"
    lock.unlink()
    assert engine.resume("slow")
    expect_rows(engine, uri, [row("a", 2, "y")], "after the write has completed")


@WRITES
@pytest.mark.requirements("LOCK-001")
def test_a_writer_without_the_lock_leaves_that_of_another_process(engine: Client, new_uri: Callable[[], str]) -> None:
    """LOCK-001: a writer that did not get the lock leaves the lock file of its holder: a third one would enter."""
    uri = new_uri()
    lock = written_table(engine, uri) / ".hoodie" / "lock"
    lock.write_bytes(b"")
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_arrow([row("a", 2, "y")]), options=BY_FILE)
    assert lock.exists(), "the lock of another process was removed"


@WRITES
@pytest.mark.requirements("LOCK-003", "LOCK-007", "LOCK-008")
def test_writers_of_one_process_need_no_external_lock(engine: Client, new_uri: Callable[[], str]) -> None:
    """LOCK-008: with the provider for one process a writer ignores the lock files of others, and writes complete one after the
    other.
    """
    uri = new_uri()
    (written_table(engine, uri) / ".hoodie" / "lock").write_bytes(b"")
    for ts in (2, 3):
        engine.write(uri, "upsert", as_arrow([row("a", ts, f"value {ts}")]), options=IN_PROCESS)
    expect_rows(engine, uri, [row("a", 3, "value 3")], "after two writes")


@WRITES
@pytest.mark.needs("service.clean")
@pytest.mark.requirements("OCC-002", "SVC-002", "SVC-003", "LOCK-001")
def test_a_service_takes_the_lock_of_the_writers(engine: Client, new_uri: Callable[[], str]) -> None:
    """SVC-002: while the lock file is that of another process a clean neither publishes a plan nor completes; without the file
    it does.
    """
    uri = new_uri()
    lock = written_table(engine, uri) / ".hoodie" / "lock"
    for ts in (2, 3):
        engine.write(uri, "upsert", as_arrow([row("a", ts, f"value {ts}")]))
    lock.write_bytes(b"")
    before = instant_files(uri)
    with suppress(ContractError):
        engine.service(uri, "clean", options={**keep_commits(1), **BY_FILE})
    assert instant_files(uri) == before
    lock.unlink(missing_ok=True)
    assert engine.service(uri, "clean", options={**keep_commits(1), **BY_FILE}) is not None
    assert not lock.exists()
    expect_rows(engine, uri, [row("a", 3, "value 3")], "after the clean")
