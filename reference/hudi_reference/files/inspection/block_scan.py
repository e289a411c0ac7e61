"""The blocks of an HFile by their headers only, without trailer and indexes, so that damaged files can be shown."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from hudi_reference.files.hfile.block import HEADER_SIZE, BlockType, checksum_size
from hudi_reference.files.hfile.checksum import ChecksumType, checksums
from hudi_reference.files.hfile.trailer import MAGIC as TRAILER_MAGIC
from hudi_reference.files.hfile.trailer import SIZE as TRAILER_SIZE
from hudi_reference.files.inspection.envelope import Field

_MAGICS = {kind.value: kind for kind in BlockType}
_RULE = "BF-002"


@dataclass(frozen=True)
class Piece:
    """A part of the file: a block, the trailer, or other bytes (`kind` None, and not the trailer)."""

    offset: int
    size: int
    kind: BlockType | None
    fields: tuple[Field, ...]

    @property
    def is_wrong(self) -> bool:
        """Whether a field of it is wrong."""
        return any(field.is_wrong for field in self.fields)

    @property
    def end(self) -> int:
        """Offset of the byte after it."""
        return self.offset + self.size


def scan_blocks(data: memoryview) -> Iterator[Piece]:
    """The pieces of a file from its first byte to its last."""
    tail = max(0, len(data) - TRAILER_SIZE)
    has_trailer = bytes(data[tail : tail + 8]) == TRAILER_MAGIC
    end = tail if has_trailer else len(data)
    offset = 0
    while offset < end:
        piece = _piece(data, offset, end)
        yield piece
        offset = piece.end
    if has_trailer:
        magic = Field("magic", tail, bytes(data[tail : tail + 8]), TRAILER_MAGIC.decode())
        yield Piece(tail, TRAILER_SIZE, None, (magic,))


def _piece(data: memoryview, offset: int, end: int) -> Piece:
    """The block at `offset`, or the bytes up to the next one."""
    magic = bytes(data[offset : offset + 8])
    if magic == TRAILER_MAGIC:
        expected = f"{TRAILER_SIZE} bytes before the end, not {end - offset}"
        return Piece(offset, end - offset, None, (Field("trailer", offset, magic, _text(magic), expected, _RULE),))
    if magic not in _MAGICS or end - offset < HEADER_SIZE:
        size = _next_magic(data, offset + 1, end) - offset
        expected = ", ".join(kind.value.decode() for kind in BlockType)
        return Piece(offset, size, None, (Field("magic", offset, magic, _text(magic), f"one of {expected}", _RULE),))
    fields = tuple(_fields(data, offset, end))
    (on_disk,) = struct.unpack_from(">i", data, offset + 8)
    size = HEADER_SIZE + on_disk
    if not HEADER_SIZE <= size <= end - offset:
        size = _next_magic(data, offset + 1, end) - offset
    return Piece(offset, size, _MAGICS[magic], fields)


def _next_magic(data: memoryview, start: int, end: int) -> int:
    """The offset of the next magic, or the end."""
    found = [at for magic in _MAGICS if (at := _find_magic(data, magic, start, end)) is not None]
    return min(found, default=end)


def _find_magic(data: memoryview, magic: bytes, start: int, end: int) -> int | None:
    """By windows, so that no copy of a large file is made."""
    window = 1 << 20
    for at in range(start, end, window):
        found = bytes(data[at : min(end, at + window + len(magic) - 1)]).find(magic)
        if found >= 0:
            return at + found
    return None


def _fields(data: memoryview, offset: int, end: int) -> Iterator[Field]:
    """The header, and the checksums where the sizes lead to them."""
    magic, on_disk, uncompressed, previous, kind, chunk, stored = struct.unpack_from(">8siiqBii", data, offset)
    room = end - offset - HEADER_SIZE

    def field(name: str, at: int, width: int, found: int, expected: str | None = None) -> Field:
        raw = bytes(data[offset + at : offset + at + width])
        return Field(name, offset + at, raw, str(found), expected, _RULE if expected is not None else None)

    yield Field("magic", offset, magic, _text(magic))
    fits = 0 <= on_disk <= room
    yield field("on-disk size", 8, 4, on_disk, None if fits else f"0 to {room}, where the blocks end")
    yield field("uncompressed size", 12, 4, uncompressed, None if uncompressed >= 0 else "0 or more")
    yield field("previous block", 16, 8, previous)
    is_known = kind in ChecksumType.__members__.values()
    yield field("checksum type", 24, 1, kind, None if is_known else "0, 1 or 2")
    yield field("bytes per checksum", 25, 4, chunk, None if chunk > 0 else "1 or more")
    sums = HEADER_SIZE + on_disk - stored
    adds_up = stored >= HEADER_SIZE and chunk > 0 and sums == checksum_size(stored, chunk)
    yield field("data size with header", 29, 4, stored, None if adds_up or not fits else "the block without its checksums")
    if fits and adds_up and is_known:
        yield _checksum_field(data, offset, stored, sums, ChecksumType(kind), chunk)


def _checksum_field(data: memoryview, offset: int, stored: int, size: int, kind: ChecksumType, chunk: int) -> Field:
    found = bytes(data[offset + stored : offset + stored + size])
    right = checksums(kind, data[offset : offset + stored], chunk)
    is_right = kind is ChecksumType.NONE or found == right or not any(found)  # ER-222: zeros are no checksums
    expected = None if is_right else f"{_short(right)}, by what is stored"
    return Field(f"checksums {kind.name}", offset + stored, found, _short(found), expected, None if is_right else _RULE)


def _short(data: bytes) -> str:
    return data[:8].hex(" ", 4) + (" ..." if len(data) > 8 else "")


def _text(magic: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in magic)
