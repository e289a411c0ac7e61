"""What a concurrent run looked like to those who took part: operations, each with its begin, its end, and the rows it saw.

A step is the number of a request to storage, so that "before" and "after" are plain comparisons. When a write became visible
was seen from outside, at the store: that a process heard of it is another matter, for it may have died before.

    written = Operation("a", "upsert", invoked=1, ended=9, published=8, completion="5", wrote={"k": 1})
    history = History([written, Operation("b", "read", invoked=3, ended=12, read={"k": 1})])
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

#: Key -> value; in changes None takes the key away.
Rows = Mapping[str, Any]
#: Partition and file id.
GroupId = tuple[str, str]
#: What is left of some rows after changes, the first one first.
Fold = Callable[[Rows, Iterable[Rows]], dict[str, Any]]


class Outcome(StrEnum):
    """What the process heard of its operation."""

    DONE = "done"
    #: It was told that nothing happened.
    ABORTED = "aborted"
    #: It never heard: it died or stands still.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Operation:
    """One call of one process. It began before step `invoked` and came back after step `ended`, None if it did not.

    `read` are the rows that it saw: the answer of a query; of a write, the rows on which its changes rest. `wrote` are its
    changes, `groups` the file groups that they lie in. Its effect was visible from step `published` on, and no longer from step
    `withdrawn` on. `based_on` is the greatest completion time that a write had seen when it chose its files; `at` the time that
    a query asked for, None for the latest rows. A write that is not `exclusive` may overlap others: a log beside a compaction.
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
        """Whether a look at the table right after that step has to show its changes."""
        return self.published is not None and self.published <= step and (self.withdrawn is None or step < self.withdrawn)


def last_wins(before: Rows, changes: Iterable[Rows]) -> dict[str, Any]:
    """Each change overwrites: a table in commit-time order."""
    rows = dict(before)
    for change in changes:
        rows |= change
    return {key: value for key, value in rows.items() if value is not None}


@dataclass(frozen=True)
class History:
    """The operations of one run on a table that held the rows `before`; `fold` says what is left after several writes."""

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
        """What a look right after that step has to show."""
        return self.fold(self.before, (write.wrote for write in self.writes if write.is_visible(step)))

    def rows_before(self, write: Operation) -> dict[str, Any]:
        """What the writes left that completed before this one: what it would have seen, had it run alone at its completion."""
        assert write.published is not None
        earlier = (o for o in self.writes if (o.completion or "") < (write.completion or "") and o.is_visible(write.published))
        return self.fold(self.before, (operation.wrote for operation in earlier))

    def relevant_steps(self, operation: Operation) -> tuple[int, ...]:
        """The steps of an operation's life after which the table may have been looked at with another result than before."""
        end = operation.ended if operation.ended is not None else operation.invoked
        turns = {step for write in self.writes for step in (write.published, write.withdrawn) if step is not None}
        return (operation.invoked - 1, *sorted(step for step in turns if operation.invoked <= step <= end))
