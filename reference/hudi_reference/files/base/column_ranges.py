"""The ranges of the values in base files, from the statistics in Parquet footers."""

from collections.abc import Sequence
from typing import Any

import pyarrow.parquet as pq

from hudi_reference.files.base.parquet import opened_parquet
from hudi_reference.parquet_statistics import chunk_statistics
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

#: Least and greatest value; None if they are not known.
Range = tuple[Any, Any] | None


@implements("CLU-015")
def column_ranges(storage: Storage, path: str, columns: Sequence[str]) -> list[Range]:
    """The range of each of the columns in the base file at `path`, without nulls.

    None for a column without values or statistics, and in files of other formats. Raises FileNotFoundError, MalformedBaseFile.
    """
    if not path.endswith(".parquet"):
        return [None] * len(columns)
    with opened_parquet(storage, path) as file:
        return [_range(file.metadata, column) for column in columns]


def _range(metadata: pq.FileMetaData, column: str) -> Range:
    """The range over all row groups that have values."""
    places = [n for n in range(metadata.num_columns) if metadata.schema.column(n).path == column]
    chunks = [(metadata.row_group(n).column(place), place) for n in range(metadata.num_row_groups) for place in places]
    found = [(chunk_statistics(chunk, metadata.schema.column(place)), chunk.num_values) for chunk, place in chunks]
    known = [statistics for statistics, values in found if not (statistics and statistics.null_count == values)]
    bounded = [statistics for statistics in known if statistics is not None and statistics.has_min_max]
    if not known or len(bounded) < len(known):
        return None
    return min(statistics.min for statistics in bounded), max(statistics.max for statistics in bounded)
