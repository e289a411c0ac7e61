"""Inputs taken apart into leaves, and put together again with right lengths, trailers and checksums.

A random change to a framed file mostly ends at the first length that no longer fits. So a mutation may change one leaf, and the
frame is made whole around it: what lies deeper is reached.
"""

import base64
import io
import json
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tools.corpus.avro_bytes import long

from hudi_reference.errors import HudiError

Build = Callable[[Sequence[bytes]], bytes]


@dataclass(frozen=True)
class Parts:
    """The leaves of an input and how they become an input again."""

    leaves: tuple[bytes, ...]
    build: Build


#: None where the input is not whole enough to be taken apart.
Explode = Callable[[bytes], Parts | None]


def whole(data: bytes) -> Parts | None:
    """One leaf: texts, and files without a frame."""
    return Parts((data,), lambda leaves: leaves[0])


def line_and_rest(rest: Explode = whole) -> Explode:
    """A first line, and behind it what `rest` takes apart."""

    def explode(data: bytes) -> Parts | None:
        line, _, body = data.partition(b"\n")
        inner = rest(body)
        if inner is None:
            return None
        return Parts((line, *inner.leaves), lambda leaves: leaves[0].replace(b"\n", b" ") + b"\n" + inner.build(leaves[1:]))

    return explode


def nested(parts: Sequence[Parts], join: Build) -> Parts:
    """The leaves of all parts, one part behind the other; `join` makes the whole of the parts that were built."""
    ends = [sum(len(part.leaves) for part in parts[:i]) for i in range(len(parts) + 1)]

    def build(leaves: Sequence[bytes]) -> bytes:
        return join([part.build(leaves[start:end]) for part, (start, end) in zip(parts, pairwise(ends), strict=True)])

    return Parts(tuple(leaf for part in parts for leaf in part.leaves), build)


def log_file(data: bytes) -> Parts | None:
    """Each block of a log file: version and type, header values, content, footer, and whatever lies between whole blocks."""
    pieces = list(_log_pieces(data))
    if not pieces:
        return None
    return nested(pieces, b"".join)


def _log_pieces(data: bytes) -> Iterator[Parts]:
    position = 0
    while position < len(data):
        end = _block_end(data, position)
        block = None if end is None else _log_block(data[position:end])
        if block is None or end is None:
            following = data.find(b"#HUDI#", position + 1)
            end = len(data) if following < 0 else following
            block = Parts((data[position:end],), lambda leaves: leaves[0])
        yield block
        position = end


def _block_end(data: bytes, position: int) -> int | None:
    if data[position : position + 6] != b"#HUDI#" or position + 14 > len(data):
        return None
    end = position + 14 + int.from_bytes(data[position + 6 : position + 14], "big")
    return end if end <= len(data) else None


def _log_block(block: bytes) -> Parts | None:
    try:
        head, position = _map(block, 22)
        (length,) = struct.unpack_from(">q", block, position)
        content = block[position + 8 : position + 8 + length]
        footer, position = _map(block, position + 8 + length)
        if len(content) != length or position + 8 != len(block):
            return None
    except (struct.error, ValueError):
        return None
    inner = _log_content(block[21], content)
    return nested([_one(block[14:22]), head, inner, footer], _join_block)


def _join_block(parts: Sequence[bytes]) -> bytes:
    kinds, head, content, footer = parts
    body = kinds + head + struct.pack(">q", len(content)) + content + footer
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)


def _one(data: bytes) -> Parts:
    return Parts((data,), lambda leaves: leaves[0])


def _map(block: bytes, position: int) -> tuple[Parts, int]:
    """A header or footer: keys and values alternate."""
    (count,) = struct.unpack_from(">i", block, position)
    leaves, position = [], position + 4
    if not 0 <= count <= 64:
        raise ValueError("no map")
    for _ in range(count):
        key, length = struct.unpack_from(">4si", block, position)
        if not 0 <= length <= len(block):
            raise ValueError("no map")
        leaves += [key, block[position + 8 : position + 8 + length]]
        position += 8 + length

    def build(leaves: Sequence[bytes]) -> bytes:
        pairs = zip(leaves[::2], leaves[1::2], strict=True)
        return struct.pack(">i", count) + b"".join(key[:4].rjust(4, b"\0") + _sized(value) for key, value in pairs)

    return Parts(tuple(leaves), build), position


def _sized(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def _log_content(kind: int, content: bytes) -> Parts:
    explode: Explode | None = {1: sized_content, 3: counted_content, 4: hfile, 6: counted_content}.get(kind)
    return (explode and explode(content)) or _one(content)


def sized_content(content: bytes) -> Parts | None:
    """A version, a length and so many bytes: a delete block's content."""
    if len(content) < 8:
        return None
    return nested([_one(content[:4]), _one(content[8:])], lambda parts: parts[0] + _sized(parts[1]))


def counted_content(content: bytes) -> Parts | None:
    """A version, a count and so many byte strings behind their lengths: an Avro block's content."""
    position, leaves = 8, []
    while position + 4 <= len(content) and len(leaves) < 4096:
        length = int.from_bytes(content[position : position + 4], "big")
        leaves.append(content[position + 4 : position + 4 + length])
        position += 4 + length
    if position != len(content):
        return None

    def build(leaves: Sequence[bytes]) -> bytes:
        return leaves[0] + struct.pack(">i", len(leaves) - 1) + b"".join(map(_sized, leaves[1:]))

    return Parts((content[:4], *leaves), build)


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


def base64_text(data: bytes) -> Parts | None:
    """The bytes that a text of Base64 stands for."""
    try:
        return Parts((base64.b64decode(data, validate=True),), lambda leaves: base64.b64encode(leaves[0]))
    except ValueError:
        return None


def json_text(data: bytes) -> object | None:
    """The JSON value that a leaf is, if it is a list or an object."""
    if data[:1] not in (b"{", b"["):
        return None
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found


def hfile(data: bytes) -> Parts | None:
    """The payloads of an HFile's blocks and the numbers of its trailer; sizes, checksums and places are made right again."""
    from tools.fuzz.leaves_hfile import explode

    try:
        return explode(data)
    except (HudiError, struct.error, ValueError, KeyError):
        return None
