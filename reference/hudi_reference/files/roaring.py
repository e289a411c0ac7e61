"""The portable form of 64-bit Roaring bitmaps: checked here, read and written by a library that trusts what it reads.

    count of upper halves, 8; for each, ascending: upper half, 4; bitmap of the lower halves
    bitmap       12346, 4; number of containers, 4; or 12347, 2; their number less one, 2; a bit for each: whether it has runs
                 for each container, ascending: upper 16 bits, 2; number of values less one, 2
                 offset of each container, 4: only without runs, or with four containers and more; they say nothing new
    container    runs: their number, 2; for each: first value, 2; length less one, 2
                 up to 4096 values: the values, 2 each; more: 65536 bits

All integers are little-endian and unsigned.
"""

import struct

import numpy as np

_PLAIN, _WITH_RUNS = 12346, 12347
_MOST_IN_ARRAY = 4096
_BITSET = 8192
#: From so many containers on there are offsets in spite of runs.
_OFFSETS_FROM = 4


def check_portable(data: bytes) -> None:
    """Raises ValueError unless `data` is one whole bitmap whose counts and orders hold; does not unfold it."""
    view = _Cursor(data)
    (halves,) = view.take("Q")
    last = -1
    for _ in range(halves):
        (half,) = view.take("I")
        _ascends(last, half, "upper halves")
        _check_bitmap(view)
        last = half
    if view.position != len(data):
        raise ValueError(f"{len(data) - view.position} bytes after the end of the bitmap")


class _Cursor:
    """What was read of a bitmap: `position` bytes of `data`."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def take(self, layout: str) -> tuple[int, ...]:
        """The next numbers."""
        return struct.unpack(f"<{layout}", self.skip(struct.calcsize(f"<{layout}")))

    def skip(self, size: int) -> bytes:
        """The next bytes."""
        taken = self.data[self.position : self.position + size]
        if len(taken) < size:
            raise ValueError(f"{size} more bytes expected after byte {self.position}, {len(taken)} are left")
        self.position += size
        return taken


def _check_bitmap(view: _Cursor) -> None:
    cookie, following = view.take("HH")
    flags = b""
    if cookie == _WITH_RUNS:
        count = following + 1
        flags = view.skip(-(-count // 8))
    elif (cookie, following) == (_PLAIN, 0):
        (count,) = view.take("I")
    else:
        raise ValueError(f"the bitmap begins with {cookie + (following << 16)}, not with {_PLAIN} or {_WITH_RUNS}")
    heads = np.frombuffer(view.skip(4 * count), "<u2").reshape(-1, 2)
    if np.any(np.diff(heads[:, 0].astype(np.int32)) <= 0):
        raise ValueError("containers do not ascend")
    if not flags or count >= _OFFSETS_FROM:
        view.skip(4 * count)
    for number, size in enumerate(heads[:, 1].tolist()):
        has_runs = flags and flags[number // 8] >> number % 8 & 1
        (_check_runs if has_runs else _check_values)(view, size + 1)


def _check_runs(view: _Cursor, size: int) -> None:
    (count,) = view.take("H")
    last, found = -1, 0
    for first, length in struct.iter_unpack("<HH", view.skip(4 * count)):
        _ascends(last, first, "runs")
        last, found = first + length, found + length + 1
    if found != size or last > 0xFFFF:
        raise ValueError(f"runs of {found} values up to {last}, not of {size} values")


def _check_values(view: _Cursor, size: int) -> None:
    if size > _MOST_IN_ARRAY:
        found = int.from_bytes(view.skip(_BITSET), "little").bit_count()
        if found != size:
            raise ValueError(f"{found} bits, not {size}")
    elif np.any(np.diff(np.frombuffer(view.skip(2 * size), "<u2").astype(np.int32)) <= 0):
        raise ValueError("values do not ascend")


def _ascends(last: int, following: int, what: str) -> None:
    if following <= last:
        raise ValueError(f"{what} do not ascend: {following} after {last}")
