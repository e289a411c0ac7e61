"""Instant times for one writer, spec "Timeline > Time". A time is later than everything on the timeline it was made for."""

import datetime

from hudi_reference.clock import Clock
from hudi_reference.errors import ClockBehindTimeline
from hudi_reference.requirement import implements
from hudi_reference.timeline.active import Timeline


@implements("TT-002", "TT-004", "TT-009", "TL-004", "TL-032")
def next_time(clock: Clock, timeline: Timeline, *, utc: bool, after: str = "") -> str:
    """The clock's time as 17 digits, later than every time on `timeline` and than `after`; waits until the clock is there.

    Raises ClockBehindTimeline if that would take more than a minute: waiting would look like a hang.
    """
    latest = max((max(i.requested, i.completion or "") for i in timeline.instants), default="")
    latest = max(latest, after)
    waited = 0
    while (time := format_time(clock.now(), utc=utc)) <= latest:
        if waited >= _PATIENCE:
            raise ClockBehindTimeline(
                "this machine's clock is behind the timeline", rule="TT-009", expected=f"a time after {latest}", found=time,
                cure="set the clock, or the time zone that the table's instants are in",
            )  # fmt: skip
        clock.sleep(_STEP)
        waited += _STEP
    return time


_STEP = 1
_PATIENCE = 60_000


def format_time(milliseconds: int, *, utc: bool) -> str:
    """Milliseconds since the epoch as yyyyMMddHHmmssSSS, in UTC or in the zone of this process."""
    seconds, rest = divmod(milliseconds, 1000)
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    shown = moment if utc else moment.astimezone()
    return f"{shown:%Y%m%d%H%M%S}{rest:03d}"
