"""Statistics of column chunks in the footers of Parquet files."""

import pyarrow.parquet as pq


def has_type_of(chunk: pq.ColumnChunkMetaData, column: pq.ColumnSchema) -> bool:
    """Whether a column chunk declares the type that its column has in the schema of the file."""
    return bool(chunk.physical_type == column.physical_type)


def chunk_statistics(chunk: pq.ColumnChunkMetaData, column: pq.ColumnSchema) -> pq.Statistics | None:
    """The statistics of a chunk of a column; None if it has none.

    A chunk of another type than that of the schema has none that can be used. The library would end the process on them.
    """
    return chunk.statistics if has_type_of(chunk, column) else None
