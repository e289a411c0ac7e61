"""Files follow the settings of the writer: the size of base files, and the format of log blocks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.stored_blocks import STORED_AS, log_files, parse_blocks
from hudi_conformance.suite.support.tables.written_tables import base_files

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
