"""Pausable writes and services: the operations `begin` and `resume`, and the reference behind them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hudi_conformance.contract import Call, Conflict, EngineError, Refused, Write
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    Known,
    create_updated_table,
    instant_files,
    read_snapshot,
)
from hudi_reference import open_table


@pytest.fixture(scope="module")
def reference() -> Iterator[Client]:
    """The reference as an engine of the contract."""
    with connect("reference") as client:
        yield client


@pytest.fixture
def known(reference: Client, tmp_path: Path) -> Known:
    """A table with three rows."""
    return create_updated_table(reference, (tmp_path / "table").as_uri(), 0)


def change(known: Known, key: str) -> Write:
    """An update of one row."""
    return Write(known.uri, "upsert", as_arrow([row(key, 50, "changed")]))


def values(reference: Client, known: Known) -> list[str]:
    """The values of all rows."""
    return [found["value"] for found in read_snapshot(reference, known.uri)]


def test_write_pauses_at_each_point(reference: Client, known: Known) -> None:
    """Requested, then with its files stored, then completed; the instant stays the same, and is visible only at the end."""
    instant = reference.begin("a", change(known, "a"), "requested")
    assert {name for name in instant_files(known.uri) if name.startswith(str(instant))} == {f"{instant}.commit.requested"}
    assert reference.resume("a", "stored") == instant
    assert [found.state.name for found in open_table(known.uri).timeline.pending] == ["INFLIGHT"]
    assert values(reference, known) == ["x", "x", "x"]
    assert reference.resume("a") == instant
    assert values(reference, known) == ["changed", "x", "x"]


def test_two_writers_pause_at_the_same_time(reference: Client, known: Known) -> None:
    """Neither holds a lock that the other one needs; the second one to complete has a conflict and is abandoned."""
    for key in "ab":
        reference.begin(key, change(known, key), "stored")
    reference.resume("b")
    with pytest.raises(Conflict):
        reference.resume("a")
    with pytest.raises(EngineError, match="no paused work has the name a"):
        reference.resume("a")
    assert values(reference, known) == ["x", "changed", "x"]


def test_a_begin_with_a_known_name_abandons_the_paused_work(reference: Client, known: Known) -> None:
    """As after a crash of its process, the write is not visible, and its instant remains pending."""
    abandoned = reference.begin("a", change(known, "a"), "stored")
    reference.begin("a", change(known, "c"), "requested")
    reference.resume("a")
    assert values(reference, known) == ["x", "x", "changed", "x"]
    assert abandoned in [found.requested for found in open_table(known.uri).timeline.pending]


def test_a_service_pauses_with_its_files_stored(reference: Client, tmp_path: Path) -> None:
    """Another process may execute the same plan meanwhile; the later one gets a conflict."""
    table = create_updated_table(reference, (tmp_path / "logs").as_uri(), 1, "MERGE_ON_READ")
    due = {"hoodie.compact.inline.max.delta.commits": "1"}
    plan = reference.service(table.uri, "compaction", phase="schedule", options=due)
    assert plan is not None
    assert reference.begin("a", Call(table.uri, "compaction", "execute", plan), "stored") == plan
    assert reference.service(table.uri, "compaction", phase="execute", instant=plan) == plan
    with pytest.raises(Conflict):
        reference.resume("a")
    assert read_snapshot(reference, table.uri) == table.rows[-1]


def test_a_rollback_pauses_with_its_plan_published(reference: Client, known: Known) -> None:
    """The write that is to be rolled back cannot complete any more."""
    instant = reference.begin("a", change(known, "a"), "stored")
    assert reference.begin("b", Call(known.uri, "rollback", instant=instant), "requested") != instant
    with pytest.raises(Conflict):
        reference.resume("a")
    reference.resume("b")
    assert values(reference, known) == ["x", "x", "x"]


@pytest.mark.parametrize("point", ["drawn", "planned"])
def test_point_drawn_is_refused(reference: Client, known: Known, point: str) -> None:
    """The reference generates and publishes times under one lock, and therefore has no such point."""
    with pytest.raises(Refused, match=f"pause.{point}"):
        reference.begin("a", change(known, "a"), point)  # type: ignore[arg-type]
