"""The indexes of an HFile: from the first row of each block to its offset and size.

A root index (of data, and of meta blocks by name) is a list of entries whose number is in the trailer: offset (8), size on
disk (4), length of the key as Hadoop writes it, key. An index of several levels has further blocks below the root, each with
the number of its entries, their relative offsets and the end of the last (4 each), and the entries without key lengths.

HBase may store a shorter key than the first row: one between the last row of the previous block and the first row of the block.
So a row of an index is a lower bound, and may not exist.
"""

import struct
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from hudi_reference.files.hfile.block import HEADER_SIZE, Block
from hudi_reference.files.hfile.cell import MADE_UP_SUFFIX, SUFFIX, encode_key, text_of
from hudi_reference.files.hfile.varint import Data, Place, hadoop_varint, read_hadoop_varint

_PLACE = struct.Struct(">qi")
#: After the entries of a root of several levels: offset and size of the middle leaf, and the number of an entry in it.
_MIDDLE = 16


class IndexEntry(NamedTuple):
    """The location of a block, with the least row (or the name) that it may contain."""

    row: bytes
    offset: int
    size: int


def encode_index(entries: Sequence[IndexEntry], *, rows: bool) -> bytes:
    """The payload of a root index: of data blocks by full keys if `rows`, else of meta blocks by names."""
    keys = [encode_key(entry.row) if rows else entry.row for entry in entries]
    return b"".join(
        _PLACE.pack(entry.offset, entry.size) + hadoop_varint(len(key)) + key for entry, key in zip(entries, keys, strict=True)
    )


def encode_inner_index(entries: Sequence[IndexEntry]) -> bytes:
    """The payload of a leaf or intermediate index, whose entries have full keys."""
    parts = [_PLACE.pack(entry.offset, entry.size) + entry.row for entry in entries]
    ends = accumulate((len(part) for part in parts), initial=0)
    return b"".join([len(parts).to_bytes(4, "big"), *(end.to_bytes(4, "big") for end in ends), *parts])


def read_meta_index(block: Block, count: int, end: int, place: Place) -> dict[str, IndexEntry]:
    """Meta blocks by name. All are before offset `end`."""
    entries, rest = _read_root(block, count, place)
    if rest:
        raise place.malformed("bytes after the meta index", block.offset, f"{rest} bytes")
    _check_places(entries, end, block, place)
    return {entry.row.decode("utf-8", "backslashreplace"): entry for entry in entries}


def read_data_index(block: Block, count: int, levels: int, end: int, place: Place) -> list[IndexEntry]:
    """The entries of the root of the data index. All blocks are before offset `end`."""
    entries, rest = _read_root(block, count, place)
    if not count and rest:
        # ER-268: the entry of an empty block is stored but not counted. It has no key, which entries of rows always have.
        unnamed, rest = _read_root(block, 1, place)
        rest += len(unnamed[0].row)
    if rest not in ((0, _MIDDLE) if levels > 1 else (0,)):
        raise place.malformed("bytes after the data index", block.offset, f"{rest} bytes", f"{levels} levels, {count} entries")
    return _by_row(entries, end, block, place)


def read_inner_index(block: Block, end: int, place: Place) -> list[IndexEntry]:
    """The entries of a leaf or intermediate index. All blocks are before offset `end`."""
    payload = block.payload
    count = int.from_bytes(payload[:4], "big")
    table = 4 * (count + 2)
    if count < 1 or table > len(payload):
        raise place.malformed("an index is too short for its entries", block.offset, f"{count} entries in {len(payload)} bytes")
    offsets = struct.unpack_from(f">{count + 1}I", payload, 4)
    if offsets[0] != 0 or table + offsets[-1] != len(payload) or any(b - a < _PLACE.size for a, b in pairwise(offsets)):
        raise place.malformed("the entries of an index do not fill it", block.offset, f"{offsets[0]} to {offsets[-1]}",
                              f"0 to {len(payload) - table}, ascending")  # fmt: skip
    entries = [_read_entry(payload, table + a, table + b) for a, b in pairwise(offsets)]
    return _by_row(entries, end, block, place)


def _read_entry(payload: Data, position: int, end: int) -> IndexEntry:
    offset, size = _PLACE.unpack_from(payload, position)
    return IndexEntry(bytes(payload[position + _PLACE.size : end]), offset, size)


def _read_root(block: Block, count: int, place: Place) -> tuple[list[IndexEntry], int]:
    """The entries, and the number of bytes after them."""
    payload, position = block.payload, 0
    entries = []
    if count > len(payload) // (_PLACE.size + 1):
        raise place.malformed("an index is too short for its entries", block.offset, f"{count} entries in {len(payload)} bytes")
    for _ in range(count):
        try:
            offset, size = _PLACE.unpack_from(payload, position)
            length, start = read_hadoop_varint(payload, position + _PLACE.size)
        except (struct.error, ValueError) as error:
            raise place.malformed("an index entry is truncated", block.offset, str(error), f"{count} entries") from error
        if length > len(payload) - start:
            raise place.malformed("an index key extends beyond its block", block.offset, f"{length} bytes")
        position = start + length
        entries.append(IndexEntry(bytes(payload[start:position]), offset, size))
    return entries, len(payload) - position


def _by_row(entries: Sequence[IndexEntry], end: int, block: Block, place: Place) -> list[IndexEntry]:
    found = [IndexEntry(_row(entry.row, block, place), entry.offset, entry.size) for entry in entries]
    _check_places(found, end, block, place)
    for before, after in pairwise(found):
        if not before.row < after.row:
            raise place.malformed(
                "rows of an index do not ascend", block.offset, text_of(after.row), f"after {text_of(before.row)}"
            )
    return found


def _row(key: bytes, block: Block, place: Place) -> bytes:
    """The row of an index key; newer writers of Apache Hudi omit the suffix."""
    end = 2 + int.from_bytes(key[:2], "big")
    if len(key) < 2 or end > len(key) or key[end:] not in (b"", SUFFIX, MADE_UP_SUFFIX):
        raise place.malformed("an index key in a form that Apache Hudi does not write", block.offset, key[:60].hex(),
                              f"row length, row, and {SUFFIX.hex()}, {MADE_UP_SUFFIX.hex()} or nothing")  # fmt: skip
    return key[2:end]


def _check_places(entries: Sequence[IndexEntry], end: int, block: Block, place: Place) -> None:
    """Check that each block comes after the one before, so that no block is read twice and no scan is endless."""
    free = 0
    for entry in entries:
        if entry.offset < free or entry.size < HEADER_SIZE or entry.offset + entry.size > end:
            raise place.malformed("an index refers to a place where no block can be", block.offset,
                                  f"{entry.size} bytes at byte {entry.offset}", f"between bytes {free} and {end}")  # fmt: skip
        free = entry.offset + entry.size
