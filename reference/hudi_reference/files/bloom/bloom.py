"""Bloom filters over record keys, spec "Indexes > Bloom filter": in footers of base files and in the metadata table.

    field              width   value
    marker             4       -1; the oldest filters have the number of hashes here, and no type: it is Jenkins
    hashes             4       positions for each key
    type               1       hash function: see HashType
    bits               4       of the filter, or of each row of a dynamic filter
    SIMPLE: bits       -       bit i is bit i % 8, the least first, of byte i // 8
    DYNAMIC_V0, before the rows:
      entries          4       keys for which a row is sized
      keys             4       in the last row
      rows             4       number of rows that follow, each a SIMPLE filter with the same head

All integers are big-endian; the filter is stored as Base64 text. It may contain a key if all bits of the key are set in one
row.
"""

import binascii
import math
import struct
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import InvalidRows, MalformedBloomFilter, Misuse, UnsupportedBloomFilter
from hudi_reference.files.bloom.bloom_hash import HashType, bits_of_many
from hudi_reference.requirement import implements

_MARKER = -1
#: The rate of false positives of deployed writers.
RATE = 1e-9
#: The number of keys up to which filters of deployed writers grow.
MAX_ENTRIES = 100_000
#: The most bits of a file's filter, 1.4 MB in Base64; with more than 195,000 keys the rate of false positives grows instead.
_FILE_BITS = 1 << 23
#: The most hashes that any rate that is a 64-bit number needs.
_MOST_HASHES = 1100
_MOST_BITS = 2**31 - 1

Keys: TypeAlias = "Sequence[str] | pa.Array"


@implements("IDX-005")
class FilterType(StrEnum):
    """The kinds of filters, by their names: of fixed size, or growing by rows."""

    SIMPLE = "SIMPLE"
    DYNAMIC_V0 = "DYNAMIC_V0"


@dataclass(frozen=True)
class BloomFilter:
    """A filter. `rows` are the bits; a SIMPLE filter has one row. `entries` and `count` are those of a dynamic filter."""

    kind: FilterType
    hashes: int
    bits: int
    rows: tuple[bytes, ...]
    entries: int = 0
    count: int = 0
    hash_type: HashType = HashType.MURMUR

    @property
    def size(self) -> int:
        """The number of keys that the filter is made for."""
        return round(len(self.rows) * self.bits * math.log(2) / self.hashes)

    @implements("IDX-004")
    def may_hold(self, keys: Keys) -> list[bool]:
        """For each key whether it may have been added; False is certain. Raises Misuse for an empty key."""
        if _has_empty(keys):
            raise Misuse(
                "a bloom filter cannot contain an empty key", rule="IDX-004", expected="keys of at least one character"
            )
        found = np.zeros(len(keys), np.bool_)
        rows = np.frombuffer(b"".join(self.rows), np.uint8).reshape(len(self.rows), -1)
        for numbers, positions in bits_of_many(keys, self.bits, self.hashes, self.hash_type):
            held = np.ones((len(rows), len(numbers)), np.uint8)
            for of_one_hash in positions:
                held &= rows.take(of_one_hash >> 3, axis=1) >> (of_one_hash & 7).astype(np.uint8)
            found[numbers] = held.any(axis=0)
        answers: list[bool] = found.tolist()
        return answers

    @implements("IDX-005", "IDX-006")
    def encode(self) -> str:
        """The filter as Base64 text."""
        old = self.hash_type is HashType.JENKINS
        head = struct.pack(">i", self.hashes) if old else struct.pack(">iib", _MARKER, self.hashes, self.hash_type)
        head += struct.pack(">i", self.bits)
        body = b"".join(head + row for row in self.rows)
        if self.kind is FilterType.DYNAMIC_V0:
            body = head + struct.pack(">iii", self.entries, self.count, len(self.rows)) + body
        return b64encode(body).decode()


@implements("IDX-004", "IDX-005")
def make_filter(
    keys: Keys,
    kind: FilterType = FilterType.DYNAMIC_V0,
    *,
    entries: int,
    rate: float = RATE,
    max_entries: int = MAX_ENTRIES,
) -> BloomFilter:
    """A filter with all these keys, in their order.

    Args:
        keys: the record keys.
        kind: SIMPLE or DYNAMIC_V0.
        entries: the number of keys for which the filter, or each of its rows, is sized.
        rate: the rate of false positives.
        max_entries: the number of keys up to which a dynamic filter gets further rows.

    Raises:
        InvalidRows: an empty key.
        Misuse: no filter has such a size.
    """
    if _has_empty(keys):
        raise InvalidRows(
            "a bloom filter cannot contain an empty key", rule="IDX-004", expected="keys of at least one character"
        )
    bits, hashes = _size(entries, rate)
    most_rows = max(1, -(-max_entries // entries)) if kind is FilterType.DYNAMIC_V0 else 1
    rows = min(most_rows, max(1, -(-len(keys) // entries)))
    flags = np.zeros(rows * bits, np.uint8)
    for numbers, positions in bits_of_many(keys, bits, hashes, HashType.MURMUR):
        # Rows are filled one after the other. When all are full, the next key goes to the first row, and the keys after it to
        # all rows in turn from the first on.
        beyond = numbers - most_rows * entries
        starts = np.where(beyond < 0, numbers // entries, np.maximum(beyond - 1, 0) % most_rows) * bits
        for of_one_hash in positions:
            flags[starts + of_one_hash] = 1
    packed = tuple(row.tobytes() for row in np.packbits(flags.reshape(rows, bits), axis=1, bitorder="little"))
    if kind is FilterType.SIMPLE:
        return BloomFilter(kind, hashes, bits, packed)
    return BloomFilter(kind, hashes, bits, packed, entries, len(keys) - (rows - 1) * entries)


def make_file_filter(keys: Keys, kind: FilterType = FilterType.DYNAMIC_V0) -> BloomFilter:
    """The filter for the footer of a file with these keys, sized for their number. Raises InvalidRows for an empty key."""
    entries = max(1, len(keys))
    rate = max(RATE, math.exp(-_FILE_BITS / entries * math.log(2) ** 2))
    return make_filter(keys, kind, entries=entries, rate=min(rate, 0.5))


def _size(entries: int, rate: float) -> tuple[int, int]:
    """The number of bits and hashes for this number of keys at this rate."""
    if entries < 1 or not 0 < rate < 1:
        raise Misuse(
            "no filter has such a size", expected="at least 1 entry, a rate between 0 and 1", found=f"{entries}, {rate}"
        )
    bits = math.ceil(entries * (-math.log(rate) / (math.log(2) * math.log(2))))
    if bits > _MOST_BITS:
        raise Misuse("too large for a bloom filter", expected=f"up to {_MOST_BITS} bits", found=f"{bits} bits")
    return bits, math.ceil(math.log(2) * bits / entries)


def _has_empty(keys: Keys) -> bool:
    if isinstance(keys, pa.Array):
        return bool(pc.any(pc.equal(keys, ""), min_count=0).as_py())
    return "" in keys


@implements("IDX-005", "IDX-006")
def decode_filter(kind: str, text: str | bytes, path: str) -> BloomFilter:
    """The filter of this kind that is stored as Base64 `text` in the file at `path`. Takes a few times the memory of the text.

    Raises MalformedBloomFilter, and UnsupportedBloomFilter for an unknown kind or hash function.
    """
    if kind not in FilterType.__members__:
        known = " or ".join(FilterType)
        raise UnsupportedBloomFilter("an unknown kind of bloom filter", rule="IDX-005", path=path, expected=known, found=kind)
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError as error:
        raise _malformed(path, "Base64 text", str(error)) from error
    return _Reader(data, path).filter(FilterType(kind))


@dataclass
class _Reader:
    """Reads the filter of the file at `path`; `position` bytes of `data` have been read."""

    data: bytes
    path: str
    position: int = 0

    def filter(self, kind: FilterType) -> BloomFilter:
        if kind is FilterType.SIMPLE:
            hashes, hash_type, bits = self._head()
            self._expect(1, 0, bits)
            return BloomFilter(kind, hashes, bits, (self._take(-(-bits // 8)),), hash_type=hash_type)
        start = self.position
        hashes, hash_type, bits = self._head()
        head = self.data[start : self.position]
        entries, count, rows = (self._int() for _ in range(3))
        if entries < 1 or count < 0 or rows < 1:
            self._fail("at least 1 entry, 0 keys and 1 row", f"{entries}, {count} and {rows}")
        self._expect(rows, len(head), bits)
        return BloomFilter(kind, hashes, bits, tuple(self._row(head, bits) for _ in range(rows)), entries, count, hash_type)

    def _head(self) -> tuple[int, HashType, int]:
        """Read the number of hashes, the hash function, and the number of bits."""
        hashes, number = self._int(), HashType.JENKINS.value
        if hashes == _MARKER:
            hashes, number = self._int(), self._take(1)[0]
        elif hashes < 1:
            self._fail("the marker -1, or the hashes of an old filter", str(hashes))
        bits = self._int()
        if number not in HashType.__members__.values():
            raise UnsupportedBloomFilter("an unknown hash function", rule="IDX-006", path=self.path, expected="0 or 1",
                                         found=str(number))  # fmt: skip
        if not 1 <= hashes <= _MOST_HASHES or bits < 1:
            self._fail(f"1 to {_MOST_HASHES} hashes, at least 1 bit", f"{hashes} hashes, {bits} bits")
        return hashes, HashType(number), bits

    def _row(self, head: bytes, bits: int) -> bytes:
        own = self._take(len(head))
        if own != head:
            self._fail(f"the head {head.hex()} before each row", own.hex())
        return self._take(-(-bits // 8))

    def _expect(self, rows: int, head: int, bits: int) -> None:
        """Check that exactly this number of rows follows, before any of them is read."""
        size, left = rows * (head + -(-bits // 8)), len(self.data) - self.position
        if size != left:
            self._fail(f"{size} bytes, for {rows} rows of {bits} bits", f"{left} bytes")

    def _int(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def _take(self, size: int) -> bytes:
        taken = self.data[self.position : self.position + size]
        if len(taken) < size:
            self._fail(f"{size} more bytes", f"the end after {len(self.data)} bytes")
        self.position += size
        return taken

    def _fail(self, expected: str, found: str) -> NoReturn:
        raise _malformed(self.path, expected, f"{found}, before byte {self.position} of the filter")


def _malformed(path: str, expected: str, found: str) -> MalformedBloomFilter:
    return MalformedBloomFilter(
        "a bloom filter cannot be decoded", rule="IDX-006", path=path, expected=expected, found=found,
        remedy="rewrite the file; until then assume that it may contain every key",
    )  # fmt: skip
