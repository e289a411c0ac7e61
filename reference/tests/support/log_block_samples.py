"""Log blocks whose bytes were computed by hand, and functions that build or damage a block."""

import struct
from typing import Any

from hudi_reference.files.log.block import Block, BlockType, HeaderKey, encode_block
from hudi_reference.files.log.reader import read_blocks

T1, T2 = "20250101000000001", "20250101000000002"
#: Worked example: a rollback command block, 105 bytes.
ROLLBACK = bytes.fromhex(
    "23 48 55 44 49 23"
    "00 00 00 00 00 00 00 5b"
    "00 00 00 01"
    "00 00 00 00"
    "00 00 00 03"
    "00 00 00 00 00 00 00 11 32 30 32 35 30 31 30 31 30 30 30 30 30 30 30 30 32"
    "00 00 00 01 00 00 00 11 32 30 32 35 30 31 30 31 30 30 30 30 30 30 30 30 31"
    "00 00 00 03 00 00 00 01 30"
    "00 00 00 00 00 00 00 00"
    "00 00 00 00"
    "00 00 00 00 00 00 00 61"
)
#: Worked example: a delete block without entries, 80 bytes.
NO_DELETES = bytes.fromhex(
    "23 48 55 44 49 23 00 00 00 00 00 00 00 42 00 00"
    "00 01 00 00 00 01 00 00 00 01 00 00 00 00 00 00"
    "00 11 32 30 32 35 30 31 30 31 30 30 30 30 30 30"
    "30 30 31 00 00 00 00 00 00 00 09 00 00 00 03 00"
    "00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 48"
)
#: Worked example: delete content, (k1, p=1, Integer 0) and (k2, p=1, Long 1700000000000).
TWO_DELETES = bytes.fromhex(
    "00 00 00 03 00 00 00 1d 04"
    "02 04 6b 31  02 06 70 3d 31  04 00"
    "02 04 6b 32  02 06 70 3d 31  06 80 a0 ab fe f9 62"
    "00"
)  # fmt: skip
#: Worked example: Avro content, records (a, 7) and (b, null).
TWO_ROWS = bytes.fromhex("00 00 00 03 00 00 00 02  00 00 00 04 02 61 02 0e  00 00 00 03 02 62 00")
KN_SCHEMA: dict[str, Any] = {
    "type": "record", "name": "r", "fields": [{"name": "k", "type": "string"}, {"name": "n", "type": ["null", "int"]}]
}  # fmt: skip
KN_JSON = '{"type":"record","name":"r","fields":[{"name":"k","type":"string"},{"name":"n","type":["null","int"]}]}'


def avro_block(content: bytes, schema: str = KN_JSON, instant: str = T1) -> bytes:
    """A data block with this content."""
    return encode_block(BlockType.AVRO_DATA, {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: schema}, content)


def with_length(block: bytes, length: int) -> bytes:
    """The block with another number in its length field."""
    return block[:6] + struct.pack(">q", length) + block[14:]


def with_int(block: bytes, offset: int, value: int) -> bytes:
    """The block with another four-byte number at `offset`."""
    return block[:offset] + struct.pack(">i", value) + block[offset + 4 :]


def blocks_of(data: bytes) -> list[Block]:
    """The blocks of a file with these bytes."""
    return list(read_blocks(memoryview(data), "f.log"))


def block_with(kind: BlockType, content: bytes, header: dict[int, str] | None = None) -> Block:
    """A block with this content, for a decoder."""
    return Block(kind, {0: T1, 2: KN_JSON} if header is None else header, content, "f.log", 0, len(content))
