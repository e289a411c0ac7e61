"""Downgrades to version 6 that stopped before the table got that version. The metadata table is changed first."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.archived_tables import archive_limits
from hudi_conformance.suite.support.tables.metadata_tables import LISTED
from hudi_conformance.suite.support.tables.written_tables import (
    Type,
    completed_files,
    files_below,
    read_metadata,
    table_folder,
    write_table,
)

STEPS = (
    Step("upsert", (row("a", 1, "first"), row("b", 1, "first"), row("c", 1, "first", "rio"))),
    Step("insert_overwrite", (row("a", 2, "instead"),)),
    Step("upsert", (row("c", 3, "newer", "rio"),)),
)
ROWS = [row("a", 2, "instead"), row("c", 3, "newer", "rio")]


def move_action(uri: str, completed: Path) -> None:
    """Move the files of an action to the folder of version 6, under its names and in its form."""
    requested, action = completed.name.partition("_")[0], completed.suffix
    folder = table_folder(uri) / ".hoodie"
    data = completed.read_bytes()
    is_write = action in (".commit", ".deltacommit", ".replacecommit")
    (folder / f"{requested}{action}").write_bytes(json.dumps(read_metadata(uri, requested)[2]).encode() if is_write else data)
    completed.unlink()
    for pending in list(completed.parent.glob(f"{requested}.*")):
        pending.rename(folder / pending.name)


@pytest.mark.needs(
    "create", "write.upsert", "write.insert-overwrite", "read.snapshot", "read.projection", "copy-on-write", "partition.plain",
    "merge.event-time",
)  # fmt: skip
@pytest.mark.requirements("COMPAT-006", "COMPAT-009")
@pytest.mark.leaves_damage("it moves actions out of the timeline")
@pytest.mark.parametrize("moved", [1, 2, 3])
def test_a_table_whose_actions_were_moved_has_its_rows_or_is_refused(
    engine: Client, new_uri: Callable[[], str], moved: int
) -> None:
    """COMPAT-006: while a downgrade to version 6 has moved the first actions and the table still has its version, an answer has
    all rows, and none that was replaced. An error is right, too.
    """
    uri = new_uri()
    write_table(engine, uri, *STEPS)
    expect_rows(engine, uri, ROWS, "before actions were moved")
    for completed in completed_files(uri)[:moved]:
        move_action(uri, completed)
    with suppress(Refused, EngineError):
        expect_rows(engine, uri, ROWS, f"after {moved} actions were moved")


@pytest.mark.needs("read.snapshot", "read.projection", "copy-on-write", "partition.plain", "merge.event-time")
@pytest.mark.requirements("COMPAT-006", "COMPAT-009")
@pytest.mark.leaves_damage("it moves an action out of the timeline")
def test_rows_of_a_deleted_partition_do_not_come_back(engine: Client, new_uri: Callable[[], str]) -> None:
    """COMPAT-006: a downgrade to version 6 has moved the deletion of a partition, which has no data files, and the table still
    has its version. The write of the deleted rows is archived. An answer has none of them. An error is right, too.
    """
    uri, changes = new_uri(), [Step("upsert", (row("c", ts, "newer", "rio"),)) for ts in (2, 3, 4)]
    with connect("reference") as writer:
        steps = (STEPS[0], *changes[:2], Step("delete_partition", (row("any", 0, ""),)), changes[2])
        _, instants = write_table(writer, uri, *steps)
        assert writer.service(uri, "archive", options=archive_limits(4, 3)) is not None
    active = {path.name.partition("_")[0]: path for path in completed_files(uri)}
    assert instants[0] not in active and instants[3] in active, "the write is to be archived, and the deletion is not"
    expect_rows(engine, uri, [changes[2].rows[0]], "before the deletion was moved")
    move_action(uri, active[instants[3]])
    with suppress(Refused, EngineError):
        expect_rows(engine, uri, [changes[2].rows[0]], "after the deletion was moved")


def change_metadata_table(uri: str) -> None:
    """Change the metadata table of a table to version 6."""
    inside = f"{uri}/.hoodie/metadata"
    for completed in completed_files(inside):
        move_action(inside, completed)
    file = table_folder(inside) / ".hoodie" / "hoodie.properties"
    changed = {"hoodie.table.version": "6", "hoodie.timeline.layout.version": "1"}
    kept = [line for line in file.read_text().splitlines() if line.partition("=")[0] not in changed]
    file.write_text("\n".join([*kept, *(f"{key}={value}" for key, value in changed.items()), ""]))
    (file.parent / ".hoodie.properties.crc").unlink(missing_ok=True)


@BOTH_TYPES
@pytest.mark.needs(
    "create", "write.upsert", "write.insert-overwrite", "write.metadata-table", "read.snapshot", "read.projection",
    "partition.plain", "merge.event-time",
)  # fmt: skip
@pytest.mark.requirements("COMPAT-006", "COMPAT-009")
@pytest.mark.leaves_damage("it changes the metadata table to version 6")
def test_a_table_whose_metadata_table_was_changed_alone_is_read_and_not_written(
    engine: Client, new_uri: Callable[[], str], type: Type
) -> None:
    """COMPAT-009: a downgrade to version 6 that has changed the metadata table alone leaves all rows readable at the version of
    the table. COMPAT-006: a writer refuses the table and changes no file, or its row is read. A write that fails may leave a
    pending action, which changes no row.
    """
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())
    for step in STEPS:
        engine.write(uri, step.operation, as_arrow(step.rows), options=LISTED)
    change_metadata_table(uri)
    expect_rows(engine, uri, ROWS, "after the metadata table was changed")
    before, rows = files_below(table_folder(uri)), list(ROWS)
    try:
        engine.write(uri, "upsert", as_arrow([row("n", 1, "new")]), options=LISTED)
        rows.append(row("n", 1, "new"))
    except Refused:
        assert files_below(table_folder(uri)) == before
    except EngineError:
        pass
    expect_rows(engine, uri, rows, "after the write")
