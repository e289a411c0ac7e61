"""The rows of a Parquet file."""

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_reference.fast_paths import FastPath, use_fast
from hudi_reference.files.base.fast.dictionary_columns import read_by_dictionary

#: Opens a source: timestamps of 96 bits are read as microseconds, like those of every other column.
parquet_file = partial(pq.ParquetFile, coerce_int96_timestamp_unit="us")


def read_rows(source: pa.NativeFile, columns: Sequence[str] | None, *, threads: bool = False) -> pa.Table:
    """The rows in file order, with those of `columns` that the file has, or with all columns. Raises what pyarrow raises."""
    file = parquet_file(source)
    names = file.schema_arrow.names if columns is None else columns
    wanted = [name for name in names if file.schema_arrow.get_field_index(name) >= 0]
    if use_fast(FastPath.PARQUET_ROWS, file.metadata.num_rows):
        return read_by_dictionary(source, file, wanted, threads=threads)
    return file.read(wanted, use_threads=threads)
