"""Changes between version 8 and version 9 by the engine itself: what storage holds afterwards, and what it answers."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.model import Model
from hudi_conformance.suite.support.programs.write_programs import (
    BOTH_TYPES,
    Program,
    Row,
    Step,
    as_arrow,
    expect_rows,
    row,
)
from hudi_conformance.suite.support.tables.custom_mergers import stored_properties
from hudi_conformance.suite.support.tables.written_tables import Type, files_below, table_folder

pytestmark = [
    pytest.mark.versions(8, 9),
    pytest.mark.needs(
        "create", "create.table-version.9", "table-version.9", "write.upsert", "write.delete", "delete.flag", "partition.plain",
        "read.snapshot", "read.projection", "merge.event-time", "service.migrate",
    ),
]  # fmt: skip
NewUri = Callable[[], str]
STEPS = (
    Step("upsert", (row("a", 10, "first"), row("b", 10, "first"), row("c", 10, "first", "rio"))),
    Step("upsert", (row("a", 20, "second"), row("c", 5, "late", "rio"), row("d", 10, "new", "rio"))),
    Step("delete", (row("b", 0, "gone"),)),
)
#: Rows after the change of the version: late, new, and of a deleted key.
LATER = (row("a", 15, "late"), row("b", 1, "again"), row("e", 1, "new", "rio"), row("d", 30, "newer", "rio"))
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
DEFINITIONS = ".hoodie/.index_defs/index.json"


def migrate_to(engine: Client, uri: str, version: int) -> None:
    """Let the engine change the version of the table."""
    engine.service(uri, "migrate", options={"hoodie.write.table.version": str(version)})


def write_table_of(engine: Client, uri: str, spec: TableSpec, model: Model, options: dict[str, str] | None = None) -> None:
    """Create the table and take the steps."""
    engine.create(uri, spec)
    for step in STEPS:
        engine.write(uri, step.operation, as_arrow(step.rows), options=options)
        model.apply(step.operation, step.rows)


def versions_of(uri: str) -> set[str | None]:
    """Return the versions of the table and of its metadata table, if it has one."""
    folders = (table_folder(uri), table_folder(uri) / ".hoodie" / "metadata")
    found = (folder.as_uri() for folder in folders if (folder / ".hoodie" / "hoodie.properties").is_file())
    return {stored_properties(one).get("hoodie.table.version") for one in found}


@BOTH_TYPES
@pytest.mark.parametrize(("before", "after"), [(8, 9), (9, 8)])
@pytest.mark.requirements("COMPAT-008", "COMPAT-009", "COMPAT-010", "PROP-018", "PROP-020", "MRG-041")
def test_a_change_of_the_version_keeps_rows_and_files(
    engine: Client, new_uri: NewUri, type: Type, before: int, after: int
) -> None:
    """COMPAT-008: after an upgrade or downgrade the rows are those of the model, also after one more write, each earlier data
    file and instant is there unchanged, and the ordering field and the merge mode are stored as the version stores them.
    """
    program = Program(type, "EVENT_TIME_ORDERING", True, STEPS, before)
    uri, model = new_uri(), program.model()
    write_table_of(engine, uri, program.spec(), model)
    kept = {path: content for path, content in files_below(table_folder(uri)).items() if is_history(path)}
    migrate_to(engine, uri, after)
    expect_rows(engine, uri, model.snapshot(), f"version {after}, migrated from {before}")
    found = files_below(table_folder(uri))
    assert {path: found.get(path) for path in kept} == kept
    stored = stored_properties(uri)
    assert (stored["hoodie.table.version"], stored["hoodie.record.merge.mode"]) == (str(after), "EVENT_TIME_ORDERING")
    assert stored[f"hoodie.table.{'ordering.fields' if after == 9 else 'precombine.field'}"] == "ts"
    engine.write(uri, "upsert", as_arrow(LATER))
    model.apply("upsert", LATER)
    expect_rows(engine, uri, model.snapshot(), f"version {after}, migrated from {before} and written")
    assert versions_of(uri) == {str(after)}


def is_history(path: Path) -> bool:
    """Return whether the file is a completed instant or a data file, which no change of the version touches."""
    return "_" in path.name if path.parent.name == "timeline" and "metadata" not in path.parts else ".hoodie" not in path.parts


@BOTH_TYPES
@pytest.mark.needs("write.metadata-table")
@pytest.mark.requirements("MDT-018", "IDX-049", "IDX-044", "COMPAT-008", "COMPAT-009")
def test_the_metadata_table_is_upgraded_with_its_indexes(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-018: an upgrade makes the metadata table one of version 9.

    IDX-049: its column statistics stay V1, and a later write maintains them as such.
    """
    program = Program(type, "EVENT_TIME_ORDERING", True, STEPS, 8)
    uri, model = new_uri(), program.model()
    write_table_of(engine, uri, program.spec(), model, INDEXED)
    migrate_to(engine, uri, 9)
    assert versions_of(uri) == {"9"}
    for _ in range(2):
        definitions = json.loads((table_folder(uri) / DEFINITIONS).read_text())["indexDefinitions"]
        assert definitions.get("column_stats", {}).get("version") == "V1"
        where = (("value", "=", "first"),)
        rows = [one for one in model.snapshot() if one["value"] == "first"]
        found = engine.read(uri, Query(columns=("id", "value"), where=where)).to_pylist()
        assert sorted(one["id"] for one in found if one["value"] == "first") == sorted(one["id"] for one in rows)
        engine.write(uri, "upsert", as_arrow(LATER), options=INDEXED)
        model.apply("upsert", LATER)
    expect_rows(engine, uri, model.snapshot(), "upgraded with indexes, and written")


@BOTH_TYPES
@pytest.mark.needs("partition.several-levels")
@pytest.mark.requirements("COMPAT-009", "META-013", "MRG-005")
def test_a_refused_upgrade_changes_nothing(engine: Client, new_uri: NewUri, type: Type) -> None:
    """COMPAT-009: an upgrade of a table whose keys have another form at version 9 is refused, and leaves the table and its
    metadata table at version 8; or it is made, and then an upsert finds the earlier keys.
    """
    program = Program(type, "EVENT_TIME_ORDERING", True, STEPS, 8)
    uri, model = new_uri(), Model(record_key=("id",), partition=("city", "value"), ordering=("ts",), table_type=type)
    write_table_of(engine, uri, replace(program.spec(), partition=("city", "value")), model)
    try:
        migrate_to(engine, uri, 9)
    except ContractError:
        assert versions_of(uri) == {"8"}
    again: tuple[Row, ...] = (row("c", 11, "first", "rio"),)
    engine.write(uri, "upsert", as_arrow(again))
    model.apply("upsert", again)
    expect_rows(engine, uri, model.snapshot(), "after a refused or finished upgrade")
