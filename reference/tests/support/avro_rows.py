"""Avro schemas of every kind with rows that fit, for tests that draw them."""

import decimal
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from hudi_reference.schema.avro import arrow_schema
from hudi_reference.schema.avro_codec import to_avro

Values = st.SearchStrategy[Any]
INTS, LONGS = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
SMALL = st.integers(-70, 70)


def _decimals(precision: int, scale: int) -> Values:
    edge = st.sampled_from([0, 1, -1, 127, 128, -128, -129, 32767, -32768, 10**precision - 1, 1 - 10**precision])
    fits = st.integers(1 - 10**precision, 10**precision - 1) | edge.filter(lambda number: abs(number) < 10**precision)
    return fits.map(lambda number: decimal.Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale)))


def _logical(kind: str, name: str) -> dict[str, Any]:
    return {"type": kind, "logicalType": name}


_BYTES_DECIMAL = {**_logical("bytes", "decimal"), "precision": 38, "scale": 6}
#: Types without a name, and the values of their columns: numbers for dates, times and timestamps.
LEAVES: list[tuple[Any, Values]] = [
    ("boolean", st.booleans()),
    ("int", INTS | SMALL),
    ("long", LONGS | SMALL),
    ("float", st.floats(width=32) | st.just(-0.0)),
    ("double", st.floats() | st.just(-0.0)),
    ("bytes", st.binary(max_size=70)),
    ("string", st.text(max_size=70)),
    (_logical("string", "uuid"), st.uuids().map(str)),
    (_logical("int", "date"), INTS),
    (_logical("int", "time-millis"), st.integers(0, 86_399_999)),
    (_logical("long", "time-micros"), st.integers(0, 86_399_999_999)),
    (_logical("long", "timestamp-millis"), LONGS),
    (_logical("long", "timestamp-micros"), LONGS),
    (_logical("long", "local-timestamp-millis"), LONGS),
    (_logical("long", "local-timestamp-micros"), LONGS),
    (_BYTES_DECIMAL, _decimals(38, 6)),
    ({**_logical("bytes", "decimal"), "precision": 4}, _decimals(4, 0)),
    ("null", st.none()),
]
Drawn = tuple[Any, Values]
Draw = Callable[[Values], Any]


class Names:
    """Names that no two types of a schema share, and the named types that were drawn before."""

    def __init__(self) -> None:
        self.count = 0
        self.known: list[Drawn] = []

    def new(self) -> str:
        """The next name, with its namespace."""
        self.count += 1
        return f"space{self.count % 3}.t{self.count}"


def _named(names: Names, draw: Draw) -> Drawn:
    name, size = names.new(), draw(st.integers(1, 12))
    symbols = [f"S{place}" for place in range(draw(st.integers(1, 70)))]
    drawn: Drawn = draw(
        st.sampled_from(
            [
                ({"type": "fixed", "name": name, "size": size}, st.binary(min_size=size, max_size=size)),
                ({"type": "enum", "name": name, "symbols": symbols}, st.sampled_from(symbols)),
                ({"type": "fixed", "name": name, "size": 9, "logicalType": "decimal", "precision": 18, "scale": 3},
                 _decimals(18, 3)),
            ]
        )
    )  # fmt: skip
    names.known.append((drawn[0]["name"], drawn[1]))
    return drawn


def _type(names: Names, draw: Draw, depth: int) -> Drawn:
    """A type and its values, nested at most so deep."""
    kinds = ["leaf", "leaf", "named", *(["known"] if names.known else [])]
    kinds += ["union", "record", "array", "map"] if depth else ["union"]
    return _MAKERS[draw(st.sampled_from(kinds))](names, draw, depth)


def _union(names: Names, draw: Draw, depth: int) -> Drawn:
    avro, values = _not_null(names, draw, depth) if depth else draw(st.sampled_from(LEAVES[:-1]))
    return draw(st.sampled_from([["null", avro], [avro, "null"]])), st.none() | values


def _record(names: Names, draw: Draw, depth: int) -> Drawn:
    fields, values = record(names, draw, depth - 1)
    return {"type": "record", "name": names.new(), "fields": fields}, values


def _array(names: Names, draw: Draw, depth: int) -> Drawn:
    avro, values = _of_bytes(names, draw, depth - 1)
    return {"type": "array", "items": avro}, st.lists(values, max_size=4)


def _map(names: Names, draw: Draw, depth: int) -> Drawn:
    avro, values = _of_bytes(names, draw, depth - 1)
    pairs = st.dictionaries(st.text(max_size=3), values, max_size=3).map(lambda found: list(found.items()))
    return {"type": "map", "values": avro}, pairs


_MAKERS: dict[str, Callable[[Names, Draw, int], Drawn]] = {
    "leaf": lambda names, draw, depth: draw(st.sampled_from(LEAVES)),
    "known": lambda names, draw, depth: draw(st.sampled_from(names.known)),
    "named": lambda names, draw, depth: _named(names, draw),
    "union": _union,
    "record": _record,
    "array": _array,
    "map": _map,
}


def _not_null(names: Names, draw: Draw, depth: int) -> Drawn:
    """A type that is neither null nor a union."""
    return _until(lambda avro: avro != "null" and not isinstance(avro, list), names, draw, depth)


def _of_bytes(names: Names, draw: Draw, depth: int) -> Drawn:
    """A type whose values take a byte or more."""
    return _until(lambda avro: isinstance(avro, list) or "null" not in str(avro), names, draw, depth)


def _until(fits: Callable[[Any], bool], names: Names, draw: Draw, depth: int) -> Drawn:
    """A type that fits; names that were drawn for others are forgotten."""
    while True:
        known = list(names.known)
        drawn = _type(names, draw, depth)
        if fits(drawn[0]):
            return drawn
        names.known = known


def record(names: Names, draw: Draw, depth: int) -> tuple[list[dict[str, Any]], Values]:
    """The fields of a record and its values."""
    drawn = [_type(names, draw, depth) for _ in range(draw(st.integers(1, 4)))]
    fields = [{"name": f"f{place}", "type": avro} for place, (avro, _) in enumerate(drawn)]
    return fields, st.fixed_dictionaries({f"f{place}": values for place, (_, values) in enumerate(drawn)})


@st.composite
def schemas_and_rows(draw: Draw, depth: int = 2, most: int = 8) -> tuple[dict[str, Any], pa.Table]:
    """A record schema and rows of it, as Arrow makes them from plain values."""
    fields, values = record(Names(), draw, depth)
    schema = {"type": "record", "name": "top", "namespace": "space", "fields": fields}
    rows = draw(st.lists(values, min_size=1, max_size=most))
    columns = arrow_schema(schema)
    return schema, pa.table([pa.array([row[f.name] for row in rows], f.type) for f in columns], schema=columns)


def types_and_values(rows: pa.Table) -> str:
    """Types and values, such that NaN is NaN and -0.0 is not 0.0."""
    rows.validate(full=True)
    return f"{rows.schema}\n{to_avro(rows)}"


def damaged(draw: st.DataObject, data: bytes, changes: int = 3) -> bytes:
    """Bytes changed, removed, repeated or put in, anywhere."""
    found = bytearray(data)
    for _ in range(draw.draw(st.integers(1, changes))):
        place = draw.draw(st.integers(0, max(0, len(found) - 1)))
        end = min(len(found), place + draw.draw(st.integers(0, 6)))
        some = st.binary(max_size=6) | st.just(bytes(found[place:end]) * 2)
        found[place:end] = draw.draw(some | st.sampled_from([b"\x00", b"\x02", b"\x80", b"\x80\x00", b"\x82\x00", b"\xff" * 9]))
    return bytes(found)
