"""Build the history of an explored run from the notes of its programs and the effects of their writes in the store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_conformance.explorer.history.history import Fold, History, Operation, Outcome, Rows, last_wins
from hudi_conformance.explorer.invariants.checker import BEGIN, END, CurrentOperation, InitialTable, ObservedState
from hudi_conformance.explorer.invariants.observed_state import CompletedAction
from hudi_conformance.explorer.simulation.runs import Run

_OUTCOMES = {"returned": Outcome.DONE, "raised": Outcome.ABORTED}


def greatest_wins(before: Rows, changes: Iterable[Rows]) -> dict[str, Any]:
    """A table in event-time order: values are (ordering value, value); the greater one wins, of equal ones the later."""
    rows = dict(before)
    for change in changes:
        late = {key for key, value in change.items() if value is not None and key in rows and value[0] < rows[key][0]}
        rows |= {key: value for key, value in change.items() if key not in late}
        rows = {key: value for key, value in rows.items() if value is not None}
    return rows


def build_history(start: InitialTable, run: Run, seen: ObservedState, *, ordering: bool = False) -> History:
    """The history of a run, given the observed state at its end. With `ordering`, values are (ordering value, value)."""
    changed = ChangeBuilder(frozenset(_keys(start, run)), ordering)
    found, last = list[Operation](), {step.process: number for number, step in enumerate(run.steps, 1)}
    open_: dict[str, tuple[CurrentOperation, int]] = {}
    for number, step in enumerate(run.steps, 1):
        if step.request != "note":
            continue
        if step.path == BEGIN:
            open_[step.process] = (step.asked.detail, number)
            if step.asked.detail.kind != "read":
                outcome = _OUTCOMES.get(run.results[step.process].how, Outcome.UNKNOWN)
                ended = None if outcome is Outcome.UNKNOWN else last[step.process]
                found += _of_a_process(step.process, step.asked.detail, (number, ended), outcome, seen, changed)
        elif step.path == END:
            doing, began = open_.pop(step.process)
            answer = {str(row[0]): changed.comparable_value(row[3], row[2]) for row in step.asked.detail}
            found.append(Operation(step.process, "read", began, number, read=answer, at=doing.at))
    fold: Fold = greatest_wins if ordering else last_wins
    return History((*_before(start, seen, changed), *found), fold=fold)


@dataclass(frozen=True)
class ChangeBuilder:
    """Computes the changes of a write, given all keys of the run with their partitions."""

    keys: frozenset[tuple[str, str]]
    ordering: bool

    def changes_of(self, kind: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The new value of each key, None if it is deleted. A replaced partition loses all its keys."""
        replaced = {row["city"] for row in rows} if kind in ("insert_overwrite", "delete_partition") else ()
        gone = {key: None for key, city in self.keys if city in replaced}
        if kind == "delete_partition":
            return gone
        return gone | {row["id"]: None if kind == "delete" else self.comparable_value(row["value"], row["ts"]) for row in rows}

    def comparable_value(self, value: Any, ordering_value: Any) -> Any:
        """The value as histories compare it."""
        return (int(ordering_value), value) if self.ordering else value


def _keys(start: InitialTable, run: Run) -> Iterator[tuple[str, str]]:
    begun = (step.asked.detail.rows for step in run.steps if step.request == "note" and step.path == BEGIN)
    for rows in (*(write.rows for write in start.writes), *begun):
        yield from ((row["id"], row["city"]) for row in rows if "id" in row)


def _before(start: InitialTable, seen: ObservedState, changed: ChangeBuilder) -> list[Operation]:
    """The writes before the run, some of which it may have rolled back."""
    withdrawn = {done.instant.requested: done.withdrawn for done in seen.done}
    return [
        Operation("before", write.kind, 0, 0, wrote=changed.changes_of(write.kind, write.rows), requested=write.requested,
                  completion=write.completion, published=0, withdrawn=withdrawn.get(write.requested))
        for write in start.writes
    ]  # fmt: skip


def _of_a_process(
    process: str,
    doing: CurrentOperation,
    steps: tuple[int, int | None],
    outcome: Outcome,
    seen: ObservedState,
    changed: ChangeBuilder,
) -> list[Operation]:
    """The operations of one call: the actions that it completed, or the call itself if it completed none."""
    done = [action for action in seen.done if action.process == process and action.is_write]
    wrote = {} if not doing.is_write else changed.changes_of(doing.kind, doing.rows)
    if not done:
        return [Operation(process, doing.kind, *steps, outcome, wrote=wrote)]
    return [_completed(action, doing, steps, outcome, wrote, seen) for action in done]


def _completed(
    done: CompletedAction,
    doing: CurrentOperation,
    steps: tuple[int, int | None],
    outcome: Outcome,
    wrote: Rows,
    seen: ObservedState,
) -> Operation:
    is_exclusive = not done.is_compaction and not (seen.start.non_blocking and done.is_log_only)
    return Operation(
        done.process, doing.kind, *steps, outcome, wrote={} if done.is_compaction else wrote, groups=done.groups,
        requested=done.instant.requested, completion=done.completion, published=done.step, withdrawn=done.withdrawn,
        based_on=done.based_on, exclusive=is_exclusive,
    )  # fmt: skip
