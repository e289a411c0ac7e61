"""Points of the timeline as people write them: digits, or date and time."""

import re
from datetime import datetime

from hudi_reference.errors import InvalidQuery
from hudi_reference.requirement import implements

#: The forms that deployed readers take, and what each lacks to be an instant. Releases from 1.1 on take the T, too.
_FORMS = (
    (re.compile(r"\d{17}|\d{14}", re.ASCII), ""),
    (re.compile(r"\d{4}-\d\d-\d\d", re.ASCII), "000000000"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", re.ASCII), "999"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d{3}", re.ASCII), ""),
)


@implements("TYP-008", "TT-001")
def instant_of(time: str) -> str:
    """A point of the timeline from one of the texts that queries take; date texts mean the timeline's own zone.

    Digits are taken as they are, since instants may come from any clock: 14 of them stand before all instants of their second.
    Raises InvalidQuery, also for a date that no calendar has.
    """
    for form, rest in _FORMS:
        if form.fullmatch(time) and (time.isdigit() or _is_a_date(time)):
            return re.sub(r"\D", "", time) + rest
    raise InvalidQuery(
        "not a point of the timeline",
        rule="TYP-008",
        expected="17 or 14 digits, or yyyy-MM-dd[ HH:mm:ss[.SSS]]",
        found=repr(time),
    )


def _is_a_date(time: str) -> bool:
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return False
    return True
