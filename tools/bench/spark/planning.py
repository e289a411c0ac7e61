"""Measure plans of the Spark engine: `python -m tools.bench.spark.planning [--files N,N] [--partitions N]`.

Needs no JVM: the plan is made by Python on the driver. The table has one commit, whose base files are links to one small file,
and a metadata table. Measured are the CPU seconds of `make_plan` in a new process, for all rows, for one partition by a filter,
and for Spark's Parquet reader, for which the sizes of the files are listed. Modules are compiled before.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Annotated
from uuid import UUID

import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table as RichTable

from hudi_reference import create_table
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.schema.avro import parse_schema
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.commit import begin

console = Console()
SCHEMA = {
    "type": "record",
    "name": "planned",
    "fields": [{"name": "id", "type": "string"}, {"name": "p", "type": "string"}],
}
#: What is measured: the keyword arguments of `make_plan`.
PLANS = {"all": "native=False", "one partition": "where=[('p', '=', 'p7')], native=False", "all, for Spark's reader": ""}


def make_table(folder: Path, files: int, partitions: int) -> str:
    """A table with so many base files, spread over so many partitions; its URI."""
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}
    table = create_table(str(folder), name="planned", schema=SCHEMA, record_key=("id",), partition=("p",), options=options)
    table.insert(pa.table({"id": ["1"], "p": ["p0"]}))
    [found] = table.file_groups().latest_slices
    assert found.base_file is not None
    first = folder / found.path(found.base_file)
    commit = begin(table, "BULK_INSERT", table.timeline)
    size, copies = first.stat().st_size, {}
    for number in range(files - 1):
        partition, file_id = f"p{number % partitions}", f"{UUID(int=number)}-0"
        path = f"{partition}/{file_id}_0-0-0_{commit.requested}.parquet"
        if number < partitions:
            mark_partition(table.storage, partition, commit.requested)
            shutil.copy(first, folder / path)  # a file has a limited number of links
            copies[partition] = folder / path
        else:
            os.link(copies[partition], folder / path)
        commit.stats.append(WriteStat(file_id, partition, path, writes=1, inserts=1, size=size))
    commit.complete(parse_schema(SCHEMA, "schema"))
    return table.uri


def measure(uri: str, arguments: str) -> tuple[float, int]:
    """CPU seconds of one plan in a process of its own, without the imports, and the number of its slices."""
    code = (
        "import time; from hudi_spark.read import make_plan; begun = time.process_time(); "
        f"plan = make_plan({uri!r}, {arguments}); print(time.process_time() - begun, plan.parts)"
    )
    seconds, parts = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), int(parts)


def main(
    files: Annotated[str, typer.Option(help="numbers of files, comma separated")] = "1000,10000,100000",
    partitions: Annotated[int, typer.Option(help="number of partitions")] = 1000,
    rounds: Annotated[int, typer.Option(help="measured rounds")] = 3,
) -> None:
    """Make the tables, measure, and print medians."""
    shown = RichTable("files", *PLANS, title="CPU seconds of a plan")
    for number in map(int, files.split(",")):
        folder = Path(tempfile.mkdtemp(prefix="hudi-bench-"))
        try:
            begun = time.monotonic()
            uri = make_table(folder / "table", number, min(partitions, number))
            console.print(f"{number} files made in {time.monotonic() - begun:.0f} s")
            cells = []
            for arguments in PLANS.values():
                found = [measure(uri, arguments) for _ in range(rounds)]
                cells.append(f"{median(seconds for seconds, _ in found):.2f} ({found[0][1]} slices)")
            shown.add_row(str(number), *cells)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    console.print(shown)


if __name__ == "__main__":
    typer.run(main)
