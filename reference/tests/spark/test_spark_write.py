"""The reference reads the rows that hudi_spark writes, and no other rows become visible."""

import datetime
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from reference_samples import (
    FLAGGED_SCHEMA,
    SCHEMA,
    TABLE_TYPES,
    contents,
    data_files,
    data_rows,
    flagged,
    keys,
    names,
    rows_of,
    set_property,
    trip,
    trips,
)
from spark_samples import in_order, rows_of_frame

from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.errors import HudiError, InvalidRows, Misuse, UnsupportedTableFeature, WriteConflict
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.storage import MemoryStorage

pytest.importorskip("pyspark", reason="needs the extra spark")

import hudi_spark
from hudi_spark import write
from hudi_spark.tasks import FilesTask

Make = Callable[..., WritableTable]
Batches = Iterable[pa.RecordBatch]

PROGRAM: list[tuple[str, pa.Table]] = [
    ("upsert", flagged(*(trip(str(n), "first", 10, f"p{n % 3}") for n in range(30)))),
    (
        "upsert",
        flagged(
            trip("1", "late", 9, "p1"),
            trip("2", "newer", 11, "p2"),
            trip("3", "gone", 12, "p0", _hoodie_is_deleted=True),
            trip("4", "gone", 8, "p1", _hoodie_is_deleted=True),
            trip("5", "elsewhere", 11, "p0"),
            trip("twice", "first", 2, "p4"),
            trip("twice", "second", 1, "p4"),
            trip("never", "gone", 1, "p4", _hoodie_is_deleted=True),
        ),
    ),
    ("delete", keys("6", "7", "unknown", p=["p0", "p0", "p1"])),
    ("bulk_insert", flagged(*(trip(f"more{n}", "bulk", n, f"p{n % 5}") for n in range(10)))),
    ("upsert", flagged(trip("more1", "changed", 5, "p1"), trip("6", "again", 1, "p0"), trip("2", "newest", None, "p2"))),
]


def frame(spark: Any, rows: pa.Table, partitions: int = 2) -> Any:
    """Rows as a DataFrame in so many partitions, in their order."""
    return spark.createDataFrame(rows).coalesce(1) if partitions == 1 else spark.createDataFrame(rows)


@pytest.mark.parametrize("partition", [("p",), ()], ids=["partitioned", "unpartitioned"])
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_program_of_writes_has_the_result_of_the_reference(
    spark: Any, make_table: Make, tmp_path: Path, table_type: Any, mode: Any, partition: tuple[str, ...]
) -> None:
    """Inserts, updates, late records, flagged deletes, deletes by key and repeated keys, commit by commit."""
    options: dict[str, Any] = {"schema": FLAGGED_SCHEMA, "table_type": table_type, "merge_mode": mode}
    options |= {"ordering": ("ts",), "partition": partition}
    table = make_table(**options)
    twin = create_table(str(tmp_path / "twin"), name="trips", record_key=("id",), **options)
    for operation, rows in PROGRAM:
        getattr(twin, operation)(rows)
        instant = getattr(hudi_spark, operation)(frame(spark, rows), table.uri)
        assert [i.requested for i in open_table(table.uri).timeline.completed][-1] == instant
        assert data_rows(open_table(table.uri).snapshot()) == data_rows(twin.snapshot())
    snapshot = twin.snapshot().drop_columns(list(META_COLUMNS))
    written = hudi_spark.read(spark, table.uri, columns=snapshot.column_names)
    assert rows_of_frame(written, snapshot.schema) == sorted(snapshot.to_pylist(), key=repr)


def test_merge_on_read_changes_go_to_log_files_of_their_group(spark: Any, make_table: Make) -> None:
    """An upsert of known keys adds log files and no base file; no file group is added."""
    table = make_table(table_type="MERGE_ON_READ", ordering=("ts",))
    hudi_spark.bulk_insert(frame(spark, trips(*(trip(str(n), "old", 1) for n in range(10))), 1), table.uri)
    bases = data_files(table, ".parquet")
    hudi_spark.upsert(frame(spark, trips(trip("1", "new", 2), trip("9", "new", 2))), table.uri)
    assert data_files(table, ".parquet") == bases
    assert len(data_files(table, ".log.")) == 1
    assert names(table)["9"] == "new"


def test_meta_columns_name_the_file_and_the_commit_of_a_row(spark: Any, make_table: Make) -> None:
    """File names are those of the files, sequence numbers are unique in a commit, carried rows keep commit and number."""
    table = make_table(partition=("p",))
    first = hudi_spark.bulk_insert(frame(spark, trips(*(trip(str(n), "old", 1, f"p{n % 2}") for n in range(20)))), table.uri)
    second = hudi_spark.upsert(frame(spark, trips(trip("1", "new", 2, "p1"), trip("2", "new", 2, "p0"))), table.uri)
    rows = table.snapshot().to_pylist()
    latest = {found.base_file for found in table.file_groups().latest_slices}
    assert {row["_hoodie_file_name"] for row in rows} == latest
    assert len({row["_hoodie_commit_seqno"] for row in rows}) == len(rows)
    assert {row["id"]: row["_hoodie_commit_time"] for row in rows} == {
        str(n): second if n in (1, 2) else first for n in range(20)
    }


def test_stats_count_the_written_rows(spark: Any, make_table: Make) -> None:
    """Commit metadata counts inserts, updates and deletes by file, with the sizes of the files."""
    table = make_table(partition=("p",), schema=FLAGGED_SCHEMA)
    hudi_spark.upsert(frame(spark, flagged(*(trip(str(n), "old", 1, "p") for n in range(5)))), table.uri)
    changes = flagged(trip("1", "new", 2, "p"), trip("2", None, 2, "p", _hoodie_is_deleted=True), trip("9", "new", 2, "p"))
    hudi_spark.upsert(frame(spark, changes), table.uri)
    commit = list(table.file_groups().commits.values())[-1]
    assert commit.operation == "UPSERT"
    assert sorted((s.updates, s.deletes, s.inserts, s.writes) for s in commit.stats) == [(0, 0, 1, 1), (1, 1, 0, 4)]
    assert all(len(table.storage.get(stat.path)) == stat.size for stat in commit.stats)


def test_new_keys_can_be_spread_over_several_file_groups(spark: Any, make_table: Make) -> None:
    """`new_groups` file groups for each partition; a key that comes twice stays one row."""
    table = make_table()
    rows = trips(*(trip(str(n % 50), f"n{n}", n) for n in range(100)))
    hudi_spark.upsert(frame(spark, rows, 1), table.uri, new_groups=3)
    assert len(table.file_groups().groups) == 3
    assert names(table) == {str(n): f"n{n + 50}" for n in range(50)}


def test_an_empty_frame_is_a_commit_without_files(spark: Any, make_table: Make) -> None:
    """Nothing to write is an instant on the timeline like any other."""
    table = make_table()
    for operation in (hudi_spark.bulk_insert, hudi_spark.upsert):
        operation(frame(spark, trips()), table.uri)
    assert len(table.timeline.completed) == 2
    assert data_files(table) == []


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (trips(trip("1")).append_column("more", pa.array(["x"])), InvalidRows),
        (trips(trip("1")).drop_columns(["ts"]), InvalidRows),
        (trips(trip("1")).append_column("id", pa.array(["x"])), InvalidRows),
        (trips(trip("1")).drop_columns(["id"]), InvalidRows),
        (trips(trip("1")).set_column(2, "ts", pa.array(["word"])), InvalidRows),
        (pa.concat_tables([trips(trip(str(n))) for n in range(5)] + [trips(trip(""))]), InvalidRows),
    ],
    ids=["unknown column", "missing column", "column twice", "no key", "other type", "empty key"],
)
@pytest.mark.parametrize("operation", ["bulk_insert", "upsert"])
def test_invalid_rows_leave_the_table_unchanged(
    spark: Any, make_table: Make, operation: str, rows: pa.Table, error: type[HudiError]
) -> None:
    """Columns are checked on the driver, values on the executors, both before the write begins."""
    table = make_table()
    before = contents(table.storage)
    with pytest.raises(error):
        getattr(hudi_spark, operation)(frame(spark, rows), table.uri)
    assert contents(table.storage) == before


@pytest.mark.parametrize("operation", ["bulk_insert", "upsert"])
def test_a_null_in_a_required_column_is_refused(spark: Any, make_table: Make, operation: str) -> None:
    """Wherever it is among the rows, before the write begins; a delete needs no values but its key's."""
    fields = [{"name": "ts", "type": "long"} if field["name"] == "ts" else field for field in FLAGGED_SCHEMA["fields"]]
    table = make_table(schema={**FLAGGED_SCHEMA, "fields": fields})
    before = contents(table.storage)
    rows = flagged(*(trip(str(n), ts=1) for n in range(5)), trip("6", "a", None))
    with pytest.raises(InvalidRows):
        getattr(hudi_spark, operation)(frame(spark, rows), table.uri)
    assert contents(table.storage) == before
    getattr(hudi_spark, operation)(frame(spark, flagged(trip("1", ts=1), trip("6", _hoodie_is_deleted=True))), table.uri)
    assert [row["id"] for row in data_rows(table.snapshot())] == ["1"]


@pytest.mark.parametrize("operation", ["bulk_insert", "upsert"])
def test_values_are_converted_to_the_tables_types(spark: Any, make_table: Make, operation: str) -> None:
    """A column of another type is written where each of its values fits, as the reference writes it."""
    table = make_table(partition=("p",))
    rows = trips(trip("1", "a", None, "p")).set_column(2, "ts", pa.array([7], pa.int16()))
    getattr(hudi_spark, operation)(frame(spark, rows), table.uri)
    assert data_rows(table.snapshot()) == [trip("1", "a", 7, "p")]


def test_tables_with_unsupported_features_are_refused(spark: Any, make_table: Make) -> None:
    """A table with indexes that this writer does not maintain is not written, and neither is a table in the memory of this
    process.
    """
    table = make_table()
    set_property(table.storage, "hoodie.table.metadata.partitions", "other_index,files")
    with pytest.raises(UnsupportedTableFeature):
        hudi_spark.upsert(frame(spark, trips(trip("1"))), table.uri)
    with pytest.raises(Misuse):
        hudi_spark.upsert(frame(spark, trips(trip("1"))), "memory:///t")


TIMES: dict[str, Any] = {
    "type": "record", "name": "times",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "local", "type": ["null", {"type": "long", "logicalType": "local-timestamp-micros"}], "default": None},
        {"name": "instant", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}], "default": None},
    ],
}  # fmt: skip


@pytest.mark.parametrize("operation", ["upsert", "bulk_insert", "delete", "delete_partition"])
def test_a_misspelt_setting_is_refused(spark: Any, make_table: Make, operation: str) -> None:
    """No setting is ignored, and nothing is written."""
    table = make_table()
    before = contents(table.storage)
    with pytest.raises(Misuse) as error:
        getattr(hudi_spark, operation)(
            frame(spark, trips(trip("1"))), table.uri, options={"hoodie.parquet.compresion.codec": "zstd"}
        )
    assert error.value.remedy == "did you mean hoodie.parquet.compression.codec?"
    assert contents(table.storage) == before


@pytest.mark.parametrize("operation", ["upsert", "bulk_insert"])
def test_timestamps_are_converted_in_the_zone_of_the_session(spark: Any, make_table: Make, operation: str) -> None:
    """A timestamp for a column of local times, and the other way, is what Spark shows; the format refuses what it cannot convert."""
    table = make_table(schema=TIMES)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        rows = spark.sql("SELECT '1' id, timestamp'2026-01-01 03:00:00' local, timestamp_ntz'2026-01-01 03:00:00' instant")
        getattr(hudi_spark, operation)(rows, table.uri)
        hudi_spark.register(spark)
        with pytest.raises(InvalidRows, match="time zone of the session"), hudi_spark.errors_of_executors():
            rows.write.format("hudi-reference").mode("append").option("operation", operation).save(table.uri)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    [row] = table.snapshot(["local", "instant"]).to_pylist()
    assert row["local"] == datetime.datetime(2026, 1, 1, 3)
    assert row["instant"] == datetime.datetime(2025, 12, 31, 18, tzinfo=datetime.UTC)


_PREFIX = {"timestamp-micros": "times", "local-timestamp-micros": "local"}


def _nested(kind: str) -> list[dict[str, Any]]:
    """A struct, an array, a map and an array of structs with these timestamps."""
    time = ["null", {"type": "long", "logicalType": kind}]
    part = [{"name": "at", "type": time, "default": None}, {"name": "n", "type": ["null", "long"], "default": None}]
    inner = {"type": "record", "name": f"inner_{_PREFIX[kind]}", "fields": part}
    outer = {"type": "record", "name": f"outer_{_PREFIX[kind]}", "fields": part}
    kinds = {"s": outer, "l": {"type": "array", "items": time}, "m": {"type": "map", "values": time}}
    fields = {**kinds, "ls": {"type": "array", "items": ["null", inner]}}
    return [{"name": f"{_PREFIX[kind]}_{name}", "type": ["null", one], "default": None} for name, one in fields.items()]


NESTED_TIMES: dict[str, Any] = {
    "type": "record", "name": "nested",
    "fields": [{"name": "id", "type": "string"}, *_nested("timestamp-micros"), *_nested("local-timestamp-micros")],
}  # fmt: skip


def nested(literal: str) -> str:
    """The columns with the same time in each place, the columns of local times as well."""
    columns = {"s": f"named_struct('at', {literal}, 'n', 1L)", "l": f"array({literal}, null)", "m": f"map('a', {literal})",
               "ls": f"array(named_struct('at', {literal}, 'n', 1L))"}  # fmt: skip
    return ", ".join(f"{value} {kind}_{name}" for kind in ("times", "local") for name, value in columns.items())


WRITES: dict[str, Callable[[Any, str], Any]] = {
    "upsert": hudi_spark.upsert,
    "bulk_insert": hudi_spark.bulk_insert,
    "merge_into": hudi_spark.merge_into,
    "global index": lambda rows, uri: hudi_spark.upsert(rows, uri, options={"hoodie.index.type": "GLOBAL_SIMPLE"}),
}


@pytest.mark.parametrize("write_rows", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("literal", ["timestamp", "timestamp_ntz"])
def test_nested_timestamps_are_converted_in_the_zone_of_the_session(
    spark: Any, make_table: Make, literal: str, write_rows: Callable[[Any, str], Any]
) -> None:
    """LF-038: in structs, arrays and maps as in columns: a wall-clock time of Tokyo is that local time, nine hours ahead of UTC."""
    table = make_table(schema=NESTED_TIMES)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    columns = nested(f"{literal}'2026-01-01 03:00:00'")
    try:
        rows = spark.sql(f"SELECT '1' id, {columns}")
        hudi_spark.register(spark)
        with pytest.raises(InvalidRows, match="time zone of the session"), hudi_spark.errors_of_executors():
            rows.write.format("hudi-reference").mode("append").save(table.uri)
        write_rows(rows, table.uri)
        shown = hudi_spark.read(spark, table.uri).selectExpr("cast(times_s.at as string)", "cast(local_s.at as string)").first()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert set(shown) == {"2026-01-01 03:00:00"}
    [row] = open_table(table.uri).snapshot().to_pylist()
    times = {"times": datetime.datetime(2025, 12, 31, 18, tzinfo=datetime.UTC), "local": datetime.datetime(2026, 1, 1, 3)}
    for kind, time in times.items():
        inner = {"at": time, "n": 1}
        found = [row[f"{kind}_{name}"] for name in ("s", "l", "m", "ls")]
        assert found == [inner, [time, None], [("a", time)], [inner]], kind


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_nested_timestamps_are_read_in_every_zone(spark: Any, make_table: Make, table_type: str, zone: str) -> None:
    """Rows, filters and copies of nested timestamps are those of the reference, also where a clock is set back."""
    table = make_table(schema=NESTED_TIMES, table_type=table_type)
    times = [datetime.datetime(2026, 11, 1, hour, 30, tzinfo=datetime.UTC) for hour in (4, 5, 6)]
    times.append(datetime.datetime(1969, 12, 31, 23, tzinfo=datetime.UTC))
    stored = [_nested_row(str(n), time) for n, time in enumerate(times)]
    table.upsert(rows_of(NESTED_TIMES, *stored))
    table.upsert(rows_of(NESTED_TIMES, stored[0]))
    copy = create_table(f"{table.uri}_copy", name="copy", schema=NESTED_TIMES, record_key=("id",))
    expected = table.snapshot([field["name"] for field in NESTED_TIMES["fields"]])
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        hudi_spark.register(spark)
        for found in (hudi_spark.read(spark, table.uri), spark.read.format("hudi-reference").load(table.uri)):
            assert rows_of_frame(found.select(expected.column_names), expected.schema) == in_order(expected)
            places = ("s.at", "l[0]", "m['a']", "ls[0].at")
            conditions = [f"times_{place} >= timestamp'2026-11-01 06:00:00Z'" for place in places]
            conditions += [f"local_{place} >= timestamp_ntz'2026-11-01 06:00:00'" for place in places]
            assert [row.id for row in found.where(" AND ".join(conditions)).collect()] == ["2"]
        named = hudi_spark.read(spark, table.uri, columns=["id"], where=[("times_s.at", ">=", times[2])])
        assert [row.id for row in named.collect()] == ["2"]
        hudi_spark.upsert(hudi_spark.read(spark, table.uri, columns=expected.column_names), copy.uri)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert in_order(copy.snapshot(expected.column_names)) == in_order(expected)


def _nested_row(key: str, time: datetime.datetime) -> dict[str, Any]:
    """A row of nested timestamps, with the local time of UTC."""
    row: dict[str, Any] = {"id": key}
    for kind, value in {"times": time, "local": time.replace(tzinfo=None)}.items():
        inner = {"at": value, "n": None}
        row |= {f"{kind}_s": inner, f"{kind}_l": [value], f"{kind}_m": [("a", value)], f"{kind}_ls": [inner]}
    return row


def test_speculative_tasks_are_refused(spark: Any, make_table: Make) -> None:
    """An attempt that still writes while the driver completes the commit would add its rows once more."""
    table = make_table()
    spark.sparkContext._conf.set("spark.speculation", "true")
    try:
        with pytest.raises(Misuse, match="speculative"):
            hudi_spark.upsert(frame(spark, trips(trip("1"))), table.uri)
    finally:
        spark.sparkContext._conf.set("spark.speculation", "false")
    assert not table.timeline.instants


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_task_that_fails_after_writing_leaves_no_duplicates(
    spark: Any, make_table: Make, monkeypatch: pytest.MonkeyPatch, table_type: str
) -> None:
    """The files of a lost attempt are deleted before the commit completes: rows and files are those of one attempt."""

    class FailsAtFirst(FilesTask):
        def append(self, given: Batches) -> Iterator[pa.RecordBatch]:
            return self.once(FilesTask.append(self, given))

        def change(self, given: Batches) -> Iterator[pa.RecordBatch]:
            return self.once(FilesTask.change(self, given))

        def once(self, stats: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            written = list(stats)
            if TaskContext.get().attemptNumber() == 0:
                raise OSError("the executor crashes with its files written")
            yield from written

    table = make_table(table_type=table_type, ordering=("ts",), partition=("p",))
    monkeypatch.setattr(write, "FilesTask", FailsAtFirst)
    hudi_spark.bulk_insert(frame(spark, trips(*(trip(str(n), "old", 1, f"p{n % 2}") for n in range(10)))), table.uri)
    hudi_spark.upsert(frame(spark, trips(trip("1", "new", 2, "p1"), trip("new", "new", 2, "p0"))), table.uri)
    assert names(table) == {**{str(n): "old" for n in range(10)}, "1": "new", "new": "new"}
    named = {stat.path for commit in table.file_groups().commits.values() for stat in commit.stats}
    assert set(data_files(table)) == named


def test_a_write_that_fails_permanently_is_never_visible(spark: Any, make_table: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files it left belong to an action that is not completed, which stays for a rollback."""
    from pyspark.errors import PySparkException

    class Fails(FilesTask):
        def append(self, given: Batches) -> Iterator[pa.RecordBatch]:
            yield from FilesTask.append(self, given)
            raise OSError("no space left")

    table = make_table()
    table.insert(trips(trip("1", "kept")))
    monkeypatch.setattr(write, "FilesTask", Fails)
    with pytest.raises(PySparkException, match="no space left"):
        hudi_spark.bulk_insert(frame(spark, trips(trip("2", "lost"))), table.uri)
    assert names(table) == {"1": "kept"}
    assert [instant.state.name for instant in table.timeline.pending] == ["INFLIGHT"]
    assert len(data_files(table)) > 1


def test_a_write_that_was_rolled_back_meanwhile_conflicts(
    spark: Any, make_table: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the inflight instant is removed, the write fails: nothing of it becomes visible."""

    class RolledBack(FilesTask):
        def append(self, given: Batches) -> Iterator[pa.RecordBatch]:
            commit = self.commit
            commit.table.storage.delete(f"{commit.table.properties.timeline_folder}/{commit.requested}.inflight")
            return FilesTask.append(self, given)

    table = make_table()
    monkeypatch.setattr(write, "FilesTask", RolledBack)
    with pytest.raises(WriteConflict):
        hudi_spark.bulk_insert(frame(spark, trips(trip("1"))), table.uri)
    assert table.snapshot().num_rows == 0


def test_a_write_that_loses_its_file_group_conflicts(spark: Any, make_table: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer that changed the same file group first keeps its update."""
    table = make_table()
    table.insert(trips(trip("1", "old", 1)))
    uri, other = table.uri, trips(trip("1", "other", 1))

    class Late(FilesTask):
        def change(self, given: Batches) -> Iterator[pa.RecordBatch]:
            rows = list(given)
            if rows:
                open_table(uri).upsert(other)
            return FilesTask.change(self, rows)

    monkeypatch.setattr(write, "FilesTask", Late)
    with pytest.raises(WriteConflict, match="same file group"):
        hudi_spark.upsert(frame(spark, trips(trip("1", "mine", 1))), uri)
    assert names(table) == {"1": "other"}


def test_tables_on_s3_are_written_by_the_executors(spark: Any, s3_bucket: str) -> None:
    """Keys are looked up and files written through the store that the URI names."""
    uri = f"{s3_bucket}/{uuid4()}"
    create_table(uri, name="t", schema=SCHEMA, record_key=("id",), table_type="MERGE_ON_READ", ordering=("ts",))
    hudi_spark.bulk_insert(frame(spark, trips(trip("1", "a", 1), trip("2", "b", 1))), uri)
    hudi_spark.upsert(frame(spark, trips(trip("1", "c", 2), trip("3", "d", 1))), uri)
    assert names(open_table(uri)) == {"1": "c", "2": "b", "3": "d"}


TWICE = (
    trips(trip("1", "a", 1, "p0"), trip("2", "b", 1, "p1")),
    trips(trip("1", "c", 2, "p1"), trip("3", "d", 1, "p0")),
)


@pytest.mark.parametrize(
    "options",
    [
        {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"},
        {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"},
        {write.MOVES_KEY: "true"},
    ],
)
def test_other_placements_are_those_of_the_reference(spark: Any, make_table: Make, options: dict[str, str]) -> None:
    """Tables with bucket and global indexes, and updates that move: the rows are what the reference makes of them."""
    table = make_table(partition=("p",))
    other = create_table(
        "memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), storage=MemoryStorage(), options=options
    )
    for rows in TWICE:
        hudi_spark.upsert(frame(spark, rows), table.uri, options=options)
        other.upsert(rows)
    columns = ["id", "name", "p"]
    assert in_order(table.snapshot(columns)) == in_order(other.snapshot(columns))
    assert not write.places_by_lookup(replace(table, options=options))
    assert write.places_by_lookup(replace(table, options={"hoodie.index.type": "BLOOM"}))
