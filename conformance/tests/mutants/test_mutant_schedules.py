"""The recorded schedules of the mutants of concurrency: each mutant has one, and it is found again."""

import pytest

from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS
from hudi_conformance.mutants.harness.mutant import all_mutants
from hudi_conformance.mutants.harness.schedules import SCENARIO_OF, recorded, shortest


def test_every_mutant_of_concurrency_has_a_schedule() -> None:
    """Each mutant for which a scenario is named has a recorded schedule, and there are at least forty."""
    assert set(recorded()) == set(SCENARIO_OF)
    assert len(recorded()) >= 40


def test_recorded_mutants_and_scenarios_exist() -> None:
    """The mutants and scenarios of the record exist, and the scenario is the one that is named for the mutant."""
    mutants = {m.name for m in all_mutants()}
    for mutant, schedule in recorded().items():
        assert mutant in mutants
        assert schedule.scenario == SCENARIO_OF[mutant]
        assert schedule.scenario in SCENARIOS


@pytest.mark.parametrize(
    "mutant", ["table-lock-not-taken", "compaction-plan-made-before-lock", "rollback-deletes-requested-file-first"]
)
def test_recorded_schedule_is_found_again(mutant: str) -> None:
    """The search finds the same scenario, preemptions and steps as recorded."""
    assert shortest(mutant) == recorded()[mutant]
