"""A time axis of a few dozen characters, for actions of a second with hours between them."""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise

#: The characters of a completed, an inflight and a requested action.
DONE, AT_WORK, PLANNED, POINT = "━", "╌", "·", "◆"
#: Cells after the last time for pending actions.
_OPEN = 4


def parse_instant(time: str) -> datetime | None:
    """The date and time of an instant of 17 or 14 digits; None for counters and reserved times."""
    try:
        return datetime.strptime(time.ljust(17, "9")[:17], "%Y%m%d%H%M%S%f")
    except ValueError:
        return None


def time_between(first: str, last: str) -> timedelta | None:
    """The time between two instants; None if one of them is not a date and time."""
    begin, end = parse_instant(first), parse_instant(last)
    return None if begin is None or end is None else end - begin


def format_duration(time: timedelta | None) -> str:
    """A duration with a unit, to about three digits."""
    if time is None:
        return ""
    seconds = time.total_seconds()
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    for limit, unit, word in ((100, 1, "s"), (6000, 60, "min"), (360_000, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.3g} {word}"
    return f"{round(seconds / 86_400):,} d"


class Axis:
    """The cell of a time.

    Times keep their order. The distance between two neighbours grows with the logarithm of the time between them, so that a
    second is visible next to an hour, and overlaps remain visible. With `goes_on` there are cells for pending actions.
    """

    def __init__(self, times: Iterable[str], width: int, *, goes_on: bool = False) -> None:
        known = sorted(set(times))
        steps = [_room(first, last) for first, last in pairwise(known)]
        scale = (width - 1 - (_OPEN if goes_on else 0)) / (sum(steps) or 1)
        self.width = width
        self._cells = {time: round(sum(steps[:number]) * scale) for number, time in enumerate(known)}

    def draw_bar(self, begin: str, end: str | None, sign: str) -> str:
        """The bar of an action; without an end it extends to the right edge."""
        first = self._cells[begin]
        last = self.width - 1 if end is None else self._cells[end]
        body = sign * (last - first + 1)
        return " " * first + (body if end is not None else f"{body[:-1]}>")

    def draw_point(self, time: str) -> str:
        """The bar of an action at one time."""
        return " " * self._cells[time] + POINT


def _room(first: str, last: str) -> float:
    apart = time_between(first, last)
    return 1 + math.log2(1 + max(0.0, apart.total_seconds() * 1000)) if apart is not None else 1
