"""The history of a concurrent run: operations, each with its begin, its end, and the rows that it read or wrote.

A step is the number of a request to storage, so that "before" and "after" are plain comparisons. The step at which a write
became visible is observed at the store, since the process may have crashed before it got the answer.

    written = Operation("a", "upsert", invoked=1, ended=9, published=8, completion="5", wrote={"k": 1})
    history = History([written, Operation("b", "read", invoked=3, ended=12, read={"k": 1})])
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

#: Key -> value; in changes None deletes the key.
Rows = Mapping[str, Any]
#: Partition and file id.
GroupId = tuple[str, str]
#: Computes rows after changes, the first change first.
Fold = Callable[[Rows, Iterable[Rows]], dict[str, Any]]


class Outcome(StrEnum):
    """The outcome of an operation that its process knows."""

    DONE = "done"
    #: The operation failed without effect.
    ABORTED = "aborted"
    #: No answer: the process crashed or stalled.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Operation:
    """One call of one process. It began before step `invoked` and returned after step `ended`, None if it did not.

    `read` are the rows that it read: the answer of a query, or the rows that a write is based on. `wrote` are its changes,
    `groups` their file groups. Its effect was visible from step `published` on, until step `withdrawn`. `based_on` is the
    greatest completion time on the timeline when a write chose its files; `at` is the time of a time-travel query, None for
    the latest rows. A write that is not `exclusive` may overlap others, such as a log beside a compaction.
    """

    process: str
    kind: str
    invoked: int
    ended: int | None = None
    outcome: Outcome = Outcome.DONE
    read: Rows | None = None
    wrote: Rows = field(default_factory=dict)
    groups: frozenset[GroupId] = frozenset()
    requested: str | None = None
    completion: str | None = None
    published: int | None = None
    withdrawn: int | None = None
    based_on: str | None = None
    at: str | None = None
    exclusive: bool = True

    def __str__(self) -> str:
        instant = f" {self.requested}" if self.requested else ""
        asked = f" as of {self.at}" if self.at else ""
        end = "…" if self.ended is None else self.ended
        return f"{self.process}'s {self.kind}{instant}{asked} (steps {self.invoked} to {end})"

    def is_visible(self, step: int) -> bool:
        """Whether a read right after that step must include its changes."""
        return self.published is not None and self.published <= step and (self.withdrawn is None or step < self.withdrawn)


def last_wins(before: Rows, changes: Iterable[Rows]) -> dict[str, Any]:
    """Rows of a table in commit-time order: each change overwrites."""
    rows = dict(before)
    for change in changes:
        rows |= change
    return {key: value for key, value in rows.items() if value is not None}


@dataclass(frozen=True)
class History:
    """The operations of one run on a table with the rows `before`; `fold` computes the rows after several writes."""

    operations: Sequence[Operation]
    before: Rows = field(default_factory=dict)
    fold: Fold = last_wins

    @property
    def writes(self) -> tuple[Operation, ...]:
        """The writes that became visible, in the order of their completion times."""
        done = (operation for operation in self.operations if operation.published is not None)
        return tuple(sorted(done, key=lambda operation: (operation.completion or "", operation.published)))

    @property
    def queries(self) -> tuple[Operation, ...]:
        """The queries that were answered, in the order of their begin."""
        answered = (o for o in self.operations if o.kind == "read" and o.outcome is Outcome.DONE and o.read is not None)
        return tuple(sorted(answered, key=lambda operation: operation.invoked))

    def rows_at(self, step: int) -> dict[str, Any]:
        """The rows that a read right after that step must return."""
        return self.fold(self.before, (write.wrote for write in self.writes if write.is_visible(step)))

    def rows_before(self, write: Operation) -> dict[str, Any]:
        """The rows after all writes that completed before this one: what it would have read in a serial execution."""
        assert write.published is not None
        earlier = (o for o in self.writes if (o.completion or "") < (write.completion or "") and o.is_visible(write.published))
        return self.fold(self.before, (operation.wrote for operation in earlier))

    def relevant_steps(self, operation: Operation) -> tuple[int, ...]:
        """The steps during an operation at which the rows of the table may have changed, and the one before it."""
        end = operation.ended if operation.ended is not None else operation.invoked
        turns = {step for write in self.writes for step in (write.published, write.withdrawn) if step is not None}
        return (operation.invoked - 1, *sorted(step for step in turns if operation.invoked <= step <= end))
