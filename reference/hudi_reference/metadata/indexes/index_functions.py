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

Spark evaluates the functions of times in the time zone of its session, which is not stored: engines of one table must have
the same zone. This writer uses UTC (ER-067).
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.metadata.indexes.date_patterns import format_time, parse_time
from hudi_reference.requirement import implements

Options = Mapping[str, str]
#: A value that is not null, and the options of the index; None where the function has no value.
Function = Callable[[Any, Options], Any]

_EPOCH = datetime.datetime(1970, 1, 1)
_SECONDS = "yyyy-MM-dd HH:mm:ss"


def _time(value: datetime.date) -> datetime.datetime:
    """A date as the time of its midnight, a timestamp in UTC."""
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
    return datetime.datetime(value.year, value.month, value.day)


def _parsed(value: Any, options: Options, default: str) -> datetime.datetime | None:
    return parse_time(value, options.get("format", default)) if isinstance(value, str) else _time(value)


def _substring(text: str, options: Options) -> str:
    position, length = int(options["pos"]), int(options["len"])
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    return text[max(start, 0) : max(start + length, 0)]


def _unix_seconds(value: Any, options: Options) -> int | None:
    time = _parsed(value, options, _SECONDS)
    if time is None:
        return None
    micros = (time - _EPOCH) // datetime.timedelta(microseconds=1)
    return abs(micros) // 1_000_000 * (1 if micros >= 0 else -1)  # Spark rounds towards 1970


def _from_seconds(value: int, options: Options) -> str:
    return format_time(_EPOCH + datetime.timedelta(seconds=value), options.get("format", _SECONDS))


def _date(value: Any, options: Options) -> datetime.date | None:
    time = _parsed(value, options, "yyyy-MM-dd")
    return None if time is None else time.date()


def _shifted(value: datetime.date, days: int) -> datetime.date:
    return _time(value).date() + datetime.timedelta(days=days)


def _trimmed(options: Options) -> str:
    return options.get("trimString", " ")


def _is_time(kind: pa.DataType) -> bool:
    return bool(pt.is_date32(kind) or pt.is_timestamp(kind))


def _is_text_or_time(kind: pa.DataType) -> bool:
    return bool(pt.is_string(kind)) or _is_time(kind)


def _is_single(kind: pa.DataType) -> bool:
    return not pt.is_nested(kind)


_TIMESTAMP = pa.timestamp("us", "UTC")
#: By name: the function, the type of its value (None for that of the column), the options that it takes, and the columns that
#: it takes.
_FUNCTIONS: Mapping[str, tuple[Function, pa.DataType | None, frozenset[str], Callable[[pa.DataType], bool]]] = {
    "identity": (lambda value, _: value, None, frozenset(), _is_single),
    "year": (lambda value, _: value.year, pa.int32(), frozenset(), _is_time),
    "month": (lambda value, _: value.month, pa.int32(), frozenset(), _is_time),
    "day": (lambda value, _: value.day, pa.int32(), frozenset(), _is_time),
    "hour": (lambda value, _: _time(value).hour, pa.int32(), frozenset(), _is_time),
    "lower": (lambda value, _: value.lower(), pa.string(), frozenset(), pt.is_string),
    "upper": (lambda value, _: value.upper(), pa.string(), frozenset(), pt.is_string),
    "trim": (lambda value, options: value.strip(_trimmed(options)), pa.string(), frozenset({"trimString"}), pt.is_string),
    "ltrim": (lambda value, options: value.lstrip(_trimmed(options)), pa.string(), frozenset({"trimString"}), pt.is_string),
    "rtrim": (lambda value, options: value.rstrip(_trimmed(options)), pa.string(), frozenset({"trimString"}), pt.is_string),
    "length": (lambda value, _: len(value), pa.int32(), frozenset(), pt.is_string),
    "substring": (_substring, pa.string(), frozenset({"pos", "len"}), pt.is_string),
    "from_unixtime": (_from_seconds, pa.string(), frozenset({"format"}), pt.is_integer),
    "date_format": (
        lambda value, options: format_time(_time(value), options["format"]), pa.string(), frozenset({"format"}), _is_time,
    ),
    "to_date": (_date, pa.date32(), frozenset({"format"}), _is_text_or_time),
    "to_timestamp": (
        lambda value, options: _parsed(value, options, _SECONDS), _TIMESTAMP, frozenset({"format"}), _is_text_or_time,
    ),
    "unix_timestamp": (_unix_seconds, pa.int64(), frozenset({"format"}), _is_text_or_time),
    "date_add": (
        lambda value, options: _shifted(value, int(options["days"])), pa.date32(), frozenset({"days"}), _is_time,
    ),
    "date_sub": (
        lambda value, options: _shifted(value, -int(options["days"])), pa.date32(), frozenset({"days"}), _is_time,
    ),
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
        format_time(_EPOCH, options["format"])
    if kind is not None and not takes(kind):
        raise _unsupported(name, "a column of a type that the function does not take", f"an argument of {name}", str(kind))


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _unsupported(name: str, message: str, expected: str, found: str) -> UnsupportedTableFeature:
    return UnsupportedTableFeature(message, rule="IDX-034", path=name, expected=expected, found=found)


@implements("IDX-034", "IDX-036", "IDX-037", "IDX-038", "IDX-039", "IDX-040", "IDX-041", "IDX-042")
def values_of(name: str, options: Options, column: pa.Array) -> pa.Array:
    """The values of the function for a column; null for null. Raises UnsupportedTableFeature as `check_function` does."""
    check_function(name, options, column.type)
    function, kind, _, _ = _FUNCTIONS[name]
    if name == "identity":
        return column
    values = column.cast(pa.timestamp("us", "UTC"), safe=False) if pt.is_timestamp(column.type) else column
    found = [None if value is None else function(value, options) for value in values.to_pylist()]
    return pa.array(found, kind or column.type)
