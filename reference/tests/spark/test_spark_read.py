"""DataFrames of hudi_spark.read have the rows that the reference reads."""

import datetime
import decimal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from reference_samples import FLAGGED_SCHEMA, SCHEMA, TABLE_TYPES, data_files, flagged, keys, rows_of, trip, trips
from spark_samples import in_order, rows_of_frame

from hudi_reference import Table, WritableTable, create_table, open_table
from hudi_reference.errors import (
    CorruptCommittedBlock,
    HudiError,
    InvalidQuery,
    MalformedBaseFile,
    MissingDataFile,
    Misuse,
    TableNotFound,
    UnsupportedFileFormat,
)
from hudi_reference.schema.avro import arrow_schema

pytest.importorskip("pyspark", reason="needs the extra spark")

import pyspark.sql.types

import hudi_spark
from hudi_spark.read import make_plan

Make = Callable[..., WritableTable]

PARTITIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "plain": {"partition": ("p",)},
    "hive": {"partition": ("p",), "hive_style": True},
    "encoded": {"partition": ("p",), "hive_style": True, "url_encode": True},
    "levels": {"partition": ("p", "name")},
}


def history(table: WritableTable) -> list[str]:
    """Writes of every kind; the requested times of their instants."""
    return [
        table.bulk_insert(trips(*(trip(str(n), f"n{n % 2}", 10, f"a/{n % 3} [x]") for n in range(12)))),
        table.upsert(trips(trip("1", "n1", 11, "a/1 [x]"), trip("2", "n0", 9, "a/2 [x]"), trip("new", None, 1, None))),
        table.delete(keys("3", p=["a/0 [x]"], name=["n1"])),
        table.insert(trips(trip("more", "n1", 5, "b"))),
    ]


def assert_equal(spark: Any, table: Table, **query: Any) -> None:
    """Frame and reference agree on one query."""
    kind, as_of = query.get("query", "snapshot"), query.get("as_of")
    chosen = {name: query[name] for name in ("columns", "where") if name in query}
    match kind:
        case "read-optimized":
            expected = table.read_optimized(**chosen)
        case "as-of":
            expected = table.as_of(as_of, **chosen)
        case _:
            expected = table.snapshot(**chosen)
    assert rows_of_frame(hudi_spark.read(spark, table.uri, **query), expected.schema) == in_order(expected)


@pytest.mark.parametrize("style", PARTITIONS)
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_every_query_of_every_partition_style_has_the_rows_of_the_reference(
    spark: Any, make_table: Make, table_type: str, style: str
) -> None:
    """Snapshot, read-optimized and as-of queries give the reference's rows, meta columns included."""
    table = make_table(table_type=table_type, ordering=("ts",), **PARTITIONS[style])
    instants = history(table)
    assert_equal(spark, table)
    assert_equal(spark, table, query="read-optimized")
    assert_equal(spark, table, query="as-of", as_of=instants[1])


@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
def test_logs_are_merged_by_the_merge_mode(spark: Any, make_table: Make, mode: Any) -> None:
    """A late record, a flagged delete and a slice of log files alone are merged on the executors as the reference does."""
    table = make_table(schema=FLAGGED_SCHEMA, table_type="MERGE_ON_READ", ordering=("ts",), merge_mode=mode)
    table.upsert(flagged(*(trip(str(n), "first", 10) for n in range(5))))
    table.upsert(flagged(trip("0", "late", 9), trip("1", "newer", 11), trip("2", ts=11, _hoodie_is_deleted=True)))
    table.upsert(flagged(trip("in-logs", "alone", 1)), new_keys_in_logs=True)
    assert {found.base_file is None for found in make_plan(table.uri).merged} == {False, True}
    assert_equal(spark, table)
    assert_equal(spark, table, columns=["name"])
    assert_equal(spark, table, query="read-optimized")


def test_an_empty_table_is_a_frame_without_rows(spark: Any, make_table: Make) -> None:
    """A table without commits has its columns and no rows."""
    table = make_table()
    assert_equal(spark, table)
    assert_equal(spark, table, columns=["ts", "id"])


@pytest.mark.parametrize("table_type", TABLE_TYPES)
@pytest.mark.parametrize(
    "where",
    [
        [("ts", ">=", 10), ("name", "!=", "n0")],
        [("p", "=", "b")],
        [("ts", "<", "10")],
        [("name", ">", "n0")],
        [("_hoodie_record_key", "<=", "11")],
    ],
)
def test_filters_and_columns_select_the_rows_of_the_reference(
    spark: Any, make_table: Make, table_type: str, where: list[tuple[str, str, Any]]
) -> None:
    """Comparisons hold for the same rows, also of columns that are not in the result, in either implementation."""
    table = make_table(table_type=table_type, ordering=("ts",), partition=("p",))
    history(table)
    assert_equal(spark, table, columns=["ts", "id"], where=where)


FLOATS: dict[str, Any] = {
    "type": "record",
    "name": "floats",
    "fields": [{"name": "id", "type": "string"}, {"name": "x", "type": ["null", "double"], "default": None}],
}


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_nan_compares_as_in_the_reference(spark: Any, make_table: Make, operator: str) -> None:
    """A NaN differs from every number and is neither less nor greater, also where Spark's reader filters."""
    table = make_table(schema=FLOATS)
    values = [1.0, float("nan"), -0.0, None, float("inf"), 0.5]
    table.insert(rows_of(FLOATS, *({"id": str(n), "x": x} for n, x in enumerate(values))))
    where = [("x", operator, 0.5)]
    expected = table.snapshot(["id"], where)
    assert make_plan(table.uri).native
    assert rows_of_frame(hudi_spark.read(spark, table.uri, columns=["id"], where=where), expected.schema) == in_order(expected)


TYPES: dict[str, Any] = {
    "type": "record",
    "name": "typed",
    "fields": [
        {"name": "id", "type": "string"},
        *(
            {"name": name, "type": ["null", kind], "default": None}
            for name, kind in {
                "flag": "boolean",
                "small": "int",
                "single": "float",
                "real": "double",
                "raw": "bytes",
                "day": {"type": "int", "logicalType": "date"},
                "micros": {"type": "long", "logicalType": "timestamp-micros"},
                "millis": {"type": "long", "logicalType": "timestamp-millis"},
                "money": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 4},
                "items": {"type": "array", "items": ["null", "long"]},
                "names": {"type": "map", "values": "string"},
                "inner": {
                    "type": "record",
                    "name": "inner_record",
                    "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": ["null", "string"]}],
                },
            }.items()
        ),
    ],
}
#: PySpark 4.0 has no type of times of day.
CLOCKS: list[dict[str, Any]] = [
    {"name": "clock", "type": ["null", {"type": "long", "logicalType": "time-micros"}], "default": None},
    {"name": "clock_millis", "type": ["null", {"type": "int", "logicalType": "time-millis"}], "default": None},
]
MORE_TYPES: dict[str, Any] = {
    **TYPES,
    "fields": [
        *TYPES["fields"],
        {"name": "kind", "type": {"type": "enum", "name": "kinds", "symbols": ["A", "B"]}},
        {"name": "code", "type": {"type": "fixed", "name": "code_type", "size": 3}},
        *(CLOCKS if hasattr(pyspark.sql.types, "TimeType") else ()),
        {"name": "naive", "type": ["null", {"type": "long", "logicalType": "local-timestamp-micros"}], "default": None},
    ],
}
TYPED_ROW = {
    "id": "1",
    "flag": True,
    "small": -(2**31),
    "single": 1.1,
    "real": -0.0,
    "raw": b"\x00\xff",
    "day": datetime.date(1500, 1, 1),
    "micros": datetime.datetime(1500, 1, 1, 1, 2, 3, 456789, tzinfo=datetime.UTC),
    "millis": datetime.datetime(2026, 1, 1, 1, 2, 3, 456000, tzinfo=datetime.UTC),
    "naive": datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    "money": decimal.Decimal("-1234567890123456.7890"),
    "items": [1, None, 2**63 - 1],
    "names": [("k", "v"), ("e", "")],
    "inner": {"a": 1, "b": None},
    "kind": "B",
    "code": b"abc",
    "clock": datetime.time(23, 59, 59, 999999),
    "clock_millis": datetime.time(1, 2, 3, 456000),
}


@pytest.mark.parametrize(
    ("schema", "native"), [(TYPES, True), (MORE_TYPES, False)], ids=["for Spark's reader", "for the reference"]
)
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_values_of_every_type_are_read_as_stored(
    spark: Any, make_table: Make, table_type: str, schema: dict[str, Any], native: bool
) -> None:
    """Dates before 1582, microseconds, decimals and nested values are the reference's, from base files and from logs."""
    table = make_table(schema=schema, table_type=table_type)
    present = {field["name"] for field in schema["fields"]}
    row = {name: value for name, value in TYPED_ROW.items() if name in present}
    required = {name: row[name] for name in ("kind", "code") if name in present}
    table.insert(rows_of(schema, row, {"id": "nulls", **required}))
    assert bool(make_plan(table.uri).native) is native
    assert_equal(spark, table)
    table.upsert(rows_of(schema, {**row, "small": 7}, {"id": "2", "items": [], "names": [], **required}))
    assert_equal(spark, table)


def evolved(table: WritableTable, changed: dict[str, Any]) -> WritableTable:
    """The table after a commit that carries another schema, as an engine that evolves schemas leaves it."""
    from hudi_reference.write.commit import begin

    begin(table, "UPSERT").complete({**SCHEMA, **changed})
    return table


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_rows_of_an_older_schema_are_converted_to_the_new_one(spark: Any, make_table: Make, table_type: str) -> None:
    """An added column is null in older files, which stay with Spark's reader; a widened one is converted by the reference."""
    fields = [*SCHEMA["fields"], {"name": "added", "type": ["null", "double"], "default": None}]
    table = make_table(table_type=table_type)
    table.upsert(trips(trip("1", "a", 1), trip("2", "b", 2)))
    evolved(table, {"fields": fields})
    assert make_plan(table.uri).native
    assert_equal(spark, table)
    table.upsert(rows_of({**SCHEMA, "fields": fields}, trip("2", "c", 3, added=0.1), trip("3", "d", 1, added=None)))
    assert_equal(spark, table)
    widened = [{**f, "type": ["null", "double"]} if f["name"] == "ts" else f for f in fields]
    evolved(table, {"fields": widened})
    assert not make_plan(table.uri).native
    assert_equal(spark, table)


def test_sparks_reader_reads_slices_without_logs(spark: Any, make_table: Make) -> None:
    """Of a merge-on-read table only the slices with log files pass through Python, each in a task of its own."""
    table = make_table(table_type="MERGE_ON_READ", partition=("p",))
    table.insert(trips(*(trip(str(n), "n", 1, f"p{n}") for n in range(5))))
    table.upsert(trips(trip("1", "x", 2, "p1"), trip("2", "x", 2, "p2")))
    plan = make_plan(table.uri)
    assert [found.partition for found in plan.merged] == ["p1", "p2"]
    assert [path.split("/")[-2] for path in plan.native] == ["p0", "p3", "p4"]
    frame = hudi_spark.read(spark, table.uri)
    assert frame.where("p = 'p1' or p = 'p3'").count() == 2
    assert "PushedFilters: [IsNotNull(ts), EqualTo(ts,2)]" in explained(
        hudi_spark.read(spark, table.uri, where=[("ts", "=", 2)])
    )


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_unselected_partitions_and_columns_are_not_read(spark: Any, make_table: Make, table_type: str) -> None:
    """A query of one partition does not open the files of others, whatever is in them, and reads the columns that it needs."""
    table = make_table(table_type=table_type, partition=("p",))
    table.insert(trips(*(trip(str(n), "n", 1, f"p{n}") for n in range(3))))
    table.upsert(trips(trip("1", "x", 2, "p1")))
    for path in (path for path in data_files(table) if not path.startswith("p1/")):
        table.storage.put(path, b"no longer a file of its format")
    query: dict[str, Any] = {"columns": ["name"], "where": [("p", "=", "p1")]}
    frame = hudi_spark.read(spark, table.uri, **query)
    assert frame.toArrow().to_pylist() == [{"name": "x"}]
    plan = make_plan(table.uri, **query)
    assert (len(plan.merged) + len(plan.native), plan.fields.names) == (1, ["name", "p"])
    assert not plan.native or "ReadSchema: struct<name:string,p:string>" in explained(frame)


def explained(frame: Any) -> str:
    """Spark's plan of a frame."""
    return str(frame._jdf.queryExecution().toString())


def test_a_frame_does_not_see_later_commits(spark: Any, make_table: Make) -> None:
    """The plan is fixed when the frame is made."""
    table = make_table()
    table.insert(trips(trip("1")))
    frame = hudi_spark.read(spark, table.uri)
    table.insert(trips(trip("2")))
    assert frame.count() == 1


def test_tables_on_s3_are_read_by_the_executors(spark: Any, s3_bucket: str) -> None:
    """Executors open the store from the URI and the environment."""
    table = create_table(
        f"{s3_bucket}/{uuid4()}", name="t", schema=SCHEMA, record_key=("id",), table_type="MERGE_ON_READ", ordering=("ts",)
    )
    table.upsert(trips(trip("1", "a", 1), trip("2", "b", 1)))
    table.upsert(trips(trip("1", "c", 2)))
    assert_equal(spark, table)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"query": "changes"}, InvalidQuery),
        ({"query": "as-of"}, InvalidQuery),
        ({"as_of": "20260101"}, InvalidQuery),
        ({"columns": ["nothing"]}, InvalidQuery),
        ({"where": [("ts", "~", 1)]}, InvalidQuery),
        ({"where": [("ts", "=", "word")]}, InvalidQuery),
    ],
)
def test_an_invalid_query_raises_an_error(spark: Any, make_table: Make, query: dict[str, Any], error: type[HudiError]) -> None:
    """Mistakes in a query are found by the plan, before Spark runs anything."""
    table = make_table()
    with pytest.raises(error):
        hudi_spark.read(spark, table.uri, **query)


def test_planning_fails_without_a_table(spark: Any, tmp_path: Path) -> None:
    """No table, and a table in this process's memory, which executors cannot see."""
    with pytest.raises(TableNotFound):
        hudi_spark.read(spark, str(tmp_path))
    with pytest.raises(Misuse, match="executors"):
        hudi_spark.read(spark, "memory:///t")


def test_a_damaged_log_file_raises_the_error_of_the_reference(spark: Any, make_table: Make) -> None:
    """An error on an executor is raised as the exception of the reference, with rule, offset and the value found."""
    table = make_table(table_type="MERGE_ON_READ", ordering=("ts",))
    table.upsert(trips(trip("1", "a", 1)))
    table.upsert(trips(trip("1", "b", 2)))
    (path,) = data_files(table, ".log.")
    whole = table.storage.get(path)
    table.storage.put(path, whole[:-1])
    with pytest.raises(CorruptCommittedBlock) as here:
        table.snapshot()
    with pytest.raises(CorruptCommittedBlock) as there, hudi_spark.errors_of_executors():
        hudi_spark.read(spark, table.uri).collect()
    assert str(there.value) == str(here.value)


def test_an_unknown_block_is_refused(spark: Any, make_table: Make) -> None:
    """A refusal on an executor remains a refusal, with the name of the feature in the contract."""
    table = make_table(table_type="MERGE_ON_READ", ordering=("ts",))
    table.upsert(trips(trip("1", "a", 1)))
    table.upsert(trips(trip("1", "b", 2)))
    (path,) = data_files(table, ".log.")
    damaged = bytearray(table.storage.get(path))
    damaged[18:22] = (9).to_bytes(4, "big")
    table.storage.put(path, bytes(damaged))
    with pytest.raises(UnsupportedFileFormat) as refused, hudi_spark.errors_of_executors():
        hudi_spark.read(spark, table.uri).collect()
    assert refused.value.feature == "file-format"


def test_planning_fails_if_a_base_file_is_missing(spark: Any, make_table: Make) -> None:
    """A missing file of a commit is found by the plan, because Spark's reader might ignore it."""
    table = make_table()
    table.insert(trips(trip("1")))
    (path,) = data_files(table, ".parquet")
    table.storage.delete(path)
    with pytest.raises(MissingDataFile):
        hudi_spark.read(spark, table.uri)


@pytest.mark.parametrize("kept", [0, 10, -1], ids=["empty", "cut", "without its last byte"])
def test_a_damaged_base_file_is_never_ignored(spark: Any, make_table: Make, kept: int) -> None:
    """This holds in a session that ignores corrupt files, and for an empty file, which Spark does not open."""

    table = make_table(partition=("p",))
    table.insert(trips(trip("1", p="a"), trip("2", p="b")))
    path = data_files(table, ".parquet")[0]
    table.storage.put(path, table.storage.get(path)[:kept])
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(MalformedBaseFile, match="parquet"), hudi_spark.errors_of_executors():
            hudi_spark.read(spark, table.uri).collect()
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_the_reference_does_not_need_spark() -> None:
    """hudi_reference can be imported, and reads, where PySpark is not installed."""
    import subprocess
    import sys

    code = "import sys; sys.modules['pyspark'] = None; import hudi_reference, hudi_reference.write.write"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_columns_keep_their_arrow_schema(spark: Any, make_table: Make) -> None:
    """The types of a frame are those of the reference, as far as Spark has them."""
    table = make_table(schema=TYPES)
    frame = hudi_spark.read(spark, table.uri)
    expected = {f.name: f.type for f in arrow_schema(TYPES)} | {"millis": pa.timestamp("us", "UTC")}
    found = {f.name: f.type for f in frame.toArrow().schema if not f.name.startswith("_hoodie")}
    assert found == expected
    assert open_table(table.uri).snapshot().num_rows == 0
