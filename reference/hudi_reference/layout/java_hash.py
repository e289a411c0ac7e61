"""Hash codes of Java, by which the deployed format assigns keys to buckets and file groups.

They are signed 32-bit numbers with wrap-around; strings are hashed by UTF-16 code units, not by characters.
"""

from collections.abc import Iterable


def string_hash(text: str) -> int:
    """`String.hashCode`: h = 31 * h + c over the UTF-16 code units."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return _combine_hashes(0, units)


def list_hash(texts: Iterable[str | None]) -> int:
    """`List.hashCode`: starts with 1, h = 31 * h + the hash of the string, 0 for null."""
    return _combine_hashes(1, (0 if text is None else string_hash(text) for text in texts))


def _combine_hashes(start: int, parts: Iterable[int]) -> int:
    number = start
    for part in parts:
        number = (31 * number + part) & 0xFFFFFFFF
    return number - (number >> 31 << 32)


def remainder(dividend: int, divisor: int) -> int:
    """Java's `%`: the result has the sign of the dividend."""
    rest = abs(dividend) % divisor
    return -rest if dividend < 0 else rest
