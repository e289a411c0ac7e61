"""Properties of queries, checked on every golden table: relations between the answers of an engine to different queries.

The answers are only compared with a plain snapshot of the same engine, whose rows the golden cases check.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.answers import Answers
from hudi_conformance.suite.support.golden_queries import Rows, Snapshots, as_multiset, check_rows, read_snapshots
from hudi_conformance.suite.support.programs.table_programs import Budget

#: An instant later than every table's last one.
FUTURE = "21991231000000000"
AREAS = pytest.mark.parametrize("area", ("merge", "log", "queries", "layout", "compatibility", "timeline"))

#: Tables of which a compaction or log compaction stored other rows than those that it read, so that a snapshot shows what a
#: reader applies. No write made these changes.
OTHER_ROWS = (
    "log.joined.",
    "log.partial.joined",
    "log.slices.a-delete-completed-before-a-compaction",
    "merge.truth-table.event-time.log-compacted",
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Snapshots:
    """Tables and their snapshots, which all tests of this module share, because they only read."""
    return Snapshots(tmp_path_factory.mktemp("golden_tables"))


@AREAS
@pytest.mark.needs("read.snapshot", "read.projection")
@pytest.mark.requirements("RDR-016", "RDR-017", "TYP-006", "TYP-007", "MRG-008", "LAY-002")
@pytest.mark.long
def test_a_projection_agrees_with_the_snapshot(engine: Client, budget: Budget, shared: Snapshots, area: str) -> None:
    """TYP-007: a query for any single column returns that column of all rows: columns that merging needs are read in
    addition.
    """
    for name, uri, every in read_snapshots(engine, budget, area, "read.projection", shared=shared):
        for column in every.column_names:
            found = engine.read(uri, Query(columns=(column,)))
            check_rows(found, every.select([column]), f"{column} of {name}")


@AREAS
@pytest.mark.needs("read.snapshot", "read.projection", "read.filter")
@pytest.mark.requirements("MRG-015", "LAY-008", "TYP-007", "RDR-016")
@pytest.mark.long
def test_a_filter_selects_rows_of_the_snapshot(engine: Client, budget: Budget, shared: Snapshots, area: str) -> None:
    """MRG-015: the rows equal to a value, and the rows not equal to it, are those of the snapshot; a null is in neither. The
    filtered column is not projected.
    """
    compared = 0
    for name, uri, every in read_snapshots(engine, budget, area, "read.projection", "read.filter", shared=shared):
        for column, value in comparable(every):
            rest = tuple(other for other in every.column_names if other != column)
            values = every.column(column).to_pylist()
            for operator, holds in (("=", [v == value for v in values]), ("!=", [v not in (value, None) for v in values])):
                found = engine.read(uri, Query(columns=rest, where=((column, operator, value),)))
                wanted = every.select(list(rest)).filter(pa.array(holds, pa.bool_()))
                check_rows(found, wanted, f"{column} {operator} {value!r} in {name}")
                compared += 1
    assert compared, "no snapshot has a text or a whole number to compare with"


def comparable(rows: pa.Table) -> Iterator[tuple[str, Any]]:
    """Yield a value of each column of texts and of whole numbers that has one."""
    for column in rows.column_names:
        value = next((v for v in rows.column(column).to_pylist() if v is not None), None)
        if isinstance(value, str | int) and not isinstance(value, bool) and rows.num_columns > 1:
            yield column, value


@AREAS
@pytest.mark.needs("read.snapshot", "read.as-of")
@pytest.mark.requirements("TYP-008", "RDR-006", "RDR-011")
@pytest.mark.long
def test_time_travel_to_the_future_is_the_snapshot(engine: Client, budget: Budget, shared: Snapshots, area: str) -> None:
    """TYP-008: a read as of a time after the last write returns the snapshot, or an error if a write is still pending."""
    expect_snapshots(engine, budget, shared, area, "read.as-of", Query("as-of", as_of=FUTURE))


@AREAS
@pytest.mark.needs("read.snapshot", "read.incremental")
@pytest.mark.requirements("TYP-009", "TYP-010")
@pytest.mark.long
def test_an_unbounded_window_is_the_snapshot(engine: Client, budget: Budget, shared: Snapshots, area: str) -> None:
    """TYP-009: an incremental query without bounds returns the snapshot, or an error if rows have no commit times."""
    expect_snapshots(engine, budget, shared, area, "read.incremental", Query("incremental"))


def expect_snapshots(engine: Client, budget: Budget, shared: Snapshots, area: str, feature: str, query: Query) -> None:
    """Check that the query returns the rows of the snapshot, or an error, and that it is answered for some table."""
    answers = Answers(engine)
    for name, uri, every in read_snapshots(engine, budget, area, feature, shared=shared):
        found = answers.ask(uri, query)
        if found is not None:
            check_rows(found.select(every.column_names), every, name)
    answers.expect_some(f"{query.kind} queries")


@AREAS
@pytest.mark.needs("read.snapshot", "read.cdc")
@pytest.mark.requirements("TYP-012", "TYP-013")
@pytest.mark.long
def test_all_changes_add_up_to_the_snapshot(engine: Client, budget: Budget, shared: Snapshots, area: str) -> None:
    """TYP-013: all images after changes, without all images before them, are the snapshot; an error is right if changes are
    lost.
    """
    answers = Answers(engine)
    for name, uri, every in read_snapshots(engine, budget, area, "read.cdc", shared=shared):
        if name.startswith(OTHER_ROWS):
            continue
        found = answers.ask(uri, Query("cdc"))
        if found is not None:
            remaining = row_images(found, "after")
            remaining.subtract(row_images(found, "before"))
            assert +remaining == as_multiset(every) and not -remaining, name
    answers.expect_some("cdc queries")


def row_images(changes: pa.Table, side: str) -> Rows:
    """Return the images before or after changes."""
    return Counter(repr(tuple(row.values())) for row in changes.column(side).to_pylist() if row is not None)
