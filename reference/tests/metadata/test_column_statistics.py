"""Column and partition statistics: the bounds of each type, and the indexes after every action."""

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference_samples import SCHEMA, TABLE_TYPES, keys, new_table, trip, trips

from hudi_reference import WritableTable, clean, cluster, compact, log_compact, open_table, restore, rollback, savepoint
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.availability import USABLE, read_definitions
from hudi_reference.metadata.indexes.all import index_of
from hudi_reference.metadata.keys import column_stats_key, partition_stats_key
from hudi_reference.metadata.records import Bound, ColumnStats, PartitionStats
from hudi_reference.metadata.statistics.bounds import bounds_of
from hudi_reference.metadata.statistics.columns import indexable_columns
from hudi_reference.metadata.statistics.files import statistics_of
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.storage import MemoryStorage

STATISTICS = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
BOTH = pytest.mark.parametrize("kind", TABLE_TYPES)
META = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key")


def opened(table: WritableTable, **options: str) -> WritableTable:
    """The table as it is now, with a writer whose settings ask for statistics."""
    return open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids, options={**STATISTICS, **options})


def indexed_table(kind: str = "COPY_ON_WRITE", **options: Any) -> WritableTable:
    """A table with three rows in two partitions, whose writers maintain statistics."""
    table = new_table(**{"partition": ("p",), "table_type": kind, "options": STATISTICS, **options})
    table.insert(trips(trip("a", "one", 1, "x"), trip("b", None, 5, "y"), trip("c", "two", 9, "x")))
    return opened(table)


def stored(table: WritableTable, partition: str = "column_stats") -> dict[str, Any]:
    """The entries of an index by key."""
    metadata = MetadataTable.for_table(table)
    assert metadata is not None and partition in read_properties(table.storage).fields(USABLE)
    return {key: record.payload for key, record in metadata.records(partition, table.timeline).items()}


def expected(table: WritableTable, partition: str = "column_stats") -> dict[str, Any]:
    """The entries of a new index of the same table."""
    return {record.key: record.payload for record in index_of(table, partition).whole(table, table.view())}


def check(table: WritableTable) -> None:
    """Every file and partition has the statistics that a new index would have."""
    files = {path.rpartition("/")[2] for path in expected_files(table)}
    assert {one.file_name for one in stored(table).values()} == files
    for partition in ("column_stats", "partition_stats"):
        assert stored(table, partition) == expected(table, partition), partition


def expected_files(table: WritableTable) -> list[str]:
    """The paths of the files of all slices."""
    slices = [one for group in table.view().groups for one in group.slices]
    return [one.path(name) for one in slices for name in (one.base_file, *one.log_files) if name and name not in one.missing]


TYPES: list[tuple[pa.DataType, list[Any], str, Any, Any]] = [
    (pa.bool_(), [True, False, None], "BooleanWrapper", False, True),
    (pa.int16(), [3, -4], "IntWrapper", -4, 3),
    (pa.int32(), [3, None, -4], "IntWrapper", -4, 3),
    (pa.int64(), [1 << 40, -1], "LongWrapper", -1, 1 << 40),
    (pa.float32(), [1.5, -2.5], "FloatWrapper", -2.5, 1.5),
    (pa.float64(), [1.5, -2.5], "DoubleWrapper", -2.5, 1.5),
    (pa.string(), ["é", "z", "Z"], "StringWrapper", "Z", "é"),
    (pa.binary(), [b"\xff", b"\x01", b""], "BytesWrapper", b"", b"\xff"),
    (pa.date32(), [date(1969, 12, 30), date(1970, 1, 3)], "DateWrapper", -2, 2),
    (pa.time32("ms"), [time(0, 0, 1), time(0, 0, 2)], "IntWrapper", 1000, 2000),
    (pa.time64("us"), [time(0, 0, 1), time(0, 0, 2)], "LongWrapper", 1000000, 2000000),
    (pa.timestamp("us", "UTC"), [datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)], "LongWrapper", 1000000, 1000000),
    (pa.timestamp("ms"), [datetime(1970, 1, 1, 0, 0, 1), datetime(1969, 12, 31)], "LongWrapper", -86400000, 1000),
    (pa.decimal128(10, 2), [Decimal("123.45"), Decimal("-1.00")], "DecimalWrapper", Decimal(-1), Decimal("123.45")),
    (pa.decimal128(20, 5), [Decimal("-123456789012345.67891")], "DecimalWrapper", *[Decimal("-123456789012345.67891")] * 2),
]


@pytest.mark.parametrize(("kind", "values", "wrapper", "least", "greatest"), TYPES, ids=lambda value: str(value)[:20])
@pytest.mark.parametrize("by_footer", [False, True])
def test_bounds_of_each_type(
    kind: pa.DataType, values: list[Any], wrapper: str, least: Any, greatest: Any, by_footer: bool
) -> None:
    """MDT-014: the least and greatest value in the wrapper of the type, from values and from the footer of a Parquet file."""
    column = pa.chunked_array([pa.array(values, kind)])
    if by_footer:
        storage = parquet(pa.table({"c": column}))
        one = statistics_of(storage, "f.parquet", ["c"]).columns["c"]
        found = (one.least, one.greatest)
        assert (one.value_count, one.null_count) == (len(values), values.count(None))
    else:
        found = bounds_of(column)  # type: ignore[assignment]
    assert found == (Bound(wrapper, least), Bound(wrapper, greatest))


def parquet(rows: pa.Table, **options: Any) -> MemoryStorage:
    """A storage with the rows in the Parquet file f.parquet."""
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, **options)
    storage = MemoryStorage()
    storage.create("f.parquet", sink.getvalue().to_pybytes())
    return storage


@pytest.mark.parametrize(
    ("values", "least", "greatest"),
    [
        ([1.0, math.nan, -2.0], -2.0, math.nan),
        ([math.nan, math.nan], math.nan, math.nan),
        ([0.0, 1.0], -0.0, 1.0),
        ([-1.0, -0.0], -1.0, 0.0),
        ([None, None], None, None),
    ],
)
def test_no_float_is_outside_of_its_bounds(values: list[float], least: float, greatest: float) -> None:
    """MDT-010: a NaN is the greatest number, and a zero bound holds for zeros of either sign; footers have neither."""
    one = statistics_of(parquet(pa.table({"c": pa.array(values, pa.float64())})), "f.parquet", ["c"]).columns["c"]
    bounds = [None if bound is None else str(bound.value) for bound in (one.least, one.greatest)]
    assert bounds == [None if bound is None else str(bound) for bound in (least, greatest)]


@pytest.mark.parametrize("options", [{"write_statistics": False}, {"row_group_size": 1}, {"max_rows_per_page": 1}])
def test_footers_without_ranges_are_replaced_by_values(options: dict[str, Any]) -> None:
    """MDT-010: a text that is too long for a footer, a file without statistics, and several row groups."""
    rows = pa.table({"c": ["x" * 9000, "a", None], "n": pa.array([None, None, None], pa.int32())})
    found = statistics_of(parquet(rows, **options), "f.parquet", ["c", "n", "absent"]).columns
    assert (found["c"].least, found["c"].greatest) == (Bound("StringWrapper", "a"), Bound("StringWrapper", "x" * 9000))
    assert (found["c"].value_count, found["c"].null_count) == (3, 1)
    assert (found["n"].least, found["n"].null_count) == (None, 3)
    assert set(found) == {"c", "n"}


def test_nested_columns_have_paths() -> None:
    """MDT-014: a column in a struct is named by its path; it is null where the struct is null."""
    kind = pa.struct([("a", pa.float64()), ("b", pa.int32())])
    rows = pa.table({"n": pa.array([{"a": 1.0, "b": 2}, None, {"a": math.nan, "b": 5}], kind)})
    found = statistics_of(parquet(rows), "f.parquet", ["n.a", "n.b", "n"]).columns
    assert (found["n.b"].least, found["n.b"].null_count) == (Bound("IntWrapper", 2), 1)
    assert found["n.a"].least == Bound("DoubleWrapper", 1.0) and set(found) == {"n.a", "n.b"}


@BOTH
def test_statistics_follow_every_write(kind: str) -> None:
    """MDT-001, MDT-014: after inserts, updates, a new partition and deletes, and the values are those of the rows."""
    table = indexed_table(kind)
    check(table)
    for act in WRITES:
        act(opened(table))
        check(opened(table))
    found = stored(table, "partition_stats")[partition_stats_key("ts", "z")]
    assert isinstance(found, PartitionStats) and found.is_tight
    assert (found.least, found.greatest, found.value_count) == (Bound("LongWrapper", 7), Bound("LongWrapper", 7), 1)


WRITES: list[Callable[[WritableTable], object]] = [
    lambda table: table.upsert(trips(trip("a", "three", 30, "x"), trip("d", "new", 7, "z"))),
    lambda table: table.delete(keys("b", p=["y"])),
    lambda table: table.insert(trips(trip("e", None, None, "y"))),
    lambda table: table.upsert(trips(trip("c", "four", -4, "x"))),
]


@pytest.mark.parametrize("kind", ["MERGE_ON_READ"])
def test_statistics_of_log_files(kind: str) -> None:
    """MDT-014: a log file has the range of the rows in it, and no range if it has only deletes; sizes are 0."""
    table = indexed_table(kind)
    table.upsert(trips(trip("a", "three", 30, "x")))
    table.delete(keys("c", p=["x"]))
    found = [one for one in stored(table).values() if one.column == "ts" and one.file_name.startswith(".")]
    ranges = {(one.least and one.least.value, one.value_count, one.null_count, one.total_size) for one in found}
    assert ranges == {(30, 1, 0, 0), (None, 0, 0, 0)}


@BOTH
def test_statistics_follow_every_service(kind: str) -> None:
    """MDT-001: compaction, log compaction, clustering, cleaning, rollback, savepoint and restore, replacing writes."""
    table = indexed_table(kind)
    WRITES[0](table)
    if kind == "MERGE_ON_READ":
        log_compact(opened(table), {"hoodie.log.compaction.blocks.threshold": "1"})
        check(opened(table))
        compact(opened(table), {"hoodie.compact.inline.max.delta.commits": "1"})
        check(opened(table))
    times = [opened(table).timeline.commits[-1].requested]
    savepoint(opened(table), times[0])
    WRITES[3](opened(table))
    rollback(opened(table), opened(table).timeline.commits[-1].requested)
    check(opened(table))
    WRITES[3](opened(table))
    restore(opened(table), times[0])
    check(opened(table))
    cluster(opened(table), {"hoodie.clustering.plan.strategy.sort.columns": "ts"})
    check(opened(table))
    clean(opened(table), {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"})
    check(opened(table))
    opened(table).insert_overwrite(trips(trip("o", "only", 100, "x")))
    check(opened(table))
    opened(table).delete_partitions(["y"])
    check(opened(table))
    assert not any(one.partition == "y" for one in stored(table, "partition_stats").values())


def test_an_existing_table_gets_statistics() -> None:
    """IDX-009, MDT-011: the first writer whose settings ask for statistics makes those of all files, and their definition."""
    table = new_table(partition=("p",))
    table.insert(trips(trip("a", "one", 1, "x"), trip("b", None, 5, "y")))
    opened(table).upsert(trips(trip("a", "two", 2, "x")))
    check(opened(table))
    (definition,) = read_definitions(table.storage, read_properties(table.storage))
    assert definition.partition == "column_stats" and definition.columns == (*META, "id", "name", "ts", "p")


def test_the_settings_choose_the_columns() -> None:
    """MDT-011: a list of columns, or the first ones; another list makes the statistics anew."""
    key = "hoodie.metadata.index.column.stats"
    table = indexed_table(options={**STATISTICS, f"{key}.max.columns.to.index": "2"})
    assert {one.column for one in stored(table).values()} == {*META, "id", "name"}
    listed = {f"{key}.column.list": "ts,absent"}
    opened(table, **listed).upsert(trips(trip("a", "two", 2, "x")))
    assert {one.column for one in stored(table).values()} == {*META, "ts"}
    check(opened(table, **listed))
    opened(table).upsert(trips(trip("a", "three", 3, "x")))
    assert {one.column for one in stored(table).values()} == {*META, "ts"}
    check(opened(table))


def test_a_later_column_gets_statistics() -> None:
    """MDT-014: a column that a write adds is indexed from then on; earlier files have no statistics of it."""
    table = indexed_table()
    before = {one.file_name for one in stored(table).values()}
    later = opened(table, **{"hoodie.datasource.write.reconcile.schema": "true"})
    later.insert(trips(trip("n", "new", 4, "z")).append_column("later", pa.array([3], pa.int32())))
    found = {one.file_name: one.least for one in stored(table).values() if one.column == "later"}
    assert not before & set(found) and set(found.values()) == {Bound("IntWrapper", 3)}
    assert read_definitions(table.storage, read_properties(table.storage))[0].columns[-1] == "later"
    check(opened(table))


def test_a_partial_update_has_the_range_of_its_slice() -> None:
    """MDT-010: an updated record has columns of the log file and of the base file; the log file's statistics cover both."""
    table = indexed_table("MERGE_ON_READ")
    table.partial_update(pa.table({"id": ["a"], "p": ["x"], "ts": pa.array([50], pa.int64())}))
    found = {one.column: one for one in stored(table).values() if one.file_name.startswith(".")}
    assert (found["ts"].least, found["ts"].greatest) == (Bound("LongWrapper", 50), Bound("LongWrapper", 50))
    assert (found["name"].least, found["name"].greatest) == (Bound("StringWrapper", "one"), Bound("StringWrapper", "two"))
    check(opened(table))


def test_a_table_without_partitions_has_no_partition_statistics() -> None:
    """IDX-009: partition statistics need partitions; the key of a file's statistics has a dot for the base path."""
    table = indexed_table(partition=())
    assert read_properties(table.storage).fields(USABLE) == ("column_stats", "files")
    (name,) = {one.file_name for one in stored(table).values()}
    assert column_stats_key("ts", "", name) in stored(table)


def test_only_some_columns_can_have_statistics() -> None:
    """MDT-014: not lists, maps, enumerations, fixed bytes; in index version V1 no decimals with more digits than the wrapper."""
    fields = {
        "list": {"type": "array", "items": "int"},
        "map": {"type": "map", "values": "int"},
        "enum": {"type": "enum", "name": "e", "symbols": ["A"]},
        "fixed": {"type": "fixed", "name": "f", "size": 4},
        "wide": {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 4},
        "deep": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 16},
        "decimal": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 15},
        "struct": {"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]},
        "n": "int",
    }
    schema = {**SCHEMA, "fields": [{"name": name, "type": ["null", kind]} for name, kind in fields.items()]}
    assert list(indexable_columns(schema, "V1")) == ["decimal", "struct.a", "n"]
    assert list(indexable_columns(schema, "V2")) == ["wide", "deep", "decimal", "struct.a", "n"]


def test_false_bounds_of_deployed_writers_are_not_aggregated() -> None:
    """MDT-010: the entry of a file with a NaN has the range 0 to 0: a partition's statistics are then made from the file."""
    from hudi_reference.metadata.indexes.partition_stats import _is_reliable

    zero, none = Bound("DoubleWrapper", 0.0), None
    name = "1-0_0-1-2_20260101000000000.parquet"
    assert not _is_reliable(ColumnStats("c", zero, zero, 3, 0, 1, 1, file_name=name))
    assert not _is_reliable(ColumnStats("c", none, none, 3, 3, 1, 1, file_name=name))
    assert _is_reliable(ColumnStats("c", zero, Bound("DoubleWrapper", 1.0), 3, 0, 1, 1, file_name=name))


@pytest.mark.parametrize("kind", TABLE_TYPES)
@pytest.mark.parametrize("format", ["ORC", "HFILE"])
def test_base_files_other_than_parquet_have_no_statistics(format: str, kind: str) -> None:
    """MDT-010, MDT-011: deployed writers store none of such files; with statistics of some files of a partition, or of some
    partitions, their readers would leave out the others."""
    properties = {"hoodie.table.base.file.format": format}
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
    table = new_table(partition=("p",), table_type=kind, properties=properties, options=options)
    table.insert(trips(trip("1", "a", 1, "x"), trip("2", "b", 1, "y")))
    table.upsert(trips(trip("1", "c", 2, "x")))
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    found = metadata.records("column_stats", table.timeline).values()
    assert all(".log." in one.payload.file_name for one in found)  # type: ignore[union-attr]
    assert not metadata.records("partition_stats", table.timeline)
    assert table.snapshot(["id"], [("name", "=", "b")]).to_pylist() == [{"id": "2"}]
