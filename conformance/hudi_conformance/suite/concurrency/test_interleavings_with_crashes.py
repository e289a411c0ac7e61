"""Processes that die, in their recovery too; that get no answer; that stand still until their lease has run out."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.scenarios.scenarios import MEETINGS
from hudi_conformance.explorer.simulation.scheduler import Choice, Step
from hudi_conformance.explorer.simulation.scheduler import run as run_schedule
from hudi_conformance.suite.support.concurrent.in_process import only_in_process


@pytest.mark.requirements("SVC-005", "SVC-006", "OCC-027", "TL-019")
@pytest.mark.parametrize("name", ["writer-dies", "compaction-execution-dies", "clean-dies"])
def test_who_recovers_may_die_too(engine: Client, name: str) -> None:
    """A process dies, then maybe the one that recovers the table, at any of their steps: what is seen is right after each."""
    only_in_process(engine)
    found = MEETINGS[name].scenario(name, crashes=2).explore()
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 20


@pytest.mark.requirements("S3-002", "S3-006", "TL-051", "OCC-004", "OCC-024", "SVC-005", "SVC-006")
@pytest.mark.parametrize("name", [name for name in MEETINGS if name.endswith("-dies")])
def test_that_no_answer_comes_says_nothing(engine: Client, name: str) -> None:
    """Of any request of a writer or service, also of the one that completes it, nobody hears whether it was carried out, and it
    was, or was not. What completed stays and is there once, and who knows that it did does not fail; nothing else is seen, and
    a recovery leaves nothing pending."""
    only_in_process(engine)
    found = MEETINGS[name].scenario(name).explore(faults=("lose-answer", "lose-request"))
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 20


@pytest.mark.requirements("LOCK-001", "OCC-010", "S3-007")
def test_a_writer_that_stalls_under_the_lock_does_not_complete(engine: Client) -> None:
    """Wherever a writer stands still until its lease has run out and another one has written, it notices and gives way.

    All but one step: between the last look at the lease and the publication no store that knows nothing of locks can tell.
    """
    only_in_process(engine)
    scenario = MEETINGS["two-writers-of-one-group"].scenario("stalls")
    world = scenario.make_world().with_(lease=10_000)
    alone = run_schedule(world, scenario.processes()[:1])
    points = 0
    for number in range(len(alone.steps)):
        if _follows_a_check(alone.steps, number) or alone.steps[number].request == "release":
            continue  # who loses the lease when all is published is told that it did, and has written
        found = run_schedule(world, scenario.processes(), [*["a"] * number, Choice("a", "stall"), *["b"] * 8], strict=False)
        done = [step for step in found.steps if step.request == "create" and _completes(step.path) and step.effect == "changed"]
        values = sorted(ended.how for ended in found.results.values())
        assert len(done) == values.count("returned"), f"stalled at {alone.steps[number]}: {values}"
        assert done, f"stalled at {alone.steps[number]}: nobody has written"
        points += 1
    assert points > 20


def _completes(path: str) -> bool:
    return path.startswith(".hoodie/timeline/") and "_" in path.rpartition("/")[2]


def _follows_a_check(steps: tuple[Step, ...], number: int) -> bool:
    return number > 0 and steps[number - 1].request == "check"
