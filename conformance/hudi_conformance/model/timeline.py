"""What is on a table's timeline, and which rows it has, after any program of writes and services.

A plain list of commits, each with all rows as they were then. Undoing takes commits off its end; what only tidies up changes
nothing that a reader can see, except that older states can no longer be asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]
Rows = Mapping[str, Row]


@dataclass
class TimelineModel:
    """The completed writes in order, (requested time, rows by key), and the instants that are savepointed."""

    commits: list[tuple[str, Rows]] = field(default_factory=list)
    savepoints: set[str] = field(default_factory=set)
    #: Place of the first commit whose state can still be asked for, by others than savepoints.
    oldest: int = 0

    @property
    def rows(self) -> Rows:
        """The rows that a snapshot has now."""
        return self.commits[-1][1] if self.commits else {}

    @property
    def newest(self) -> str | None:
        """The requested time of the last write."""
        return self.commits[-1][0] if self.commits else None

    def after(self, changes: Rows, deletes: frozenset[str] = frozenset()) -> Rows:
        """The rows as they would be after a write."""
        return {key: row for key, row in {**self.rows, **changes}.items() if key not in deletes}

    def write(self, instant: str, rows: Rows) -> None:
        """A write has completed and left these rows."""
        self.commits.append((instant, rows))

    def can_roll_back(self) -> bool:
        """The newest write can be undone: no savepoint protects it, and the state before it is still there."""
        return self.newest is not None and self.newest not in self.savepoints and len(self.commits) - 2 >= self.oldest

    def roll_back(self) -> None:
        """The newest write is undone."""
        self.commits.pop()

    def restore(self, instant: str) -> None:
        """Every write after that one is undone; states before it may be gone."""
        place = [requested for requested, _ in self.commits].index(instant)
        del self.commits[place + 1 :]
        self.oldest = place

    def tidy(self, kept: int) -> None:
        """A clean or an archiver has left the last `kept` states."""
        self.oldest = max(self.oldest, len(self.commits) - kept)

    def readable(self) -> dict[str, Rows]:
        """The states that can be asked for by time: those that were kept, and those of savepoints."""
        return {
            requested: rows
            for place, (requested, rows) in enumerate(self.commits)
            if place >= self.oldest or requested in self.savepoints
        }
