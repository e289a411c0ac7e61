"""The functions of expression indexes, spec "Indexes > Expression index": what Spark's functions of these names give.

    identity                                         the value
    year, month, day, hour                           a number, of a date or a timestamp; day is the day of the month
    lower, upper, trim, ltrim, rtrim                 a text; trimmed are spaces, or the characters of the option trimString
    substring                                        a text: options pos (from 1, or from the end if negative) and len
    length                                           a number of characters
    from_unixtime, date_format                       a text: option format
    to_date, date_add, date_sub                      a date: options format, days
    to_timestamp                                     a timestamp: option format
    unix_timestamp                                   a number of seconds: option format

Spark evaluates the functions of times in the time zone of its session, which is not stored: all engines of a table must use
the same zone. Here it is the writer's setting `spark.sql.session.timeZone`, UTC without it. Local timestamps are in no zone.
"""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import InvalidRows, UnsupportedTableFeature
from hudi_reference.metadata.indexes.date_patterns import format_time, parse_time
from hudi_reference.requirement import implements

Options = Mapping[str, str]


@dataclass(frozen=True)
class Call:
    """The options of a function, and the time zone in which it is evaluated."""

    options: Options
    zone: datetime.tzinfo = datetime.UTC

    def local(self, value: datetime.date) -> datetime.datetime:
        """A date as the time of its midnight, a timestamp in the zone, a local timestamp as it is."""
        if not isinstance(value, datetime.datetime):
            return datetime.datetime(value.year, value.month, value.day)
        return value if value.tzinfo is None else value.astimezone(self.zone).replace(tzinfo=None)

    def parsed(self, value: Any, default: str) -> datetime.datetime | None:
        """The local time that a text, date or timestamp names; None for a text that names none."""
        return parse_time(value, self.options.get("format", default)) if isinstance(value, str) else self.local(value)

    def micros(self, value: Any) -> int | None:
        """The moment that a text, date or timestamp names, in microseconds since 1970."""
        local = self.parsed(value, _SECONDS)
        return None if local is None else (local.replace(tzinfo=self.zone) - _EPOCH) // datetime.timedelta(microseconds=1)


#: Of a value that is not null; None where the function has no value.
Function = Callable[[Any, Call], Any]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SECONDS = "yyyy-MM-dd HH:mm:ss"


@implements("IDX-038")
def month_of(time: datetime.datetime) -> int:
    """The month of the year, from 1."""
    return time.month


@implements("IDX-039")
def day_of(time: datetime.datetime) -> int:
    """The day of the month, from 1."""
    return time.day


@implements("IDX-040")
def hour_of(time: datetime.datetime) -> int:
    """The hour of the day, from 0 to 23."""
    return time.hour


@implements("IDX-041")
def lower_of(text: str) -> str:
    """The text in lower case, which depends on no locale."""
    return text.lower()


def _substring(text: str, call: Call) -> str:
    position, length = int(call.options["pos"]), int(call.options["len"])
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    return text[max(start, 0) : max(start + length, 0)]


def _unix_seconds(value: Any, call: Call) -> int | None:
    micros = call.micros(value)
    # Spark rounds towards 1970.
    return None if micros is None else abs(micros) // 1_000_000 * (1 if micros >= 0 else -1)


def _from_seconds(value: int, call: Call) -> str:
    return format_time(call.local(_EPOCH + datetime.timedelta(seconds=value)), call.options.get("format", _SECONDS))


def _epoch_days(value: Any, call: Call) -> int | None:
    """The date that a text, date or timestamp names, in days since 1970."""
    local = call.parsed(value, "yyyy-MM-dd")
    return None if local is None else (local.date() - _EPOCH.date()).days


def _trim(call: Call) -> str:
    return call.options.get("trimString", " ")


def _is_time(kind: pa.DataType) -> bool:
    return bool(pt.is_date32(kind) or pt.is_timestamp(kind))


def _is_text_or_time(kind: pa.DataType) -> bool:
    return bool(pt.is_string(kind)) or _is_time(kind)


def _is_single(kind: pa.DataType) -> bool:
    return not pt.is_nested(kind)


_NONE: frozenset[str] = frozenset()
_FORMAT, _TRIM, _SHIFT = frozenset({"format"}), frozenset({"trimString"}), frozenset({"days"})
_TIMESTAMP = pa.timestamp("us", "UTC")
#: By name: the function, the type of its values (None for that of the column), the options that it takes, and the columns
#: that it takes. Dates are days, timestamps are microseconds.
_FUNCTIONS: Mapping[str, tuple[Function, pa.DataType | None, frozenset[str], Callable[[pa.DataType], bool]]] = {
    "identity": (lambda value, _: value, None, _NONE, _is_single),
    "year": (lambda value, call: call.local(value).year, pa.int32(), _NONE, _is_time),
    "month": (lambda value, call: month_of(call.local(value)), pa.int32(), _NONE, _is_time),
    "day": (lambda value, call: day_of(call.local(value)), pa.int32(), _NONE, _is_time),
    "hour": (lambda value, call: hour_of(call.local(value)), pa.int32(), _NONE, _is_time),
    "lower": (lambda value, _: lower_of(value), pa.string(), _NONE, pt.is_string),
    "upper": (lambda value, _: value.upper(), pa.string(), _NONE, pt.is_string),
    "trim": (lambda value, call: value.strip(_trim(call)), pa.string(), _TRIM, pt.is_string),
    "ltrim": (lambda value, call: value.lstrip(_trim(call)), pa.string(), _TRIM, pt.is_string),
    "rtrim": (lambda value, call: value.rstrip(_trim(call)), pa.string(), _TRIM, pt.is_string),
    "length": (lambda value, _: len(value), pa.int32(), _NONE, pt.is_string),
    "substring": (_substring, pa.string(), frozenset({"pos", "len"}), pt.is_string),
    "from_unixtime": (_from_seconds, pa.string(), _FORMAT, pt.is_integer),
    "date_format": (
        lambda value, call: format_time(call.local(value), call.options["format"]), pa.string(), _FORMAT, _is_time,
    ),
    "to_date": (_epoch_days, pa.date32(), _FORMAT, _is_text_or_time),
    "to_timestamp": (lambda value, call: call.micros(value), _TIMESTAMP, _FORMAT, _is_text_or_time),
    "unix_timestamp": (_unix_seconds, pa.int64(), _FORMAT, _is_text_or_time),
    "date_add": (lambda value, call: _epoch_days(value, call) + int(call.options["days"]), pa.date32(), _SHIFT, _is_time),  # type: ignore[operator]
    "date_sub": (lambda value, call: _epoch_days(value, call) - int(call.options["days"]), pa.date32(), _SHIFT, _is_time),  # type: ignore[operator]
}  # fmt: skip
#: The options of a bloom filter, which are not options of the function; and the name of the function.
_OTHER_OPTIONS = frozenset({"expr", "filtertype", "numentries", "fpp", "maxentries"})


@implements("IDX-034")
def check_function(name: str, options: Options, kind: pa.DataType | None = None) -> None:
    """Raises UnsupportedTableFeature for a function, its options, or a column of this type, that cannot be indexed."""
    if name not in _FUNCTIONS:
        raise _unsupported(name, "a function of an expression index that is not supported", ", ".join(_FUNCTIONS), name)
    _, _, taken, takes = _FUNCTIONS[name]
    needed = {"substring": {"pos", "len"}, "date_format": {"format"}, "date_add": {"days"}, "date_sub": {"days"}}
    others = set(options) - _OTHER_OPTIONS - taken
    if others or not needed.get(name, set()) <= set(options):
        raise _unsupported(name, "options that the function does not take", ", ".join(sorted(taken)), ", ".join(options))
    if any(not _is_number(options[key]) for key in ("pos", "len", "days") if key in options and key in taken):
        raise _unsupported(name, "an option that is not a number", "whole numbers", str(dict(options)))
    if "format" in options:
        format_time(_EPOCH.replace(tzinfo=None), options["format"])
    if kind is not None and not takes(kind):
        raise _unsupported(name, "a column of a type that the function does not take", f"an argument of {name}", str(kind))


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _unsupported(name: str, message: str, expected: str, found: str) -> UnsupportedTableFeature:
    return UnsupportedTableFeature(message, rule="IDX-034", path=name, expected=expected, found=found)


@implements("IDX-034", "IDX-036", "IDX-037", "IDX-038", "IDX-039", "IDX-040", "IDX-041", "IDX-042")
def values_of(name: str, options: Options, column: pa.Array, zone: datetime.tzinfo = datetime.UTC) -> pa.Array:
    """The values of the function for a column; null for null. Raises UnsupportedTableFeature as `check_function` does."""
    check_function(name, options, column.type)
    function, kind, _, _ = _FUNCTIONS[name]
    if name == "identity":
        return column
    call = Call(options, zone)
    values = column.cast(pa.timestamp("us", column.type.tz), safe=False) if pt.is_timestamp(column.type) else column
    try:
        found = [None if value is None else function(value, call) for value in values.to_pylist()]
    except (OverflowError, ValueError) as error:
        raise InvalidRows(
            "a value that the function of an index does not take", rule="IDX-034", path=name,
            expected="years 1 to 9999", found=str(error),
        ) from error  # fmt: skip
    if kind in (pa.date32(), _TIMESTAMP):
        return pa.array(found, pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    return pa.array(found, kind)
