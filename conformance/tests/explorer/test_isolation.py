"""The check of histories: it finds each isolation anomaly, names both operations, and accepts valid histories."""

from dataclasses import replace
from typing import Any

import pytest

from hudi_conformance.explorer.history.history import History, Operation, Outcome, Rows
from hudi_conformance.explorer.history.isolation import Anomaly, find_anomalies

ONE, OTHER = ("", "group-1"), ("", "group-2")
BEFORE = {"a": 0, "b": 0}


def write(process: str, invoked: int, published: int | None, *, c: int = 0, **more: Any) -> Operation:
    """A write whose completion time is `c`, "" to 9; it returns two steps after it was published."""
    ended = None if published is None else published + 2
    defaults: dict[str, Any] = {"groups": frozenset({ONE}), "based_on": "0", "completion": str(c), "requested": f"r{process}"}
    return Operation(process, "upsert", invoked, ended, published=published, **{**defaults, **more})


def read(process: str, invoked: int, ended: int, rows: Rows, at: str | None = None) -> Operation:
    """A query with its answer."""
    return Operation(process, "read", invoked, ended, read=rows, at=at)


def found(*operations: Operation) -> list[Anomaly]:
    """The anomalies of these operations."""
    return list(find_anomalies(History(operations, BEFORE)))


def the_only(*operations: Operation) -> Anomaly:
    """The only anomaly of these operations."""
    [anomaly] = found(*operations)
    return anomaly


W = write("W", 1, 5, c=1, wrote={"a": 1}, read={"a": 0, "b": 0})


def test_writes_one_after_the_other_are_in_order() -> None:
    """Serial writes, and queries before, between and after them, have no anomaly."""
    after = write("V", 8, 12, c=2, wrote={"a": 2}, read={"a": 1, "b": 0}, based_on="1")
    queries = [read("R", 0, 0, BEFORE), read("R", 6, 7, {"a": 1, "b": 0}), read("R", 15, 18, {"a": 2, "b": 0})]
    assert found(W, after, *queries) == []


@pytest.mark.parametrize("rows", [{"a": 0, "b": 0}, {"a": 1, "b": 0}])
def test_a_query_during_a_write_returns_the_state_before_or_after(rows: Rows) -> None:
    """Both the state before and the state after a write that completes during the query are right answers."""
    assert found(W, read("R", 3, 6, rows)) == []


@pytest.mark.parametrize("rows", [{"a": 0, "b": 0}, {"a": 1, "b": 0}])
def test_the_write_of_a_crashed_writer_may_be_visible_or_not(rows: Rows) -> None:
    """A write is visible if its writer crashed after publishing it, and not if it crashed before."""
    crashed_write = replace(W, ended=None, outcome=Outcome.UNKNOWN, published=5 if rows["a"] else None)
    assert found(crashed_write, read("R", 8, 9, rows)) == []


def test_lost_update() -> None:
    """Two writes read 0 and write: the later completion overwrites the earlier one."""
    second = write("V", 2, 9, c=2, wrote={"a": 2}, read={"a": 0, "b": 0})
    anomaly = the_only(W, second)
    assert (anomaly.name, anomaly.rule) == ("lost update", "OCC-013")
    assert (anomaly.first, anomaly.second) == (W, second)


def test_lost_update_of_another_row_of_the_group() -> None:
    """Conflicts are between file groups: a rewritten group contains the old version of the other row."""
    second = write("V", 2, 9, c=2, wrote={"b": 2})
    assert the_only(W, second).name == "lost update"


def test_lost_update_is_found_by_a_query() -> None:
    """The answer of a query lacks the first write; the anomaly names the write that overwrote it."""
    second = write("V", 2, 9, c=2, wrote={"b": 2})
    query = read("R", 14, 15, {"a": 0, "b": 2})
    blamed = [a for a in found(W, second, query) if "read by R" in a.detail]
    assert [(a.name, a.first, a.second) for a in blamed] == [("lost update", W, second)]


def test_write_skew_across_two_groups() -> None:
    """Each write reads both rows and changes one, in different groups: snapshots are consistent, but no serial order yields this."""
    second = write("V", 2, 9, c=2, wrote={"b": 2}, read={"a": 0, "b": 0}, groups=frozenset({OTHER}))
    anomaly = the_only(W, second)
    assert (anomaly.name, anomaly.rule) == ("write skew", "OCC-001")
    assert (anomaly.first, anomaly.second) == (W, second)


def test_independent_writes_of_different_groups() -> None:
    """Disjoint writes may overlap in time."""
    second = write("V", 2, 9, c=2, wrote={"b": 2}, read={"b": 0}, groups=frozenset({OTHER}))
    assert found(W, second, read("R", 20, 21, {"a": 1, "b": 2})) == []


def test_logs_of_non_blocking_writers_may_share_a_group() -> None:
    """Writes that are not exclusive may overlap."""
    shared = [replace(W, read=None, exclusive=False), write("V", 2, 9, c=2, wrote={"b": 2}, exclusive=False)]
    assert found(*shared, read("R", 20, 21, {"a": 1, "b": 2})) == []


@pytest.mark.parametrize("outcome", [Outcome.ABORTED, Outcome.UNKNOWN])
def test_dirty_read(outcome: Outcome) -> None:
    """A query returns an uncompleted write, whether its writer aborted or crashed."""
    lost = replace(W, published=None, completion=None, outcome=outcome)
    query = read("R", 6, 8, {"a": 1, "b": 0})
    anomaly = the_only(lost, query)
    assert (anomaly.name, anomaly.rule, anomaly.first, anomaly.second) == ("dirty read", "RDR-008", lost, query)


def test_dirty_read_of_a_write_that_completes_later() -> None:
    """A query that reads a write before its completion is wrong, also if the write completes later."""
    query = read("R", 2, 4, {"a": 1, "b": 0})
    assert the_only(W, query).name == "dirty read"


def test_non_repeatable_read() -> None:
    """Two queries as of one time differ."""
    first, second = read("R", 2, 4, {"a": 0, "b": 0}, at="5"), read("S", 8, 9, {"a": 1, "b": 0}, at="5")
    anomaly = the_only(W, first, second)
    assert (anomaly.name, anomaly.rule, anomaly.first, anomaly.second) == ("non-repeatable read", "RDR-006", first, second)
    assert "'a' is 0 first, then 1" in anomaly.detail


def test_stale_read() -> None:
    """A query that begins after a write has completed lacks it, and no write has overwritten it."""
    query = read("R", 8, 9, {"a": 0, "b": 0})
    anomaly = the_only(W, query)
    assert (anomaly.name, anomaly.rule, anomaly.first, anomaly.second) == ("stale read", "RDR-013", W, query)


def test_a_missing_row() -> None:
    """A missing row is a stale read too."""
    assert the_only(W, read("R", 8, 9, {"b": 0})).name == "stale read"


def test_torn_snapshot() -> None:
    """Of two writes that complete during a query the answer contains the later one only."""
    second = write("V", 6, 9, c=2, wrote={"b": 2}, groups=frozenset({OTHER}), based_on="1")
    query = read("R", 3, 11, {"a": 0, "b": 2})
    anomaly = the_only(W, second, query)
    assert (anomaly.name, anomaly.rule, anomaly.first, anomaly.second) == ("torn snapshot", "RDR-005", W, query)


def test_half_a_write() -> None:
    """One row of a write without its other row is a torn snapshot too."""
    both = replace(W, wrote={"a": 1, "b": 1})
    assert the_only(both, read("R", 3, 8, {"a": 1, "b": 0})).name == "torn snapshot"


def test_value_from_nowhere() -> None:
    """A value that no operation wrote."""
    assert the_only(W, read("R", 2, 3, {"a": 7, "b": 0})).name == "value from nowhere"


def test_a_rolled_back_write_is_not_returned_again() -> None:
    """After the rollback only the older rows are right."""
    rolled_back = replace(W, withdrawn=10)
    assert found(rolled_back, read("R", 6, 8, {"a": 1, "b": 0}), read("R", 11, 12, BEFORE)) == []
    assert the_only(rolled_back, read("R", 11, 12, {"a": 1, "b": 0})).name == "withdrawn write"


def test_deletes_count_as_changes() -> None:
    """A deleted key is missing; a query that returns it is a stale read."""
    gone = replace(W, wrote={"a": None})
    assert found(gone, read("R", 8, 9, {"b": 0})) == []
    assert the_only(gone, read("R", 8, 9, BEFORE)).name == "stale read"


def test_an_anomaly_names_both_operations_and_the_rule() -> None:
    """The text of an anomaly names its kind, the rule, both operations, and the row."""
    text = str(the_only(W, read("R", 8, 9, {"a": 0, "b": 0})))
    assert text == (
        "stale read [RDR-013]: R's read (steps 8 to 9) against W's upsert rW (steps 1 to 7): "
        "'a' is 0, although W's upsert rW (steps 1 to 7) had completed"
    )
