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


@pytest.mark.each_version
@pytest.mark.requirements("META-007", "META-009", "LF-046")
@pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "merge.event-time", "merge.partial-updates", "log.avro")
@pytest.mark.needs("log.delete", "partition.plain")
def test_a_partial_update_of_a_record_that_was_deleted(engine: Client, tmp_path: Path) -> None:
    """META-007: a writer that does not see a delete, or inserts the record again, stores only the changed column of it. The row
    has its key and its partition: of the other columns some engines return the deleted values (ER-068).
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
    changed = pa.table({"id": ["a"], "city": ["oslo"], "ts": pa.array([2], pa.int64()), "name": ["new"]})
    open_table(copy.as_uri(), options=WITHOUT_INDEXES).partial_update(changed)
    for path in (path for path in copy.rglob("*") if path.is_file() and not (folder / path.relative_to(copy)).exists()):
        shutil.copyfile(path, folder / path.relative_to(copy))
    found = engine.read(folder.as_uri(), Query(columns=("id", "city", "name"))).to_pylist()
    assert sorted((row["id"], row["city"], row["name"]) for row in found) == [("a", "oslo", "new"), ("b", "oslo", "kept")]


@pytest.mark.each_version
@pytest.mark.requirements("META-007", "LF-046")
@pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "merge.event-time", "merge.partial-updates", "log.avro")
@pytest.mark.needs("log.delete", "partition.plain")
def test_a_partial_update_of_a_key_with_two_meanings(engine: Client, tmp_path: Path) -> None:
    """META-007: nothing is escaped in a key of two fields, so that a value with a comma and a colon leaves open which fields it
    has. After a delete, the fields of a partial row are those that its writer gave, or null, but no other values.
    """
    folder, copy = tmp_path / "table", tmp_path / "copy"
    table = create_table(
        folder.as_uri(), name="partial", schema=SCHEMA, record_key=("id", "note"), partition=("city",), ordering=("ts",),
        table_type="MERGE_ON_READ", version=engine.table_version, options=WITHOUT_INDEXES,
    )  # fmt: skip
    keys = {"id": ["a", "b,note:1", "c"], "note": ["1", "2", "1,note:2"], "city": ["oslo"] * 3}
    table.upsert(pa.table({**keys, "ts": pa.array([1] * 3, pa.int64()), "name": ["old"] * 3}))
    shutil.copytree(folder, copy)
    table.delete(pa.table(keys))
    changed = pa.table({**keys, "ts": pa.array([2] * 3, pa.int64()), "name": keys["id"]})
    open_table(copy.as_uri(), options=WITHOUT_INDEXES).partial_update(changed)
    for path in (path for path in copy.rglob("*") if path.is_file() and not (folder / path.relative_to(copy)).exists()):
        shutil.copyfile(path, folder / path.relative_to(copy))
    rows = engine.read(folder.as_uri(), Query(columns=("name", "id", "note"))).to_pylist()
    found = {one["name"]: (one["id"], one["note"]) for one in rows}
    assert found["a"] == ("a", "1")
    for key in zip(keys["id"], keys["note"], strict=True):
        assert found[key[0]] in (key, (None, None))
