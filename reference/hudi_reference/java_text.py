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


def texts_of(array: pa.Array, *, local_times: bool = False) -> pa.Array:
    """The texts of a whole column, null for null; timestamps are numbers in the unit of the column.

    With `local_times`, timestamps of a moment have the text of `java.sql.Timestamp`. Raises ValueError for one before 1582.
    """
    kind = array.type
    if local_times and pt.is_timestamp(kind) and kind.tz is not None:
        units = {"s": 1, "ms": 1, "us": 1_000, "ns": 1_000_000}[kind.unit]
        values = (array.cast(pa.timestamp("ms", kind.tz)) if kind.unit == "s" else array).cast(pa.int64()).to_pylist()
        return pa.array([None if value is None else _local_time(value, units) for value in values], pa.string())
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


#: The first moment of the Gregorian calendar in Java, in milliseconds; before it, texts have dates of the Julian calendar.
_GREGORIAN = -12_219_292_800_000


def _local_time(value: int, units: int) -> str:
    """`Timestamp.toString` in the time zone of the process: milliseconds, truncated towards zero, without zeros at the end."""
    milliseconds = abs(value) // units * (-1 if value < 0 else 1)
    if milliseconds < _GREGORIAN:
        raise ValueError(f"the local time of {milliseconds} ms since 1970 has no date of the Gregorian calendar")
    seconds, fraction = divmod(milliseconds, 1000)
    local = datetime.datetime.fromtimestamp(seconds)
    return f"{local:%Y-%m-%d %H:%M:%S}.{f'{fraction:03}'.rstrip('0') or '0'}"


def _micros(value: datetime.datetime) -> int:
    aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
    return (aware - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(microseconds=1)
