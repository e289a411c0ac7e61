"""The record of planted bugs of concurrency: each is there, and its shortest schedule is found again."""

import pytest

from hudi_conformance.explorer.scenarios.scenarios import MEETINGS
from hudi_conformance.mutants.harness.mutant import all_mutants
from hudi_conformance.mutants.harness.schedules import SCENARIOS, recorded, shortest

OURS = ("concurrency", "concurrency_of_services")


def test_every_planted_bug_of_concurrency_has_a_schedule() -> None:
    """A bug that no scenario shows would be worth nothing; and at least forty are shown."""
    bugs = {m.name for m in all_mutants() if m.apply.__module__.rpartition(".")[2] in OURS}
    assert bugs <= set(recorded())
    assert len(recorded()) >= 40


def test_the_record_speaks_of_what_there_is() -> None:
    """Bugs and scenarios of the record exist, and agree with what is asked for."""
    bugs = {m.name for m in all_mutants()}
    for bug, schedule in recorded().items():
        assert bug in bugs
        assert schedule.scenario == SCENARIOS[bug]
        assert schedule.scenario in MEETINGS


@pytest.mark.parametrize("bug", ["nobody-takes-the-lock", "plans-are-made-before-the-lock", "requested-files-go-first"])
def test_the_shortest_schedule_is_found_again(bug: str) -> None:
    """The same scenario, preemptions and steps as recorded."""
    assert shortest(bug) == recorded()[bug]
