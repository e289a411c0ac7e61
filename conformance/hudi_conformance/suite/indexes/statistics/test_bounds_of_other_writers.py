"""Statistics of columns as other writers store them: filters find every row.

The reference writes the tables; the tests store what other writers do, and the engine under test reads.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.tables.clustered_tables import NewUri
from hudi_conformance.suite.support.tables.column_statistics import STATISTICS
from hudi_conformance.suite.support.tables.metadata_tables import PREFIX, values_where
from hudi_conformance.suite.support.tables.written_tables import base_files, replace_in_metadata, table_folder
from hudi_reference import open_table
from hudi_reference.metadata.records import Bound, ColumnStats, ValueType
from hudi_reference.metadata.statistics.bounds import wrapper_of
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Entries, encode_log_file

READS = ("read.snapshot", "read.filter", "read.projection", "copy-on-write", "merge.event-time", "partition.none")
#: Settings of a writer that adds no rows to files.
OPTIONS: Mapping[str, str] = {
    **STATISTICS, "hoodie.parquet.small.file.limit": "0", f"{PREFIX}index.column.stats.file.group.count": "1",
}  # fmt: skip
HIGH, HIGHER = "a\uffee", "a\U0001f600"
MOMENT = datetime(2026, 7, 3, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Stored:
    """A column with the value of the row a, the values of the rows b and c, which are in another file, and the bounds of that
    file; then filters with the keys of their rows.
    """

    avro: Any
    arrow: pa.DataType
    values: tuple[Any, Any, Any]
    least: Any
    greatest: Any
    filters: Mapping[tuple[str, Any], list[str]]
    #: The ordinal of the type of the bounds, where the table stores it.
    value_type: int | None = None
    version: int = 8


CASES: Mapping[str, Stored] = {
    "texts in the order of UTF-16": Stored(
        "string", pa.string(), ("b", HIGH, HIGHER), HIGHER, HIGH,
        {("=", HIGH): ["b"], ("=", HIGHER): ["c"], (">", HIGH): ["a", "c"], ("<", HIGHER): ["b"]},
    ),
    "numbers beside a NaN": Stored(
        "double", pa.float64(), (5.0, 1.0, math.nan), 1.0, 1.0, {("!=", 1.0): ["a", "c"], ("=", 1.0): ["b"]}
    ),
    "milliseconds of a column in microseconds": Stored(
        {"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", "UTC"),
        (datetime(2020, 1, 1, tzinfo=UTC), MOMENT, MOMENT),
        round(MOMENT.timestamp() * 1000), round(MOMENT.timestamp() * 1000),
        {("=", "2026-07-03T12:00:00Z"): ["b", "c"], (">", "2021-01-01T00:00:00Z"): ["b", "c"]}, 15, 9,
    ),
}  # fmt: skip
AT_9 = (pytest.mark.needs("table-version.9", "types.temporal"), pytest.mark.versions(9))
EACH = [pytest.param(name, marks=AT_9 if case.version == 9 else ()) for name, case in CASES.items()]

pytestmark = pytest.mark.versions(8)


def create(writer: Client, uri: str, avro: Any, version: int = 8) -> None:
    """Create a table with a column `value` of this type."""
    fields = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}, {"name": "value", "type": ["null", avro]}]
    schema = {"type": "record", "name": "row", "fields": fields}
    writer.create(uri, TableSpec("bounds", "COPY_ON_WRITE", schema, ("id",), ordering=("ts",), version=version))


def rows_of(keys: str, values: tuple[Any, ...], kind: pa.DataType) -> pa.Table:
    """Return rows with these keys, of one letter each, and values."""
    return pa.table({"id": list(keys), "ts": pa.array([1] * len(keys), pa.int64()), "value": pa.array(values, kind)})


def store_bounds(uri: str, instant: str, case: Stored) -> None:
    """Replace the bounds of the column in the file of a write."""
    table = open_table(uri)
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    records, changed = [], 0
    for record in metadata.records("column_stats", table.timeline).values():
        found = record.payload
        assert isinstance(found, ColumnStats)
        if instant in found.file_name and found.column == "value":
            wrapper = wrapper_of(case.arrow)
            found = replace(found, least=Bound(wrapper, case.least), greatest=Bound(wrapper, case.greatest))
            found = found if case.value_type is None else replace(found, value_type=ValueType(case.value_type))
            changed += 1
        records.append(replace(record, payload=found))
    assert changed == 1
    (path,) = (table_folder(uri) / ".hoodie" / "metadata" / "column_stats").glob(f".*_{instant}.log.1_1-0-0")
    path.write_bytes(encode_log_file("column_stats", instant, Entries(records), metadata.schema))


@pytest.mark.needs(*READS)
@pytest.mark.leaves_damage("the statistics are not those of the rows")
@pytest.mark.parametrize("name", EACH)
@pytest.mark.requirements("MDT-010", "MDT-014")
def test_bounds_in_the_order_of_another_writer(engine: Client, new_uri: NewUri, name: str) -> None:
    """MDT-010: no row is left out. Java orders texts by UTF-16 units, and other programs by characters; a NaN is in no bounds;
    the type that is stored with the bounds says their unit.
    """
    case, uri = CASES[name], new_uri()
    with connect("reference") as writer:
        create(writer, uri, case.avro, case.version)
        writer.write(uri, "upsert", rows_of("a", case.values[:1], case.arrow), options=dict(OPTIONS))
        instant = writer.write(uri, "upsert", rows_of("bc", case.values[1:], case.arrow), options=dict(OPTIONS))
    store_bounds(uri, instant, case)
    for (operator, value), keys in case.filters.items():
        assert values_where(engine, uri, ("value", operator, value)) == keys, f"value {operator} {value!r}"


@pytest.mark.needs(*READS, "service.index")
@pytest.mark.requirements("MDT-014", "MDT-010")
def test_statistics_of_a_file_with_several_row_groups(engine: Client, new_uri: NewUri) -> None:
    """MDT-014: a footer has no bounds of the row groups with a long text. The indexer stores bounds of all values, or none."""
    uri, texts = new_uri(), ("a", "z" * 9000, "b")
    with connect("reference") as writer:
        create(writer, uri, "string")
        instant = writer.write(uri, "upsert", rows_of("abc", texts, pa.string()), options={f"{PREFIX}enable": "false"})
    (path,) = base_files(uri)
    size, rows = path.stat().st_size, pq.ParquetFile(path).read()
    pq.write_table(rows.replace_schema_metadata(pq.read_metadata(path).metadata), path, row_group_size=1)
    assert pq.read_metadata(path).num_row_groups == len(texts)
    replace_in_metadata(uri, instant, f'Bytes": {size}', f'Bytes": {path.stat().st_size}')
    assert engine.service(uri, "index", options=dict(STATISTICS)) is not None
    for key, text in zip("abc", texts, strict=True):
        assert values_where(engine, uri, ("value", "=", text)) == [key]


@pytest.mark.needs(*READS, "create", "write.upsert")
@pytest.mark.requirements("MDT-014", "MDT-010")
def test_decimals_with_more_digits_than_a_bound_holds(engine: Client, new_uri: NewUri) -> None:
    """MDT-014: at version 8 a bound has 15 digits after the point. Bounds of a column with more digits would exclude rows."""
    uri, values = new_uri(), (Decimal("0.000000000000000001"), Decimal("0.000000000000000009"))
    create(engine, uri, {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 18})
    engine.write(uri, "upsert", rows_of("ab", values, pa.decimal128(20, 18)), options=dict(OPTIONS))
    for key, value in zip("ab", values, strict=True):
        assert values_where(engine, uri, ("value", "=", f"{value:f}")) == [key]
