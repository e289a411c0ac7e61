"""Whether statistics describe the values of a column: a reader leaves out rows that statistics exclude."""

import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.metadata.lookup.column_bounds import bounds_of
from hudi_reference.metadata.records import Statistics


@dataclass(frozen=True)
class Deviation:
    """How statistics differ from the values: what they should be, and what they are. `is_narrow` if they exclude values."""

    expected: str
    found: str
    is_narrow: bool = True


def deviation(entry: Statistics, values: pa.ChunkedArray, *, counts_nulls: bool = True) -> Deviation | None:
    """The first deviation; None if the statistics hold.

    Args:
        entry: the statistics.
        values: all values of the column.
        counts_nulls: whether the number of values includes the nulls.
    """
    present = values.drop_null()
    if values.null_count and entry.null_count == 0:
        return Deviation(f"{values.null_count} nulls", "0 nulls")
    if (wrapper := _foreign_wrapper(entry, values.type)) is not None:
        return Deviation(f"bounds of the type {values.type}", wrapper)
    if len(present) == 0:
        return None
    if counts_nulls and entry.value_count is not None and (entry.null_count or 0) >= entry.value_count:
        return Deviation(f"{len(present)} values", f"{entry.null_count} nulls of {entry.value_count} values")
    return _deviation_of_bounds(entry, present)


def counts(entry: Statistics, values: pa.ChunkedArray) -> Deviation | None:
    """The deviation of the numbers of values and of nulls of a whole file; None if they are right or absent."""
    for name, stored, expected in (("values", entry.value_count, len(values)), ("nulls", entry.null_count, values.null_count)):
        if stored is not None and stored != expected:
            return Deviation(f"{expected} {name}", f"{stored} {name}", is_narrow=False)
    return None


def _foreign_wrapper(entry: Statistics, kind: pa.DataType) -> str | None:
    """The type of a bound that no value of the column has: of a text for numbers, or of a number for texts."""
    bounds = [one.wrapper for one in (entry.least, entry.greatest) if one is not None]
    if pt.is_integer(kind) or pt.is_floating(kind):
        return next((one for one in bounds if one in ("StringWrapper", "BytesWrapper", "BooleanWrapper")), None)
    return next((one for one in bounds if pt.is_string(kind) and one != "StringWrapper"), None)


def _deviation_of_bounds(entry: Statistics, present: pa.ChunkedArray) -> Deviation | None:
    if pt.is_floating(present.type):
        return _deviation_of_floats(entry, present)
    if pt.is_string(present.type):  # ER-266: the reader does not use bounds that are in the order of UTF-16; others do
        least, greatest = (None if bound is None else bound.value for bound in (entry.least, entry.greatest))
    else:
        least, greatest = bounds_of(entry, present.type)
    first, last = _ends(present)
    expected, found = f"bounds that contain {first!r} to {last!r}"[:200], f"{least!r} to {greatest!r}"[:200]
    if (least is not None and first < least) or (greatest is not None and last > greatest):
        return Deviation(expected, found)
    if (least is not None and least < first) or (greatest is not None and greatest > last):
        return Deviation(expected, found, is_narrow=False)
    return None


def _deviation_of_floats(entry: Statistics, present: pa.ChunkedArray) -> Deviation | None:
    """A NaN is greater than all numbers. ER-164: a file with a NaN has the bounds 0.0 and 0.0."""
    numbers = present.filter(pc.invert(pc.is_nan(present)))
    if entry.least is None or entry.greatest is None:
        return None
    least, greatest = float(entry.least.value), float(entry.greatest.value)
    if math.isnan(least) or math.isnan(greatest):
        return None
    first, last = _ends(numbers) if len(numbers) else (least, greatest)
    has_nan = len(numbers) < len(present)
    expected = f"bounds that contain {first!r} to {'NaN' if has_nan else repr(last)}"
    if first < least or last > greatest or has_nan:
        return Deviation(expected, f"{least!r} to {greatest!r}")
    if least < first or greatest > last:
        return Deviation(expected, f"{least!r} to {greatest!r}", is_narrow=False)
    return None


def _ends(values: pa.ChunkedArray) -> tuple[Any, Any]:
    """The least and the greatest value; dates and times as numbers, as in statistics."""
    plain = values
    if pt.is_temporal(values.type):
        plain = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    ends = pc.min_max(plain)
    return ends["min"].as_py(), ends["max"].as_py()
