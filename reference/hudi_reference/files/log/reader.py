"""Reading the blocks of a log file, spec "Log Format > Reading".

A block counts when magic, length and trailer agree. Where they do not, everything up to the next magic is one corrupt block: a
crashed append must not hide the whole blocks around it. Whether a corrupt block may be passed over is not decided here but
where it is known which bytes of the file were committed.
"""

import re
import struct
from collections.abc import Iterator

from hudi_reference.errors import MalformedLogBlock, MalformedLogFile, UnsupportedFileFormat
from hudi_reference.files.log.block import (
    FORMAT_VERSION,
    MAGIC,
    PREFIX,
    SHORTEST,
    TRAILER,
    Block,
    BlockType,
    CorruptBlock,
)
from hudi_reference.files.missing import missing
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

_MAGIC = re.compile(re.escape(MAGIC))


def read_log_file(storage: Storage, path: str) -> Iterator[Block]:
    """The blocks of a log file in file order. Raises MissingDataFile and what `read_blocks` raises."""
    try:
        with storage.open(path) as file:
            data = memoryview(file.read_buffer())
    except FileNotFoundError as error:
        raise missing(path) from error
    yield from read_blocks(data, path)


@implements("LF-012", "LF-025", "BLK-015", "BLK-016", "BLK-017", "S3-004")
def read_blocks(data: memoryview, path: str) -> Iterator[Block]:
    """The blocks in `data`, corrupt ones in their place.

    Raises MalformedLogFile if the file does not start with a block, UnsupportedFileFormat for a block of an unknown version or
    type, MalformedLogBlock for a whole block with a broken header.
    """
    if len(data) >= len(MAGIC) and data[: len(MAGIC)] != MAGIC:
        raise MalformedLogFile(
            "bad magic", rule="LF-012", path=path, offset=0, expected="#HUDI#", found=data[: len(MAGIC)].hex(" ")
        )
    offset = 0
    while offset < len(data):
        block = _read_block(data, offset, path)
        yield block
        offset = block.end


@implements("LF-012", "LF-013", "LF-024")
def _read_block(data: memoryview, offset: int, path: str) -> Block:
    if data[offset : offset + len(MAGIC)] != MAGIC:
        return _corrupt(data, offset, path, "no magic where a block must begin")
    if offset + PREFIX > len(data):
        return _corrupt(data, offset, path, "cut inside the block length")
    (length,) = struct.unpack_from(">q", data, offset + len(MAGIC))
    end = offset + PREFIX + length
    if length < SHORTEST:
        return _corrupt(data, offset, path, f"a block length of {length}, less than an empty block has")
    if end > len(data):
        return _corrupt(data, offset, path, f"a block length of {length}, {end - len(data)} bytes beyond the end of the file")
    (trailer,) = struct.unpack_from(">q", data, end - TRAILER)
    if trailer != length + len(MAGIC):
        return _corrupt(data, offset, path, f"block length {length} but trailer {trailer}")
    return _Body(data[:end], offset, path).block()


def _corrupt(data: memoryview, offset: int, path: str, reason: str) -> CorruptBlock:
    following = _MAGIC.search(data, offset + 1)
    end = following.start() if following else len(data)
    return CorruptBlock(path=path, offset=offset, size=end - offset, content=data[offset:end], reason=reason)


class _Body:
    """What lies between the block length and the trailer of a block whose envelope is whole."""

    def __init__(self, data: memoryview, offset: int, path: str) -> None:
        self.data, self.offset, self.path = data, offset, path
        self.position = offset + PREFIX
        self.end = len(data) - TRAILER

    @implements("LF-014", "LF-015", "LF-020", "LF-027", "LF-028", "LF-029", "LF-030", "LF-032", "LF-033", "LF-034", "BLK-014")
    def block(self) -> Block:
        """Version, type, header, content, footer, and nothing after."""
        version, kind = self._int(), self._int()
        if version != FORMAT_VERSION:
            raise self._unsupported("LF-027", f"version {FORMAT_VERSION}", f"version {version}")
        if kind not in BlockType.__members__.values() or kind == BlockType.CORRUPT:
            raise self._unsupported("LF-015", "a block type from 0 to 6, not 2", f"block type {kind}")
        header = self._map()
        content = self._take(self._long(), "the content")
        self._map()
        if self.position != self.end:
            raise self._malformed(f"{self.end - self.position} bytes between footer and trailer")
        return Block(BlockType(kind), header, content, self.path, self.offset, len(self.data) - self.offset)

    @implements("LF-017", "LF-018")
    def _map(self) -> dict[int, str]:
        entries: dict[int, str] = {}
        for _ in range(self._count()):
            key = self._int()
            text = self._take(self._int(), f"the value of header {key}")
            try:
                entries[key] = bytes(text).decode()
            except UnicodeDecodeError as error:
                raise self._malformed(f"header {key} is not UTF-8 text") from error
        return entries

    def _count(self) -> int:
        count = self._int()
        if not 0 <= count <= (self.end - self.position) // 8:
            raise self._malformed(f"a map of {count} entries in {self.end - self.position} bytes")
        return count

    def _int(self) -> int:
        (value,) = struct.unpack(">i", self._take(4, "a number"))
        return int(value)

    def _long(self) -> int:
        (value,) = struct.unpack(">q", self._take(8, "a length"))
        return int(value)

    def _take(self, length: int, what: str) -> memoryview:
        if not 0 <= length <= self.end - self.position:
            raise self._malformed(f"{what} has {length} bytes, {self.end - self.position} are left in the block")
        self.position += length
        return self.data[self.position - length : self.position]

    def _malformed(self, found: str) -> MalformedLogBlock:
        return MalformedLogBlock(
            "the block's parts do not add up to its length",
            rule="LF-010",
            path=self.path,
            offset=self.offset,
            found=found,
        )

    def _unsupported(self, rule: str, expected: str, found: str) -> UnsupportedFileFormat:
        return UnsupportedFileFormat(
            "a log block that this release does not know", rule=rule, path=self.path, offset=self.offset,
            expected=expected, found=found, cure="read the table with the release that wrote it",
        )  # fmt: skip
