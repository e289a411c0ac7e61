"""Replacing writes stay on the active timeline as long as files that they replaced exist: readers would read these again.

The replaced files are those that a clean has kept, because its policy retains a commit before the replacement or because a
savepoint protects them.
"""

from collections.abc import Callable
from contextlib import suppress

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError, EngineError, Refused
from hudi_conformance.suite.support.actions_by_hand import edit_plan
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import as_arrow, row
from hudi_conformance.suite.support.tables.archived_tables import NOT_BY_ITSELF, archive_limits, read_step
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    Json,
    Known,
    create_updated_table,
    keep_commits,
    read_as_of,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import base_files
from hudi_reference import open_table
from hudi_reference.services.rollback.rollback import schedule_rollback

ARCHIVES = pytest.mark.needs(
    *WRITES, "copy-on-write", "write.insert-overwrite", "service.clean", "service.archive", "timeline.history"
)


def overwrite_and_update(engine: Client, table: Known, updates: int) -> str:
    """Overwrite the partition rio, then update the other one this many times; return the time of the overwrite."""
    overwritten = engine.write(table.uri, "insert_overwrite", as_arrow([row("z", 1, "all", "rio")]), options=NOT_BY_ITSELF)
    for number in range(updates):
        engine.write(table.uri, "upsert", as_arrow([row("a", 50 + number, f"later {number}")]), options=NOT_BY_ITSELF)
    return overwritten


@ARCHIVES
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("ARC-003", "RDR-010")
def test_an_overwrite_within_the_retention_of_the_clean_stays(engine: Client, new_uri: Callable[[], str]) -> None:
    """RDR-010: a clean after the overwrite retains a commit before it, and so keeps the replaced file. The overwrite stays
    active, however low the limits are; the writes before it are archived.
    """
    table = create_updated_table(engine, new_uri(), 5)
    overwritten, rows = overwrite_and_update(engine, table, 2), read_snapshot(engine, table.uri)
    assert engine.service(table.uri, "clean", options=keep_commits(4)) is not None
    assert len([path for path in base_files(table.uri) if path.parent.name == "rio"]) == 2
    engine.service(table.uri, "archive", options=archive_limits(4, 2))
    step = read_step(table.uri)
    assert (overwritten, "replacecommit") in step.completed, "the overwrite was archived"
    assert (table.instants[0], "commit") in step.archived
    assert read_snapshot(engine, table.uri) == rows
    assert read_as_of(engine, table.uri, table.instants[-1]) == table.rows[-1]


@ARCHIVES
@pytest.mark.requirements("ARC-003", "RDR-010", "CLN-001")
def test_an_overwrite_that_the_clean_retains_first_stays(engine: Client, new_uri: Callable[[], str]) -> None:
    """RDR-010: the overwrite is the earliest commit that a clean retains, so that the replaced file is kept: it belongs to the
    state that the overwrite ended. The overwrite stays active, although the limits of archiving would let it go.
    """
    table = create_updated_table(engine, new_uri(), 2)
    overwritten = overwrite_and_update(engine, table, 2)
    assert engine.service(table.uri, "clean", options=keep_commits(3)) is not None
    assert len([path for path in base_files(table.uri) if path.parent.name == "rio"]) == 2
    for number in range(4):
        engine.write(table.uri, "upsert", as_arrow([row("a", 60 + number, f"last {number}")]), options=NOT_BY_ITSELF)
    rows = read_snapshot(engine, table.uri)
    engine.service(table.uri, "archive", options=archive_limits(3, 2, **{"hoodie.clean.commits.retained": "1"}))
    assert (overwritten, "replacecommit") in read_step(table.uri).completed, "the overwrite was archived"
    assert read_snapshot(engine, table.uri) == rows


@ARCHIVES
@pytest.mark.needs("service.savepoint")
@pytest.mark.requirements("ARC-003", "RDR-010", "TL-021")
def test_an_overwrite_of_savepointed_files_stays(engine: Client, new_uri: Callable[[], str]) -> None:
    """RDR-010: a savepoint protects the replaced file from a clean that retains later commits only. The overwrite stays active,
    also if archiving may go beyond savepoints.
    """
    table = create_updated_table(engine, new_uri(), 1)
    engine.service(table.uri, "savepoint", instant=table.instants[-1])
    overwritten = overwrite_and_update(engine, table, 6)
    rows = read_snapshot(engine, table.uri)
    assert engine.service(table.uri, "clean", options=keep_commits(1)) is not None
    assert len([path for path in base_files(table.uri) if path.parent.name == "rio"]) == 2
    engine.service(table.uri, "archive", options=archive_limits(4, 2, **{"hoodie.archive.beyond.savepoint": "true"}))
    step = read_step(table.uri)
    assert (overwritten, "replacecommit") in step.completed, "the overwrite was archived"
    assert (table.instants[0], "commit") in step.archived
    assert read_snapshot(engine, table.uri) == rows


@pytest.mark.needs(*WRITES, "copy-on-write", "service.archive", "service.savepoint", "service.restore", "timeline.history")
@pytest.mark.requirements("TL-023")
def test_a_restore_undoes_archived_writes_or_is_refused(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-023: archiving went beyond a savepoint, so that later writes are in the history. A restore to it has its rows,
    or is refused and changes nothing: rows of the archived writes are not left behind.
    """
    table = create_updated_table(engine, new_uri(), 5)
    engine.service(table.uri, "savepoint", instant=table.instants[1])
    engine.service(table.uri, "archive", options=archive_limits(3, 2, **{"hoodie.archive.beyond.savepoint": "true"}))
    archived = {requested for requested, _ in read_step(table.uri).archived}
    assert table.instants[2] in archived and table.instants[1] not in archived
    try:
        engine.service(table.uri, "restore", instant=table.instants[1])
    except (EngineError, Refused):
        assert read_snapshot(engine, table.uri) == table.rows[-1]
    else:
        assert read_snapshot(engine, table.uri) == table.rows[1]


@pytest.mark.needs(*WRITES, "copy-on-write", "service.archive", "service.rollback", "timeline.history")
@pytest.mark.requirements("TL-019", "ARC-002")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_rollback_of_an_archived_write_removes_nothing(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-019: the plan of a rollback names a write that was archived, and its file, which is read. The write had completed, and
    later writes are based on it: no row is lost.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = create_updated_table(engine, new_uri(), 5)
    engine.service(table.uri, "archive", options=archive_limits(3, 2))
    assert table.instants[0] in {requested for requested, _ in read_step(table.uri).archived}
    (file,) = (path for path in base_files(table.uri) if path.parent.name == "rio")
    assert table.instants[0] in file.name
    planned = schedule_rollback(open_table(table.uri), table.instants[-1])

    def name_archived(plan: Json) -> None:
        plan["instantToRollback"]["commitTime"] = table.instants[0]
        plan["RollbackRequests"][0].update(partitionPath="rio", filesToBeDeleted=[file.as_uri().replace("file://", "file:")])

    edit_plan(table.uri, f"{planned}.rollback.requested", name_archived)
    with suppress(ContractError):
        engine.service(table.uri, "rollback", phase="execute", instant=planned)
    assert read_snapshot(engine, table.uri) == table.rows[-1]
