"""Incremental windows over the model of a table: the records that were written in a window, and the changes.

A window contains the actions that completed after `begin` and up to `end`; None means no bound. Every action needs its
completion time. The action that wrote a row is the first action after which the records contain this object.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_conformance.model.merge import Row, copy_rows
from hudi_conformance.model.table import Change, Key, Model

#: Operations that replace whole partitions, and operations that only move rows.
_REPLACING, _REWRITING = ("insert_overwrite", "delete_partition"), ("compact",)


@dataclass(frozen=True)
class Window:
    """Completions after `begin` (or from there on) up to `end`."""

    begin: str | None = None
    end: str | None = None
    include_begin: bool = False

    def contains(self, change: Change) -> bool:
        """Whether the action is in the window; texts are compared."""
        time = _completion(change)
        late_enough = self.begin is None or time > self.begin or (self.include_begin and time == self.begin)
        return late_enough and (self.end is None or time <= self.end)


def _completion(change: Change) -> str:
    if change.completion is None:
        raise ValueError("windows need a table all of whose changes were applied with their completion")
    return change.completion


def incremental_rows(model: Model, window: Window) -> list[Row]:
    """The records that were inserted or updated in the window, each once, as the end of the window left them."""
    until = [change for change in model.history if Window(None, window.end).contains(change)]
    #: By the identity of a row: the row, which must live as long as its number counts, and the action that wrote it.
    writers: dict[int, tuple[Row, Change]] = {}
    left: list[Row] = []
    for change, records in model.replay(until):
        left = [row for record in records.values() for row in record.rows]
        for row in left:
            writers.setdefault(id(row), (row, change))
    return copy_rows([row for row in left if window.contains(writers[id(row)][1])])


def change_rows(model: Model, window: Window) -> list[dict[str, Any]]:
    """Every change in the window: `op` (i, u, d), `ts_ms` (the action's requested time), the rows `before` and `after`.

    An action that replaces partitions deletes their rows and inserts its own. A row with equal values has not changed.
    """
    inside = [change for change in model.history if window.contains(change) and change.operation not in _REWRITING]
    return [found for change in sorted(inside, key=_completion) for found in _of_one(model, change)]


def _of_one(model: Model, change: Change) -> Iterator[dict[str, Any]]:
    earlier = [other for other in model.history if _completion(other) < _completion(change)]
    together = [other for other in model.history if _completion(other) <= _completion(change)]
    before, after = _rows(model, earlier), _rows(model, together)
    replaced = {model.partition_of(row) for row in change.rows} if change.operation in _REPLACING else set()
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old is not None and new is not None and key[0] in replaced:
            yield from (_image("d", change, old, None), _image("i", change, None, new))
        elif old != new:
            yield _image("i" if old is None else "d" if new is None else "u", change, old, new)


def _rows(model: Model, actions: Sequence[Change]) -> dict[Key, Row]:
    """The row of each key. Raises for keys with several rows."""
    found = {}
    for key, record in model.records_after(actions).items():
        if len(record.rows) > 1:
            raise ValueError(f"several rows have the key {key}: which of them changed is not settled")
        if record.rows:
            found[key] = record.rows[0]
    return found


def _image(operation: str, change: Change, before: Row | None, after: Row | None) -> dict[str, Any]:
    return {"op": operation, "ts_ms": change.instant, "before": before and dict(before), "after": after and dict(after)}
