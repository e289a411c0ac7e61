"""Changes by conditions in tables whose partition paths are formatted times or have several levels: records keep their partition."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import TABLE_TYPES, rows_of

from hudi_reference import WritableTable, open_table
from hudi_reference.errors import ConcurrentChange, Misuse, UnsupportedKeyGenerator
from hudi_reference.records.keys.record_keys import LOCAL_TIMES

pytest.importorskip("pyspark", reason="needs the extra spark")

import hudi_spark
from hudi_spark import dml

Make = Callable[..., WritableTable]

SCHEMA: dict[str, Any] = {
    "type": "record", "name": "timed",
    "fields": [
        {"name": "id", "type": "string"},
        *({"name": name, "type": ["null", kind], "default": None} for name, kind in {
            "name": "string", "ts": "long", "city": "string", "seconds": "long", "text": "string",
            "day": {"type": "int", "logicalType": "date"}, "millis": {"type": "long", "logicalType": "timestamp-millis"},
        }.items()),
    ],
}  # fmt: skip
_KEYGEN = "hoodie.keygen.timebased."
_TIMED = {"hoodie.table.keygenerator.type": "TIMESTAMP", f"{_KEYGEN}output.dateformat": "yyyy-MM"}
_CUSTOM = {"hoodie.table.keygenerator.type": "CUSTOM", "hoodie.table.partition.fields": "city:SIMPLE,seconds:TIMESTAMP"}
_FORMAT = {f"{_KEYGEN}timestamp.type": "UNIX_TIMESTAMP", f"{_KEYGEN}output.dateformat": "yyyy-MM"}

#: How a table is made, the settings of its writers, and the partition path of a city and a month.
TABLES: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "seconds": (
        {"partition": ("seconds",), "properties": {**_TIMED, f"{_KEYGEN}timestamp.type": "UNIX_TIMESTAMP"}}, {}, "{month}",
    ),
    "timestamps": (
        {"partition": ("millis",), "properties": {**_TIMED, f"{_KEYGEN}timestamp.type": "EPOCHMILLISECONDS"}}, {}, "{month}",
    ),
    "texts": (
        {"partition": ("text",), "hive_style": True, "properties": {
            **_TIMED, f"{_KEYGEN}timestamp.type": "DATE_STRING", f"{_KEYGEN}input.dateformat": "yyyy-MM-dd"}}, {},
        "text={month}",
    ),
    "custom": ({"partition": ("city", "seconds"), "properties": {**_CUSTOM, **_FORMAT}}, {}, "{city}/{month}"),
    "custom, format not stored": ({"partition": ("city", "seconds"), "properties": _CUSTOM}, _FORMAT, "{city}/{month}"),
    "two columns": ({"partition": ("city", "day")}, {}, "{city}/{month}-07"),
}  # fmt: skip


def row(key: str, name: str | None, month: int, city: str | None = "oslo", *, ts: int = 1, second: int = 0) -> dict[str, Any]:
    """A row of the seventh day of a month of 2026."""
    time = datetime(2026, month, 7, 23, 30, second, tzinfo=UTC)
    times = {"seconds": int(time.timestamp()), "text": time.date().isoformat(), "day": time.date(), "millis": time}
    return {"id": key, "name": name, "ts": ts, "city": city, **times}


def rows(*given: dict[str, Any]) -> pa.Table:
    """Rows as Arrow."""
    return rows_of(SCHEMA, *given)


def found(table: WritableTable) -> dict[str, tuple[str, str, int]]:
    """Name, partition path and second of each record, by the plain reference."""
    read = open_table(table.uri).snapshot().to_pylist()
    assert len({one["id"] for one in read}) == len(read)
    return {one["id"]: (one["name"], one["_hoodie_partition_path"], one["seconds"] % 60) for one in read}


def assert_sound(spark: Any, table: WritableTable) -> None:
    """A deep validation finds nothing."""
    assert hudi_spark.validate(spark, table.uri).collect() == []


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_changed_rows_stay_in_their_partition(spark: Any, make_table: Make, table_type: str, kind: str) -> None:
    """META-009: rows are found by key or condition, new ones get the path of the key generator, each record is there once."""
    made, settings, form = TABLES[kind]
    table = make_table(schema=SCHEMA, table_type=table_type, ordering=("ts",), options=settings, **made)
    table.upsert(rows(*(row(str(n), "old", n, "oslo" if n % 2 else "rome") for n in range(1, 7))))
    path = {n: form.format(month=f"2026-0{n}", city="oslo" if n % 2 else "rome") for n in range(1, 8)}
    expected = {str(n): ("old", path[n], 0) for n in range(1, 7)}
    assert found(table) == expected

    hudi_spark.update(spark, table.uri, {"name": "concat(name, id)", "ts": "ts + 1"}, "id in ('1', '2')", options=settings)
    hudi_spark.delete_where(spark, table.uri, "id = '3'", options=settings)
    del expected["3"]
    assert found(table) == {**expected, "1": ("old1", path[1], 0), "2": ("old2", path[2], 0)}

    source = spark.createDataFrame(rows(row("2", "merged", 2, "rome", ts=5), row("7", "new", 7, ts=5)))
    hudi_spark.merge_into(source, table.uri, options=settings)
    other_month = spark.createDataFrame(rows(row("4", "by key", 9, ts=5)))
    hudi_spark.merge_into(other_month, table.uri, on=["id"], when_not_matched=None, options=settings)
    hudi_spark.merge_into(
        spark.createDataFrame([("5",)], "id string"), table.uri, on=["id"], when_matched="delete", when_not_matched=None,
        options=settings,
    )  # fmt: skip
    del expected["5"]
    changed = {"1": ("old1", path[1], 0), "2": ("merged", path[2], 0), "7": ("new", path[7], 0), "4": ("by key", path[4], 0)}
    assert found(table) == {**expected, **changed}
    assert_sound(spark, table)


@pytest.mark.parametrize("table_type", TABLE_TYPES)
@pytest.mark.parametrize("kind", ["seconds", "timestamps", "custom"])
def test_other_times_of_one_partition_are_the_same_record(spark: Any, make_table: Make, table_type: str, kind: str) -> None:
    """A source row matches the record of its key in the partition of its time: it is no new row, and sets the time."""
    made, settings, _ = TABLES[kind]
    table = make_table(schema=SCHEMA, table_type=table_type, ordering=("ts",), options=settings, **made)
    table.upsert(rows(row("1", "old", 1), row("2", "old", 1)))
    path = found(table)["1"][1]
    source = spark.createDataFrame(rows(row("1", "late", 1, second=9, ts=2), row("3", "new", 1, second=9, ts=2)))
    hudi_spark.merge_into(source, table.uri, when_matched=None, options=settings)
    assert found(table) == {"1": ("old", path, 0), "2": ("old", path, 0), "3": ("new", path, 9)}
    hudi_spark.merge_into(source, table.uri, when_not_matched=None, options=settings)
    assert found(table) == {"1": ("late", path, 9), "2": ("old", path, 0), "3": ("new", path, 9)}
    assert_sound(spark, table)


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_records_keep_paths_that_settings_made(spark: Any, make_table: Make, table_type: str) -> None:
    """ER-231: a change needs no settings of the key generator, because the record says where it is; a new row needs them."""
    custom, format_of_times, _ = TABLES["custom, format not stored"]
    table = make_table(schema=SCHEMA, table_type=table_type, options=format_of_times, **custom)
    table.upsert(rows(row("1", "old", 1), row("2", "old", 2), row("3", "old", 3)))
    hudi_spark.update(spark, table.uri, {"name": "'new'"}, "id = '1'")
    hudi_spark.delete_where(spark, table.uri, "id = '2'")
    source = spark.createDataFrame(rows(row("3", "merged", 3), row("4", "new", 4)))
    hudi_spark.merge_into(source, table.uri, on=["id"], when_not_matched=None)
    assert found(table) == {"1": ("new", "oslo/2026-01", 0), "3": ("merged", "oslo/2026-03", 0)}
    for on in (None, ["id"]):
        with pytest.raises(UnsupportedKeyGenerator, match="timestamp"):
            hudi_spark.merge_into(source, table.uri, on=on)
    assert found(table) == {"1": ("new", "oslo/2026-01", 0), "3": ("merged", "oslo/2026-03", 0)}
    assert_sound(spark, table)


def test_records_keep_paths_of_local_times(spark: Any, make_table: Make) -> None:
    """ER-231: so does a path that another setting of the writer made of a timestamp."""
    table = make_table(schema=SCHEMA, partition=("millis",), options={LOCAL_TIMES: "true"})
    table.upsert(rows(row("1", "old", 1), row("2", "old", 2)))
    before = found(table)
    hudi_spark.update(spark, table.uri, {"name": "'new'"}, "id = '1'")
    assert found(table) == {**before, "1": ("new", *before["1"][1:])}
    with pytest.raises(UnsupportedKeyGenerator):
        hudi_spark.merge_into(spark.createDataFrame(rows(row("3", "new", 3))), table.uri, on=["id"])


GLOBAL = {"hoodie.index.type": "GLOBAL_SIMPLE"}
STAYS = {**GLOBAL, "hoodie.simple.index.update.partition.path": "false"}


@pytest.mark.parametrize("kind", ["seconds", "custom", "two columns"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_global_index_moves_records(spark: Any, make_table: Make, table_type: str, kind: str) -> None:
    """OCC-009: new partition columns move the record, by key, as in an upsert. Without such an index they are refused by name."""
    made, _, form = TABLES[kind]
    table = make_table(schema=SCHEMA, table_type=table_type, ordering=("ts",), **made)
    table.upsert(rows(row("1", "old", 1), row("2", "old", 2), row("3", "old", 3)))
    path = {n: form.format(month=f"2026-0{n}", city="oslo") for n in range(1, 10)}
    later = {name: repr(row("", "", 5)[name]) for name in ("seconds",)} | {"day": "date'2026-05-07'"}
    values = {
        "name": "'moved'",
        "ts": "ts + 1",
        **{name: later[name] for name in table.properties.partition_fields if name != "city"},
    }
    for options in ({}, STAYS):
        with pytest.raises(Misuse, match="partition columns") as error:
            hudi_spark.update(spark, table.uri, values, "id = '1'", options=options)
        assert error.value.found in values
    hudi_spark.update(spark, table.uri, values, "id = '1'", options=GLOBAL)
    source = spark.createDataFrame(rows(row("2", "moved", 9, ts=5, second=3), row("4", "new", 4)))
    hudi_spark.merge_into(source, table.uri, on=["id"], options=GLOBAL)
    hudi_spark.delete_where(spark, table.uri, "id = '3'", options=GLOBAL)
    records = {key: one[:2] for key, one in found(table).items()}
    assert records == {"1": ("moved", path[5]), "2": ("moved", path[9]), "4": ("new", path[4])}
    assert_sound(spark, table)


@pytest.mark.parametrize("options", [GLOBAL, STAYS, {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}])
def test_other_indexes_change_rows_by_conditions(
    spark: Any, make_table: Make, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    """OCC-001: the driver writes these; a write in between is a conflict, and nothing changes."""
    table = make_table(schema=SCHEMA, partition=("day",), options=options)
    table.upsert(rows(*(row(str(n), "old", n) for n in range(1, 5))))
    hudi_spark.update(spark, table.uri, {"name": "'new'"}, "id in ('1', '2')", options=options)
    hudi_spark.delete_where(spark, table.uri, "id = '3'", options=options)
    expected = {str(n): (name, str(date(2026, n, 7)), 0) for n, name in ((1, "new"), (2, "new"), (4, "old"))}
    assert found(table) == expected

    def another_write_first(*arguments: Any, **more: Any) -> str:
        open_table(table.uri, options=options).upsert(rows(row("1", "other", 1)))
        return change(*arguments, **more)

    change = dml.change_unchanged
    monkeypatch.setattr(dml, "change_unchanged", another_write_first)
    with pytest.raises(ConcurrentChange):
        hudi_spark.update(spark, table.uri, {"name": "'lost'"}, "id = '1'", options=options)
    assert found(table) == {**expected, "1": ("other", "2026-01-07", 0)}
