"""How many bytes rows take in Avro, computed from their columns: what a columnar decoder is held to.

Such a decoder runs through a block without looking at the length before each record. Every value has a shortest encoding; a
record of these takes `row_sizes` bytes and none takes fewer. So if each stored length is the size of its row, and together
they fill the block that the decoder did not leave, then the decoder has read every record from its first byte to its last,
and no integer or length in it was anything but what it became. Two kinds of bytes it takes for more than they can mean, and
they are looked at where the sizes say that they are: the branch of a union, where every number but that of null is the other
one to it, and booleans.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.datum import plain_schema

Sizes = npt.NDArray[np.integer[Any]]
#: Offsets of values in the data, one for each, None where they are not known; and which of them count, None where all do.
Places = npt.NDArray[np.int64] | None
Mask = npt.NDArray[np.bool_] | None
#: Enumerations with more symbols have indexes of several bytes.
_SYMBOLS = 64
#: Rows that are looked at together, for all columns: their bytes then stay in the processor's cache.
_ROWS_AT_ONCE = 8192


class NoSizes(Exception):
    """A type whose sizes the columns do not tell."""


def row_sizes(rows: pa.Table, schema: AvroSchema, data: memoryview | bytes, starts: npt.NDArray[np.int64]) -> Sizes:
    """The bytes of each row in its shortest encoding, without the length before it; in `data` the rows are said to begin at
    `starts`. Raises NoSizes, also for a branch or a boolean there that cannot be.
    """
    types = _Types()
    total = np.zeros(rows.num_rows, np.int64)
    for column, field in zip(rows.columns, plain_schema(schema)["fields"], strict=True):
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        total += types.sizes(array, field["type"], starts + total, None)
    _verify(types.claims, np.frombuffer(data, np.uint8))
    return total


@dataclass(frozen=True)
class _Claim:
    """What the decoder takes the bytes at these places for: branches, one for each or the same for all, or booleans."""

    places: npt.NDArray[np.int64]
    branches: npt.NDArray[np.uint8] | int | None = None

    def holds(self, data: npt.NDArray[np.uint8], part: slice) -> bool:
        found = data.take(self.places[part])
        if self.branches is None:
            return bool((found <= 1).all())
        return bool((found == (self.branches if isinstance(self.branches, int) else self.branches[part])).all())


def _verify(claims: Sequence[_Claim], data: npt.NDArray[np.uint8]) -> None:
    """Raises NoSizes where a byte is not what the decoder took it for."""
    most = max((len(claim.places) for claim in claims), default=0)
    try:
        for first in range(0, most, _ROWS_AT_ONCE):
            part = slice(first, first + _ROWS_AT_ONCE)
            if not all(claim.holds(data, part) for claim in claims):
                raise NoSizes("a branch or a boolean that cannot be")
    except IndexError as error:
        raise NoSizes("lengths that lead beyond the data") from error


class _Types:
    """The sizes of columns by their Avro types; named types are known by their full names once they were met.

    `claims` are to be verified when all sizes are known.
    """

    def __init__(self) -> None:
        self.claims: list[_Claim] = []
        self._named: dict[str, Any] = {}

    def sizes(self, array: pa.Array, avro: Any, places: Places, mask: Mask) -> Sizes:
        """The size of each value; of those that are null only a union tells something."""
        if isinstance(avro, str):
            avro = self._named.get(avro, avro)
        if isinstance(avro, list):
            return self._union(array, avro, places, mask)
        _check_no_nulls(array, avro, mask)
        kind = avro["type"] if isinstance(avro, Mapping) else avro
        if isinstance(avro, Mapping) and "name" in avro:
            self._named[avro["name"]] = avro
        match kind:
            case "record":
                return self._record(array, avro, places, mask)
            case "array":
                return self._array(array, avro, places, mask)
            case "fixed":
                return np.full(len(array), avro["size"], np.int64)
            case "enum" if len(avro["symbols"]) <= _SYMBOLS:
                return np.ones(len(array), np.int64)
            case "boolean":
                self._claim(places, mask)
        if kind not in _PRIMITIVES:
            raise NoSizes(str(kind))
        return _PRIMITIVES[kind](array)

    def _union(self, array: pa.Array, avro: list[Any], places: Places, mask: Mask) -> Sizes:
        """Branches are numbers of one byte, twice what they count."""
        branches = [branch for branch in avro if branch != "null"]
        valid = _valid(array) if array.null_count else None
        stored: Any = 2 * avro.index(branches[0]) if branches else 0
        if valid is not None and "null" in avro:
            stored = np.where(valid if mask is None else valid[mask], stored, 2 * avro.index("null"))
        self._claim(places, mask, stored)
        if not branches:
            return np.ones(len(array), np.int64)
        inner = self.sizes(array, branches[0], _behind(places, 1), mask if valid is None else _both(valid, mask))
        return 1 + (inner if valid is None else inner * valid)

    def _record(self, array: pa.StructArray, avro: Mapping[str, Any], places: Places, mask: Mask) -> Sizes:
        total = np.zeros(len(array), np.int64)
        for place, field in enumerate(avro["fields"]):
            total += self.sizes(array.field(place), field["type"], _behind(places, total), mask)
        return total

    def _array(self, array: pa.ListArray, avro: Mapping[str, Any], places: Places, mask: Mask) -> Sizes:
        """One block with the number of its elements, if there are any, and a zero."""
        sizes = self.sizes(array.values, avro["items"], None, None)
        items, offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), _offsets(array)
        counts = np.diff(offsets)
        heads = np.where(counts > 0, _number_sizes(counts), 0)
        if places is not None and str(avro["items"]) not in _SELF_EVIDENT:
            first, last = int(offsets[0]), int(offsets[-1])
            inside = np.repeat(places + heads - items[offsets[:-1]], counts) + items[first:last]
            counting = None if mask is None else np.repeat(mask, counts)
            self.sizes(array.values.slice(first, last - first), avro["items"], inside, counting)
        return 1 + heads + items[offsets[1:]] - items[offsets[:-1]]

    def _claim(self, places: Places, mask: Mask, branches: npt.NDArray[np.uint8] | int | None = None) -> None:
        if places is not None:
            self.claims.append(_Claim(places if mask is None else places[mask], branches))


def _check_no_nulls(array: pa.Array, avro: Any, mask: Mask) -> None:
    """Raises NoSizes where the decoder found nothing although the type has no null: a time before or beyond its day."""
    if array.null_count and avro != "null" and (mask is None or not _valid(array)[mask].all()):
        raise NoSizes("a value that the decoder did not understand")


def _behind(places: Places, sizes: Sizes | int) -> Places:
    return None if places is None else places + sizes


def _both(valid: npt.NDArray[np.bool_], mask: Mask) -> npt.NDArray[np.bool_]:
    return valid if mask is None else valid & mask


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
#: Elements without a branch and without booleans.
_SELF_EVIDENT = frozenset(_PRIMITIVES) - {"boolean"}
