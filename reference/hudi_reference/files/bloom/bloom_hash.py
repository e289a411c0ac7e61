"""The bits of a bloom filter that belong to a key: the hash functions of Apache Hudi's filters.

A key is hashed several times. The seed of each hash is the result of the hash before it, 0 for the first. The position of a bit
is the absolute value of the signed remainder of the hash by the number of bits.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum

import numpy as np
import pyarrow as pa

from hudi_reference.fast_paths import FastPath, use_fast
from hudi_reference.files.bloom.fast.murmur_columns import Numbers, Positions, murmur_positions
from hudi_reference.requirement import implements

_ALL_BITS = 0xFFFFFFFF
_FACTOR = 0x5BD1E995
#: Keys that the plain code hashes before it returns their bits.
_AT_ONCE = 1000


class HashType(IntEnum):
    """The hash functions by their number in a filter. Every release writes Murmur; filters with Jenkins are only read."""

    JENKINS = 0
    MURMUR = 1


def murmur(key: bytes, seed: int) -> int:
    """Apache Hudi's Murmur hash of 32 bits.

    It differs from MurmurHash2 in the last 1 to 3 bytes, which are added in reverse order and as signed numbers.
    """
    h = seed ^ len(key)
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        h = h * _FACTOR & _ALL_BITS ^ _mix_word(int.from_bytes(key[at : at + 4], "little"))
    if whole < len(key):
        for distance in range(len(key) - whole, 0, -1):
            byte = key[-distance]
            h ^= (byte - 256 if byte > 127 else byte) << 8 * (distance - 1)
        h = (h & _ALL_BITS) * _FACTOR & _ALL_BITS
    h ^= h >> 13
    h = h * _FACTOR & _ALL_BITS
    return h ^ h >> 15


def _mix_word(word: int) -> int:
    word = word * _FACTOR & _ALL_BITS
    return (word ^ word >> 24) * _FACTOR & _ALL_BITS


def jenkins(key: bytes, seed: int) -> int:
    """Bob Jenkins' lookup3 hash of 32 bits, which the oldest filters use."""
    a = b = c = 0xDEADBEEF + len(key) + seed & _ALL_BITS
    while len(key) > 12:
        a, b, c = _mix_state(*_add_bytes(a, b, c, key))
        key = key[12:]
    if not key:
        return c
    a, b, c = _add_bytes(a, b, c, key)
    for rotation in (14, 11, 25, 16, 4, 14, 24):
        a, b, c = b, (c ^ b) - _rotate_left(b, rotation) & _ALL_BITS, a
    return b


def _add_bytes(a: int, b: int, c: int, key: bytes) -> tuple[int, int, int]:
    """The state with the next 12 bytes of the key, or the remaining ones, added as three little-endian words."""
    words = (int.from_bytes(key[at : at + 4], "little") for at in (0, 4, 8))
    a, b, c = (state + word & _ALL_BITS for state, word in zip((a, b, c), words, strict=True))
    return a, b, c


def _mix_state(a: int, b: int, c: int) -> tuple[int, int, int]:
    for rotation in (4, 6, 8, 16, 19, 4):
        a, c = (a - c & _ALL_BITS) ^ _rotate_left(c, rotation), c + b & _ALL_BITS
        a, b, c = b, c, a
    return a, b, c


def _rotate_left(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _ALL_BITS


_FUNCTIONS: dict[HashType, Callable[[bytes, int], int]] = {HashType.JENKINS: jenkins, HashType.MURMUR: murmur}


@implements("IDX-004")
def bits_of(key: bytes, bits: int, hashes: int, hash_type: HashType) -> list[int]:
    """The positions of one key's bits in a filter of `bits` bits that hashes each key `hashes` times."""
    function, h, found = _FUNCTIONS[hash_type], 0, []
    for _ in range(hashes):
        h = function(key, h)
        found.append(abs(h - 2**32 if h >> 31 else h) % bits)
    return found


def bits_of_many(
    keys: Sequence[str] | pa.Array, bits: int, hashes: int, hash_type: HashType
) -> Iterator[tuple[Numbers, Positions]]:
    """The positions of the bits of many keys, in parts.

    Yields:
        The indexes in `keys` of the keys of a part, and for each hash the positions of these keys.
    """
    if hash_type is HashType.MURMUR and use_fast(FastPath.BLOOM_HASHES, len(keys)):
        yield from murmur_positions(keys, bits, hashes)
        return
    for start in range(0, len(keys), _AT_ONCE):
        encoded = [str(key).encode() for key in keys[start : start + _AT_ONCE]]
        found = np.array([bits_of(key, bits, hashes, hash_type) for key in encoded], np.uint32)
        yield np.arange(start, start + len(found)), iter(found.T)
