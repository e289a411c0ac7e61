"""The rows after writes, on both table types: merging, deletes, ordering values, keys and partitions."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import (
    FLAGGED_SCHEMA,
    TABLE_TYPES,
    bounded,
    data_files,
    data_rows,
    flagged,
    keys,
    names,
    new_table,
    reopened,
    rows_of,
    trip,
    trips,
)

from hudi_reference.errors import Misuse
from hudi_reference.java_text import value_text
from hudi_reference.layout.java_properties import load
from hudi_reference.storage import MemoryStorage

COW, MOR = TABLE_TYPES
both_types = pytest.mark.parametrize("table_type", TABLE_TYPES)
EVENT: dict[str, Any] = {"ordering": ("ts",)}
COMMIT: dict[str, Any] = {}


@both_types
def test_event_time_keeps_the_greater_ordering_value(table_type: str) -> None:
    """MRG-028, MRG-029: a row with a lower ordering value loses, an equal or greater one wins, regardless of the files of the
    versions.
    """
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
    """MRG-025: ordering values, if there are any, are ignored."""
    table = new_table(table_type=table_type, ordering=("ts",), merge_mode="COMMIT_TIME_ORDERING")
    table.insert(trips(trip("1", "old", 9), trip("2", "old", 9)))
    table.upsert(trips(trip("1", "new", 1)))
    assert names(table) == {"1": "new", "2": "old"}


@both_types
@pytest.mark.parametrize("options", [EVENT, COMMIT])
def test_a_delete_by_key_ignores_the_ordering_value(table_type: str, options: dict[str, Any]) -> None:
    """ER-050, BLK-012: it removes the row, and later rows are new records."""
    table = new_table(table_type=table_type, **options)
    table.insert(trips(trip("1", "a", 9), trip("2", "b", 9), trip("3", "c", -1)))
    table.delete(keys("1", "3", "unknown"))
    assert names(table) == {"2": "b"}
    table.upsert(trips(trip("1", "again", 1)))
    assert names(reopened(table)) == {"1": "again", "2": "b"}


@both_types
def test_flagged_rows_are_deletes_with_an_ordering_value(table_type: str) -> None:
    """BLK-013, MRG-028: a late one loses, others remove the row; deletes of unknown keys store no row."""
    table = new_table(schema=FLAGGED_SCHEMA, table_type=table_type, **EVENT)
    table.insert(flagged(trip("late", "a", 5), trip("tie", "a", 5), trip("new", "a", 5), trip("kept", "a", 5)))
    gone = [trip(key, ts=ts, _hoodie_is_deleted=True) for key, ts in (("late", 4), ("tie", 5), ("new", 6), ("unknown", 9))]
    table.upsert(flagged(*gone, trip("kept", "b", 5, _hoodie_is_deleted=False)))
    assert names(table) == {"late": "a", "kept": "b"}


@pytest.mark.parametrize(("table_type", "left"), [(MOR, {}), (COW, {"1": "late"})])
def test_a_stored_tombstone_wins_over_late_rows(table_type: str, left: dict[str, str]) -> None:
    """ER-050: a log stores the ordering value of a flagged delete; a copy-on-write file only lacks the row."""
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
@pytest.mark.parametrize("version", [8, 9])
def test_keys_and_partitions_inside_of_structs(table_type: str, version: Any) -> None:
    """META-007, META-009: `a.b` is a field of a struct, as record key and as partition, for upserts, deletes and queries."""
    inner = {
        "type": "record",
        "name": "inner",
        "fields": [{"name": "key", "type": "string"}, {"name": "place", "type": "string"}],
    }
    schema = {**FLAGGED_SCHEMA, "fields": [*FLAGGED_SCHEMA["fields"], {"name": "in", "type": inner}]}
    table = new_table(schema=schema, table_type=table_type, record_key=("in.key",), partition=("in.place",), version=version,
                      ordering=("ts",))  # fmt: skip
    a, b = {"key": "a", "place": "x"}, {"key": "b", "place": "y"}
    table.insert(rows_of(schema, trip("1", "old", 2, **{"in": a}), trip("2", "old", 2, **{"in": b})))
    table.upsert(rows_of(schema, trip("3", "late", 1, **{"in": a}), trip("4", "new", 3, **{"in": b})))
    assert names(table) == {"1": "old", "4": "new"}
    found = table.snapshot(["_hoodie_record_key", "_hoodie_partition_path", "in"]).to_pylist()
    assert sorted(tuple(row.values()) for row in found) == [("a", "x", a), ("b", "y", b)]
    table.delete(pa.table({"in": pa.array([a], rows_of(schema).schema.field("in").type)}))
    assert names(table) == {"4": "new"}


def test_fields_inside_of_structs_must_exist() -> None:
    """PROP-007: a path to a field that the schema does not have is refused before anything is stored."""
    inner = {"type": "record", "name": "inner", "fields": [{"name": "key", "type": "string"}]}
    schema = {**FLAGGED_SCHEMA, "fields": [*FLAGGED_SCHEMA["fields"], {"name": "in", "type": inner}]}
    for named in ({"record_key": ("in.absent",)}, {"partition": ("name.key",)}, {"ordering": ("in.absent",)}):
        storage = MemoryStorage()
        with pytest.raises(Misuse, match="is not in the schema"):
            new_table(storage, schema=schema, **named)
        assert not list(storage.list())


@both_types
def test_a_batch_is_merged_to_one_row_for_each_key(table_type: str) -> None:
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
def test_a_change_reaches_one_copy_of_a_key_in_each_file(table_type: str) -> None:
    """ER-058, ER-216: inserts do not look keys up; an upsert or delete afterwards changes the first copy in each base file."""
    table = new_table(table_type=table_type)
    table.insert(trips(trip("1", "a"), trip("2", "a")))
    table.insert(trips(trip("1", "b"), trip("1", "c")))
    assert sorted(row["name"] for row in data_rows(table.snapshot())) == ["a", "a", "b", "c"]
    table.upsert(trips(trip("1", "new")))
    assert sorted(row["name"] for row in data_rows(table.snapshot())) == ["a", "c", "new", "new"]
    table.delete(keys("1"))
    assert sorted(row["id"] for row in data_rows(table.snapshot())) == ["1", "2"]


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
def test_rows_are_stored_in_the_folders_of_their_partitions(
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
    """PROP-007, PROP-016: keys and partition paths have the text that Apache Hudi makes of the value."""
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
