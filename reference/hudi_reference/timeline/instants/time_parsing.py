"""Points of the timeline as people write them: digits, date and time, or seconds and milliseconds since 1970."""

import re
from datetime import UTC, datetime, tzinfo

from hudi_reference.errors import InvalidQuery
from hudi_reference.requirement import implements
from hudi_reference.timeline.instants.times import format_time

#: The forms that deployed readers take, and what each lacks to be an instant. Releases from 1.1 on take the T, too.
_FORMS = (
    (re.compile(r"\d{17}|\d{14}", re.ASCII), ""),
    (re.compile(r"\d{4}-\d\d-\d\d", re.ASCII), "000000000"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", re.ASCII), "999"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d{3}", re.ASCII), ""),
)
#: Times since 1970, by their number of digits, in milliseconds. Releases from 1.2 on take them, too.
_SINCE_1970 = {10: 1000, 13: 1}


@implements("TYP-008", "TT-001")
def instant_of(time: str, zone: tzinfo | None = UTC) -> str:
    """A point of the timeline from one of the texts that queries take.

    Date texts mean the timeline's own zone. Ten digits are seconds, thirteen milliseconds since 1970, which are shown in
    `zone`, the one that the timeline's times are in; None is that of this process.

    Digits are taken as they are, since instants may come from any clock: 14 of them stand before all instants of their second.
    Raises InvalidQuery, also for a date that no calendar has.
    """
    if time.isascii() and time.isdigit() and len(time) in _SINCE_1970:
        return format_time(int(time) * _SINCE_1970[len(time)], zone)
    for form, rest in _FORMS:
        if form.fullmatch(time) and (time.isdigit() or _is_a_date(time)):
            return re.sub(r"\D", "", time) + rest
    raise InvalidQuery(
        "not a point of the timeline",
        rule="TYP-008",
        expected="17 or 14 digits, yyyy-MM-dd[ HH:mm:ss[.SSS]], or 10 or 13 digits since 1970",
        found=repr(time),
    )


def _is_a_date(time: str) -> bool:
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return False
    return True
