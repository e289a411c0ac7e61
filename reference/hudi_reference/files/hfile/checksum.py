"""Checksums of HFile blocks: one big-endian value of four bytes for each chunk of header and stored payload.

CRC32C (polynomial 0x1EDC6F41, bits reflected) is what deployed writers use. No library that the project depends on has it.
"""

import zlib
from collections.abc import Callable
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]


class ChecksumType(IntEnum):
    """The number in each block's header."""

    NONE = 0
    CRC32 = 1
    CRC32C = 2


def checksums(kind: ChecksumType, data: bytes | memoryview, chunk: int) -> bytes:
    """The checksums of `data`, one for each `chunk` bytes begun; zeros, as many, where there is nothing to check."""
    parts = [data[start : start + chunk] for start in range(0, len(data), chunk)]
    if kind is ChecksumType.NONE:
        return bytes(4 * len(parts))
    one: Callable[[bytes | memoryview], int] = crc32c if kind is ChecksumType.CRC32C else zlib.crc32
    return b"".join(one(part).to_bytes(4, "big") for part in parts)


def crc32c(data: bytes | memoryview) -> int:
    """The CRC32C of `data`: byte by byte, or many stretches at once where there is enough of it."""
    return _by_stretches(data) if len(data) >= 1024 else _byte_by_byte(data)


def _table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()
_TABLE_WORDS: Words = np.array(_TABLE, np.uint32)


def _byte_by_byte(data: bytes | memoryview) -> int:
    state = 0xFFFFFFFF
    for byte in data:
        state = _TABLE[(state ^ byte) & 0xFF] ^ state >> 8
    return state ^ 0xFFFFFFFF


_STRETCH = 64


def _by_stretches(data: bytes | memoryview) -> int:
    """The same by the law crc(a + b) = crc(a + zeros) ^ crc(b), which holds for a start value of zero.

    The start value of all ones is the same as flipping the first four bytes; zeros in front change nothing, so the data is
    filled up in front to a number of stretches that is a power of two.
    """
    count = 1 << (-(-len(data) // _STRETCH) - 1).bit_length()
    padded = np.zeros(count * _STRETCH, np.uint8)
    start = len(padded) - len(data)
    padded[start:] = np.frombuffer(data, np.uint8)
    padded[start : start + 4] ^= 0xFF
    states: Words = np.zeros(count, np.uint32)
    for column in padded.reshape(count, _STRETCH).T:
        states = _TABLE_WORDS[(states ^ column) & 0xFF] ^ states >> 8
    for operator in _OPERATORS:
        if len(states) == 1:
            break
        states = _apply(operator, states[0::2]) ^ states[1::2]
    return int(states[0]) ^ 0xFFFFFFFF


def _apply(operator: Words, states: Words) -> Words:
    """What the states become behind so many zero bytes; `operator[i, b]` is that for byte i of the state being b."""
    found: Words = operator[0][states & 0xFF]
    for i in (1, 2, 3):
        found = found ^ operator[i][states >> 8 * i & 0xFF]
    return found


def _operators() -> list[Words]:
    """The operators for one stretch of zero bytes, two, four, ... up to what a block of 2 GiB needs."""
    bytes_of: Words = np.arange(256, dtype=np.uint32)
    single: Words = np.stack([bytes_of << np.uint32(8 * i) for i in range(4)])
    for _ in range(_STRETCH):
        single = _TABLE_WORDS[single & 0xFF] ^ single >> 8
    operators = [single]
    while _STRETCH << len(operators) < 1 << 31:
        operators.append(_apply(operators[-1], operators[-1].reshape(-1)).reshape(4, 256))
    return operators


_OPERATORS = _operators()
