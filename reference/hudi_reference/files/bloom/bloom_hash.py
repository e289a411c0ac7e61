"""The bits of a bloom filter that belong to a key: the hash functions of Apache Hudi's filters.

The hash of a key is taken again and again, each time with the result before as the seed; the position of a bit is the absolute
value of the signed remainder of such a hash by the number of bits. For many keys the same is computed with numpy, keys of one
length together.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.requirement import implements

Words = npt.NDArray[np.uint32]
Positions = Words

#: Fewer keys than this are hashed one by one.
FEW_KEYS = 16
#: Keys, and bytes of keys, that are hashed together at most: they and what is made from them stay in the processor's cache.
_TOGETHER, _BYTES_TOGETHER = 1 << 13, 1 << 18
_ALL_BITS = 0xFFFFFFFF
_FACTOR = 0x5BD1E995


class HashType(IntEnum):
    """The hash functions by their number in a filter. Every release writes Murmur; Jenkins is read."""

    JENKINS = 0
    MURMUR = 1


def murmur(key: bytes, seed: int) -> int:
    """Apache Hudi's Murmur hash of 32 bits.

    It differs from MurmurHash2 in the last 1 to 3 bytes, which come in reverse order and with their sign.
    """
    h = seed ^ len(key)
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        h = h * _FACTOR & _ALL_BITS ^ _mixed(int.from_bytes(key[at : at + 4], "little"))
    if whole < len(key):
        for distance in range(len(key) - whole, 0, -1):
            h ^= _signed(key[-distance]) << 8 * (distance - 1)
        h = (h & _ALL_BITS) * _FACTOR & _ALL_BITS
    h ^= h >> 13
    h = h * _FACTOR & _ALL_BITS
    return h ^ h >> 15


def _mixed(word: int) -> int:
    word = word * _FACTOR & _ALL_BITS
    return (word ^ word >> 24) * _FACTOR & _ALL_BITS


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def jenkins(key: bytes, seed: int) -> int:
    """Bob Jenkins' lookup3 hash of 32 bits, which the oldest filters are made with."""
    a = b = c = 0xDEADBEEF + len(key) + seed & _ALL_BITS
    while len(key) > 12:
        a, b, c = _stirred(*_added(a, b, c, key))
        key = key[12:]
    if not key:
        return c
    a, b, c = _added(a, b, c, key)
    for rotation in (14, 11, 25, 16, 4, 14, 24):
        a, b, c = b, (c ^ b) - _rotated(b, rotation) & _ALL_BITS, a
    return b


def _added(a: int, b: int, c: int, key: bytes) -> tuple[int, int, int]:
    """The state with the next 12 bytes, or what is left, as three little-endian words."""
    words = (int.from_bytes(key[at : at + 4], "little") for at in (0, 4, 8))
    a, b, c = (state + word & _ALL_BITS for state, word in zip((a, b, c), words, strict=True))
    return a, b, c


def _stirred(a: int, b: int, c: int) -> tuple[int, int, int]:
    for rotation in (4, 6, 8, 16, 19, 4):
        a, c = (a - c & _ALL_BITS) ^ _rotated(c, rotation), c + b & _ALL_BITS
        a, b, c = b, c, a
    return a, b, c


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _ALL_BITS


_FUNCTIONS: dict[HashType, Callable[[bytes, int], int]] = {HashType.JENKINS: jenkins, HashType.MURMUR: murmur}


@implements("IDX-004")
def bits_of(key: bytes, bits: int, hashes: int, hash_type: HashType) -> list[int]:
    """The positions of one key's bits in a filter of so many bits, with so many hashes."""
    function, h, found = _FUNCTIONS[hash_type], 0, []
    for _ in range(hashes):
        h = function(key, h)
        found.append(abs(h - 2**32 if h >> 31 else h) % bits)
    return found


def bits_of_many(
    keys: Sequence[str] | pa.Array, bits: int, hashes: int, hash_type: HashType
) -> Iterator[tuple[npt.NDArray[np.intp], Positions]]:
    """The same for many keys, part by part: their indexes in `keys`, and for each hash a row with the position of each key."""
    if hash_type is not HashType.MURMUR or len(keys) < FEW_KEYS:
        for number, key in enumerate(keys):
            encoded = str(key).encode()
            yield np.array([number]), np.array([bits_of(encoded, bits, hashes, hash_type)], np.uint32).T
        return
    column = keys if isinstance(keys, pa.Array) else pa.array(keys, pa.large_string())
    for numbers, matrix in _by_length(column):
        yield numbers, _murmur_positions(matrix, bits, hashes)


def _by_length(column: pa.Array) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.uint8]]]:
    """Indexes and bytes of keys of one length each, as the rows of a matrix."""
    column = pc.cast(column, pa.large_string())
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    content = np.frombuffer(data or b"", np.uint8)
    lengths = np.diff(ends)
    order = np.argsort(lengths, kind="stable")
    for same in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        length = int(lengths[same[0]])
        step = max(1, min(_TOGETHER, _BYTES_TOGETHER // max(1, length)))
        for start in range(0, len(same), step):
            numbers = same[start : start + step]
            yield numbers, content[ends[numbers, None] + np.arange(length)]


def _murmur_positions(matrix: npt.NDArray[np.uint8], bits: int, hashes: int) -> Positions:
    words, tail = _words_and_tail(matrix)
    h = np.zeros(len(matrix), np.uint32)
    found = np.empty((hashes, len(matrix)), np.uint32)
    for positions in found:
        h = _murmur_of_many(words, tail, matrix.shape[1], h)
        amounts = np.abs(h.view(np.int32)).view(np.uint32)  # of -2**31 it is 2**31, and no negative number
        positions[:] = amounts - amounts // np.uint32(bits) * np.uint32(bits)
    return found


def _words_and_tail(matrix: npt.NDArray[np.uint8]) -> tuple[list[Words], Words | None]:
    """What does not depend on the seed: the mixed words of each key, and its last bytes in one word (None: there are none)."""
    length = matrix.shape[1]
    whole = length // 4 * 4
    words = np.ascontiguousarray(matrix[:, :whole]).view("<u4").T.astype(np.uint32) * np.uint32(_FACTOR)
    words = (words ^ words >> np.uint32(24)) * np.uint32(_FACTOR)
    if whole == length:
        return list(words), None
    tail = np.zeros(len(matrix), np.int32)
    for distance in range(length - whole, 0, -1):
        tail ^= matrix[:, -distance].view(np.int8).astype(np.int32) << 8 * (distance - 1)
    return list(words), tail.view(np.uint32)


def _murmur_of_many(words: Sequence[Words], tail: Words | None, length: int, seed: Words) -> Words:
    factor = np.uint32(_FACTOR)
    h = seed ^ np.uint32(length)
    for word in words:
        h *= factor
        h ^= word
    if tail is not None:
        h ^= tail
        h *= factor
    h ^= h >> np.uint32(13)
    h *= factor
    h ^= h >> np.uint32(15)
    return h
