"""The record of mutants of concurrency: each is there, and its shortest schedule is found again."""

import pytest

from hudi_conformance.explorer.scenarios.scenarios import MEETINGS
from hudi_conformance.mutants.harness.mutant import all_mutants
from hudi_conformance.mutants.harness.schedules import SCENARIOS, recorded, shortest

OURS = ("settings", "service_concurrency")


def test_every_mutant_of_concurrency_has_a_schedule() -> None:
    """A mutant that no scenario shows would be worth nothing; and at least forty are shown."""
    mutants = {m.name for m in all_mutants() if m.apply.__module__.rpartition(".")[2] in OURS}
    assert mutants <= set(recorded())
    assert len(recorded()) >= 40


def test_the_record_speaks_of_what_there_is() -> None:
    """Mutants and scenarios of the record exist, and agree with what is asked for."""
    mutants = {m.name for m in all_mutants()}
    for mutant, schedule in recorded().items():
        assert mutant in mutants
        assert schedule.scenario == SCENARIOS[mutant]
        assert schedule.scenario in MEETINGS


@pytest.mark.parametrize("mutant", ["nobody-takes-the-lock", "plans-are-made-before-the-lock", "requested-files-go-first"])
def test_the_shortest_schedule_is_found_again(mutant: str) -> None:
    """The same scenario, preemptions and steps as recorded."""
    assert shortest(mutant) == recorded()[mutant]
