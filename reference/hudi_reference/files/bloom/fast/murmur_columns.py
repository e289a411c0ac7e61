"""Murmur hashes of many keys at once, with numpy; keys of one length are hashed together.

The fast twin of `bloom_hash.bits_of` for Murmur.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Words = npt.NDArray[np.uint32]
#: For each hash the position of a bit for each key. Each array is used before the next one is made: all of them would not fit
#: into the CPU cache.
Positions = Iterator[Words]
#: Indexes of keys.
Numbers = npt.NDArray[np.intp]
Matrix = npt.NDArray[np.uint8]

#: Keys, and bytes of keys, that are hashed together at most, so that they and the intermediate values stay in the CPU cache.
_TOGETHER, _BYTES_TOGETHER = 1 << 14, 1 << 19
_FACTOR = 0x5BD1E995


def murmur_positions(keys: Sequence[str] | pa.Array, bits: int, hashes: int) -> Iterator[tuple[Numbers, Positions]]:
    """The positions of the bits of many keys, in parts; as `bloom_hash.bits_of_many`."""
    column = keys if isinstance(keys, pa.Array) else pa.array(keys, pa.large_string())
    for numbers, matrix in _by_length(column):
        yield numbers, _positions(matrix, bits, hashes)


def _by_length(column: pa.Array) -> Iterator[tuple[Numbers, Matrix]]:
    """The keys in parts of one length: their indexes, and their bytes as the rows of a matrix."""
    column = pc.cast(column, pa.large_string())
    lengths = pc.binary_length(column).to_numpy()
    order = np.argsort(lengths, kind="stable")
    _, offsets, data = column.take(pa.array(order)).buffers()
    ends = np.frombuffer(offsets, np.int64)
    content = np.frombuffer(data or b"", np.uint8)
    changes = np.flatnonzero(np.diff(lengths[order])) + 1
    for first, last in pairwise((0, *changes.tolist(), len(order))):
        length = int(lengths[order[first]])
        step = max(1, min(_TOGETHER, _BYTES_TOGETHER // max(1, length)))
        for start in range(first, last, step):
            end = min(start + step, last)
            yield order[start:end], content[ends[start] : ends[end]].reshape(end - start, length)


def _positions(matrix: Matrix, bits: int, hashes: int) -> Positions:
    words, tail = _words_and_tail(matrix)
    h = np.zeros(len(matrix), np.uint32)
    for _ in range(hashes):
        h = _murmur_of_many(words, tail, matrix.shape[1], h)
        amounts = np.abs(h.view(np.int32)).view(np.uint32)  # the absolute value of -2**31 is 2**31
        yield amounts - amounts // np.uint32(bits) * np.uint32(bits)


def _words_and_tail(matrix: Matrix) -> tuple[list[Words], Words | None]:
    """The parts of the hash that do not depend on the seed.

    Returns:
        The mixed words of each key, and its last bytes in one word; None if the length is a multiple of 4.
    """
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
