"""Rows of Avro log blocks: the reference reads a log file, other readers the same records in an Avro container."""

import json
import struct
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import tables
from tools.bench.workers import Worker
from tools.corpus.avro_bytes import encode_long

from hudi_reference.files.log.block import BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import encode_rows
from hudi_reference.schema.avro import AvroSchema, arrow_schema, with_meta_columns

BLOCKS = 4
PEERS = ("polars", "datafusion", "fastavro")
#: Goal: CPU seconds of the reference divided by those of the fastest other reader, at most.
GOAL = 1.2
#: Goal: CPU seconds of fastavro divided by those of the reference, at least.
FASTAVRO_GOAL = 10


def measure(console: Console, folder: Path, rows: int, rounds: int) -> dict[str, Any]:
    """Run both comparisons; return medians of CPU seconds."""
    task = {"do": "decode", "log": f"{folder}/{LOG}", "container": f"{folder}/records.avro"}
    _write(folder, rows)
    decoded = _in_turn(("reference", *PEERS), {**task, "columns": None}, rounds)
    _show(console, f"{rows:,} rows of Avro log blocks", decoded)
    table = tables.make_table(folder / "table", "logs", rows).uri
    columns = [f["name"] for f in tables.SCHEMA["fields"]]
    slices = _in_turn(("reference", "hudi-rs"), {"do": "read", "table": table, "columns": columns}, rounds)
    _show(console, "snapshot of slices whose every row is in a log file", slices)
    fastest = min(cost for name, cost in decoded.items() if name != "reference")
    to_fastest, to_fastavro = decoded["reference"] / fastest, decoded["fastavro"] / decoded["reference"]
    console.print(
        f"{to_fastest:.2f} x the fastest (goal {GOAL}), {to_fastavro:.1f} x as fast as fastavro (goal {FASTAVRO_GOAL})"
    )
    return {"decode": decoded, "slices": slices, "to_fastest": to_fastest, "to_fastavro": to_fastavro}


LOG = ".f0000000-0000-4000-8000-000000000001-0_20260101000000000.log.1_0-0-0"


def _write(folder: Path, rows: int) -> None:
    """Write the log file, and a container with the same records without the lengths between them."""
    schema = with_meta_columns(tables.SCHEMA)
    header = {HeaderKey.INSTANT_TIME: "20260101000000000", HeaderKey.SCHEMA: json.dumps(schema)}
    with (folder / LOG).open("wb") as log, (folder / "records.avro").open("wb") as container:
        container.write(_container_head(schema))
        for part in np.array_split(np.arange(rows), BLOCKS):
            content = encode_rows(add_meta_columns(tables.make_rows(part, part + 1000, 3), schema), schema)
            log.write(encode_block(BlockType.AVRO_DATA, header, content))
            body = _without_lengths(content)
            container.write(encode_long(len(part)) + encode_long(len(body)) + body + bytes(16))


def add_meta_columns(rows: pa.Table, schema: AvroSchema) -> pa.Table:
    """The rows with meta columns as a writer fills them."""
    count = rows.num_rows
    keys = rows.column("id")
    meta = {
        "_hoodie_commit_time": pa.array(["20260101000000000"] * count),
        "_hoodie_commit_seqno": pa.array([f"20260101000000000_0_{i}" for i in range(count)]),
        "_hoodie_record_key": keys,
        "_hoodie_partition_path": rows.column("city"),
        "_hoodie_file_name": pa.array(["f0000000-0000-4000-8000-000000000001-0"] * count),
    }
    return pa.table({**meta, **{name: rows.column(name) for name in rows.column_names}}, schema=arrow_schema(schema))


def _without_lengths(content: bytes) -> bytes:
    parts, position = [], 8
    while position < len(content):
        (length,) = struct.unpack_from(">i", content, position)
        parts.append(content[position + 4 : position + 4 + length])
        position += 4 + length
    return b"".join(parts)


def _container_head(schema: AvroSchema) -> bytes:
    entries = (b"avro.schema", json.dumps(schema).encode(), b"avro.codec", b"null")
    return b"Obj\x01" + encode_long(2) + b"".join(encode_long(len(text)) + text for text in entries) + b"\0" + bytes(16)


def _in_turn(engines: tuple[str, ...], task: dict[str, Any], rounds: int) -> dict[str, float]:
    """Compare the digests, then run one warm-up and `rounds` rounds in turns; return medians of CPU seconds."""
    workers = [Worker.start(name) for name in engines]
    digests = {w.name: w.run_task({**task, "compare": True})["digest"] for w in workers}
    if len({json.dumps(found, sort_keys=True) for found in digests.values()}) > 1:
        raise ValueError(f"the decoders find different rows: {digests}")
    for _ in range(rounds):
        for worker in workers:
            worker.costs.setdefault("task", []).append(worker.run_task({**task, "compare": False}))
    for worker in workers:
        worker.stop()
    return {w.name: median(cost["cpu"] for cost in w.costs["task"]) for w in workers}


def _show(console: Console, title: str, found: dict[str, float]) -> None:
    shown = RichTable("", *found, title=title)
    shown.add_row("CPU s", *(f"{cost:.2f}" for cost in found.values()))
    shown.add_row("reference / peer", *(f"{found['reference'] / cost:.2f}" for cost in found.values()))
    console.print(shown)
