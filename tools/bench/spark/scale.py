"""Measure growth of the Spark engine: `python -m tools.bench.spark.scale [--rows N,N] [--groups N,N] [--master M]`.

For each number of rows and of file groups, on a merge-on-read table: bulk insert, upsert of every tenth row, snapshot to
Spark's `noop` sink, compaction, and the snapshot again. CPU seconds are those of all processes: driver, JVM and Python workers.
Rows are made by Spark. The number of rows and the sum of their hashes are compared with the rows that were written.

`--master 'local-cluster[2,1,1024]'` starts two executors as processes of their own, so that everything is shipped.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench.spark.generated_rows import BULK_INSERT, COLUMNS, OPTIONS, expected_rows, inserted_rows, updated_rows
from tools.bench.spark.worker import checksum
from tools.bench.workers import processes_seconds

import hudi_spark
from hudi_spark.session import local_session

console = Console()


def steps(spark: SparkSession, uri: str, rows: int, groups: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is measured, by name."""
    first, second = inserted_rows(spark, rows, groups), updated_rows(spark, rows)

    def read() -> None:
        hudi_spark.read(spark, uri, columns=COLUMNS).write.format("noop").mode("overwrite").save()

    yield "bulk insert", lambda: hudi_spark.save(first, uri, options=BULK_INSERT)
    yield "upsert 10 %", lambda: hudi_spark.save(second, uri, mode="append", options=OPTIONS)
    yield "snapshot", read
    yield "compaction", lambda: hudi_spark.services.run(spark, uri, "compaction")
    yield "snapshot after", read
    found, wanted = checksum(hudi_spark.read(spark, uri, columns=COLUMNS)), checksum(expected_rows(spark, rows, groups))
    if found != wanted:
        raise SystemExit(f"the rows differ: {found}, expected {wanted}")


def cpu_seconds() -> float:
    """CPU seconds of this process and all processes that it started: the JVM, executors, Python workers."""
    return processes_seconds(os.getpid())


def measure(spark: SparkSession, rows: int, groups: int) -> dict[str, dict[str, float]]:
    """CPU and wall seconds of each step."""
    folder, found = Path(tempfile.mkdtemp(prefix="hudi-scale-")), {}
    try:
        for name, work in steps(spark, str(folder / "table"), rows, groups):
            cpu, wall = cpu_seconds(), time.monotonic()
            work()
            found[name] = {"cpu": cpu_seconds() - cpu, "wall": time.monotonic() - wall}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def main(
    rows: Annotated[str, typer.Option(help="numbers of rows, comma separated")] = "1000000,10000000",
    groups: Annotated[str, typer.Option(help="numbers of file groups, comma separated")] = "10,100",
    master: Annotated[str, typer.Option(help="Spark's master")] = "local[2]",
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Measure every combination, and print CPU and wall seconds."""
    compiled = {"spark.driver.memory": "3g", "spark.driver.extraJavaOptions": "", "spark.sql.codegen.wholeStage": "true"}
    spark = local_session(master, **compiled)
    figures = {}
    try:
        measure(spark, 10_000, 2)  # warm up
        for count in map(int, rows.split(",")):
            for number in map(int, groups.split(",")):
                figures[f"{count} rows, {number} groups"] = found = measure(spark, count, number)
                console.print(count, number, found, f"system load {os.getloadavg()[0]:.0f}")
    finally:
        spark.stop()
    names = list(next(iter(figures.values()), {}))
    shown = RichTable("table", *names, title=f"CPU s / wall s, {master}")
    for title, found in figures.items():
        shown.add_row(title, *(f"{found[name]['cpu']:.1f} / {found[name]['wall']:.1f}" for name in names))
    console.print(shown)
    if output is not None:
        output.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    typer.run(main)
