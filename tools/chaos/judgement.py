"""The history of a run from the journals of its processes, and its anomalies.

The order of the writes is that of their completion times, on which readers rely. Write number n is visible from step 2 n on. A
query may show the writes up to some step between two limits: at least all that had been published when it began, and none whose
publication began after its end. So every anomaly is one under any order of the events that the clock cannot tell apart.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hudi_conformance.explorer.history.history import History, Operation, Outcome
from hudi_conformance.explorer.history.isolation import find_anomalies

Record = dict[str, Any]
#: The start of the name of the process that reads when all others have ended.
FINAL_READ = "read_once"


def read_journals(folder: Path) -> list[Record]:
    """The operations of all processes; the last line of a killed process may be incomplete."""
    found: dict[str, Record] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                fact = json.loads(line)
            except ValueError:
                continue
            found.setdefault(fact["id"], {}).update(fact)
    return [record for record in found.values() if "kind" in record]


def judge(records: list[Record], on_timeline: Iterable[str]) -> Iterator[str]:
    """Everything that is wrong, in one line each. `on_timeline` are all names of completed files that were ever seen."""
    seen = set(on_timeline)
    for record in records:
        if record.get("outcome") == "broken":
            yield f"untyped error of {record['id']} ({record['kind']}): {record['error']}"
        is_done = record.get("outcome") == "done"
        if is_done and record["kind"] in _WRITES and record.get("completed") not in seen:
            yield f"acknowledged write {record['id']} is not on the timeline: {record.get('completed')}"
        if record["process"].startswith(FINAL_READ) and not is_done:
            yield f"the table cannot be read at the end: {record.get('error')}"
    yield from _twice(records)
    yield from (str(anomaly) for anomaly in find_anomalies(_history(records, seen)))


_WRITES = ("insert", "upsert")


def _twice(records: list[Record]) -> Iterator[str]:
    """Queries that return a key twice."""
    for record in records:
        keys = Counter(key for key, _ in record.get("rows", ()))
        yield from (f"{record['id']} read the key {key!r} {n} times" for key, n in keys.items() if n > 1)


def _history(records: list[Record], seen: set[str]) -> History:
    writes = [r for r in records if r["kind"] in _WRITES and r.get("completed") in seen]
    writes.sort(key=lambda record: _completion(record["completed"]))
    steps = {record["id"]: 2 * (number + 1) for number, record in enumerate(writes)}
    operations = [
        Operation(
            record["process"], record["kind"], invoked=steps[record["id"]], ended=steps[record["id"]], wrote=record["wrote"],
            outcome=Outcome(record.get("outcome", "unknown")), requested=record["completed"].partition("_")[0],
            completion=_completion(record["completed"]), published=steps[record["id"]], exclusive=False,
        )
        for record in writes
    ]  # fmt: skip
    for record in records:
        if record["kind"] == "read" and record.get("outcome") == "done":
            least = max((steps[w["id"]] for w in writes if w.get("published", record["ended"]) < record["invoked"]), default=0)
            most = max((steps[w["id"]] for w in writes if w["publishing"] < record["ended"]), default=0)
            operations.append(
                Operation(record["process"], "read", invoked=least + 1, ended=max(most, least + 1), read=dict(record["rows"]))
            )
    return History(operations)


def _completion(name: str) -> str:
    return name.partition("_")[2].partition(".")[0]
