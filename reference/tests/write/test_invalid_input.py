"""Invalid calls: one typed error that names the rule, and a table that is as it was."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from reference_samples import (
    SCHEMA,
    TABLE_TYPES,
    names,
    new_table,
    reopened,
    rows_of,
    set_property,
    trip,
    trips,
)
from refused_calls import refused, sample

from hudi_reference import WritableTable, cluster, compact, open_table
from hudi_reference.errors import (
    HudiError,
    InvalidQuery,
    InvalidRows,
    MalformedTable,
    PathOutsideTable,
    TableExists,
    UnsupportedTableFeature,
)
from hudi_reference.storage import MemoryStorage


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda rows: rows.drop_columns(["id"]), "LF-038"),
        (lambda rows: rows.drop_columns(["name"]), "LF-038"),
        (lambda rows: rows.append_column("extra", rows.column("ts")), "LF-038"),
        (lambda rows: rows.append_column("name", rows.column("name")), "LAY-002"),
        (lambda rows: rows.set_column(2, "ts", pa.array(["no number"] * rows.num_rows)), "LF-038"),
        (lambda rows: rows.set_column(2, "ts", pa.array([[1]] * rows.num_rows)), "LF-038"),
        (lambda rows: rows.set_column(2, "ts", pa.array([1.5] * rows.num_rows)), "LF-038"),
        (lambda rows: rows.set_column(2, "ts", pa.array([2**64 - 1] * rows.num_rows, pa.uint64())), "LF-038"),
        (lambda rows: rows.set_column(0, "id", pa.array([b"\xff"] * rows.num_rows)), "LF-038"),
        (lambda rows: rows.set_column(0, "id", pa.nulls(rows.num_rows, pa.string())), "META-007"),
        (lambda rows: rows.set_column(0, "id", pa.array(["k", ""], pa.string())), "META-007"),
    ],
)
@pytest.mark.parametrize("operation", ["insert", "upsert", "bulk_insert"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_rows_that_do_not_fit_are_refused_before_anything_is_written(
    table_type: str, operation: str, change: Callable[[pa.Table], pa.Table], rule: str
) -> None:
    """PROP-007, META-007, LF-038, LAY-002: missing, unknown, repeated columns, other types, null and empty keys."""
    table = sample(table_type)
    rows = change(trips(trip("8", "x", 1, "x"), trip("9", "y", 1, "x")))
    with refused(table, InvalidRows, rule):
        getattr(table, operation)(rows)


@pytest.mark.parametrize("operation", ["insert", "upsert"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_null_in_a_required_column_is_refused(table_type: str, operation: str) -> None:
    """LF-038: the stored schema allows no null."""
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "must", "type": "long"}]}
    table = new_table(schema=schema, table_type=table_type)
    table.insert(rows_of(schema, trip("1", must=1)))
    with refused(table, InvalidRows, "LF-038"):
        getattr(table, operation)(rows_of(schema, trip("1", must=2), trip("2", must=None)))


@pytest.mark.parametrize(
    "key_rows", [{"p": ["x"]}, {"id": ["1"]}, {"id": [None], "p": ["x"]}, {"id": ["1"], "p": ["x"], "q": [1]}]
)
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_deletes_need_key_and_partition(table_type: str, key_rows: dict[str, list[Any]]) -> None:
    """PROP-007, PROP-008: a delete names its record by key and partition columns, and nothing that the table lacks."""
    table = sample(table_type)
    types = {"id": pa.string(), "p": pa.string(), "q": pa.int64()}
    with refused(table, InvalidRows):
        table.delete(pa.table({name: pa.array(values, types[name]) for name, values in key_rows.items()}))


@pytest.mark.parametrize("value", ["..", "../x", "/x", "a/../b", ".", "a/", "a//b", ".hoodie", ".hoodie/timeline", "a\0b", "/"])
@pytest.mark.parametrize("hive_style", [False, True])
def test_a_partition_value_that_cannot_be_a_folder_is_refused(value: str, hive_style: bool) -> None:
    """LAY-005, PROP-016: the folder would be outside the table, hidden from listings, or among the table's own files."""
    table = new_table(partition=("p",), hive_style=hive_style)
    if hive_style and value in (".", "..", "../x", "/x", ".hoodie", ".hoodie/timeline"):  # p=.. is a name like any other
        table.insert(trips(trip("1", "a", 1, value)))
        assert names(table) == {"1": "a"}
        return
    with refused(table, InvalidRows, "LAY-005"):
        table.insert(trips(trip("1", "a", 1, value)))


@pytest.mark.parametrize("value", ["a/b", "..x", "x..", ".hidden", "a b", "%2F", "ü", "\n", "a=b", ".hoodiex"])
def test_a_partition_value_that_can_be_a_folder_is_accepted(value: str) -> None:
    """PROP-016: unusual values are valid; a slash makes a further level."""
    table = new_table(partition=("p",))
    table.insert(trips(trip("1", "a", 1, value)))
    table.upsert(trips(trip("1", "b", 1, value)))
    assert names(reopened(table)) == {"1": "b"}


@pytest.mark.parametrize(
    "query",
    [
        {"columns": ["nothing"]},
        {"columns": ["id", ""]},
        {"where": [("nothing", "=", 1)]},
        {"where": [("ts", "like", 1)]},
        {"where": [("ts", "=", "no number")]},
        {"where": [("id", "<", 5)]},
        {"where": [("ts", "=", 2**70)]},
        {"where": [("ts", "=", [1])]},
        {"where": [("ts", "=", object())]},
    ],
)
def test_an_invalid_query_is_refused(query: dict[str, Any]) -> None:
    """TYP-007: unknown columns and comparisons, constants that do not fit."""
    table = sample()
    with refused(table, InvalidQuery):
        table.snapshot(**query)


@pytest.mark.parametrize(
    "time", ["", "now", "2026", "20260101", "2026-01-01X00:00:00", "2026-1-1", "٢" * 17, "2026010100000000x"]
)
def test_an_invalid_time_is_refused(time: str) -> None:
    """TYP-008: 17 or 14 digits, or a date with or without time."""
    table = sample()
    with refused(table, InvalidQuery, "TYP-008"):
        table.as_of(time)


def test_a_table_is_not_created_over_another() -> None:
    """LAY-013: the existing table is unchanged, also if only its folder is left."""
    table = sample()
    with refused(table, TableExists, "LAY-013"):
        new_table(table.storage)
    remains = MemoryStorage()
    remains.put(".hoodie/timeline/x", b"")
    with refused(remains, TableExists, "LAY-013"):
        new_table(remains)


@pytest.mark.parametrize(
    "options",
    [
        {"record_key": ("nothing",)},
        {"partition": ("nothing",)},
        {"ordering": ("nothing",)},
        {"merge_mode": "CUSTOM"},
        {"merge_mode": "EVENT_TIME_ORDERING"},
        {"schema": {"type": "record", "name": "r"}},
        {"schema": "no JSON"},
        {"schema": {"type": "record", "name": "r", "fields": [{"name": "id", "type": ["int", "string"]}]}},
    ],
)
def test_an_invalid_table_is_not_created(options: dict[str, Any]) -> None:
    """PROP-007, MRG-034, MRG-035: fields that the schema lacks, modes that do not fit, schemas that are none."""
    storage = MemoryStorage()
    with refused(storage, HudiError):
        new_table(storage, **options)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hoodie.table.metadata.partitions", "other_index,files"),
        ("hoodie.datasource.write.drop.partition.columns", "true"),
    ],
)
def test_a_table_with_unsupported_features_is_not_written(key: str, value: str) -> None:
    """PROP-001: a write without an index, change log or format of the table would lose data for readers that use it."""
    table = sample()
    set_property(table.storage, key, value)
    with refused(table, UnsupportedTableFeature, "PROP-001"):
        open_table("x:", storage=table.storage).insert(trips(trip("9", p="x")))


@pytest.mark.parametrize("call", [lambda table: table.insert(trips(trip("9", p="x"))), cluster, compact])
def test_a_table_with_a_file_of_a_bootstrap_of_metadata_is_not_written(call: Callable[[WritableTable], Any]) -> None:
    """LAY-007: the columns of its rows are outside of the table. A table that was bootstrapped with whole rows is written."""
    table = sample("MERGE_ON_READ")
    set_property(table.storage, "hoodie.bootstrap.base.path", "/elsewhere")
    call(open_table("x:", storage=table.storage))
    (whole, *_) = table.file_groups().latest_slices
    name = "0_1-1-1_00000000000001.parquet"
    table.storage.put(whole.path(name), table.storage.get(whole.path(whole.base_file or "")))
    with refused(table, UnsupportedTableFeature, "LAY-007"):
        call(open_table("x:", storage=table.storage))


def test_a_timeline_folder_outside_the_table_is_an_error() -> None:
    """LAY-005: the property is a name inside the table like any other."""
    table = sample()
    set_property(table.storage, "hoodie.timeline.path", "../../other/.hoodie/timeline")
    with refused(table, PathOutsideTable, "LAY-005"):
        open_table("x:", storage=table.storage).snapshot()


def test_errors_state_the_remedy() -> None:
    """A readable block: class, file, rule, what was expected and found, and how to learn more; it survives pickling."""
    import pickle

    error = MalformedTable("m", "TL-001", "p", 5, "e", "f", "c")
    assert str(error).splitlines() == [
        "MalformedTable: p: m", "  rule      TL-001", "  offset    byte 5", "  expected  e", "  found     f", "  remedy    c",
        "  see       hudi-conformance explain TL-001",
    ]  # fmt: skip
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (MalformedTable, str(error))


def test_a_change_without_key_fields_names_its_record() -> None:
    """PROP-007: without key fields the record of a row is not known, unless the row has its key."""
    table = sample()
    set_property(table.storage, "hoodie.table.recordkey.fields", None)
    with refused(table, InvalidRows, "PROP-007"):
        open_table("x:", storage=table.storage).upsert(trips(trip("9", p="x")))
