"""The least and greatest value of a column, in the wrappers of the metadata table, spec "Indexes > Column Stats".

    type of the column          wrapper                             value
    boolean                     BooleanWrapper
    int, short, byte            IntWrapper
    long                        LongWrapper
    float, double               FloatWrapper, DoubleWrapper         see below
    string                      StringWrapper                       order of the UTF-8 bytes
    binary                      BytesWrapper                        order of the unsigned bytes
    date                        DateWrapper                         days since 1970
    time, timestamp             IntWrapper, LongWrapper             the number in the column's unit
    decimal                     DecimalWrapper                      the number

What of this is stored depends on the version of the index (`value_types`).

Deployed writers take the statistics of a Parquet file as they are. These have no range if a value is a NaN or a text is long,
and the stored range is then false. Here the range is that of the values: a NaN is greater than all numbers, as in Spark, and a
zero bound is -0.0 below and 0.0 above, so that it holds for zeros of either sign.
"""

import math
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.metadata.records import Bound
from hudi_reference.requirement import implements

#: Least and greatest value; None for a column without values.
Bounds = tuple[Bound, Bound] | None
_EXACT = Context(prec=100)


@implements("MDT-014")
def bounds_of(values: pa.ChunkedArray) -> Bounds:
    """The bounds of the values of a column, nulls left out; None if there are none."""
    found = values.drop_null()
    if len(found) == 0:
        return None
    if pt.is_floating(found.type):
        least, greatest = _ends_of_floats(found)
    else:
        ends = pc.min_max(_numbers(found))
        least, greatest = ends["min"].as_py(), ends["max"].as_py()
    return Bound(wrapper_of(found.type), least), Bound(wrapper_of(found.type), greatest)


@implements("MDT-014")
def bounds_in_footer(kind: pa.DataType, least: Any, greatest: Any) -> Bounds:
    """The bounds in the footer of a Parquet file, from the physical values of a column of that type.

    None if they are no values of the type.
    """
    try:
        ends = _logical_value(kind, least), _logical_value(kind, greatest)
    except UnicodeDecodeError:
        return None
    wrapper = wrapper_of(kind)
    return Bound(wrapper, ends[0]), Bound(wrapper, ends[1])


def wrapper_of(kind: pa.DataType) -> str:
    """The wrapper of values of a type."""
    return next(wrapper for is_kind, wrapper in _WRAPPERS if is_kind(kind))


_WRAPPERS: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pt.is_boolean, "BooleanWrapper"),
    (lambda kind: pt.is_integer(kind) and kind.bit_width <= 32, "IntWrapper"),
    (pt.is_integer, "LongWrapper"),
    (pt.is_float64, "DoubleWrapper"),
    (pt.is_floating, "FloatWrapper"),
    (lambda kind: pt.is_string(kind) or pt.is_large_string(kind), "StringWrapper"),
    (lambda kind: pt.is_binary(kind) or pt.is_large_binary(kind), "BytesWrapper"),
    (pt.is_date, "DateWrapper"),
    (pt.is_decimal, "DecimalWrapper"),
    (pt.is_time32, "IntWrapper"),
    (lambda kind: pt.is_time(kind) or pt.is_timestamp(kind), "LongWrapper"),
)


def convert_bound(bound: Bound, kind: pa.DataType) -> Bound | None:
    """The bound of a file as one of the column's present type, which may be wider; None if it says nothing about that type."""
    wrapper = wrapper_of(kind)
    if bound.wrapper == wrapper:
        return bound
    if wrapper in _WIDER.get(bound.wrapper, ()):
        return Bound(wrapper, float(bound.value) if wrapper in _FLOATING else bound.value)
    return None


_FLOATING = ("FloatWrapper", "DoubleWrapper")
_WIDER = {
    "IntWrapper": ("LongWrapper", "FloatWrapper", "DoubleWrapper"),
    "LongWrapper": ("FloatWrapper", "DoubleWrapper"),
    "FloatWrapper": ("DoubleWrapper",),
}


def _ends_of_floats(values: pa.ChunkedArray) -> tuple[float, float]:
    numbers = values.filter(pc.invert(pc.is_nan(values)))
    if len(numbers) == 0:
        return math.nan, math.nan
    least, greatest = (end.as_py() for end in pc.min_max(numbers).values())
    greatest = math.nan if len(numbers) < len(values) else greatest
    return (-0.0 if least == 0 else least), (0.0 if greatest == 0 else greatest)


def _numbers(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates and times as their numbers; other values as they are."""
    if pt.is_temporal(values.type):
        return values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return values


def _logical_value(kind: pa.DataType, value: Any) -> Any:
    if pt.is_decimal(kind):
        number = int.from_bytes(value, "big", signed=True) if isinstance(value, bytes) else value
        return Decimal(number).scaleb(-kind.scale, _EXACT)
    if pt.is_string(kind) or pt.is_large_string(kind):
        return value.decode()
    return value
