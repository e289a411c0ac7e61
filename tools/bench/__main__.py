"""Measure tables: `python -m tools.bench [--rows N] [--rounds N] [--engines NAME,NAME] [--tables FOLDER] [--json FILE]`."""

import json
import os
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import tables
from tools.bench.workers import Worker

console = Console()
#: How a task's name begins -> goals: the reference's CPU seconds at most, as a ratio of those of the engine compared with.
GOALS = {
    "snapshot copy-on-write": {"arrow": 1.1},
    "snapshot merge-on-read": {"hudi-rs": 0.5, "apache-hudi@1.0.2": 0.25, "arrow": 2.0},
    "two columns merge-on-read": {"hudi-rs": 0.25},
    "read-optimized": {"arrow": 1.1},
    "upsert copy-on-write": {"apache-hudi@1.0.2": 0.4},
}
#: Peak memory of a merge-on-read snapshot in a fresh process, as a multiple of the result's size in Arrow.
MEMORY_GOAL = 2.8


def read_task(table: str, columns: list[str] | None, do: str = "read") -> dict[str, Any]:
    """A snapshot read, or a read-optimized one."""
    return {"do": do, "table": table, "columns": columns, "compare": False}


def goals_of(title: str) -> dict[str, float]:
    """The goals of a task."""
    return next((goals for beginning, goals in GOALS.items() if title.startswith(beginning)), {})


def compare_rows(workers: list[Worker], task: dict[str, Any], title: str) -> None:
    """Digests of all engines must agree before anything is measured; the raw scan merges nothing and is left out on logs."""
    taking_part = [w for w in workers if w.name != "arrow" or "snapshot merge-on-read" not in title]
    digests = {w.name: w.do({**task, "compare": True})["digest"] for w in taking_part}
    if len({json.dumps(d, sort_keys=True) for d in digests.values()}) > 1:
        console.print(f"[red]{title}: the engines answer different rows[/red]", digests)
        raise typer.Exit(1)


def measure(workers: list[Worker], title: str, task: dict[str, Any], rounds: int) -> None:
    """One warm-up, then `rounds` rounds in which the engines take turns."""
    for turn in range(rounds + 1):
        for worker in workers:
            cost = worker.do(task)
            if turn:
                worker.costs.setdefault(title, []).append(cost)
    shown = (f"{w.name} {median(c['cpu'] for c in w.costs[title]):.2f}" for w in workers)
    console.print(f"{title}: CPU s {', '.join(shown)}; system load {os.getloadavg()[0]:.0f}")


def made_once(folder: Path, kind: str, rows: int) -> str:
    """The URI of the table in a folder, which is made if it is not there."""
    return folder.as_uri() if folder.exists() else tables.make(folder, kind, rows).uri


def measure_upsert(workers: list[Worker], copies: Path, source: str, changes: Path, rounds: int) -> None:
    """Each round on fresh copies of the table, a complete commit each."""
    for turn in range(rounds + 1):
        for worker in workers:
            copy = copies / worker.name.replace("@", "-")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(source.removeprefix("file://"), copy)
            task = {"do": "upsert", "table": copy.as_uri(), "rows": str(changes), "compare": False}
            cost = worker.do(task)
            if turn:
                worker.costs.setdefault("upsert copy-on-write", []).append(cost)


def peak_memory(table: str) -> tuple[float, float]:
    """Peak resident size of a fresh process that reads a merge-on-read snapshot, and the size of its result, in bytes."""
    worker = Worker.start("reference")
    cost = worker.do(read_task(table, None))
    worker.stop()
    return cost["peak"], cost["bytes"]


def report(workers: list[Worker], memory: tuple[float, float]) -> dict[str, Any]:
    """Print medians and ratios; return them."""
    shown = RichTable(title="medians: CPU s / wall s, and the reference's CPU as a ratio of the peer's")
    for column in ("task", *(w.name for w in workers), "ratios", "goal"):
        shown.add_column(column)
    found: dict[str, Any] = {}
    for title in dict.fromkeys(t for w in workers for t in w.costs):
        cpu = {w.name: median(c["cpu"] for c in w.costs[title]) for w in workers if title in w.costs}
        wall = {w.name: median(c["wall"] for c in w.costs[title]) for w in workers if title in w.costs}
        ratios = {name: cpu["reference"] / value for name, value in cpu.items() if name != "reference" and value}
        found[title] = {"cpu": cpu, "wall": wall, "cpu_ratio": ratios}
        cells = [f"{cpu[w.name]:.2f} / {wall[w.name]:.2f}" if w.name in cpu else "" for w in workers]
        goals = [f"{n} {'<=' if ratios[n] <= most else '>'} {most}" for n, most in goals_of(title).items() if n in ratios]
        shown.add_row(title, *cells, ", ".join(f"{n} {r:.2f}" for n, r in ratios.items()), ", ".join(goals))
    console.print(shown)
    peak, size = memory
    found["peak memory"] = {"bytes": peak, "result_bytes": size, "ratio": peak / size}
    console.print(f"peak memory of a merge-on-read snapshot: {peak / size:.2f} x the result (goal {MEMORY_GOAL})")
    return found


def main(
    rows: Annotated[int, typer.Option(help="rows of each table")] = 1_000_000,
    rounds: Annotated[int, typer.Option(help="measured rounds")] = 5,
    engines: Annotated[str, typer.Option(help="peers of the reference, comma separated")] = "hudi-rs,apache-hudi@1.0.2",
    kept: Annotated[Path | None, typer.Option("--tables", help="folder of the tables: kept, and made where missing")] = None,
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Make the tables, compare the rows, measure, print ratios."""
    folder = Path(tempfile.mkdtemp(prefix="hudi-bench-"))
    console.print(f"tables of {rows:,} rows in {kept or folder}")
    found = {kind: made_once((kept or folder) / kind.replace(" ", "-"), kind, rows) for kind in tables.KINDS}
    changes = folder / "changes.arrow"
    with pa.ipc.new_file(str(changes), (table := tables.updates(rows, 0.10, 9)).schema) as file:
        file.write_table(table)
    workers = [Worker.start(name) for name in ("reference", "arrow", *engines.split(","))]
    columns = [f["name"] for f in tables.SCHEMA["fields"]]
    try:
        for kind, uri in found.items():
            compare_rows(workers, read_task(uri, columns), f"snapshot {kind}")
            measure(workers, f"snapshot {kind}", read_task(uri, columns), rounds)
            measure(workers, f"two columns {kind}", read_task(uri, ["id", "seats"]), rounds)
            if kind in tables.MERGE_ON_READ:
                task, pair = read_task(uri, columns, "read-optimized"), [w for w in workers if w.name in ("reference", "arrow")]
                compare_rows(pair, task, f"read-optimized {kind}")
                measure(pair, f"read-optimized {kind}", task, rounds)
        writers = [w for w in workers if w.name == "reference" or w.name.startswith("apache-hudi")]
        measure_upsert(writers, folder / "upserted", found["copy-on-write"], changes, rounds)
        figures = report(workers, peak_memory(found[tables.MERGE_ON_READ[0]]))
        if output is not None:
            output.write_text(json.dumps(figures, indent=2) + "\n")
    finally:
        for worker in workers:
            worker.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    typer.run(main)
