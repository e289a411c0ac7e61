"""Rows in log blocks of each format: the format affects time and space, and never an answer."""

import io
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.stored_blocks import STORED_AS, log_files, parse_blocks
from hudi_reference import open_table
from hudi_reference.files.log.writer import BlockFormat
from hudi_reference.write.write_context import LogOptions

READS = pytest.mark.needs("read.snapshot", "merge-on-read", "partition.plain", "merge.event-time")


def write_logs(uri: str, block_format: BlockFormat, version: int = 8) -> Path:
    """Write a table with three rows in a base file and a log file with a block of this format that changes two; return the log
    file.
    """
    Reference().create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True, version=version).spec())
    table = open_table(uri)
    table.upsert(as_arrow((row("a", 1, "old"), row("b", 1, "old"), row("c", 1, "old"))))
    table.upsert(as_arrow((row("a", 2, "new"), row("b", 0, "late"))), logs=LogOptions(block_format=block_format))
    (log,) = log_files(uri)
    return log


@READS
@pytest.mark.each_version
@pytest.mark.requirements("LF-008", "LF-020", "BLK-030")
@pytest.mark.parametrize(
    "block_format",
    [
        pytest.param("avro", marks=pytest.mark.needs("log.avro")),
        pytest.param("parquet", marks=pytest.mark.needs("log.parquet")),
        pytest.param("hfile", marks=pytest.mark.needs("log.hfile")),
    ],
)
def test_log_blocks_have_the_configured_format(engine: Client, new_uri: Callable[[], str], block_format: BlockFormat) -> None:
    """LF-020: a writer with a configured block format stores rows in it, and the rows are the same."""
    uri = new_uri()
    log = write_logs(uri, block_format, engine.table_version)
    assert [block.kind for block in parse_blocks(log.read_bytes())] == [STORED_AS[block_format]]
    found = engine.read(uri, Query(columns=("id", "value")))
    assert sorted(map(tuple, (r.values() for r in found.to_pylist()))) == [("a", "new"), ("b", "old"), ("c", "old")]


@READS
@pytest.mark.needs("log.parquet", "read.projection")
@pytest.mark.each_version
@pytest.mark.requirements("BLK-029")
def test_unprojected_columns_of_parquet_blocks_are_not_read(engine: Client, new_uri: Callable[[], str]) -> None:
    """BLK-029: a query on few columns reads only those: damage in another column does not affect it."""
    uri = new_uri()
    log = write_logs(uri, "parquet", engine.table_version)
    data = bytearray(log.read_bytes())
    start = data.index(b"PAR1")
    content = bytes(data[start : data.rindex(b"PAR1") + 4])
    group = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0)
    (value,) = (group.column(n) for n in range(group.num_columns) if group.column(n).path_in_schema == "value")
    first = start + (value.dictionary_page_offset or value.data_page_offset)
    data[first : first + value.total_compressed_size] = b"\xff" * value.total_compressed_size
    log.write_bytes(data)
    found = engine.read(uri, Query(columns=("id", "ts")))
    assert sorted(map(tuple, (r.values() for r in found.to_pylist()))) == [("a", 2), ("b", 1), ("c", 1)]


@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "merge-on-read", "merge.event-time")
@pytest.mark.requirements("BLK-024", "BLK-030")
@pytest.mark.parametrize(
    "place",
    [
        pytest.param("hfile", marks=pytest.mark.needs("log.hfile")),
        pytest.param("base file", marks=pytest.mark.needs("base.hfile")),
    ],
)
@pytest.mark.parametrize("value", ["a", "other", ""], ids=["record key", "other", "empty"])
def test_a_column_named_key_has_its_values_in_hfiles(
    engine: Client, new_uri: Callable[[], str], place: str, value: str
) -> None:
    """BLK-024: an HFile has the record key as its key, and the row as its value. In a table with another column that is named
    `key`, rows are read with the values that they were written with: those of the record key, others and empty ones. A writer
    may refuse a value that readers would not return.
    """
    uri, columns = new_uri(), {"id": "string", "ts": "long", "key": "string"}
    schema = {"type": "record", "name": "row", "fields": [{"name": name, "type": kind} for name, kind in columns.items()]}
    stored = {"hoodie.table.base.file.format": "HFILE"} if place == "base file" else {}
    engine.create(uri, TableSpec("named", "MERGE_ON_READ", schema, ("id",), ordering=("ts",), properties=stored))
    expected = {"a": "first", "b": "second"}
    for ts, rows in enumerate((expected, {"a": value})):
        given = pa.table({"id": [*rows], "ts": pa.array([ts] * len(rows), pa.int64()), "key": [*rows.values()]})
        try:
            engine.write(uri, "upsert", given, options={} if stored else {"hoodie.logfile.data.block.format": "hfile"})
        except (EngineError, Refused):
            assert ts == 1 and value == ""
        else:
            expected = {**expected, **rows}
    found = engine.read(uri, Query(columns=("id", "key"))).to_pylist()
    assert {one["id"]: one["key"] for one in found} == expected
