"""Encoding rows as Avro by columns: the fast path behind `encode_rows`, equal to it byte by byte.

The bytes of all values of a column are made at once; Arrow then concatenates those of each row. Nested types and decimals are
left to the plain code, and so are rows that do not fit their schema, for which the plain code reports the error.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import UnsupportedSchema
from hudi_reference.schema.avro import AvroSchema, arrow_schema

Longs = npt.NDArray[np.int64]
#: The encoded values of a column: one or several arrays, which are to be concatenated row by row.
Pieces = list[pa.Array | pa.Scalar]

_BYTES = pa.large_binary()
#: Rows that are encoded together, so that they stay in the CPU cache.
_ROWS_AT_ONCE = 1 << 14


def encode_avro_columns(rows: pa.Table, schema: AvroSchema) -> bytes | None:
    """The records of the rows, each after its length of four bytes; None if the plain code has to encode them."""
    try:
        stored = arrow_schema(schema)
    except UnsupportedSchema:
        return None
    if rows.schema.names != stored.names or rows.schema.types != stored.types:
        return None
    encoders = [_encoder(field["type"], rows.column(field["name"]).null_count > 0) for field in schema["fields"]]
    known = [encoder for encoder in encoders if encoder is not None]
    if len(known) < len(encoders) or not known:
        return None
    return b"".join(_frame_records(batch, known) for batch in rows.to_batches(_ROWS_AT_ONCE))


Encoder = Callable[[pa.Array], Pieces]


def _frame_records(batch: pa.RecordBatch, encoders: list[Encoder]) -> bytes:
    pieces = [piece for column, encode in zip(batch.columns, encoders, strict=True) for piece in encode(column)]
    records = _concatenate_pieces(pieces)
    lengths = pc.binary_length(records).to_numpy().astype(">i4")
    return _concatenate_rows(_concatenate_pieces([_fixed_size_bytes(lengths), records]))


def _encoder(avro: Any, has_nulls: bool) -> Encoder | None:
    """The encoder of a column of an Avro type; None for a type that is not simple, and for nulls in a type without null."""
    branches = avro if isinstance(avro, list) else [avro]
    types = [branch for branch in branches if branch != "null"]
    encode = _VALUES.get(_simple_name(types[0])) if len(types) == 1 else None
    if encode is None or (has_nulls and len(branches) == len(types)):
        return None
    if not isinstance(avro, list):
        return encode
    place = branches.index(types[0])
    of_value, of_null = pa.scalar(bytes([2 * place]), _BYTES), pa.scalar(bytes([2 - 2 * place]), _BYTES)
    return lambda column: _nullable(column, [of_value, *encode(column)], of_null)


def _nullable(column: pa.Array, pieces: Pieces, of_null: pa.Scalar) -> Pieces:
    return [pc.if_else(column.is_valid(), _concatenate_pieces(pieces), of_null)] if column.null_count else pieces


def _simple_name(avro: Any) -> str:
    """The name of a type that is stored like a primitive one; "" for others."""
    if isinstance(avro, Mapping):
        return "" if avro.get("logicalType") == "decimal" else str(avro["type"])
    return str(avro)


def _texts(column: pa.Array) -> Pieces:
    values = pc.fill_null(column.cast(_BYTES), b"")
    return [_varints(pc.binary_length(values).to_numpy()), values]


def _integers(column: pa.Array) -> Pieces:
    plain = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    return [_varints(pc.fill_null(plain.cast(pa.int64()), 0).to_numpy())]


def _floats(column: pa.Array) -> Pieces:
    return [_fixed_size_bytes(pc.fill_null(column, 0.0).to_numpy())]


def _booleans(column: pa.Array) -> Pieces:
    return [_fixed_size_bytes(pc.fill_null(column, False).cast(pa.uint8()).to_numpy())]


#: By the name of an Avro type. The encoded values of nulls are not used.
_VALUES: Mapping[str, Encoder] = {
    "string": _texts,
    "bytes": _texts,
    "int": _integers,
    "long": _integers,
    "float": _floats,
    "double": _floats,
    "boolean": _booleans,
}


def _varints(numbers: Longs) -> pa.Array:
    """Zig-zag numbers in groups of seven bits, the lowest first; all but the last of a number have the highest bit set."""
    zigzag = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    width = max(1, -(-int(zigzag.max(initial=0)).bit_length() // 7))
    groups = zigzag[:, None] >> np.arange(0, 7 * width, 7, dtype=np.uint64)
    is_needed = groups > 0
    is_needed[:, 0] = True
    follows = np.zeros(groups.shape, np.uint8)
    follows[:, :-1] = is_needed[:, 1:] * np.uint8(0x80)
    content = (groups & np.uint64(0x7F)).astype(np.uint8) | follows
    return _pieces(content[is_needed], is_needed.sum(axis=1))


def _fixed_size_bytes(values: npt.NDArray[Any]) -> pa.Array:
    """The bytes of values of one size."""
    return _pieces(values, np.full(len(values), values.itemsize))


def _pieces(content: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> pa.Array:
    """Byte strings of these lengths that make up the content."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return pa.Array.from_buffers(
        _BYTES, len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(content))]
    )


def _concatenate_pieces(pieces: Pieces) -> pa.Array:
    """The pieces of each row, concatenated."""
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", _BYTES)) if len(pieces) > 1 else pieces[0]


def _concatenate_rows(strings: pa.Array) -> bytes:
    """The bytes of all strings, concatenated."""
    _, offsets, data = strings.buffers()
    ends = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    found: bytes = data[ends[0] : ends[-1]].to_pybytes()
    return found
