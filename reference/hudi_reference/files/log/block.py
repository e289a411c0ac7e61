"""The envelope of a log block, spec "Log Format", as deployed (ER-010 to ER-016).

    field            width   value
    magic            6       #HUDI#
    block length     8       bytes from the version to the end of the block = size of the block on disk - 14
    version          4       1, or 0 in blocks of old releases
    type             4       see BlockType
    header           -       4: number of entries, then for each 4: key, 4: length, text in UTF-8; not in version 0
    content length   8
    content          -
    footer           -       a map like the header, always empty; not in version 0
    trailer          8       block length + 6, so that the block's start can be found from its end; not in version 0

All integers are big-endian. The maps have no length field.

A file is read range by range, so that only the ranges that are read are in memory. On local storage a range is a view of the
mapped file. On object stores a range is a request, so nearby ranges are fetched together.
"""

import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import pyarrow as pa

from hudi_reference.errors import HudiError, MalformedLogFile, Misuse, missing_data_file
from hudi_reference.limits import OBJECT_BYTES
from hudi_reference.requirement import implements

MAGIC = b"#HUDI#"
#: Bytes before the version field: magic and block length.
PREFIX = 14
TRAILER = 8
#: The least number of bytes that one request fetches. Most log files are smaller, so one request fetches them.
WINDOW = 1 << 20


class Ranges:
    """Ranges of an open file. `size` in bytes."""

    def __init__(self, file: pa.NativeFile, path: str) -> None:
        self._file, self._path = file, path
        self.size: int = file.size()
        #: Whether a range is a view of bytes, which needs no request.
        self.is_in_memory = isinstance(file, pa.BufferReader)
        #: The last two windows with their offsets: usually one at the beginning of a block and one at its end.
        self._windows: list[tuple[int, memoryview]] = []

    def read(self, start: int, length: int) -> memoryview:
        """`length` bytes from byte `start` on, or fewer at the end of the file; a view of the fetched window."""
        length = max(0, min(length, self.size - start))
        if length > WINDOW:
            OBJECT_BYTES.check(length, self._path, start)
            return self.fetch(start, length)
        for first, window in self._windows:
            if first <= start and start + length <= first + len(window):
                return window[start - first : start - first + length]
        window = self.fetch(start, min(WINDOW, self.size - start))
        self._windows = [(start, window), *self._windows[:1]]
        return window[:length]

    def fetch(self, start: int, length: int) -> memoryview:
        """Exactly these bytes. Raises MissingDataFile, and MalformedLogFile if the file became shorter."""
        try:
            self._file.seek(start)
            found = memoryview(self._file.read_buffer(length)).cast("B")
        except FileNotFoundError as error:
            raise missing_data_file(self._path) from error
        if len(found) != length:
            raise MalformedLogFile(
                "the file became shorter while it was read", rule="S3-004", path=self._path, offset=start,
                expected=f"{length} bytes", found=f"{len(found)} bytes",
            )  # fmt: skip
        return found


@dataclass(frozen=True)
class Extent:
    """A range of a file that is fetched on demand."""

    ranges: Ranges
    start: int
    length: int

    def read(self) -> memoryview:
        """The bytes; fetched again unless they are in one of the last windows."""
        return self.ranges.read(self.start, self.length)

    def open(self) -> pa.NativeFile:
        """The range as a file."""
        if self.ranges.is_in_memory or self.length <= WINDOW:
            return pa.BufferReader(pa.py_buffer(self.read()))
        return pa.PythonFile(_ExtentFile(self), mode="r")


class _ExtentFile(io.RawIOBase):
    """A range of a file as a Python file object."""

    def __init__(self, extent: Extent) -> None:
        self._extent, self._place = extent, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + (0, self._place, self._extent.length)[whence]
        return self._place

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._extent.length - self._place)
        length = left if size < 0 else min(size, left)
        start = self._extent.start + self._place
        self._place += length
        return bytes(self._extent.ranges.fetch(start, length)) if length else b""


@dataclass(frozen=True)
class FormatVersion:
    """The optional parts of blocks of one log format version; the other parts are in every version.

    `shortest` is the block length of a block without content and without entries in its maps.
    """

    number: int
    shortest: int
    has_header: bool
    has_footer: bool
    has_trailer: bool


#: The table of the spec, "Log Format > Versioning" (ER-077). Other versions are refused.
FORMAT_VERSIONS = {
    0: FormatVersion(0, shortest=16, has_header=False, has_footer=False, has_trailer=False),
    1: FormatVersion(1, shortest=32, has_header=True, has_footer=True, has_trailer=True),
}
#: The version of written blocks.
FORMAT_VERSION = 1


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


@implements("LF-001", "LF-010", "LF-014", "LF-029", "LF-031")
@dataclass(frozen=True)
class Block:
    """One block of a log file. `offset` and `size` in bytes; `header` and `footer` by stored key, unknown keys included.

    `stored` is the content, or the range of a file from which it is fetched on demand.
    """

    kind: BlockType
    header: Mapping[int, str]
    stored: memoryview | bytes | Extent
    path: str = ""
    offset: int = 0
    size: int = 0
    version: int = FORMAT_VERSION
    footer: Mapping[int, str] = field(default_factory=dict)

    @property
    def content(self) -> memoryview:
        """The bytes of the content, fetched at each access. Raises MissingDataFile and MalformedLogFile."""
        return self.stored.read() if isinstance(self.stored, Extent) else memoryview(self.stored)

    def open_content(self) -> pa.NativeFile:
        """The content for random access; only the ranges that are read are fetched."""
        return self.stored.open() if isinstance(self.stored, Extent) else pa.BufferReader(pa.py_buffer(self.stored))

    @property
    def content_length(self) -> int:
        """The number of bytes of the content, without fetching them."""
        return self.stored.length if isinstance(self.stored, Extent) else len(self.stored)

    @property
    def content_offset(self) -> int:
        """Offset in the file of the content's first byte."""
        return self.stored.start if isinstance(self.stored, Extent) else self.offset

    @property
    def instant(self) -> str:
        """Requested time of the action that wrote the block; "" if the header has none."""
        return self.header.get(HeaderKey.INSTANT_TIME, "")

    @property
    def end(self) -> int:
        """Offset of the byte after the block."""
        return self.offset + self.size


@implements("BLK-014", "BLK-015")
@dataclass(frozen=True)
class CorruptBlock(Block):
    """Bytes of a log file that are not a valid block; `reason` is what is wrong with them.

    `error` is set if offset and size of the block are certain, but its parts are malformed: a reader must not skip such a
    block.
    """

    kind: BlockType = BlockType.CORRUPT
    header: Mapping[int, str] = field(default_factory=dict)
    stored: memoryview | bytes | Extent = b""
    reason: str = ""
    error: HudiError | None = None


@implements(
    "LF-009", "LF-010", "LF-011", "LF-013", "LF-015", "LF-017", "LF-018", "LF-019", "LF-022", "LF-023", "LF-026",
    "LF-028", "LF-030", "LF-032", "LF-033", "LF-034",
)  # fmt: skip
def encode_block(
    kind: BlockType,
    header: Mapping[HeaderKey, str],
    content: bytes,
    footer: Mapping[HeaderKey, str] | None = None,
    version: int = FORMAT_VERSION,
) -> bytes:
    """The bytes of one block. Raises Misuse for a header or footer in a block of version 0, which has neither."""
    parts = FORMAT_VERSIONS[version]
    if (header and not parts.has_header) or (footer and not parts.has_footer):
        raise Misuse(f"a block of version {version} has no header and no footer", rule="LF-032")
    body = b"".join(
        (
            struct.pack(">ii", version, kind),
            encode_map(header) if parts.has_header else b"",
            struct.pack(">q", len(content)),
            content,
            encode_map(footer or {}) if parts.has_footer else b"",
        )
    )
    # ER-012: the first length counts all bytes after it; the last one also counts the magic and the first length.
    length = len(body) + (TRAILER if parts.has_trailer else 0)
    trailer = struct.pack(">q", length + len(MAGIC)) if parts.has_trailer else b""
    return MAGIC + struct.pack(">q", length) + body + trailer


@implements("LF-016", "LF-017", "LF-018", "LF-021", "LF-022")
def encode_map(entries: Mapping[HeaderKey, str]) -> bytes:
    """A header or footer map."""
    # ER-010, ER-011: no length before header and footer. ER-015: four bytes for type and for length of an entry.
    parts = [struct.pack(">i", len(entries))]
    for key, text in entries.items():
        value = text.encode()
        parts += [struct.pack(">ii", key, len(value)), value]
    return b"".join(parts)
