"""Validation: CPU seconds of the cheap tier against listing and timeline, and of the deep tier against one scan.

`python -m tools.bench.validation [--files N] [--rows N] [--rounds N]`. The base files of the table of N files are links to
a few hundred files of one row. The tables of rows are those of the benchmark of tables. The sides of a comparison are measured
in turn, each time in a new process, as a user runs them: a second scan in a process reuses the memory of the first one. Ratios
are of medians.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import tables
from tools.bench.indexes.__main__ import many_files

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


#: The checks of each comparison.
CHECKS: Mapping[str, Sequence[Check]] = {
    "without footers": [one for one in CHEAP if one.name != FOOTERS],
    "cheap": CHEAP,
    "deep": (*CHEAP, *DEEP),
}


def cpu_seconds(act: str, uri: str) -> float:
    """The CPU seconds of a scan, of reading the timeline, or of the checks of that name."""
    start = time.process_time()
    if act in CHECKS:
        check(uri, CHECKS[act])
    else:
        {"scan": scan, "timeline": read_timeline}[act](uri)
    return time.process_time() - start


def in_a_new_process(act: str, uri: str) -> float:
    """The same, measured in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(cpu_seconds, act, uri).result()


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--files", type=int, default=20_000)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    asked = arguments.parse_args()
    shown = RichTable("validated", "compared with", "CPU s", "CPU s", "ratio", f"goal {GOAL}")

    def compare(title: str, uri: str, checks: str, base: str, other: str) -> None:
        rounds = [(in_a_new_process(base, uri), in_a_new_process(checks, uri)) for _ in range(asked.rounds)]
        less, cost = (median(side) for side in zip(*rounds, strict=True))
        verdict = "met" if cost / less <= GOAL else "missed"
        shown.add_row(title, other, f"{cost:.2f}", f"{less:.2f}", f"{cost / less:.2f}", verdict)

    with tempfile.TemporaryDirectory() as work:
        if asked.files:
            uri = many_files(Path(work, "files"), asked.files).uri
            compare(
                f"{asked.files:,} files without footers", uri, "without footers", "timeline", "listing, timeline, file groups"
            )
            compare(f"{asked.files:,} files", uri, "cheap", "timeline", "the same")
        for kind in ("copy-on-write", tables.MERGE_ON_READ[0]) if asked.rows else ():
            uri = tables.make_table(Path(work, kind.replace(" ", "-")), kind, asked.rows).uri
            compare(f"{asked.rows:,} rows {kind}, deep", uri, "deep", "scan", "one scan")
    Console().print(shown)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    Console().print(f"peak memory of a process {peak:.0f} MB")


if __name__ == "__main__":
    main()
