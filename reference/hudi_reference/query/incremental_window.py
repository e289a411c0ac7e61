"""Windows of incremental and change queries: which completions lie in them.

Bounds are completion times, begin exclusive, end inclusive: of windows that follow one another each completion lies in one, and
what began early and completed late is in the window in which it became visible.
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
    """Completions after `begin` (from there on if `include_begin`) up to `end`; None leaves a side open."""

    begin: str | None = None
    end: str | None = None
    include_begin: bool = False

    @classmethod
    def between(cls, begin: str | None, end: str | None, include_begin: bool = False, zone: tzinfo | None = UTC) -> "Window":
        """The window between two points of the timeline, in the texts of `instant_of`. Raises InvalidQuery."""
        first, last = (None if time is None else instant_of(time, zone) for time in (begin, end))
        if first is not None and last is not None and last < first:
            raise InvalidQuery(
                "the window ends before it begins", rule="TYP-009", expected=f"an end from {first} on", found=last,
                remedy="exchange the bounds; for everything up to the end leave begin out",
            )  # fmt: skip
        return cls(first, last, include_begin)

    @implements("TYP-009", "NBC-006")
    def holds(self, completion: str | None) -> bool:
        """Whether a write that completed then is in the window; None is one that did not complete."""
        if completion is None or (self.end is not None and completion > self.end):
            return False
        if self.begin is None:
            return True
        # ER-101: the begin is exclusive, as from release 1.1 on; 1.0.2 includes it.
        return completion >= self.begin if self.include_begin else completion > self.begin

    @implements("TYP-009")
    def of(self, timeline: Timeline) -> tuple[Instant, ...]:
        """The writes in the window, archived ones too, by completion time."""
        found = timeline.completed_between(self.begin or START_OF_TIME, self.end or END_OF_TIME)
        return tuple(i for i in found if i.action in COMMITS and self.holds(i.completion or i.requested))

    @property
    def after(self) -> "Window":
        """What completes behind the window; nothing where it has no end."""
        return Window(self.end or END_OF_TIME)

    @property
    def until(self) -> str:
        """The least text behind every time in the window: `!` comes before the digits."""
        return END_OF_TIME if self.end is None else f"{self.end}!"
