"""Windows of incremental and change queries.

Bounds are completion times: the begin is exclusive, the end inclusive. So each completion is in exactly one of several
consecutive windows, and a long write is in the window in which it became visible.
"""

from dataclasses import dataclass
from datetime import UTC, tzinfo

from hudi_reference.errors import InvalidQuery
from hudi_reference.requirement import implements
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.history.history import END_OF_TIME, START_OF_TIME
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS
from hudi_reference.timeline.instants.time_parsing import instant_of


@implements("TYP-009", "TYP-012")
@dataclass(frozen=True)
class Window:
    """Completion times after `begin`, or from `begin` on if `include_begin`, up to `end`; None is an open side."""

    begin: str | None = None
    end: str | None = None
    include_begin: bool = False

    @classmethod
    def between(cls, begin: str | None, end: str | None, include_begin: bool = False, zone: tzinfo | None = UTC) -> "Window":
        """The window between two times, given as texts that `instant_of` accepts. Raises InvalidQuery."""
        first, last = (None if time is None else instant_of(time, zone) for time in (begin, end))
        if first is not None and last is not None and last < first:
            raise InvalidQuery(
                "the window ends before it begins", rule="TYP-009", expected=f"an end from {first} on", found=last,
                remedy="exchange the bounds; for all writes up to the end omit begin",
            )  # fmt: skip
        return cls(first, last, include_begin)

    @implements("TYP-009", "NBC-006")
    def holds(self, completion: str | None) -> bool:
        """Whether a write with this completion time is in the window; None is a write that did not complete."""
        if completion is None or (self.end is not None and completion > self.end):
            return False
        if self.begin is None:
            return True
        # ER-101: the begin is exclusive, as from release 1.1 on; 1.0.2 includes it.
        return completion >= self.begin if self.include_begin else completion > self.begin

    @implements("TYP-009")
    def of(self, timeline: Timeline) -> tuple[Instant, ...]:
        """The writes in the window, archived ones included, by completion time."""
        found = timeline.completed_between(self.begin or START_OF_TIME, self.end or END_OF_TIME)
        return tuple(i for i in found if i.action in COMMITS and self.holds(i.completion or i.requested))

    @property
    def after(self) -> "Window":
        """The window after this one; empty if this one has no end."""
        return Window(self.end or END_OF_TIME)

    @property
    def until(self) -> str:
        """The least text that is greater than every time in the window: `!` orders before the digits."""
        return END_OF_TIME if self.end is None else f"{self.end}!"
