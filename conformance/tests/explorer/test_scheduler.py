"""The scheduler: one request of one process at a time, in the given order and with the given faults."""

import gc
import weakref

import pytest
from scheduler_programs import adds_one_under_the_lock, claims, of, simulated, three_turns, without_conflicts

from hudi_conformance.explorer.scenarios.store_conformance import find_broken_promises
from hudi_conformance.explorer.simulation.actor import Process
from hudi_conformance.explorer.simulation.program_tree import NotDeterministic, NotPossible
from hudi_conformance.explorer.simulation.runs import Choice, parse_choice
from hudi_conformance.explorer.simulation.scheduler import run_schedule
from hudi_conformance.explorer.simulation.simulated_store import STALL
from hudi_conformance.explorer.simulation.stores import STORES
from hudi_reference.errors import LockNotHeld, LockNotObtained, OutcomeUnknown
from hudi_reference.ids import RandomIds


def asked(found):
    return [f"{step.process} {step.asked}" for step in found.steps]


def test_each_request_is_a_step_of_the_scheduled_process():
    """A schedule decides every step; after it each process runs to its end in turn."""
    found = run_schedule(simulated(), [Process("a", three_turns("a")), Process("b", three_turns("b"))], ["b", "a", "b"])
    assert asked(found) == ["b get s", "a get s", "b put s", *["a put s", "a get s"] * 2, "a put s",
                            *["b get s", "b put s"] * 2]  # fmt: skip
    assert found.results["a"].value == (b"0", b"a0", b"a1")
    assert found.storage.get("s") == b"b2"


def test_a_run_replayed_by_its_schedule_is_the_same_step_by_step():
    """The schedule of a run repeats it: requests, answers, faults, times and results."""
    processes = of(adds_one_under_the_lock)
    found = run_schedule(simulated(), processes, ["b!stall", "a", "a", "a!crash-after"])
    again = run_schedule(simulated(), of(adds_one_under_the_lock), found.schedule)
    assert [step[:3] + step[4:] for step in again.steps] == [step[:3] + step[4:] for step in found.steps]
    assert [step.time for step in again.steps] == [step.time for step in found.steps]
    assert {n: str(e) for n, e in again.results.items()} == {n: str(e) for n, e in found.results.items()}


def test_states_are_values():
    """Each step keeps the state after it; the given store does not change."""
    given = simulated()
    found = run_schedule(given, [Process("a", three_turns("a"))])
    assert [step.state.objects["s"].body for step in found.steps] == [b"0", b"a0", b"a0", b"a1", b"a1", b"a2"]
    assert given.state.objects["s"].body == b"0"


@pytest.mark.parametrize(("fault", "stored", "how"), [
    ("crash-before", None, "crashed"), ("crash-after", b"", "crashed"),
    ("lose-answer", b"", "raised"), ("lose-request", None, "raised"),
])  # fmt: skip
def test_a_fault_happens_before_or_after_the_effect(fault, stored, how):
    """The process crashes, or gets no answer; its request has its effect or none."""
    found = run_schedule(simulated(), [Process("a", without_conflicts("a"))], [Choice("a", fault)])
    assert found.results["a"].how == how
    assert (found.storage.get("a/0") if found.storage.head("a/0") else None) == stored
    assert isinstance(found.results["a"].error, OutcomeUnknown) == (how == "raised")


def test_a_crashed_process_runs_no_handler():
    """Requests of a `finally` block do not reach the store."""

    def program(actor):
        try:
            actor.storage.put("a", b"")
        finally:
            actor.storage.put("cleaned up", b"")

    found = run_schedule(simulated(), [Process("a", program)], ["a!crash-before"])
    gc.collect()
    assert [info.path for info in found.storage.list()] == ["s"]
    assert asked(found) == ["a put a"]


def test_a_process_that_waits_for_the_lock_takes_no_step():
    """A process that waits for the lock is runnable again when the lock is released or its holder crashes."""
    processes = of(adds_one_under_the_lock)
    with pytest.raises(NotPossible, match="step 2: b cannot"):
        run_schedule(simulated(), processes, ["a", "b"])
    assert run_schedule(simulated(), processes, ["a", "a", "a", "a", "b"]).storage.get("s") == b"2"
    crashed = run_schedule(simulated(), processes, ["a", "a", "a!crash-before", "b"])
    assert crashed.results["b"].how == "returned" and crashed.storage.get("s") == b"1"


def test_a_lock_that_never_becomes_free_is_not_obtained():
    """A process whose wait times out gets LockNotObtained."""

    def keeps(actor):
        actor.lock.acquire("for ever")

    found = run_schedule(simulated(), [Process("a", keeps), Process("b", keeps)])
    assert isinstance(found.results["b"].error, LockNotObtained)


def test_a_lease_expires_and_its_holder_gets_an_error():
    """A process that waits for a lease waits until it has expired; check and release of the former holder fail."""

    def holds(actor):
        actor.lock.acquire("a")
        actor.clock.now()
        with pytest.raises(LockNotHeld):
            actor.lock.check("a")
        with pytest.raises(LockNotHeld):
            actor.lock.release("a")

    def waits(actor):
        actor.lock.acquire("b")
        return actor.clock.now()

    leased = simulated(lease=5_000)
    found = run_schedule(leased, [Process("a", holds), Process("b", waits)], ["a", "b", "b", "a", "a", "a"])
    assert found.results["a"].how == "returned"
    assert found.results["b"].value == leased.state.time + 5_000


def test_the_holder_acquires_the_lock_again_without_a_step():
    """Only the outermost acquire and release of a lock are requests."""

    def program(actor):
        actor.lock.acquire("x")
        actor.lock.acquire("x")
        actor.lock.release("x")
        actor.storage.put("a", b"")
        actor.lock.release("x")

    found = run_schedule(simulated(), [Process("a", program)])
    assert [step.request for step in found.steps] == ["acquire", "put", "release"]
    assert [step.state.holder for step in found.steps] == ["a", "a", None]


def test_time_advances_only_by_sleeps_and_clocks_differ_by_their_skew():
    """A sleep advances the time of all processes; each clock adds its skew."""

    def program(actor):
        before = actor.clock.now()
        actor.clock.sleep(7)
        return before, actor.clock.now()

    start = simulated().state.time
    found = run_schedule(simulated(), [Process("a", program), Process("b", program, skew=-100)], ["a", "b", "a", "b"])
    assert found.results["a"].value == (start, start + 14)
    assert found.results["b"].value == (start - 100, start - 100 + 14)


def test_a_stalled_process_continues_when_no_other_process_can():
    """It pauses for an hour, the others end, then it takes its next step."""
    found = run_schedule(simulated(), of(claims), ["a!stall"])
    assert [step.process for step in found.steps] == ["a", "b", "a"]
    assert found.steps[0].time == simulated().state.time + STALL
    assert found.results["a"].value is False and found.results["b"].value is True


def test_a_process_starts_after_the_processes_in_after():
    """It takes no step until they have ended in any way."""
    processes = [Process("last", claims, after=("a",)), Process("a", claims)]
    with pytest.raises(NotPossible):
        run_schedule(simulated(), processes, ["last"])
    assert [step.process for step in run_schedule(simulated(), processes).steps] == ["a", "last"]
    assert [step.process for step in run_schedule(simulated(), processes, ["a!crash-before"]).steps] == ["a", "last"]


def test_a_nondeterministic_program_is_detected():
    """A program that got the same answers must send the same requests."""
    ids = RandomIds()

    def program(actor):
        actor.storage.get("s")
        actor.storage.put(ids.file_id(), b"")
        actor.storage.get("s")

    from hudi_conformance.explorer.search.explore import explore_exhaustively

    with pytest.raises(NotDeterministic, match="a asked put"):
        explore_exhaustively(simulated, [Process("a", program), Process("b", three_turns("b"))])


def test_an_endless_program_is_detected():
    """A process that sends requests for ever does not block the scheduler."""

    def program(actor):
        while True:
            actor.storage.head("s")

    with pytest.raises(NotPossible, match="does not end"):
        run_schedule(simulated(), [Process("a", program)])


def test_abandoned_processes_are_collected():
    """A process that is not run to its end is garbage collected."""

    class Held:
        pass

    held = Held()
    known = weakref.ref(held)

    def program(actor, held=held):
        actor.storage.get("s")
        actor.storage.put("a", str(held).encode())

    processes = [Process("a", program)]
    run_schedule(simulated(), processes, ["a"], to_end=False)
    del held, program, processes
    gc.collect()
    assert known() is None


@pytest.mark.parametrize(("store", "broken"), [
    ("atomic", set()), ("lock-only", set()), ("rename", set()), ("rename-without-error", {"create once"}),
    ("check-then-put", {"create once", "replace once"}), ("list-delayed", {"list at once"}),
])  # fmt: skip
def test_stores_that_break_their_promises_are_detected(store, broken):
    """Two processes in every order show which promise is broken, and by which requests."""
    found = find_broken_promises(STORES[store])
    assert set(found) == broken
    assert all(len(failure.run.steps) <= 8 for failure in found.values())


def test_unknown_faults_are_refused():
    """A schedule names only existing faults."""
    with pytest.raises(ValueError, match="unknown fault 'stumble'"):
        parse_choice("a!stumble")
