"""Column and partition statistics of a table's data files, as the metadata table has them and as the rows in the files say."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from hudi_conformance.contract import TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.clustered_tables import Type
from hudi_conformance.suite.support.tables.metadata_tables import PREFIX, IndexedTable
from hudi_conformance.suite.support.tables.stored_blocks import HFILE, SCHEMA, hfile_entries, parse_blocks
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.content import decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.metadata.records import ColumnStats, MetadataRecord, PartitionStats, Statistics
from hudi_reference.storage import LocalStorage

#: Settings of a writer that maintains both kinds of statistics.
STATISTICS: Mapping[str, str] = {f"{PREFIX}enable": "true", f"{PREFIX}index.column.stats.enable": "true"}
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
#: The same and columns that only version V2 of the statistics has by their types.
TYPED_COLUMNS = {
    **COLUMNS,
    "large": (
        {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 4},
        pa.decimal128(20, 4),
        [Decimal("-1234567890123456.7891"), None, Decimal("0.0001")],
    ),
    "huge": (
        {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2},
        pa.decimal128(38, 2),
        [Decimal("123456789012345678901234567890123456.78"), None, Decimal("-123456789012345678901234567890123456.79")],
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
    "bytes": (8, None), "day": (12, None), "price": (10, "10,2"), "large": (10, "20,4"), "huge": (10, "38,2"),
    "moment": (16, None), "local": (19, None),
}  # fmt: skip
#: Column -> the records that hold its bounds in storage: of version V1 and of V2, without the suffix `Wrapper`.
WRAPPERS: Mapping[str, tuple[str, str]] = {
    "flag": ("Boolean", "Boolean"), "small": ("Int", "Int"), "big": ("Long", "Long"), "single": ("Float", "Float"),
    "double": ("Double", "Double"), "text": ("String", "String"), "bytes": ("Bytes", "Bytes"), "day": ("Date", "Int"),
    "price": ("Decimal", "Bytes"), "moment": ("Long", "Long"),
}  # fmt: skip
#: Values for which the statistics in a Parquet footer are missing.
UNUSUAL: Mapping[str, tuple[Any, pa.DataType, list[Any]]] = {
    "nan": ("double", pa.float64(), [1.5, math.nan, -1.5]),
    "only_nan": ("float", pa.float32(), [math.nan, math.nan, None]),
    "long_text": ("string", pa.string(), ["a", "z" * 9000, None]),
}
_DATA = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA)
#: The partition, the file and the column of an entry.
Place = tuple[str, str, str]


@dataclass(frozen=True)
class Values:
    """The values of a column in a file."""

    values: tuple[Any, ...]

    @property
    def present(self) -> list[Any]:
        """The values without nulls, as numbers where the index stores numbers."""
        return [_number(value) for value in self.values if value is not None]


def values_of_files(folder: Path, names: Iterable[tuple[str, str]]) -> Iterator[tuple[Place, Values]]:
    """The values of each column that each of these files stores."""
    for partition, name in names:
        rows = read_file_rows(folder, "/".join(part for part in (partition, name) if part))
        for column in rows.column_names:
            if not pa.types.is_nested(rows.schema.field(column).type):
                yield (partition, name, column), Values(tuple(rows.column(column).to_pylist()))


def read_file_rows(folder: Path, path: str) -> pa.Table:
    """The rows in a base file, or in the data blocks of a log file."""
    if parse_data_file_name(path.rpartition("/")[2]) is not None and path.endswith(".parquet"):
        return pq.ParquetFile(folder / path).read()
    blocks = [decode_rows(block) for block in read_log_file(LocalStorage(folder), path) if block.kind in _DATA]
    return pa.concat_tables(blocks) if blocks else pa.table({})


def column_entries(records: Mapping[str, MetadataRecord], partitions: Mapping[str, str]) -> dict[Place, ColumnStats]:
    """The entries by partition, file and column; `partitions` are the partitions of the files."""
    found = [record.payload for record in records.values() if isinstance(record.payload, ColumnStats)]
    return {(partitions.get(one.file_name, "?"), one.file_name, one.column): one for one in found}


def partition_entries(records: Mapping[str, MetadataRecord]) -> dict[tuple[str, str], PartitionStats]:
    """The entries by partition and column."""
    found = [record.payload for record in records.values() if isinstance(record.payload, PartitionStats)]
    return {(one.partition, one.column): one for one in found}


def compare_statistics(entry: Statistics, values: Values, *, exact: bool = True) -> str:
    """How an entry differs from the values; "" if it does not.

    Every value is within the bounds. If it is `exact`, the counts and the bounds are those of the values, except for the sign
    of zeros and the bounds of columns without values.
    """
    present = values.present
    outside = [one for one in present if not _is_within(one, entry)]
    if outside:
        return f"{entry.column}: {outside[:3]} outside of {entry.least} and {entry.greatest}"
    counts = (len(values.values), len(values.values) - len(present))
    if exact and (entry.value_count, entry.null_count) != counts:
        return f"{entry.column}: {entry.value_count} values, {entry.null_count} nulls; not {counts}"
    ends = [None if bound is None else bound.value for bound in (entry.least, entry.greatest)]
    if exact and present and not any(isinstance(one, float) for one in present) and ends != [min(present), max(present)]:
        return f"{entry.column}: {ends}, not {[min(present), max(present)]}"
    return ""


def _is_within(value: Any, entry: Statistics) -> bool:
    if entry.least is None or entry.greatest is None:
        return False
    least, greatest = entry.least.value, entry.greatest.value
    if isinstance(value, float) and math.isnan(value):
        return isinstance(greatest, float) and math.isnan(greatest)
    no_limit = isinstance(greatest, float) and math.isnan(greatest)
    return bool(least <= value and (no_limit or value <= greatest))


def _number(value: Any) -> Any:
    if isinstance(value, datetime):
        naive = value.replace(tzinfo=None)
        return (naive - datetime(1970, 1, 1)) // (datetime(1970, 1, 1, 0, 0, 0, 1) - datetime(1970, 1, 1))
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    return Decimal(value) if isinstance(value, Decimal) else value


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

    def stored_wrappers(self) -> dict[str, set[str]]:
        """Return, by column, the names of the records that hold the bounds in the log files of the index."""
        found = defaultdict[str, set[str]](set)
        for path in (table_folder(self.uri) / ".hoodie" / "metadata" / "column_stats").glob(".*.log.*"):
            for block in parse_blocks(path.read_bytes()) if path.suffix != ".crc" else ():
                for _, value in hfile_entries(block.content) if block.kind == HFILE else ():
                    schema = json.loads(block.header[SCHEMA])
                    record: Any = fastavro.schemaless_reader(BytesIO(value), schema, None, return_record_name=True)
                    stats = record["ColumnStatsMetadata"][1]
                    for side in ("minValue", "maxValue"):
                        if stats[side] is not None:
                            found[stats["columnName"]].add(stats[side][0].rpartition(".")[2].removesuffix("Wrapper"))
        return found

    def check(self, *, exact: bool) -> None:
        """Check that each file has statistics of its values."""
        entries, names = self.entries(), self.files()
        expected = dict(values_of_files(table_folder(self.uri), [("", name) for name in names]))
        assert {name for _, name, _ in expected} == set(names) != set()
        for (_, name, column), values in expected.items():
            if column in self.columns and (exact or values.present):
                found = compare_statistics(entries["", name, column], values, exact=exact)
                assert not found, (name, found)
