"""Text of values as Java prints them: in record keys, in partition paths, and where a number column becomes a string column."""

import datetime
import decimal
import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt


def value_text(value: Any) -> str:
    """The text of a value in record keys and partition paths; "" for null.

    Numbers have their Java text, dates are ISO dates, timestamps are microseconds since the epoch, bytes are hexadecimal.
    """
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case float():
            return number_text(str(value))
        case bytes():
            return value.hex()
        case datetime.datetime():
            return str(_micros(value))
        case _:
            return str(value)


def texts_of(array: pa.Array) -> pa.Array:
    """The texts of a whole column, null for null; timestamps are numbers in the unit of the column."""
    kind = array.type
    if pt.is_string(kind):
        return array
    if pt.is_timestamp(kind):
        array = array.cast(pa.int64())
    if pt.is_integer(array.type) or pt.is_date32(kind):
        return array.cast(pa.string())
    if pt.is_floating(kind):
        # Arrow prints the shortest digits that identify the number in the width of the column.
        return pa.array([None if text is None else number_text(text) for text in pc.cast(array, pa.string()).to_pylist()])
    return pa.array([None if value is None else value_text(value) for value in array.to_pylist()], pa.string())


def number_text(digits: str) -> str:
    """`Double.toString` and `Float.toString` of the number with these shortest digits.

    Numbers from 10^-3 to below 10^7 are printed without an exponent, others with one that has neither plus sign nor padding. At
    least one digit follows the decimal point.
    """
    number = float(digits)
    if not math.isfinite(number):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(number)]
    sign, shown, exponent = decimal.Decimal(digits).as_tuple()
    minus = "-" if sign else ""
    if number == 0:
        return f"{minus}0.0"
    significant = "".join(map(str, shown)).rstrip("0")
    point = len(shown) + int(exponent) - 1
    if -3 <= point < 7:
        plain = f"{decimal.Decimal(significant).scaleb(point - len(significant) + 1):f}"
        return f"{minus}{plain if '.' in plain else plain + '.0'}"
    return f"{minus}{significant[0]}.{significant[1:] or '0'}E{point}"


def _micros(value: datetime.datetime) -> int:
    aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
    return (aware - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(microseconds=1)
