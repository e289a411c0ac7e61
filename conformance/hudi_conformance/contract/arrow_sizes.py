"""The size of an Arrow IPC file when it is decoded, from its headers alone.

pyarrow decompresses a whole record batch at once, and 100 kB may become gigabytes. The headers are FlatBuffers, of which this
reads four tables; the numbers are those of fields in `File.fbs` and `Message.fbs` of the Arrow format.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

_DICTIONARIES, _RECORD_BATCHES = 2, 3  # of Footer
_HEADER_TYPE, _HEADER = 1, 2  # of Message
_DATA = 1  # of DictionaryBatch
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # of RecordBatch
_DICTIONARY_BATCH = 2  # of MessageHeader
_BLOCK, _BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq")
#: The end of the file: the length of the footer, and six bytes.
_END = 10


@dataclass(frozen=True)
class ArrowSize:
    """Rows of all batches, and bytes of all buffers after decompression; a batch that is named twice counts twice."""

    rows: int
    decoded: int


def measure_file(data: bytes) -> ArrowSize:
    """The size of the file; raises struct.error or IndexError if its headers lead outside."""
    length = _number("<i", data, len(data) - _END)
    footer = _Table.root(data, len(data) - _END - length)
    rows = decoded = 0
    for field in (_DICTIONARIES, _RECORD_BATCHES):
        for start, header, _ in footer.structs(field, _BLOCK):
            found = _measure_batch(data, start, header)
            rows, decoded = rows + found.rows, decoded + found.decoded
    return ArrowSize(rows, decoded)


def _measure_batch(data: bytes, start: int, header: int) -> ArrowSize:
    """The size of the record batch or dictionary whose message begins at `start`; its header has `header` bytes."""
    prefix = 8 if _number("<I", data, start) == 0xFFFFFFFF else 4  # old files have no continuation marker
    message = _Table.root(data, start + prefix)
    batch = message.table(_HEADER)
    if message.scalar(_HEADER_TYPE, "<B") == _DICTIONARY_BATCH:
        batch = batch.table(_DATA)
    is_compressed, decoded = batch.place(_COMPRESSION) is not None, 0
    for at, length in batch.structs(_BUFFERS, _BUFFER):
        plain = _number("<q", data, start + header + at) if is_compressed and length else -1
        decoded += length if plain == -1 else plain  # -1: this buffer is not compressed
    return ArrowSize(batch.scalar(_LENGTH, "<q"), decoded)


@dataclass(frozen=True)
class _Table:
    """A table of FlatBuffers at `at`."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes, at: int) -> Self:
        """The table to which the offset at `at` points."""
        return cls(data, at + _number("<I", data, at))

    def place(self, field: int) -> int | None:
        """The position of the value of a field; None if the field is absent."""
        schema = self.at - _number("<i", self.data, self.at)
        entry = 4 + 2 * field
        if entry >= _number("<H", self.data, schema):
            return None
        offset = _number("<H", self.data, schema + entry)
        return self.at + offset if offset else None

    def scalar(self, field: int, form: str) -> int:
        """The number in a field, 0 if it is absent."""
        place = self.place(field)
        return 0 if place is None else _number(form, self.data, place)

    def table(self, field: int) -> "_Table":
        """The table in a field."""
        place = self.place(field)
        if place is None:
            raise IndexError(f"there is no field {field} at {self.at}")
        return _Table.root(self.data, place)

    def structs(self, field: int, form: struct.Struct) -> Iterator[tuple[int, ...]]:
        """The structures of a list; none if it is absent."""
        place = self.place(field)
        if place is None:
            return
        start = place + _number("<I", self.data, place)
        count = _number("<I", self.data, start)
        if start + 4 + count * form.size > len(self.data):
            raise IndexError(f"{count} entries at {start} lead beyond the end")
        for number in range(count):
            yield form.unpack_from(self.data, start + 4 + number * form.size)


def _number(form: str, data: bytes, at: int) -> int:
    if at < 0:
        raise IndexError(f"an offset leads to {at}")
    found: int = struct.unpack_from(form, data, at)[0]
    return found
