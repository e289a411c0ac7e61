"""The cost of syncing, and of walking paths through opened folders: `python -m tools.bench.durability`.

Prints medians: wall clock and CPU seconds of an upsert of all rows and of a snapshot, with and without sync, which take turns;
then CPU microseconds of single requests to `LocalStorage`. With PYTHONPATH it measures another checkout.
"""

import inspect
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pyarrow as pa

from hudi_reference import create_table, open_table
from hudi_reference.storage import LocalStorage

ROUNDS = 7
SYNC = "HUDI_REFERENCE_SYNC"
SCHEMA = json.dumps(
    {"type": "record", "name": "t", "fields": [{"name": name, "type": kind} for name, kind in
     (("id", "string"), ("p", "string"), ("v", "long"))]}
)  # fmt: skip


def rows(number: int, value: int) -> pa.Table:
    """Rows in eight partitions."""
    keys = {"id": [f"k{i}" for i in range(number)], "p": [f"p{i % 8}" for i in range(number)]}
    return pa.table({**keys, "v": pa.array([value] * number, pa.int64())})


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """Wall clock and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure_actions(folder: Path, number: int) -> None:
    """Upserts and snapshots, with the modes in turns."""
    modes = ("0", "1") if "sync" in inspect.signature(LocalStorage.__init__).parameters else ("0",)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for mode in modes:
        table = create_table(str(folder / mode), name="t", schema=SCHEMA, record_key=("id",), partition=("p",))
        table.insert(rows(number, 0))
    for turn in range(ROUNDS):
        for mode in modes:
            os.environ[SYNC], uri, new = mode, str(folder / mode), rows(number, turn + 1)
            found.setdefault(("upsert", mode), []).append(timed(lambda uri=uri, new=new: open_table(uri).upsert(new)))
            found.setdefault(("snapshot", mode), []).append(timed(lambda uri=uri: open_table(uri).snapshot()))
    for (name, mode), seconds in found.items():
        wall, cpu = (statistics.median(part) for part in zip(*seconds, strict=True))
        print(f"{number:>7,} rows  {name:<9} sync={mode}  wall {wall:.3f} s  CPU {cpu:.3f} s")


def measure_requests(folder: Path) -> None:
    """Single requests without sync."""
    os.environ[SYNC] = "0"
    storage = LocalStorage(folder)
    path = next(info.path for info in storage.list() if info.path.endswith(".parquet"))
    new, old = count(), count()
    requests: dict[str, tuple[int, Callable[[], object]]] = {
        "get": (2000, lambda: storage.get(path)),
        "open": (2000, lambda: storage.open(path)),
        "head": (2000, lambda: storage.head(path)),
        "names": (500, lambda: storage.names(".hoodie/timeline")),
        "list": (200, storage.list),
        "create": (500, lambda: storage.create(f"new/{next(new)}", b"x")),
        "delete": (400, lambda: storage.delete(f"new/{next(old)}")),
    }
    for name, (times, request) in requests.items():
        seconds = [timed(lambda request=request, times=times: [request() for _ in range(times)])[1] for _ in range(5)]
        print(f"{name:<7} {statistics.median(seconds) / times * 1e6:8.1f} µs CPU")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for size in (80, 80_000):
            measure_actions(Path(place) / str(size), size)
        measure_requests(Path(place) / "80" / "0")
