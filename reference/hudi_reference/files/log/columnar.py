"""Decoding an Avro data block into columns at once: the fast path behind `decode_rows`.

Each record of a block stands behind its length of four bytes. With that length declared as a first field of the record, the
content from byte 8 on is exactly the body of one block of an Avro container, which a columnar reader decodes without a loop.
"""

import io
import json
from importlib.util import find_spec

import pyarrow as pa

from hudi_reference.schema.avro import AvroSchema, arrow_schema
from hudi_reference.schema.evolution import conform

_SYNC = bytes(16)
_LENGTH = {"name": "__length", "type": {"type": "fixed", "name": "__length_bytes", "size": 4}}


def decode_avro_columns(data: memoryview | bytes, schema: AvroSchema, count: int) -> pa.Table | None:
    """The `count` rows in `data`; None where no columnar reader is installed, or the data is not for it.

    Whoever gets None decodes row by row, which also finds out what is wrong with damaged data.
    """
    if find_spec("polars") is None or not _is_supported(schema):
        return None
    import polars

    framed = {**schema, "fields": [_LENGTH, *schema["fields"]]}
    try:
        frame = polars.read_avro(io.BytesIO(_container(framed, bytes(data), count)))
    except BaseException as error:  # the reader's panic is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None
    lengths = b"".join(frame["__length"].to_list()) if frame.height == count else b""
    if _sum_of_lengths(lengths) + 4 * count != len(data):
        return None
    return conform(frame.drop("__length").to_arrow(), arrow_schema(schema), "log block")


def _is_supported(schema: AvroSchema) -> bool:
    """Whether the columnar reader gets every type right: it knows no maps, and no wide unions."""
    return '"map"' not in json.dumps(schema)


def _sum_of_lengths(lengths: bytes) -> int:
    import numpy as np

    return int(np.frombuffer(lengths, dtype=">i4").sum())


def _container(schema: AvroSchema, body: bytes, count: int) -> bytes:
    text = json.dumps(schema).encode()
    head = b"Obj\x01" + _varint(2) + _text(b"avro.schema") + _text(text) + _text(b"avro.codec") + _text(b"null") + b"\x00"
    return head + _SYNC + _varint(count) + _varint(len(body)) + body + _SYNC


def _text(value: bytes) -> bytes:
    return _varint(len(value)) + value


def _varint(number: int) -> bytes:
    """Zigzag, then seven bits a byte, low bits first."""
    zigzag, out = number << 1, bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])
