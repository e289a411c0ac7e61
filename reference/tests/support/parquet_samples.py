"""Damaged Parquet files."""

import io

import pyarrow as pa
import pyarrow.parquet as pq


def parquet_of_missing_rows() -> bytes:
    """A file of 57 rows whose footer says that it has 58."""
    out = io.BytesIO()
    pq.write_table(pa.table({"id": [f"k{number}" for number in range(57)]}), out)
    whole = out.getvalue()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    # The number of rows comes before those of the row groups: a varint of twice its value after the type of the field.
    data = whole[:footer] + whole[footer:].replace(bytes([0x16, 2 * 57]), bytes([0x16, 2 * 58]), 1)
    assert pq.read_metadata(io.BytesIO(data)).num_rows == 58
    return data
