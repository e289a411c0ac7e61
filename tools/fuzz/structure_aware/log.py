"""Parts of log files: headers, footers and content of each block."""

import struct
from collections.abc import Iterator, Sequence

from tools.fuzz.structure_aware.hfile import split_hfile
from tools.fuzz.structure_aware.parts import Explode, Parts, join_parts


def split_log_file(data: bytes) -> Parts | None:
    """Each block of a log file: version and type, header values, content, footer; and the bytes between whole blocks."""
    pieces = list(_log_pieces(data))
    if not pieces:
        return None
    return join_parts(pieces, b"".join)


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
    return join_parts([_one(block[14:22]), head, inner, footer], _join_block)


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
    explode: Explode | None = {1: sized_content, 3: counted_content, 4: split_hfile, 6: counted_content}.get(kind)
    return (explode and explode(content)) or _one(content)


def sized_content(content: bytes) -> Parts | None:
    """A version, a length and that number of bytes: the content of a delete block."""
    if len(content) < 8:
        return None
    return join_parts([_one(content[:4]), _one(content[8:])], lambda parts: parts[0] + _sized(parts[1]))


def counted_content(content: bytes) -> Parts | None:
    """A version, a count and that number of byte strings with their lengths: the content of an Avro block."""
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
