"""Files follow the settings of the writer: the size of base files, and the format of log blocks, whose content is parsed."""

import io
import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fastavro
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.stored_blocks import SCHEMA, STORED_AS, Block, hfile_keys, log_files, parse_blocks
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, base_files

#: The number of rows of one write, and the size of a record that a writer assumes before it has written any.
COUNT, ROW_SIZE = 600, 1024
ROWS = tuple(row(f"k{number}", 1, "x") for number in range(COUNT))


@pytest.mark.requirements("TYP-018")
@pytest.mark.needs("create", "write.insert", "read.snapshot", "read.projection", "copy-on-write", "partition.plain")
def test_base_files_have_the_configured_size(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-018: the same rows make one file under a large maximum size, several under a sixth of it; the answer is the same."""
    program, numbers = Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True), []
    for size in (COUNT * ROW_SIZE, COUNT * ROW_SIZE // 6):
        uri = new_uri()
        engine.create(uri, program.spec())
        engine.write(uri, "insert", as_arrow(ROWS), options={"hoodie.parquet.max.file.size": str(size)})
        expect_rows(engine, uri, ROWS, f"with files of {size} bytes aimed at")
        numbers.append(len(base_files(uri)))
    assert numbers[0] == 1
    assert numbers[1] >= 3


@pytest.mark.requirements("TYP-019", "LF-008")
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "merge-on-read", "partition.plain", "log.avro")
@pytest.mark.parametrize("chosen", ["avro", pytest.param("parquet", marks=pytest.mark.needs("log.parquet"))])
def test_logs_use_the_configured_format(engine: Client, new_uri: Callable[[], str], chosen: str) -> None:
    """TYP-019: records are stored by rows (Avro) or by columns (Parquet), as configured; the answer is the same."""
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow(ROWS[:2]))
    engine.write(uri, "upsert", as_arrow([row("k0", 2, "new")]), options={"hoodie.logfile.data.block.format": chosen})
    assert [block.kind for log in _appended(uri) for block in parse_blocks(log.read_bytes())] == [STORED_AS[chosen]]
    expect_rows(engine, uri, [row("k0", 2, "new"), ROWS[1]], f"with {chosen} in logs")


def _appended(uri: str) -> list[Path]:
    return sorted(log_files(uri))


KEYS = ("a", "\u00e9", "\uffee", "\U0001f600")


def rewrite_rows(engine: Client, uri: str, chosen: str) -> Block:
    """Write rows, update all of them with blocks of this format, and return the block of the update."""
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow([row(key, 1, "x") for key in KEYS]))
    changed = [row(key, 2, f"new {key}") for key in reversed(KEYS)]
    engine.write(uri, "upsert", as_arrow(changed), options={"hoodie.logfile.data.block.format": chosen})
    (block,) = [block for log in log_files(uri) for block in parse_blocks(log.read_bytes())]
    expect_rows(engine, uri, changed, f"with {chosen} in logs")
    return block


LOGS = ("create", "write.upsert", "read.snapshot", "read.projection", "merge-on-read", "partition.plain", "log.avro")


@pytest.mark.requirements("BLK-027", "BLK-028")
@pytest.mark.needs(*LOGS, "log.parquet")
def test_a_parquet_block_is_a_parquet_file(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-028: the content of a block of type 6, stored as 5, is a whole Parquet file with the rows of the write."""
    block = rewrite_rows(engine, new_uri(), "parquet")
    assert block.kind == STORED_AS["parquet"]
    rows = pq.read_table(io.BytesIO(block.content), columns=["_hoodie_record_key", "id", "value"]).to_pylist()
    assert sorted(map(str, rows)) == sorted(str({"_hoodie_record_key": key, "id": key, "value": f"new {key}"}) for key in KEYS)


@pytest.mark.requirements("BLK-023", "BLK-024", "BLK-025")
@pytest.mark.needs(*LOGS, "log.hfile")
def test_an_hfile_block_has_its_keys_in_order(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-025: the content of a block of type 5, stored as 4, is an HFile whose keys are the record keys in the order of their
    bytes.
    """
    block = rewrite_rows(engine, new_uri(), "hfile")
    assert block.kind == STORED_AS["hfile"]
    assert hfile_keys(block.content) == [key.encode() for key in KEYS]


@pytest.mark.requirements("BLK-024")
@pytest.mark.needs(*LOGS, "log.hfile")
def test_hfile_blocks_of_keys_of_every_length_are_read(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-024: the length of a key takes one byte in the index of an HFile up to 127, and more from 128 on. The engine and the
    reference find the row of every key, each in a block of its own.
    """
    uri, lengths = new_uri(), range(108, 120)
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow([row("k" * length, 1, "x", f"p{length}") for length in lengths]))
    changed = [row("k" * length, 2, "y", f"p{length}") for length in lengths]
    engine.write(uri, "upsert", as_arrow(changed), options={"hoodie.logfile.data.block.format": "hfile"})
    expect_rows(engine, uri, changed, "read by the engine")
    with connect("reference") as reference:
        expect_rows(reference, uri, changed, "read by the reference")


@pytest.mark.requirements("BLK-024", "BLK-025", "BF-002")
@pytest.mark.needs(*LOGS, "log.hfile")
def test_an_hfile_block_of_long_keys_is_read(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-024: the keys of the blocks of an HFile fill more than 128 KiB, so that many writers store an index of two levels.
    The engine and the reference find every row.
    """
    uri, keys = new_uri(), [f"{number:03}{'k' * 24_000}" for number in range(100)]
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow([row(key, 1, "x") for key in keys]))
    changed = [row(key, 2, "y") for key in keys]
    engine.write(uri, "upsert", as_arrow(changed), options={"hoodie.logfile.data.block.format": "hfile"})
    (block,) = [block for log in log_files(uri) for block in parse_blocks(log.read_bytes())]
    assert hfile_keys(block.content) == [key.encode() for key in keys]
    expect_rows(engine, uri, changed, "read by the engine")
    with connect("reference") as reference:
        expect_rows(reference, uri, changed, "read by the reference")


@pytest.mark.requirements("BLK-031", "BLK-032", "BLK-034")
@pytest.mark.needs("create", "write.upsert", "copy-on-write", "partition.plain", "read.cdc")
@pytest.mark.parametrize("mode", ["OP_KEY_ONLY", "DATA_BEFORE_AFTER"])
def test_captured_changes_are_a_block_of_records(engine: Client, new_uri: Callable[[], str], mode: str) -> None:
    """BLK-032: an update of a table with change capture stores a block of type 7, stored as 6, whose content is that of an Avro
    block: version, count, and for each changed key its length and a record with that key.
    """
    uri, properties = new_uri(), {**CAPTURED, "hoodie.table.cdc.supplemental.logging.mode": mode}
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), properties=properties))
    engine.write(uri, "upsert", as_arrow([row("a", 1, "x"), row("b", 1, "x")]))
    engine.write(uri, "upsert", as_arrow([row("a", 2, "y")]))
    logs = [path for path in log_files(uri) if path.name.endswith(".cdc")]
    (block,) = [block for path in logs for block in parse_blocks(path.read_bytes())]
    assert block.kind == 6
    version, count, length = struct.unpack(">iii", block.content[:12])
    assert (version, count, length) == (3, 1, len(block.content) - 12)
    record = fastavro.schemaless_reader(io.BytesIO(block.content[12:]), json.loads(block.header[SCHEMA]), None)
    assert isinstance(record, dict)
    key = record["record_key"] if mode == "OP_KEY_ONLY" else record["after"]["id"]
    assert (record["op"], key) == ("u", "a")
