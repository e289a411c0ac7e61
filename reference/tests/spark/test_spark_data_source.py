"""The format `hudi-reference` in Spark's reader, writer and SQL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import TABLE_TYPES, keys, names, trip, trips
from spark_samples import in_order, rows_of_frame

from hudi_reference import WritableTable
from hudi_reference.errors import InvalidQuery, InvalidRows, Misuse, TableNotFound, UnsupportedTableFeature

pytest.importorskip("pyspark.sql.datasource", reason="needs the extra spark, whose PySpark is newer than that of other engines")

import hudi_spark
from hudi_spark.data_source import HudiReference, register
from hudi_spark.source.releases import PUSHES_FILTERS

Make = Callable[..., WritableTable]
PUSHING = pytest.mark.skipif(not PUSHES_FILTERS, reason="PySpark 4.0 pushes no filters")


@pytest.fixture(scope="module")
def source(spark: Any) -> Any:
    """The session with the format registered."""
    register(spark)
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


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_hudis_own_options_read_what_they_name(source: Any, make_table: Make, table_type: str) -> None:
    """`as.of.instant`, the query type, and the bounds of a window with the begin of 1.2 and of 1.0; a wrong name is an error."""
    table = make_table(table_type=table_type, ordering=("ts",), partition=("p",))
    first = table.upsert(trips(trip("1", "old", 1, "p0"), trip("2", "old", 1, "p1")))
    table.upsert(trips(trip("1", "new", 2, "p0")))
    begin = table.timeline.completed[0].completion
    window = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": begin}
    for options, expected in [
        ({"as.of.instant": first}, table.as_of(first)),
        ({"hoodie.datasource.query.type": "read_optimized"}, table.read_optimized()),
        (window, table.incremental(begin)),
        ({**window, "include_begin": "true"}, table.incremental(begin, include_begin=True)),
        ({**window, "hoodie.datasource.query.incremental.format": "cdc"}, table.changes(begin)),
        ({"columns": "name,id"}, table.snapshot(["name", "id"])),
    ]:
        frame = source.read.format("hudi-reference").options(**options).load(table.uri)
        assert rows_of_frame(frame, expected.schema) == in_order(expected), options
    with pytest.raises(Misuse, match="unknown option"), hudi_spark.errors_of_executors():
        source.read.format("hudi-reference").option("as.of.instnt", first).load(table.uri)


@pytest.mark.skipif(PUSHES_FILTERS, reason="PySpark 4.1 and newer push filters")
def test_pushdown_is_refused_by_releases_without_it(spark: Any) -> None:
    """The message names the option that filters in each release."""
    with pytest.raises(Misuse, match=r"PySpark 4\.1 or newer"):
        register(spark, pushdown=True)


@PUSHING
def test_filters_are_pushed_and_prune(source: Any, make_table: Make) -> None:
    """Comparisons of a WHERE clause reach the reference if the session pushes them: the plan shows them, and damaged slices
    without such rows are not read.
    """
    before = source.conf.get("spark.sql.python.filterPushdown.enabled")
    register(source, pushdown=True)
    try:
        _check_pushdown(source, make_table)
    finally:
        source.conf.set("spark.sql.python.filterPushdown.enabled", before)
        register(source)


def _check_pushdown(source: Any, make_table: Make) -> None:
    table = make_table(partition=("p",), ordering=("ts",))
    table.upsert(trips(*(trip(str(n), f"n{n}", n, f"p{n % 2}") for n in range(8))))
    [other] = [found for found in table.file_groups().latest_slices if found.partition == "p1"]
    (Path(table.uri.removeprefix("file://")) / other.path(other.base_file)).write_bytes(b"damaged")
    frame = (
        source.read.format("hudi-reference").load(table.uri).where("p = 'p0' AND ts > 2 AND name LIKE 'n%' AND name LIKE '%n%'")
    )
    assert {row.id for row in frame.collect()} == {"4", "6"}
    text = frame._jdf.queryExecution().executedPlan().toString()
    assert not any(pushed in text for pushed in ("= p0", "> 2", "StartsWith(name"))
    assert "Contains(name" in text  # Spark evaluates it
    shown = hudi_spark.explain(table.uri, columns=["id"], where=[("p", "=", "p0")])
    assert "partitions 1 of 2" in shown and "slices     1 of 2" in shown and "columns    2 of 9: id, p" in shown


@PUSHING
def test_queries_of_one_frame_do_not_share_filters(source: Any, make_table: Make) -> None:
    """A query without filters, with others, and a join of a frame with itself have the rows that they ask for, also if another
    source of the session has pushdown.
    """
    table = make_table(partition=("p",))
    table.upsert(trips(*(trip(str(n), "n", n, f"p{n % 2}") for n in range(10))))
    before = source.conf.get("spark.sql.python.filterPushdown.enabled")
    source.sql(f"CREATE TEMPORARY VIEW filtered_twice USING `hudi-reference` OPTIONS (path '{table.uri}')")
    try:
        for setting in ("false", "true"):
            source.conf.set("spark.sql.python.filterPushdown.enabled", setting)
            frame = source.read.format("hudi-reference").load(table.uri)
            even, odd = frame.where("p = 'p0'"), frame.where("p = 'p1'")
            assert (even.count(), frame.count(), odd.count(), even.count(), even.union(odd).count()) == (5, 10, 5, 5, 10)
            pairs = frame.alias("a").where("a.p = 'p0'").join(frame.alias("b")).where("a.ts + 1 = b.ts")
            assert {row[0] for row in pairs.select("b.id").collect()} == {"1", "3", "5", "7", "9"}
            counts = "SELECT (SELECT count(*) FROM filtered_twice WHERE p = 'p1'), count(*) FROM filtered_twice"
            assert [tuple(row) for row in source.sql(counts).collect()] == [(5, 10)]
    finally:
        source.conf.set("spark.sql.python.filterPushdown.enabled", before)


@pytest.mark.xfail(
    strict=True, reason="PySpark keeps what was pushed last with the frame of load, so pushdown is off by default"
)
def test_pushed_filters_belong_to_one_query(source: Any, make_table: Make) -> None:
    """A second query of a frame does not get the filters of the first. If it passes, `register` may push filters by default."""
    table = make_table(partition=("p",))
    table.upsert(trips(*(trip(str(n), "n", n, f"p{n % 2}") for n in range(10))))
    before = source.conf.get("spark.sql.python.filterPushdown.enabled")
    register(source, pushdown=True)
    try:
        frame = source.read.format("hudi-reference").load(table.uri)
        assert (frame.where("p = 'p0'").count(), frame.count()) == (5, 10)
    finally:
        source.conf.set("spark.sql.python.filterPushdown.enabled", before)
        register(source)


def test_the_option_where_prunes(source: Any, make_table: Make) -> None:
    """Slices without rows of the filter are not read, by the format and by the function; the filter adds no column."""
    table = make_table(partition=("p",))
    table.upsert(trips(*(trip(str(n), "n", n, f"p{n % 2}") for n in range(8))))
    [other] = [found for found in table.file_groups().latest_slices if found.partition == "p1"]
    (Path(table.uri.removeprefix("file://")) / other.path(other.base_file)).write_bytes(b"damaged")
    options = {"columns": "id", "where": '[["p", "=", "p0"], ["ts", ">", 2]]'}
    frame = source.read.format("hudi-reference").options(**options).load(table.uri)
    assert {tuple(row) for row in frame.collect()} == {("4",), ("6",)}
    arguments = ", ".join(f"{name} => '{value}'" for name, value in options.items())
    found = source.sql(f"SELECT * FROM hudi_read(path => '{table.uri}', {arguments})").collect()
    assert {tuple(row) for row in found} == {("4",), ("6",)}


@PUSHING
def test_without_pushdown_spark_filters(spark: Any, make_table: Make) -> None:
    """The plain class works in a session whose setting allows no pushdown."""
    table = make_table()
    table.insert(trips(trip("1"), trip("2")))
    before = spark.conf.get("spark.sql.python.filterPushdown.enabled")
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    spark.dataSource.register(HudiReference)
    try:
        frame = spark.read.format("hudi-reference").load(table.uri).where("id = '2'")
        assert [row.id for row in frame.collect()] == ["2"]
        assert "= 2" in frame._jdf.queryExecution().executedPlan().toString()
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", before)
        register(spark)


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


def test_the_table_function_reads_at_times_and_in_windows(source: Any, make_table: Make) -> None:
    """`hudi_read` in SQL: time travel, incremental and change queries; invalid arguments are errors."""
    table = make_table(partition=("p",))
    first = table.upsert(trips(trip("1", "old", 1, "p0"), trip("2", "old", 1, "p1")))
    table.upsert(trips(trip("1", "new", 2, "p0")))
    begin = table.timeline.completed[0].completion
    for arguments, columns, expected in [
        (f"as_of => '{first}'", "id, name", {("1", "old"), ("2", "old")}),
        (f"query => 'incremental', begin_instant => '{begin}'", "id, name", {("1", "new")}),
        (f"query => 'cdc', begin_instant => '{begin}'", "op, after.name", {("u", "new")}),
    ]:
        found = source.sql(f"SELECT {columns} FROM hudi_read(path => '{table.uri}', {arguments})").collect()
        assert {tuple(row) for row in found} == expected
    with pytest.raises(InvalidQuery), hudi_spark.errors_of_executors():
        source.sql(f"SELECT * FROM hudi_read(path => '{table.uri}', query => 'cdcs')").collect()
    hudi_spark.create_view(source, "then", table.uri, query="as-of", as_of=first)
    assert {row.name for row in source.sql("SELECT name FROM then").collect()} == {"old"}


def test_tables_of_the_catalog_are_refused(source: Any, make_table: Make) -> None:
    """CREATE TABLE does not succeed and then fail: Spark would read the table without its options."""
    table = make_table()
    with pytest.raises(UnsupportedTableFeature), hudi_spark.errors_of_executors():
        source.sql(f"CREATE TABLE of_catalog USING `hudi-reference` LOCATION '{table.uri}'")
    assert not source.catalog.tableExists("of_catalog")


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


def test_invalid_writes_are_refused(source: Any, make_table: Make) -> None:
    """Rows, operations and options that do not fit are refused before anything is written."""
    table = make_table()
    rows = source.createDataFrame(trips(trip("1")))
    for error, frame, options in [
        (Misuse, rows, {"operation": "merge"}),
        (Misuse, rows, {"hoodie.datasource.write.operaton": "insert"}),
        (Misuse, rows, {"hoodie.datasource.write.recordkey.field": "name"}),
        (InvalidRows, rows.drop("ts"), {"operation": "insert"}),
    ]:
        with pytest.raises(error), hudi_spark.errors_of_executors():
            frame.write.format("hudi-reference").mode("append").options(**options).save(table.uri)
    assert not table.timeline.instants


def test_speculative_tasks_do_not_write_through_the_format(source: Any, make_table: Make) -> None:
    """An attempt that still writes while the driver completes the commit would add its rows once more. Reading goes on."""
    table = make_table()
    table.insert(trips(trip("1")))
    source.sparkContext._conf.set("spark.speculation", "true")
    try:
        register(source)
        for operation in ("insert", "upsert"):
            rows = source.createDataFrame(trips(trip("2"))).write.format("hudi-reference").option("operation", operation)
            with pytest.raises(Misuse, match="speculative"), hudi_spark.errors_of_executors():
                rows.mode("append").save(table.uri)
        assert source.read.format("hudi-reference").load(table.uri).count() == 1
    finally:
        source.sparkContext._conf.set("spark.speculation", "false")
        register(source)
    assert len(table.timeline.instants) == 1


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_writers_upsert_delete_and_overwrite(source: Any, make_table: Make, table_type: str) -> None:
    """Rows of one key in several tasks are merged; each write is one action, and no stored rows are left."""
    table = make_table(table_type=table_type, ordering=("ts",), partition=("p",))

    def write(rows: pa.Table, mode: str = "append", **options: str) -> None:
        frame = source.createDataFrame(rows).repartition(2)
        frame.write.format("hudi-reference").mode(mode).options(**options).save(table.uri)

    write(trips(*(trip(str(n % 4), f"n{n}", n, f"p{n % 2}") for n in range(8))))
    assert names(table) == {str(n): f"n{n + 4}" for n in range(4)}
    write(keys("1", p=["p1"]), operation="delete")
    assert sorted(names(table)) == ["0", "2", "3"]
    write(trips(trip("9", "only", 1, "p1")), "overwrite", operation="insert_overwrite")
    assert sorted(names(table)) == ["0", "2", "9"]
    write(trips(trip("8", "all", 1, "p2")), "overwrite")
    assert names(table) == {"8": "all"}
    done = table.timeline.completed
    assert [i.action for i in done][2:] == ["replacecommit"] * 2 and len(done) == len(table.timeline.instants) == 4
    assert not [info for info in table.storage.list(".hoodie/.temp") if "rows-" in info.path]


def test_a_failed_append_is_never_visible(source: Any, make_table: Make) -> None:
    """A row without a key is found by a task; the write stays inflight for a rollback."""
    table = make_table()
    rows = source.createDataFrame(trips(trip("1"), trip("")))
    with pytest.raises(InvalidRows), hudi_spark.errors_of_executors():
        rows.write.format("hudi-reference").mode("append").option("operation", "insert").save(table.uri)
    assert table.snapshot().num_rows == 0
    assert [instant.state.name for instant in table.timeline.pending] == ["INFLIGHT"]


def test_a_missing_table_is_an_error(source: Any, tmp_path: Any) -> None:
    """The error is raised when the frame is created."""
    with pytest.raises(TableNotFound), hudi_spark.errors_of_executors():
        source.read.format("hudi-reference").load(str(tmp_path))
    with pytest.raises(Misuse), hudi_spark.errors_of_executors():
        source.read.format("hudi-reference").load()
