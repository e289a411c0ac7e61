"""Writers and services maintain column and partition statistics: after every action they are those of the rows in the files."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.column_statistics import (
    COLUMNS,
    STATISTICS,
    TYPED_COLUMNS,
    UNUSUAL,
    VALUE_TYPES,
    WRAPPERS,
    TypedTable,
    column_entries,
    compare_statistics,
    partition_entries,
    values_of_files,
)
from hudi_conformance.suite.support.tables.metadata_tables import (
    CHANGES,
    INSERTS,
    KEEPS,
    PREFIX,
    WRITES,
    IndexedTable,
    values_where,
)
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import open_table
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.availability import read_definitions
from hudi_reference.metadata.keys import column_stats_key, partition_stats_key
from hudi_reference.metadata.records import ColumnStats
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.storage import LocalStorage

LIST = f"{PREFIX}index.column.stats.column.list"
META = {"_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key"}
UNINDEXED = {"_hoodie_commit_seqno", "_hoodie_file_name"}


class TableWithStatistics(IndexedTable):
    """A table whose writers maintain column and partition statistics."""

    def __init__(self, engine: Client, uri: str, type: Type, version: int = 8) -> None:
        super().__init__(engine, uri, type, STATISTICS, version)

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
        counts = defaultdict[tuple[str, str], list[int]](lambda: [0, 0])
        for (partition, name, column), values in values_of_files(self.folder, names):
            if column not in UNINDEXED:
                found = compare_statistics(entries[partition, column], values, exact=False)
                assert not found, (when, partition, name, found)
                counts[partition, column][0] += len(values.values)
                counts[partition, column][1] += len(values.values) - len(values.present)
        for place, (count, nulls) in counts.items():
            one = entries[place]  # replaced files may still count
            assert one.value_count is not None and one.null_count is not None, (when, place)
            assert one.value_count >= count and one.value_count - one.null_count >= count - nulls, (when, place)


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


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-014")
def test_statistics_of_each_type(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-014: bounds and counts of columns of each type in base and log files, nulls among the values or only nulls."""
    table = TypedTable(engine, new_uri(), type, COLUMNS)
    table.check_two_writes(exact=True)


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


@KEEPS
@BOTH_TYPES
@pytest.mark.versions(9)
@pytest.mark.needs("create.table-version.9")
@pytest.mark.requirements("MDT-014", "MDT-017")
def test_statistics_of_partitions_name_the_types(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-017: at version 9 the statistics of partitions name the type of their bounds, as those of files do."""
    table = TableWithStatistics(engine, new_uri(), type, version=9).write(*INSERTS, *CHANGES)
    entries = partition_entries(table.records("partition_stats"))
    kinds = {(column, one.value_type and one.value_type.ordinal) for (_, column), one in entries.items()}
    assert {("id", 7), ("ts", 4), ("value", 7)} <= kinds
    assert len({column for column, _ in kinds}) == len(kinds), "a column has several types"


@KEEPS
@pytest.mark.parametrize(
    "version",
    [
        pytest.param(8, marks=pytest.mark.versions(8)),
        pytest.param(9, marks=[pytest.mark.versions(9), pytest.mark.needs("create.table-version.9")]),
    ],
)
@pytest.mark.requirements("MDT-014", "MDT-017")
def test_bounds_are_stored_in_the_records_of_their_types(engine: Client, new_uri: NewUri, version: int) -> None:
    """MDT-014: the bounds of a column are stored in the wrapper record of its type: a date or a decimal has one of its own at
    version 8, and at version 9 that of the number that stands for it.
    """
    columns = {name: TYPED_COLUMNS[name] for name in WRAPPERS}
    table = TypedTable(engine, new_uri(), "COPY_ON_WRITE", columns, version=version)
    table.write("insert", ["a", "b", "c"])
    table.write("upsert", ["a", "b", "c"])
    stored = table.stored_wrappers()
    assert {name: stored[name] for name in columns} == {name: {WRAPPERS[name][version - 8]} for name in columns}


@KEEPS
@BOTH_TYPES
@pytest.mark.requirements("MDT-014")
def test_statistics_of_values_that_footers_omit(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-014: no value is outside of the bounds, also if a value is not a number or a text is long."""
    table = TypedTable(engine, new_uri(), type, UNUSUAL)
    table.check_two_writes(exact=False)


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


#: A field of each type for which it matters whether it has statistics, with its type in Arrow, in the order of the schema.
MIXED: Mapping[str, tuple[Any, pa.DataType]] = {
    "id": ("string", pa.string()),
    "place": ({"type": "record", "name": "place", "fields": [{"name": "x", "type": "int"}]}, pa.struct([("x", pa.int32())])),
    "tags": ({"type": "array", "items": "string"}, pa.list_(pa.string())),
    "wide": ({"type": "bytes", "logicalType": "decimal", "precision": 18, "scale": 2}, pa.decimal128(18, 2)),
    "price": ({"type": "bytes", "logicalType": "decimal", "precision": 17, "scale": 2}, pa.decimal128(17, 2)),
    "fine": ({"type": "bytes", "logicalType": "decimal", "precision": 18, "scale": 16}, pa.decimal128(18, 16)),
    "ts": ("long", pa.int64()),
    "last": ("int", pa.int32()),
}
LIMIT = f"{PREFIX}index.column.stats.max.columns.to.index"


@KEEPS
@BOTH_TYPES
@pytest.mark.versions(8)
@pytest.mark.needs("types.nested")
@pytest.mark.requirements("MDT-011", "MDT-014", "IDX-022")
@pytest.mark.parametrize(
    ("options", "columns"),
    [
        pytest.param({}, {"id", "price", "ts", "last"}, id="no list"),
        pytest.param({LIMIT: "3"}, {"id", "price", "ts"}, id="a limit"),
        pytest.param({LIST: "last, place.x,tags"}, {"last", "place.x"}, id="a list"),
    ],
)
def test_columns_that_have_statistics(
    engine: Client, new_uri: NewUri, type: Type, options: dict[str, str], columns: set[str]
) -> None:
    """MDT-011: without a list these are the first columns of types with an order, nested ones left out; a list may name nested
    ones. At version 8 a decimal has at most 15 digits before its point, and at most 15 after it.
    """
    uri = new_uri()
    create_rows_table(engine, uri, type, {name: avro for name, (avro, _) in MIXED.items()})
    row_of_each = {"id": "a", "place": {"x": 7}, "ts": 1, "last": 3}
    rows = pa.Table.from_pylist([row_of_each], schema=pa.schema([(name, kind) for name, (_, kind) in MIXED.items()]))
    engine.write(uri, "insert", rows, options={**STATISTICS, **options})
    assert defined_columns(uri) == columns


def create_rows_table(engine: Client, uri: str, type: Type, columns: Mapping[str, Any]) -> None:
    """Create a table with these columns and their Avro types; all but key and ordering column may be null."""
    fields = [{"name": n, "type": t} if n in ("id", "ts") else {"name": n, "type": ["null", t], "default": None}
              for n, t in columns.items()]  # fmt: skip
    engine.create(uri, TableSpec("rows", type, {"type": "record", "name": "row", "fields": fields}, ("id",), ordering=("ts",)))


def defined_columns(uri: str) -> set[str]:
    """Return the data columns that the definition of column statistics names."""
    storage = LocalStorage(table_folder(uri))
    defined = {one.partition: one for one in read_definitions(storage, read_properties(storage))}
    return set(defined["column_stats"].columns) - META


@KEEPS
@BOTH_TYPES
@pytest.mark.needs("schema.evolution", "read.filter", "read.projection")
@pytest.mark.requirements("MDT-010", "MDT-011", "IDX-022")
def test_a_new_column_gets_statistics(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-011: a write adds a column while the limit allows one more, which does not count the meta columns. The new column
    gets statistics.
    """
    uri, added = new_uri(), {"hoodie.datasource.write.reconcile.schema": "true", LIMIT: "4"}
    create_rows_table(engine, uri, type, {"id": "string", "ts": "long", "value": "string"})
    rows = pa.table({"id": ["a"], "ts": pa.array([1], pa.int64()), "value": ["early"]})
    engine.write(uri, "insert", rows, options={**STATISTICS, LIMIT: "3"})
    rows = pa.table({"id": ["b"], "ts": pa.array([1], pa.int64()), "value": ["late"], "size": pa.array([5], pa.int64())})
    engine.write(uri, "insert", rows, options={**STATISTICS, **added})
    assert defined_columns(uri) == {"id", "ts", "value", "size"}
    for where, keys in ((("value", "=", "early"), ["a"]), (("size", ">", 4), ["b"]), (("size", ">", 5), [])):
        assert values_where(engine, uri, where) == keys


@KEEPS
@BOTH_TYPES
@pytest.mark.needs("schema.evolution")
@pytest.mark.requirements("MDT-014", "LF-038")
def test_statistics_of_a_partition_contain_values_of_a_narrower_type(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-014: after a column of ints became one of longs, the bounds of a partition are those of all its files."""
    table = IndexedTable(engine, new_uri(), type, STATISTICS).write(*INSERTS)
    more = {**STATISTICS, "hoodie.datasource.write.reconcile.schema": "true"}
    for key, kind, size, bounds in (("x", pa.int32(), -7, (-7, -7)), ("y", pa.int64(), 1 << 40, (-7, 1 << 40))):
        rows = as_arrow((row(key, 40, "new"),)).append_column("size", pa.array([size], kind))
        engine.write(table.uri, "insert", rows, options=more)
        found = partition_entries(table.records("partition_stats"))["oslo", "size"]
        assert (found.least and found.least.value, found.greatest and found.greatest.value) == bounds


@KEEPS
@BOTH_TYPES
@pytest.mark.needs("types.nested")
@pytest.mark.requirements("MDT-011", "MDT-010")
def test_a_field_of_a_record_has_statistics(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MDT-011: a field inside of another one that the settings list has bounds in each file, log files among them."""
    uri, (avro, kind) = new_uri(), MIXED["place"]
    create_rows_table(engine, uri, type, {"id": "string", "place": avro, "ts": "long"})
    schema, listed = pa.schema([("id", pa.string()), ("place", kind), ("ts", pa.int64())]), {LIST: "id,place.x"}
    for ts, places in ((1, {"a": 7, "b": -3}), (2, {"a": 9, "b": None})):
        rows = [{"id": key, "place": None if x is None else {"x": x}, "ts": ts} for key, x in places.items()]
        engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=schema), options={**STATISTICS, **listed})
    metadata = MetadataTable.for_table(table := open_table(uri))
    assert metadata is not None
    found = (record.payload for record in metadata.records("column_stats", table.timeline).values())
    stats = [one for one in found if isinstance(one, ColumnStats) and one.column == "place.x"]
    bounds = {(one.least and one.least.value, one.greatest and one.greatest.value, one.null_count) for one in stats}
    assert bounds == {(-3, 7, 0), (9, 9, 1)}
