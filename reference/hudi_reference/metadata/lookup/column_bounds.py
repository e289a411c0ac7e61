"""What the statistics of files say about a comparison: whether a file may have a value for which it holds.

Deployed writers store statistics that are no bounds (ER-063 and the documentation of `Statistics`). These count as unknown:

    all values are null           the bounds of numbers are 0
    the same, texts or bytes      a long value makes all values count as nulls (ER-164)
    floating point, 0.0 to 0.0    a base file with a NaN; its other values may be any
    NaN as a bound                a log file with a NaN
    bytes                         compared as signed bytes in some places and as unsigned bytes in others
    texts from U+D800 on          Java compares UTF-16 units, Arrow and Parquet compare UTF-8 bytes
    a type of another order       the column had another type when the file was written, and its values were in another order
"""

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.metadata.records import Bound, Statistics
from hudi_reference.metadata.value_types import value_type_of
from hudi_reference.query.pruning.predicates import PREFIX, compare
from hudi_reference.requirement import implements

_WHOLE = ("IntWrapper", "LongWrapper")
#: The first character whose order differs between UTF-16 and UTF-8 (ER-266).
_FIRST_UNLIKE = "\ud800"
_DIGITS = Context(prec=80)


@implements("MDT-010")
def may_hold(found: Sequence[Statistics | None], kind: pa.DataType, operator: str, value: Any) -> list[bool]:
    """For the statistics of each file whether the file may have a value for which the comparison holds.

    None are the statistics of a file that has none. `kind` is the type of the column in the table.
    """
    if operator in _TESTS:
        # ER-164: a file with a long text or bytes says that all values are nulls.
        is_unknown = operator == "is not" and (pt.is_string(kind) or pt.is_binary(kind))
        return [(is_unknown or _TESTS[operator](one)) and not _has_no_value(one) for one in found]
    bounds = [bounds_of(one, kind) for one in found]
    least, greatest = (_column([one[side] for one in bounds], kind) for side in (0, 1))
    known = _may_hold(least, greatest, operator, value).to_pylist()
    return [may and not _has_no_value(one) for may, one in zip(known, found, strict=True)]


def _may_have_null(found: Statistics | None) -> bool:
    """Whether the file may have a null: also one that lacks the column, or whose statistics do not count nulls."""
    return found is None or found.is_deleted or found.null_count != 0


def _may_have_value(found: Statistics | None) -> bool:
    """Whether the file may have a value that is not null."""
    return found is None or found.is_deleted or found.value_count is None or found.null_count != found.value_count


_TESTS: dict[str, Callable[[Statistics | None], bool]] = {"is": _may_have_null, "is not": _may_have_value}


def is_mergeable(kind: pa.DataType) -> bool:
    """Whether bounds of several files, merged by a writer, are bounds of all: not those of floating point, because of NaN."""
    return not pt.is_floating(kind)


def _has_no_value(found: Statistics | None) -> bool:
    """Whether the file has no value at all, as a log file that only deletes records."""
    return found is not None and not found.is_deleted and found.value_count == 0 and found.null_count == 0


def _may_hold(least: pa.Array, greatest: pa.Array, operator: str, value: Any) -> pa.Array:
    """Whether a value between the bounds satisfies the comparison; true if a bound that decides is null."""

    def holds(bounds: pa.Array, operator: str) -> pa.Array:
        return compare(pa.chunked_array([bounds]), operator, value).combine_chunks().fill_null(True)

    if operator == "in":
        return reduce(pc.or_, (_may_hold(least, greatest, "=", one) for one in value), pa.repeat(False, len(least)))
    if operator in ("<", "<="):
        return holds(least, operator)
    if operator in (">", ">="):
        return holds(greatest, operator)
    if operator in ("=", PREFIX):
        # ER-271: texts with a prefix are not smaller than the prefix, and their first characters are not greater.
        first = pc.utf8_slice_codeunits(least, 0, len(value)) if operator == PREFIX else least
        return pc.and_(holds(first, "<="), holds(greatest, ">="))
    if operator == "!=" and not pt.is_floating(least.type):  # a NaN differs from every value, and is in no bounds
        return pc.or_(holds(least, "!="), holds(greatest, "!="))
    return pa.repeat(True, len(least))


@implements("MDT-010", "MDT-014")
def bounds_of(found: Statistics | None, kind: pa.DataType) -> tuple[Any, Any]:
    """Two values of the column's type, between which all values of the file are; None for an unknown bound."""
    if found is None or found.is_deleted or _is_all_null(found) or _has_other_unit(found, kind):
        return None, None
    least, greatest = _value(found.least, kind, ROUND_FLOOR), _value(found.greatest, kind, ROUND_CEILING)
    if pt.is_floating(kind) and (least == greatest == 0 or _is_nan(found.least) or _is_nan(found.greatest)):
        return None, None
    return least, greatest


def _is_all_null(found: Statistics) -> bool:
    return found.value_count is None or found.null_count is None or found.null_count >= found.value_count


def _has_other_unit(found: Statistics, kind: pa.DataType) -> bool:
    """Whether the stored type of the values says another unit, or another clock, than the timestamps of the column have."""
    return bool(pt.is_timestamp(kind)) and found.value_type not in (None, value_type_of(kind))


def _is_nan(bound: Bound | None) -> bool:
    return bound is not None and bound.value != bound.value


def _value(bound: Bound | None, kind: pa.DataType, rounding: str) -> Any:
    """The bound as a value of the type; None if values of its wrapper have another order, or it does not fit."""
    if bound is None:
        return None
    convert = next((how for fits, wrappers, how in _CONVERSIONS if fits(kind) and bound.wrapper in wrappers), None)
    return None if convert is None else convert(bound.value, kind, rounding)


def _integer_value(value: int, kind: pa.DataType, rounding: str) -> int | None:
    limit = 1 << (kind.bit_width - 1)
    return value if -limit <= value < limit else None


def _floating_value(value: float, kind: pa.DataType, rounding: str) -> float | None:
    """The nearest number of the type, as a reader converts the value; it keeps the order."""
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if kind.bit_width == 32 else float(value)


def _text_value(value: str, kind: pa.DataType, rounding: str) -> str | None:
    return value if max(value, default="") < _FIRST_UNLIKE else None


def _decimal_value(value: Decimal, kind: pa.DataType, rounding: str) -> Decimal | None:
    rounded = value.quantize(Decimal(1).scaleb(-kind.scale), rounding, _DIGITS)
    return rounded if len(rounded.as_tuple().digits) <= kind.precision else None


def _unchanged_value(value: Any, kind: pa.DataType, rounding: str) -> Any:
    return value


def _is_microseconds(kind: pa.DataType) -> bool:
    return bool(pt.is_timestamp(kind)) and kind.unit == "us"


#: Types of columns, the wrappers of values that have the same order, and the conversion.
_CONVERSIONS: tuple[tuple[Callable[[pa.DataType], bool], tuple[str, ...], Callable[..., Any]], ...] = (
    (pt.is_boolean, ("BooleanWrapper",), _unchanged_value),
    (pt.is_signed_integer, _WHOLE, _integer_value),
    (pt.is_floating, (*_WHOLE, "FloatWrapper", "DoubleWrapper"), _floating_value),
    (pt.is_string, ("StringWrapper",), _text_value),
    (pt.is_date32, ("DateWrapper", "LocalDateWrapper"), _unchanged_value),
    (_is_microseconds, ("LongWrapper", "TimestampMicrosWrapper"), _unchanged_value),
    (pt.is_decimal, ("DecimalWrapper",), _decimal_value),
)


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pt.is_date32(kind):
        return pa.array(values, pa.int32()).cast(kind)
    if pt.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    return pa.array(values, kind)
