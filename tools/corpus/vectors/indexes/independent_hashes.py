"""A second implementation of hashes and encodings, from their published descriptions, that shares no code with the reference.

It is slow, and only as general as the vectors need.
"""

import base64
import hashlib
import math
import struct
from collections.abc import Iterable, Sequence

U32, U64 = 2**32 - 1, 2**64 - 1


def to_signed(number: int, bits: int = 32) -> int:
    """The number with these bits in two's complement."""
    number %= 2**bits
    return number - 2**bits if number >= 2 ** (bits - 1) else number


def utf16_units(text: str) -> list[int]:
    """UTF-16 code units: two for a character beyond U+FFFF."""
    found = []
    for character in text:
        point = ord(character)
        if point < 0x10000:
            found.append(point)
        else:
            found += [0xD800 + (point - 0x10000 >> 10), 0xDC00 + (point - 0x10000 & 0x3FF)]
    return found


def string_hash(text: str) -> int:
    """`java.lang.String.hashCode`: the sum of unit * 31 ** (number of units after it)."""
    every = utf16_units(text)
    return to_signed(sum(unit * 31 ** (len(every) - place) for place, unit in enumerate(every, 1)))


def list_hash(texts: Sequence[str]) -> int:
    """`java.util.List.hashCode`: 31 ** n plus the sum of hash * 31 ** (number of members after it)."""
    return to_signed(31 ** len(texts) + sum(string_hash(t) * 31 ** (len(texts) - n) for n, t in enumerate(texts, 1)))


def file_group(key: str, groups: int) -> int:
    """Java: Math.abs(Math.abs(hash) % groups), where abs(-2**31) is -2**31."""
    amount = to_signed(abs(string_hash(key)))
    return abs(int(math.fmod(amount, groups)))


def bucket_number(values: Sequence[str], buckets: int) -> int:
    """The hash of the list without its sign bit, modulo the number of buckets."""
    return list_hash(values) % 2**31 % buckets


_PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def _rotate(word: int, by: int) -> int:
    return (word << by | word >> 64 - by) & U64


def _round(lane: int, word: int) -> int:
    return _rotate(lane + word * _PRIMES[1] & U64, 31) * _PRIMES[0] & U64


def xxh64(data: bytes, seed: int) -> int:
    """XXH64, step by step as in its specification."""
    one, two, three, four, five = _PRIMES
    at = 0
    if len(data) >= 32:
        lanes = [(seed + one + two) & U64, (seed + two) & U64, seed, (seed - one) & U64]
        while at + 32 <= len(data):
            lanes = [_round(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at), strict=True)]
            at += 32
        h = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & U64
        for lane in lanes:
            h = ((h ^ _round(0, lane)) * one + four) & U64
    else:
        h = (seed + five) & U64
    h = (h + len(data)) & U64
    while at + 8 <= len(data):
        h = (_rotate(h ^ _round(0, struct.unpack_from("<Q", data, at)[0]), 27) * one + four) & U64
        at += 8
    if at + 4 <= len(data):
        h = (_rotate(h ^ struct.unpack_from("<I", data, at)[0] * one & U64, 23) * two + three) & U64
        at += 4
    for byte in data[at:]:
        h = _rotate(h ^ byte * five & U64, 11) * one & U64
    h = (h ^ h >> 33) * two & U64
    h = (h ^ h >> 29) * three & U64
    return h ^ h >> 32


def text_hash(text: str) -> str:
    """The hash of columns and partitions. The seed is the int 0xdabadaba as a long, so that its upper half is all ones."""
    return base64.b64encode(xxh64(text.encode(), 0xFFFFFFFFDABADABA).to_bytes(8, "big")).decode()


def file_hash(name: str) -> str:
    """The hash of file names: MD5."""
    return base64.b64encode(hashlib.md5(name.encode(), usedforsecurity=False).digest()).decode()


def murmur(data: bytes, seed: int) -> int:
    """The hash of bloom filters, as signed 32 bits. Bytes after the last group of four are added from the end, with sign."""
    m = 0x5BD1E995
    h = seed ^ len(data)
    for at in range(0, len(data) - 3, 4):
        k = struct.unpack_from("<I", data, at)[0] * m & U32
        h = h * m & U32 ^ (k ^ k >> 24) * m & U32
    tail = len(data) % 4
    if tail:
        for back in range(tail, 0, -1):
            h ^= to_signed(data[len(data) - back], 8) << 8 * (back - 1) & U32
        h = h * m & U32
    h = (h ^ h >> 13) * m & U32
    return to_signed(h ^ h >> 15)


def jenkins(data: bytes, seed: int) -> int:
    """The hash of the oldest bloom filters: `hashlittle` of Bob Jenkins' lookup3.c, as signed 32 bits."""
    a = b = c = (0xDEADBEEF + len(data) + seed) % 2**32
    while data:
        words = [int.from_bytes(data[at : at + 4], "little") for at in (0, 4, 8)]
        a, b, c = ((state + word) % 2**32 for state, word in zip((a, b, c), words, strict=True))
        if len(data) <= 12:
            c = ((c ^ b) - _left(b, 14)) % 2**32
            a = ((a ^ c) - _left(c, 11)) % 2**32
            b = ((b ^ a) - _left(a, 25)) % 2**32
            c = ((c ^ b) - _left(b, 16)) % 2**32
            a = ((a ^ c) - _left(c, 4)) % 2**32
            b = ((b ^ a) - _left(a, 14)) % 2**32
            c = ((c ^ b) - _left(b, 24)) % 2**32
            break
        a, c = (a - c) % 2**32 ^ _left(c, 4), (c + b) % 2**32
        b, a = (b - a) % 2**32 ^ _left(a, 6), (a + c) % 2**32
        c, b = (c - b) % 2**32 ^ _left(b, 8), (b + a) % 2**32
        a, c = (a - c) % 2**32 ^ _left(c, 16), (c + b) % 2**32
        b, a = (b - a) % 2**32 ^ _left(a, 19), (a + c) % 2**32
        c, b = (c - b) % 2**32 ^ _left(b, 4), (b + a) % 2**32
        data = data[12:]
    return to_signed(c)


def _left(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) % 2**32


#: The results that lookup3.c publishes for a text of 30 bytes.
assert [jenkins(b"Four score and seven years ago", seed) % 2**32 for seed in (0, 1)] == [0x17770551, 0xCD628161]


class Bloom:
    """A bloom filter as a list of rows of bits; keys are added one by one. SIMPLE has one row."""

    def __init__(self, entries: int, rate: float, max_entries: int = 0) -> None:
        self.entries, self.max_entries = entries, max_entries
        self.bits = math.ceil(entries * (-math.log(rate) / (math.log(2) * math.log(2))))
        self.hashes = math.ceil(math.log(2) * self.bits / entries)
        self.rows: list[set[int]] = [set()]
        self.in_row = 0
        self.turn = 0

    def bit_positions(self, key: str) -> list[int]:
        """The bits of a key; each hash is the seed of the next."""
        h, found = 0, []
        for _ in range(self.hashes):
            h = murmur(key.encode(), h & U32)
            found.append(abs(int(math.fmod(h, self.bits))))
        return found

    def add(self, key: str) -> None:
        """Add a key: to the last row, or in turn to all rows if no row may be added."""
        row = self.rows[-1]
        if self.max_entries and (self.in_row >= self.entries or self.turn):
            if len(self.rows) * self.entries < self.max_entries:
                self.rows.append(row := set())
                self.in_row = 0
            else:
                row = self.rows[max(0, self.turn - 1) % len(self.rows)]
                self.turn += 1
        row.update(self.bit_positions(key))
        self.in_row += 1

    def may_hold(self, key: str) -> bool:
        """Whether one row has all bits of the key."""
        return any(row.issuperset(self.bit_positions(key)) for row in self.rows)

    def text(self) -> str:
        """The filter in Base64."""
        head = struct.pack(">iibi", -1, self.hashes, 1, self.bits)
        body = b"".join(head + self._packed(row) for row in self.rows)
        if self.max_entries:
            body = head + struct.pack(">iii", self.entries, self.in_row, len(self.rows)) + body
        return base64.b64encode(body).decode()

    def _packed(self, row: Iterable[int]) -> bytes:
        return sum(1 << bit for bit in row).to_bytes(-(-self.bits // 8), "little")


def encode_positions(positions: Iterable[int]) -> str:
    """The portable 64-bit Roaring bitmap of positions in Base64, with runs if they need fewer bytes."""
    words: dict[int, dict[int, list[int]]] = {}
    for position in sorted(set(positions)):
        words.setdefault(position >> 32, {}).setdefault(position >> 16 & 0xFFFF, []).append(position & 0xFFFF)
    body = b"".join(struct.pack("<I", high) + _bitmap32(words[high]) for high in words)
    return base64.b64encode(struct.pack("<Q", len(words)) + body).decode()


def _bitmap32(containers: dict[int, list[int]]) -> bytes:
    runs = {key: _runs(low) for key, low in containers.items()}
    run = {key for key, low in containers.items() if 2 + 4 * len(runs[key]) < min(2 * len(low), 8192)}
    if run:
        head = struct.pack("<HH", 12347, len(containers) - 1)
        head += sum(1 << n for n, key in enumerate(containers) if key in run).to_bytes(-(-len(containers) // 8), "little")
    else:
        head = struct.pack("<II", 12346, len(containers))
    head += b"".join(struct.pack("<HH", key, len(low) - 1) for key, low in containers.items())
    bodies = [_run_bytes(runs[key]) if key in run else _plain_bytes(low) for key, low in containers.items()]
    offsets = b""
    if not run or len(containers) >= 4:
        at = len(head) + 4 * len(containers)
        for body in bodies:
            offsets += struct.pack("<I", at)
            at += len(body)
    return head + offsets + b"".join(bodies)


def _runs(low: Sequence[int]) -> list[tuple[int, int]]:
    """(first, length - 1) of each run."""
    found: list[tuple[int, int]] = []
    for value in low:
        if found and sum(found[-1]) + 1 == value:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((value, 0))
    return found


def _run_bytes(runs: Sequence[tuple[int, int]]) -> bytes:
    return struct.pack("<H", len(runs)) + b"".join(struct.pack("<HH", *one) for one in runs)


def _plain_bytes(low: Sequence[int]) -> bytes:
    """Up to 4096 values as an array, more values as a bitmap of 65536 bits."""
    if len(low) <= 4096:
        return struct.pack(f"<{len(low)}H", *low)
    return sum(1 << value for value in low).to_bytes(8192, "little")
