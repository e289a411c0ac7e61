"""Measure: `python -m tools.bench [--rows N] [--rounds N] [--engines reference,hudi-rs,apache-hudi@1.0.2] [--json FILE]`."""

import json
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
#: Task -> goals as (engine compared with, ratio of CPU seconds at most).
GOALS = {
    "snapshot copy-on-write": {"arrow": 1.2},
    "snapshot merge-on-read": {"hudi-rs": 0.8, "apache-hudi@1.0.2": 0.3},
    "upsert copy-on-write": {"apache-hudi@1.0.2": 0.4},
}
#: Peak memory of a merge-on-read snapshot in a fresh process, as a multiple of the result's size in Arrow.
MEMORY_GOAL = 2.8


def read_task(table: str, columns: list[str] | None) -> dict[str, Any]:
    """A snapshot read."""
    return {"do": "read", "table": table, "columns": columns, "compare": False}


def compare_rows(workers: list[Worker], task: dict[str, Any], title: str) -> None:
    """Digests of all engines must agree before anything is measured; the raw scan merges nothing and is left out on logs."""
    taking_part = [w for w in workers if w.name != "arrow" or "copy-on-write" in title]
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


def measure_upsert(workers: list[Worker], source: Path, changes: Path, rounds: int) -> None:
    """Each round on fresh copies of the table, a complete commit each."""
    for turn in range(rounds + 1):
        for worker in workers:
            copy = source.with_name(f"upsert-{worker.name.replace('@', '-')}")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(source, copy)
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
        goals = [f"{n} {r:.2f} <= {GOALS[title][n]}" for n, r in ratios.items() if n in GOALS.get(title, {})]
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
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Make the tables, compare the rows, measure, print ratios."""
    folder = Path(tempfile.mkdtemp(prefix="hudi-bench-"))
    console.print(f"making tables of {rows:,} rows in {folder}")
    found = {kind: tables.make(folder / kind, kind, rows).uri for kind in ("copy-on-write", "merge-on-read")}
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
        writers = [w for w in workers if w.name == "reference" or w.name.startswith("apache-hudi")]
        measure_upsert(writers, folder / "copy-on-write", changes, rounds)
        figures = report(workers, peak_memory(found["merge-on-read"]))
        if output is not None:
            output.write_text(json.dumps(figures, indent=2) + "\n")
    finally:
        for worker in workers:
            worker.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    typer.run(main)
