"""Column and partition statistics of a table's data files, as the metadata table has them and as the rows in the files say."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.content import decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.metadata.records import ColumnStats, MetadataRecord, PartitionStats, Statistics
from hudi_reference.storage import LocalStorage

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
