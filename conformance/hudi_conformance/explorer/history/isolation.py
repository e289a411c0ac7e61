"""Isolation anomalies of a history: which two operations violate which rule.

Two properties are checked:

    snapshot isolation      the answer of a query is the table after one step during the query: each write that was visible then
                            completely, and no other; two queries as of one time have one answer
    serialisability         no other write changed the rows that an optimistic write is based on before it completed: a serial
                            execution in the order of completion times yields the same rows

    for anomaly in anomalies(history):
        print(anomaly)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from hudi_conformance.explorer.history.history import History, Operation, Rows


@dataclass(frozen=True)
class Anomaly:
    """An anomaly between two operations; `second` is the one with the wrong outcome."""

    name: str
    rule: str
    first: Operation | None
    second: Operation
    detail: str

    def __str__(self) -> str:
        other = "" if self.first is None else f" against {self.first}"
        return f"{self.name} [{self.rule}]: {self.second}{other}: {self.detail}"


def find_anomalies(history: History) -> Iterator[Anomaly]:
    """All anomalies, those of queries first."""
    yield from broken_snapshots(history)
    yield from changing_reads(history)
    yield from unserialisable_writes(history)


def broken_snapshots(history: History) -> Iterator[Anomaly]:
    """Queries whose answer is the table at no step of the query."""
    for query in history.queries:
        if query.at is None and not any(query.read == history.rows_at(step) for step in history.relevant_steps(query)):
            yield _explain(history, query)


def changing_reads(history: History) -> Iterator[Anomaly]:
    """Queries as of one time with different answers."""
    asked = [query for query in history.queries if query.at is not None]
    for first, second in combinations(asked, 2):
        if first.at == second.at and first.read != second.read:
            key = _first_difference(first.read or {}, second.read or {})
            seen = f"{key!r} is {(first.read or {}).get(key)!r} first, then {(second.read or {}).get(key)!r}"
            yield Anomaly("non-repeatable read", "RDR-006", first, second, seen)


def unserialisable_writes(history: History) -> Iterator[Anomaly]:
    """Optimistic writes whose rows or file groups another write changed in the meantime."""
    for write in history.writes:
        if write.exclusive and (found := _overtaken(history, write)):
            yield found


def _overtaken(history: History, write: Operation) -> Anomaly | None:
    for other in _overtaking(history, write):
        if shared := sorted(other.groups & write.groups) if other.exclusive else ():
            partition, file_id = shared[0]
            text = f"both changed file group {file_id} in partition {partition!r}, and neither is based on the other"
            return Anomaly("lost update", "OCC-013", other, write, text)
    if write.read is None:
        return None
    now = history.rows_before(write)
    for key, value in write.read.items():
        if now.get(key) != value:
            text = f"it is based on {key!r} being {value!r}, which was {now.get(key)!r} when it completed"
            other_write = _last_writer(history, key, write)
            name, rule = ("lost update", "OCC-013") if key in write.wrote else ("write skew", "OCC-001")
            return Anomaly(name, rule, other_write, write, text)
    return None


def _overtaking(history: History, write: Operation) -> Iterator[Operation]:
    """The writes that completed after the write had read the timeline and before it completed."""
    if write.based_on is None:
        return
    for other in history.writes:
        if other is not write and write.based_on < (other.completion or "") < (write.completion or ""):
            yield other


def _last_writer(history: History, key: str, before: Operation) -> Operation | None:
    wrote = [o for o in history.writes if key in o.wrote and (o.completion or "") < (before.completion or "")]
    return wrote[-1] if wrote else None


def _explain(history: History, query: Operation) -> Anomaly:
    """Why an answer differs from the table at every step of the query."""
    answer = query.read or {}
    allowed = [history.rows_at(step) for step in history.relevant_steps(query)]
    for key in sorted({*answer, *(key for rows in allowed for key in rows)}):
        if not any(rows.get(key) == answer.get(key) for rows in allowed):
            return _explain_key(history, query, key, answer.get(key))
    return _torn(history, query)


def _explain_key(history: History, query: Operation, key: str, value: Any) -> Anomaly:
    """The anomaly of a value that the table had at no step of the query: uncommitted, rolled back, stale, or unknown."""
    seen, end = f"{key!r} is {value!r}", query.invoked if query.ended is None else query.ended
    authors = [o for o in history.operations if key in o.wrote and o.wrote[key] == value]
    begun = [o for o in authors if o.published is not None and o.published <= end]
    if authors and not begun:
        return Anomaly("dirty read", "RDR-008", authors[0], query, f"{seen}, which was not completed")
    if begun and begun[-1].withdrawn is not None:
        return Anomaly("withdrawn write", "TL-019", begun[-1], query, f"{seen}, which had been rolled back")
    missed = [o for o in history.writes if key in o.wrote and o.is_visible(query.invoked - 1)]
    is_known = bool(begun) or history.before.get(key) == value or value is None
    if not missed or not is_known:
        return Anomaly("value from nowhere", "RDR-008", None, query, f"{seen}, which no operation wrote")
    text = f"{seen}, although {missed[-1]} had completed"
    if (loser := _overwriter(history, missed[-1])) is not None:
        return Anomaly("lost update", "OCC-013", missed[-1], loser, f"{text}; read by {query}")
    return Anomaly("stale read", "RDR-013", missed[-1], query, text)


def _overwriter(history: History, lost: Operation) -> Operation | None:
    """A later write of the same file group that is not based on the lost one."""
    for other in history.writes:
        if other.based_on is None or other is lost or not other.groups & lost.groups:
            continue
        if other.based_on < (lost.completion or "") < (other.completion or ""):
            return other
    return None


def _torn(history: History, query: Operation) -> Anomaly:
    """The anomaly of an answer whose values are right at different steps only: it mixes states of the table."""
    answer = query.read or {}
    concerned = [w for w in history.writes if w.published is not None and query.invoked <= w.published <= (query.ended or 0)]
    seen = [w for w in concerned if w.wrote and all(answer.get(key) == value for key, value in w.wrote.items())]
    unseen = [w for w in concerned if w not in seen]
    text = f"it shows {', '.join(map(str, seen)) or 'nothing new'} without {', '.join(map(str, unseen)) or 'what was there'}"
    return Anomaly("torn snapshot", "RDR-005", unseen[0] if unseen else None, query, text)


def _first_difference(first: Rows, second: Rows) -> str:
    return min(key for key in {*first, *second} if first.get(key) != second.get(key))
