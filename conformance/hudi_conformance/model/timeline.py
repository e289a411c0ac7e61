"""A model of the timeline: completed writes and their rows after any program of writes and services.

It is a list of commits, each with all rows of its state. A rollback or restore removes commits from its end. Cleaning and
archiving do not change the rows, but older states can no longer be queried.
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
    #: Index of the first commit whose state can be queried without a savepoint.
    oldest: int = 0

    @property
    def rows(self) -> Rows:
        """The rows that a snapshot has now."""
        return self.commits[-1][1] if self.commits else {}

    @property
    def newest(self) -> str | None:
        """The requested time of the last write."""
        return self.commits[-1][0] if self.commits else None

    def rows_after(self, changes: Rows, deletes: frozenset[str] = frozenset()) -> Rows:
        """The rows as they would be after a write."""
        return {key: row for key, row in {**self.rows, **changes}.items() if key not in deletes}

    def write(self, instant: str, rows: Rows) -> None:
        """A write has completed and left these rows."""
        self.commits.append((instant, rows))

    def can_roll_back(self) -> bool:
        """Whether the newest write can be rolled back: no savepoint protects it, and the state before it exists."""
        return self.newest is not None and self.newest not in self.savepoints and len(self.commits) - 2 >= self.oldest

    def roll_back(self) -> None:
        """Roll back the newest write."""
        self.commits.pop()

    def restore(self, instant: str) -> None:
        """Roll back every write after that one; states before it may not exist any more."""
        place = [requested for requested, _ in self.commits].index(instant)
        del self.commits[place + 1 :]
        self.oldest = place

    def keep_states(self, kept: int) -> None:
        """A clean or archiving keeps the last `kept` states."""
        self.oldest = max(self.oldest, len(self.commits) - kept)

    def readable_states(self) -> dict[str, Rows]:
        """The states that can be queried by time: the kept ones, and those of savepoints."""
        return {
            requested: rows
            for place, (requested, rows) in enumerate(self.commits)
            if place >= self.oldest or requested in self.savepoints
        }
