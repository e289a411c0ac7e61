"""Measure the Spark engine: `python -m tools.bench.spark [--rows N] [--rounds N] [--peers NAME,NAME] [--only KIND]`.

merge-on-read     a snapshot of every column, for both standard merge modes and both formats of log blocks, to Spark's `noop`
                  sink, compared with the datasource of Apache Hudi in a session with the same settings
copy-on-write     slices without log files, compared with Spark's own Parquet reader in the same session

Rows are compared first, then the engines take turns. CPU time includes all processes: driver, JVM and Python workers.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import tables
from tools.bench.workers import Worker

console = Console()
COLUMNS = [field["name"] for field in tables.SCHEMA["fields"]]
#: Goals: CPU seconds of the Spark engine divided by those of the other reader, at most.
GOALS = {"apache-hudi@1.0.2": 0.7, "apache-hudi@1.2.0": 0.6, "parquet": 1.1}
#: Warm-up rounds, in addition to the comparison: a JVM compiles code that runs often.
WARM_UP = 1


def made_once(folder: Path, kind: str, rows: int) -> str:
    """The URI of the table in a folder; the table is created if it does not exist."""
    return folder.as_uri() if folder.exists() else tables.make_table(folder, kind, rows).uri


def take_turns(title: str, table: str, peers: dict[str, Worker], rounds: int) -> dict[str, Any]:
    """Compare the rows of all readers, then let them read in turns; return medians of CPU and wall seconds, and ratios."""
    tasks = {name: {"by": name.partition("@")[0], "table": table, "columns": COLUMNS} for name in peers}
    sums = {name: peers[name].run_task({**task, "compare": True})["checksum"] for name, task in tasks.items()}
    if len(set(map(tuple, sums.values()))) > 1:
        console.print(f"[red]{title}: the engines answer different rows[/red]", sums)
        raise typer.Exit(1)
    costs: dict[str, list[dict[str, Any]]] = {name: [] for name in peers}
    for turn in range(WARM_UP + rounds):
        for name, task in tasks.items():
            cost = peers[name].run_task({**task, "compare": False})
            if turn >= WARM_UP:
                costs[name].append(cost)
    cpu, wall = ({name: median(c[kind] for c in found) for name, found in costs.items()} for kind in ("cpu", "wall"))
    found = {"cpu": cpu, "wall": wall, "ratio": {name: cpu["spark"] / cpu[name] for name in cpu if name != "spark"}}
    console.print(title, found, f"system load {os.getloadavg()[0]:.0f}")
    return found


def measure(folder: Path, rows: int, rounds: int, names: Sequence[str], only: str) -> dict[str, Any]:
    """Measure every table whose kind contains `only`, with the readers that it is compared with."""
    found: dict[str, Any] = {}
    ours, others = Worker.start("spark", "tools.bench.spark.worker"), {}
    try:
        others = {name: Worker.start(name, "tools.bench.spark.worker") for name in names}
        alone = {"spark": ours, "parquet": ours}
        for kind in (kind for kind in tables.KINDS if only in kind):
            uri = made_once(folder / kind.replace(" ", "-"), kind, rows)
            peers = {"spark": ours, **others} if kind in tables.MERGE_ON_READ else alone
            if len(peers) > 1:
                found[kind] = take_turns(kind, uri, peers, rounds)
    finally:
        for worker in (ours, *others.values()):
            worker.stop()
    return found


def print_report(figures: dict[str, Any]) -> None:
    """Print medians and ratios."""
    shown = RichTable("table", "CPU s / wall s", "our CPU, of the peer's", title="the Spark engine, medians")
    for kind, found in figures.items():
        costs = (f"{name} {cpu:.2f} / {found['wall'][name]:.2f}" for name, cpu in found["cpu"].items())
        ratios = (f"{name} {r:.2f} {'<=' if r <= GOALS[name] else '>'} {GOALS[name]}" for name, r in found["ratio"].items())
        shown.add_row(kind, ", ".join(costs), ", ".join(ratios))
    console.print(shown)


def main(
    rows: Annotated[int, typer.Option(help="rows of each table")] = 1_000_000,
    rounds: Annotated[int, typer.Option(help="measured rounds")] = 5,
    peers: Annotated[
        str, typer.Option(help="releases of Apache Hudi, comma separated")
    ] = "apache-hudi@1.0.2,apache-hudi@1.2.0",
    kept: Annotated[Path | None, typer.Option("--tables", help="folder of the tables: kept; missing ones are created")] = None,
    only: Annotated[str, typer.Option(help="tables whose kind contains this text")] = "",
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Create the tables, compare the rows, measure, print ratios."""
    folder = Path(tempfile.mkdtemp(prefix="hudi-bench-"))
    try:
        figures = measure(kept or folder, rows, rounds, [name for name in peers.split(",") if name], only)
        print_report(figures)
        if output is not None:
            output.write_text(json.dumps(figures, indent=2) + "\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    typer.run(main)
