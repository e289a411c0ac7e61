"""No false finding: a table on which a service has crashed, at every point, has every row."""

from collections.abc import Callable, Mapping

import pytest
from tools.damage.tables import stored
from tools.fuzz.targets.plans import SERVICES, opened, published, table_and_states

from hudi_conformance.explorer.crash_points import crash_states
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import UNSOUND
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference import delete_savepoint, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.storage import MemoryStorage

#: Long after every heartbeat.
LATER = 1_800_000_000_000
INDEXES = pytest.mark.parametrize("has_indexes", [False, pytest.param(True, marks=pytest.mark.long)])


def check_sound_after_crashes(objects: Mapping[str, bytes], work: Callable[[MemoryStorage], object]) -> None:
    """Whatever the point of the crash, `validate --deep` finds no wrong answer and no lost data."""
    points = list(crash_states(stored(objects), work))
    assert len(points) > 2
    for point in points:
        found = validate(load_table("memory:table", storage=point.storage, clock=ManualClock(LATER)), ALL)
        assert not found.broken
        assert [one for one in found.findings if one.severity in UNSOUND] == [], point


@INDEXES
@pytest.mark.parametrize("action", SERVICES)
def test_a_crashed_service(action: str, has_indexes: bool) -> None:
    """CMP-006: a clean has deleted the base file of an older slice, whose log file is still there: the slice is not compared."""
    path, _, objects = published(action, has_indexes=has_indexes)
    requested = path.rpartition("/")[2].partition(".")[0]
    check_sound_after_crashes(objects, lambda storage: SERVICES[action].execute(opened(storage), requested))


def test_a_crashed_savepoint() -> None:
    """MDT-010: an inflight savepoint has the time of a completed write, whose statistics count."""

    def protect(storage: MemoryStorage) -> None:
        table = opened(storage)
        time = table.timeline.commits[-1].requested
        savepoint(table, time)
        delete_savepoint(table, time)

    check_sound_after_crashes(table_and_states(has_indexes=True)[0], protect)
