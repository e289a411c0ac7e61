"""Clocks that are set back during a write or a service: no row is lost, whatever the clock returns afterwards.

Only the reference in this process can be given a clock.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, pairwise

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import copy_storage
from hudi_conformance.explorer.scenarios.scenarios import A1, EAGER, OPTIMISTIC, SERVICES_ON
from hudi_conformance.explorer.scenarios.services import FINISHING, SERVICES
from hudi_conformance.explorer.scenarios.setting import Setting, prepare_table, to_arrow
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_reference import WritableTable, open_table, rollback
from hudi_reference.clock import ManualClock
from hudi_reference.errors import ClockBehindTimeline
from hudi_reference.ids import SeededIds
from hudi_reference.storage import Storage
from hudi_reference.timeline.instant_generator import latest_time
from hudi_reference.timeline.instants.times import milliseconds_of

#: The clock is set back by less than a process waits for, and by more, in milliseconds.
LITTLE, MUCH = 30_000, 3_600_000
#: More readings than these mean that a process waits without end.
MOST_READINGS = 10_000
#: Processes that read the clock, and their tables.
ACTS: dict[str, tuple[Setting, Callable[[WritableTable], object]]] = {
    "writer": (Setting(options={**EAGER, **OPTIMISTIC}), lambda table: table.upsert(to_arrow([A1]))),
    **{name: (setting, SERVICES[name]) for name, setting in SERVICES_ON.items() if name != "archive"},
}


@dataclass
class SetBack(ManualClock):
    """A clock that is set back after this many readings."""

    step: int = 1
    after: int = 0
    by: int = 0
    readings: int = 0

    def now(self) -> int:
        """Return the time; every reading takes a millisecond."""
        assert self.readings < MOST_READINGS, "a process did not stop waiting"
        self.readings += 1
        return super().now() - (self.by if self.readings > self.after else 0)


def open_with_clock(storage: Storage, setting: Setting, clock: ManualClock) -> WritableTable:
    """Open the table in a process with this clock."""
    return open_table("memory:///clocks", storage=storage, clock=clock, ids=SeededIds(3), options=setting.options)


def read_rows(table: WritableTable) -> list[tuple[str, str]]:
    """Return keys and values of a snapshot."""
    return sorted((found["id"], found["value"]) for found in table.snapshot(("id", "value")).to_pylist())


@pytest.mark.parametrize("by", [LITTLE, MUCH], ids=["a little", "much"])
@pytest.mark.parametrize("name", ACTS)
@pytest.mark.requirements("TT-002", "TT-003", "TT-004", "TT-009", "TL-004", "SVC-006")
@pytest.mark.long
def test_a_clock_is_set_back_at_any_moment(engine: Client, name: str, by: int) -> None:
    """TT-002: after any reading the clock is set back. The process waits if the difference passes soon, and otherwise reports a
    wrong clock; the rows are those before its work or those after it. With a correct clock, pending actions are finished, a
    write succeeds, and every time is later than those before.
    """
    only_in_process(engine)
    setting, act = ACTS[name]
    before, _ = prepare_table(setting)
    begins = milliseconds_of(latest_time(open_with_clock(before, setting, ManualClock(0)).timeline)) + 5_000
    undisturbed = copy_storage(before)
    act(open_with_clock(undisturbed, setting, ManualClock(begins, 1)))
    right = [read_rows(open_with_clock(storage, setting, ManualClock(begins))) for storage in (before, undisturbed)]
    reported = 0
    for after in count():
        storage, clock = copy_storage(before), SetBack(begins, after=after, by=by)
        try:
            act(open_with_clock(storage, setting, clock))
            expected = right[1:]
        except ClockBehindTimeline:
            reported, expected = reported + 1, right
        assert read_rows(open_with_clock(storage, setting, clock)) in expected, f"set back after {after} readings"
        check_order_of_times(open_with_clock(storage, setting, ManualClock(clock.time + by, 1)))
        if clock.readings <= after:
            break
    assert after and bool(reported) == (by == MUCH)


def check_order_of_times(table: WritableTable) -> None:
    """Finish pending actions, then write; check that the order of times is the order in which they were drawn."""
    for pending in reversed(table.timeline.pending):
        FINISHING.get(pending.action, rollback)(table, pending.requested)
    assert not [found for found in table.timeline.pending if found.action not in ("compaction", "logcompaction", "clustering")]
    latest = latest_time(table.timeline)
    written = table.upsert(to_arrow([A1]))
    assert latest < written
    assert dict(read_rows(table))["a"] == A1["value"]
    completions = sorted(found.completion or "" for found in table.timeline.completed)
    assert all(one < other for one, other in pairwise(completions)), "a completion time occurs twice"
