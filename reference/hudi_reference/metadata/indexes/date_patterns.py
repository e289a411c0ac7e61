"""Patterns of dates and times as Java's DateTimeFormatter reads them: `yyyy-MM-dd HH:mm:ss`.

Supported are the letters y, M, d, H, m, s, S, literal characters and quoted texts. Other letters depend on a locale.
"""

import datetime
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from hudi_reference.errors import UnsupportedTableFeature

#: Letters in a row, a quoted text, or a single other character.
_TOKEN = re.compile(r"(?P<letters>([A-Za-z])\2*)|'(?P<quoted>(?:[^']|'')*)'|(?P<other>[^A-Za-z'])")
_FIELDS: dict[str, Callable[[datetime.datetime], int]] = {
    "y": lambda time: time.year,
    "M": lambda time: time.month,
    "d": lambda time: time.day,
    "H": lambda time: time.hour,
    "m": lambda time: time.minute,
    "s": lambda time: time.second,
}
_NAMES = {"y": "year", "M": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}
#: The number of letters up to which a field is a number.
_MOST = {"y": 6, "M": 2, "d": 2, "H": 2, "m": 2, "s": 2, "S": 9}


def format_time(time: datetime.datetime, pattern: str) -> str:
    """The text of a time. Raises UnsupportedTableFeature for a pattern that is not supported."""
    return "".join(_format_field(time, letter, count) if count else letter for letter, count in _tokens(pattern))


def _format_field(time: datetime.datetime, letter: str, count: int) -> str:
    if letter == "S":
        return f"{time.microsecond:06}000"[:count]
    number = _FIELDS[letter](time)
    return f"{number % 100:02}" if (letter, count) == ("y", 2) else f"{number:0{count}}"


def parse_time(text: str, pattern: str) -> datetime.datetime | None:
    """The time that a text has under a pattern; None if it does not fit, or names no time.

    Raises UnsupportedTableFeature for a pattern that is not supported.
    """
    match = _parser(pattern).fullmatch(text)
    if match is None:
        return None
    found = {name: int(digits) for name, digits in match.groupdict().items() if name != "fraction"}
    fraction = match.groupdict().get("fraction")
    micros = 0 if fraction is None else int(f"{fraction:<06}"[:6])
    try:
        return datetime.datetime(**{"year": 1970, "month": 1, "day": 1, **found}, microsecond=micros)  # type: ignore[arg-type]
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _parser(pattern: str) -> re.Pattern[str]:
    parts = []
    for letter, count in _tokens(pattern):
        if not count:
            parts.append(re.escape(letter))
        elif letter == "S":
            parts.append(rf"(?P<fraction>\d{{{count}}})")
        else:
            parts.append(rf"(?P<{_NAMES[letter]}>{_digits(letter, count)})")
    try:
        return re.compile("".join(parts), re.ASCII)
    except re.error as error:
        raise _unsupported(pattern, str(error)) from error


def _digits(letter: str, count: int) -> str:
    return r"\d{1,2}" if count == 1 and letter != "y" else r"\d{1,9}" if count == 1 else rf"\d{{{count}}}"


@lru_cache(maxsize=64)
def _tokens(pattern: str) -> tuple[tuple[str, int], ...]:
    return tuple(_parse_pattern(pattern))


def _parse_pattern(pattern: str) -> Iterator[tuple[str, int]]:
    """Letters with their number, and literal texts with 0."""
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            raise _unsupported(pattern, "a quote without its end")
        position = match.end()
        if letters := match["letters"]:
            if len(letters) > _MOST.get(letters[0], 0):
                raise _unsupported(pattern, letters)
            yield letters[0], len(letters)
        else:
            yield (match["other"] or match["quoted"].replace("''", "'") or "'"), 0


def _unsupported(pattern: str, found: str) -> UnsupportedTableFeature:
    return UnsupportedTableFeature(
        "a pattern of dates that is not supported", rule="IDX-042", expected=f"letters of {', '.join(_MOST)}, and literals",
        found=f"{found} in {pattern!r}",
    )  # fmt: skip
