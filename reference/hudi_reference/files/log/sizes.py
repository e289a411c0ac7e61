"""How many bytes rows take in Avro, computed from their columns: what a columnar decoder is held to.

Such a decoder runs through a block without looking at the length before each record. Every value has a shortest encoding; a
record of these takes `row_sizes` bytes and none takes fewer. So if each stored length is the size of its row, and together
they fill the block that the decoder did not leave, then the decoder has read every record from its first byte to its last,
and no integer, length or branch in it was anything but what it became.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.datum import plain_schema

Sizes = npt.NDArray[np.integer[Any]]
#: Enumerations with more symbols have indexes of several bytes.
_SYMBOLS = 64


class NoSizes(Exception):
    """A type whose sizes the columns do not tell."""


def row_sizes(rows: pa.Table, schema: AvroSchema) -> Sizes:
    """The bytes of each row in its shortest encoding, without the length before it. Raises NoSizes."""
    types = _Types()
    total = np.zeros(rows.num_rows, np.int64)
    for column, field in zip(rows.columns, plain_schema(schema)["fields"], strict=True):
        array = column.combine_chunks()
        total += types.sizes(array, field["type"])
    return total


class _Types:
    """The sizes of columns by their Avro types; named types are known by their full names once they were met."""

    def __init__(self) -> None:
        self._named: dict[str, Any] = {}

    def sizes(self, array: pa.Array, avro: Any) -> Sizes:
        """The size of each value; of those that are null only a union tells something."""
        if isinstance(avro, str):
            avro = self._named.get(avro, avro)
        if isinstance(avro, list):
            return self._union(array, avro)
        kind = avro["type"] if isinstance(avro, Mapping) else avro
        if isinstance(avro, Mapping) and "name" in avro:
            self._named[avro["name"]] = avro
        match kind:
            case "record":
                return self._record(array, avro)
            case "array":
                return self._array(array, avro)
            case "fixed":
                return np.full(len(array), avro["size"], np.int64)
            case "enum" if len(avro["symbols"]) <= _SYMBOLS:
                return np.ones(len(array), np.int64)
        if kind not in _PRIMITIVES:
            raise NoSizes(str(kind))
        return _PRIMITIVES[kind](array)

    def _union(self, array: pa.Array, avro: list[Any]) -> Sizes:
        branches = [branch for branch in avro if branch != "null"]
        if not branches:
            return np.ones(len(array), np.int64)
        inner = self.sizes(array, branches[0])
        return 1 + (inner * _valid(array) if array.null_count else inner)

    def _record(self, array: pa.StructArray, avro: Mapping[str, Any]) -> Sizes:
        total = np.zeros(len(array), np.int64)
        for place, field in enumerate(avro["fields"]):
            total += self.sizes(array.field(place), field["type"])
        return total

    def _array(self, array: pa.ListArray, avro: Mapping[str, Any]) -> Sizes:
        """One block with the number of its elements, if there are any, and a zero."""
        items = np.concatenate([[0], np.cumsum(self.sizes(array.values, avro["items"]))]).astype(np.int64)
        offsets = _offsets(array)
        counts = np.diff(offsets)
        return 1 + np.where(counts > 0, _number_sizes(counts), 0) + items[offsets[1:]] - items[offsets[:-1]]


def _valid(array: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.is_valid(array).to_numpy(zero_copy_only=False), np.bool_)


def _offsets(array: pa.Array) -> Sizes:
    """Where each value begins in the buffer behind the array, and where the last ends."""
    buffer = array.buffers()[1]
    if buffer is None or buffer.size == 0:
        return np.zeros(1, np.int64)
    kind = np.int64 if pt.is_large_list(array.type) or pt.is_large_binary(array.type) else np.int32
    return np.frombuffer(buffer, kind)[array.offset : array.offset + len(array) + 1].astype(np.int64)


def _numbers(array: pa.Array, kind: type[np.signedinteger[Any]]) -> npt.NDArray[Any]:
    """The numbers behind an array of numbers, dates, times, timestamps or decimals; anything where it is null."""
    width = array.type.bit_width // 8
    step = width // np.dtype(kind).itemsize
    buffer = array.buffers()[1]
    first = array.offset * step
    return np.frombuffer(buffer, kind)[first : first + len(array) * step] if buffer is not None else np.zeros(0, kind)


def _number_sizes(numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Bytes of zigzag varints: one for every seven bits, of which the first holds the sign."""
    sizes = np.ones(len(numbers), np.uint8)
    if not len(numbers):
        return sizes
    magnitudes = numbers ^ (numbers >> (8 * numbers.itemsize - 1)) if numbers.min() < 0 else numbers
    greatest = int(magnitudes.max())
    for shift in range(6, 63, 7):
        if greatest >> shift == 0:
            break
        sizes += magnitudes >= 1 << shift
    return sizes


def _text_sizes(array: pa.Array) -> Sizes:
    lengths = _decimal_lengths(array) if pt.is_decimal(array.type) else np.diff(_offsets(array))
    return _number_sizes(lengths) + lengths


def _decimal_lengths(array: pa.Decimal128Array) -> Sizes:
    """Bytes of the shortest integers in two's complement. A zero may have no bytes at all, which no column tells."""
    halves = _numbers(array, np.int64).reshape(-1, 2)
    low, high = halves[:, 0], halves[:, 1]
    if np.any(_valid(array) & ((low | high) == 0)):
        raise NoSizes("a decimal that is zero")
    return np.where(high == low >> 63, _integer_lengths(low), 8 + _integer_lengths(high))


def _integer_lengths(numbers: npt.NDArray[np.int64]) -> Sizes:
    magnitudes = numbers ^ (numbers >> 63)
    return 1 + sum((magnitudes >= 1 << shift for shift in range(7, 63, 8)), np.zeros(len(numbers), np.int64))


def _constant(size: int) -> Callable[[pa.Array], Sizes]:
    return lambda array: np.full(len(array), size, np.int64)


_PRIMITIVES: dict[str, Callable[[pa.Array], Sizes]] = {
    "null": _constant(0),
    "boolean": _constant(1),
    "float": _constant(4),
    "double": _constant(8),
    "int": lambda array: _number_sizes(_numbers(array, np.int32)),
    "long": lambda array: _number_sizes(_numbers(array, np.int64)),
    "bytes": _text_sizes,
    "string": _text_sizes,
}
