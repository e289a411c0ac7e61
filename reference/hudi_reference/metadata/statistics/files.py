"""The statistics of the columns of one data file.

    Parquet base file    from its footer; the values are read where the footer has no range, or cannot have an exact one
    other base file      from its values
    log file             from the rows in its data blocks; deletes are not counted

A file has statistics of the columns that it stores, in the types that it stores. Sizes are those of the column's chunks in a
Parquet file; they are 0 for other files.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from hudi_reference.files.base.parquet import opened_parquet
from hudi_reference.files.log.block import Block, BlockType
from hudi_reference.files.log.content import decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import LogFileName, parse_data_file_name, split_path
from hudi_reference.metadata.record_merge import merge_payloads
from hudi_reference.metadata.records import ColumnStats, ValueType
from hudi_reference.metadata.statistics.bounds import Bounds, bounds_in_footer, bounds_of, wrapper_of
from hudi_reference.metadata.value_types import NO_VALUES, value_type_of
from hudi_reference.parquet_statistics import chunk_statistics
from hudi_reference.requirement import implements
from hudi_reference.schema.fields import column_at, type_at
from hudi_reference.storage import Storage

#: The number of nulls in a footer that does not have it.
_UNKNOWN = -1
_DATA = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA)


@dataclass(frozen=True)
class FileStatistics:
    """The statistics of a file by the names of the columns.

    `partial` are statistics of columns that only some of a log file's rows store: blocks of partial updates have some columns.
    """

    columns: Mapping[str, ColumnStats]
    partial: Mapping[str, ColumnStats] = field(default_factory=dict)
    is_log: bool = False


@implements("MDT-011", "MDT-014")
def statistics_of(storage: Storage, path: str, columns: Sequence[str]) -> FileStatistics:
    """The statistics of those of the columns that the file at `path` has. A nested column has its path, as `address.city`.

    Base files other than Parquet have none, as deployed: with entries of some files alone, deployed readers would leave out the
    partitions of the others.

    Raises what reading the file raises.
    """
    name = split_path(path)[1]
    if isinstance(parse_data_file_name(name), LogFileName):
        blocks = (block for block in read_log_file(storage, path) if block.kind in _DATA)
        return _statistics_of_blocks(name, blocks, columns)
    return FileStatistics(_statistics_of_parquet(storage, path, columns) if name.endswith(".parquet") else {})


# Parquet


def _statistics_of_parquet(storage: Storage, path: str, columns: Sequence[str]) -> dict[str, ColumnStats]:
    with opened_parquet(storage, path) as file:
        known = {one.column: one for one in _statistics_in_footer(file, split_path(path)[1], columns)}
        missing = [column for column, one in known.items() if one.least is None and one.null_count != one.value_count]
        # ER-164: bounds that the footer does not have are those of the values.
        rows = file.read(sorted({column.partition(".")[0] for column in missing}), use_threads=False) if missing else None
    for exact in () if rows is None else _statistics_of_rows(split_path(path)[1], rows, missing):
        known[exact.column] = replace(
            known[exact.column], least=exact.least, greatest=exact.greatest, null_count=exact.null_count
        )
    return known


def _statistics_in_footer(file: pq.ParquetFile, name: str, columns: Sequence[str]) -> Iterator[ColumnStats]:
    """The statistics in the footer; without a range where the footer has none, or where a NaN may be among the values."""
    metadata = file.metadata
    places = {metadata.schema.column(number).path: number for number in range(metadata.num_columns)}
    for column in columns:
        kind = _type_of(file.schema_arrow, column)
        if column in places and kind is not None:
            place = places[column]
            chunks = [metadata.row_group(group).column(place) for group in range(metadata.num_row_groups)]
            parts = [_statistics_of_chunk(name, metadata.schema.column(place), kind, chunk) for chunk in chunks]
            whole = any(one.least is None and one.null_count != one.value_count for one in parts)
            found = reduce(combine_statistics, parts, _unknown_statistics(name, column))
            yield replace(found, least=None, greatest=None, null_count=_UNKNOWN) if whole else found


def _statistics_of_chunk(name: str, column: pq.ColumnSchema, kind: pa.DataType, chunk: pq.ColumnChunkMetaData) -> ColumnStats:
    stats, bounds, nulls = chunk_statistics(chunk, column), None, _UNKNOWN
    if stats is not None and stats.has_null_count:
        nulls = stats.null_count
        if stats.has_min_max and not pt.is_floating(kind):
            bounds = bounds_in_footer(kind, stats.min_raw, stats.max_raw)
    sizes = (chunk.total_compressed_size, chunk.total_uncompressed_size)
    return _make_statistics(name, column.path, bounds, chunk.num_values, nulls, sizes, value_type_of(kind))


def _type_of(schema: pa.Schema, column: str) -> pa.DataType | None:
    """The type of a column that may be nested in structs; None if the file does not have it, or statistics do not exist."""
    kind = type_at(schema, column)
    return kind if kind is not None and has_statistics(kind) else None


def has_statistics(kind: pa.DataType) -> bool:
    """Whether columns of a type have statistics."""
    try:
        wrapper_of(kind)
    except StopIteration:
        return False
    return True


# values


def _statistics_of_blocks(name: str, blocks: Iterable[Block], columns: Sequence[str]) -> FileStatistics:
    tops = sorted({column.partition(".")[0] for column in columns})
    parts = [{one.column: one for one in _statistics_of_rows(name, decode_rows(block, tops), columns)} for block in blocks]
    found = {
        column: reduce(
            combine_statistics, (part[column] for part in parts if column in part), _unknown_statistics(name, column)
        )
        for column in columns
        if not parts or any(column in part for part in parts)
    }
    partial = {column: one for column, one in found.items() if any(column not in part for part in parts)}
    whole = {column: one for column, one in found.items() if column not in partial}
    return FileStatistics(whole, partial, is_log=True)


def _statistics_of_rows(name: str, rows: pa.Table, columns: Sequence[str]) -> Iterator[ColumnStats]:
    for column in columns:
        values = column_at(rows, column)
        if values is not None and has_statistics(values.type):
            kind = value_type_of(values.type)
            yield _make_statistics(name, column, bounds_of(values), len(values), values.null_count, (0, 0), kind)


def _make_statistics(
    name: str, column: str, bounds: Bounds, values: int, nulls: int, sizes: tuple[int, int], kind: ValueType
) -> ColumnStats:
    least, greatest = bounds or (None, None)
    return ColumnStats(column, least, greatest, values, nulls, *sizes, value_type=kind, file_name=name)


def _unknown_statistics(name: str, column: str) -> ColumnStats:
    return _make_statistics(name, column, None, 0, 0, (0, 0), NO_VALUES)


def combine_statistics(one: ColumnStats, other: ColumnStats) -> ColumnStats:
    """The statistics of the values of both, with the file name of the second."""
    found = merge_payloads(one, other)
    assert isinstance(found, ColumnStats)
    return found
