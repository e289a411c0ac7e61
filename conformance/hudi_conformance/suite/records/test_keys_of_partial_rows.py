"""Rows of which storage has partial updates only: their key and partition fields are in the record key and the folder."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_reference import create_table, open_table
from hudi_reference.files.log.block import HeaderKey, encode_block
from hudi_reference.files.log.content import block_schema, decode_rows, encode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.storage import LocalStorage

COLUMNS = {"id": "string", "city": "string", "ts": "long", "name": "string", "note": "string"}
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "row",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in COLUMNS.items()],
}
WITHOUT_INDEXES = {"hoodie.metadata.enable": "false"}


def store_updates_after_deletes(folder: Path, copy: Path, keys: Mapping[str, Sequence[str]], **columns: Sequence[Any]) -> Path:
    """Delete the rows of these keys, and store partial updates of them by a writer that does not see that; its log file."""
    shutil.copytree(folder, copy)
    open_table(folder.as_uri(), options=WITHOUT_INDEXES).delete(pa.table(keys))
    changed = pa.table({**keys, "ts": pa.array([2] * len(keys["id"]), pa.int64()), **columns})
    open_table(copy.as_uri(), options=WITHOUT_INDEXES).partial_update(changed)
    new = [path for path in copy.rglob("*") if path.is_file() and not (folder / path.relative_to(copy)).exists()]
    for path in new:
        shutil.copyfile(path, folder / path.relative_to(copy))
    (log,) = (path for path in new if ".log." in path.name and not path.name.endswith(".crc"))
    return folder / log.relative_to(copy)


def store_key_fields(log: Path) -> None:
    """Add the column of the record key to the rows in the only block of a log file."""
    (block,) = read_log_file(LocalStorage(log.parent), log.name)
    rows, schema = decode_rows(block), dict(block_schema(block))
    schema["fields"] = [*schema["fields"], SCHEMA["fields"][0]]
    content = encode_rows(rows.append_column("id", rows.column("_hoodie_record_key")), schema)
    header = {HeaderKey(key): text for key, text in block.header.items()} | {HeaderKey.SCHEMA: json.dumps(schema)}
    log.write_bytes(encode_block(block.kind, header, content))


def create_updated_table(engine: Client, tmp_path: Path) -> tuple[Path, Path]:
    """A table with the rows a and b; the row a was deleted and then updated. Its folder, and the log file of the update."""
    folder = tmp_path / "table"
    table = create_table(
        folder.as_uri(), name="partial", schema=SCHEMA, record_key=("id",), partition=("city",), table_type="MERGE_ON_READ",
        ordering=("ts",), version=engine.table_version, options=WITHOUT_INDEXES,
    )  # fmt: skip
    stored = {"id": ["a", "b"], "city": ["oslo"] * 2, "ts": pa.array([1, 1], pa.int64()), "name": ["old", "kept"]}
    table.upsert(pa.table({**stored, "note": ["x", "y"]}))
    return folder, store_updates_after_deletes(folder, tmp_path / "copy", {"id": ["a"], "city": ["oslo"]}, name=["new"])


def expect_keys_and_partitions(engine: Client, folder: Path) -> None:
    """Both rows have their key and their partition."""
    found = engine.read(folder.as_uri(), Query(columns=("id", "city", "name"))).to_pylist()
    assert sorted((row["id"], row["city"], row["name"]) for row in found) == [("a", "oslo", "new"), ("b", "oslo", "kept")]


@pytest.mark.each_version
@pytest.mark.requirements("META-007", "META-009", "LF-046")
@pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "merge.event-time", "merge.partial-updates", "log.avro")
@pytest.mark.needs("log.delete", "partition.plain")
def test_a_partial_update_of_a_record_that_was_deleted(engine: Client, tmp_path: Path) -> None:
    """META-007: a writer that does not see a delete, or inserts the record again, stores only the changed column of it. The row
    has its key and its partition: of the other columns some engines return the deleted values (ER-068).
    """
    expect_keys_and_partitions(engine, create_updated_table(engine, tmp_path)[0])


@pytest.mark.each_version
@pytest.mark.requirements("META-009", "LF-046")
@pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "merge.event-time", "merge.partial-updates", "log.avro")
@pytest.mark.needs("log.delete", "partition.plain")
@pytest.mark.leaves_damage("it adds a column to a log file")
def test_a_partial_update_with_the_key_of_a_record_that_was_deleted(engine: Client, tmp_path: Path) -> None:
    """META-009: a statement assigns the key and one column of a record, as MERGE INTO does, and not the partition. After a
    delete, the row has the partition of its folder.
    """
    folder, log = create_updated_table(engine, tmp_path)
    store_key_fields(log)
    expect_keys_and_partitions(engine, folder)


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
    store_updates_after_deletes(folder, copy, keys, name=keys["id"])
    rows = engine.read(folder.as_uri(), Query(columns=("name", "id", "note"))).to_pylist()
    found = {one["name"]: (one["id"], one["note"]) for one in rows}
    assert found["a"] == ("a", "1")
    for key in zip(keys["id"], keys["note"], strict=True):
        assert found[key[0]] in (key, (None, None))
