"""Conversion between instant times and milliseconds since the epoch, spec "Timeline > Time".

The format needs only the order of instant times, which is the order of their texts. The record index stores milliseconds, and
takes the digits as UTC.
"""

import datetime
import re

from hudi_reference.errors import InvalidQuery, MalformedInstantTime
from hudi_reference.requirement import implements

#: yyyyMMddHHmmss and milliseconds. Without milliseconds, 999 is used; old metadata tables add further digits.
_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(?:(\d{3})\d*)?", re.ASCII)
_UTC_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_EPOCH = datetime.datetime(1970, 1, 1)
_MILLISECOND = datetime.timedelta(milliseconds=1)


@implements("TT-005")
def format_time(milliseconds: int, zone: datetime.tzinfo | None = datetime.UTC) -> str:
    """Milliseconds since the epoch as yyyyMMddHHmmssSSS in a zone, None for that of this process.

    Raises InvalidQuery outside the years 1 to 9999.
    """
    seconds, rest = divmod(milliseconds, 1000)
    try:
        shown = (_UTC_EPOCH + datetime.timedelta(seconds=seconds)).astimezone(zone)
    except (OverflowError, ValueError) as error:
        raise InvalidQuery(
            "the time has no instant time", rule="TT-005", found=str(milliseconds), expected="a year from 1 to 9999"
        ) from error
    return f"{shown.year:04}{shown:%m%d%H%M%S}{rest:03}"


@implements("IDX-020")
def milliseconds_of(instant: str) -> int:
    """An instant time as milliseconds since the epoch; its digits are taken as UTC.

    Raises MalformedInstantTime for counters, for reserved times such as 00000000000000000, and for dates that do not exist.
    """
    match = _TIME.fullmatch(instant)
    if match is None:
        raise _no_date(instant, f"{len(instant)} characters")
    year, month, day, hour, minute, second, milliseconds = map(int, match.groups(default="999"))
    try:
        moment = datetime.datetime(year, month, day, hour, minute, second, milliseconds * 1000)
    except ValueError as error:
        raise _no_date(instant, str(error)) from error
    return (moment - _EPOCH) // _MILLISECOND


def _no_date(instant: str, why: str) -> MalformedInstantTime:
    return MalformedInstantTime(
        "the instant time is not a date and time", rule="IDX-020", found=f"{instant!r}: {why}",
        expected="yyyyMMddHHmmssSSS or yyyyMMddHHmmss, a date and time that exist",
    )  # fmt: skip
