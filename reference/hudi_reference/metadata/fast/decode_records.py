"""Decoding many records of the metadata table side by side: the fast twin of `decode_datum`.

The next field of all records is read at once. The result is that of the plain code. Damaged records, lists, and maps in few
records, are left to the plain code, which also reports errors.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Context
from typing import Any

import numpy as np

from hudi_reference.files.log.fast.vectorized_decoder import Cursors, Data, Unclear, require
from hudi_reference.requirement import implements
from hudi_reference.schema.avro_codec import CodecSchema

#: Reads a value of each record.
Reader = Callable[[Cursors], list[Any]]
#: Entries that maps have for each round of reading one of each map: with fewer the plain code is quicker.
_ENTRIES_A_ROUND = 20


@implements("MDT-003")
def decode_records(data: Sequence[memoryview | bytes], schema: CodecSchema) -> list[Any] | None:
    """The records as `decode_datum` with `named` returns them; None if the plain code has to decode them."""
    try:
        joined = Data(b"".join(data))
        lengths = np.fromiter(map(len, data), np.int64, len(data))
        ends = joined.first + np.cumsum(lengths)
        cursors = Cursors(joined, ends - lengths, ends)
        records = _reader_of(schema.parsed, {})(cursors)
        require((cursors.places == ends).all(), "records whose ends differ from their lengths")
    except (Unclear, UnicodeDecodeError):
        return None
    return records


def _reader_of(avro: Any, known: dict[str, Reader]) -> Reader:
    """The reader of an Avro type; `known` has those of the named types so far."""
    if isinstance(avro, list):
        return _union([_reader_of(branch, known) for branch in avro], [_record_name(branch, known) for branch in avro])
    if isinstance(avro, str) and avro in known:
        return known[avro]
    kind = avro if isinstance(avro, str) else avro["type"]
    if kind == "record":
        known[avro["name"]] = found = _record(avro, known)
        return found
    if isinstance(avro, Mapping) and "logicalType" in avro:
        return _decimal(avro) if (kind, avro["logicalType"]) == ("bytes", "decimal") else _left_to_plain_code
    if kind == "map":
        return _map(_reader_of(avro["values"], known))
    return _READERS.get(kind, _left_to_plain_code)


def _record_name(avro: Any, known: Mapping[str, Reader]) -> str | None:
    """The full name of a record; None for other types."""
    name = avro["name"] if isinstance(avro, Mapping) and avro["type"] == "record" else avro
    return name if isinstance(name, str) and name in known else None


def _record(avro: Mapping[str, Any], known: dict[str, Reader]) -> Reader:
    names = [field["name"] for field in avro["fields"]]
    readers = [_reader_of(field["type"], known) for field in avro["fields"]]

    def read(cursors: Cursors) -> list[Any]:
        columns = [reader(cursors) for reader in readers]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    return read if names else _left_to_plain_code


def _union(readers: list[Reader], names: list[str | None]) -> Reader:
    """The first byte is twice the index of the branch. Of several records, a value is a pair of name and record."""
    is_named = len([name for name in names if name]) > 1

    def read(cursors: Cursors) -> list[Any]:
        branches = cursors.byte()
        found: list[Any] = [None] * len(branches)
        for branch in np.unique(branches).tolist():
            require(branch % 2 == 0 and branch // 2 < len(readers), "an invalid branch")
            which = np.flatnonzero(branches == branch)
            some = cursors.of(which)
            values: list[Any] = readers[branch // 2](some)
            cursors.follow(which, some)
            if is_named and (name := names[branch // 2]):
                values = [(name, value) for value in values]
            if len(values) == len(branches):
                return values
            for place, value in zip(which.tolist(), values, strict=True):
                found[place] = value
        return found

    return read


def _map(read_value: Reader) -> Reader:
    """Maps of one block, as writers store them. A round reads the next entry of each map that has one more."""

    def read(cursors: Cursors) -> list[Any]:
        found: list[Any] = [{} for _ in range(len(cursors))]
        counts = cursors.number()
        rounds = int(counts.max(initial=0))
        require((counts >= 0).all() and counts.sum() >= rounds * _ENTRIES_A_ROUND, "blocks with sizes, or long maps")
        cursors.data.spend(rounds)
        for number in range(rounds):
            which = np.flatnonzero(counts > number)
            some = cursors.of(which)
            keys, values = _string(some), read_value(some)
            cursors.follow(which, some)
            for place, key, value in zip(which.tolist(), keys, values, strict=True):
                found[place][key] = value
        which = np.flatnonzero(counts)
        some = cursors.of(which)
        require((some.number() == 0).all(), "a map of several blocks")
        cursors.follow(which, some)
        return found

    return read


def _null(cursors: Cursors) -> list[Any]:
    return [None] * len(cursors)


def _boolean(cursors: Cursors) -> list[Any]:
    found = cursors.byte()
    require(found.max(initial=0) <= 1, "an invalid boolean")
    return list(found.view(np.bool_).tolist())


def _int(cursors: Cursors) -> list[Any]:
    numbers = cursors.number()
    require((numbers.astype(np.int32) == numbers).all(), "a number of more than 32 bits")
    return list(numbers.tolist())


def _long(cursors: Cursors) -> list[Any]:
    return list(cursors.number().tolist())


def _float(cursors: Cursors) -> list[Any]:
    return list(cursors.pieces(4).view("<f4").tolist())


def _double(cursors: Cursors) -> list[Any]:
    return list(cursors.pieces(8).view("<f8").tolist())


def _bytes(cursors: Cursors) -> list[Any]:
    starts = cursors.skip(cursors.number())
    view = memoryview(cursors.data.buffer)
    return [view[start:end].tobytes() for start, end in zip(starts.tolist(), cursors.places.tolist(), strict=True)]


def _string(cursors: Cursors) -> list[Any]:
    return [value.decode() for value in _bytes(cursors)]


def _decimal(avro: Mapping[str, Any]) -> Reader:
    context, scale = Context(prec=avro["precision"]), avro.get("scale", 0)

    def read(cursors: Cursors) -> list[Any]:
        numbers = (int.from_bytes(value, "big", signed=True) for value in _bytes(cursors))
        return [context.create_decimal(number).scaleb(-scale, context) for number in numbers]

    return read


def _left_to_plain_code(cursors: Cursors) -> list[Any]:
    raise Unclear("a type that the plain code decodes")


_READERS: Mapping[str, Reader] = {
    "null": _null, "boolean": _boolean, "int": _int, "long": _long, "float": _float, "double": _double,
    "bytes": _bytes, "string": _string,
}  # fmt: skip
