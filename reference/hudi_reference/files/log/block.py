"""The envelope of a log block, spec "Log Format", as deployed (ER-010 to ER-016).

    field            width   value
    magic            6       #HUDI#
    block length     8       bytes from the version through the trailer = size of the block on disk - 14
    version          4       1
    type             4       see BlockType
    header           -       4: number of entries, then for each 4: key, 4: length, text in UTF-8
    content length   8
    content          -
    footer           -       a map like the header, always empty
    trailer          8       block length + 6, so that the block's start can be found from its end

All integers are big-endian. The maps carry no length of their own.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from hudi_reference.requirement import implements

MAGIC = b"#HUDI#"
FORMAT_VERSION = 1
#: Bytes before the version field: magic and block length.
PREFIX = 14
TRAILER = 8
#: Version, type, empty header, content length, empty footer, trailer.
SHORTEST = 4 + 4 + 4 + 8 + 4 + TRAILER


class BlockType(IntEnum):
    """Block types by the number that is stored, one less than the text's ids (ER-013)."""

    COMMAND = 0
    DELETE = 1
    CORRUPT = 2
    AVRO_DATA = 3
    HFILE_DATA = 4
    PARQUET_DATA = 5
    CDC_DATA = 6


class HeaderKey(IntEnum):
    """Header keys by the number that is stored, one less than the text's ids (ER-014)."""

    INSTANT_TIME = 0
    TARGET_INSTANT_TIME = 1
    SCHEMA = 2
    COMMAND_BLOCK_TYPE = 3
    COMPACTED_BLOCK_TIMES = 4
    RECORD_POSITIONS = 5
    BLOCK_IDENTIFIER = 6
    IS_PARTIAL = 7
    BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS = 8


ROLLBACK_COMMAND = "0"


@implements("LF-001", "LF-010", "LF-014", "LF-031")
@dataclass(frozen=True)
class Block:
    """One block of a log file. `offset` and `size` in bytes; `header` by stored key, unknown keys kept."""

    kind: BlockType
    header: Mapping[int, str]
    content: memoryview | bytes
    path: str = ""
    offset: int = 0
    size: int = 0

    @property
    def instant(self) -> str:
        """Requested time of the action that wrote the block; "" in a block that names none."""
        return self.header.get(HeaderKey.INSTANT_TIME, "")

    @property
    def end(self) -> int:
        """Offset of the byte after the block."""
        return self.offset + self.size


@implements("BLK-015")
@dataclass(frozen=True)
class CorruptBlock(Block):
    """Bytes of a log file that are no whole block: what a reader gets in its place. `reason` says what is wrong."""

    kind: BlockType = BlockType.CORRUPT
    header: Mapping[int, str] = field(default_factory=dict)
    content: memoryview | bytes = b""
    reason: str = ""


@implements("LF-009", "LF-010", "LF-011", "LF-013", "LF-015", "LF-017", "LF-018", "LF-019", "LF-022", "LF-023", "LF-026")
def encode_block(kind: BlockType, header: Mapping[HeaderKey, str], content: bytes) -> bytes:
    """The bytes of one block."""
    body = b"".join(
        (
            struct.pack(">ii", FORMAT_VERSION, kind),
            encode_map(header),
            struct.pack(">q", len(content)),
            content,
            encode_map({}),
        )
    )
    length = len(body) + TRAILER
    return MAGIC + struct.pack(">q", length) + body + struct.pack(">q", length + len(MAGIC))


@implements("LF-017", "LF-018", "LF-022")
def encode_map(entries: Mapping[HeaderKey, str]) -> bytes:
    """A header or footer map."""
    parts = [struct.pack(">i", len(entries))]
    for key, text in entries.items():
        value = text.encode()
        parts += [struct.pack(">ii", key, len(value)), value]
    return b"".join(parts)
