"""Times in queries: digits, date and time, or seconds or milliseconds since 1970."""

import re
from datetime import UTC, datetime, tzinfo

from hudi_reference.errors import InvalidQuery
from hudi_reference.requirement import implements
from hudi_reference.timeline.instants.times import format_time

#: The forms that deployed readers accept, and the digits that complete each to an instant time. The T is accepted since 1.1.
_FORMS = (
    (re.compile(r"\d{17}|\d{14}", re.ASCII), ""),
    (re.compile(r"\d{4}-\d\d-\d\d", re.ASCII), "000000000"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", re.ASCII), "999"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d{3}", re.ASCII), ""),
)
#: Times since 1970: number of digits -> unit in milliseconds. Accepted since 1.2.
_SINCE_1970 = {10: 1000, 13: 1}


@implements("TYP-008", "TT-001")
def instant_of(time: str, zone: tzinfo | None = UTC) -> str:
    """The instant time of a time in a query.

    Dates are in the time zone of the timeline. Ten digits are seconds and thirteen digits milliseconds since 1970. Digits of
    instant times are not changed, because they may come from any clock; 14 digits sort before all instants of their second.

    Args:
        time: e.g. `2026-11-21 09:15:00`.
        zone: the time zone of the timeline, None for that of this process.

    Raises:
        InvalidQuery: none of the forms, or a date that does not exist.
    """
    if time.isascii() and time.isdigit() and len(time) in _SINCE_1970:
        return format_time(int(time) * _SINCE_1970[len(time)], zone)
    for form, rest in _FORMS:
        if form.fullmatch(time) and (time.isdigit() or _is_a_date(time)):
            return re.sub(r"\D", "", time) + rest
    raise InvalidQuery(
        "not a time of the timeline",
        rule="TYP-008",
        expected="17 or 14 digits, yyyy-MM-dd[ HH:mm:ss[.SSS]], or 10 or 13 digits since 1970",
        found=repr(time),
        remedy="leave the time out to begin with the first commit" if set(time) == {"0"} else None,
    )


def _is_a_date(time: str) -> bool:
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return False
    return True
