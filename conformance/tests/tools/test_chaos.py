"""The judge of the chaos test: each anomaly of a history of processes is found, and a sound history has none."""

from typing import Any

import pytest
from tools.chaos.judgement import judge
from tools.chaos.object_store import ObjectStore

FIRST, SECOND = "20260101000001000_20260101000002000.commit", "20260101000003000_20260101000004000.commit"


def write(number: int, name: str | None, *, outcome: str | None = "done", **wrote: str) -> dict[str, Any]:
    """A write of process `number` between the times 10 n and 10 n + 9; `name` is the completed file that it publishes."""
    start = 10 * number
    found: dict[str, Any] = {
        "id": f"w{number}",
        "process": f"write-{number}",
        "kind": "upsert",
        "invoked": start,
        "wrote": wrote,
    }
    if name:
        found |= {"completed": name, "publishing": start + 3, "published": start + 4}
    return found | ({"outcome": outcome, "ended": start + 9} if outcome else {})


def read(start: int, *rows: tuple[str, str], process: str = "read-1", **facts: Any) -> dict[str, Any]:
    """A query between the times `start` and `start` + 1, and its rows."""
    found = {"id": f"r{start}", "process": process, "kind": "read", "invoked": start, "ended": start + 1, "outcome": "done"}
    return found | {"rows": [list(row) for row in rows]} | facts


ONE, OTHER = write(1, FIRST, a="1"), write(2, SECOND, a="2")


def test_sound_history_has_no_anomaly() -> None:
    """Every query shows the writes that had completed; one beside the second write may show it or not."""
    for seen in ("1", "2"):
        assert (
            list(judge([ONE, OTHER, read(21, ("a", "1")), read(23, ("a", seen)), read(40, ("a", "2"))], [FIRST, SECOND])) == []
        )


def test_write_of_a_killed_process_may_be_visible_or_not() -> None:
    """A write without an outcome counts if its completed file was seen."""
    killed = write(2, SECOND, outcome=None, a="2")
    del killed["published"]
    assert list(judge([ONE, killed, read(40, ("a", "2"))], [FIRST, SECOND])) == []
    assert list(judge([ONE, killed, read(40, ("a", "1"))], [FIRST])) == []


BROKEN: dict[str, tuple[list[dict[str, Any]], list[str], str]] = {
    "acknowledged write that is lost": ([ONE, OTHER, read(40, ("a", "1"))], [FIRST], "not on the timeline"),
    "stale query": ([ONE, OTHER, read(40, ("a", "1"))], [FIRST, SECOND], "stale read"),
    "query of a write that has not begun": ([ONE, OTHER, read(12, ("a", "2"))], [FIRST, SECOND], "'a' is '2'"),
    "key twice": ([ONE, read(40, ("a", "1"), ("a", "1"))], [FIRST], "2 times"),
    "untyped error": ([ONE, read(40, outcome="broken", error="KeyError: x")], [FIRST], "untyped error"),
    "table that cannot be read": ([ONE, read(40, process="read_once-1", outcome="unknown", error="x")], [FIRST], "at the end"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_anomaly_is_found(name: str) -> None:
    """Each kind of anomaly gives a line that says what is wrong."""
    records, on_timeline, told = BROKEN[name]
    assert any(told in line for line in judge(records, on_timeline)), list(judge(records, on_timeline))


@pytest.mark.s3
def test_object_store_lists_the_names_below_a_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parent process sees the completed files of a table in the object store, and none of deeper folders."""
    with ObjectStore() as store:
        store.request("PUT", "/chaos/t/.hoodie/timeline/1_2.commit")
        store.request("PUT", "/chaos/t/.hoodie/timeline/history/x")
        assert store.names("t/.hoodie/timeline/") == {"1_2.commit"}
