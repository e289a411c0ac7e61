"""What writes leave in storage and what queries make of it: rows, meta columns, names, metadata, on both table types."""

import datetime
import io
import json
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import (
    FLAGGED_SCHEMA,
    SCHEMA,
    TABLE_TYPES,
    bounded,
    completed_path,
    contents,
    data_files,
    data_rows,
    flagged,
    keys,
    names,
    new_table,
    reopened,
    rows_of,
    timeline_files,
    trip,
    trips,
)

from hudi_reference import WritableTable
from hudi_reference.errors import InvalidQuery
from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.content import decode_deletes, decode_rows, encode_rows
from hudi_reference.files.log.fast.decode_columns import decode_avro_columns
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.java_text import value_text
from hudi_reference.layout.java_properties import load
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_reference.schema.avro import META_COLUMNS, arrow_schema

COW, MOR = TABLE_TYPES
both_types = pytest.mark.parametrize("table_type", TABLE_TYPES)
EVENT: dict[str, Any] = {"ordering": ("ts",)}
COMMIT: dict[str, Any] = {}


@both_types
def test_event_time_keeps_the_greater_ordering_value(table_type: str) -> None:
    """MRG-028, MRG-029: late rows lose, equal and later ones win, whichever file they meet in."""
    table = new_table(table_type=table_type, **EVENT)
    table.insert(trips(trip("late", "old", 5), trip("tie", "old", 5), trip("new", "old", 5), trip("null", "old", None)))
    table.upsert(
        trips(trip("late", "z", 4), trip("tie", "z", 5), trip("new", "z", 6), trip("null", "z", 1), trip("first", "z", 0))
    )
    assert names(table) == {"late": "old", "tie": "z", "new": "z", "null": "z", "first": "z"}
    table.upsert(trips(trip("late", "y", 5), trip("tie", "y", 4), trip("new", "y", None)))
    assert names(table) == {"late": "y", "tie": "z", "new": "z", "null": "z", "first": "z"}


@both_types
def test_commit_time_keeps_the_newer_row(table_type: str) -> None:
    """MRG-025: ordering values, if there are any, are not looked at."""
    table = new_table(table_type=table_type, ordering=("ts",), merge_mode="COMMIT_TIME_ORDERING")
    table.insert(trips(trip("1", "old", 9), trip("2", "old", 9)))
    table.upsert(trips(trip("1", "new", 1)))
    assert names(table) == {"1": "new", "2": "old"}


@both_types
@pytest.mark.parametrize("options", [EVENT, COMMIT])
def test_a_delete_by_key_removes_whatever_the_ordering_value(table_type: str, options: dict[str, Any]) -> None:
    """ER-050, BLK-012: and what is written afterwards starts anew."""
    table = new_table(table_type=table_type, **options)
    table.insert(trips(trip("1", "a", 9), trip("2", "b", 9), trip("3", "c", -1)))
    table.delete(keys("1", "3", "unknown"))
    assert names(table) == {"2": "b"}
    table.upsert(trips(trip("1", "again", 1)))
    assert names(reopened(table)) == {"1": "again", "2": "b"}


@both_types
def test_flagged_rows_are_deletes_with_an_ordering_value(table_type: str) -> None:
    """BLK-013, MRG-028: a late one loses, others remove; of unknown keys nothing is left."""
    table = new_table(schema=FLAGGED_SCHEMA, table_type=table_type, **EVENT)
    table.insert(flagged(trip("late", "a", 5), trip("tie", "a", 5), trip("new", "a", 5), trip("kept", "a", 5)))
    gone = [trip(key, ts=ts, _hoodie_is_deleted=True) for key, ts in (("late", 4), ("tie", 5), ("new", 6), ("unknown", 9))]
    table.upsert(flagged(*gone, trip("kept", "b", 5, _hoodie_is_deleted=False)))
    assert names(table) == {"late": "a", "kept": "b"}


@pytest.mark.parametrize(("table_type", "left"), [(MOR, {}), (COW, {"1": "late"})])
def test_a_tombstone_defeats_later_rows_where_it_is_remembered(table_type: str, left: dict[str, str]) -> None:
    """ER-050: the log keeps a flagged delete's ordering value; a copy-on-write file just lacks the row."""
    table = new_table(schema=FLAGGED_SCHEMA, table_type=table_type, **EVENT)
    table.insert(flagged(trip("1", "a", 5)))
    table.upsert(flagged(trip("1", ts=9, _hoodie_is_deleted=True)))
    table.upsert(flagged(trip("1", "late", 8)))
    assert names(table) == left
    table.upsert(flagged(trip("1", "latest", 9)))
    assert names(table) == {"1": "latest"}


@both_types
def test_a_flagged_row_without_ordering_value_counts_as_zero(table_type: str) -> None:
    """ER-055: null is the number 0, on both table types: it loses against 5 and removes a row with -5 or none."""
    table = new_table(schema=FLAGGED_SCHEMA, table_type=table_type, **EVENT)
    table.insert(flagged(trip("1", "a", 5), trip("2", "b", -5), trip("3", "c", None)))
    table.upsert(flagged(*(trip(key, ts=None, _hoodie_is_deleted=True) for key in "123")))
    assert names(table) == {"1": "a"}


@both_types
@pytest.mark.parametrize("kind", ["int", "long", "double", "float"])
def test_zero_is_an_ordering_value_like_any_other(table_type: str, kind: str) -> None:
    """ER-052: a flagged delete with 0 loses against 5 and wins against -5 and 0, in an int column too."""
    schema = {
        **FLAGGED_SCHEMA,
        "fields": [{**f, "type": ["null", kind]} if f["name"] == "ts" else f for f in FLAGGED_SCHEMA["fields"]],
    }
    table = new_table(schema=schema, table_type=table_type, **EVENT)
    table.insert(rows_of(schema, trip("1", "a", 5), trip("2", "b", -5), trip("3", "c", 0)))
    table.upsert(rows_of(schema, *(trip(key, ts=0, _hoodie_is_deleted=True) for key in "123")))
    assert names(table) == {"1": "a"}


ORDERINGS: list[tuple[Any, Any, Any, Any]] = [
    ("string", "a", "b", "c"),
    ("boolean", False, False, True),
    ({"type": "int", "logicalType": "date"}, datetime.date(1969, 1, 1), datetime.date(1970, 1, 1), datetime.date(2026, 1, 1)),
    ({"type": "long", "logicalType": "timestamp-micros"}, *(datetime.datetime(2026, 1, d, tzinfo=datetime.UTC) for d in (1, 2, 3))),
    ({"type": "long", "logicalType": "timestamp-millis"}, *(datetime.datetime(2026, 1, d, tzinfo=datetime.UTC) for d in (1, 2, 3))),
    ({"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}, Decimal("-1.50"), Decimal("0.00"),
     Decimal("12345678901234.56")),
    ("bytes", b"", b"a", b"\xff"),
]  # fmt: skip


@both_types
@pytest.mark.parametrize(("kind", "low", "middle", "high"), ORDERINGS)
def test_ordering_columns_of_every_type(table_type: str, kind: Any, low: Any, middle: Any, high: Any) -> None:
    """MRG-019, BLK-009: rows and flagged deletes compare by the values of their column, whatever its type."""
    schema = {
        **FLAGGED_SCHEMA,
        "fields": [{**f, "type": ["null", kind]} if f["name"] == "ts" else f for f in FLAGGED_SCHEMA["fields"]],
    }
    table = new_table(schema=schema, table_type=table_type, **EVENT)
    table.insert(rows_of(schema, *(trip(key, "old", middle) for key in ("row", "late", "gone"))))
    table.upsert(rows_of(schema, trip("row", "new", high), trip("gone", ts=high, _hoodie_is_deleted=True)))
    assert names(table) == {"row": "new", "late": "old"}
    if low != middle:
        table.upsert(rows_of(schema, trip("row", "z", low), trip("late", ts=low, _hoodie_is_deleted=True)))
        assert names(table) == {"row": "new", "late": "old"}


@both_types
def test_several_and_nested_ordering_fields(table_type: str) -> None:
    """MRG-019: the first field that differs decides; `a.b` is a field of a struct."""
    nested = {"type": "record", "name": "clock", "fields": [{"name": "at", "type": "long"}]}
    fields = [*FLAGGED_SCHEMA["fields"], {"name": "seq", "type": ["null", "int"]}, {"name": "c", "type": ["null", nested]}]
    schema = {**FLAGGED_SCHEMA, "fields": fields}
    table = new_table(schema=schema, table_type=table_type, ordering=("ts", "seq"))
    table.insert(rows_of(schema, trip("1", "a", 1, seq=5), trip("2", "a", 1, seq=5), trip("3", "a", 1, seq=0)))
    table.upsert(rows_of(schema, trip("1", "b", 1, seq=4), trip("2", ts=1, seq=5, _hoodie_is_deleted=True),
                         trip("3", ts=1, seq=None, _hoodie_is_deleted=True)))  # fmt: skip
    assert names(table) == {"1": "a"}
    table = new_table(schema=schema, table_type=table_type, ordering=("c.at",))
    table.insert(rows_of(schema, trip("1", "a", c={"at": 5}), trip("2", "a", c={"at": 5})))
    table.upsert(rows_of(schema, trip("1", "b", c={"at": 4}), trip("2", c={"at": 5}, _hoodie_is_deleted=True)))
    assert names(table) == {"1": "a"}


@both_types
def test_one_row_of_a_batch_counts_for_each_key(table_type: str) -> None:
    """MRG-011, MRG-026: event time takes the greatest ordering value of a batch, commit time the last row; inserts keep all."""
    batch = trips(trip("1", "x", 2), trip("1", "y", 3), trip("1", "z", 1), trip("2", "x", 1), trip("2", "y", 1))
    table = new_table(table_type=table_type, **EVENT)
    table.upsert(batch)
    assert names(table) == {"1": "y", "2": "y"}
    table = new_table(table_type=table_type)
    table.upsert(batch)
    assert names(table) == {"1": "z", "2": "y"}
    table = new_table(table_type=table_type)
    table.insert(batch)
    assert table.snapshot().num_rows == 5


@both_types
def test_a_change_reaches_every_copy_of_a_key(table_type: str) -> None:
    """ER-058: inserts do not look keys up; an upsert or delete afterwards must not leave a stale copy behind."""
    table = new_table(table_type=table_type)
    table.insert(trips(trip("1", "a"), trip("2", "a")))
    table.insert(trips(trip("1", "b"), trip("1", "c")))
    assert table.snapshot().num_rows == 4
    table.upsert(trips(trip("1", "new")))
    assert set(
        table.snapshot(["id", "name"]).filter(pa.compute.equal(table.snapshot().column("id"), "1")).column("name").to_pylist()
    ) == {"new"}
    table.delete(keys("1"))
    assert names(table) == {"2": "a"}


@both_types
def test_a_key_in_another_partition_is_another_record(table_type: str) -> None:
    """PROP-008, LAY-021: record keys are unique in their partition; a delete meets one of them."""
    table = new_table(table_type=table_type, partition=("p",))
    table.upsert(trips(trip("1", "in x", p="x")))
    table.upsert(trips(trip("1", "in y", p="y")))
    assert data_rows(table.snapshot()) == [trip("1", "in x", p="x"), trip("1", "in y", p="y")]
    table.delete(keys("1", p=["x"]))
    assert data_rows(table.snapshot()) == [trip("1", "in y", p="y")]


@pytest.mark.parametrize("table_type", TABLE_TYPES)
@pytest.mark.parametrize("mode", [EVENT, COMMIT])
@pytest.mark.parametrize(
    ("options", "folders"),
    [
        ({}, ["", ""]),
        ({"partition": ("p",)}, ["a/b", "__HIVE_DEFAULT_PARTITION__"]),
        ({"partition": ("p",), "hive_style": True}, ["p=a/b", "p=__HIVE_DEFAULT_PARTITION__"]),
        ({"partition": ("p",), "url_encode": True}, ["a%2Fb", "__HIVE_DEFAULT_PARTITION__"]),
        (
            {"partition": ("p", "ts"), "hive_style": True, "url_encode": True},
            ["p=a%2Fb/ts=1", "p=__HIVE_DEFAULT_PARTITION__/ts=1"],
        ),
        ({"partition": ("p",), "record_key": ("id", "ts")}, ["a/b", "__HIVE_DEFAULT_PARTITION__"]),
    ],
)
def test_rows_lie_in_the_folders_of_their_partitions(
    table_type: str, mode: dict[str, Any], options: dict[str, Any], folders: list[str]
) -> None:
    """PROP-016, LAY-006, LAY-018: plain, hive style, encoded, several levels, null; each leaf is marked; changes find their rows."""
    table = new_table(table_type=table_type, **mode, **options)
    table.insert(trips(trip("1", "a", 1, "a/b"), trip("2", "b", 1, None)))
    assert sorted({path.rpartition("/")[0] for path in data_files(table)}) == sorted(set(folders))
    for folder in folders:
        text = load(table.storage.get(f"{folder}/.hoodie_partition_metadata".lstrip("/")))
        assert text == {
            "commitTime": table.timeline.completed[0].requested,
            "partitionDepth": str(len(folder.split("/")) if folder else 0),
        }
    found = {row["id"]: row["_hoodie_partition_path"] for row in table.snapshot().to_pylist()}
    assert found == {"1": folders[0], "2": folders[1]}
    table.upsert(trips(trip("1", "new", 1, "a/b"), trip("2", "new", 1, None)))
    assert data_rows(reopened(table).snapshot()) == [trip("1", "new", 1, "a/b"), trip("2", "new", 1, None)]


@pytest.mark.parametrize(
    ("values", "key"),
    [
        (("a", 1), "id:a,ts:1"),
        (("a,b:c", 2), "id:a,b:c,ts:2"),
        (("", 3), "id:__empty__,ts:3"),
        (("x", None), "id:x,ts:__null__"),
    ],
)
def test_composite_keys(values: tuple[str, int | None], key: str) -> None:
    """PROP-007: `field:value` joined by commas, marks for null and empty, nothing escaped."""
    table = new_table(record_key=("id", "ts"))
    table.upsert(trips(trip(values[0], "a", values[1])))
    table.upsert(trips(trip(values[0], "b", values[1])))
    assert table.snapshot(["_hoodie_record_key", "name"]).to_pylist() == [{"_hoodie_record_key": key, "name": "b"}]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "true"), (5, "5"), (0.1, "0.1"), (1e7, "1.0E7"), (12345678.9, "1.23456789E7"), (0.001, "0.001"),
        (0.00015, "1.5E-4"), (1e-5, "1.0E-5"), (123456789012345680.0, "1.2345678901234568E17"), (-2.5e300, "-2.5E300"),
        (100.0, "100.0"), (-0.0, "-0.0"), (float("nan"), "NaN"), (float("inf"), "Infinity"), (b"\x01\xff", "01ff"),
        (Decimal("1.50"), "1.50"), (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(1970, 1, 1, 0, 0, 1, 5, datetime.UTC), "1000005"), ("é", "é"),
    ],
)  # fmt: skip
def test_values_have_their_java_text(value: Any, text: str) -> None:
    """PROP-007, PROP-016: keys and partition paths are what Apache Hudi makes of the value."""
    assert value_text(value) == text


@bounded(300)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_is_that_number(value: float) -> None:
    """PROP-007: no two numbers have one key, and the form is Java's."""
    text = value_text(value)
    assert float(text) == value
    mantissa, _, exponent = text.partition("E")
    assert "." in mantissa
    assert "e" not in mantissa
    assert not exponent.startswith(("+", "0", "-0"))


@both_types
def test_meta_columns_tell_who_wrote_a_row(table_type: str) -> None:
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
def test_commit_metadata_tells_what_was_done(table_type: str) -> None:
    """TL-007, TL-009: counts, sizes, paths and previous files of what a write did; the operation and the table's schema."""
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
def test_a_table_goes_on_after_it_was_reopened(table_type: str) -> None:
    """LAY-001: everything that matters is in storage."""
    table = new_table(table_type=table_type, **EVENT)
    table.insert(trips(trip("1", "a", 1), trip("2", "a", 1)))
    again = reopened(table)
    again.upsert(trips(trip("1", "b", 2), trip("3", "b", 1)))
    last = reopened(again, seed=9)
    last.delete(keys("2"))
    last.upsert(trips(trip("1", "late", 1)))
    assert names(table) == names(again) == names(last) == {"1": "b", "3": "b"}


def test_new_keys_may_start_groups_of_logs_alone() -> None:
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


@both_types
def test_time_travel_shows_what_was_there(table_type: str) -> None:
    """TYP-008, law 7: as of each instant, the rows are those of the snapshot taken right after it; before the first is nothing to be read."""
    table = new_table(table_type=table_type, **EVENT)
    states: dict[str, list[dict[str, Any]]] = {}
    for write in (lambda: table.insert(trips(trip("1", "a", 1), trip("2", "a", 1))), lambda: table.upsert(trips(trip("1", "b", 2))),
                  lambda: table.delete(keys("2")), lambda: table.upsert(trips(trip("2", "c", 1), trip("1", "late", 1)))):  # fmt: skip
        instant = write()
        states[instant] = data_rows(table.snapshot())
    assert {instant: data_rows(table.as_of(instant)) for instant in states} == states
    assert data_rows(table.as_of("2027-01-01")) == list(states.values())[-1]
    first = min(states)
    assert (
        data_rows(table.as_of(f"{first[:4]}-{first[4:6]}-{first[6:8]} {first[8:10]}:{first[10:12]}:{first[12:14]}"))
        == states[first]
    )
    assert (
        data_rows(
            table.as_of(f"{first[:4]}-{first[4:6]}-{first[6:8]} {first[8:10]}:{first[10:12]}:{first[12:14]}.{first[14:]}")
        )
        == states[first]
    )
    for early in ("20250101000000000", "2026-01-01", first[:14]):  # compared as text: milliseconds of a second come later
        with pytest.raises(InvalidQuery, match=first):
            table.as_of(early)


def test_time_travel_to_before_the_first_instant_is_refused() -> None:
    """TYP-008: whichever way it is asked. Where nothing has completed no row is the answer."""
    table, early = new_table(), "20200101000000000"
    assert table.as_of(early).num_rows == 0
    first = table.insert(trips(trip("1", "a")))
    for ask in (table.as_of, table.file_groups, lambda time: list(table.batches(as_of=time))):
        with pytest.raises(InvalidQuery, match=first):
            ask(early)


def test_time_travel_past_a_pending_write_is_refused() -> None:
    """TYP-008: its completion would change the answer afterwards; before it there is no such doubt."""
    table = new_table()
    first = table.insert(trips(trip("1", "a")))
    table.storage.put(".hoodie/timeline/20260301000000000.commit.requested", b"")
    with pytest.raises(InvalidQuery) as raised:
        table.as_of("20260401000000000")
    assert raised.value.path == "20260301000000000.commit.requested"
    assert names(table) == {"1": "a"}
    assert table.as_of(first).num_rows == 1


@both_types
def test_columns_and_filters_do_not_change_the_merge(table_type: str) -> None:
    """MRG-015, TYP-007: key and ordering take part unseen; a filter comes after the merge and never brings an old version back."""
    table = new_table(table_type=table_type, **EVENT)
    table.insert(trips(trip("1", "old", 5), trip("2", "old", 5)))
    table.upsert(trips(trip("1", "new", 6), trip("2", "late", 4)))
    assert sorted(table.snapshot(["name"]).column("name").to_pylist()) == ["new", "old"]
    assert table.snapshot(["p", "id"], [("ts", "<=", 5)]).to_pylist() == [{"p": None, "id": "2"}]
    assert table.snapshot(["id"], [("name", "=", "old"), ("id", "=", "1")]).num_rows == 0
    assert table.snapshot(["name"], [("ts", ">", "5")]).to_pylist() == [{"name": "new"}]
    assert table.snapshot(["name"], [("p", "!=", "x")]).num_rows == 0
    assert table.snapshot(["_hoodie_record_key"], [("id", "!=", "1")]).to_pylist() == [{"_hoodie_record_key": "2"}]


@both_types
def test_no_columns_are_still_rows(table_type: str) -> None:
    """TYP-007: a projection to nothing keeps the number of rows."""
    table = new_table(table_type=table_type)
    table.insert(trips(trip("1"), trip("2")))
    table.upsert(trips(trip("2"), trip("3")))
    found = table.snapshot([])
    assert (found.num_columns, found.num_rows) == (0, 3)


def test_read_optimized_queries_see_base_files_alone() -> None:
    """TYP-016, TYP-017: changes in logs are not seen; on copy-on-write it is the snapshot."""
    for table_type, expected in ((COW, {"1": "b", "2": "b"}), (MOR, {"1": "a", "2": "b"})):
        table = new_table(table_type=table_type)
        table.insert(trips(trip("1", "a")))
        table.upsert(trips(trip("1", "b"), trip("2", "b")))
        assert {row["id"]: row["name"] for row in table.read_optimized().to_pylist()} == expected


TYPES: dict[str, tuple[Any, list[Any]]] = {
    "boolean": ("boolean", [True, False]),
    "int": ("int", [0, -(2**31), 2**31 - 1]),
    "long": ("long", [0, -(2**63), 2**63 - 1]),
    "float": ("float", [0.5, -0.0, float("inf"), 1.100000023841858]),
    "double": ("double", [0.1, -1e300, 5e-324]),
    "bytes": ("bytes", [b"", b"\x00\xff"]),
    "string": ("string", ["", "é日🚲", "a\0b", "x" * 1000]),
    "date": ({"type": "int", "logicalType": "date"}, [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    "time-micros": ({"type": "long", "logicalType": "time-micros"}, [datetime.time(23, 59, 59, 999999)]),
    "time-millis": ({"type": "int", "logicalType": "time-millis"}, [datetime.time(0, 0, 0, 1000)]),
    "timestamp-micros": ({"type": "long", "logicalType": "timestamp-micros"}, [
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, datetime.UTC), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)]),
    "timestamp-millis": ({"type": "long", "logicalType": "timestamp-millis"}, [datetime.datetime(2026, 1, 1, 0, 0, 0, 1000, datetime.UTC)]),
    "local-timestamp-micros": ({"type": "long", "logicalType": "local-timestamp-micros"}, [datetime.datetime(2026, 1, 1, 0, 0, 0, 1)]),
    "decimal": ({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 4}, [Decimal("-1.5000"), Decimal("9" * 30 + ".0001")]),
    "fixed-decimal": ({"type": "fixed", "name": "fd", "size": 8, "logicalType": "decimal", "precision": 10, "scale": 2}, [Decimal("-7.25")]),
    "fixed": ({"type": "fixed", "name": "f4", "size": 4}, [b"\x00\x01\x02\xff"]),
    "enum": ({"type": "enum", "name": "color", "symbols": ["RED", "BLUE"]}, ["RED", "BLUE"]),
    "uuid": ({"type": "string", "logicalType": "uuid"}, ["3fa85f64-5717-4562-b3fc-2c963f66afa6"]),
    "array": ({"type": "array", "items": ["null", "long"]}, [[], [1, None, 3]]),
    "map": ({"type": "map", "values": ["null", "string"]}, [[], [("k", "v"), ("n", None)]]),
    "record": ({"type": "record", "name": "inner", "fields": [{"name": "x", "type": ["null", "int"]}, {"name": "y", "type": "string"}]},
               [{"x": 1, "y": "z"}, {"x": None, "y": ""}]),
    "deep": ({"type": "array", "items": {"type": "record", "name": "item", "fields": [
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "int"}}}]}},
        [[], [{"tags": [("a", [1, 2])]}, {"tags": []}]]),
}  # fmt: skip


@both_types
@pytest.mark.parametrize("kind", TYPES)
def test_values_of_every_type_come_back(table_type: str, kind: str) -> None:
    """LF-020, BF-002: through base files and log blocks alike, nulls included, values as they were given."""
    avro, values = TYPES[kind]
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "v", "type": ["null", avro], "default": None}]}
    table = new_table(schema=schema, table_type=table_type)
    given_values = [*values, None]
    ids = [str(number) for number in range(len(given_values))]
    table.insert(rows_of(schema, *(trip(key, v=values[0]) for key in ids)))
    table.upsert(rows_of(schema, *(trip(key, v=value) for key, value in zip(ids, given_values, strict=True))))
    found = {row["id"]: row["v"] for row in table.snapshot(["id", "v"]).to_pylist()}
    assert [found[key] for key in ids] == given_values
    if table_type == MOR:
        assert len(data_files(table, ".log.")) == 1


LEAVES = [
    "boolean",
    "int",
    "long",
    "double",
    "bytes",
    "string",
    "date",
    "timestamp-micros",
    "decimal",
    "array",
    "record",
    "enum",
    "fixed",
]


@bounded(60)
@given(st.data(), st.lists(st.sampled_from(LEAVES), min_size=1, max_size=4, unique=True), st.integers(0, 30))
def test_columnar_decoding_is_decoding_row_by_row(data: st.DataObject, kinds: list[str], count: int) -> None:
    """BLK-022: the fast path gives the same rows and types, or leaves the block to the plain one."""
    fields = [{"name": f"c{place}", "type": TYPES[kind][0] if data.draw(st.booleans()) else ["null", TYPES[kind][0]]}
              for place, kind in enumerate(kinds)]  # fmt: skip
    schema = {"type": "record", "name": "r", "fields": fields}
    values = [
        st.sampled_from(TYPES[kind][1] + ([None] if isinstance(field["type"], list) else []))
        for kind, field in zip(kinds, fields, strict=True)
    ]
    drawn = [{f"c{place}": data.draw(value) for place, value in enumerate(values)} for _ in range(count)]
    content = encode_rows(pa.Table.from_pylist(drawn, schema=arrow_schema(schema)), schema)
    fast = decode_avro_columns(content[8:], schema, count)
    if fast is not None:
        assert fast.schema == arrow_schema(schema)
        assert fast.to_pylist() == drawn


@pytest.mark.parametrize("count", [999, 1000, 3000])
def test_blocks_of_many_rows_are_read_like_those_of_few(count: int) -> None:
    """BLK-020: nothing changes where the fast path takes over, nulls and all."""
    table = new_table(table_type=MOR)
    table.insert(trips(*(trip(str(n), "a", n) for n in range(count))))
    table.upsert(trips(*(trip(str(n), None if n % 3 else "b", -n) for n in range(count))))
    found = {row["id"]: (row["name"], row["ts"]) for row in table.snapshot(["id", "name", "ts"]).to_pylist()}
    assert found == {str(n): (None if n % 3 else "b", -n) for n in range(count)}
