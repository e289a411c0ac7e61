"""Writes and services on a table whose columns were renamed, dropped and added by statements.

Its schema history gives every column an id. A file that is written later has the columns under their present names, so it must
have the values of the columns with these ids, and the ids must stay as they are.
"""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.renamed_columns import (
    AFTER,
    BEFORE,
    CHANGES,
    GROWING,
    Row,
    create_altered_table,
    read_rows,
)
from hudi_conformance.suite.support.tables.tables_under_services import read_instant_file
from hudi_conformance.suite.support.tables.tables_with_logs import DUE
from hudi_conformance.suite.support.tables.written_tables import Type
from hudi_reference.schema.avro import META_COLUMNS

NewUri = Callable[[], str]
NEEDS = ("read.snapshot", "read.by-id", "read.projection", "merge.commit-time", "partition.none")
BY_ID = {"hoodie.schema.on.read.enable": "true"}
#: An update of a row under the first version; it lies in a log of a merge-on-read table.
UPDATE: list[Row] = [{"id": "1", "old": "a2", "gone": "x"}]
#: All rows with the names of the last version.
ROWS: list[Row] = [
    {"id": "1", "new": "a2", "old": None}, {"id": "2", "new": None, "old": None}, {"id": "3", "new": "b", "old": "c"},
]  # fmt: skip


def create_table_with_history(uri: str, table_type: Type, before_last: Callable[[], object] = lambda: None) -> None:
    """Create the table: an insert and an update under the first version, an insert under the second one."""
    changes = (CHANGES[0], (BEFORE, UPDATE), CHANGES[1])
    create_altered_table(uri, changes, table_type=table_type, before_last=before_last)


def stored_ids(uri: str, instant: str, action: str = "commit") -> dict[str, int]:
    """Return the id of each column in the version that a write of this time added to its metadata."""
    _, record = read_instant_file(uri, instant, action)
    version: dict[str, Any] = json.loads(record["extraMetadata"]["latest_schema"])
    return {field["name"]: field["id"] for field in version["fields"] if field["name"] not in META_COLUMNS}


@pytest.mark.needs(*NEEDS, "merge-on-read", "service.compaction")
@pytest.mark.requirements("LF-038")
def test_a_compaction_keeps_the_values_of_renamed_columns(engine: Client, new_uri: NewUri) -> None:
    """LF-038: base file and log have a column under its former name; the compacted file has their values under its present
    name.
    """
    uri = new_uri()
    create_table_with_history(uri, "MERGE_ON_READ")
    assert engine.service(uri, "compaction", options=DUE) is not None
    assert read_rows(engine, uri, by_id=True) == ROWS
    assert read_rows(engine, uri, by_id=False) == ROWS


@pytest.mark.needs(*NEEDS, "merge-on-read", "service.compaction")
@pytest.mark.requirements("LF-038", "CMP-001")
def test_a_planned_compaction_stores_the_names_of_its_time(engine: Client, new_uri: NewUri) -> None:
    """LF-038: a column is renamed between the plan of a compaction and its execution. The compacted file belongs to the time
    of the plan, so readers expect the former name in it.
    """
    uri, planned = new_uri(), []
    plan = lambda: planned.append(engine.service(uri, "compaction", phase="schedule", options=DUE))  # noqa: E731
    create_table_with_history(uri, "MERGE_ON_READ", plan)
    engine.service(uri, "compaction", phase="execute", instant=planned[0], options=DUE)
    assert read_rows(engine, uri, by_id=True) == ROWS


@pytest.mark.needs(*NEEDS, "copy-on-write", "service.clustering")
@pytest.mark.requirements("LF-038")
def test_a_clustering_keeps_the_values_of_renamed_columns(engine: Client, new_uri: NewUri) -> None:
    """LF-038: files that have a column under two names are joined, and the new file has the values of both under one name."""
    uri = new_uri()
    create_table_with_history(uri, "COPY_ON_WRITE")
    assert engine.service(uri, "clustering", options={}) is not None
    assert read_rows(engine, uri, by_id=True) == ROWS
    assert read_rows(engine, uri, by_id=False) == ROWS


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert")
@pytest.mark.requirements("LF-038")
def test_an_update_keeps_the_values_of_renamed_columns(engine: Client, new_uri: NewUri) -> None:
    """LF-038: a write updates one row of a file from before a column was renamed; the other rows keep their values."""
    uri = new_uri()
    create_table_with_history(uri, "COPY_ON_WRITE")
    changed = {"id": "2", "new": "z", "old": "y"}
    engine.write(uri, "upsert", pa.Table.from_pylist([changed]), options=BY_ID)
    assert read_rows(engine, uri, by_id=True) == [ROWS[0], changed, ROWS[2]]


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert")
@pytest.mark.requirements("LF-038")
def test_a_write_keeps_the_ids(engine: Client, new_uri: NewUri) -> None:
    """LF-038: the metadata of a write has the version of the history, from which the next statement takes the ids."""
    uri = new_uri()
    create_table_with_history(uri, "COPY_ON_WRITE")
    instant = engine.write(uri, "upsert", pa.Table.from_pylist([{"id": "4", "new": "d", "old": "e"}]), options=BY_ID)
    assert stored_ids(uri, instant) == AFTER


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert")
@pytest.mark.requirements("LF-038")
def test_a_column_that_a_write_adds_gets_an_id_of_its_own(engine: Client, new_uri: NewUri) -> None:
    """LF-038: a write with a new column adds a version in which it has an id that no column ever had; its values are read."""
    uri = new_uri()
    create_table_with_history(uri, "COPY_ON_WRITE")
    added = {"id": "4", "new": "d", "old": "e", "gone": "f"}
    instant = engine.write(uri, "upsert", pa.Table.from_pylist([added]), options={**GROWING, **BY_ID})
    ids = stored_ids(uri, instant)
    assert ids.items() >= AFTER.items() and ids["gone"] not in {*BEFORE.values(), *AFTER.values()}
    found = engine.read(uri, Query(columns=(*AFTER, "gone"), by_id=True)).to_pylist()
    assert sorted(found, key=lambda row: str(row["id"])) == [*({**row, "gone": None} for row in ROWS), added]
