"""The fields of a log block, also of a damaged one, each with its offset, its bytes and its error.

The reader only says that a block is invalid; this module shows which bytes are wrong.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from hudi_reference.files.log.block import FORMAT_VERSIONS, MAGIC, PREFIX, TRAILER, BlockType, HeaderKey
from hudi_reference.files.log.content import CONTENT_VERSION

#: The number of correct bytes in a magic from which on the rest is read as a block.
_LIKE_A_MAGIC = 4
#: The bytes of a content that are shown.
_SHOWN = 64
_SHORTEST = FORMAT_VERSIONS[1].shortest
Check = Callable[[int], bool]
_VERSIONED = (BlockType.AVRO_DATA, BlockType.CDC_DATA, BlockType.DELETE)


@dataclass(frozen=True)
class Field:
    """A field as found. `expected` and `rule` are set only if it is wrong.

    `data` are its bytes that exist; of a content only the first bytes of its `size`.
    """

    name: str
    offset: int
    data: bytes
    says: str
    expected: str | None = None
    rule: str | None = None
    size: int | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether the field is wrong."""
        return self.expected is not None

    @property
    def end(self) -> int:
        """Offset of the byte after the field."""
        return self.offset + (len(self.data) if self.size is None else self.size)


def envelope(data: memoryview, offset: int, end: int | None = None) -> list[Field]:
    """The fields of the block at `offset`, up to the first that cannot be read. The block ends before `end`."""
    found: list[Field] = []
    walk = _Walk(data, offset, len(data) if end is None else end)
    try:
        for one in walk.fields():
            found.append(one)  # the fields before a truncated one are kept
    except _Cut as cut:
        found += [cut.field, *walk.trailer_by_length()]
    return found


def _value(field: Field) -> int:
    return int.from_bytes(field.data, "big", signed=True)


class _Cut(Exception):
    """A field that is incomplete."""

    def __init__(self, field: Field) -> None:
        super().__init__(field.name)
        self.field = field


class _Walk:
    """Reads field after field."""

    def __init__(self, data: memoryview, offset: int, end: int) -> None:
        self.data, self.start, self.position, self.end = data, offset, offset, end
        self.length = 0

    def fields(self) -> Iterator[Field]:
        magic = self._take("magic", len(MAGIC))
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in magic)
        yield self._field("magic", magic, text, None if magic == MAGIC else MAGIC.decode(), "LF-012")
        if sum(a == b for a, b in zip(magic, MAGIC, strict=True)) < _LIKE_A_MAGIC:
            return
        yield self._block_length()
        version = self._number("version", 4, "1, or 0", lambda n: n in FORMAT_VERSIONS, "LF-027")
        yield version
        kind = self._number("type", 4, "0 to 6, not 2", lambda n: n in set(BlockType) - {BlockType.CORRUPT}, "LF-015")
        yield self._block_type(kind)
        parts = FORMAT_VERSIONS.get(_value(version), FORMAT_VERSIONS[1])
        if parts.has_header:
            yield from self._map("header", "LF-017")
        yield from self._content(_value(kind), 4 * parts.has_footer + TRAILER * parts.has_trailer)
        if parts.has_footer:
            yield from self._map("footer", "LF-022")
        if parts.has_trailer:
            yield from self._trailer()

    def _block_length(self) -> Field:
        raw = self._take("block length", 8)
        (self.length,) = struct.unpack(">q", raw)
        room = len(self.data) - self.start - PREFIX
        version = int.from_bytes(self.data[self.position : self.position + 4], "big")
        shortest = FORMAT_VERSIONS.get(version, FORMAT_VERSIONS[1]).shortest
        expected = None
        if self.length < shortest:
            expected = f"at least {shortest}"
        elif self.length > room:
            expected = f"at most {room}, where the file ends"
        return self._field("block length", raw, str(self.length), expected, "LF-013")

    def _block_type(self, kind: Field) -> Field:
        number = _value(kind)
        name = BlockType(number).name if number in set(BlockType) else "unknown"
        return Field(kind.name, kind.offset, kind.data, f"{number} {name}", kind.expected, kind.rule)

    def _map(self, name: str, rule: str) -> Iterator[Field]:
        count = self._number(f"{name} entries", 4, "a number of entries that fits", self._fits_entries, rule)
        yield count
        if count.is_wrong:
            raise _Cut(self._rest("after that"))
        for _ in range(_value(count)):
            yield self._entry(name)

    def _fits_entries(self, count: int) -> bool:
        return 0 <= count <= (self.end - self.position) // 8

    def _entry(self, name: str) -> Field:
        at = self.position
        head = self._take(f"{name} entry", 8)
        key, length = struct.unpack(">ii", head)
        title = f"{name} {HeaderKey(key).name if key in set(HeaderKey) else key}"
        if not 0 <= length <= self.end - self.position:
            expected = f"up to {self.end - self.position}, {self._limit()}"
            raise _Cut(Field(title, at, head, f"a text of {length} bytes", expected, "LF-018"))
        value = self._take(title, length)
        text = value.decode("utf-8", "backslashreplace")
        is_text = text.encode() == value
        return Field(title, at, head + value, text, None if is_text else "text in UTF-8", None if is_text else "LF-018")

    def _content(self, kind: int, behind: int) -> Iterator[Field]:
        """The length and the content; at least `behind` bytes follow it."""
        room = self.end - self.position - 8
        expected = f"0 to {max(room, 0)}, {self._limit()}"
        size = self._number("content length", 8, expected, lambda n: 0 <= n <= room, "LF-019")
        yield size
        if size.is_wrong:
            raise _Cut(self._rest("content"))
        at, length = self.position, _value(size)
        if kind in _VERSIONED and length >= 8:
            yield from self._content_head(BlockType(kind), at, length)
        yield self._shortened("content", at + length)
        self.position = at + length

    def _content_head(self, kind: BlockType, at: int, length: int) -> Iterator[Field]:
        """The version of the content, then the number of records, or the length of the list of deletes."""
        is_delete = kind is BlockType.DELETE
        yield self._number("content version", 4, f"1 to {CONTENT_VERSION}", lambda n: 1 <= n <= CONTENT_VERSION,
                           "BLK-007" if is_delete else "BLK-019")  # fmt: skip
        room = length - 8
        if is_delete:
            yield self._number("deletes length", 4, str(room), lambda n: n == room, "BLK-008")
        else:
            yield self._number("record count", 4, f"0 to {room // 4}", lambda n: 0 <= n <= room // 4, "BLK-020")

    def _trailer(self) -> Iterator[Field]:
        """The trailer, at the offset that the block length gives; the fields before it may end elsewhere."""
        at = self.start + PREFIX + self.length - TRAILER
        if not self.start < at <= len(self.data) - TRAILER:
            raw = self._take("trailer", TRAILER)
            value = int.from_bytes(raw, "big", signed=True)
            yield Field("trailer", self.position - TRAILER, raw, f"{value}: so the block length was {value - len(MAGIC)}")
            return
        if at < self.position:
            over = bytes(self.data[at : self.position])
            yield Field("overlap", at, over, f"{len(over)} bytes of parts in the trailer", f"parts up to byte {at}", "LF-010")
        elif at > self.position:
            yield replace(self._shortened("no field", at), expected="none", rule="LF-010")
        yield from self._trailer_at(at)

    def _trailer_at(self, at: int) -> Iterator[Field]:
        self.position, self.end = at, len(self.data)
        wanted = self.length + len(MAGIC)
        yield self._number("trailer", TRAILER, f"{wanted}, the block length and 6", lambda n: n == wanted, "LF-024")

    def trailer_by_length(self) -> Iterator[Field]:
        """The trailer at the offset that the block length gives, after a field that could not be read."""
        at = self.start + PREFIX + self.length - TRAILER
        if self.length >= _SHORTEST and self.position < at <= len(self.data) - TRAILER:
            yield from self._trailer_at(at)

    def _limit(self) -> str:
        return "where the file ends" if self.end == len(self.data) else "where the next block begins"

    def _number(self, name: str, width: int, expected: str, is_right: Check, rule: str) -> Field:
        raw = self._take(name, width)
        value = int.from_bytes(raw, "big", signed=True)
        return self._field(name, raw, str(value), None if is_right(value) else expected, rule)

    def _field(self, name: str, raw: bytes, says: str, expected: str | None, rule: str) -> Field:
        return Field(name, self.position - len(raw), raw, says, expected, rule if expected is not None else None)

    def _take(self, name: str, length: int) -> bytes:
        left = self.end - self.position
        if length > left:
            raw = bytes(self.data[self.position : self.end])
            raise _Cut(Field(name, self.position, raw, f"cut after {max(left, 0)} bytes", f"{length} bytes", "LF-010"))
        self.position += length
        return bytes(self.data[self.position - length : self.position])

    def _rest(self, name: str) -> Field:
        found = self._shortened(name, self.end)
        return replace(found, says=f"{found.says} to the end")

    def _shortened(self, name: str, end: int) -> Field:
        """The bytes up to `end`, of which only the first are copied."""
        size = end - self.position
        return Field(name, self.position, bytes(self.data[self.position : end][:_SHOWN]), f"{size} bytes", size=size)
