"""Bloom filters: keys added and looked up per CPU second, by the reference and by Apache Hudi."""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
from rich.console import Console
from tools.bench import apache_hudi

from hudi_reference.files.bloom.bloom import RATE, FilterType, make_filter

#: Keys of one file. A dynamic filter reads all of its rows for each key.
MOST = 100_000


def measure(console: Console, folder: Path, rows: int, rounds: int) -> dict[str, Any]:
    """Measure both kinds of filters, created for the number of keys that are added."""
    keys = pa.array([f"key-{number:09}" for number in range(min(rows, MOST))])
    (folder / "keys").write_text("\n".join(keys.to_pylist()))
    found = {}
    for kind in FilterType:
        ours = _ours(keys, kind, rounds)
        theirs = apache_hudi.run_program("bloom", str(folder / "keys"), kind, str(rounds))
        if theirs["held"] != len(keys):
            raise ValueError(f"{theirs['held']} of {len(keys)} keys are held")
        found[kind.value] = {"reference": ours, "apache-hudi": theirs}
        rates = [
            f"{what}: {len(keys) / ours[what] / 1e6:.2f} and {len(keys) / theirs[what] / 1e6:.2f}" for what in ("make", "ask")
        ]
        console.print(
            f"{kind}, million keys a second of CPU, reference and Apache Hudi {apache_hudi.VERSION}: {'; '.join(rates)}"
        )
    return found


def _ours(keys: pa.Array, kind: FilterType, rounds: int) -> dict[str, float]:
    made = make_filter(keys, kind, entries=len(keys), rate=RATE, max_entries=len(keys))
    if not all(made.may_hold(keys)):
        raise ValueError("a key that was added is not held")
    return {
        "make": _cost(lambda: make_filter(keys, kind, entries=len(keys), rate=RATE, max_entries=len(keys)), rounds),
        "ask": _cost(lambda: made.may_hold(keys), rounds),
    }


def _cost(task: Callable[[], object], rounds: int) -> float:
    costs = []
    for _ in range(rounds):
        started = time.process_time()
        task()
        costs.append(time.process_time() - started)
    return median(costs)
