"""Measure growth of the Spark engine: `python -m tools.bench.spark.growth [--groups N,N] [--instants N,N] [--skewed]`.

`--groups`: tables with the same rows in so many file groups, made by a bulk insert on Spark; beyond 100, with 100 of them in
each partition.
`--instants`: tables with the same rows in ten file groups, one in each partition, and so many completed actions: upserts of one
row by the plain reference, with compaction after every five of them, and clean. Up to `--active` actions nothing is archived;
with more, the timeline is archived by the default settings.
`--skewed`: tables with the rows of `--groups` in ten file groups, one in each partition: equally many rows in each, and nine
tenths of the rows in one of them.

Steps: a snapshot, an upsert of every hundredth row, the incremental query of this upsert, compaction. The executor is a process
of its own (`local-cluster`), so that CPU seconds of driver (Python and JVM) and of executors (JVM and Python) are separate. The
peak memory of the driver, and of the largest Python worker of an executor, is that of each step; the driver's JVM has 1.5 GB.
The rows are compared with those that were written.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import psutil
import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
import typer
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench.spark.generated_rows import COLUMNS, OPTIONS, inserted_rows, made_rows
from tools.bench.spark.worker import checksum

import hudi_spark
from hudi_reference import clean, open_table
from hudi_spark.session import local_session

console = Console()
#: An upsert changes the keys that are divisible by this number.
STEP = 100
#: File groups of the tables of `--instants`, each in a partition.
GROUPS = 10
PARTITIONED = {"hoodie.datasource.write.partitionpath.field": "p"}
BULK = {"hoodie.datasource.write.operation": "bulk_insert"}
#: Tasks of a bulk insert into more file groups than that; each writes a file group in each partition.
TASKS = 100
#: A version of a row that no small write reaches.
LAST = 1_000_000
MASTER = "local-cluster[1,2,1536]"
#: Settings of the small writes: what deployed writers do beside a write, without the time between cleans.
INLINE = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "5"}
#: A clean follows so many small writes; a write of the reference runs none by itself.
CLEANED_AFTER = 5
ROWS_OF_WARM_UP = 10_000


@dataclass(frozen=True)
class Costs:
    """CPU seconds so far of the driver and of its executors."""

    driver: float
    executors: float

    @classmethod
    def now(cls) -> "Costs":
        """The costs of this process, its JVM, and what that JVM has started."""
        jvms = psutil.Process().children()
        started = [one for jvm in jvms for one in jvm.children(recursive=True)]
        return cls(sum(map(_own, [psutil.Process(), *jvms])), sum(map(_with_ended, started)))


def _own(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _with_ended(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def peak_memory(*, reset: bool = False) -> dict[str, float]:
    """The greatest memory since the last reset, in MB: of the driver's Python process, its JVM, and the largest worker."""
    jvms = psutil.Process().children()
    workers = [one for jvm in jvms for one in jvm.children(recursive=True) if one.name().startswith("python")]
    found = {"python": _peak(psutil.Process(), reset), "jvm": sum(_peak(one, reset) for one in jvms)}
    return {**found, "worker": max((_peak(one, reset) for one in workers), default=0.0)}


def _peak(process: psutil.Process, reset: bool) -> float:
    """The greatest resident memory of a process in MB, which may then be counted anew; 0 if it has ended."""
    folder = Path(f"/proc/{process.pid}")
    try:
        if reset:
            (folder / "clear_refs").write_text("5")
        line = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("VmHWM"))
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return int(line.split()[1]) / 1024


def take(work: Callable[[], Any]) -> dict[str, float]:
    """The costs of a step."""
    peak_memory(reset=True)
    before, wall = Costs.now(), time.monotonic()
    work()
    after = Costs.now()
    return {
        "driver": after.driver - before.driver, "executors": after.executors - before.executors,
        "wall": time.monotonic() - wall, **peak_memory(), "load": os.getloadavg()[0],
    }  # fmt: skip


def steps(
    spark: SparkSession, uri: str, changed: DataFrame, options: dict[str, str]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is measured of a table, by name."""
    names = changed.columns

    def read(**query: Any) -> None:
        hudi_spark.read(spark, uri, columns=names, **query).write.format("noop").mode("overwrite").save()

    begin = max(one.completion or "" for one in open_table(uri).timeline.completed)
    yield "snapshot", read
    yield "upsert 1 %", lambda: hudi_spark.save(changed, uri, mode="append", options=options)
    yield "incremental", lambda: read(query="incremental", begin=begin)
    yield "compaction", lambda: hudi_spark.services.run(spark, uri, "compaction", options=COMPACTION)


#: A compaction of the slices that the upsert changed, although there were fewer writes since the last one.
COMPACTION = {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.compaction.target.io": str(1 << 40)}


def check(spark: SparkSession, uri: str, expected: DataFrame) -> None:
    """Compare the rows of the table. Raises SystemExit."""
    found, wanted = checksum(hudi_spark.read(spark, uri, columns=expected.columns)), checksum(expected)
    if found != wanted:
        raise SystemExit(f"the rows differ: {found}, expected {wanted}")


def measure_groups(spark: SparkSession, folder: Path, rows: int, groups: int) -> dict[str, dict[str, float]]:
    """The costs of each step on a table with so many file groups, 100 in each partition."""
    uri, partitions = str(folder / "table"), max(1, groups // TASKS)
    partition = F.pmod(F.xxhash64("id"), F.lit(partitions)).cast("string").alias("p")
    options = {**OPTIONS, **PARTITIONED}
    first = inserted_rows(spark, rows, min(groups, TASKS)).select(*COLUMNS, partition)
    changed = made_rows(spark, rows, 2, LAST, STEP).select(*COLUMNS, partition)
    found = {"bulk insert": take(lambda: hudi_spark.save(first, uri, options={**options, **BULK}))}
    if (made := len(open_table(uri).file_groups().latest_slices)) != groups:
        raise SystemExit(f"the table has {made} file groups, expected {groups}")
    found |= {name: take(work) for name, work in steps(spark, uri, changed, options)}
    unchanged = inserted_rows(spark, rows, 2).select(*COLUMNS, partition).where(F.col("id").cast("long") % STEP != 0)
    check(spark, uri, unchanged.unionByName(changed))
    return found


def measure_instants(spark: SparkSession, folder: Path, rows: int, instants: int, active: int) -> dict[str, dict[str, float]]:
    """The costs of each step on a table with so many completed actions."""
    uri = str(folder / "table")
    partition = (F.col("id").cast("long") % GROUPS).cast("string").alias("p")
    options = {**OPTIONS, **PARTITIONED}
    first = made_rows(spark, rows, 2, 1).select(*COLUMNS, partition).repartition(GROUPS, "p")
    hudi_spark.save(first, uri, options={**options, **BULK})
    settings = {**INLINE, "hoodie.archive.automatic": str(instants > active).lower()}
    begun = time.monotonic()
    changes = dict(_small_writes(uri, instants, rows, settings))
    console.print(
        f"{instants} actions made in {time.monotonic() - begun:.0f} s, {len(open_table(uri).timeline.completed)} active"
    )
    changed = made_rows(spark, rows, 2, LAST, STEP).select(*COLUMNS, partition)
    found = {name: take(work) for name, work in steps(spark, uri, changed, options)}
    written = spark.createDataFrame(pa.table({"id": list(changes), "new": list(changes.values())}))
    others = made_rows(spark, rows, 2, 1).where(F.col("id").cast("long") % STEP != 0).join(written, "id", "left")
    named = others.withColumns(
        {
            "name": F.coalesce("new", "name"),
            "ts": F.when(F.col("new").isNull(), 1).otherwise(2),
            "fare": F.when(F.col("new").isNull(), F.col("fare")).otherwise(0.0),
        }
    )
    check(spark, uri, named.withColumn("ts", F.col("ts").cast("long")).select(*COLUMNS, partition).unionByName(changed))
    return found


def measure_skewed(spark: SparkSession, folder: Path, rows: int, *, skewed: bool) -> dict[str, dict[str, float]]:
    """The costs of each step on a table of ten file groups; if `skewed`, one of them has nine tenths of the rows."""
    uri, number = str(folder / "table"), F.col("id").cast("long")
    group = F.when(number % (2 * GROUPS) < 2 * GROUPS - 2, 0).otherwise(number % GROUPS) if skewed else number % GROUPS
    partition, options = group.cast("string").alias("p"), {**OPTIONS, **PARTITIONED}
    first = made_rows(spark, rows, 2, 1).select(*COLUMNS, partition).repartition(GROUPS, "p")
    changed = made_rows(spark, rows, 2, LAST, STEP).select(*COLUMNS, partition)
    found = {"bulk insert": take(lambda: hudi_spark.save(first, uri, options={**options, **BULK}))}
    found |= {name: take(work) for name, work in steps(spark, uri, changed, options)}
    check(spark, uri, first.where(number % STEP != 0).unionByName(changed))
    return found


def _small_writes(uri: str, instants: int, rows: int, settings: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Upserts of one row each until the table had so many actions; the keys with their new names."""
    done = 1  # the bulk insert
    seen = {one.requested for one in open_table(uri).timeline.completed}
    number = 0
    while done < instants:
        number += 1
        key = f"{number * 7 % rows:012d}"
        row = {"id": key, "ts": 2, "name": f"small {number}", "fare": 0.0, "p": str(int(key) % GROUPS)}
        table = open_table(uri, options=settings)
        table.upsert(pa.Table.from_pylist([row]))
        if number % CLEANED_AFTER == 0:
            clean(table)
        now = {one.requested for one in table.timeline.completed}
        done += len(now - seen)
        seen |= now
        yield key, row["name"]


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def main(
    rows: Annotated[int, typer.Option(help="rows of the tables of --groups")] = 1_000_000,
    groups: Annotated[str, typer.Option(help="numbers of file groups, comma separated")] = "10,100,1000",
    rows_of_instants: Annotated[int, typer.Option(help="rows of the tables of --instants")] = 100_000,
    instants: Annotated[str, typer.Option(help="numbers of completed actions, comma separated")] = "10,100,1000",
    skewed: Annotated[bool, typer.Option("--skewed", help="measure tables whose file groups have different sizes")] = False,
    active: Annotated[int, typer.Option(help="the most actions of a timeline that is not archived")] = 1000,
    master: Annotated[str, typer.Option(help="Spark's master")] = MASTER,
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
) -> None:
    """Measure each table, and print the costs of each step."""
    compiled = {"spark.driver.extraJavaOptions": "", "spark.sql.codegen.wholeStage": "true", "spark.executor.memory": "1g"}
    spark = local_session(master, **compiled)
    figures: dict[str, dict[str, dict[str, float]]] = {}

    def measure(title: str, made: Callable[[Path], dict[str, dict[str, float]]]) -> None:
        with tempfile.TemporaryDirectory(prefix="hudi-growth-", ignore_cleanup_errors=True) as folder:
            figures[title] = made(Path(folder))
        print_costs(title, figures[title])
        if output is not None:
            output.write_text(json.dumps(figures, indent=2) + "\n")

    try:
        measure("warm up", lambda folder: measure_groups(spark, folder, ROWS_OF_WARM_UP, 4))
        for number in _numbers(groups):
            measure(f"{number} file groups", lambda folder, n=number: measure_groups(spark, folder, rows, n))  # type: ignore[misc]
        for number in _numbers(instants):
            measure(
                f"{number} instants",
                lambda folder, n=number: measure_instants(spark, folder, rows_of_instants, n, active),  # type: ignore[misc]
            )
        for kind in ("even", "skewed") if skewed else ():
            measure(kind, lambda folder, k=kind: measure_skewed(spark, folder, rows, skewed=k == "skewed"))  # type: ignore[misc]
    finally:
        spark.stop()


def print_costs(title: str, costs: dict[str, dict[str, float]]) -> None:
    """Print the steps of one table."""
    seconds, others = ("driver", "executors", "wall"), ("python", "jvm", "worker", "load")
    shown = RichTable(
        "step", "driver CPU s", "executors CPU s", "wall s", "driver Python MB", "driver JVM MB", "largest worker MB", "load",
        title=title,
    )  # fmt: skip
    for step, found in costs.items():
        shown.add_row(step, *(f"{found[n]:.1f}" for n in seconds), *(f"{found[n]:.0f}" for n in others))
    console.print(shown)


if __name__ == "__main__":
    typer.run(main)
