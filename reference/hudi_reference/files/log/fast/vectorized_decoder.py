"""Reading many Avro records in parallel with numpy: each step reads the next value of all records.

A record is read from its first byte to its last, as in the plain code, but an offset is an array with one number for each
record. Only numbers in their shortest form are read, which is the form that every writer stores.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Which = npt.NDArray[np.bool_] | Longs
#: Bytes before and after the data, so that several bytes can be read at every offset.
_MARGIN = 16
#: Arrow has offsets of 31 bits.
_MOST = (1 << 31) - 2 * _MARGIN
#: The most rounds of reading one element of each record: damaged data may declare many elements in few records.
_ROUNDS = 4000
#: Records that one walk covers, while others run in parallel.
_ROWS_A_WALK = 512
#: With fewer records than this a single walk is quicker than parallel ones.
MANY_RECORDS = 1 << 16
#: The top bits of eight bytes: set in all bytes of a number but the last.
_MORE = np.uint64(0x8080808080808080)


class Unclear(Exception):
    """The data is left to the plain code: it is damaged, or stored in a form that writers do not use."""


def require(holds: object, what: str) -> None:
    """Raises Unclear unless the condition holds."""
    if not holds:
        raise Unclear(what)


def record_places(data: memoryview | bytes, count: int) -> tuple[Longs, Longs]:
    """The offsets of the beginning and the end of each record; each follows its length of four bytes, and all fill the data."""
    require(0 < 4 * count <= len(data), "no records, or more than there is room for")
    lengths = _walk_in_parallel(data, count) if count >= MANY_RECORDS else None
    lengths = _walk_sequentially(data, count) if lengths is None else lengths
    return lengths + 4, np.append(lengths[1:], len(data))


def _walk_sequentially(data: memoryview | bytes, count: int) -> Longs:
    """The offsets of the lengths, by walking from each record to the next."""
    length_at, place = struct.Struct(">I").unpack_from, 0
    try:
        ends = array("q", [place := place + 4 + length_at(data, place)[0] for _ in range(count)])
    except (struct.error, OverflowError):
        raise Unclear("records beyond the data") from None
    require(place == len(data), "data after the last record")
    return np.append(0, np.frombuffer(ends, np.int64)[:-1])


def _walk_in_parallel(data: memoryview | bytes, count: int) -> Longs | None:
    """The same with many walks in parallel: each continues until it arrives where the next one began.

    The first walk begins at the first record, so all are right if each arrives exactly there. None otherwise.
    """
    begins = _likely_records(data, count)
    ends, walked = np.append(begins[1:], len(data)), [begins]
    while (walked[-1] < ends).any():
        if len(walked) > 4 * _ROWS_A_WALK:
            return None
        walked.append(_next_record(data, walked[-1]))
    places = np.array(walked).T
    inside = places[places < ends[:, np.newaxis]]
    arrived = (places == ends[:, np.newaxis]).any(axis=1).all()
    return inside if arrived and len(inside) == count else None


def _likely_records(data: memoryview | bytes, count: int) -> Longs:
    """Offsets at about equal distance where a record probably begins: from there, records of usual lengths follow."""
    usual, walks = len(data) // count, count // _ROWS_A_WALK
    near = np.arange(1, walks) * (len(data) // max(1, walks))
    found = place = (near[:, np.newaxis] + np.arange(2 * usual)).ravel()
    for _ in range(6):
        behind = _next_record(data, place)
        likely = (usual <= 8 * (behind - place)) & (behind - place <= 8 * usual)
        found, place = found[likely], behind[likely]
    _, first = np.unique(np.searchsorted(near, found, "right"), return_index=True)
    return np.concatenate([[0], found[first]])


def _next_record(data: memoryview | bytes, places: Longs) -> Longs:
    """The offsets of the next lengths; arbitrary beyond the data."""
    lengths = np.ndarray(len(data) - 3, "V4", data, strides=(1,))
    found: Longs = places + 4 + lengths[np.minimum(places, len(data) - 4)].view(">u4")
    return found


class Data:
    """Bytes with a margin, for reading at many offsets at once. An offset beyond them reads arbitrary bytes."""

    def __init__(self, data: memoryview | bytes) -> None:
        require(len(data) < _MOST, "more bytes than Arrow counts")
        margin = np.zeros(_MARGIN, np.uint8)
        self._bytes = np.concatenate([margin, np.frombuffer(data, np.uint8), margin])
        self.buffer = pa.py_buffer(self._bytes)
        self.first = _MARGIN
        self._rounds = _ROUNDS

    def spend(self, rounds: int) -> None:
        """Count rounds of reading elements. Raises Unclear if there are too many."""
        self._rounds -= rounds
        require(self._rounds >= 0, "long lists in few records")

    def bytes_at(self, places: Longs) -> Bytes:
        """One byte at each offset."""
        return self._bytes.take(places, mode="clip")

    def pieces_at(self, places: Longs, width: int) -> npt.NDArray[np.void]:
        """`width` bytes at each offset."""
        require(width <= len(self._bytes), "values longer than the data")
        every = np.ndarray(len(self._bytes) - width + 1, f"V{width}", self._bytes, strides=(1,))
        return every[np.minimum(places, len(every) - 1)]

    def words_at(self, places: Longs) -> Words:
        """Eight bytes at each offset, as little-endian numbers."""
        return self.pieces_at(places, 8).view("<u8")


@dataclass
class Cursors:
    """The offset of the next value of each record, and the offset of its end."""

    data: Data
    places: Longs
    ends: Longs

    def __len__(self) -> int:
        return len(self.places)

    def of(self, which: Which) -> Cursors:
        """The cursors of some records; `follow` moves the original cursors after they were read."""
        return Cursors(self.data, self.places[which], self.ends[which])

    def follow(self, which: Which, others: Cursors) -> None:
        """Move the cursors of some records to the offsets of others."""
        self.places[which] = others.places

    def byte(self) -> Bytes:
        """The next byte of each record."""
        found = self.data.bytes_at(self.places)
        self.places = self.places + 1
        return found

    def pieces(self, width: int) -> npt.NDArray[np.void]:
        """The next `width` bytes of each record."""
        found = self.data.pieces_at(self.places, width)
        self.places = self.places + width
        return found

    def skip(self, lengths: Longs) -> Longs:
        """Skip these lengths; the offsets of the skipped bytes. Raises Unclear if they exceed the record."""
        starts = self.places
        require((lengths >= 0).all() and (lengths <= self.ends - starts).all(), "a length beyond the end of the record")
        self.places = starts + lengths
        return starts

    def number(self) -> Longs:
        """The next number of each record: seven bits a byte, low bits first, zigzag-encoded."""
        first = self.data.bytes_at(self.places)
        if first.max(initial=0) < 0x80:
            self.places = self.places + 1
            raw = first.astype(np.int64)
            return (raw >> 1) ^ -(raw & 1)
        numbers, sizes = _varints(self.data, self.places)
        self.places = self.places + sizes
        return (numbers >> np.uint64(1)).view(np.int64) ^ -(numbers & np.uint64(1)).view(np.int64)


def _varints(data: Data, places: Longs) -> tuple[Words, Bytes]:
    """Unsigned numbers, and the number of bytes of each."""
    words = data.words_at(places)
    last = ~words & _MORE
    last &= -last
    inside = (last << np.uint64(1)) - np.uint64(1)  # all eight bytes where the number does not end in them
    words &= inside
    require((words >= last >> np.uint64(7) & ~np.uint64(1)).all(), "a number with an unnecessary byte")
    numbers, sizes = _join_groups_of_seven_bits(words & ~_MORE), np.bitwise_count(inside) >> 3
    if not last.all():
        _add_high_bytes(data, places, np.flatnonzero(last == 0), numbers, sizes)
    return numbers, sizes


def _join_groups_of_seven_bits(words: Words) -> Words:
    """Numbers from bytes of seven bits each: pairs of bytes are joined, then pairs of these, then the two halves."""
    for gap, low in ((1, 0x007F007F007F007F), (2, 0x00003FFF00003FFF), (4, 0x000000000FFFFFFF)):
        high = np.uint64(low << 7 * gap)
        words = (words & np.uint64(low)) | (words >> np.uint64(gap) & high)
    return words


def _add_high_bytes(data: Data, places: Longs, which: Longs, numbers: Words, sizes: Bytes) -> None:
    """Add the ninth and tenth byte of the numbers that have them."""
    ninth, tenth = (data.bytes_at(places[which] + behind).astype(np.uint64) for behind in (8, 9))
    ten = ninth >= 0x80
    require(np.where(ten, tenth == 1, ninth > 0).all(), "a number of more than 64 bits")
    numbers[which] |= (ninth & np.uint64(0x7F)) << np.uint64(56) | np.where(ten, tenth << np.uint64(63), np.uint64(0))
    sizes[which] = 9 + ten
