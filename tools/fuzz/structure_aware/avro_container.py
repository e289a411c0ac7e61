"""Parts of Avro containers: schema, codec, count and records."""

import io
import zlib
from collections.abc import Sequence

from tools.corpus.avro_bytes import encode_long
from tools.fuzz.structure_aware.parts import Parts


def split_container(data: bytes) -> Parts | None:
    """An Avro object container of one block: schema, codec, count, body."""
    import fastavro

    try:
        reader = fastavro.block_reader(io.BytesIO(data))
        if reader.codec not in ("null", "deflate"):
            return None
        block = next(reader)
    except Exception:
        return None
    leaves = (
        reader.metadata["avro.schema"].encode(),
        reader.codec.encode(),
        encode_long(block.num_records),
        block.bytes_.getvalue(),
    )
    return Parts(leaves, _join_container)


def _join_container(leaves: Sequence[bytes]) -> bytes:
    schema, codec, count, body = leaves
    if codec == b"deflate":
        body = zlib.compress(body, 6)[2:-4]
    entries = (b"avro.schema", schema, b"avro.codec", codec)
    head = b"Obj\x01" + encode_long(2) + b"".join(encode_long(len(text)) + text for text in entries) + b"\0"
    return head + bytes(16) + count + encode_long(len(body)) + body + bytes(16)
