"""CRC32C of two bytes at a time, or of many stretches of the data at once, with numpy: the fast twins of `hfile.crc32c`."""

import struct

import numpy as np
import numpy.typing as npt

from hudi_reference.files.hfile.crc32c import TABLE

Words = npt.NDArray[np.uint32]

_TABLE_WORDS: Words = np.array(TABLE, np.uint32)
_STRETCH = 64
#: Bytes from which on stretches are quicker than pairs of bytes.
_LONG = 6000


def crc32c_fast(data: bytes | memoryview) -> int:
    """The CRC32C of `data`."""
    return crc32c_by_stretches(data) if len(data) >= _LONG else crc32c_by_pairs(data)


def crc32c_by_pairs(data: bytes | memoryview) -> int:
    """The CRC32C of `data`, with a table of the state after each two bytes from the state 0."""
    state = 0xFFFFFFFF
    for pair in struct.unpack_from(f"<{len(data) // 2}H", data):
        state = _PAIRS[(state ^ pair) & 0xFFFF] ^ state >> 16
    if len(data) % 2:
        state = TABLE[(state ^ data[-1]) & 0xFF] ^ state >> 8
    return state ^ 0xFFFFFFFF


def _pair_table() -> list[int]:
    states: Words = np.arange(1 << 16, dtype=np.uint32)
    for _ in range(2):
        states = _TABLE_WORDS[states & 0xFF] ^ states >> 8
    found: list[int] = states.tolist()
    return found


def crc32c_by_stretches(data: bytes | memoryview) -> int:
    """The CRC32C of `data`, by the property crc(a + b) = crc(a + zeros) ^ crc(b), which holds for a start value of zero.

    A start value of all ones has the same effect as flipping the bits of the first four bytes. Zeros in front change nothing,
    so the data is padded in front until the number of stretches is a power of two.
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
    """The states after some zero bytes; `operator[i, b]` is the part of byte i of the state if that byte is b."""
    found: Words = operator[0][states & 0xFF]
    for i in (1, 2, 3):
        found = found ^ operator[i][states >> 8 * i & 0xFF]
    return found


def _operators() -> list[Words]:
    """The operators for 1, 2, 4, ... stretches of zero bytes, enough for a block of 2 GiB."""
    bytes_of: Words = np.arange(256, dtype=np.uint32)
    single: Words = np.stack([bytes_of << np.uint32(8 * i) for i in range(4)])
    for _ in range(_STRETCH):
        single = _TABLE_WORDS[single & 0xFF] ^ single >> 8
    operators = [single]
    while _STRETCH << len(operators) < 1 << 31:
        operators.append(_apply(operators[-1], operators[-1].reshape(-1)).reshape(4, 256))
    return operators


_OPERATORS = _operators()
_PAIRS = _pair_table()
