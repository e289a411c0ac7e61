"""Canonical values: one text for one value, however an engine encodes it.

A value is canonical for the type that the case declares: 64-bit integers, decimals, floating-point numbers, dates and
timestamps become text (`"10"`, `"1.50"`, `"-0.0"`, `"NaN"`, `"2026-11-21"`, `"2026-11-21T13:00:00.5Z"`), binary becomes
hex, structs and maps become dictionaries, null stays None. What an Arrow value cannot stand for is not converted but
named: a string where a long is declared becomes `'10' (string)`, which equals nothing that is expected.
"""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal, InvalidOperation
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

#: The type of a column: an Avro type name, `decimal(p,s)`, a logical type's name, or an Avro schema as a JSON value.
Type = Any

#: Bits of the types whose values are text: not every reader of JSON keeps all their digits.
_WIDEST = 64

#: More digits than an Arrow decimal has at any scale.
_ALL_DIGITS = Context(prec=200)

NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
DAY = 86_400 * NANOS["s"]

#: Arrow types that can stand for a value of the declared type.
FAMILIES: dict[str, Callable[[pa.DataType], bool]] = {
    "boolean": pt.is_boolean,
    "int": pt.is_integer,
    "long": pt.is_integer,
    "float": pt.is_floating,
    "double": pt.is_floating,
    "string": lambda t: pt.is_string(t) or pt.is_large_string(t) or pt.is_string_view(t),
    "bytes": lambda t: any(f(t) for f in (pt.is_binary, pt.is_large_binary, pt.is_fixed_size_binary, pt.is_binary_view)),
    "date": pt.is_date,
    "time": pt.is_time,
    "timestamp": pt.is_timestamp,
    "local-timestamp": pt.is_timestamp,
    "decimal": pt.is_decimal,
    "record": pt.is_struct,
    "map": pt.is_map,
    "array": lambda t: any(f(t) for f in (pt.is_list, pt.is_large_list, pt.is_fixed_size_list)),
}

_ALIASES = {"enum": "string", "uuid": "string", "fixed": "bytes"}


class UnknownType(ValueError):
    """A declared type that is not one of those a case can use."""


def type_family(declared: Type) -> str:
    """The key of `FAMILIES` for a declared type; raises `UnknownType`."""
    name: str = _name(_plain(declared))
    for suffix in ("-millis", "-micros", "-nanos"):
        name = name.removesuffix(suffix)
    name = _ALIASES.get(name, name)
    if name not in FAMILIES:
        raise UnknownType(f"{declared!r} is not a type that a case can declare")
    return name


def _plain(declared: Type) -> Type:
    """The type without null and without wrapping."""
    if isinstance(declared, list):
        branches = [t for t in declared if t != "null"]
        if len(branches) != 1:
            raise UnknownType(f"a union of {len(branches)} types other than null: {declared!r}")
        return _plain(branches[0])
    if isinstance(declared, dict) and "logicalType" not in declared and isinstance(declared["type"], dict | list):
        return _plain(declared["type"])
    return declared


def _name(declared: Type) -> str:
    if isinstance(declared, dict):
        return str(declared.get("logicalType", declared["type"]))
    return str(declared).partition("(")[0]


def _scale(declared: Type) -> int:
    if isinstance(declared, dict):
        return int(declared.get("scale", 0))
    return int(declared.partition("(")[2].rstrip(")").split(",")[1])


def type_of_arrow(kind: pa.DataType) -> Type:
    """The type that a case would declare for values of an Arrow type: where a file alone says what its rows are."""
    if pt.is_dictionary(kind):
        return type_of_arrow(kind.value_type)
    name = next((name for name, holds in FAMILIES.items() if holds(kind)), "string")
    return _DECLARED[name](kind) if name in _DECLARED else name


_DECLARED: dict[str, Callable[[pa.DataType], Type]] = {
    "int": lambda t: "int" if t.bit_width < _WIDEST and not pt.is_uint32(t) else "long",
    "float": lambda t: "float" if t.bit_width < _WIDEST else "double",
    "timestamp": lambda t: "local-timestamp" if t.tz is None else "timestamp",
    "decimal": lambda t: f"decimal({t.precision},{t.scale})",
    "record": lambda t: {"type": "record", "fields": [{"name": f.name, "type": type_of_arrow(f.type)} for f in t]},
    "map": lambda t: {"type": "map", "values": type_of_arrow(t.item_type)},
    "array": lambda t: {"type": "array", "items": type_of_arrow(t.value_type)},
}


def canonical_from_arrow(value: pa.Scalar, declared: Type) -> Any:
    """The canonical value of an Arrow scalar."""
    if pt.is_dictionary(value.type):
        value = value.value
    if not value.is_valid:
        return None
    declared = _plain(declared)
    kind = type_family(declared)
    if not FAMILIES[kind](value.type):
        return f"{_text(value)} ({value.type})"
    return _FROM_ARROW[kind](value, declared)


def _text(value: pa.Scalar) -> str:
    """A value in a message. Python's times have neither nanoseconds nor years beyond 9999; Arrow's own text has."""
    try:
        return repr(value.as_py())
    except (ValueError, OverflowError):
        return str(value.cast(pa.string()).as_py())


def canonical_from_json(value: Any, declared: Type) -> Any:
    """The canonical value of what a file of expected rows holds; raises ValueError if it is none of the type."""
    if value is None:
        return None
    declared = _plain(declared)
    kind = type_family(declared)
    try:
        return _FROM_JSON[kind](value, declared)
    except (TypeError, AttributeError, InvalidOperation) as error:
        raise ValueError(f"{value!r} is no {declared!r}: {error}") from error


def _number(value: float, declared: Type) -> str:
    """The shortest text that gives the same floating-point number of the declared width; the sign of zero is kept."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if _name(declared) == "float":
        with np.errstate(over="ignore"):
            value = float(str(np.float32(value)))
    return repr(value)


def _decimal(value: Decimal, declared: Type) -> str:
    """Plain digits at the declared scale; a value that has more digits keeps them, and so differs."""
    fitted = value.quantize(Decimal(1).scaleb(-_scale(declared)), context=_ALL_DIGITS)
    return format(fitted if fitted == value else value, "f")


def _moment(nanos: int, zone: str) -> str:
    """ISO text of nanoseconds since 1970, fraction without trailing zeros; years beyond 9999 too."""
    seconds, fraction = divmod(nanos, NANOS["s"])
    text = str(np.datetime64(seconds, "s"))
    return f"{text}.{fraction:09}".rstrip("0").rstrip(".") + zone


def format_timestamp(value: pa.Scalar, zone: str) -> str:
    """ISO text of an Arrow timestamp of any unit, `zone` at its end."""
    return _moment(value.value * NANOS[value.type.unit], zone)


def _moment_of_arrow(value: pa.Scalar, declared: Type) -> str:
    return format_timestamp(value, _zone(declared))


def _zone(declared: Type) -> str:
    return "" if _name(declared).startswith("local-") else "Z"


def _moment_of_text(text: str, declared: Type) -> str:
    """ISO text with any offset (UTC if it has none) and up to nine digits of fraction, made canonical."""
    whole, dot, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))] if dot else ""
    parsed = datetime.fromisoformat(whole + rest[len(digits) :])
    parsed = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    seconds = (parsed - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution * 1_000_000)
    return _moment(seconds * NANOS["s"] + int(digits.ljust(9, "0")), _zone(declared))


def _day_of_arrow(value: pa.Scalar, declared: Type) -> str:
    days = value.value if pt.is_date32(value.type) else value.value // 86_400_000
    return str(np.datetime64(days, "D"))


def _time_of_arrow(value: pa.Scalar, declared: Type) -> str:
    return _moment(value.value * NANOS[value.type.unit], "").partition("T")[2]


def _time_of_text(text: str, declared: Type) -> str:
    parsed = time.fromisoformat(text)
    return _moment_of_text(f"1970-01-01T{parsed.isoformat()}", "local-timestamp").partition("T")[2]


def _fields(declared: Type) -> Mapping[str, Type]:
    return {f["name"]: f["type"] for f in declared["fields"]}


def _struct_of_arrow(value: pa.Scalar, declared: Type) -> dict[str, Any]:
    """All declared fields by name, null where absent; fields that are not declared are kept as they are."""
    fields = _fields(declared)
    names = {value.type.field(i).name for i in range(value.type.num_fields)}
    known = {n: canonical_from_arrow(value[n], t) if n in names else "(no such field)" for n, t in fields.items()}
    return known | {n: f"{_text(value[n])} (not declared)" for n in sorted(names - fields.keys())}


def _struct_of_json(value: Mapping[str, Any], declared: Type) -> dict[str, Any]:
    fields = _fields(declared)
    if strange := value.keys() - fields.keys():
        raise ValueError(f"fields that the type does not have: {sorted(strange)}")
    return {n: canonical_from_json(value.get(n), t) for n, t in fields.items()}


def _list_of_arrow(value: pa.Scalar, declared: Type) -> list[Any]:
    return [canonical_from_arrow(item, declared["items"]) for item in value]


def _list_of_json(value: list[Any], declared: Type) -> list[Any]:
    return [canonical_from_json(item, declared["items"]) for item in value]


def _map_of_arrow(value: pa.Scalar, declared: Type) -> Any:
    """A dictionary, keys sorted: maps have no order. A map that holds a key twice stays a list of its entries."""
    entries = [(e["key"].as_py(), canonical_from_arrow(e["value"], declared["values"])) for e in value.values]
    found = dict(sorted(entries, key=lambda e: e[0]))
    return found if len(found) == len(entries) else [list(e) for e in entries]


def _map_of_json(value: Mapping[str, Any], declared: Type) -> dict[str, Any]:
    return {k: canonical_from_json(v, declared["values"]) for k, v in sorted(value.items())}


def _exactly(kind: type) -> Callable[[Any, Type], Any]:
    def same(value: Any, declared: Type) -> Any:
        if type(value) is not kind:
            raise TypeError(f"{type(value).__name__} where {kind.__name__} belongs")
        return value

    return same


@cache
def _integer_text(kind: str) -> Callable[[Any], Any]:
    """64-bit integers are text: not every reader of JSON keeps all their digits."""
    return str if kind == "long" else int


def _integer_of_json(value: Any, declared: Type) -> Any:
    if isinstance(value, bool | float):
        raise TypeError("not an integer")
    return _integer_text(_name(declared))(int(value))


_FROM_ARROW: dict[str, Callable[[pa.Scalar, Type], Any]] = {
    "boolean": lambda v, t: v.as_py(),
    "int": lambda v, t: _integer_text(_name(t))(v.as_py()),
    "long": lambda v, t: _integer_text(_name(t))(v.as_py()),
    "float": lambda v, t: _number(float(v.as_py()), t),
    "double": lambda v, t: _number(float(v.as_py()), t),
    "string": lambda v, t: v.as_py(),
    "bytes": lambda v, t: v.as_py().hex(),
    "date": _day_of_arrow,
    "time": _time_of_arrow,
    "timestamp": _moment_of_arrow,
    "local-timestamp": _moment_of_arrow,
    "decimal": lambda v, t: _decimal(v.as_py(), t),
    "record": _struct_of_arrow,
    "map": _map_of_arrow,
    "array": _list_of_arrow,
}

_FROM_JSON: dict[str, Callable[[Any, Type], Any]] = {
    "boolean": _exactly(bool),
    "int": _integer_of_json,
    "long": _integer_of_json,
    "float": lambda v, t: _number(float(v), t),
    "double": lambda v, t: _number(float(v), t),
    "string": _exactly(str),
    "bytes": lambda v, t: bytes.fromhex(v).hex(),
    "date": lambda v, t: date.fromisoformat(v).isoformat(),
    "time": _time_of_text,
    "timestamp": _moment_of_text,
    "local-timestamp": _moment_of_text,
    "decimal": lambda v, t: _decimal(Decimal(v), t),
    "record": _struct_of_json,
    "map": _map_of_json,
    "array": _list_of_json,
}
