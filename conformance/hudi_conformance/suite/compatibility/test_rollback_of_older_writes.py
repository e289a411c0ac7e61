"""Rollback and restore of migrated tables to instants before the migration from version 6.

Log files of version 6 are shared: many writes append to files that carry the instant of a base file. A single write cannot be
rolled back by deleting files, so such a write is rolled back completely or not at all.
"""

import shutil
from collections.abc import Callable

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.suite.support.tables.older_tables import ROW, golden_table
from hudi_conformance.suite.support.tables.stored_blocks import log_files
from hudi_conformance.suite.support.tables.tables_under_services import Json, pending_actions, sort_rows
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import migrate, open_table

COLUMNS = ("id", "ts", "p", "name")
NEEDS = pytest.mark.needs("write.upsert", "read.snapshot", "read.projection", "inspect.table")
#: The newest write of each table rewrites base files, appends to logs, or appends to logs after a compaction.
TABLES = pytest.mark.parametrize("name", ["v6.cow", "v6.mor", "v6.mor.compacted"])


def read_rows(engine: Client, uri: str) -> list[Json]:
    """Return the rows of a snapshot."""
    return sort_rows(engine.read(uri, Query(columns=COLUMNS)))


def migrate_golden_table(name: str, uri: str) -> list[str]:
    """Place a golden table of version 6 and migrate it; return the requested times of its writes."""
    shutil.copytree(golden_table(name), table_folder(uri))
    migrate(uri)
    return [instant.requested for instant in open_table(uri).timeline.commits]


def expect_rolled_back(engine: Client, uri: str, service: str, instant: str, then: list[Json]) -> None:
    """The service restores these rows, or refuses and changes nothing; then nothing is pending, and the table accepts a
    write.
    """
    before = read_rows(engine, uri)
    try:
        engine.service(uri, service, instant=instant)  # type: ignore[arg-type]
    except (Refused, EngineError):
        then = before
    assert read_rows(engine, uri) == then
    assert pending_actions(engine, uri) == []
    engine.write(uri, "upsert", ROW)
    assert [row for row in read_rows(engine, uri) if row["id"] != "z"] == then


@NEEDS
@pytest.mark.needs("service.rollback")
@pytest.mark.requirements("TL-019", "COMPAT-006")
@TABLES
def test_a_write_of_version_6_is_rolled_back_or_kept(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """TL-019: the newest write before the migration is rolled back completely, or not at all."""
    uri = new_uri()
    *_, before, newest = migrate_golden_table(name, uri)
    then = sort_rows(open_table(uri).as_of(before).select(COLUMNS))
    expect_rolled_back(engine, uri, "rollback", newest, then)


@NEEDS
@pytest.mark.needs("service.restore")
@pytest.mark.requirements("TL-023", "COMPAT-006")
@TABLES
def test_a_restore_to_before_the_migration_succeeds_or_changes_nothing(
    engine: Client, new_uri: Callable[[], str], name: str
) -> None:
    """TL-023: the table is restored to its first write, or it stays unchanged: no unfinished restore blocks writers."""
    uri = new_uri()
    first, *_ = migrate_golden_table(name, uri)
    then = sort_rows(open_table(uri).as_of(first).select(COLUMNS))
    expect_rolled_back(engine, uri, "restore", first, then)


@NEEDS
@pytest.mark.needs("service.restore", "service.rollback")
@pytest.mark.requirements("TL-019", "TL-023", "COMPAT-006")
@TABLES
def test_writes_after_the_migration_are_rolled_back(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """COMPAT-006: writes of version 8 on a migrated table are rolled back, and the last write before the migration is
    restored.
    """
    uri = new_uri()
    newest = migrate_golden_table(name, uri)[-1]
    then = read_rows(engine, uri)
    engine.service(uri, "rollback", instant=engine.write(uri, "upsert", ROW))
    assert read_rows(engine, uri) == then
    for _ in range(2):
        engine.write(uri, "upsert", ROW)
    engine.service(uri, "restore", instant=newest)
    assert read_rows(engine, uri) == then


#: Few writes stay active, and no compaction has to wait for them.
LIMITS = {
    "hoodie.keep.max.commits": "4",
    "hoodie.keep.min.commits": "2",
    "hoodie.clean.commits.retained": "1",
    "hoodie.compact.inline.max.delta.commits": "2",
    "hoodie.archive.automatic": "false",
}


@NEEDS
@pytest.mark.needs("service.rollback", "service.restore", "service.archive")
@pytest.mark.requirements("TL-019", "ARC-004", "COMPAT-006")
@pytest.mark.parametrize("service", ["rollback", "restore"])
@TABLES
def test_rolled_back_writes_do_not_reappear_after_archiving(
    engine: Client, new_uri: Callable[[], str], name: str, service: str
) -> None:
    """COMPAT-006: after archiving, the active timeline begins later than a write that was rolled back. If blocks of that write
    remained in shared logs, they would then count as archived and committed. The rows stay correct, also where a restore has
    removed the compaction with which a migration may end.
    """
    uri = new_uri()
    first, *_, newest = migrate_golden_table(name, uri)
    try:
        engine.service(uri, service, instant=newest if service == "rollback" else first)  # type: ignore[arg-type]
    except (Refused, EngineError):
        assert pending_actions(engine, uri) == []
    then = read_rows(engine, uri)
    for _ in range(6):
        engine.write(uri, "upsert", ROW, options=LIMITS)
    assert engine.service(uri, "archive", options=LIMITS) is not None
    assert [row for row in read_rows(engine, uri) if row["id"] != "z"] == then


@pytest.mark.needs("read.snapshot", "read.projection", "service.compaction", "merge-on-read")
@pytest.mark.requirements("CMP-001", "SVC-005", "COMPAT-006")
@pytest.mark.parametrize("name", ["upgraded.mor.pending-compaction", "upgraded.mor.pending-compaction.by-hudi-1-2"])
def test_a_compaction_keeps_log_files_that_have_its_time(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """SVC-005: a compaction was pending when a table was upgraded from version 6, so that log files of completed writes have
    its time (ER-085). Its execution deletes none of them: they are no files of an earlier execution. The last update, a2, is
    in such a file.
    """
    uri = new_uri()
    shutil.copytree(golden_table(name), table_folder(uri))
    (pending,) = (one for one in open_table(uri).timeline.pending if one.action == "compaction")
    logs = log_files(uri)
    assert any(pending.requested in path.name for path in logs)
    engine.service(uri, "compaction", phase="execute", instant=pending.requested)
    assert set(logs) <= set(log_files(uri))
    assert {row["id"]: row["name"] for row in read_rows(engine, uri)} == {"a": "a2", "b": "b1", "new": "after the upgrade"}
