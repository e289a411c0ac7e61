"""Measure timelines: `python -m tools.bench.timeline [--rounds N] [--large N] [--json FILE]`.

active      opening a table with 2,000 completed actions on its active timeline, compared with listing the folder and
            parsing the names in plain Python, and with Apache Hudi's meta client in a warm JVM
history     2,000 archived actions, compared with pyarrow reading the three columns, and with Apache Hudi's archived timeline
large       100,000 of each: all of the history, its newest 1,000 actions, one action; the active timeline

Reference, plain Python and pyarrow take turns in one new process; Apache Hudi runs in its own JVM.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import apache_hudi
from tools.bench.timeline import tables

console = Console()
INSTANTS = 2000
#: Measured task -> compared reader -> goal for the ratio of CPU seconds, at most.
GOALS = {
    "active": {"plain": 3.0, "apache-hudi@1.0.2": 0.15},
    "history": {"pyarrow": 3.0, "apache-hudi@1.0.2": 1.0},
}


def measure_readers(task: str, table: Path, rounds: int) -> dict[str, Any]:
    """Medians of CPU seconds of each reader, from a new process."""
    argv = [sys.executable, "-m", "tools.bench.timeline.worker", task, str(table), str(rounds)]
    found: dict[str, Any] = json.loads(subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout)
    return found


def against_apache_hudi(task: str, table: Path, rounds: int, count: int) -> float:
    """The median of CPU seconds of Apache Hudi; its answer must have the same number of instants."""
    kind = {"active": "active", "history": "archived"}[task]
    found = apache_hudi.run_program(kind, table.as_uri(), str(rounds), program="ApacheHudiTimeline")
    if found["found"] != count:
        raise ValueError(f"Apache Hudi finds {found['found']} instants, and not {count}")
    return float(found["cpu"])


def measure(folder: Path, rounds: int) -> dict[str, Any]:
    """Measure an active and an archived timeline of 2,000 actions."""
    figures: dict[str, Any] = {}
    for task, make in (("active", tables.make_active_timeline), ("history", tables.make_history)):
        table = make(folder / task, INSTANTS)
        found = measure_readers(task, table, rounds)
        found["cpu"][f"apache-hudi@{apache_hudi.VERSION}"] = against_apache_hudi(task, table, rounds, INSTANTS)
        figures[task] = found | {"ratio": {peer: found["cpu"]["reference"] / found["cpu"][peer] for peer in GOALS[task]}}
    return figures


def measure_large(folder: Path, count: int, rounds: int) -> dict[str, Any]:
    """Measure large timelines with the reference only."""
    history = tables.make_history(folder / "large-history", count)
    active = tables.make_active_timeline(folder / "large-active", count)
    return {
        "history": measure_readers("parts", history, rounds),
        "active": measure_readers("active", active, max(1, rounds // 5)),
    }


def print_figures(figures: dict[str, Any]) -> None:
    """Print milliseconds and ratios."""
    shown = RichTable("task", "reference", "peers", "ratios", title="medians, CPU milliseconds")
    for task, goals in GOALS.items():
        cpu = figures[task]["cpu"]
        ratios = figures[task]["ratio"]
        shown.add_row(
            f"{INSTANTS:,} {task}",
            f"{cpu['reference'] * 1e3:.1f}",
            ", ".join(f"{peer} {cpu[peer] * 1e3:.1f}" for peer in goals),
            ", ".join(f"{peer} {ratios[peer]:.2f} <= {goal}" for peer, goal in goals.items()),
        )
    console.print(shown)


def main(
    rounds: Annotated[int, typer.Option(help="measured rounds")] = 15,
    large: Annotated[int, typer.Option(help="actions of the large timelines, 0 for none")] = 100_000,
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Create the tables, compare the answers, measure, print ratios."""
    with tempfile.TemporaryDirectory(prefix="hudi-bench-") as name:
        figures = measure(Path(name), rounds)
        print_figures(figures)
        if large:
            figures["large"] = measure_large(Path(name), large, rounds)
            console.print_json(json.dumps(figures["large"]))
    if output is not None:
        output.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    typer.run(main)
