"""Reading Parquet columns with repeated values by their dictionaries: the fast twin of `ParquetFile.read`.

Columns of text with few distinct values are read as indexes into a dictionary and then decoded, which takes less time than
reading each text.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

#: Columns with few distinct values. The footer is not read to find other such columns: reading the size of a column from a
#: damaged footer crashes the process.
REPEATED = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name")
#: Timestamps of 96 bits are read as microseconds, like those of every other column. Pages with a checksum are checked; deployed
#: writers store one.
DECODING: dict[str, Any] = {"coerce_int96_timestamp_unit": "us", "page_checksum_verification": True}
#: Bytes that an Arrow array of texts can count.
_MOST_BYTES = (1 << 31) - 1


def read_by_dictionary(source: pa.NativeFile, file: pq.ParquetFile, columns: Sequence[str], *, threads: bool) -> pa.Table:
    """The rows of `file`, which was opened from `source`, with these columns, in file order. Raises what pyarrow raises."""
    schema = file.schema_arrow
    coded = [name for name in columns if name in REPEATED and schema.field(name).type in (pa.string(), pa.binary())]
    opened = pq.ParquetFile(source, metadata=file.metadata, read_dictionary=coded, **DECODING)
    rows = opened.read(columns, use_threads=threads)
    for place, name in enumerate(rows.column_names):
        if name in coded:
            rows = rows.set_column(place, schema.field(name), _decode_dictionary(rows.column(place)))
    return rows


def _decode_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a dictionary column, in arrays small enough for Arrow's offsets of 32 bits."""
    found = []
    for chunk in column.chunks:
        longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() or 1
        at_once = _MOST_BYTES // longest
        found += [chunk.dictionary.take(chunk.indices.slice(n, at_once)) for n in range(0, len(chunk), at_once)]
    return pa.chunked_array(found, column.type.value_type)
