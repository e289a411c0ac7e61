"""The size of an Arrow IPC file when it is decoded, from its headers alone; and that of its rows when each value is taken out.

pyarrow decompresses a whole record batch at once, and 100 kB may become gigabytes. The headers are FlatBuffers, of which this
reads four tables; the numbers are those of fields in `File.fbs` and `Message.fbs` of the Arrow format. A decoded file is small
too if all rows name one entry of a dictionary, one run or one view: `measure_rows` counts it as often as they name it.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as pt

_DICTIONARIES, _RECORD_BATCHES = 2, 3  # of Footer
_HEADER_TYPE, _HEADER = 1, 2  # of Message
_DATA = 1  # of DictionaryBatch
_LENGTH, _NODES, _BUFFERS, _COMPRESSION = 0, 1, 2, 3  # of RecordBatch
_DICTIONARY_BATCH = 2  # of MessageHeader
_BLOCK, _BUFFER, _NODE = struct.Struct("<qi4xq"), struct.Struct("<qq"), struct.Struct("<qq")
#: The end of the file: the length of the footer, and six bytes.
_END = 10
#: Bytes that each value counts at least, also a null, which takes no byte of a file: Python holds it as an object.
VALUE_BYTES = 32


@dataclass(frozen=True)
class ArrowSize:
    """Rows of all batches, and bytes of all values after decompression; a batch that is named twice counts twice."""

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
        decoded += _size(length if plain == -1 else plain)  # -1: this buffer is not compressed
    values = sum(_size(count) for count, _ in batch.structs(_NODES, _NODE))
    return ArrowSize(_size(batch.scalar(_LENGTH, "<q")), max(decoded, values * VALUE_BYTES))


def _size(number: int) -> int:
    """The number; raises IndexError if it is negative, because it would hide others in a sum."""
    if number < 0:
        raise IndexError(f"a size is {number}")
    return number


def measure_rows(rows: pa.Table) -> int:
    """The bytes of all values at most, of rows whose buffers are long enough (`validate`). Nothing is expanded."""
    return sum(_measure_values(chunk) for column in rows.itercolumns() for chunk in column.chunks)


def _measure_values(values: Any) -> int:
    """The bytes of the values of an array at most."""
    return max(len(values) * VALUE_BYTES, _measure_content(values))


def _measure_content(values: Any) -> int:
    kind = values.type
    if pt.is_dictionary(kind) or pt.is_run_end_encoded(kind):
        return len(values) * _longest(values.dictionary if pt.is_dictionary(kind) else values.values)
    if pt.is_string_view(kind) or pt.is_binary_view(kind):
        return int(_lengths_of_views(values).sum())
    children = _children(values)
    total = sum(map(_measure_values, children))
    if pt.is_list_view(kind) or pt.is_large_list_view(kind) or pt.is_union(kind):  # each value may be all that is below
        return len(values) * total
    return total if children else int(values.nbytes)


def _children(values: Any) -> Sequence[Any]:
    """The arrays from which a nested array takes its values."""
    kind = values.type
    if isinstance(values, pa.ExtensionArray):
        return [values.storage]
    if pt.is_map(kind):
        return [values.keys, values.items]
    if pt.is_struct(kind) or pt.is_union(kind):
        return [values.field(number) for number in range(kind.num_fields)]
    return [values.values] if pt.is_nested(kind) else []


def _longest(values: Any) -> int:
    """The bytes of the longest value at most."""
    kind = values.type
    if pt.is_string_view(kind) or pt.is_binary_view(kind):
        return int(_lengths_of_views(values).max(initial=0))
    if pt.is_string(kind) or pt.is_binary(kind) or pt.is_large_string(kind) or pt.is_large_binary(kind):
        return max(0, pc.max(pc.binary_length(values)).as_py() or 0)
    if pt.is_primitive(kind) or pt.is_decimal(kind) or pt.is_fixed_size_binary(kind):
        return int(kind.bit_width) // 8
    return _measure_values(values)


def _lengths_of_views(values: Any) -> Any:
    """The lengths of texts in a view array, each the first number of 16 bytes."""
    views = values.buffers()[1]
    if not len(values) or views is None:
        return np.zeros(0, np.int64)
    first = np.frombuffer(views, np.int32)[::4][values.offset : values.offset + len(values)]
    is_valid = values.is_valid().to_numpy(zero_copy_only=False)
    return first[is_valid].astype(np.int64).clip(min=0)


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
