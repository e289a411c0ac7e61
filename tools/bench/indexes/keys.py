"""Record keys without an entry in the record index: what looking them up costs on a merge-on-read table.

Deployed writers lose entries, so the slices of such a table are searched for a key that the index lacks. `python -m
tools.bench.indexes keys` measures that for queries and upserts, with log files and after a compaction.
"""

import shutil
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pyarrow as pa
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench.indexes.skipping import median_cpu_seconds

from hudi_reference import compact, create_table, open_table

PARTITIONS = 50
OPTIONS = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.index.type": "RECORD_INDEX",
    "hoodie.clean.automatic": "false",
}
COMPACTION = {"hoodie.compact.inline.max.delta.commits": "1"}
KINDS = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("p", pa.string()), ("v", pa.string())])
SCHEMA = {
    "type": "record", "name": "t",
    "fields": [{"name": f.name, "type": ["null", "long" if f.name == "ts" else "string"], "default": None} for f in KINDS],
}  # fmt: skip
ROUNDS = 5


def compare_keys(rows: int) -> None:
    """Print the CPU seconds of look-ups and upserts of keys that a table of this many rows has and lacks."""
    shown = RichTable(title=f"{rows:,} rows in {PARTITIONS} file groups, merge-on-read, CPU s")
    for heading in ("keys", "with log files", "compacted"):
        shown.add_column(heading)
    with tempfile.TemporaryDirectory() as work:
        logged, compacted = make_tables(Path(work), rows)
        asked = {"a key of the table": ["k5"], "an absent key": ["absent"], "100 absent keys": absent_keys(100)}
        for name, keys in asked.items():
            shown.add_row(f"filter: {name}", *(f"{look_up(one, keys):.3f}" for one in (logged, compacted)))
        written = {
            "1,000 keys of the table": known_keys(1000),
            "10 new keys": absent_keys(10),
            "1,000 new keys": absent_keys(1000),
        }
        for name, keys in written.items():
            shown.add_row(f"upsert: {name}", *(f"{upsert(one, Path(work, 'once'), keys):.2f}" for one in (logged, compacted)))
    Console().print(shown)


def known_keys(count: int) -> list[str]:
    """Keys of the table."""
    return [f"k{number}" for number in range(count)]


def absent_keys(count: int) -> list[str]:
    """Keys that the table lacks."""
    return [f"absent{number}" for number in range(count)]


def rows_of(keys: Sequence[str], ts: int) -> pa.Table:
    """Rows with these keys, whose partitions follow from the keys."""
    partitions = [f"p{zlib.crc32(key.encode()) % PARTITIONS}" for key in keys]
    return pa.table({"id": keys, "ts": [ts] * len(keys), "p": partitions, "v": ["x" * 50] * len(keys)}, schema=KINDS)


def make_tables(work: Path, rows: int) -> tuple[Path, Path]:
    """A table of which a fifth of the rows is in log files too, and the same after a compaction."""
    logged, compacted = work / "logged", work / "compacted"
    table = create_table(
        logged.as_uri(), name="t", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",),
        table_type="MERGE_ON_READ", options=OPTIONS,
    )  # fmt: skip
    table.upsert(rows_of(known_keys(rows), 1))
    table.upsert(rows_of(known_keys(rows // 5), 2))
    shutil.copytree(logged, compacted)
    compact(open_table(compacted.as_uri(), options={**OPTIONS, **COMPACTION}))
    return logged, compacted


def look_up(folder: Path, keys: Sequence[str]) -> float:
    """The median cost of a filter on the keys."""
    return median_cpu_seconds(lambda: open_table(folder.as_uri()).snapshot(where=[("id", "in", list(keys))]), ROUNDS)


def upsert(folder: Path, once: Path, keys: Sequence[str]) -> float:
    """The median cost of an upsert of the keys, each into a new copy of the table."""
    costs = []
    for _ in range(ROUNDS):
        shutil.rmtree(once, ignore_errors=True)
        shutil.copytree(folder, once)
        table, rows = open_table(once.as_uri(), options=OPTIONS), rows_of(keys, 3)
        costs.append(median_cpu_seconds(lambda table=table, rows=rows: table.upsert(rows), 1))  # type: ignore[misc]
    return median(costs)
