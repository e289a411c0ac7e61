"""Laws of queries, held against every golden table: what an engine answers to one query follows from its answer to another.

Nothing is expected but what the engine itself shows in a plain snapshot, whose rows the golden cases judge.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance import cases
from hudi_conformance.cases import Case
from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.programs_of_everything import Budget
from hudi_conformance.verdict import lacking

#: Tables of an area that an engine is asked about at most, and one whose queries take a second or more.
MANY, FEW = 40, 6
#: Queries whose answers follow from the order of completions. Of a table of version 6 the times of its files tell it, which
#: change with each copy.
TIMED = {"read.incremental", "read.cdc"}
#: Errata of tables in which a service has changed which rows there are, so that no write tells it.
CHANGED_BY_SERVICES = {"ER-106"}
#: A point of the timeline behind every table's end.
TO_COME = "21991231000000000"
AREAS = ("merge", "log", "queries", "layout", "compatibility", "timeline")
Rows = Counter[str]


@cache
def tables(area: str) -> tuple[Case, ...]:
    """The cases of an area that ask for the rows of a table now; of several of one table the first."""
    found: dict[Path, Case] = {}
    for case in cases.find_cases(cases.fixtures_root() / area):
        is_plain = case.table is not None and case.query == Query() and case.expected.rows is not None
        if is_plain and not CHANGED_BY_SERVICES.intersection(case.errata):
            found.setdefault(case.subject, case)
    return tuple(found.values())


def asked(engine: Client, budget: Budget, area: str, *features: str) -> Iterator[tuple[str, str, pa.Table]]:
    """Id, place and snapshot of the tables that the engine reads, as many as it has the time for."""
    known = [case for case in tables(area) if not lacking((*case.needs, *features), engine.hello)]
    if TIMED.intersection(features):
        known = [case for case in known if "table-version.6" not in case.needs]
    number = max(1, budget(min(len(known), MANY), FEW, engine))
    for case in known[:: -(-len(known) // number) or 1]:
        with tempfile.TemporaryDirectory(prefix="hudi-conformance-law-") as scratch:
            uri = cases.place(case, Path(scratch))
            if (every := answer(engine, uri, Query())) is not None:
                yield case.id, uri, every


#: A law is held against the tables of each area by itself.
law = pytest.mark.parametrize("area", AREAS)


def counted(rows: pa.Table) -> Rows:
    """The rows, in no order."""
    return Counter(repr(tuple(row.values())) for row in rows.to_pylist())


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


def answer(engine: Client, uri: str, query: Query) -> pa.Table | None:
    """What the engine answers; None where it does not."""
    try:
        return engine.read(uri, query)
    except ContractError:
        return None
