"""Schedules that showed a fault once, replayed: nothing may be wrong with their runs any more.

Each file of `schedules/` is a case; `hudi-conformance explore --replay FILE --save FOLDER` adds one. A step that cannot be
taken is passed over: what was mended may ask otherwise. Only the reference can be run request by request, in its process.
"""

from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS, current_name
from hudi_conformance.explorer.simulation.schedule_file import read_schedule
from hudi_conformance.suite.support.concurrent.in_process import only_in_process

SAVED = sorted((Path(__file__).parents[1] / "schedules").glob("*.jsonl"))


@pytest.mark.needs("create", "write.upsert")
@pytest.mark.requirements("OCC-001")
@pytest.mark.parametrize("path", [
    pytest.param(path, id=path.stem, marks=pytest.mark.requirements(*read_schedule(path).requirements)) for path in SAVED
])  # fmt: skip
def test_the_run_of_a_saved_schedule_breaks_no_invariant(engine: Client, path: Path) -> None:
    """OCC-001: a run of a saved schedule breaks no invariant, although it did when the schedule was saved."""
    only_in_process(engine)
    saved = read_schedule(path)
    scenario = SCENARIOS[current_name(saved.scenario)].make_scenario(saved.scenario).with_store(saved.store)
    violation = scenario.find_violation(scenario.replay(saved, strict=False))
    assert violation is None, f"{violation}\nhudi-conformance explore --replay {path} shows the run"
