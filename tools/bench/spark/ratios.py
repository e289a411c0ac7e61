"""Compare the Spark engine with Apache Hudi: `python -m tools.bench.spark.ratios [--rows N] [--groups N] [--peers NAME,NAME]`.

Each engine makes its own merge-on-read table: bulk insert, upsert of every tenth row, a snapshot and an aggregate, compaction,
and the queries again. Spark's own Parquet reader then reads the base files of our table, which have all rows. Each step is run
once, the queries three times (medians). CPU seconds are those of all processes: driver, JVM and Python workers. The rows of
each table are compared with those that were written.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench.workers import Worker

from hudi_reference import open_table

console = Console()
WRITES = ("bulk insert", "upsert 10 %", "compaction")
QUERIES, AFTER = ("snapshot", "aggregate"), ("snapshot after the compaction", "aggregate after the compaction")
PARQUET = "Spark's Parquet reader"
STEPS = ("bulk insert", "upsert 10 %", *QUERIES, "compaction", *AFTER)
#: Goals: CPU seconds of the Spark engine divided by those of Apache Hudi, at most.
GOALS = {"upsert 10 %": 0.5, "compaction": 0.5, "snapshot": 0.4, "aggregate": 0.4}
#: The same, divided by those of Spark's Parquet reader.
PARQUET_GOAL = 1.1
TIMES = 3
#: Rows of a table that is made first and not counted: a JVM compiles code that runs often.
WARM_UP = 20_000

Costs = dict[str, dict[str, float]]


def measure(worker: Worker, folder: Path, rows: int, groups: int, *, is_ours: bool) -> Costs:
    """CPU and wall seconds of each step on a new table."""
    task: dict[str, Any] = {"table": (folder / "table").as_uri(), "rows": rows, "groups": groups}
    costs: Costs = {}
    try:
        for step in (*STEPS, PARQUET) if is_ours else STEPS:
            found = [worker.run_task({**task, "step": step}) for _ in range(1 if step in WRITES else TIMES)]
            costs[step] = {kind: median(one[kind] for one in found) for kind in ("cpu", "wall")}
            if rows > WARM_UP:
                console.print(
                    f"{worker.name}: {step} {costs[step]}, system load {os.getloadavg()[0]:.0f}",
                    highlight=False,
                    soft_wrap=True,
                )
            if step in ("upsert 10 %", "compaction"):
                checked, expected = (worker.run_task({**task, "step": one})["found"] for one in ("check", "expected"))
                if checked != expected:
                    raise SystemExit(f"{worker.name}: other rows after the {step}: {checked}, expected {expected}")
        if any(one.log_files for one in open_table(task["table"]).file_groups().latest_slices):
            raise SystemExit(f"{worker.name}: the compaction left log files")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return costs


def main(
    rows: Annotated[int, typer.Option(help="number of rows")] = 10_000_000,
    groups: Annotated[int, typer.Option(help="number of file groups")] = 100,
    peers: Annotated[
        str, typer.Option(help="releases of Apache Hudi, comma separated")
    ] = "apache-hudi@1.0.2,apache-hudi@1.2.0",
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Measure one engine after the other, and print CPU and wall seconds with ratios."""
    names = ["spark", *peers.split(",")]
    costs: dict[str, Costs] = {}
    for name in names:
        worker = Worker.start(name, "tools.bench.spark.ratios_worker")
        try:
            for count in (WARM_UP, rows):
                folder = Path(tempfile.mkdtemp(prefix="hudi-ratios-"))
                number = 2 if count == WARM_UP else groups
                costs[name] = measure(worker, folder, count, number, is_ours=name == "spark")
        finally:
            worker.stop()
    title = f"{rows:,} rows in {groups} file groups, CPU s / wall s"
    shown = RichTable("step", *names, "our CPU, of the peer's", "goal", title=title)
    for step in STEPS:
        cells = [f"{costs[name][step]['cpu']:.1f} / {costs[name][step]['wall']:.1f}" for name in names]
        ratios = [f"{costs['spark'][step]['cpu'] / costs[name][step]['cpu']:.2f}" for name in names[1:]]
        shown.add_row(step, *cells, ", ".join(ratios), str(GOALS.get(step, "")))
    ours, theirs = (costs["spark"][step]["cpu"] for step in (AFTER[0], PARQUET))
    shown.add_row(PARQUET, f"{theirs:.1f}", *("" for _ in names[1:]), f"{ours / theirs:.2f}", str(PARQUET_GOAL))
    console.print(shown)
    if output is not None:
        output.write_text(json.dumps(costs, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
