"""Indexes: the plan of a filter over many files, what each index adds to the cost of a write, and keys without an entry.

`python -m tools.bench.indexes [plan] [writes] [keys] [--files N] [--rows N] [--engine NAME] [--only TEXT]`. The table of `plan`
has N file groups, whose base files are copies of a few hundred files with names of their own; the reference writes the metadata
table for them.
With `--engine apache-hudi@1.0.2`, Apache Hudi makes the same upserts on copies of the same tables, and the rows are compared.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import tables
from tools.bench.indexes.keys import compare_keys
from tools.bench.indexes.skipping import SCHEMA, STATISTICS, make_table, median_cpu_seconds, plan_by_footers, plan_by_statistics
from tools.bench.workers import Worker

from hudi_reference import create_index, open_table
from hudi_reference.files.base.parquet import CODEC_KEY
from hudi_reference.layout.names import BaseFileName, join_path
from hudi_reference.tables import WritableTable
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.commit import begin

#: Files with rows of their own; the others are copies of them.
SOURCES = 250
#: The settings that each index needs, beside those of the rows above it.
LISTED = {"hoodie.metadata.enable": "true"}
RECORDS = {**LISTED, "hoodie.metadata.record.index.enable": "true"}
INDEXES = {
    "no metadata table": {"hoodie.metadata.enable": "false"},
    "files": LISTED,
    "files, column_stats, partition_stats": {**LISTED, "hoodie.metadata.index.column.stats.enable": "true"},
    "files, bloom_filters": {**LISTED, "hoodie.metadata.index.bloom.filter.enable": "true"},
    "files, record_index": RECORDS,
    "files, record_index, keys looked up in it": {**RECORDS, "hoodie.index.type": "RECORD_INDEX"},
    "files, record_index, secondary_index": RECORDS,
}
#: Apache Hudi maintains these on Spark unless a setting excludes them.
WITHOUT_STATISTICS = {"hoodie.metadata.index.column.stats.enable": "false"}
SHARE = 0.02


def many_files(folder: Path, files: int) -> WritableTable:
    """A table with this many file groups of one row, and statistics of one column."""
    table = make_table(folder, SOURCES // 2, {"hoodie.metadata.enable": "false", CODEC_KEY: "uncompressed"})
    sources = [one for one in table.file_groups().latest_slices if one.base_file]
    contents = [(folder / one.path(one.base_file or "")).read_bytes() for one in sources]
    commit = begin(table, "INSERT")
    for number in range(files - len(sources)):
        source, content = sources[number % len(sources)], contents[number % len(sources)]
        own = source.base_file or ""
        name = str(BaseFileName(table.ids.file_id(), own.split("_")[1], commit.requested, "parquet"))
        path = join_path(source.partition, name)
        (folder / path).write_bytes(content.replace(own.encode(), name.encode()))  # both have the same length
        stat = WriteStat(name.partition("_")[0], source.partition, path, writes=1, inserts=1, size=len(content))
        commit.stats.append(stat)
    commit.complete(SCHEMA)
    chosen = {**STATISTICS, "hoodie.metadata.index.column.stats.column.list": "n"}
    indexed = open_table(table.uri, options=chosen)
    indexed.upsert(sources_row(indexed))
    return open_table(table.uri)


def sources_row(table: WritableTable) -> object:
    """One row of the table, to be written again: the write creates the metadata table."""
    return table.snapshot(["id", "ts", "p", "n"], [("p", "=", "p00000")]).slice(0, 1)


def compare_plans(files: int) -> None:
    """Compare the plan of a filter by statistics of columns with that by footers."""
    with tempfile.TemporaryDirectory() as work:
        table = many_files(Path(work, "many"), files)
        left = plan_by_statistics(table)
        if left != plan_by_footers(table):
            raise ValueError("the plans differ")
        indexed, footers = (median_cpu_seconds(lambda by=by: by(table)) for by in (plan_by_statistics, plan_by_footers))
        listed = median_cpu_seconds(lambda: open_table(table.uri).view(where=[]))
    shown = RichTable("plan of a filter", "CPU s", "ratio", title=f"{files:,} files, of which {left:,} are left")
    shown.add_row("by column_stats", f"{indexed:.2f}", "1.0")
    shown.add_row("by footers", f"{footers:.2f}", f"{footers / indexed:.1f}")
    shown.add_row("timeline and file groups alone, which both need", f"{listed:.2f}", f"{listed / indexed:.1f}")
    Console().print(shown)


def compare_writes(rows: int, engine: str | None, only: str) -> None:
    """Compare an upsert of a fiftieth of the rows with each index whose name has the text, also with another engine."""
    changes = tables.make_updates(rows, SHARE, 9)
    shown = RichTable(title=f"upsert of {changes.num_rows:,} of {rows:,} rows")
    for heading in ("indexes of the table", "CPU s", "ratio", *([engine, "reference to it"] if engine else [])):
        shown.add_column(heading)
    worker = Worker.start(engine) if engine else None
    first = 0.0
    with tempfile.TemporaryDirectory() as work:
        made, once, changed = Path(work, "made"), Path(work, "once"), Path(work, "changes.parquet")
        pq.write_table(changes, changed)
        for name, options in INDEXES.items():
            if only not in name:
                continue
            shutil.rmtree(made, ignore_errors=True)
            table = replace(tables.make_table(made, "copy-on-write", rows), options=options)
            table.upsert(tables.make_updates(rows, 0.001, 7))  # creates the metadata table
            if "secondary" in name:
                create_index(open_table(table.uri, options=options), "by_rider", "rider")

            def write(options: dict[str, str] = options) -> float:
                return median_cpu_seconds(lambda: open_table(once.as_uri(), options=options).upsert(changes), 1)

            def write_with_engine(options: dict[str, str] = options) -> float:
                assert worker is not None
                given = {**WITHOUT_STATISTICS, **options}
                task = {"do": "upsert", "table": once.as_uri(), "rows": str(changed), "options": given, "compare": False}
                return float(worker.run_task(task)["cpu"])

            cost = _median_on_copies(made, once, write)
            first = first or cost
            cells = [name, f"{cost:.2f}", f"{cost / first:.2f}"]
            if worker:
                expected = _rows(once)
                other = _median_on_copies(made, once, write_with_engine, warm=2)
                if not _rows(once).equals(expected):
                    raise ValueError(f"{engine} wrote other rows")
                cells += [f"{other:.2f}", f"{cost / other:.2f}"]
            shown.add_row(*cells)
    if worker:
        worker.stop()
    Console().print(shown)


def _rows(folder: Path) -> pa.Table:
    """The rows of a table in the order of their keys, without meta columns."""
    return open_table(folder.as_uri()).snapshot([field["name"] for field in tables.SCHEMA["fields"]]).sort_by("id")


def _median_on_copies(made: Path, once: Path, write: Callable[[], float], warm: int = 0) -> float:
    """The median of the costs of three writes, each to a new copy of the table, after `warm` writes that are not counted."""
    costs = []
    for _ in range(warm + 3):
        shutil.rmtree(once, ignore_errors=True)
        shutil.copytree(made, once)
        costs.append(write())
    return sorted(costs[warm:])[1]


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", nargs="*", choices=["plan", "writes", "keys"], default=["plan", "writes", "keys"])
    arguments.add_argument("--files", type=int, default=100_000)
    arguments.add_argument("--rows", type=int, default=200_000)
    arguments.add_argument("--engine", help="another engine that makes the same upserts, such as apache-hudi@1.0.2")
    arguments.add_argument("--only", default="", help="only the indexes whose name contains this text")
    asked = arguments.parse_args()
    if "plan" in asked.what:
        compare_plans(asked.files)
    if "writes" in asked.what:
        compare_writes(asked.rows, asked.engine, asked.only)
    if "keys" in asked.what:
        compare_keys(asked.rows // 2)


if __name__ == "__main__":
    main()
