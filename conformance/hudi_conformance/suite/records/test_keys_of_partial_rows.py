"""Rows of which storage has partial updates only: their key and partition fields are in the record key and the folder."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_reference import create_table, open_table

COLUMNS = {"id": "string", "city": "string", "ts": "long", "name": "string", "note": "string"}
SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in COLUMNS.items()],
}
WITHOUT_INDEXES = {"hoodie.metadata.enable": "false"}


NEEDS = pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "merge.event-time", "merge.partial-updates",
                          "log.avro", "log.delete", "partition.plain")  # fmt: skip


def update_a_deleted_record(engine: Client, tmp_path: Path, *changes: tuple[int, str, str]) -> str:
    """Make a table in which record a is deleted, and then changed by partial updates whose writer does not see the delete; its
    location. `changes` are an ordering value, a column, and its value.
    """
    folder, copy = tmp_path / "table", tmp_path / "copy"
    table = create_table(
        folder.as_uri(), name="partial", schema=SCHEMA, record_key=("id",), partition=("city",), table_type="MERGE_ON_READ",
        ordering=("ts",), version=engine.table_version, options=WITHOUT_INDEXES,
    )  # fmt: skip
    stored = {"id": ["a", "b"], "city": ["oslo"] * 2, "ts": pa.array([1, 1], pa.int64()), "name": ["old", "kept"]}
    table.upsert(pa.table({**stored, "note": ["x", "y"]}))
    shutil.copytree(folder, copy)
    table.delete(pa.table({"id": ["a"], "city": ["oslo"]}))
    for ts, column, value in changes:
        changed = pa.table({"id": ["a"], "city": ["oslo"], "ts": pa.array([ts], pa.int64()), column: [value]})
        open_table(copy.as_uri(), options=WITHOUT_INDEXES).partial_update(changed)
    for path in (path for path in copy.rglob("*") if path.is_file() and not (folder / path.relative_to(copy)).exists()):
        shutil.copyfile(path, folder / path.relative_to(copy))
    return folder.as_uri()


@pytest.mark.each_version
@pytest.mark.requirements("META-007", "META-009", "LF-046")
@NEEDS
def test_a_partial_update_of_a_record_that_was_deleted(engine: Client, tmp_path: Path) -> None:
    """META-007: a writer that does not see a delete, or inserts the record again, stores only the changed column of it. The row
    has its key and its partition: of the other columns some engines return the deleted values (ER-068).
    """
    uri = update_a_deleted_record(engine, tmp_path, (2, "name", "new"))
    found = engine.read(uri, Query(columns=("id", "city", "name"))).to_pylist()
    assert sorted((row["id"], row["city"], row["name"]) for row in found) == [("a", "oslo", "new"), ("b", "oslo", "kept")]


@pytest.mark.each_version
@pytest.mark.requirements("LF-046", "MRG-028")
@NEEDS
def test_a_late_partial_update_of_a_record_that_was_deleted(engine: Client, tmp_path: Path) -> None:
    """LF-046: a partial update with a lower ordering value than the one before it changes nothing. It does not fill a column
    either that no block has since the delete: that column is null, or has the deleted value (ER-068).
    """
    uri = update_a_deleted_record(engine, tmp_path, (5, "name", "new"), (4, "note", "late"))
    found = {row["id"]: row for row in engine.read(uri, Query(columns=("id", "ts", "name", "note"))).to_pylist()}
    assert found["b"] == {"id": "b", "ts": 1, "name": "kept", "note": "y"}
    assert (found["a"]["ts"], found["a"]["name"]) == (5, "new")
    assert found["a"]["note"] in (None, "x")
