"""Type promotion: the types to which a column may be widened, and the conversion of its values, spec "Schema Evolution".

Two tables as data. `BY_NAME` has the promotions by a write, which readers follow that match columns by name. `BY_ID` has the
promotions by a statement that changes the schema, which readers follow that match columns by field id. Readers here follow
both.
"""

import decimal
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.java_text import texts_of
from hudi_reference.requirement import implements

#: From a type to the wider types, by their names in Avro.
BY_NAME: dict[str, tuple[str, ...]] = {
    "int": ("long", "float", "double", "string"),
    "long": ("float", "double", "string"),
    "float": ("double", "string"),
    "double": ("string",),
}
BY_ID: dict[str, tuple[str, ...]] = {
    "int": ("long", "float", "double", "string", "decimal"),
    "long": ("float", "double", "string", "decimal"),
    "float": ("double", "string", "decimal"),
    "double": ("string", "decimal"),
    "decimal": ("decimal", "string"),
    "date": ("string",),
    "bytes": ("string",),
    "string": ("bytes", "date", "decimal"),
}

Convert = Callable[[pa.Array, pa.DataType], pa.Array]


@implements("LF-038")
def can_promote(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a write may widen a column of type `found` to type `wanted`."""
    return kind_of(wanted) in BY_NAME.get(kind_of(found), ())


def conversion(found: pa.DataType, wanted: pa.DataType) -> Convert | None:
    """The conversion of stored values from one type to another; None if the tables have no such promotion.

    Types that differ only in their unit, or in their Arrow representation, count as the same type.
    """
    if pt.is_null(found) or pt.is_dictionary(found):
        return _cast
    here, there = kind_of(found), kind_of(wanted)
    if here == there and here != "decimal":
        return _convert_unit
    if _is_number_of(found, wanted) or _is_number_of(wanted, found):
        return _cast
    if there not in BY_ID.get(here, ()):
        return None
    return _STEPS.get((here, there)) or _STEPS.get(("", there)) or _cast


def _is_number_of(number: pa.DataType, time: pa.DataType) -> bool:
    """Whether one type is the plain number that represents the other.

    ORC has no times of day, and Parquet files of deployed writers may store a local timestamp as a long without a logical type.
    """
    may_be = pt.is_time(time) or (pt.is_timestamp(time) and time.tz is None)
    return bool(may_be and pt.is_integer(number) and number.bit_width == time.bit_width)


def kind_of(kind: pa.DataType) -> str:
    """The name of a type in these tables: that of Avro, or that of Arrow for types that are never promoted."""
    for name, is_kind in _KINDS.items():
        if is_kind(kind):
            return name
    return str(kind)


_KINDS: dict[str, Callable[[pa.DataType], bool]] = {
    "int": lambda kind: pt.is_integer(kind) and kind.bit_width <= 32,
    "long": pt.is_integer,
    "float": lambda kind: pt.is_float16(kind) or pt.is_float32(kind),
    "double": pt.is_float64,
    "string": lambda kind: pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind),
    "bytes": lambda kind: pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_fixed_size_binary(kind),
    "decimal": pt.is_decimal,
    "date": pt.is_date,
    "time": pt.is_time,
    "timestamp": pt.is_timestamp,
    "boolean": pt.is_boolean,
}


def _cast(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    return pc.cast(array, wanted)


def _convert_unit(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    return pc.cast(array, wanted, safe=not pt.is_timestamp(wanted))


def _widen_float(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """A stored float becomes the number with its shortest decimal text: 1.1 stays 1.1, and does not become 1.10000002384...

    An integer with more digits than the type becomes the nearest number.
    """
    if pt.is_floating(array.type):
        return pc.cast(pc.cast(array, pa.string()), wanted)
    return pc.cast(array, wanted, safe=False)


def _text(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    return texts_of(array).cast(wanted)


def _decimal(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Rounds digits beyond the scale half up. Raises pyarrow.ArrowInvalid for texts and numbers that are too long."""
    step, context = decimal.Decimal(1).scaleb(-wanted.scale), decimal.Context(prec=80, rounding=decimal.ROUND_HALF_UP)
    try:
        values = [
            None if text is None else decimal.Decimal(text).quantize(step, context=context)
            for text in texts_of(array).to_pylist()
        ]
    except decimal.InvalidOperation as error:
        raise pa.ArrowInvalid(f"not a number of {wanted}") from error
    return pa.array(values, wanted)


#: The conversions other than a cast, by both types; "" for any type.
_STEPS: dict[tuple[str, str], Convert] = {
    ("", "float"): _widen_float,
    ("", "double"): _widen_float,
    ("", "decimal"): _decimal,
    ("decimal", "decimal"): _cast,
    ("bytes", "string"): _cast,
    ("", "string"): _text,
}
