"""Sets of row numbers as a 64-bit Roaring bitmap in the portable form, container by container.

    8: number of buckets, then for each 4: high word, and a 32-bit bitmap; all numbers are little-endian

A 32-bit bitmap is a list of containers, each for one high half of the low word.
"""

import struct
from collections.abc import Mapping, Sequence

Containers = Mapping[int, "Container"]
#: A stored container: its number of values, and its bytes.
Container = tuple[int, bytes, bool]


def array_container(*values: int) -> Container:
    """A sorted list of values of 16 bits."""
    return len(values), struct.pack(f"<{len(values)}H", *values), False


def run_container(*spans: tuple[int, int]) -> Container:
    """First and last value of each run."""
    ends = [number for first, last in spans for number in (first, last - first)]
    size = sum(last - first + 1 for first, last in spans)
    return size, struct.pack(f"<{1 + len(ends)}H", len(spans), *ends), True


def bitmap_container(values: Sequence[int]) -> Container:
    """A bitmap of 8192 bytes, for more than 4096 values."""
    data = bytearray(8192)
    for value in values:
        data[value >> 3] |= 1 << (value & 7)
    return len(values), bytes(data), False


def encode_bitmap32(containers: Containers) -> bytes:
    """A 32-bit bitmap; its header has another form if a container has runs."""
    count, with_runs = len(containers), any(run for _, _, run in containers.values())
    keys = b"".join(struct.pack("<HH", key, size - 1) for key, (size, _, _) in containers.items())
    flags = sum(run << place for place, (_, _, run) in enumerate(containers.values()))
    head = struct.pack("<I", 0x303B | count - 1 << 16) + flags.to_bytes(-(-count // 8), "little") if with_runs else b""
    head = head or struct.pack("<II", 0x303A, count)
    width = 4 * count if not with_runs or count >= 4 else 0
    start, offsets = len(head) + len(keys) + width, []
    for _, data, _ in containers.values():
        offsets.append(start)
        start += len(data)
    places = struct.pack(f"<{count}I", *offsets) if width else b""
    return head + keys + places + b"".join(data for _, data, _ in containers.values())


def encode_bitmap64(buckets: Mapping[int, Containers]) -> bytes:
    """A 64-bit bitmap: a 32-bit one for each high word."""
    parts = (struct.pack("<I", high) + encode_bitmap32(containers) for high, containers in buckets.items())
    return struct.pack("<Q", len(buckets)) + b"".join(parts)
