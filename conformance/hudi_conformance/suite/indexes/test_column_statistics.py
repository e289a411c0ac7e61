"""Writers and services maintain column and partition statistics: after every action they are those of the rows in the files."""

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.column_statistics import (
    Place,
    column_entries,
    compare_statistics,
    partition_entries,
    values_of_files,
)
from hudi_conformance.suite.support.tables.metadata_tables import CHANGES, INSERTS, KEEPS, PREFIX, WRITES, IndexedTable
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import open_table
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.availability import read_definitions
from hudi_reference.metadata.keys import column_stats_key, partition_stats_key
from hudi_reference.metadata.records import ColumnStats
from hudi_reference.storage import LocalStorage

#: Settings of a writer that maintains both kinds of statistics.
STATISTICS: Mapping[str, str] = {f"{PREFIX}enable": "true", f"{PREFIX}index.column.stats.enable": "true"}
LIST = f"{PREFIX}index.column.stats.column.list"
META = {"_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key"}
UNINDEXED = {"_hoodie_commit_seqno", "_hoodie_file_name"}


class TableWithStatistics(IndexedTable):
    """A table whose writers maintain column and partition statistics."""

    def __init__(self, engine: Client, uri: str, type: Type) -> None:
        super().__init__(engine, uri, type, STATISTICS)

    def check(self, when: str) -> None:
        """Check also that each file and each partition has the statistics of its rows, under the right keys, and no other."""
        super().check(when)
        assert {"column_stats", "partition_stats"} <= set(self.listed_partitions()), when
        self._check_files(when)
        self._check_partitions(when)

    def _check_files(self, when: str) -> None:
        files = [(partition, name) for partition, names in self.files_stored().items() for name in names]
        records = self.records("column_stats")
        entries, expected = (
            column_entries(records, {name: partition for partition, name in files}),
            dict(values_of_files(self.folder, files)),
        )
        expected = {place: values for place, values in expected.items() if place[2] not in UNINDEXED}
        assert entries.keys() >= expected.keys(), (when, sorted(expected.keys() - entries.keys()))
        assert {place[:2] for place in entries} <= set(files), (when, "entries of files that do not exist")
        assert set(records) == {column_stats_key(column, partition, name) for partition, name, column in entries}, when
        wrong = [found for place, values in expected.items() if (found := compare_statistics(entries[place], values))]
        assert not wrong, (when, wrong)
        without_rows = [one for place, one in entries.items() if place not in expected]
        assert all((one.value_count, one.least) == (0, None) for one in without_rows), when

    def _check_partitions(self, when: str) -> None:
        records = self.records("partition_stats")
        entries = partition_entries(records)
        assert set(records) == {partition_stats_key(column, partition) for partition, column in entries}, when
        latest = open_table(self.uri).file_groups().latest_slices
        assert {partition for partition, _ in entries} == {one.partition for one in latest}, when
        names = [(one.partition, name) for one in latest for name in (one.base_file, *one.log_files) if name]
        for (partition, name, column), values in values_of_files(self.folder, names):
            if column not in UNINDEXED:
                found = compare_statistics(entries[partition, column], values, exact=False)
                assert not found, (when, partition, name, found)


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-001", "MDT-011", "MDT-014", "MDT-015")
def test_every_write_has_statistics(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-014: after inserts, updates, a new partition and deletes, each file has the least and greatest values and the numbers
    of values and nulls of its rows.
    """
    table = TableWithStatistics(engine, new_uri(), type)
    for step in (*INSERTS, *CHANGES, Step("upsert", (row("b", 40, "again"),))):
        table.write(step).check(f"after {step}")
    assert {one.column for one in partition_entries(table.records("partition_stats")).values()} >= META


@pytest.mark.needs(*WRITES, "service.clean", "service.clustering", "write.insert-overwrite", "write.delete-partition")
@BOTH_TYPES
@pytest.mark.requirements("MDT-001", "MDT-011", "MDT-014", "MDT-015", "OCC-020")
def test_every_service_has_statistics(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-001: after compaction, clustering, cleaning and replacing writes, statistics are those of the files that exist; a
    partition that was deleted has none.
    """
    TableWithStatistics(engine, new_uri(), type).write(*INSERTS, *CHANGES).check_after_services()


@pytest.mark.needs(*WRITES, "service.rollback")
@BOTH_TYPES
@pytest.mark.requirements("MDT-001", "MDT-014")
def test_rolled_back_writes_have_no_statistics(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-001: a completed write is rolled back: statistics of its files are removed, and those of partitions are as before."""
    table = TableWithStatistics(engine, new_uri(), type).write(*INSERTS)
    rows = as_arrow((row("y", 1, "new", "lima"), row("a", 500, "newer")))
    rolled_back = engine.write(table.uri, "upsert", rows, options=dict(STATISTICS))
    assert ("lima", "ts") in partition_entries(table.records("partition_stats"))
    engine.service(table.uri, "rollback", instant=rolled_back)
    table.check("after a write that was not wanted")


#: Columns of each type that has statistics, with nulls.
COLUMNS: Mapping[str, tuple[Any, pa.DataType, list[Any]]] = {
    "flag": ("boolean", pa.bool_(), [True, None, False]),
    "small": ("int", pa.int32(), [7, None, -3]),
    "big": ("long", pa.int64(), [1 << 40, 0, -1]),
    "single": ("float", pa.float32(), [1.5, None, -2.25]),
    "double": ("double", pa.float64(), [0.0, -1e300, 1e-300]),
    "text": ("string", pa.string(), ["é", "", "z" * 70]),
    "bytes": ("bytes", pa.binary(), [b"\xff\x00", None, b""]),
    "day": ({"type": "int", "logicalType": "date"}, pa.date32(), [date(1969, 12, 1), date(2026, 1, 1), None]),
    "price": (
        {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
        pa.decimal128(10, 2),
        [Decimal("-0.01"), Decimal("99999999.99"), None],
    ),
    "nothing": ("long", pa.int64(), [None, None, None]),
    "no_text": ("string", pa.string(), [None, None, None]),
}


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-014")
def test_statistics_of_each_type(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-014: bounds and counts of columns of each type in base and log files, nulls among the values or only nulls."""
    table = TypedTable(engine, new_uri(), type, COLUMNS)
    table.check_two_writes(exact=True)


#: The same and columns that only version V2 of the statistics has by their types.
TYPED_COLUMNS = {
    **COLUMNS,
    "large": (
        {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 4},
        pa.decimal128(20, 4),
        [Decimal("-1234567890123456.7891"), None, Decimal("0.0001")],
    ),
    "moment": (
        {"type": "long", "logicalType": "timestamp-micros"},
        pa.timestamp("us", "UTC"),
        [datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), None, datetime(2026, 7, 3, 12, tzinfo=UTC)],
    ),
    "local": (
        {"type": "long", "logicalType": "local-timestamp-micros"},
        pa.timestamp("us"),
        [datetime(2026, 7, 3, 12, 0, 0, 1), datetime(1965, 1, 1), None],
    ),
}  # fmt: skip

#: Column -> the ordinal of its type, and precision and scale of a decimal.
VALUE_TYPES: Mapping[str, tuple[int, str | None]] = {
    "flag": (2, None), "small": (3, None), "big": (4, None), "single": (5, None), "double": (6, None), "text": (7, None),
    "bytes": (8, None), "day": (12, None), "price": (10, "10,2"), "large": (10, "20,4"),
    "moment": (16, None), "local": (19, None),
}  # fmt: skip


@KEEPS
@BOTH_TYPES
@pytest.mark.versions(9)
@pytest.mark.needs("create.table-version.9")
@pytest.mark.requirements("MDT-014", "MDT-017", "IDX-044")
def test_statistics_of_version_v2_name_the_types(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-017: at version 9 the entries of each file name the type of their bounds, and the bounds are those of the values."""
    table = TypedTable(engine, new_uri(), type, TYPED_COLUMNS, version=9)
    table.check_two_writes(exact=True)
    kinds = {(one.column, one.value_type and (one.value_type.ordinal, one.value_type.info)) for one in table.entries().values()}
    assert {(column, kind) for column, kind in kinds if column in VALUE_TYPES} == set(VALUE_TYPES.items())


#: Values for which the statistics in a Parquet footer are missing.
UNUSUAL: Mapping[str, tuple[Any, pa.DataType, list[Any]]] = {
    "nan": ("double", pa.float64(), [1.5, math.nan, -1.5]),
    "only_nan": ("float", pa.float32(), [math.nan, math.nan, None]),
    "long_text": ("string", pa.string(), ["a", "z" * 9000, None]),
}


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-014")
def test_statistics_of_values_that_footers_omit(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-014: no value is outside of the bounds, also if a value is not a number or a text is long."""
    table = TypedTable(engine, new_uri(), type, UNUSUAL)
    table.check_two_writes(exact=False)


class TypedTable:
    """A table without partitions and with a column of each of some types."""

    def __init__(
        self,
        engine: Client,
        uri: str,
        type: Type,
        columns: Mapping[str, tuple[Any, pa.DataType, list[Any]]],
        version: int = 8,
    ) -> None:
        self.engine, self.uri, self.columns = engine, uri, columns
        fields: list[dict[str, Any]] = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
        fields += [{"name": name, "type": ["null", avro], "default": None} for name, (avro, _, _) in columns.items()]
        schema = {"type": "record", "name": "row", "fields": fields}
        engine.create(uri, TableSpec("typed", type, schema, ("id",), ordering=("ts",), version=version))
        self.writes = 0

    def write(self, operation: Any, keys: list[str]) -> None:
        """One write of the values of each column, with these keys."""
        self.writes += 1
        values = {name: pa.array(values, kind) for name, (_, kind, values) in self.columns.items()}
        rows = pa.table({"id": keys, "ts": pa.array([self.writes] * len(keys), pa.int64()), **values})
        self.engine.write(self.uri, operation, rows, options=dict(STATISTICS))

    def check_two_writes(self, *, exact: bool) -> None:
        """Insert three rows, update them, and check the statistics of the files."""
        self.write("insert", ["a", "b", "c"])
        self.write("upsert", ["a", "b", "c"])
        self.check(exact=exact)

    def files(self) -> list[str]:
        """Return the names of the data files."""
        return [path.name for path in table_folder(self.uri).iterdir() if parse_data_file_name(path.name)]

    def entries(self) -> dict[Place, ColumnStats]:
        """Return the statistics of these files."""
        table = IndexedTable.__new__(IndexedTable)
        table.uri = self.uri
        return column_entries(table.records("column_stats"), dict.fromkeys(self.files(), ""))

    def check(self, *, exact: bool) -> None:
        """Check that each file has statistics of its values."""
        entries, names = self.entries(), self.files()
        expected = dict(values_of_files(table_folder(self.uri), [("", name) for name in names]))
        assert {name for _, name, _ in expected} == set(names) != set()
        for (_, name, column), values in expected.items():
            if column in self.columns and (exact or values.present):
                found = compare_statistics(entries["", name, column], values, exact=exact)
                assert not found, (name, found)


@pytest.mark.needs(*WRITES, "service.index")
@BOTH_TYPES
@pytest.mark.requirements("IDX-022", "MDT-011", "INX-001")
def test_the_indexing_service_defines_column_statistics(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-022: the definition of new statistics names their columns; later writes add entries of these."""
    table = IndexedTable(engine, new_uri(), type).write(*INSERTS)
    settings = {f"{PREFIX}index.column.stats.enable": "true", f"{PREFIX}index.column.stats.column.list": "ts,value"}
    assert engine.service(table.uri, "index", options=settings) is not None
    storage = LocalStorage(table.folder)
    defined = {one.partition: one for one in read_definitions(storage, read_properties(storage))}
    assert set(defined["column_stats"].columns) == META | {"ts", "value"}
    table.write(*CHANGES, options=settings).check("after writes")
    payloads = [record.payload for record in table.records("column_stats").values()]
    assert {one.column for one in payloads if isinstance(one, ColumnStats)} == META | {"ts", "value"}


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("IDX-022", "MDT-011")
def test_a_writer_lists_more_columns(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-022: a writer lists another column than those that have statistics, and more columns than the limit without a list.
    The definition names all that it lists, and the files that it writes have entries of them.
    """
    table = IndexedTable(engine, new_uri(), type, {**STATISTICS, LIST: "ts"}).write(*INSERTS)
    table.write(
        *CHANGES, options={**STATISTICS, LIST: "ts,value,city", f"{PREFIX}index.column.stats.max.columns.to.index": "2"}
    )
    storage = LocalStorage(table.folder)
    defined = {one.partition: one for one in read_definitions(storage, read_properties(storage))}
    assert set(defined["column_stats"].columns) - META == {"ts", "value", "city"}
    payloads = [one.payload for one in table.records("column_stats").values()]
    newest = {one.column for one in payloads if isinstance(one, ColumnStats) and table.times[-2] in one.file_name}
    assert newest - META == {"ts", "value", "city"}
    table.check("after the writes")
