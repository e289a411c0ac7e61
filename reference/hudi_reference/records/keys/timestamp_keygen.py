"""The time-based key generator: partition paths that are formatted dates of numbers, dates, timestamps or texts.

The path does not show the value of the column. So a query does not prune these partitions, and reads the value from the file.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import InvalidRows, UnsupportedKeyGenerator
from hudi_reference.records.keys import joda_format
from hudi_reference.requirement import implements

PREFIX = "hoodie.keygen.timebased."
#: The name that older releases gave the settings.
OLD_PREFIX = "hoodie.deltastreamer.keygen.timebased."

#: A type of input -> the unit of its numbers; None where it has texts, "" where a setting says the unit.
TYPES: dict[str, str | None] = {
    "UNIX_TIMESTAMP": "SECONDS",
    "EPOCHMILLISECONDS": "MILLISECONDS",
    "EPOCHMICROSECONDS": "MICROSECONDS",
    "SCALAR": "",
    "DATE_STRING": None,
    "MIXED": None,
}
#: Units of numbers, in nanoseconds.
UNITS = {
    "NANOSECONDS": 1,
    "MICROSECONDS": 1_000,
    "MILLISECONDS": 1_000_000,
    "SECONDS": 1_000_000_000,
    "MINUTES": 60_000_000_000,
    "HOURS": 3_600_000_000_000,
    "DAYS": 86_400_000_000_000,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@implements("PROP-016")
@dataclass(frozen=True)
class TimestampPaths:
    """Formats the values of one column as a level of the partition path.

    `unit` is that of numbers, None if numbers are refused; `inputs` are the patterns of texts, `output` is that of the path.
    `read_zone` is the zone of texts, `write_zone` that of paths; None is UTC, or the offset in the text.
    """

    unit: str | None
    inputs: tuple[str, ...]
    output: str
    read_zone: tzinfo | None = None
    write_zone: tzinfo | None = None

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> Self:
        """The formatter for the settings of a table or a writer. Raises UnsupportedKeyGenerator for invalid settings."""

        def value(name: str) -> str | None:
            return settings.get(PREFIX + name) or settings.get(OLD_PREFIX + name)

        kind = value("timestamp.type") or ""
        if kind not in TYPES:
            raise _invalid_setting("timestamp.type", " or ".join(TYPES), kind or "nothing")
        unit = TYPES[kind] if TYPES[kind] != "" else (value("timestamp.scalar.time.unit") or "SECONDS").upper()
        if unit is not None and unit not in UNITS:
            raise _invalid_setting("timestamp.scalar.time.unit", " or ".join(UNITS), unit)
        output = value("output.dateformat")
        if output is None:
            raise _invalid_setting("output.dateformat", "a date pattern", "nothing")
        delimiter = value("input.dateformat.list.delimiter.regex") or ","
        inputs = tuple(part.strip() for part in re.split(delimiter, value("input.dateformat") or "") if part.strip())
        both = value("timezone")
        return cls(unit, inputs, output, _zone(both or value("input.timezone")), _zone(both or value("output.timezone")))

    def texts(self, column: pa.Array, *, as_moments: bool = False) -> pa.Array:
        """The text in the path for each value; a null is the value 1 of the unit.

        A timestamp is a number in the unit of its column, whose meaning the settings say. With `as_moments` it is that time.
        """
        kind = column.type
        if as_moments and pt.is_timestamp(kind) and kind.tz is not None:
            moments = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
            return replace(self, unit="MICROSECONDS").texts(moments)
        if pt.is_timestamp(kind):
            column = column.cast(pa.int64())
        elif pt.is_date32(kind):
            column = column.cast(pa.int32())
        return pa.array([self.text(value) for value in column.to_pylist()], pa.string())

    def text(self, value: Any) -> str:
        """The text for one value. Raises InvalidRows for a value that does not fit the settings."""
        if value is None:
            moment = _EPOCH if self.unit is None else self._time_of_number(1)
        elif isinstance(value, str):
            moment = joda_format.read(value, self._known_inputs(value), self.read_zone)
        elif isinstance(value, bool | bytes | list | dict):
            raise InvalidRows("a partition value that is not a time", rule="PROP-016", expected="a number or a text",
                              found=repr(value))  # fmt: skip
        else:
            moment = self._time_of_number(_truncate(value))
        return joda_format.format_datetime(
            moment if self.write_zone is None else moment.astimezone(self.write_zone), self.output
        )

    def _known_inputs(self, value: str) -> tuple[str, ...]:
        if not self.inputs:
            raise InvalidRows("a text, but the partition values are numbers", rule="PROP-016", found=repr(value),
                              expected=f"a number, or the setting {PREFIX}input.dateformat")  # fmt: skip
        return self.inputs

    def _time_of_number(self, number: int) -> datetime:
        """The time of a number, truncated to milliseconds towards zero, like Java's TimeUnit."""
        if self.unit is None:
            raise InvalidRows(
                "a number, but the partition values are texts", rule="PROP-016", found=str(number), expected="a text",
                remedy=f"set {PREFIX}timestamp.type to SCALAR, and {PREFIX}timestamp.scalar.time.unit",
            )  # fmt: skip
        nanoseconds = abs(number) * UNITS[self.unit]
        milliseconds = nanoseconds // 1_000_000 * (-1 if number < 0 else 1)
        try:
            return _EPOCH + timedelta(milliseconds=milliseconds)
        except OverflowError as error:
            raise InvalidRows("a time beyond the years 1 to 9999", rule="PROP-016", found=str(number)) from error


def _truncate(number: Any) -> int:
    """A number without its fraction; NaN is 0, infinities are the greatest numbers of 64 bits, like casts in Java."""
    if isinstance(number, float) and not math.isfinite(number):
        return 0 if math.isnan(number) else int(math.copysign((1 << 63) - 1, number))
    return int(number)


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    if (offset := re.fullmatch(r"(GMT|UTC)([+-])(\d\d?):?(\d\d)?", name)) is not None:
        if offset[1] == "UTC":  # Java knows offsets after GMT only, and takes such a name for UTC
            return UTC
        _, sign, hours, minutes = offset.groups(default="0")
        return joda_format.zone_of(f"{sign}{int(hours):02}{int(minutes):02}")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise _invalid_setting("timezone", "the name of a time zone", name) from error


def _invalid_setting(setting: str, expected: str, found: str) -> UnsupportedKeyGenerator:
    return UnsupportedKeyGenerator(
        "a setting of the time-based key generator", rule="PROP-016", expected=f"{PREFIX}{setting}: {expected}", found=found
    )
