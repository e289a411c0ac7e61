"""Checksums of HFile blocks: one big-endian value of four bytes for each chunk of header and stored payload.

Deployed writers use CRC32C.
"""

import zlib
from collections.abc import Callable
from enum import IntEnum

import google_crc32c


class ChecksumType(IntEnum):
    """The number in each block's header."""

    NONE = 0
    CRC32 = 1
    CRC32C = 2


def checksums(kind: ChecksumType, data: bytes | memoryview, chunk: int) -> bytes:
    """The checksums of `data`, one for each chunk of `chunk` bytes; zeros for the type NONE."""
    parts = [data[start : start + chunk] for start in range(0, len(data), chunk)]
    if kind is ChecksumType.NONE:
        return bytes(4 * len(parts))
    one: Callable[[bytes | memoryview], int] = crc32c if kind is ChecksumType.CRC32C else zlib.crc32
    return b"".join(one(part).to_bytes(4, "big") for part in parts)


def crc32c(data: bytes | memoryview) -> int:
    """The CRC32C of `data`."""
    found: int = google_crc32c.value(bytes(data))
    return found
