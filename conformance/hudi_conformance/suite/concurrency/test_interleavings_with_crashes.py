"""Processes that crash, also during recovery; that receive no answer; that stall until their lease expires."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS
from hudi_conformance.explorer.simulation.runs import Choice, Step
from hudi_conformance.explorer.simulation.scheduler import run_schedule
from hudi_conformance.suite.support.concurrent.in_process import only_in_process


@pytest.mark.requirements("SVC-005", "SVC-006", "OCC-027", "TL-019")
@pytest.mark.parametrize("name", ["writer-crashes", "compaction-execution-crashes", "clean-crashes"])
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_a_crash_during_recovery_is_recovered(engine: Client, name: str, drawn_version: int) -> None:
    """SVC-005: a process crashes, then possibly the process that recovers the table, at any of their steps: after each crash
    the reads are right.
    """
    only_in_process(engine)
    found = SCENARIOS[name].make_scenario(name, drawn_version, crashes=2).explore_exhaustively()
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 20


@pytest.mark.requirements("S3-002", "S3-006", "TL-051", "OCC-004", "OCC-024", "SVC-005", "SVC-006")
@pytest.mark.parametrize("name", [name for name in SCENARIOS if name.endswith("-crashes")])
@pytest.mark.long
@pytest.mark.versions(8, 9)
def test_a_lost_answer_is_handled_either_way(engine: Client, name: str, drawn_version: int) -> None:
    """SVC-005: any request of a writer or service, also the one that completes it, gets no answer, and either was executed or
    was not. What completed stays and is there once; a process that can verify its completion does not fail; no other state is
    visible, and a recovery leaves nothing pending.
    """
    only_in_process(engine)
    found = SCENARIOS[name].make_scenario(name, drawn_version).explore_exhaustively(faults=("lose-answer", "lose-request"))
    assert found.failure is None, found.failure.violation
    assert found.is_complete
    assert found.runs > 20


@pytest.mark.requirements("LOCK-001", "OCC-010", "S3-007")
@pytest.mark.long
def test_a_writer_that_stalls_under_the_lock_does_not_complete(engine: Client) -> None:
    """OCC-010: wherever a writer stalls until its lease has expired and another one has written, it notices and aborts.

    One step is excepted: between the last check of the lease and the publication, a store without locks cannot detect it.
    """
    only_in_process(engine)
    scenario = SCENARIOS["two-writers-of-one-group"].make_scenario("stalls")
    simulated = scenario.make_store().with_settings(lease=10_000)
    alone = run_schedule(simulated, scenario.processes()[:1])
    points = 0
    for number in range(len(alone.steps)):
        if _follows_a_check(alone.steps, number) or alone.steps[number].request == "release":
            continue  # if the lease is lost after everything is published, the writer reports that, and has written
        found = run_schedule(simulated, scenario.processes(), [*["a"] * number, Choice("a", "stall"), *["b"] * 8], strict=False)
        done = [step for step in found.steps if step.request == "create" and _completes(step.path) and step.effect == "changed"]
        values = sorted(ended.how for ended in found.results.values())
        assert len(done) == values.count("returned"), f"stalled at {alone.steps[number]}: {values}"
        assert done, f"stalled at {alone.steps[number]}: no write succeeded"
        points += 1
    assert points > 20


def _completes(path: str) -> bool:
    return path.startswith(".hoodie/timeline/") and "_" in path.rpartition("/")[2]


def _follows_a_check(steps: tuple[Step, ...], number: int) -> bool:
    return number > 0 and steps[number - 1].request == "check"
