"""The format `hudi-reference` in Spark's reader, writer and SQL."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import TABLE_TYPES, keys, names, trip, trips
from spark_samples import in_order, rows_of_frame

from hudi_reference import WritableTable
from hudi_reference.errors import InvalidQuery, InvalidRows, Misuse, TableNotFound

pytest.importorskip("pyspark.sql.datasource", reason="needs the extra spark, whose PySpark is newer than that of other engines")

import hudi_spark
from hudi_spark.data_source import HudiReference

Make = Callable[..., WritableTable]


@pytest.fixture(scope="module")
def source(spark: Any) -> Any:
    """The session with the format registered."""
    spark.dataSource.register(HudiReference)
    return spark


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_the_format_reads_what_the_reference_reads(source: Any, make_table: Make, table_type: str) -> None:
    """Snapshot, read-optimized and as-of by options; fewer columns by a schema."""
    table = make_table(table_type=table_type, ordering=("ts",), partition=("p",))
    first = table.upsert(trips(*(trip(str(n), "old", 1, f"p{n % 2}") for n in range(6))))
    table.upsert(trips(trip("1", "new", 2, "p1")))
    table.delete(keys("2", p=["p0"]))
    for options, expected in [
        ({}, table.snapshot()),
        ({"query": "read-optimized"}, table.read_optimized()),
        ({"as_of": first}, table.as_of(first)),
    ]:
        assert rows_of_frame(
            source.read.format("hudi-reference").options(**options).load(table.uri), expected.schema
        ) == in_order(expected)
    chosen = source.read.format("hudi-reference").schema("name string, id string").load(table.uri)
    assert rows_of_frame(chosen, pa.schema([("name", pa.string()), ("id", pa.string())])) == in_order(
        table.snapshot(["name", "id"])
    )


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_begin_and_end_select_an_incremental_query(source: Any, make_table: Make, table_type: str) -> None:
    """`begin` and `end`, one or both, make a query incremental; `query` makes it one of changes; as of takes no window."""
    table = make_table(table_type=table_type, ordering=("ts",), partition=("p",))
    table.upsert(trips(trip("1", "old", 1, "p0"), trip("2", "old", 1, "p1")))
    table.upsert(trips(trip("1", "new", 2, "p0")))
    begin, end = (instant.completion for instant in table.timeline.completed)
    for options, expected in [
        ({"begin": begin}, table.incremental(begin)),
        ({"end": begin}, table.incremental(end=begin)),
        ({"begin": begin, "end": end, "query": "incremental"}, table.incremental(begin, end)),
        ({"begin": begin, "query": "cdc"}, table.changes(begin)),
    ]:
        frame = source.read.format("hudi-reference").options(**options).load(table.uri)
        assert rows_of_frame(frame, expected.schema) == in_order(expected)
    with pytest.raises(InvalidQuery, match="has a window"), hudi_spark.errors_of_executors():
        source.read.format("hudi-reference").options(query="snapshot", begin=begin).load(table.uri).collect()


def test_an_empty_table_is_an_empty_frame(source: Any, make_table: Make) -> None:
    """A table without slices has no partitions to read, and its columns."""
    table = make_table()
    frame = source.read.format("hudi-reference").load(table.uri)
    assert (frame.count(), frame.columns) == (0, table.snapshot().column_names)


def test_sql_reads_the_format(source: Any, make_table: Make) -> None:
    """SELECT with WHERE and GROUP BY on a view that SQL created; the path is as the catalog of Spark writes it."""
    table = make_table(table_type="MERGE_ON_READ", ordering=("ts",))
    table.upsert(trips(*(trip(str(n), f"n{n % 2}", n) for n in range(10))))
    table.upsert(trips(trip("1", "changed", 100)))
    source.sql(
        f"CREATE TEMPORARY VIEW trips_of_sql USING `hudi-reference` OPTIONS (path '{table.uri.replace('file://', 'file:')}')"
    )
    found = source.sql("SELECT name, count(*) AS n, sum(ts) AS ts FROM trips_of_sql WHERE id <> '0' GROUP BY name").collect()
    assert {(row.name, row.n, row.ts) for row in found} == {("n0", 4, 20), ("n1", 4, 24), ("changed", 1, 100)}


def test_sql_reads_a_view_of_a_frame(source: Any, make_table: Make) -> None:
    """The DataFrame of `hudi_spark.read` as a view."""
    table = make_table(partition=("p",))
    table.insert(trips(*(trip(str(n), "n", n, f"p{n % 2}") for n in range(10))))
    hudi_spark.read(source, table.uri).createOrReplaceTempView("trips_of_frame")
    found = source.sql("SELECT p, max(ts) AS latest FROM trips_of_frame WHERE ts < 8 GROUP BY p").collect()
    assert {(row.p, row.latest) for row in found} == {("p0", 6), ("p1", 7)}


@pytest.mark.parametrize("operation", ["bulk_insert", "insert"])
def test_appending_is_one_commit(source: Any, make_table: Make, operation: str) -> None:
    """All tasks of a write are one completed instant of that operation; nothing is left pending."""
    table = make_table(partition=("p",))
    rows = source.createDataFrame(trips(*(trip(str(n), "n", n, f"p{n % 2}") for n in range(10))))
    rows.write.format("hudi-reference").mode("append").option("operation", operation).save(table.uri)
    assert sorted(names(table)) == sorted(str(n) for n in range(10))
    assert len(table.timeline.instants) == len(table.timeline.completed) == 1
    assert [commit.operation for commit in table.file_groups().commits.values()] == [operation.upper()]


def test_unsupported_writes_are_refused(source: Any, make_table: Make) -> None:
    """Overwriting and upserts are refused before anything is written; so are columns that do not fit."""
    table = make_table()
    rows = source.createDataFrame(trips(trip("1")))
    writer = rows.write.format("hudi-reference")
    with pytest.raises(Misuse, match="only appends"), hudi_spark.errors_of_executors():
        writer.mode("overwrite").save(table.uri)
    with pytest.raises(Misuse, match="only appends"), hudi_spark.errors_of_executors():
        writer.mode("append").option("operation", "upsert").save(table.uri)
    with pytest.raises(InvalidRows), hudi_spark.errors_of_executors():
        rows.drop("ts").write.format("hudi-reference").mode("append").save(table.uri)
    assert not table.timeline.instants


def test_a_failed_append_is_never_visible(source: Any, make_table: Make) -> None:
    """A row without a key is found by a task; the write stays inflight for a rollback."""
    table = make_table()
    rows = source.createDataFrame(trips(trip("1"), trip("")))
    with pytest.raises(InvalidRows), hudi_spark.errors_of_executors():
        rows.write.format("hudi-reference").mode("append").save(table.uri)
    assert table.snapshot().num_rows == 0
    assert [instant.state.name for instant in table.timeline.pending] == ["INFLIGHT"]


def test_a_missing_table_is_an_error(source: Any, tmp_path: Any) -> None:
    """The error is raised when the frame is created."""
    with pytest.raises(TableNotFound), hudi_spark.errors_of_executors():
        source.read.format("hudi-reference").load(str(tmp_path))
    with pytest.raises(Misuse), hudi_spark.errors_of_executors():
        source.read.format("hudi-reference").load()
