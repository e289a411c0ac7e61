"""HFiles built block by block.

    scanned         data blocks, with leaf index blocks between them where the index has more than one level
    non-scanned     meta blocks, intermediate index blocks
    load-on-open    root data index, root meta index, file info
    trailer         the last 4096 bytes

A block is a header of 33 bytes, the payload (compressed or not) and four bytes of checksum for each chunk of the two.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Entry = tuple[bytes, bytes]
DATA, META, ROOT, LEAF, INTERMEDIATE, INFO, TRAILER = (
    b"DATABLK*", b"METABLKc", b"IDXROOT2", b"IDXLEAF2", b"IDXINTE2", b"FILEINF2", b'TRABLK"$',
)  # fmt: skip
HEADER = 33
CHUNK = 16384
#: Offset and width of each field of a block header.
FIELDS = {
    "magic": (0, 8),
    "size-on-disk": (8, 4),
    "uncompressed-size": (12, 4),
    "previous-block": (16, 8),
    "checksum-type": (24, 1),
    "bytes-per-checksum": (25, 4),
    "data-size": (29, 4),
}
#: The bytes after each row: no family, no qualifier, the latest timestamp, type Put.
SUFFIX = bytes.fromhex("007fffffffffffffff04")
#: The same for a key that is in an index and not in a data block.
FAKE = SUFFIX[:-1] + b"\xff"
COMPARATOR = b"org.apache.hudi.io.storage.HoodieHBaseKVComparator"
NONE, CRC32, CRC32C = range(3)
NOWHERE = 2**64 - 1


@dataclass(frozen=True)
class Shape:
    """The layout of an HFile.

    A data block has `per_block` entries, a leaf index block `per_leaf` data blocks, an intermediate block
    `per_intermediate` leaves; None: the level does not exist. `index_keys` replace first keys in the index, by number of the
    data block. `last_key` is the form of the last key in the file info: with "suffix", "bare", "empty", or "absent".
    """

    gz: bool = False
    checksum: int = CRC32C
    per_block: int = 1000
    per_leaf: int | None = None
    per_intermediate: int | None = None
    index_suffix: bool = True
    index_keys: Mapping[int, bytes] = field(default_factory=dict)
    last_key: str = "suffix"
    minor: int = 3
    meta: Mapping[str, bytes] = field(default_factory=dict)
    info: Mapping[str, bytes] = field(default_factory=dict)
    backwards_info: bool = False
    unknown_trailer_field: bool = False
    level: int = 9


@dataclass(frozen=True)
class HFile:
    """The bytes, the offset of each block by name (`data-0`, `root`, `trailer`, ...), and the fields of the trailer."""

    data: bytes
    blocks: Mapping[str, int]
    fields: Mapping[str, int]
    info: Mapping[str, bytes]


def build_hfile(entries: Sequence[Entry], shape: Shape | None = None) -> HFile:
    """The HFile of these entries, which must be in order."""
    return _Assembly(shape or Shape()).make(entries)


def encode_key(row: bytes, suffix: bytes = SUFFIX) -> bytes:
    """A key as stored in cells and indexes."""
    return struct.pack(">h", len(row)) + row + suffix


def encode_cell(row: bytes, value: bytes) -> bytes:
    """One entry of a data block."""
    return struct.pack(">ii", len(encode_key(row)), len(value)) + encode_key(row) + value + b"\x00"


def hadoop_int(number: int) -> bytes:
    """A length as stored in indexes: one byte up to 127, otherwise a byte with the number of the following bytes."""
    if number <= 127:
        return bytes([number])
    width = (number.bit_length() + 7) // 8
    return bytes([256 - 112 - width]) + number.to_bytes(width, "big")


def encode_block(
    magic: bytes, payload: bytes, previous: int = -1, *, gz: bool = False, checksum: int = CRC32C, level: int = 9
) -> bytes:
    """One block with header and checksums."""
    held = compress_gzip(payload, level) if gz else payload
    size = HEADER + len(held)
    sums = -(-size // CHUNK) * 4
    header = struct.pack(">8siiqBii", magic, len(held) + sums, len(payload), previous, checksum, CHUNK, size)
    return header + held + _checksums(header + held, checksum)


def compress_gzip(payload: bytes, level: int = 9) -> bytes:
    """One gzip member, without time and system in its header, so that the bytes are the same everywhere."""
    press = zlib.compressobj(level, zlib.DEFLATED, -15)
    held = press.compress(payload) + press.flush()
    return bytes.fromhex("1f8b08000000000000ff") + held + struct.pack("<II", zlib.crc32(payload), len(payload) & 0xFFFFFFFF)


class _Assembly:
    def __init__(self, shape: Shape) -> None:
        self.shape, self.out = shape, b""
        self.places: dict[str, int] = {}
        self.index_size, self.total = 0, 4096
        self.last: dict[bytes, int] = {}

    def make(self, entries: Sequence[Entry]) -> HFile:
        shape = self.shape
        index = self._data(entries)
        levels = 1 + (shape.per_leaf is not None) + (shape.per_intermediate is not None)
        meta = [(*self._add(f"meta-{name}", META, content), name.encode()) for name, content in shape.meta.items()]
        if shape.per_intermediate is not None:
            index = self._lower("intermediate", INTERMEDIATE, index, shape.per_intermediate)
        middle = struct.pack(">qii", *index[len(index) // 2][:2], 0) if levels > 1 else b""
        self._add("root", ROOT, b"".join(map(_root_entry, index)) + middle)
        self._add("meta-root", ROOT, b"".join(map(_root_entry, meta)))
        info = self._info(entries)
        self._add("info", INFO, _info_payload(info))
        self.places["trailer"] = len(self.out)
        fields = self._trailer_fields(len(entries), len(index), len(meta), levels)
        return HFile(self.out + encode_trailer(fields, shape), self.places, fields, info)

    def _add(self, name: str, magic: bytes, payload: bytes) -> tuple[int, int]:
        """Append a block; return its offset and its size on disk."""
        shape, offset = self.shape, len(self.out)
        new = encode_block(magic, payload, self.last.get(magic, -1), gz=shape.gz, checksum=shape.checksum, level=shape.level)
        self.places[name], self.last[magic] = offset, offset
        self.out += new
        self.index_size += len(payload) if magic in (LEAF, INTERMEDIATE) or name == "root" else 0
        self.total += HEADER + len(payload) if magic != INTERMEDIATE and name != "root" else 0
        return offset, len(new)

    def _data(self, entries: Sequence[Entry]) -> list[tuple[int, int, bytes]]:
        shape = self.shape
        found: list[tuple[int, int, bytes]] = []
        leaves: list[tuple[int, int, bytes]] = []
        for number, group in enumerate(split_into_batches(entries, shape.per_block)):
            place = self._add(f"data-{number}", DATA, b"".join(encode_cell(*entry) for entry in group))
            first = encode_key(group[0][0], SUFFIX if shape.index_suffix else b"")
            found.append((*place, shape.index_keys.get(number, first)))
            if shape.per_leaf is not None and len(found) == shape.per_leaf:
                leaves.append(self._leaf(f"leaf-{len(leaves)}", LEAF, found))
                found = []
        if shape.per_leaf is None:
            return found
        return [*leaves, *([self._leaf(f"leaf-{len(leaves)}", LEAF, found)] if found else [])]

    def _lower(self, name: str, magic: bytes, index: Sequence[Any], size: int) -> list[tuple[int, int, bytes]]:
        return [self._leaf(f"{name}-{n}", magic, group) for n, group in enumerate(split_into_batches(index, size))]

    def _leaf(self, name: str, magic: bytes, index: Sequence[tuple[int, int, bytes]]) -> tuple[int, int, bytes]:
        entries = [struct.pack(">qi", offset, size) + first for offset, size, first in index]
        ends = [sum(map(len, entries[:n])) for n in range(len(entries) + 1)]
        payload = struct.pack(f">i{len(ends)}i", len(entries), *ends) + b"".join(entries)
        return (*self._add(name, magic, payload), index[0][2])

    def _info(self, entries: Sequence[Entry]) -> dict[str, bytes]:
        count = max(len(entries), 1)
        found = {
            "KEY_VALUE_VERSION": struct.pack(">i", 1),
            "MAX_MEMSTORE_TS_KEY": struct.pack(">q", 0),
            "hfile.AVG_KEY_LEN": struct.pack(">i", sum(len(row) + 12 for row, _ in entries) // count),
            "hfile.AVG_VALUE_LEN": struct.pack(">i", sum(len(value) for _, value in entries) // count),
            "hfile.CREATE_TIME_TS": struct.pack(">q", 0),
        }
        match self.shape.last_key:
            case "suffix" | "bare" if entries:
                found["hfile.LASTKEY"] = encode_key(entries[-1][0], SUFFIX if self.shape.last_key == "suffix" else b"")
            case "empty":
                found["hfile.LASTKEY"] = b""
        found |= self.shape.info
        return dict(sorted(found.items(), reverse=self.shape.backwards_info))

    def _trailer_fields(self, entries: int, index: int, meta: int, levels: int) -> dict[str, int]:
        data = [offset for name, offset in self.places.items() if name.startswith("data-")]
        return {
            "file-info-offset": self.places["info"],
            "load-on-open-offset": self.places["root"],
            "data-index-size": self.index_size,
            "total-uncompressed": self.total,
            "data-index-count": index,
            "meta-index-count": meta,
            "entry-count": entries,
            "index-levels": levels,
            "first-data-block": data[0] if data else NOWHERE,
            "last-data-block": data[-1] if data else NOWHERE,
            "codec": 1 if self.shape.gz else 2,
        }


#: The number of each field in the protobuf message of the trailer.
NUMBERS = {
    "file-info-offset": 1,
    "load-on-open-offset": 2,
    "data-index-size": 3,
    "total-uncompressed": 4,
    "data-index-count": 5,
    "meta-index-count": 6,
    "entry-count": 7,
    "index-levels": 8,
    "first-data-block": 9,
    "last-data-block": 10,
    "codec": 12,
}


def encode_trailer(fields: Mapping[str, int], shape: Shape) -> bytes:
    """The trailer of 4096 bytes; a field that is missing in `fields` is left out."""
    parts = [bytes([NUMBERS[name] << 3]) + encode_varint(value) for name, value in fields.items() if name != "codec"]
    parts.append(bytes([11 << 3 | 2]) + with_length(COMPARATOR))
    if "codec" in fields:
        parts.append(bytes([12 << 3]) + encode_varint(fields["codec"]))
    if shape.unknown_trailer_field:
        parts.append(encode_varint(100 << 3 | 2) + with_length(b"of a later release"))
    return (TRAILER + with_length(b"".join(parts))).ljust(4092, b"\x00") + bytes([shape.minor, 0, 0, 3])


def _root_entry(entry: tuple[int, int, bytes]) -> bytes:
    offset, size, first = entry
    return struct.pack(">qi", offset, size) + hadoop_int(len(first)) + first


def _info_payload(info: Mapping[str, bytes]) -> bytes:
    pairs = (b"\x0a" + with_length(name.encode()) + b"\x12" + with_length(value) for name, value in info.items())
    return b"PBUF" + with_length(b"".join(b"\x0a" + with_length(pair) for pair in pairs))


def with_length(value: bytes) -> bytes:
    """Bytes with their length before them."""
    return encode_varint(len(value)) + value


def encode_varint(number: int) -> bytes:
    """A varint of protobuf: seven bits per byte, low bits first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _checksums(data: bytes, kind: int) -> bytes:
    chunks = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    of = {NONE: lambda chunk: 0, CRC32: zlib.crc32, CRC32C: crc32c}[kind]
    return b"".join(of(chunk).to_bytes(4, "big") for chunk in chunks)


def crc32c(data: bytes) -> int:
    """CRC-32 with the Castagnoli polynomial."""
    table, value = _table(), 0xFFFFFFFF
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


@cache
def _table() -> list[int]:
    table = []
    for number in range(256):
        value = number
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


def split_into_batches(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """The items in groups of at most `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]
