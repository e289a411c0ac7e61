"""One process of the benchmark of timelines: `python -m tools.bench.timeline.worker TASK TABLE ROUNDS`; prints JSON.

Figures are CPU seconds. The readers of a task take turns after one warm-up round; all must find the same number of instants.
"""

import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pyarrow.parquet as pq

from hudi_reference import open_table
from hudi_reference.timeline.active import Timeline

Candidate = Callable[[], int]
_NAME = re.compile(r"(\d{17})(?:_(\d{17}))?\.([a-z.]+)")
COLUMNS = ["instantTime", "completionTime", "action"]


def count_actions_plainly(folder: Path) -> int:
    """The minimal reader of a timeline: list the folder, parse the names, count the completed actions."""
    names = os.listdir(folder)  # noqa: PTH208 - the fastest there is
    found = [match.groups() for name in names if (match := _NAME.fullmatch(name))]
    return sum(completion is not None for _, completion, _ in found)


def read_history_with_pyarrow(folder: Path) -> int:
    """The minimal reader of a history: read three columns of the files of the manifest."""
    files = json.loads((folder / "manifest_1").read_text())["files"]
    tables = [pq.ParquetFile(folder / file["fileName"], memory_map=True).read(COLUMNS, use_threads=False) for file in files]
    return sum(table.num_rows for table in tables)


def read_timeline(table: Path) -> Timeline:
    """The timeline as the reference reads it, without a cache."""
    return open_table(str(table)).timeline


def list_readers(task: str, table: Path) -> dict[str, Candidate]:
    """The readers that are compared."""
    home = table / ".hoodie" / "timeline"
    if task == "active":
        return {"reference": lambda: len(read_timeline(table).completed), "plain": lambda: count_actions_plainly(home)}
    if task == "history":
        return {
            "reference": lambda: len(read_timeline(table).history),
            "pyarrow": lambda: read_history_with_pyarrow(home / "history"),
        }
    last = read_timeline(table).history
    return {
        "all": lambda: len(read_timeline(table).requested_between()),
        "newest 1,000": lambda: len(read_timeline(table).requested_between(begin=last[-1000].requested)),
        "newest 100": lambda: len(read_timeline(table).requested_between(begin=last[-100].requested)),
        "completed in the newest 1,000": lambda: len(
            read_timeline(table).completed_between(begin=last[-1000].completion or "")
        ),
        "one of the newest": lambda: int(read_timeline(table).completion_of(last[-5].requested) is not None),
        "one of the oldest": lambda: int(read_timeline(table).completion_of(last[5].requested) is not None),
    }


def main() -> None:
    """Measure, print."""
    task, table, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    asked = list_readers(task, table)
    found = {name: ask() for name, ask in asked.items()}
    if task != "parts" and len(set(found.values())) > 1:
        raise ValueError(f"not the same number of instants: {found}")
    costs: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(rounds):
        for name, ask in asked.items():
            started = time.process_time()
            ask()
            costs[name].append(time.process_time() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"cpu": {name: median(cost) for name, cost in costs.items()}, "found": found, "peak": peak}))


if __name__ == "__main__":
    main()
