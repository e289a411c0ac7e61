"""Log files with the blocks of other files: whole blocks, of another action or another table, in the place of the own ones."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.pending_writes import begin_write
from hudi_conformance.suite.support.programs.write_programs import Program, Row, as_arrow, row
from hudi_conformance.suite.support.tables.stored_blocks import log_files
from hudi_reference import create_table, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds

pytestmark = pytest.mark.needs("read.snapshot", "merge-on-read", "log.avro", "merge.event-time", "partition.plain")
NewUri = Callable[[], str]


def write_with_log(uri: str, number: int, city: str, value: str) -> Path:
    """Write a table with the reference, an insert and an update of one row of a city; return the log file.

    The writes of each table have the same times. The number decides the ids of its file groups.
    """
    spec, clock = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec(), ManualClock(1_767_225_600_000)
    create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
                 ordering=spec.ordering, table_type=spec.type, clock=clock, ids=SeededIds(number))  # fmt: skip
    table = open_table(uri, clock=clock, ids=SeededIds(number))
    table.upsert(as_arrow([row("a", 1, "x", city), row("b", 1, "x", city)]))
    table.upsert(as_arrow([row("a", 2, value, city)]))
    (path,) = log_files(uri)
    return path


def expect_rows(engine: Client, uri: str, rows: Sequence[Row], message: str) -> None:
    """A query of the table has these rows."""
    found = engine.read(uri, Query(columns=("id", "value", "city"))).to_pylist()
    given, expected = (sorted((one["id"], one["value"], one["city"]) for one in some) for some in (found, rows))
    assert given == expected, message


def expect_error_or_rows(engine: Client, uri: str, path: Path, content: bytes) -> None:
    """With this content of a log file, a query of the table is an error, or has the rows of before."""
    rows = [row("a", 2, "y"), row("b", 1, "x")]
    expect_rows(engine, uri, rows, "the table was not readable before its log file was replaced")
    path.write_bytes(content)
    with suppress(ContractError):
        expect_rows(engine, uri, rows, "rows of the other file")


@pytest.mark.requirements("LF-035", "TL-005")
def test_log_file_with_the_blocks_of_a_pending_write(engine: Client, new_uri: NewUri) -> None:
    """LF-035: a log file of a completed write that has only the blocks of a pending write, and is not shorter than before,
    has lost the changes of its write: it is an error.
    """
    uri = new_uri()
    path = write_with_log(uri, 1, "oslo", "y")
    begin_write(uri, [row("a", 9, "pending" * 40)])
    (pending,) = (other for other in log_files(uri) if other != path)
    content = pending.read_bytes()
    assert len(content) > path.stat().st_size
    expect_error_or_rows(engine, uri, path, content)


@pytest.mark.requirements("META-009", "LAY-020")
def test_log_file_of_another_partition(engine: Client, new_uri: NewUri) -> None:
    """META-009: the rows of a log file have the path of their partition. A log file with the rows of another partition, of
    a file group that the table does not have, is an error, or its rows are left out.
    """
    uri, other = new_uri(), new_uri()
    path, foreign = write_with_log(uri, 1, "oslo", "y"), write_with_log(other, 2, "rio", "foreign" * 40)
    assert path.name.split("_")[1:] == foreign.name.split("_")[1:], "the writes have different times"
    expect_error_or_rows(engine, uri, path, foreign.read_bytes())


@pytest.mark.requirements("LF-035")
@pytest.mark.needs("merge.commit-time")
def test_log_file_with_a_further_block_of_an_earlier_write(engine: Client, new_uri: NewUri) -> None:
    """LF-035: a log file belongs to the write in its name. After the block of that write it has a copy of the delete block of
    an earlier write, which deletes a row that the write has stored again. That is an error, or the row is still there.
    """
    uri, clock = new_uri(), ManualClock(1_767_225_600_000)
    spec = Program("MERGE_ON_READ", "COMMIT_TIME_ORDERING", True).spec()
    create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
                 table_type=spec.type, clock=clock, ids=SeededIds(1))  # fmt: skip
    table = open_table(uri, clock=clock, ids=SeededIds(1))
    table.upsert(as_arrow([row("a", 2, "y"), row("b", 1, "x")]))
    table.delete(as_arrow([row("b", 1, "x")]).select(["id", "city"]))
    (deleting,) = log_files(uri)
    table.upsert(as_arrow([row("b", 1, "x")]))
    (storing,) = (path for path in log_files(uri) if path != deleting)
    expect_error_or_rows(engine, uri, storing, storing.read_bytes() + deleting.read_bytes())
