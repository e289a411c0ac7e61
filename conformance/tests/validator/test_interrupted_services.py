"""No false finding: a table on which a service has crashed, at every point, has every row."""

import pytest
from tools.damage.tables import stored
from tools.fuzz.targets.plans import SERVICES, opened, published

from hudi_conformance.explorer.crash_points import crash_states
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import UNSOUND
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference.clock import ManualClock

#: Long after every heartbeat.
LATER = 1_800_000_000_000


@pytest.mark.parametrize("action", SERVICES)
def test_a_crash_at_every_point_leaves_a_sound_table(action: str) -> None:
    """CMP-006: a clean has deleted the base file of an older slice, whose log file is still there: the slice is not compared."""
    path, _, objects = published(action)
    requested = path.rpartition("/")[2].partition(".")[0]
    points = list(crash_states(stored(objects), lambda storage: SERVICES[action].execute(opened(storage), requested)))
    assert len(points) > 3
    for point in points:
        found = validate(load_table("memory:table", storage=point.storage, clock=ManualClock(LATER)), ALL)
        assert not found.broken
        assert [one for one in found.findings if one.severity in UNSOUND] == [], point
