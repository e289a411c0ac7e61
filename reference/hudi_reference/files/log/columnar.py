"""Decoding an Avro data block into columns at once: the fast path behind `decode_rows`.

Each record of a block stands behind its length of four bytes. With that length declared as a first field of the record, the
content from byte 8 on is exactly the body of one block of an Avro container, which a columnar reader decodes without a loop.
That reader takes the lengths for data. `sizes` then tells whether they are those of the records that it found, so that damage
is never read otherwise than row by row.
"""

import io
import json
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import UnsupportedSchema
from hudi_reference.files.log.sizes import NoSizes, row_sizes
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema
from hudi_reference.schema.evolution import conform

_SYNC = bytes(16)
#: Four bytes that a reader keeps as they are, and faster than a `fixed` of this size.
_LENGTH = {"name": "__length", "type": "float"}


@implements("BLK-020", "BLK-021", "BLK-022")
def decode_avro_columns(data: memoryview | bytes, schema: AvroSchema, count: int) -> pa.Table | None:
    """The `count` rows in `data`; None where no columnar reader is installed, or the data is not for it.

    Whoever gets None decodes row by row, which also finds out what is wrong with damaged data.
    """
    if find_spec("polars") is None or not _is_supported(schema):
        return None
    frame = _decoded({**schema, "fields": [_LENGTH, *schema["fields"]]}, data, count)
    if frame is None or frame.num_rows != count:
        return None
    lengths = _lengths(frame.column("__length"))
    try:
        rows = conform(frame.drop_columns(["__length"]), arrow_schema(schema), "log block")
        sizes = row_sizes(rows, schema, data, np.cumsum(lengths + 4) - lengths)
        _check_decimals(rows)
    except (UnsupportedSchema, NoSizes, pa.ArrowException):
        return None
    if not np.array_equal(lengths, sizes) or int(sizes.sum()) + 4 * count != len(data):
        return None
    return rows


def _is_supported(schema: AvroSchema) -> bool:
    """Whether the columnar reader gets every type right: it knows no maps, and no wide unions."""
    return '"map"' not in json.dumps(schema)


def _decoded(schema: AvroSchema, data: memoryview | bytes, count: int) -> pa.Table | None:
    import polars

    try:
        return polars.read_avro(_Joined(_container(schema, data, count))).to_arrow()
    except BaseException as error:  # the reader's panic is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None


def _lengths(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """The numbers that the bytes of these floats are."""
    lengths: npt.NDArray[np.int64] = column.to_numpy().view(">i4").astype(np.int64)
    return lengths


def _check_decimals(rows: pa.Table) -> None:
    """Raises pyarrow.ArrowInvalid for a decimal of more digits than its column has."""
    for column in rows.columns:
        if _holds_decimal(column.type):
            column.validate(full=True)


def _holds_decimal(kind: pa.DataType) -> bool:
    if pt.is_decimal(kind):
        return True
    return bool(pt.is_nested(kind)) and any(_holds_decimal(kind.field(i).type) for i in range(kind.num_fields))


def _container(schema: AvroSchema, body: memoryview | bytes, count: int) -> list[memoryview]:
    text = json.dumps(schema).encode()
    head = b"Obj\x01" + _varint(2) + _text(b"avro.schema") + _text(text) + _text(b"avro.codec") + _text(b"null") + b"\x00"
    parts = (head + _SYNC + _varint(count) + _varint(len(body)), body, _SYNC)
    return [memoryview(part) for part in parts]


class _Joined(io.RawIOBase):
    """A file of these parts, one behind the other, without a copy of them all."""

    def __init__(self, parts: list[memoryview]) -> None:
        self._parts = parts
        self._position = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, of one part; none at the end."""
        while self._parts and not self._parts[0]:
            del self._parts[0]
        if not self._parts:
            return b""
        part = self._parts[0]
        found = bytes(part if size < 0 else part[:size])
        self._parts[0] = part[len(found) :]
        self._position += len(found)
        return found


def _text(value: bytes) -> bytes:
    return _varint(len(value)) + value


def _varint(number: int) -> bytes:
    """Zigzag, then seven bits a byte, low bits first."""
    zigzag, out = number << 1, bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])
