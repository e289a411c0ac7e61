"""Laws of queries, held against every golden table: what an engine answers to one query follows from its answer to another.

Nothing is expected but what the engine itself shows in a plain snapshot, whose rows the golden cases judge.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.table_programs import Budget
from hudi_conformance.suite.support.tables.golden_queries import Rows, answer, asked, counted

#: A point of the timeline behind every table's end.
TO_COME = "21991231000000000"
AREAS = ("merge", "log", "queries", "layout", "compatibility", "timeline")


#: A law is held against the tables of each area by itself.
law = pytest.mark.parametrize("area", AREAS)


@law
@pytest.mark.needs("read.snapshot", "read.projection")
@pytest.mark.requirements("RDR-016", "RDR-017", "TYP-006", "TYP-007", "MRG-008", "LAY-002")
def test_a_column_asked_for_alone_is_that_of_all_columns(engine: Client, budget: Budget, area: str) -> None:
    """Whichever columns a query names, the rows are the same: what merging needs takes part in it unasked."""
    for name, uri, every in asked(engine, budget, area, "read.projection"):
        for column in every.column_names:
            found = engine.read(uri, Query(columns=(column,)))
            assert counted(found) == counted(every.select([column])), f"{column} of {name}"


@law
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter")
@pytest.mark.requirements("MRG-015", "LAY-008", "TYP-007", "RDR-016")
def test_a_comparison_chooses_among_the_rows_of_a_snapshot(engine: Client, budget: Budget, area: str) -> None:
    """Rows equal to a value, and rows that are not, are those of the snapshot; a null is neither. Both are asked for by
    their other columns.
    """
    for name, uri, every in asked(engine, budget, area, "read.projection", "read.filter"):
        for column, value in comparable(every):
            rest = tuple(other for other in every.column_names if other != column)
            values = every.column(column).to_pylist()
            for operator, holds in (("=", [v == value for v in values]), ("!=", [v not in (value, None) for v in values])):
                found = engine.read(uri, Query(columns=rest, where=((column, operator, value),)))
                wanted = every.select(list(rest)).filter(pa.array(holds, pa.bool_()))
                assert counted(found) == counted(wanted), f"{column} {operator} {value!r} in {name}"


def comparable(rows: pa.Table) -> Iterator[tuple[str, Any]]:
    """A value of each column of texts and whole numbers that has one."""
    for column in rows.column_names:
        value = next((v for v in rows.column(column).to_pylist() if v is not None), None)
        if isinstance(value, str | int) and not isinstance(value, bool) and rows.num_columns > 1:
            yield column, value


@law
@pytest.mark.needs("read.snapshot", "read.as-of")
@pytest.mark.requirements("TYP-008", "RDR-006", "RDR-011")
def test_as_of_a_time_to_come_a_table_is_as_it_is(engine: Client, budget: Budget, area: str) -> None:
    """Nothing was requested later, so time travel shows what a snapshot shows; refused where a write is still pending."""
    expect_snapshots(engine, budget, area, "read.as-of", Query("as-of", as_of=TO_COME))


@law
@pytest.mark.needs("read.snapshot", "read.incremental")
@pytest.mark.requirements("TYP-009", "TYP-010")
def test_the_window_of_all_time_holds_all_rows(engine: Client, budget: Budget, area: str) -> None:
    """What was written since the beginning, as it is now, is the snapshot; refused where rows do not tell."""
    expect_snapshots(engine, budget, area, "read.incremental", Query("incremental"))


def expect_snapshots(engine: Client, budget: Budget, area: str, feature: str, query: Query) -> None:
    """Of each table the query gives the rows of a snapshot, or no answer."""
    for name, uri, every in asked(engine, budget, area, feature):
        found = answer(engine, uri, query)
        assert found is None or counted(found.select(every.column_names)) == counted(every), name


@law
@pytest.mark.needs("read.snapshot", "read.cdc")
@pytest.mark.requirements("TYP-012", "TYP-013")
def test_all_changes_since_the_beginning_add_up_to_the_rows(engine: Client, budget: Budget, area: str) -> None:
    """All images after changes, less all images before them, are the rows that are there; refused where changes are lost."""
    for name, uri, every in asked(engine, budget, area, "read.cdc"):
        found = answer(engine, uri, Query("cdc"))
        if found is None:
            continue
        left = images(found, "after")
        left.subtract(images(found, "before"))
        assert +left == counted(every) and not -left, name


def images(changes: pa.Table, side: str) -> Rows:
    """The rows on one side of changes."""
    return Counter(repr(tuple(row.values())) for row in changes.column(side).to_pylist() if row is not None)
