"""The type of a column in statistics of index version V2: an ordinal and, for decimals, precision and scale.

    ordinal  type                        stored wrapper    bound
    1        no values                   none
    2 to 8   boolean, int, long, float,  of the same name  the value
             double, string, bytes
    9, 11    fixed bytes, UUID           Bytes, String     the value
    10       decimal                     Bytes             the unscaled number, in as few bytes as possible
    12       date                        Int               days since 1970
    13, 14   time                        Int, Long         the number in the column's unit
    15 to 20 timestamps                  Long              the number in the column's unit

Statistics of version V1 have no type; their wrappers say what the values are. In memory both are alike: a bound of a decimal is
a DecimalWrapper, that of a date a DateWrapper, whatever the version is.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import NamedTuple

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.metadata.records import Bound, ValueType
from hudi_reference.requirement import implements

_DIGITS = Context(prec=100)


class _Stored(NamedTuple):
    """The wrapper of a type in storage, and in memory."""

    wrapper: str
    bound: str


#: Ordinal -> wrappers.
_WRAPPERS: Mapping[int, _Stored] = {
    number: _Stored(stored, bound or stored)
    for number, stored, bound in (
        (1, "", ""), (2, "BooleanWrapper", ""), (3, "IntWrapper", ""), (4, "LongWrapper", ""), (5, "FloatWrapper", ""),
        (6, "DoubleWrapper", ""), (7, "StringWrapper", ""), (8, "BytesWrapper", ""), (9, "BytesWrapper", ""),
        (10, "BytesWrapper", "DecimalWrapper"), (11, "StringWrapper", ""), (12, "IntWrapper", "DateWrapper"),
        (13, "IntWrapper", ""), *((number, "LongWrapper", "") for number in range(14, 21)),
    )
}  # fmt: skip
#: The ordinals of types that functions here need.
NULL, _DECIMAL = 1, 10
#: No value is known, so that there is no type: a log file that only deletes records.
NO_VALUES = ValueType(NULL)
_TIMESTAMPS = {"ms": 15, "us": 16, "ns": 17}
_LOCAL_TIMESTAMPS = {"ms": 18, "us": 19, "ns": 20}


@implements("MDT-014", "MDT-017")
def value_type_of(kind: pa.DataType) -> ValueType:
    """The type of the values of a column. Raises ValueError for a column that has no statistics."""
    if pt.is_decimal(kind):
        return ValueType(_DECIMAL, f"{kind.precision},{kind.scale}")
    if pt.is_timestamp(kind):
        return ValueType((_TIMESTAMPS if kind.tz else _LOCAL_TIMESTAMPS)[kind.unit])
    for is_kind, number in _ORDINALS:
        if is_kind(kind):
            return ValueType(number)
    raise ValueError(f"a column of type {kind} has no statistics")


_ORDINALS = (
    (pt.is_boolean, 2), (lambda kind: pt.is_integer(kind) and kind.bit_width <= 32, 3), (pt.is_integer, 4),
    (pt.is_float64, 6), (pt.is_floating, 5), (lambda kind: pt.is_string(kind) or pt.is_large_string(kind), 7),
    (lambda kind: pt.is_binary(kind) or pt.is_large_binary(kind), 8), (pt.is_date, 12), (pt.is_time32, 13), (pt.is_time, 14),
)  # fmt: skip


@implements("MDT-014", "MDT-017")
def bound_of_stored(stored: Bound, kind: ValueType) -> Bound:
    """The bound that is stored so. Raises ValueError for an unknown type, and for a wrapper that does not belong to it."""
    if kind.ordinal not in _WRAPPERS:
        raise ValueError(f"a value type with the ordinal {kind.ordinal}")
    known = _WRAPPERS[kind.ordinal]
    if stored.wrapper != known.wrapper:
        raise ValueError(f"a {stored.wrapper} of the value type {kind.ordinal}")
    if kind.ordinal != _DECIMAL:
        return Bound(known.bound, stored.value)
    assert isinstance(stored.value, bytes)
    number = int.from_bytes(stored.value, "big", signed=True)
    return Bound(known.bound, Decimal(number).scaleb(-_scale(kind), _DIGITS))


@implements("MDT-014", "MDT-017")
def stored_bound(bound: Bound, kind: ValueType, *, is_least: bool) -> Bound:
    """What is stored of a bound. A decimal with more digits after the point than its type is rounded outwards."""
    known = _WRAPPERS[kind.ordinal]
    if kind.ordinal != _DECIMAL:
        return Bound(known.wrapper, bound.value)
    assert isinstance(bound.value, Decimal)
    digits = bound.value.scaleb(_scale(kind), _DIGITS)
    number = int(digits.to_integral_value(ROUND_FLOOR if is_least else ROUND_CEILING))
    size = (number if number >= 0 else number + 1).bit_length() // 8 + 1
    return Bound(known.wrapper, number.to_bytes(size, "big", signed=True))


def typed_bound(bound: Bound | None, kind: ValueType) -> Bound | None:
    """A bound from an index of version V1, as statistics with this type of values have it."""
    return None if bound is None else replace(bound, wrapper=_WRAPPERS[kind.ordinal].bound)


def _scale(kind: ValueType) -> int:
    return int((kind.info or "").split(",")[1])
