"""Tables of many small files: one partition, a full snapshot, and the plan of a filter by statistics of columns or by footers.

`python -m tools.bench.indexes.skipping [--partitions N] [--hudi-rs PYTHON]` writes a table of N partitions of two file
groups, with gzip, the codec that Apache Hudi writes by default, and with zstd. `PYTHON` is an interpreter with the package
`hudi`, which reads the same tables.
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pyarrow as pa
from rich.console import Console
from rich.table import Table as RichTable

from hudi_reference import create_table, open_table
from hudi_reference.files.base.parquet import CODEC_KEY, opened_parquet
from hudi_reference.tables import WritableTable

FIELDS = {"id": "string", "ts": "long", "p": "string", "n": "int"}
SCHEMA = {
    "type": "record",
    "name": "t",
    "fields": [{"name": n, "type": ["null", k], "default": None} for n, k in FIELDS.items()],
}
STATISTICS = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
#: Prints the CPU seconds of hudi-rs for the same two queries.
HUDI_RS = """
import sys, time
from hudi import HudiTableBuilder, HudiReadOptions
for options in (HudiReadOptions(filters=[("p", "=", "p00007")], projection=["id", "n"]), HudiReadOptions()):
    costs = []
    for _ in range(3):
        start = time.process_time()
        rows = sum(found.num_rows for found in HudiTableBuilder.from_base_uri(sys.argv[1]).build().read(options))
        costs.append(time.process_time() - start)
    print(rows, sorted(costs)[1])
"""


def make_table(path: Path, partitions: int, options: dict[str, str]) -> WritableTable:
    """A copy-on-write table with two file groups of one row in each partition; `n` grows with the partition."""
    table = create_table(
        str(path), name="wide", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",), hive_style=True,
        properties={"hoodie.datasource.write.partitionpath.urlencode": "true"}, options=options,
    )  # fmt: skip
    numbers = range(partitions)
    for group in range(2):
        ids = [f"{group}-{number}" for number in numbers]
        paths = [f"p{number:05}" for number in numbers]
        ts, n = pa.array([group] * partitions, pa.int64()), pa.array(numbers, pa.int32())
        table.insert(pa.table({"id": ids, "ts": ts, "p": paths, "n": n}))
    return table


def median_cpu_seconds(act: Callable[[], object], rounds: int = 3) -> float:
    """The median of the CPU seconds of a call."""
    costs = []
    for _ in range(rounds):
        start = time.process_time()
        act()
        costs.append(time.process_time() - start)
    return median(costs)


def plan_by_statistics(table: WritableTable) -> int:
    """The number of slices that a filter on `n` leaves, by the statistics of columns."""
    where = [("n", "=", 7)]
    found = open_table(table.uri)
    view = found.view(where=where)
    return len(found.plan(view, ["id"], where, logs=True).slices)


def plan_by_footers(table: WritableTable) -> int:
    """The same by the statistics in the footers of all files."""
    found = open_table(table.uri, options={"hoodie.metadata.enable": "false"})
    left = 0
    for one in found.view(where=[]).groups.latest_slices:
        with opened_parquet(found.storage, one.path(one.base_file or "")) as file:
            group = file.metadata.row_group(0)
            place = next(n for n in range(group.num_columns) if group.column(n).path_in_schema == "n")
            bounds = group.column(place).statistics
            left += bounds is None or bounds.min <= 7 <= bounds.max
    return left


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--partitions", type=int, default=2000)
    arguments.add_argument("--hudi-rs")
    asked = arguments.parse_args()
    shown = RichTable(
        "CPU s", "reference", "compared with", title=f"{asked.partitions:,} partitions, {2 * asked.partitions:,} files"
    )
    with tempfile.TemporaryDirectory() as work:
        for codec in ("gzip", "zstd"):
            plain = make_table(Path(work, codec), asked.partitions, {"hoodie.metadata.enable": "false", CODEC_KEY: codec}).uri
            theirs = ["", ""]
            if asked.hudi_rs:
                done = subprocess.run([asked.hudi_rs, "-c", HUDI_RS, plain], capture_output=True, text=True, check=True)
                theirs = [f"hudi-rs {float(line.split()[1]):.2f}" for line in done.stdout.splitlines()]
            one = median_cpu_seconds(lambda uri=plain: open_table(uri).snapshot(["id", "n"], [("p", "=", "p00007")]))
            shown.add_row(f"one partition, {codec}", f"{one:.2f}", theirs[0])
            full = median_cpu_seconds(lambda uri=plain: open_table(uri).snapshot())
            shown.add_row(f"full snapshot, {codec}", f"{full:.2f}", theirs[1])
        indexed = make_table(Path(work, "indexed"), asked.partitions, STATISTICS)
        if plan_by_statistics(indexed) != plan_by_footers(indexed):
            raise ValueError("the plans differ")
        by_footers = median_cpu_seconds(lambda: plan_by_footers(indexed))
        shown.add_row(
            "plan of a filter", f"{median_cpu_seconds(lambda: plan_by_statistics(indexed)):.2f}", f"footers {by_footers:.2f}"
        )
    Console().print(shown)


if __name__ == "__main__":
    main()
