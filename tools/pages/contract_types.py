"""The table of types in `docs/contract.md`: which Arrow types an answer may have for a type of Avro, and how values compare.

The accepted types are found by the code that compares: a sample value is converted to every Arrow type, and its canonical
value is compared with the expected one.
"""

import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from hudi_conformance.cases.values import canonical_from_arrow, canonical_from_json
from hudi_reference.schema.avro import arrow_schema, parse_schema

RECORD = {"type": "record", "name": "point", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["null", "int"]}]}


@dataclass(frozen=True)
class AvroType:
    """A row of the table: the type of Avro, a sample in Python and as expected rows have it, and the comparison."""

    title: str
    avro: Any
    sample: Any
    expected: Any
    compared: str

    @property
    def sent(self) -> pa.DataType:
        """The Arrow type of such a column in the rows of a `write`."""
        fields = [{"name": "column", "type": self.avro}]
        return arrow_schema(parse_schema({"type": "record", "name": "row", "fields": fields}, "schema")).field("column").type


_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
_MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5, 500_000)
_TIME = datetime.time(3, 4, 5, 500_000)


def _int(logical: str) -> dict[str, str]:
    return {"type": "int", "logicalType": logical}


def _long(logical: str) -> dict[str, str]:
    return {"type": "long", "logicalType": logical}


TYPES = (
    AvroType("boolean", "boolean", True, True, "equal"),
    AvroType("int", "int", 7, 7, "equal numbers, of any width; a floating-point number is wrong, also 7.0"),
    AvroType("long", "long", 7, "7", "equal numbers, of any width; a floating-point number is wrong, also 7.0"),
    AvroType(
        "float",
        "float",
        1.5,
        "1.5",
        "equal after rounding to 32 bits; NaN equals NaN, and -0.0 differs from 0.0; an integer is wrong",
    ),
    AvroType("double", "double", 1.5, "1.5", "equal 64-bit numbers; NaN and -0.0 as for float; an integer is wrong"),
    AvroType("string, uuid", "string", "ab", "ab", "equal code points, without normalization; binary is wrong"),
    AvroType("enum", {"type": "enum", "name": "e", "symbols": ["ab"]}, "ab", "ab", "the symbol as text"),
    AvroType("bytes", "bytes", b"\x0a\xff", "0aff", "equal bytes; text is wrong"),
    AvroType("fixed", {"type": "fixed", "name": "f", "size": 2}, b"\x0a\xff", "0aff", "equal bytes"),
    AvroType("date", _int("date"), datetime.date(2026, 1, 2), "2026-01-02", "the same day; a timestamp is wrong"),
    AvroType("time-millis", _int("time-millis"), _TIME, "03:04:05.5", "the same time of day, in any unit"),
    AvroType("time-micros", _long("time-micros"), _TIME, "03:04:05.5", "the same time of day, in any unit"),
    AvroType(
        "timestamp-millis, timestamp-micros",
        _long("timestamp-micros"),
        _MOMENT,
        "2026-01-02T03:04:05.5Z",
        "the same moment, in any unit; the zone of the Arrow type is ignored, and a type without zone counts as UTC",
    ),
    AvroType(
        "local-timestamp-millis, local-timestamp-micros",
        _long("local-timestamp-micros"),
        _MOMENT,
        "2026-01-02T03:04:05.5",
        "the same date and time of day, in any unit; of a type with a zone the UTC value counts",
    ),
    AvroType("decimal", _DECIMAL, Decimal("1.50"), "1.50", "equal numbers; precision and scale may differ; text is wrong"),
    AvroType(
        "record",
        RECORD,
        {"x": 1, "y": None},
        {"x": 1, "y": None},
        "by name, in any order of fields; a missing field is wrong, also if null is expected; so is an additional one",
    ),
    AvroType(
        "array",
        {"type": "array", "items": "int"},
        [1, 2],
        [1, 2],
        "item by item, in order; the name of the item field (`item`, `element`) is ignored; null differs from an empty array",
    ),
    AvroType(
        "map",
        {"type": "map", "values": "int"},
        [("b", 1), ("a", 2)],
        {"a": 2, "b": 1},
        "by key, in any order; names of the entry fields are ignored; a key twice is wrong; null differs from an empty map",
    ),
)

#: Arrow types by their names in the table. `natural` stands for the type of the row itself.
_PLAIN: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    **{f"int{bits}": getattr(pa, f"int{bits}")() for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": getattr(pa, f"uint{bits}")() for bits in (8, 16, 32, 64)},
    **{f"float{bits}": getattr(pa, f"float{bits}")() for bits in (16, 32, 64)},
    "utf8": pa.string(),
    "large_utf8": pa.large_string(),
    "utf8_view": pa.string_view(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "fixed_size_binary": pa.binary(2),
    "date32": pa.date32(),
    "date64": pa.date64(),
    "time32(s, ms)": pa.time32("ms"),
    "time64(us, ns)": pa.time64("ns"),
    "timestamp(any unit)": pa.timestamp("ms"),
    "timestamp(any unit, any zone)": pa.timestamp("ns", "Asia/Tokyo"),
    "decimal32": pa.decimal32(9, 2),
    "decimal64": pa.decimal64(18, 4),
    "decimal128": pa.decimal128(38, 2),
    "decimal256": pa.decimal256(76, 10),
    "struct": pa.struct([("y", pa.int64()), ("x", pa.int8())]),
    "list": pa.list_(pa.int64()),
    "large_list": pa.large_list(pa.int64()),
    "fixed_size_list": pa.list_(pa.int64(), 2),
    "list_view": pa.list_view(pa.int64()),
    "map": pa.map_(pa.string(), pa.int64()),
}


def accepted_types(row: AvroType) -> Iterator[str]:
    """The names of the Arrow types whose values the comparison takes for values of the type."""
    right = canonical_from_json(row.expected, row.avro)
    for name, kind in _PLAIN.items():
        value = _converted(row, kind)
        if value is not None and canonical_from_arrow(value, row.avro) == right:
            yield name


def _converted(row: AvroType, kind: pa.DataType) -> pa.Scalar | None:
    """The sample in another Arrow type; None if Arrow has no such conversion."""
    natural = pa.array([row.sample], row.sent)
    try:
        return natural.cast(kind)[0]
    except pa.ArrowException:
        pass
    try:
        return pa.array([row.sample], kind)[0]
    except (pa.ArrowException, TypeError, ValueError):
        return None


def type_table() -> list[str]:
    """The lines of the table."""
    lines = [
        "| Avro type | the suite sends | an answer may have | expected rows have | values are compared |",
        "|---|---|---|---|---|",
    ]
    for row in TYPES:
        names = ", ".join(f"`{name}`" for name in _folded(list(accepted_types(row))))
        expected = json.dumps(row.expected)
        lines.append(f"| {row.title} | `{row.sent}` | {names} | `{expected}` | {row.compared} |")
    return lines


def _folded(names: list[str]) -> list[str]:
    """The names, those of a whole series of widths as one."""
    series = {
        "int8 … int64": ["int8", "int16", "int32", "int64"],
        "uint8 … uint64": ["uint8", "uint16", "uint32", "uint64"],
        "float16, float32, float64": ["float16", "float32", "float64"],
        "decimal32 … decimal256": ["decimal32", "decimal64", "decimal128", "decimal256"],
    }
    for short, whole in series.items():
        if all(name in names for name in whole):
            names[names.index(whole[0])] = short
            names = [name for name in names if name not in whole]
    return names
