"""Changes of a key that an insert stored twice in one base file: inserts do not look up keys."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.program_runner import DUE
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, expect_rows, row

#: Changes are matched by key, not by the position of a row, which would tell the two rows apart.
BY_KEY = {"hoodie.write.record.positions": "false"}
NEEDS = ("create", "write.insert", "write.upsert", "read.snapshot", "read.projection", "merge-on-read", "partition.none")
Mode = Literal["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"]
MODES = pytest.mark.parametrize(
    "mode",
    [
        pytest.param("EVENT_TIME_ORDERING", marks=pytest.mark.needs("merge.event-time")),
        pytest.param("COMMIT_TIME_ORDERING", marks=pytest.mark.needs("merge.commit-time")),
    ],
)


def insert_twice(engine: Client, uri: str, mode: Mode) -> list[dict[str, Any]]:
    """Make a table with two equal rows of one key, and a row of another key."""
    engine.create(uri, Program("MERGE_ON_READ", mode, False).spec())
    rows = [row("a", 5, "first"), row("a", 5, "first"), row("b", 5, "other")]
    engine.write(uri, "insert", as_arrow(rows), options=BY_KEY)
    if engine.read(uri, Query(columns=("id",))).num_rows < len(rows):
        pytest.skip("an insert of the engine stores one row of each key")
    expect_rows(engine, uri, rows, "after the insert")
    return rows


@MODES
@pytest.mark.needs(*NEEDS)
@pytest.mark.requirements("RDR-016", "MRG-014")
def test_an_update_changes_one_of_two_rows(engine: Client, new_uri: Callable[[], str], mode: Mode) -> None:
    """RDR-016: the reader merges a change with one stored row of its key, as deployed readers and compactions do (ER-216)."""
    uri = new_uri()
    _, *others = insert_twice(engine, uri, mode)
    change = row("a", 9, "changed")
    engine.write(uri, "upsert", as_arrow([change]), options=BY_KEY)
    expect_rows(engine, uri, [change, *others], "after the update")


@MODES
@pytest.mark.needs(*NEEDS, "write.delete")
@pytest.mark.requirements("RDR-016", "MRG-014")
def test_a_delete_removes_one_of_two_rows(engine: Client, new_uri: Callable[[], str], mode: Mode) -> None:
    """RDR-016: a delete by key removes one stored row of its key (ER-216)."""
    uri = new_uri()
    _, *others = insert_twice(engine, uri, mode)
    engine.write(uri, "delete", as_arrow([row("a", 9, "gone")]), options=BY_KEY)
    expect_rows(engine, uri, others, "after the delete")


@MODES
@pytest.mark.needs(*NEEDS, "service.compaction")
@pytest.mark.requirements("RDR-016", "CMP-002")
def test_a_compaction_changes_one_of_two_rows(engine: Client, new_uri: Callable[[], str], mode: Mode) -> None:
    """CMP-002: a compaction stores what a reader of its slice returns (ER-216)."""
    uri = new_uri()
    _, *others = insert_twice(engine, uri, mode)
    change = row("a", 9, "changed")
    engine.write(uri, "upsert", as_arrow([change]), options=BY_KEY)
    engine.service(uri, "compaction", options=DUE["compaction"])
    expect_rows(engine, uri, [change, *others], "after the compaction")
