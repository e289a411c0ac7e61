"""Reading the blocks of a log file, spec "Log Format > Reading".

A block is valid if magic, length and trailer agree. If they do not, the bytes up to the next magic are one corrupt block, so
that a crashed append does not hide the valid blocks around it. Whether a corrupt block may be skipped is decided in
`query.log_scanner`, which knows the committed bytes of the file.

A block may have a valid envelope and a header that cannot be parsed. No crash causes that, so `read_blocks` raises an error;
for inspection it returns a corrupt block and continues with the next one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from hudi_reference.errors import HudiError, MalformedLogBlock, MalformedLogFile, UnsupportedFileFormat, missing_data_file
from hudi_reference.files.log.block import (
    FORMAT_VERSION,
    FORMAT_VERSIONS,
    MAGIC,
    PREFIX,
    TRAILER,
    WINDOW,
    Block,
    BlockType,
    CorruptBlock,
    Extent,
    Ranges,
)
from hudi_reference.limits import BLOCKS
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

_EMPTY_MAP = 4
_MAGIC = re.compile(re.escape(MAGIC))


def read_log_file(storage: Storage, path: str, *, for_inspection: bool = False) -> Iterator[Block]:
    """The blocks of a log file, as `read_blocks`. Raises MissingDataFile and what `read_blocks` raises.

    Contents are fetched on demand, so the largest content determines the memory needed.
    """
    try:
        file = storage.open(path)
    except FileNotFoundError as error:
        raise missing_data_file(path) from error
    yield from _walk(Ranges(file, path), path, for_inspection=for_inspection)


@implements("LF-012", "LF-025", "BLK-015", "BLK-016", "BLK-017", "S3-004")
def read_blocks(data: memoryview, path: str, *, for_inspection: bool = False) -> Iterator[Block]:
    """The blocks in `data` in file order, corrupt blocks included: they cover the data without gaps.

    With `for_inspection` a block that would raise one of these errors is a corrupt block with its `error`.

    Raises:
        MalformedLogFile: the file does not start with a block.
        UnsupportedFileFormat: a block of an unknown version or type.
        MalformedLogBlock: a block with a valid envelope and a malformed header.
    """
    return _walk(Ranges(pa.BufferReader(pa.py_buffer(data)), path), path, for_inspection=for_inspection)


def _walk(file: Ranges, path: str, *, for_inspection: bool) -> Iterator[Block]:
    offset = found = 0
    most = BLOCKS.value
    while offset < file.size:
        if (found := found + 1) > most:
            BLOCKS.check(found, path, offset)
        block = _read_block(file, offset, path)
        if not for_inspection and isinstance(block, CorruptBlock) and block.error is not None:
            raise block.error
        yield block
        offset = block.end


@implements("LF-012", "LF-013", "LF-028")
def _read_block(file: Ranges, offset: int, path: str) -> Block:
    """The block at `offset`, or the corrupt block there."""
    if (found := bytes(file.read(offset, len(MAGIC)))) != MAGIC:
        return _no_magic(file, offset, path, found)
    if offset + PREFIX > file.size:
        return _corrupt(file, offset, path, "cut inside the block length")
    length = _number_at(file, offset + len(MAGIC), 8)
    end = offset + PREFIX + length
    if wrong := _wrong_length(file, offset, length):
        return _corrupt(file, offset, path, wrong)
    try:
        return _BlockParser(file, path, offset, offset + PREFIX, end).block()
    except HudiError as error:
        return CorruptBlock(
            path=path, offset=offset, size=end - offset, stored=Extent(file, offset, end - offset),
            reason=f"{error.message}: {error.found}", error=error,
        )  # fmt: skip


@implements("LF-024", "LF-027", "LF-030", "LF-034")
def _wrong_length(file: Ranges, offset: int, length: int) -> str | None:
    """The reason why the length of the block at `offset` is wrong; None if it is right.

    The trailer repeats the length. In a format version without trailer the length of the content is compared instead.
    """
    end, version = offset + PREFIX + length, _number_at(file, offset + PREFIX, 4)
    parts = FORMAT_VERSIONS.get(version, FORMAT_VERSIONS[FORMAT_VERSION])
    if length < parts.shortest:
        return f"a block length of {length}, less than an empty block has"
    if end > file.size:
        return f"a block length of {length}, {end - file.size} bytes beyond the end of the file"
    if not parts.has_trailer and _number_at(file, offset + PREFIX + 8, 8) == length - parts.shortest:
        return None
    file.read(end - TRAILER - _EMPTY_MAP, _EMPTY_MAP + TRAILER)  # one request for footer, trailer and what follows
    trailer = _number_at(file, end - TRAILER, 8)
    return f"block length {length} but trailer {trailer}" if trailer != length + len(MAGIC) else None


def _no_magic(file: Ranges, offset: int, path: str, found: bytes) -> CorruptBlock:
    """A corrupt block for bytes without a magic; an error if a file of at least six bytes starts with them."""
    error = None
    if offset == 0 and len(found) == len(MAGIC):
        error = MalformedLogFile("bad magic", rule="LF-012", path=path, offset=0, expected="#HUDI#", found=found.hex(" "))
    return _corrupt(file, offset, path, "no magic where a block must begin", error)


def _corrupt(file: Ranges, offset: int, path: str, reason: str, error: HudiError | None = None) -> CorruptBlock:
    size = _next_magic(file, offset + 1) - offset
    return CorruptBlock(path=path, offset=offset, size=size, stored=Extent(file, offset, size), reason=reason, error=error)


@implements("BLK-017", "LF-025")
def _next_magic(file: Ranges, start: int) -> int:
    """The offset of the first magic at `start` or after it; the end of the file if there is none."""
    while start < file.size:
        window = file.read(start, WINDOW)
        if following := _MAGIC.search(window):
            return start + following.start()
        start += max(1, len(window) - len(MAGIC) + 1)
    return file.size


def _number_at(file: Ranges, offset: int, width: int) -> int:
    return int.from_bytes(file.read(offset, width), "big", signed=True)


@dataclass
class _BlockParser:
    """Parses the block at `offset`, which has a valid envelope, from the version at `position` to `end`."""

    file: Ranges
    path: str
    offset: int
    position: int
    end: int

    @implements("LF-014", "LF-015", "LF-020", "LF-022", "LF-027", "LF-029", "LF-030", "LF-031", "LF-032", "LF-033", "BLK-014")
    def block(self) -> Block:
        """Parse version, type, header, content length and footer. Raises UnsupportedFileFormat, MalformedLogBlock."""
        version, kind, size = self._number(4), self._number(4), self.end - self.offset
        if version not in FORMAT_VERSIONS:
            raise self._unsupported("LF-027", "version 0 or 1", f"version {version}")
        if kind not in BlockType.__members__.values() or kind == BlockType.CORRUPT:
            raise self._unsupported("LF-015", "a block type from 0 to 6, not 2", f"block type {kind}")
        parts = FORMAT_VERSIONS[version]
        self.end -= TRAILER if parts.has_trailer else 0
        header = self._map() if parts.has_header else {}
        content = self._skip(self._number(8), "the content")
        footer = self._map() if parts.has_footer else {}
        if self.position != self.end:
            raise self._malformed(f"{self.end - self.position} bytes between footer and trailer")
        return Block(BlockType(kind), header, content, self.path, self.offset, size, version, footer)

    @implements("LF-017", "LF-018")
    def _map(self) -> dict[int, str]:
        entries: dict[int, str] = {}
        if not 0 <= (count := self._number(4)) <= (self.end - self.position) // 8:
            raise self._malformed(f"a map of {count} entries in {self.end - self.position} bytes")
        for _ in range(count):
            key = self._number(4)
            text = self._skip(self._number(4), f"the value of header {key}").read()
            try:
                entries[key] = bytes(text).decode()
            except UnicodeDecodeError as error:
                raise self._malformed(f"header {key} is not UTF-8 text") from error
        return entries

    @implements("LF-019", "LF-030")
    def _number(self, width: int) -> int:
        return int.from_bytes(self._skip(width, "a number").read(), "big", signed=True)

    def _skip(self, length: int, what: str) -> Extent:
        if not 0 <= length <= self.end - self.position:
            raise self._malformed(f"{what} has {length} bytes, {self.end - self.position} are left in the block")
        self.position += length
        return Extent(self.file, self.position - length, length)

    def _malformed(self, found: str) -> MalformedLogBlock:
        return MalformedLogBlock(
            "the parts of the block do not add up to its length",
            rule="LF-010",
            path=self.path,
            offset=self.offset,
            expected="header, content and footer that fill the block, and texts in UTF-8",
            found=found,
        )

    def _unsupported(self, rule: str, expected: str, found: str) -> UnsupportedFileFormat:
        return UnsupportedFileFormat(
            "a log block that this release does not know", rule=rule, path=self.path, offset=self.offset,
            expected=expected, found=found, remedy="read the table with the release that wrote it",
        )  # fmt: skip
