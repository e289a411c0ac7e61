"""Parts of Avro containers: schema, codec, count and records."""

import io
import zlib
from collections.abc import Sequence

from tools.corpus.avro_bytes import long
from tools.fuzz.structure_aware.parts import Parts


def container(data: bytes) -> Parts | None:
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
        long(block.num_records),
        block.bytes_.getvalue(),
    )
    return Parts(leaves, _join_container)


def _join_container(leaves: Sequence[bytes]) -> bytes:
    schema, codec, count, body = leaves
    if codec == b"deflate":
        body = zlib.compress(body, 6)[2:-4]
    entries = (b"avro.schema", schema, b"avro.codec", codec)
    head = b"Obj\x01" + long(2) + b"".join(long(len(text)) + text for text in entries) + b"\0"
    return head + bytes(16) + count + long(len(body)) + body + bytes(16)
