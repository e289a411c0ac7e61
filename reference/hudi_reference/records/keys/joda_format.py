"""Dates by Joda-Time patterns, as time-based key generators parse and format them; texts are English.

A pattern consists of runs of letters, other characters, and quoted text. The supported letters are those of `LETTERS`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import takewhile

from hudi_reference.errors import InvalidRows, UnsupportedKeyGenerator

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_RUNS = re.compile(r"''|'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")


@dataclass(frozen=True)
class Letter:
    """One letter: its text for a time and a length of the run, and the name of the part of a date that it parses (None: only
    formatted).

    A number directly before another number has exactly as many digits as its run; other numbers may have more.
    """

    text: Callable[[datetime, int], str]
    number: str | None = None


def _zero_padded(part: Callable[[datetime], int]) -> Callable[[datetime, int], str]:
    return lambda moment, count: str(part(moment)).zfill(count)


def _year(moment: datetime, count: int) -> str:
    return f"{moment.year % 100:02}" if count == 2 else str(moment.year).zfill(count)


def _month(moment: datetime, count: int) -> str:
    name = _MONTHS[moment.month - 1]
    return str(moment.month).zfill(count) if count < 3 else name[:3] if count == 3 else name


def _weekday(moment: datetime, count: int) -> str:
    name = _DAYS[moment.weekday()]
    return name if count > 3 else name[:3]


def _offset(moment: datetime, count: int) -> str:
    minutes = int((moment.utcoffset() or timedelta()).total_seconds()) // 60
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    return f"{sign}{hours:02}{':' if count > 1 else ''}{rest:02}"


#: The letters that are known, as Joda-Time has them.
LETTERS: dict[str, Letter] = {
    "y": Letter(_year, "year"),
    "Y": Letter(_year, "year"),
    "M": Letter(_month, "month"),
    "d": Letter(_zero_padded(lambda moment: moment.day), "day"),
    "D": Letter(_zero_padded(lambda moment: moment.timetuple().tm_yday)),
    "E": Letter(_weekday),
    "e": Letter(_zero_padded(lambda moment: moment.isoweekday())),
    "a": Letter(lambda moment, _: "AM" if moment.hour < 12 else "PM", "half"),
    "H": Letter(_zero_padded(lambda moment: moment.hour), "hour"),
    "k": Letter(_zero_padded(lambda moment: moment.hour or 24)),
    "K": Letter(_zero_padded(lambda moment: moment.hour % 12)),
    "h": Letter(_zero_padded(lambda moment: moment.hour % 12 or 12), "hour12"),
    "m": Letter(_zero_padded(lambda moment: moment.minute), "minute"),
    "s": Letter(_zero_padded(lambda moment: moment.second), "second"),
    "S": Letter(lambda moment, count: f"{moment.microsecond // 1000:03}".ljust(count, "0")[:count], "fraction"),
    "Z": Letter(_offset, "offset"),
}


def format_datetime(moment: datetime, pattern: str) -> str:
    """Format a time. Raises UnsupportedKeyGenerator for unknown letters."""
    return "".join(
        text if letter is None else LETTERS[letter].text(moment, len(text)) for letter, text in _letter_runs(pattern)
    )


def read(text: str, patterns: Sequence[str], zone: tzinfo | None) -> datetime:
    """Parse a text by the first pattern that it fits. `zone` is the zone of texts without offset, UTC if None.

    A text with an offset keeps it if no zone is given. Raises InvalidRows for a text that fits no pattern.
    """
    for pattern in patterns:
        match = re.fullmatch(_expression(pattern), text, re.IGNORECASE)
        if match is not None and (moment := _moment(match.groupdict(), zone)) is not None:
            return moment
    raise InvalidRows("a date that fits no pattern", rule="PROP-016", expected=" or ".join(patterns), found=repr(text))


def _letter_runs(pattern: str) -> list[tuple[str | None, str]]:
    """The letters with their runs; None with literal text."""
    runs: list[tuple[str | None, str]] = []
    for match in _RUNS.finditer(pattern):
        run, letter = match[0], match[1]
        if letter is None:
            runs.append((None, "'" if run == "''" else run[1:-1].replace("''", "'") if run[0] == "'" else run))
        elif letter in LETTERS:
            runs.append((letter, run))
        else:
            raise UnsupportedKeyGenerator(
                "a letter of a date pattern that is not supported", rule="PROP-016", expected=" ".join(LETTERS), found=letter
            )
    return runs


def _expression(pattern: str) -> str:
    """A regular expression for the texts of the pattern."""
    runs = _letter_runs(pattern)
    return "".join(
        re.escape(run) if letter is None else _group_of_letters(letter, len(run), runs[place + 1 : place + 2])
        for place, (letter, run) in enumerate(runs)
    )


def _group_of_letters(letter: str, count: int, following: Sequence[tuple[str | None, str]]) -> str:
    name = LETTERS[letter].number
    if name is None:
        raise UnsupportedKeyGenerator("a letter by which dates cannot be parsed", rule="PROP-016", found=letter)
    if name == "offset":
        return "(?P<offset>[+-]\\d\\d:?\\d\\d|Z)"
    if name == "half":
        return "(?P<half>AM|PM)"
    if name == "month" and count > 2:
        return "(?P<month>[A-Za-z]+)"
    exact = bool(following) and following[0][0] is not None
    return f"(?P<{name}>\\d{{{count}}})" if exact else f"(?P<{name}>\\d{{1,9}})"


def _moment(parts: dict[str, str], zone: tzinfo | None) -> datetime | None:
    """The time with these parts; None if there is no such time. The year of a date without year is 2000, as in Joda-Time."""
    month = parts.get("month", "1")
    if not month.isdigit():
        names = [number for number, name in enumerate(_MONTHS, 1) if name.lower().startswith(month.lower()) and len(month) > 2]
        month = str(names[0]) if names else "0"
    year = parts.get("year") or ("2000" if parts.keys() & {"month", "day"} else "1970")
    hour = int(parts.get("hour", 0))
    if "hour12" in parts:
        hour = int(parts["hour12"]) % 12 + (12 if parts.get("half", "AM").upper() == "PM" else 0)
    try:
        wall = datetime(
            _full_year(year), int(month), int(parts.get("day", 1)), hour, int(parts.get("minute", 0)),
            int(parts.get("second", 0)), int(parts.get("fraction", "0").ljust(3, "0")[:3]) * 1000,
        )  # fmt: skip
    except ValueError:
        return None
    if "offset" in parts:
        moment = wall.replace(tzinfo=zone_of(parts["offset"]))
        return moment if zone is None else moment.astimezone(zone)
    return wall.replace(tzinfo=zone or UTC)


def _full_year(text: str) -> int:
    """The year of a text. Two digits are a year of the hundred that began 80 years ago, as Joda-Time takes them."""
    if len(text) != 2:
        return int(text)
    first = datetime.now(UTC).year - 80
    return first + (int(text) - first) % 100


def zone_of(offset: str) -> tzinfo:
    """The zone of an offset like +0130, -01:30 or Z."""
    if offset.upper() == "Z":
        return UTC
    digits = "".join(takewhile(lambda c: c in "+-0123456789:", offset)).replace(":", "")
    sign = -1 if digits[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(digits[1:3]), minutes=int(digits[3:5])))
