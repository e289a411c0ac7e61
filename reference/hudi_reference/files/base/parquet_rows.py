"""The rows of a Parquet file, read in the least time."""

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

#: Opens a source: times of 96 bits are microseconds, as in every other column.
parquet_file = partial(pq.ParquetFile, coerce_int96_timestamp_unit="us")
#: Columns whose values come again and again. Which others do is not asked of the footer: where it is damaged, asking it for the
#: size of a column ends the process.
REPEATED = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name")
#: Bytes that an Arrow array of texts can count.
_MOST_BYTES = (1 << 31) - 1


def read_rows(source: pa.NativeFile, columns: Sequence[str] | None, *, threads: bool = False) -> pa.Table:
    """The rows in file order: those of `columns` that the file has, or all. Raises what pyarrow raises.

    Texts that come again are read as numbers of a dictionary and unfolded after, which takes less time than reading texts.
    """
    file = parquet_file(source)
    schema = file.schema_arrow
    wanted = [name for name in (schema.names if columns is None else columns) if schema.get_field_index(name) >= 0]
    coded = [name for name in wanted if name in REPEATED and schema.field(name).type in (pa.string(), pa.binary())]
    rows = parquet_file(source, metadata=file.metadata, read_dictionary=coded).read(wanted, use_threads=threads)
    for place, name in enumerate(rows.column_names):
        if name in coded:
            rows = rows.set_column(place, schema.field(name), _unfolded(rows.column(place)))
    return rows


def _unfolded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values that the numbers of a dictionary stand for, no more in an array than surely fit into one."""
    found = []
    for chunk in column.chunks:
        longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() or 1
        at_once = _MOST_BYTES // longest
        found += [chunk.dictionary.take(chunk.indices.slice(n, at_once)) for n in range(0, len(chunk), at_once)]
    return pa.chunked_array(found, column.type.value_type)
