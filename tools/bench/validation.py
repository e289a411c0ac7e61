"""Validation: CPU seconds of the cheap tier against listing and timeline, and of the deep tier against one scan.

`python -m tools.bench.validation [--files N] [--rows N] [--rounds N]`. The base files of the table of N files are links to
a few hundred files of one row. The tables of rows are those of the benchmark of tables. Ratios are of medians in one process.
"""

import argparse
import resource
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import tables
from tools.bench.indexes.__main__ import many_files
from tools.bench.indexes.skipping import median_cpu_seconds

from hudi_conformance.validator.all_checks import CHEAP, DEEP
from hudi_conformance.validator.checks.finding import Check
from hudi_conformance.validator.stored.table import StoredTable, load_table
from hudi_conformance.validator.validation import validate
from hudi_reference import open_table
from hudi_reference.files.base_file import read_base_file

#: Goal for both tiers.
GOAL = 2.0
FOOTERS = "base-files.footers"


def read_timeline(uri: str) -> StoredTable:
    """A table, listed, with its timeline, its history and its file groups."""
    table = load_table(uri)
    assert table.groups and table.removals
    return table


def check(uri: str, checks: Sequence[Check]) -> None:
    """Validate a table, which must be sound."""
    found = validate(load_table(uri), checks)
    if not found.is_sound or found.broken:
        raise ValueError(f"{uri}: {found.findings[:3]} {found.broken[:1]}")


def scan(uri: str) -> None:
    """Read all rows of the latest slices, merged, and all rows of older base files."""
    table = open_table(uri, options={"hoodie.metadata.enable": "false"})
    table.snapshot()
    for group in table.file_groups():
        for one in group.slices[1:]:
            if one.base_file:
                read_base_file(table.storage, one.path(one.base_file))


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--files", type=int, default=20_000)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    asked = arguments.parse_args()
    shown = RichTable("validated", "compared with", "CPU s", "CPU s", "ratio", f"goal {GOAL}")
    without = [one for one in CHEAP if one.name != FOOTERS]

    def compare(title: str, uri: str, checks: Sequence[Check], other: str, base: float) -> None:
        cost = median_cpu_seconds(lambda: check(uri, checks), asked.rounds)
        shown.add_row(
            title, other, f"{cost:.2f}", f"{base:.2f}", f"{cost / base:.2f}", "met" if cost / base <= GOAL else "missed"
        )

    with tempfile.TemporaryDirectory() as work:
        if asked.files:
            uri = many_files(Path(work, "files"), asked.files).uri
            base = median_cpu_seconds(lambda: read_timeline(uri), asked.rounds)
            compare(f"{asked.files:,} files without footers", uri, without, "listing, timeline, file groups", base)
            compare(f"{asked.files:,} files", uri, CHEAP, "the same", base)
        for kind in ("copy-on-write", tables.MERGE_ON_READ[0]) if asked.rows else ():
            uri = tables.make_table(Path(work, kind.replace(" ", "-")), kind, asked.rows).uri
            base = median_cpu_seconds(lambda uri=uri: scan(uri), asked.rounds)
            compare(f"{asked.rows:,} rows {kind}, deep", uri, (*CHEAP, *DEEP), "one scan", base)
    Console().print(shown)
    Console().print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
