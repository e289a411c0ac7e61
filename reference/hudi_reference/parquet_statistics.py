"""Statistics of column chunks in the footers of Parquet files."""

import pyarrow.parquet as pq


def has_type_of_schema(footer: pq.FileMetaData, group: int, place: int) -> bool:
    """Whether a column chunk declares the type that the column has in the schema of the file."""
    return bool(footer.row_group(group).column(place).physical_type == footer.schema.column(place).physical_type)


def chunk_statistics(footer: pq.FileMetaData, group: int, place: int) -> pq.Statistics | None:
    """The statistics of a column chunk by the numbers of its row group and column; None if it has none.

    A chunk of another type than that of the schema has none that can be used. The library would end the process on them.
    """
    return footer.row_group(group).column(place).statistics if has_type_of_schema(footer, group, place) else None
