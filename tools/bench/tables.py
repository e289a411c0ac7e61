"""The tables of the benchmarks: 1,000,000 rows of ten columns, and on merge-on-read three rounds of updates and deletes.

There is one merge-on-read table for each merge mode and each format of log blocks.
"""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference import WritableTable, create_table

PARTITIONS = 8
MERGE_ON_READ = tuple(f"merge-on-read {time}-time {block}" for time in ("event", "commit") for block in ("avro", "parquet"))
KINDS = ("copy-on-write", *MERGE_ON_READ)
SCHEMA = {
    "type": "record",
    "name": "trip",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "city", "type": ["null", "string"], "default": None},
        {"name": "ts", "type": ["null", "long"], "default": None},
        {"name": "rider", "type": ["null", "string"], "default": None},
        {"name": "driver", "type": ["null", "string"], "default": None},
        {"name": "fare", "type": ["null", "double"], "default": None},
        {"name": "distance", "type": ["null", "double"], "default": None},
        {"name": "seats", "type": ["null", "int"], "default": None},
        {"name": "stops", "type": ["null", "long"], "default": None},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}], "default": None},
    ],
}


def make_rows(numbers: np.ndarray, ts: np.ndarray, seed: int) -> pa.Table:
    """The rows with these record numbers and ordering values."""
    random = np.random.default_rng(seed)
    count = len(numbers)
    text = pc.cast(pa.array(numbers), pa.string())
    return pa.table(
        {
            "id": pc.binary_join_element_wise("key", text, "-"),
            "city": pc.binary_join_element_wise("city", pc.cast(pa.array(numbers % PARTITIONS), pa.string()), "_"),
            "ts": pa.array(ts),
            "rider": pc.binary_join_element_wise("rider", pc.cast(pa.array(random.integers(0, 5000, count)), pa.string()), "-"),
            "driver": pc.binary_join_element_wise(
                "driver", pc.cast(pa.array(random.integers(0, 900, count)), pa.string()), "-"
            ),
            "fare": random.random(count) * 100,
            "distance": random.random(count) * 30,
            "seats": random.integers(1, 6, count, dtype=np.int32),
            "stops": random.integers(0, 1 << 40, count),
            "at": pa.array(1_700_000_000_000_000 + numbers * 1_000_000).cast(pa.timestamp("us", "UTC")),
        }
    )


def make_table(folder: Path, kind: str, count: int) -> WritableTable:
    """Create the table of one kind (of KINDS, or `logs`) with `count` rows.

    In `logs` every row was updated, so that log files hold as many rows as base files.
    """
    shutil.rmtree(folder, ignore_errors=True)
    table = create_table(
        folder.as_uri(),
        name="bench",
        schema=SCHEMA,
        record_key=("id",),
        partition=("city",),
        ordering=() if "commit-time" in kind else ("ts",),
        merge_mode="COMMIT_TIME_ORDERING" if "commit-time" in kind else "EVENT_TIME_ORDERING",
        options={"hoodie.logfile.data.block.format": "parquet" if kind.endswith("parquet") else "avro"},
        table_type="COPY_ON_WRITE" if kind == "copy-on-write" else "MERGE_ON_READ",
    )
    numbers = np.arange(count)
    table.bulk_insert(make_rows(numbers, np.full(count, 1000), 0))
    if kind in MERGE_ON_READ:
        for round_number in range(3):
            _update_and_delete(table, count, round_number)
    if kind == "logs":
        table.upsert(make_rows(numbers, np.full(count, 2000), 1))
    return table


#: One record in this many is deleted in one of the rounds and never updated, because engines differ in the result of a late
#: update of a deleted record.
DELETED = 75


def make_updates(count: int, share: float, seed: int) -> pa.Table:
    """Changes of a share of the records; a quarter of the changes are late."""
    random = np.random.default_rng(seed)
    living = np.arange(count)[np.arange(count) % DELETED != 0]
    numbers = np.sort(random.choice(living, int(count * share), replace=False))
    late = random.random(len(numbers)) < 0.25
    return make_rows(numbers, np.where(late, 500, 1000 + seed * 10 + random.integers(0, 10, len(numbers))), seed)


def _update_and_delete(table: WritableTable, count: int, round_number: int) -> None:
    table.upsert(make_updates(count, 0.10, round_number + 1))
    gone = np.arange(round_number * DELETED, count, 3 * DELETED)
    table.delete(make_rows(gone, np.zeros(len(gone), np.int64), 0).select(["id", "city"]))
