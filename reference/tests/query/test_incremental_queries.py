"""Incremental and change queries: bounds, cleaned and archived instants, and incomplete change logs."""

from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from hudi_reference import WritableTable, archive, clean, create_table, log_compact, open_table, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.errors import InvalidQuery, MissingDataFile, Misuse, UnsupportedTableFeature
from hudi_reference.ids import SeededIds
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.instants.time_parsing import instant_of

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "t",
    "fields": [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}, {"name": "v", "type": ["null", "double"]}],
}
COLUMNS = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("v", pa.float64())])


def table(table_type: str = "COPY_ON_WRITE", **properties: str) -> WritableTable:
    """An empty table in memory with its own clock."""
    return create_table(
        "memory:", name="t", schema=SCHEMA, record_key=["id"], ordering=["ts"], table_type=table_type,  # type: ignore[arg-type]
        storage=MemoryStorage(), clock=ManualClock(1767225600000, 1000), ids=SeededIds(1), properties=properties,
    )  # fmt: skip


def rows(*given: tuple[str, int, float | None]) -> pa.Table:
    """Rows of the table."""
    return pa.Table.from_pylist([dict(zip(COLUMNS.names, row, strict=True)) for row in given], schema=COLUMNS)


def completions(found: WritableTable) -> list[str]:
    """The completion times of the writes."""
    return [instant.completion or "" for instant in found.timeline.commits]


def ids(found: pa.Table) -> list[str]:
    """The keys of an answer."""
    return sorted(found.column("id").to_pylist())


@pytest.mark.parametrize("ask", ["incremental", "changes"])
def test_a_window_that_ends_before_it_begins_is_refused(ask: str) -> None:
    """The error names both bounds and the remedy."""
    made = table()
    made.upsert(rows(("a", 1, 1.0)))
    with pytest.raises(InvalidQuery, match="ends before it begins") as caught:
        getattr(made, ask)("20260102000000000", "20260101000000000")
    assert (caught.value.found, caught.value.rule) == ("20260101000000000", "TYP-009")


@pytest.mark.parametrize("time", ["earliest", "000", "", "2026", "2026-13-01", "2026-02-30 00:00:00", "yesterday"])
def test_invalid_bound_is_refused(time: str) -> None:
    """A text that is not a time is refused."""
    made = table()
    with pytest.raises(InvalidQuery, match="not a time of the timeline"):
        made.incremental(time)
    with pytest.raises(InvalidQuery, match="not a time of the timeline"):
        made.changes(None, time)


def test_a_begin_of_zeros_names_the_remedy() -> None:
    """Apache Hudi takes 000 for the first commit; the error says how to ask for that."""
    with pytest.raises(InvalidQuery, match="leave the time out"):
        table().incremental("000")


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("20260329013000123", "20260329013000123"),
        ("20260329013000", "20260329013000"),
        ("2026-03-29", "20260329000000000"),
        ("2026-03-29 01:30:00", "20260329013000999"),
        ("2026-03-29T01:30:00", "20260329013000999"),
        ("2026-03-29 01:30:00.123", "20260329013000123"),
        ("1774747800", "20260329013000000"),
        ("1774747800123", "20260329013000123"),
    ],
)
def test_forms_of_times(text: str, instant: str) -> None:
    """Seconds without milliseconds mean their last millisecond, a date its midnight."""
    assert instant_of(text) == instant


def test_times_since_1970_are_shown_in_the_zone_of_the_timeline() -> None:
    """A number of seconds is one moment; which instant that is depends on the zone in which the table writes its times."""
    assert instant_of("1774747800", ZoneInfo("Asia/Tokyo")) == "20260329103000000"


def test_option_include_begin() -> None:
    """An action that completed exactly at the begin is included only with include_begin."""
    made = table()
    made.upsert(rows(("a", 1, 1.0)))
    made.upsert(rows(("b", 1, 1.0)))
    first, second = completions(made)
    assert ids(made.incremental(first)) == ["b"]
    assert ids(made.incremental(first, include_begin=True)) == ["a", "b"]
    assert ids(made.incremental(first, first)) == []
    assert made.changes(second).num_rows == 0
    assert made.changes(second, include_begin=True).num_rows == 1


def test_projection_and_filter_of_windows() -> None:
    """The commit time need not be selected, and an unknown column is an error."""
    made = table()
    made.upsert(rows(("a", 1, 1.0), ("b", 1, 2.0)))
    assert made.incremental("2020-01-01", columns=["v"], where=[("id", "=", "b")]).to_pylist() == [{"v": 2.0}]
    assert made.changes(columns=["op"], where=[("op", "=", "i")]).to_pylist() == [{"op": "i"}] * 2
    with pytest.raises(InvalidQuery, match="no such column"):
        made.incremental(columns=["w"])
    with pytest.raises(InvalidQuery, match="no such column"):
        made.changes(columns=["id"])


def test_a_table_without_commit_times_has_no_windows() -> None:
    """META-012: rows without a commit time cannot be assigned to a window, so the query is refused."""
    made = table(**{"hoodie.populate.meta.fields": "false"})
    with pytest.raises(UnsupportedTableFeature, match="no commit time"):
        made.incremental()


def _cleaned(made: WritableTable) -> list[str]:
    for number in range(1, 6):
        made.upsert(rows(("a", number, float(number)), (f"n{number}", 1, 0.0)))
    times = completions(made)
    assert clean(made, {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"})
    return times


def test_a_window_whose_end_was_cleaned_is_refused() -> None:
    """The remaining files lack a record that was written again; a window without an end is complete."""
    made = table()
    times = _cleaned(made)
    assert ids(made.incremental(times[0])) == ["a", "n2", "n3", "n4", "n5"]
    assert ids(made.incremental(None, times[-1])) == ["a", "n1", "n2", "n3", "n4", "n5"]
    with pytest.raises(InvalidQuery, match="cleaned") as caught:
        made.incremental(times[0], times[2])
    assert caught.value.path is not None
    assert caught.value.path.endswith(".parquet")
    with pytest.raises(InvalidQuery, match="cleaned"):
        made.changes(times[0])


def test_clean_deletes_change_files_of_its_slices() -> None:
    """Later changes are returned, earlier ones are refused."""
    made = table(**{"hoodie.table.cdc.enabled": "true"})
    made.upsert(rows(("a", 1, 1.0), ("b", 1, 1.0)))
    for number in range(2, 5):
        made.upsert(rows(("a", number, float(number))))
    times = completions(made)
    clean(made, {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"})
    newest = made.timeline.commits[-1].requested
    left = [info.path for info in made.storage.list(skip=".hoodie") if not info.path.endswith("metadata")]
    assert len(left) == 2 and all(newest in path for path in left), left
    assert [change["after"]["v"] for change in made.changes(times[2]).to_pylist()] == [4.0]
    with pytest.raises(InvalidQuery, match="cleaned") as caught:
        made.changes(times[0])
    assert caught.value.path is not None and caught.value.path.endswith(".cdc")


def test_clean_keeps_change_files_of_savepoints() -> None:
    """The change-capture files of savepointed slices and of retained commits are kept."""
    made = table(**{"hoodie.table.cdc.enabled": "true"})
    for number in range(1, 7):
        made.upsert(rows(("a", number, float(number))))
    times = [instant.requested for instant in made.timeline.commits]
    savepoint(made, times[1])
    clean(made, {"hoodie.clean.commits.retained": "2"})
    left = [path for info in made.storage.list() if (path := info.path).endswith(".cdc")]
    assert [time for time in times if any(time in path for path in left)] == [times[1], *times[3:]]


def test_windows_include_archived_instants() -> None:
    """Instants in the history are used for records and for changes."""
    made = table(**{"hoodie.table.cdc.enabled": "true"})
    for number in range(1, 9):
        made.upsert(rows(("a", number, float(number)), ("b", 0 if number > 1 else 1, 0.0)))
    times = completions(made)
    archive(made, {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.automatic": "false"})
    found = open_table("memory:", storage=made.storage)
    assert len(found.timeline.commits) < len(times)
    assert ids(found.incremental(times[0])) == ["a"]
    assert ids(found.incremental(None, times[1])) == ["a", "b"]
    assert [change["after"]["v"] for change in found.changes(times[0]).to_pylist()] == [float(n) for n in range(2, 9)]


def test_missing_file_without_a_clean_is_an_error() -> None:
    """A missing file is damage if the table was never cleaned."""
    made = table()
    for number in (1, 2, 3):
        made.upsert(rows(("a", number, float(number))))
    times = completions(made)
    second = next(
        info.path for info in made.storage.list() if "20260101000003000" in info.path and info.path.endswith("parquet")
    )
    made.storage.delete(second)
    with pytest.raises(MissingDataFile):
        made.incremental(None, times[1])
    with pytest.raises(MissingDataFile):
        made.changes(times[0], times[1])


@pytest.mark.parametrize("mode", ["DATA_BEFORE_AFTER", "DATA_BEFORE", "OP_KEY_ONLY"])
def test_all_logging_modes_give_the_same_changes(mode: str) -> None:
    """Null and NaN are values, and unchanged ones are no change."""
    made = table(**{"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode})
    made.upsert(rows(("a", 1, float("nan")), ("b", 1, None), ("c", 1, 1.0)))
    made.upsert(rows(("a", 2, float("nan")), ("b", 2, 1.0), ("d", 1, None)))
    made.delete(rows(("c", 0, None)).select(["id"]))
    changes = [(c["op"], (c["before"] or {}).get("ts"), (c["after"] or {}).get("ts")) for c in made.changes().to_pylist()]
    assert sorted(changes[3:], key=str) == [("d", 1, None), ("i", None, 1), ("u", 1, 2), ("u", 1, 2)]
    assert [info.path.endswith(".cdc") for info in made.storage.list()].count(True) == 2


def test_an_unknown_mode_of_logging_is_refused() -> None:
    """A mode that is misspelt is not taken for the default."""
    with pytest.raises(Misuse, match="unknown value"):
        table(**{"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "EVERYTHING"})


def test_rows_with_the_time_of_a_log_compaction_are_in_the_windows_of_their_writes() -> None:
    """ER-198: rows that a log compaction gave its own time are not in its window, nor in that of another write before it."""
    made = table("MERGE_ON_READ")
    made.upsert(rows(("a", 1, 1.0), ("b", 1, 1.0)))
    made.upsert(rows(("a", 2, 2.0)))
    made.upsert(rows(("b", 3, 3.0)))
    times = [instant.requested.encode() for instant in made.timeline.commits]
    requested = log_compact(made, {"hoodie.log.compaction.blocks.threshold": "2"})
    assert requested is not None
    (path,) = (one.path for one in made.storage.list("") if one.path.startswith(".") and f"_{requested}.log." in one.path)
    data = made.storage.get(path)
    for time in times:
        data = data.replace(b"\x22" + time, b"\x22" + requested.encode())
    made.storage.put(path, data)
    first, second, third, joined = completions(made)
    assert set(made.snapshot().column("_hoodie_commit_time").to_pylist()) == {requested}
    assert [ids(made.incremental(*window)) for window in ((first, second), (second, third), (third, joined))] == [
        ["a"],
        ["b"],
        [],
    ]
