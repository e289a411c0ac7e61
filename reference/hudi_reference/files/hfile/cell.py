"""The key-values of a data block.

    field          width   value
    key length     4       2 and the row and 10
    value length   4
    row length     2       a row has up to 32767 bytes
    row            -       the record key in UTF-8
    suffix         10      no column family, the greatest timestamp, type Put
    value          -
    version        1       0

Rows ascend by their bytes, unsigned; HBase allows equal rows, Apache Hudi does not write them.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from hudi_reference.files.hfile.varint import Data, Place

_LENGTHS = struct.Struct(">iiH")
#: The column family has length 0, the timestamp is the greatest, the key type is Put.
SUFFIX = bytes.fromhex("00 7fffffffffffffff 04")
#: The suffix of a key that HBase makes for an index, between the last row of a block and the first row of the next one.
MADE_UP_SUFFIX = SUFFIX[:-1] + b"\xff"
LONGEST_ROW = 32767
#: The bytes of an entry without its row and value.
OVERHEAD = _LENGTHS.size + len(SUFFIX) + 1


class Entry(NamedTuple):
    """A record key in UTF-8 with its value."""

    row: bytes
    value: bytes


def encode_key(row: bytes) -> bytes:
    """The key of a row as stored in the index and in the file info."""
    return struct.pack(">H", len(row)) + row + SUFFIX


def separator_key(before: bytes, row: bytes) -> bytes:
    """The shortest key, as made by HBase, that is greater than the row `before` and not greater than `row`, for an index."""
    pairs = enumerate(zip(before, row, strict=False))
    common = next((at for at, (a, b) in pairs if a != b), min(len(before), len(row)))
    if common < len(before) and before[common] + 1 < row[common]:
        between = row[:common] + bytes([before[common] + 1])
    else:
        between = row[: common + 1]
    return struct.pack(">H", len(between)) + between + MADE_UP_SUFFIX


def encode_entry(row: bytes, value: bytes) -> bytes:
    """One key-value."""
    return b"".join((struct.pack(">ii", len(row) + 12, len(value)), encode_key(row), value, b"\x00"))


def read_entries(payload: Data, at: int, place: Place) -> Iterator[Entry]:
    """The entries of the data block at offset `at`; raises MalformedBaseFile, also if the rows do not ascend."""
    position, last = 0, b""
    while position < len(payload):
        entry, end = _read_entry(payload, position, at, place)
        if entry.row < last:
            raise place.malformed("rows do not ascend", at, text_of(entry.row), f"{text_of(last)} or a later row")
        yield entry
        position, last = end, entry.row


def _read_entry(payload: Data, position: int, at: int, place: Place) -> tuple[Entry, int]:
    left = len(payload) - position
    if left < OVERHEAD:
        raise place.malformed("a key-value is truncated", at, f"{left} bytes at byte {position} of the payload")
    key_length, value_length, row_length = _LENGTHS.unpack_from(payload, position)
    if key_length != row_length + 12 or row_length > LONGEST_ROW or value_length < 0:
        found = f"key {key_length}, value {value_length}, row {row_length} bytes at byte {position} of the payload"
        raise place.malformed("impossible lengths of a key-value", at, found)
    row_end = position + _LENGTHS.size + row_length
    start = row_end + len(SUFFIX)
    end = start + value_length + 1
    if end > len(payload):
        found = f"{end - position} bytes, {left} are left at byte {position} of the payload"
        raise place.malformed("a key-value extends beyond its block", at, found)
    suffix = bytes(payload[row_end:start])
    if suffix != SUFFIX or payload[end - 1] != 0:
        found = f"{suffix.hex()}, version {payload[end - 1]}"
        raise place.malformed("a key-value that is not a Put as Apache Hudi writes it", at, found, f"{SUFFIX.hex()}, version 0")
    return Entry(bytes(payload[position + _LENGTHS.size : row_end]), bytes(payload[start : end - 1])), end


def text_of(row: bytes) -> str:
    """A row as text for messages."""
    return repr(row[:60].decode("utf-8", "backslashreplace"))
