"""The drawing of a timeline: positions of bars, the summarized history, and the summary of each action."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cli import app
from hudi_conformance.render.action_summary import summarize_action
from hudi_conformance.render.parts.axis import AT_WORK, DONE, PLANNED, POINT, Axis, format_duration, parse_instant, time_between
from hudi_reference.timeline.instants.states import State

T = "20260101000000"


def shown(case: str, *options: str, width: int = 120) -> str:
    """The page of a golden table in a pipe of this width."""
    found = CliRunner().invoke(app, ["inspect", str(fixtures_root() / case / "table"), *options], env={"COLUMNS": str(width)})
    assert found.exit_code == 0, found.stderr
    return found.stdout


def line_of(page: str, pattern: str) -> str:
    """The first line that matches."""
    return next(line for line in page.splitlines() if re.search(pattern, line))


def test_bars_show_order_and_overlap():
    """Bars of overlapping actions overlap; the bar of a later action begins after them."""
    axis = Axis((f"{T}000", f"{T}500", f"{T}900", "20260101000100000", "20260103000000000"), 40)
    first, second = axis.draw_bar(f"{T}000", f"{T}900", DONE), axis.draw_bar(f"{T}500", "20260101000100000", DONE)
    third = axis.draw_bar("20260103000000000", None, AT_WORK)
    assert first.startswith(DONE) and len(first) < len(second) < len(third) <= 40
    assert len(second) - len(second.lstrip()) < len(first)
    assert third.strip() == ">"


def test_pending_actions_extend_to_the_edge():
    """There is room for a pending action that is the last one."""
    axis = Axis((f"{T}000", f"{T}900"), 20, goes_on=True)
    assert axis.draw_bar(f"{T}900", None, PLANNED) == " " * 15 + PLANNED * 4 + ">"
    assert axis.draw_point(f"{T}000") == POINT


def test_times_that_are_not_dates_have_a_position():
    """Counters of the metadata table and reserved times are in order, without a duration."""
    axis = Axis(("00000000000000000", "00000000000000001", f"{T}000"), 9)
    assert [len(axis.draw_point(time)) for time in ("00000000000000000", "00000000000000001", f"{T}000")] == [1, 5, 9]
    assert (parse_instant("00000000000000000"), time_between("00000000000000000", f"{T}000"), format_duration(None)) == (
        None,
        None,
        "",
    )


def test_single_instant_has_a_bar():
    """An axis with one time has a bar."""
    assert Axis((f"{T}000",), 10).draw_bar(f"{T}000", f"{T}000", DONE) == DONE


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (f"{T}250", "250 ms"),
        ("20260101000001500", "1.5 s"),
        ("20260101000200000", "2 min"),
        ("20260101050000000", "5 h"),
        ("20260201000000000", "31 d"),
    ],
)
def test_units_of_durations(last: str, told: str):
    """Durations have at most three digits."""
    assert format_duration(time_between(f"{T}000", last)) == told


def test_each_action_of_a_table_has_a_summary():
    """Requested time, action, duration, and operation, files, rows of its metadata; pending actions show their plan."""
    page = shown("timeline/states.restore.requested.cow", width=100)
    assert re.search(r"\d{17}  commit +━+ +[\d.]+ (m?s)", line_of(page, "commit "))
    assert "UPSERT  2 files  +3 rows" in page and "keeps 2 files" in page
    requested = line_of(page, "restore ")
    assert f"{PLANNED * 3}>" in requested and requested.endswith("requested")
    assert re.search(r"plan: roll back 2 actions, restore to \d{17}", page)


def test_history_is_summarized_or_listed():
    """By default one line counts the archived actions of each kind; --all shows each of them with its summary."""
    folded, unfolded = shown("timeline/history.of-all-actions.cow"), shown("timeline/history.of-all-actions.cow", "--all")
    assert "22 in the history" in folded and "--all" in folded and "CLUSTER" not in folded
    assert re.search(r"replacecommit .*CLUSTER +3 files +\+4 rows +replaces 3 groups", unfolded)
    assert "rolled back" in unfolded and "--all" not in unfolded
    assert len(re.findall(r"^  \d{17}  ", unfolded, re.M)) == 7 + 22


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_lines_fit_into_narrow_terminals(width: int):
    """Bars become shorter and summaries move to the next line, so that no line is wider than the terminal."""
    page = shown("timeline/states.clustering.inflight.cow", width=width)
    timeline = page[page.index("timeline") : page.index("file groups")].splitlines()
    assert max(map(len, timeline)) <= max(width, 2 + 17 + 2 + 13 + 2 + 8 + 2 + 9)
    assert "plan: 2 groups into 2" in " ".join(page.split())


def test_slices_are_shown_with_sizes_and_marks():
    """The slice that a snapshot reads is marked, and that of a planned compaction; files have their size."""
    page = shown("timeline/states.compaction.requested.mor")
    assert re.search(r"slice \d{17}  compaction pending", page)
    assert re.search(r"slice \d{17}  5.87 kB  latest", page)
    assert re.search(r"\.parquet  3\.\d+ kB", page) and "2 groups, 3 slices" in page


def test_damaged_plan_is_shown_on_its_line(tmp_path: Path):
    """The rest of the page is shown."""
    import shutil

    table = tmp_path / "table"
    shutil.copytree(fixtures_root() / "timeline/states.clean.requested.cow/table", table)
    (plan,) = (table / ".hoodie/timeline").glob("*.clean.requested")
    plan.write_bytes(b"Obj\x01 and no more")
    found = CliRunner().invoke(app, ["inspect", str(table)], env={"COLUMNS": "120"})
    assert found.exit_code == 0
    assert found.stdout.index("clean ") < found.stdout.index("file groups")


@pytest.mark.parametrize(
    ("action", "state", "record", "told"),
    [
        ("commit", State.INFLIGHT, {"operationType": "UPSERT", "partitionToWriteStats": {"p": [{"numInserts": 3}]}},
         "UPSERT  to write +3 rows"),
        ("commit", State.COMPLETED, {"operationType": "COMPACT", "partitionToWriteStats": {"p": [{"path": "f", "numWrites": 1}]}},
         "COMPACT  1 file  1 row"),
        ("savepoint", State.COMPLETED, {"savepointedBy": "me", "comments": "why", "partitionMetadata": {}}, "keeps 0 files (me: why)"),
        ("indexing", State.REQUESTED, {"indexPartitionInfos": [{"metadataPartitionPath": "column_stats"}]}, "column_stats"),
        ("clean", State.COMPLETED, {"something": 1}, "its record has unexpected fields"),
        ("commit", State.REQUESTED, None, ""),
    ],
)  # fmt: skip
def test_summaries_of_records(action: str, state: State, record: dict[str, object] | None, told: str):
    """Each kind of record has a one-line summary; a record of another form is reported, and an empty file has no summary."""
    assert summarize_action(action, state, record) == told
