"""What writes store, on both table types: meta columns, file names, log blocks and commit metadata."""

import io
import json
from typing import Any

import fastavro
import pyarrow.parquet as pq
import pytest
from reference_samples import (
    FLAGGED_SCHEMA,
    SCHEMA,
    TABLE_TYPES,
    completed_path,
    contents,
    data_files,
    flagged,
    keys,
    names,
    new_table,
    reopened,
    timeline_files,
    trip,
    trips,
)

from hudi_reference import WritableTable
from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.content import decode_deletes, decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_reference.schema.avro import META_COLUMNS

COW, MOR = TABLE_TYPES
both_types = pytest.mark.parametrize("table_type", TABLE_TYPES)
EVENT: dict[str, Any] = {"ordering": ("ts",)}


@both_types
def test_meta_columns_name_the_write_of_a_row(table_type: str) -> None:
    """META-003 to META-011: requested time and a unique number of the write that last changed the row; untouched rows keep theirs."""
    table = new_table(table_type=table_type, partition=("p",), **EVENT)
    first = table.insert(trips(trip("1", "a", 5, "x"), trip("2", "b", 5, "x"), trip("3", "c", 5, "x"), trip("1", "d", 5, "y")))
    before = {(row["_hoodie_record_key"], row["p"]): row for row in table.snapshot().to_pylist()}
    second = table.upsert(trips(trip("1", "new", 6, "x"), trip("2", "late", 4, "x"), trip("9", "n", 1, "x")))
    rows = {(row["_hoodie_record_key"], row["p"]): row for row in table.snapshot().to_pylist()}
    assert table.snapshot().column_names[:5] == list(META_COLUMNS)
    assert {key: row["_hoodie_commit_time"] for key, row in rows.items()} == {
        ("1", "x"): second, ("2", "x"): first, ("3", "x"): first, ("1", "y"): first, ("9", "x"): second,
    }  # fmt: skip
    for key in (("2", "x"), ("3", "x"), ("1", "y")):
        assert rows[key]["_hoodie_commit_seqno"] == before[key]["_hoodie_commit_seqno"]
    numbers = [row["_hoodie_commit_seqno"] for row in rows.values()]
    assert len(set(numbers)) == len(numbers)
    assert all(row["_hoodie_commit_seqno"].startswith(row["_hoodie_commit_time"] + "_") for row in rows.values())
    assert all(row["_hoodie_partition_path"] == row["p"] for row in rows.values())
    file_ids = {str(parsed.file_id) for path in data_files(table) if (parsed := parse_data_file_name(path.rpartition("/")[2]))}
    for key, row in rows.items():
        if table_type == MOR and key == ("1", "x"):
            assert row["_hoodie_file_name"] in file_ids
        else:
            assert f"{key[1]}/{row['_hoodie_file_name']}" in data_files(table)


@both_types
def test_every_row_of_a_base_file_names_that_file(table_type: str) -> None:
    """META-010: also rows that were carried over from the slice before; footers hold the Avro schema and the range of keys."""
    table = new_table(table_type=table_type)
    table.insert(trips(trip("b", "a"), trip("a", "b")))
    table.upsert(trips(trip("a", "c"), trip("z", "c")))
    for path in data_files(table, ".parquet"):
        file = pq.ParquetFile(io.BytesIO(table.storage.get(path)))
        found = file.read()
        assert found.column_names == [*META_COLUMNS, "id", "name", "ts", "p"]
        assert set(found.column("_hoodie_file_name").to_pylist()) == {path}
        metadata = file.metadata.metadata
        keys_held = sorted(found.column("_hoodie_record_key").to_pylist())
        assert (metadata[b"hoodie_min_record_key"].decode(), metadata[b"hoodie_max_record_key"].decode()) == (
            keys_held[0],
            keys_held[-1],
        )
        schema = json.loads(metadata[b"parquet.avro.schema"])
        assert [field["name"] for field in schema["fields"]] == found.column_names
        assert schema["fields"][0] == {"name": "_hoodie_commit_time", "type": ["null", "string"], "doc": "", "default": None}


def test_names_of_files_follow_their_grammars() -> None:
    """BF-003, BF-009, LF-002 to LF-006: base files and log files of a write carry its requested time; logs their group's id."""
    table = new_table(table_type=MOR)
    first = table.insert(trips(trip("1", "a")))
    second = table.upsert(trips(trip("1", "b"), trip("2", "b")))
    parsed = sorted((parse_data_file_name(path) for path in data_files(table)), key=lambda name: (name.instant, str(name)))
    base, log, other = parsed[0], *sorted(parsed[1:], key=lambda name: isinstance(name, BaseFileName))
    assert isinstance(base, BaseFileName)
    assert isinstance(log, LogFileName)
    assert isinstance(other, BaseFileName)
    assert (base.instant, log.instant, other.instant) == (first, second, second)
    assert (log.file_id, log.version, log.cdc) == (base.file_id, 1, False)
    assert other.file_id != base.file_id
    assert len({base.file_id, other.file_id}) == 2
    assert timeline_files(table) == sorted(timeline_files(table))
    assert {name.split(".", 1)[1] for name in timeline_files(table)} == {
        "deltacommit",
        "deltacommit.inflight",
        "deltacommit.requested",
    }


def test_a_log_file_holds_rows_then_deletes() -> None:
    """BLK-011, LF-035, LF-038: one block with rows, one with deletes, each with the instant and the schema of stored rows."""
    table = new_table(schema=FLAGGED_SCHEMA, table_type=MOR, partition=("p",), **EVENT)
    table.insert(flagged(trip("1", "a", 1, "x"), trip("2", "b", 1, "x")))
    second = table.upsert(flagged(trip("1", "new", 2, "x"), trip("2", ts=3, p="x", _hoodie_is_deleted=True)))
    (path,) = data_files(table, ".log.")
    data, deletes = read_log_file(table.storage, path)
    assert (data.kind, deletes.kind) == (BlockType.AVRO_DATA, BlockType.DELETE)
    for block in (data, deletes):
        assert set(block.header) == {0, 2, 5, 8}
        assert block.instant == second
        assert [field["name"] for field in json.loads(block.header[2])["fields"]][:6] == [*META_COLUMNS, "id"]
    assert [(d.key, d.partition, d.ordering) for d in decode_deletes(deletes)] == [("2", "x", 3)]
    (row,) = decode_rows(data).to_pylist()
    assert (row["id"], row["_hoodie_record_key"], row["_hoodie_partition_path"], row["name"]) == ("1", "1", "x", "new")
    third = table.delete(keys("1", p=["x"]))
    (last,) = read_log_file(table.storage, data_files(table, f"_{third}.log.")[0])
    assert [(d.key, d.partition, d.ordering) for d in decode_deletes(last)] == [("1", "x", None)]


def metadata_of(table: WritableTable) -> dict[str, Any]:
    """The record of the last completed action, as the Avro library alone reads it."""
    (record,) = fastavro.reader(io.BytesIO(table.storage.get(completed_path(table))))
    return dict(record)


@both_types
def test_commit_metadata_describes_the_write(table_type: str) -> None:
    """TL-007, TL-009: counts, sizes, paths and previous files of a write; the operation and the table's schema."""
    table = new_table(table_type=table_type, partition=("p",))
    first = table.insert(trips(trip("1", "a", p="x"), trip("2", "b", p="x"), trip("3", "c", p="x")))
    record = metadata_of(table)
    (stat,) = record["partitionToWriteStats"]["x"]
    (base,) = data_files(table)
    assert (record["operationType"], stat["path"], stat["prevCommit"]) == ("INSERT", base, "null")
    assert (stat["numWrites"], stat["numInserts"], stat["numUpdateWrites"], stat["numDeletes"]) == (3, 3, 0, 0)
    assert stat["fileSizeInBytes"] == len(table.storage.get(base))
    assert json.loads(record["extraMetadata"]["schema"]) == SCHEMA
    second = table.upsert(trips(trip("1", "new", p="x")))
    (stat,) = metadata_of(table)["partitionToWriteStats"]["x"]
    assert stat["fileId"] == parse_data_file_name(base.rpartition("/")[2]).file_id
    if table_type == COW:
        assert (stat["prevCommit"], stat["prevBaseFile"]) == (first, base.rpartition("/")[2])
        assert (stat["numWrites"], stat["numInserts"], stat["numUpdateWrites"]) == (3, 0, 1)
    else:
        assert (stat["prevCommit"], stat["prevBaseFile"], stat["baseFile"]) == (second, None, "")
        assert stat["logFiles"] == [stat["path"].rpartition("/")[2]]
        assert (stat["numWrites"], stat["numUpdateWrites"]) == (1, 1)
    table.delete(keys("1", "2", p=["x", "x"]))
    record = metadata_of(table)
    (stat,) = record["partitionToWriteStats"]["x"]
    assert (record["operationType"], stat["numDeletes"]) == ("DELETE", 2)


@both_types
def test_writes_without_rows_are_writes(table_type: str) -> None:
    """TL-045: they complete with empty statistics and the schema, and change no row."""
    table = new_table(table_type=table_type)
    assert table.snapshot().num_rows == 0
    assert table.snapshot().column_names == [*META_COLUMNS, "id", "name", "ts", "p"]
    for write in (table.insert, table.upsert, table.bulk_insert):
        write(trips())
    table.delete(keys())
    table.delete(keys("unknown"))
    assert (len(table.timeline.completed), data_files(table)) == (5, [])
    assert metadata_of(table)["partitionToWriteStats"] == {}
    table.insert(trips(trip("1", "a")))
    table.upsert(trips())
    assert names(table) == {"1": "a"}


@both_types
def test_the_same_program_writes_the_same_bytes(table_type: str) -> None:
    """Regeneration: with the same clock and ids a table is byte-identical."""

    def program() -> dict[str, bytes]:
        table = new_table(table_type=table_type, partition=("p",), **EVENT)
        table.insert(trips(*(trip(str(n), "a", n, "xy"[n % 2]) for n in range(20))))
        table.upsert(trips(*(trip(str(n), "b", 10, "xy"[n % 2]) for n in range(0, 30, 3))))
        table.delete(keys("1", "2", p=["y", "x"]))
        return contents(table.storage)

    assert program() == program()


@both_types
def test_a_table_can_be_written_after_it_was_reopened(table_type: str) -> None:
    """LAY-001: the whole state of a table is in storage."""
    table = new_table(table_type=table_type, **EVENT)
    table.insert(trips(trip("1", "a", 1), trip("2", "a", 1)))
    again = reopened(table)
    again.upsert(trips(trip("1", "b", 2), trip("3", "b", 1)))
    last = reopened(again, seed=9)
    last.delete(keys("2"))
    last.upsert(trips(trip("1", "late", 1)))
    assert names(table) == names(again) == names(last) == {"1": "b", "3": "b"}


def test_new_keys_may_create_groups_without_a_base_file() -> None:
    """LAY-022: a group without base file: snapshots read it, read-optimized queries do not, later changes find its keys."""
    table = new_table(table_type=MOR, partition=("p",), **EVENT)
    table.upsert(trips(trip("1", "a", 1, "x"), trip("2", "a", 1, "x")), new_keys_in_logs=True)
    assert (len(data_files(table, ".log.")), data_files(table, ".parquet")) == (1, [])
    assert names(table) == {"1": "a", "2": "a"}
    assert table.read_optimized().num_rows == 0
    table.upsert(trips(trip("1", "b", 2, "x"), trip("3", "b", 1, "x")), new_keys_in_logs=True)
    table.delete(keys("2", p=["x"]))
    assert names(table) == {"1": "b", "3": "b"}
    assert len(list(table.file_groups())) == 2
    assert table.read_optimized().num_rows == 0
