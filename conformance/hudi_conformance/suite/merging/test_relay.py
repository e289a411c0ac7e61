"""Relays: one engine writes and another one reads, or both write in turn."""

from collections.abc import Callable
from typing import Literal

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import (
    TYPES,
    Program,
    SharedTables,
    Step,
    as_arrow,
    expect_rows,
    row,
)
from hudi_conformance.suite.support.tables.written_tables import READS, Type

Mode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"]

WRITES = ("create", "write.upsert", "write.delete")
TABLE_TYPES = pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
MERGE_MODES = pytest.mark.parametrize("mode", ["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"])

#: Inserts; an update, a late one and a new key; deletes of both kinds; a key that is inserted again.
STEPS = (
    Step("upsert", (row("a", 10, "first"), row("b", 10, "first"), row("c", 10, "first", "rio"))),
    Step("upsert", (row("a", 20, "second"), row("c", 5, "late", "rio"), row("d", 10, "new", "rio"))),
    Step("delete", (row("b", 0, "gone"),)),
    Step("upsert", (row("a", 15, "late delete", deleted=True), row("d", 30, "delete", "rio", deleted=True))),
    Step("upsert", (row("e", 1, "another"), row("c", 40, "newest", "rio"))),
)


@TABLE_TYPES
@MERGE_MODES
@pytest.mark.requirements("LAY-001", "LAY-002", "LAY-003", "TYP-007", "MRG-008", "MRG-025", "MRG-028", "PROP-001", "RDR-001")
@pytest.mark.needs(*READS, "copy-on-write", "merge-on-read", "merge.commit-time", "merge.event-time", writer=WRITES)
def test_one_engine_reads_the_table_of_another(
    writer: Client, reader: Client, shared_tables: SharedTables, type: Type, mode: Mode
) -> None:
    """RDR-001: given only the path, the reader returns the model's rows, and leaves every file unchanged."""
    table = shared_tables.table(writer, Program(type, mode, True, STEPS))
    before = table.digest()
    expect_rows(reader, table.uri, table.model.snapshot(), f"written by {writer.name}")
    assert table.digest() == before, "reading has changed the table's storage"


@TABLE_TYPES
@pytest.mark.requirements("TYP-008", "TL-034", "RDR-006")
@pytest.mark.needs(*READS, "read.as-of", "copy-on-write", "merge-on-read", "merge.commit-time", writer=WRITES)
def test_every_commit_can_be_read_again(writer: Client, reader: Client, shared_tables: SharedTables, type: Type) -> None:
    """RDR-006: as of the instant of a commit the reader returns the rows after that commit, whatever followed."""
    table = shared_tables.table(writer, Program(type, "COMMIT_TIME_ORDERING", True, STEPS))
    for instant in table.instants[::2]:
        query = Query("as-of", as_of=instant, columns=tuple(TYPES))
        expect_rows(reader, table.uri, table.model.as_of(instant), f"as of {instant}, written by {writer.name}", query)


@TABLE_TYPES
@pytest.mark.requirements("LAY-002", "LAY-021", "MRG-008", "PROP-017", "TL-001")
@pytest.mark.needs(*READS, "write.upsert", "write.delete", "copy-on-write", "merge-on-read", "merge.event-time", writer=WRITES)
def test_two_engines_write_in_turn(writer: Client, reader: Client, new_uri: Callable[[], str], type: Type) -> None:
    """LAY-002: two engines write in turn, each on the commits of the other: no row is lost, duplicated or read from a stale
    version of its key.
    """
    program = Program(type, "EVENT_TIME_ORDERING", True, STEPS)
    uri, model = new_uri(), program.model()
    writer.create(uri, program.spec())
    for number, step in enumerate(program.steps):
        (writer, reader)[number % 2].write(uri, step.operation, as_arrow(step.rows))
        model.apply(step.operation, step.rows)
    for one in (writer, reader):
        expect_rows(one, uri, model.snapshot(), f"read by {one.name} after {len(program.steps)} writes in turns")
