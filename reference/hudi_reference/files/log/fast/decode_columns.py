"""Decoding an Avro data block into columns: the fast twin of `content._decode_avro`.

The records of a part of the block are read in parallel, field by field; `vectorized_decoder` reads the values, this module
makes columns of them. It returns a result only if the plain code would return the same. Damaged and unusual contents are left
to the plain code, which also reports errors.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.errors import UnsupportedSchema
from hudi_reference.files.log.fast.vectorized_decoder import Cursors, Data, Longs, Unclear, record_places, require
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema
from hudi_reference.schema.avro_codec import codec_schema

#: Reads a value of each record.
Reader = Callable[[Cursors], pa.Array]
#: Records that are read side by side, and about how many bytes these have at most: they stay in the processor's cache.
_ROWS_AT_ONCE = 1 << 14
_BYTES_AT_ONCE = 1 << 22


@implements("BLK-020", "BLK-021", "BLK-022")
def decode_avro_columns(
    data: memoryview | bytes, schema: AvroSchema, count: int, wanted: Collection[str] | None = None
) -> pa.Table | None:
    """The `count` rows in `data`; None if the plain code has to decode them, because they are damaged or unusual.

    Columns that are not `wanted` are skipped if their type allows it; other columns are decoded too.
    """
    try:
        every = arrow_schema(schema)
        columns = pa.schema([_skipped_field(field, schema, wanted) for field in every])
        read = _record(codec_schema(schema, "none").parsed, pa.struct(list(columns)), {})
        starts, ends = record_places(data, count)
        at_once = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE * count // (len(data) + 1)))
        parts = [slice(first, first + at_once) for first in range(0, count, at_once)]
        found = pa.Table.from_batches([_decode_batch(data, starts[part], ends[part], read) for part in parts], columns)
        rows = found.select([field.name for field, decoded in zip(every, columns, strict=True) if field.type == decoded.type])
    except (Unclear, UnsupportedSchema, RecursionError, pa.ArrowException):
        return None
    return rows


def _skipped_field(field: pa.Field, schema: AvroSchema, wanted: Collection[str] | None) -> pa.Field:
    """The field of a column; of type null if its values are not wanted and can be skipped."""
    if wanted is None or field.name in wanted:
        return field
    types = {entry["name"]: entry["type"] for entry in schema["fields"]}[field.name]
    branches = types if isinstance(types, list) else [types]
    return pa.field(field.name, pa.null()) if all(branch in _CAN_BE_PASSED_OVER for branch in branches) else field


def _decode_batch(data: memoryview | bytes, starts: Longs, ends: Longs, read: Reader) -> pa.RecordBatch:
    first = int(starts[0])
    part = Data(data[first : int(ends[-1])])
    shift = part.first - first
    cursors = Cursors(part, starts + shift, ends + shift)
    rows = read(cursors)
    require((cursors.places == cursors.ends).all(), "records whose ends differ from their lengths")
    return pa.RecordBatch.from_struct_array(rows)


def _reader(avro: Any, kind: pa.DataType, known: dict[str, Any]) -> Reader:
    """The reader of an Avro type into an Arrow array of `kind`; `known` has the named types defined so far."""
    if isinstance(avro, list):
        return _union(avro, kind, known)
    name = avro if isinstance(avro, str) else avro["type"]
    if name in known:
        return _reader(known[name], kind, known)
    if isinstance(avro, Mapping) and "name" in avro:
        known[avro["name"]] = avro
    require(name in _READERS, f"the type {name}")
    return _READERS[name](avro, kind, known)


def _union(avro: list[Any], kind: pa.DataType, known: dict[str, Any]) -> Reader:
    """A union of a type and null: the first byte is twice the index of the branch."""
    types = [branch for branch in avro if branch != "null"]
    require(len(avro) <= 2 and len(types) == 1, "a union other than of a type and null")
    inner, of_value = _reader(types[0], kind, known), 2 * avro.index(types[0])
    of_null = 2 * avro.index("null") if "null" in avro else of_value

    def read(cursors: Cursors) -> pa.Array:
        branch = cursors.byte()
        valid = branch == of_value
        if valid.all():
            return inner(cursors)
        require((valid | (branch == of_null)).all(), "an invalid branch")
        if not valid.any():
            return pa.nulls(len(valid), kind)
        some = cursors.of(valid)
        found = inner(some)
        cursors.follow(valid, some)
        return found.take(pa.array(np.cumsum(valid) - 1, mask=~valid))

    return read


def _record(avro: Mapping[str, Any], kind: pa.StructType, known: dict[str, Any]) -> Reader:
    readers = [_reader(field["type"], part.type, known) for field, part in zip(avro["fields"], kind, strict=True)]
    require(readers, "a record without fields")
    return lambda cursors: pa.StructArray.from_arrays([read(cursors) for read in readers], fields=list(kind))


def _array(avro: Mapping[str, Any], kind: pa.ListType, known: dict[str, Any]) -> Reader:
    elements = _elements(_reader(avro["items"], kind.value_type, known), width=_WIDTHS.get(str(avro["items"])))

    def read(cursors: Cursors) -> pa.Array:
        counts, (values,) = elements(cursors)
        return pa.ListArray.from_arrays(_offsets(counts), values, type=kind)

    return read


def _map(avro: Mapping[str, Any], kind: pa.MapType, known: dict[str, Any]) -> Reader:
    elements = _elements(_text("string", kind.key_type, known), _reader(avro["values"], kind.item_type, known))

    def read(cursors: Cursors) -> pa.Array:
        counts, (keys, values) = elements(cursors)
        _check_different(keys, counts)
        return pa.MapArray.from_arrays(_offsets(counts), keys, values, type=kind)

    return read


def _check_different(keys: pa.Array, counts: Longs) -> None:
    """Raises Unclear for a map with a duplicate key, which the plain code decodes: the later value counts."""
    codes = keys.dictionary_encode()
    rows = np.repeat(np.arange(len(counts)), counts)
    require(len(np.unique(rows * len(codes.dictionary) + codes.indices.to_numpy())) == len(keys), "a duplicate key")


def _offsets(counts: Longs) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())


def _elements(*readers: Reader, width: int | None = None) -> Callable[[Cursors], tuple[Longs, list[pa.Array]]]:
    """Reads the number of elements of each record, and the elements: at most one block of them, then a zero.

    Each of `readers` reads one part of an element into an array. `width` is the size of elements of a fixed size.
    """

    def read(cursors: Cursors) -> tuple[Longs, list[pa.Array]]:
        counts = cursors.number()
        require((counts >= 0).all() and (counts <= cursors.ends - cursors.places).all(), "more elements than bytes")
        which = np.flatnonzero(counts)
        some = cursors.of(which)
        found = (
            [_read_fixed_size(some, counts[which], readers[0], width)]
            if width
            else _read_in_rounds(some, counts[which], readers)
        )
        require(not some.byte().any(), "elements in several blocks")
        cursors.follow(which, some)
        return counts, found

    return read


def _read_fixed_size(cursors: Cursors, counts: Longs, reader: Reader, width: int) -> pa.Array:
    """Elements of a fixed size, whose offsets are known."""
    starts = cursors.skip(counts * width)
    record = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    nth = np.arange(len(record)) - before[record]
    return reader(Cursors(cursors.data, starts[record] + nth * width, cursors.ends[record]))


def _read_in_rounds(cursors: Cursors, counts: Longs, readers: Sequence[Reader]) -> list[pa.Array]:
    """Reads the first element of every record, then the second one, and so on; then restores their order."""
    longest = max(1, counts.max(initial=0))  # without elements, one empty round determines the types
    cursors.data.spend(longest)
    records, rounds = [], []
    for nth in range(longest):
        which = np.flatnonzero(counts > nth)
        some = cursors.of(which)
        rounds.append([read(some) for read in readers])
        cursors.follow(which, some)
        records.append(which)
    order = np.argsort(np.concatenate(records), kind="stable")
    return [pa.concat_arrays(found).take(order) for found in zip(*rounds, strict=True)]


def _array_of_values(kind: pa.DataType, values: npt.NDArray[Any]) -> pa.Array:
    """The array that uses the memory of these values."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _check_array(found: pa.Array) -> pa.Array:
    """Raises pyarrow.ArrowInvalid for a time beyond its day, a decimal of too many digits, a text that is not UTF-8."""
    found.validate(full=True)
    return found


def _int(avro: Any, kind: pa.DataType, known: dict[str, Any]) -> Reader:
    def read(cursors: Cursors) -> pa.Array:
        numbers = cursors.number()
        narrow = numbers.astype(np.int32)
        require((narrow == numbers).all(), "a number of more than 32 bits")
        return _array_of_values(kind, narrow)

    return _check_time_of_day(read, kind)


def _long(avro: Any, kind: pa.DataType, known: dict[str, Any]) -> Reader:
    return _check_time_of_day(lambda cursors: _array_of_values(kind, cursors.number()), kind)


def _check_time_of_day(read: Reader, kind: pa.DataType) -> Reader:
    """The reader with a check that times are within a day."""
    return (lambda cursors: _check_array(read(cursors))) if pt.is_time(kind) else read


def _boolean(avro: Any, kind: pa.DataType, known: dict[str, Any]) -> Reader:
    def read(cursors: Cursors) -> pa.Array:
        found = cursors.byte()
        require(found.max(initial=0) <= 1, "an invalid boolean")
        return pa.array(found.view(np.bool_))

    return read


def _enum(avro: Mapping[str, Any], kind: pa.DataType, known: dict[str, Any]) -> Reader:
    symbols = pa.array(avro["symbols"], kind)

    def read(cursors: Cursors) -> pa.Array:
        indexes = cursors.number()
        require(((indexes >= 0) & (indexes < len(symbols))).all(), "an invalid symbol")
        return symbols.take(pa.array(indexes))

    return read


def _fixed(avro: Mapping[str, Any], kind: pa.DataType, known: dict[str, Any]) -> Reader:
    size = int(avro["size"])  # JSON and Python accept true as a number
    require(size, "values of no bytes")
    if pt.is_decimal(kind):
        return lambda cursors: _decimals(cursors, np.full(len(cursors), size), kind)
    return lambda cursors: _array_of_values(kind, cursors.pieces(size))


def _floating(avro: Any, kind: pa.DataType, known: dict[str, Any]) -> Reader:
    width = _WIDTHS[avro if isinstance(avro, str) else avro["type"]]
    if pt.is_null(kind):
        return lambda cursors: pa.nulls(len(cursors.skip(np.full(len(cursors), width))))
    return lambda cursors: _array_of_values(kind, cursors.pieces(width))


def _text(avro: Any, kind: pa.DataType, known: dict[str, Any]) -> Reader:
    if pt.is_decimal(kind):
        return lambda cursors: _decimals(cursors, cursors.number(), kind)

    def read(cursors: Cursors) -> pa.Array:
        lengths = cursors.number()
        starts = cursors.skip(lengths)
        if pt.is_null(kind):
            return pa.nulls(len(cursors))
        values = _bytes_between(cursors.data, starts, cursors.places, kind)
        return values if pt.is_binary(kind) or _is_ascii(values) else _check_array(values)

    return read


def _bytes_between(data: Data, starts: Longs, ends: Longs, kind: pa.DataType) -> pa.Array:
    """The bytes between these offsets: the even elements of an array over all data, whose odd elements are the gaps."""
    offsets = np.empty((len(starts), 2), np.int32)
    offsets[:, 0], offsets[:, 1] = starts, ends
    every = pa.Array.from_buffers(kind, max(0, offsets.size - 1), [None, pa.py_buffer(offsets), data.buffer])
    return pc.take(every, pa.array(np.arange(0, offsets.size, 2, dtype=np.int32)), boundscheck=False)


def _is_ascii(values: pa.Array) -> bool:
    return bool(np.frombuffer(values.buffers()[2] or b"", np.uint8).max(initial=0) < 0x80)


def _decimals(cursors: Cursors, lengths: Longs, kind: pa.DataType) -> pa.Array:
    """Integers of 16 bytes and less in two's complement, the high bytes first."""
    require(((lengths > 0) & (lengths <= 16)).all(), "a decimal of no bytes, or many")
    cursors.skip(lengths)
    halves = cursors.data.pieces_at(cursors.places - 16, 16).view(">i8").reshape(-1, 2).astype(np.int64)
    high, low = halves[:, 0], halves[:, 1]
    foreign = 8 * (8 - np.where(lengths > 8, lengths - 8, lengths))
    short = (low << foreign) >> foreign
    low, high = np.where(lengths > 8, low, short), np.where(lengths > 8, (high << foreign) >> foreign, short >> 63)
    return _check_array(_array_of_values(kind, np.stack([low, high], axis=1)))


#: Types whose values can be skipped: the column then has the type null in the schema of the rows.
_CAN_BE_PASSED_OVER = ("null", "string", "bytes", "float", "double")
#: Bytes of each value, where all have the same.
_WIDTHS = {"boolean": 1, "float": 4, "double": 8}
_READERS: dict[str, Callable[[Any, Any, dict[str, Any]], Reader]] = {
    "null": lambda avro, kind, known: lambda cursors: pa.nulls(len(cursors)),
    "boolean": _boolean, "int": _int, "long": _long, "float": _floating, "double": _floating,
    "bytes": _text, "string": _text, "fixed": _fixed, "enum": _enum, "record": _record, "array": _array, "map": _map,
}  # fmt: skip
