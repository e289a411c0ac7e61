"""Measure tables: `python -m tools.bench [reads] [writes] [--rows N] [--rounds N] [--engines NAME,NAME] [--json FILE]`.

reads     snapshots, projections and read-optimized reads of tables of every kind
writes    upserts of 10 %, and a compaction of three rounds of upserts, each a complete commit on a new copy of its table

First each engine runs each task once, and the answers are compared; after a write, each engine reads the tables of the others.
Then the tasks are measured in rounds, in which the engines take turns.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import pyarrow.parquet as pq
import typer
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import tables
from tools.bench.tasks import ALL_COLUMNS, READS, WRITES, Task
from tools.bench.workers import Worker

console = Console()
TASKS = {"reads": READS, "writes": WRITES}
#: Goal for the peak memory of a merge-on-read snapshot in a new process, as a multiple of the size of the result in Arrow.
MEMORY_GOAL = 2.8


class Tables:
    """The tables of one run: missing tables are created, and each write gets a copy."""

    def __init__(self, folder: Path, kept: Path, rows: int) -> None:
        self.folder, self.kept, self.rows = folder, kept, rows
        self.changes = folder / "changes.parquet"
        pq.write_table(tables.make_updates(rows, 0.10, 9), self.changes)

    def folder_of_kind(self, kind: str) -> Path:
        """The table of one kind."""
        folder = self.kept / kind.replace(" ", "-")
        if not folder.exists():
            tables.make_table(folder, kind, self.rows)
        return folder

    def message(self, task: Task, worker: Worker) -> dict[str, Any]:
        """The task as a message for a worker; a write gets a new copy of its table."""
        table = self.folder_of_kind(task.kind)
        if task.writes:
            table = Path(shutil.copytree(table, self._copy(worker)))
        return {
            "do": task.do, "table": table.as_uri(), "columns": task.columns, "rows": str(self.changes),
            "options": dict(task.options), "compare": not task.writes,
        }  # fmt: skip

    def _copy(self, worker: Worker) -> Path:
        copy = self.folder / worker.name.replace("@", "-")
        shutil.rmtree(copy, ignore_errors=True)
        return copy


def compare_digests(found: Tables, workers: Sequence[Worker], task: Task) -> dict[str, Any]:
    """The answer of each engine; for a write, what each engine reads from the tables of the others.

    The engine `arrow` merges nothing, and is left out for tables with log files.
    """
    if not task.writes:
        merging = task.do == "read" and task.kind in tables.MERGE_ON_READ
        asked = [worker for worker in workers if not (merging and worker.name == "arrow")]
        return {worker.name: worker.run_task(found.message(task, worker))["digest"] for worker in asked}
    answers: dict[str, Any] = {}
    for writer in workers:
        message = found.message(task, writer)
        writer.run_task(message)
        read = {**message, "do": "read", "columns": ALL_COLUMNS, "compare": True}
        others = [worker for worker in workers if worker is not writer]
        answers |= {f"{writer.name}, read by {reader.name}": reader.run_task(read)["digest"] for reader in others}
    return answers


def measure_task(found: Tables, workers: Sequence[Worker], task: Task, rounds: int) -> None:
    """Compare the answers, then run `rounds` rounds in which the engines take turns."""
    answers = compare_digests(found, workers, task)
    if len({json.dumps(answer, sort_keys=True) for answer in answers.values()}) > 1:
        console.print(f"[red]{task.title}: the rows are not the same[/red]", answers)
        raise typer.Exit(1)
    for _ in range(rounds):
        for worker in workers:
            cost = worker.run_task({**found.message(task, worker), "compare": False})
            worker.costs.setdefault(task.title, []).append(cost)
    shown = (f"{w.name} {median(c['cpu'] for c in w.costs[task.title]):.2f}" for w in workers)
    console.print(f"{task.title}: CPU s {', '.join(shown)}; system load {os.getloadavg()[0]:.0f}")


def peak_memory(found: Tables) -> dict[str, float]:
    """Peak resident size of a new process that reads a merge-on-read snapshot, and the size of its result, in bytes."""
    worker = Worker.start("reference")
    task = next(task for task in READS if task.kind in tables.MERGE_ON_READ)
    cost = worker.run_task({**found.message(task, worker), "columns": None, "compare": False})
    worker.stop()
    ratio = cost["peak"] / cost["bytes"]
    console.print(f"peak memory of a merge-on-read snapshot: {ratio:.2f} x the result (goal {MEMORY_GOAL})")
    return {"bytes": cost["peak"], "result_bytes": cost["bytes"], "ratio": ratio}


def print_report(workers: Sequence[Worker], tasks: Sequence[Task]) -> dict[str, Any]:
    """Print medians and ratios; return them."""
    shown = RichTable(title="medians: CPU s / wall s, and the reference's CPU as a ratio of the peer's")
    for column in ("task", *(w.name for w in workers), "ratios", "goal"):
        shown.add_column(column)
    found: dict[str, Any] = {}
    for task in tasks:
        costs = {w.name: w.costs[task.title] for w in workers if task.title in w.costs}
        cpu, wall = ({name: median(c[what] for c in cost) for name, cost in costs.items()} for what in ("cpu", "wall"))
        ratios = {name: cpu["reference"] / value for name, value in cpu.items() if name != "reference" and value}
        found[task.title] = {"cpu": cpu, "wall": wall, "cpu_ratio": ratios}
        cells = [f"{cpu[w.name]:.2f} / {wall[w.name]:.2f}" if w.name in cpu else "" for w in workers]
        goals = [f"{n} {'<=' if ratios[n] <= most else '>'} {most}" for n, most in task.goals.items() if n in ratios]
        shown.add_row(task.title, *cells, ", ".join(f"{n} {r:.2f}" for n, r in ratios.items()), ", ".join(goals))
    console.print(shown)
    return found


def main(
    parts: Annotated[list[str] | None, typer.Argument(help=f"of {', '.join(TASKS)}; all by default")] = None,
    rows: Annotated[int, typer.Option(help="rows of each table")] = 1_000_000,
    rounds: Annotated[int, typer.Option(help="measured rounds")] = 5,
    engines: Annotated[str, typer.Option(help="peers of the reference, comma separated")] = "arrow,hudi-rs,apache-hudi@1.0.2",
    kept: Annotated[Path | None, typer.Option("--tables", help="folder of the tables: kept; missing ones are created")] = None,
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Create the tables, compare the answers, measure, print ratios."""
    tasks = [task for part in parts or TASKS for task in TASKS[part]]
    peers = [name for name in engines.split(",") if any(name.startswith(task.peers) for task in tasks)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hudi-bench-")))
        found = Tables(folder, kept or folder, rows)
        workers = [Worker.start(name) for name in ("reference", *peers)]
        for worker in workers:
            stack.callback(worker.stop)
        for task in tasks:
            measure_task(found, [w for w in workers if w.name == "reference" or w.name.startswith(task.peers)], task, rounds)
        figures = print_report(workers, tasks)
        if parts is None or "reads" in parts:
            figures["peak memory"] = peak_memory(found)
        if output is not None:
            output.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    typer.run(main)
