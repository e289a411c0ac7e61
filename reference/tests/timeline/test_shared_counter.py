"""Tables whose writers take instant times from a shared counter instead of their clocks."""

from pathlib import Path

import pytest
from reference_samples import TABLE_TYPES, new_table, trip, trips

from hudi_reference import clean, open_table, restore, rollback
from hudi_reference.clock import ManualClock
from hudi_reference.tables import WritableTable
from hudi_reference.timeline.instant_generator import COUNTER_KEY
from hudi_reference.timeline.shared_counter import FIRST
from hudi_reference.write.commit import begin

#: A day before the clock of the table's maker, and ten years after it.
CLOCKS = (ManualClock(1_767_139_200_000), ManualClock(2_082_758_400_000))


def writers(kind: str, counter: Path) -> list[WritableTable]:
    """Two writers of one new table, whose clocks are far apart, and who share a counter."""
    made = new_table(table_type=kind)
    options = {COUNTER_KEY: counter.as_uri()}
    return [open_table("memory:///unused", storage=made.storage, clock=clock, options=options) for clock in CLOCKS]


def names(table: WritableTable) -> list[str]:
    """The names in the rows, sorted."""
    return sorted(table.snapshot(["name"]).column(0).to_pylist())


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_writers_whose_clocks_differ_by_years_take_turns(kind: str, tmp_path: Path) -> None:
    """TT-005, TT-006: every time is one more than that before, for every writer, and the later write wins."""
    one, other = writers(kind, tmp_path)
    written = [table.upsert(trips(trip("a", f"of {n}"))) for n, table in enumerate((other, one, other, one))]
    times = [time for instant in one.timeline.completed for time in (instant.requested, instant.completion)]
    assert written == [str(FIRST + n) for n in (0, 2, 4, 6)]
    assert times == [str(FIRST + n) for n in range(8)]
    assert names(one) == names(other) == ["of 3"]


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_services_use_the_counter_too(kind: str, tmp_path: Path) -> None:
    """TT-006: rollback, restore and clean are in one order with the writes, and have the same effect as with clocks."""
    one, other = writers(kind, tmp_path)
    first, *_ = (one.upsert(trips(trip("a", f"of {n}"))) for n in range(4))
    failed = begin(other, "UPSERT")
    rollback(one, failed.requested)
    assert clean(other, {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": "1"}) is None
    restore(other, first)
    times = [time for i in one.timeline.completed for time in (i.requested, i.completion)]
    assert sorted(set(times)) == sorted(times)
    assert all(int(time) < FIRST + 100 for time in times)
    assert names(one) == ["of 0"]


def test_a_counter_continues_after_times_of_clocks(tmp_path: Path) -> None:
    """TT-005: if the times of a table are dates, the counter returns later times than all of them."""
    table = new_table()
    before = table.upsert(trips(trip("a", "by a clock")))
    counted = open_table("memory:///unused", storage=table.storage, options={COUNTER_KEY: tmp_path.as_uri()})
    completion = table.timeline.commits[-1].completion or ""
    assert counted.upsert(trips(trip("a", "by a counter"))) == str(int(completion) + 1) > before
    assert names(counted) == ["by a counter"]
