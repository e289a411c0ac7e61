"""Exploring: how many orders there are, that reduction keeps every outcome, and that races are found."""

from functools import partial
from itertools import combinations
from math import comb

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from scheduler_programs import (
    adds_one,
    adds_one_under_the_lock,
    claims,
    of,
    one_claim,
    outcome,
    simulated,
    three_turns,
    without_conflicts,
)

from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS
from hudi_conformance.explorer.search.conflicts import are_in_conflict
from hudi_conformance.explorer.search.explore import explore_exhaustively, explore_with_priorities
from hudi_conformance.explorer.simulation.actor import Process
from hudi_conformance.explorer.simulation.scheduler import run_schedule
from hudi_conformance.explorer.simulation.simulated_store import Request
from hudi_conformance.explorer.simulation.stores import STORES

TWO = [Process(name, three_turns(name)) for name in "ab"]
THREE = [Process(name, three_turns(name)) for name in "abc"]


def outcomes(processes, make_store=simulated, **how):
    """The outcomes of these processes, and the exploration."""
    found = set()
    explored = explore_exhaustively(make_store, processes, check=lambda one: found.add(outcome(one)), **how)
    assert explored.is_complete
    return found, explored


def by_hand():
    """The outcomes of two processes that read and write `s` three times each, without the explorer: all 924 orders."""
    found = set()
    for places in combinations(range(12), 6):
        stored, seen, done = b"0", {"a": [], "b": []}, {"a": 0, "b": 0}
        for step in range(12):
            name = "a" if step in places else "b"
            if done[name] % 2:
                stored = f"{name}{done[name] // 2}".encode()
            else:
                seen[name].append(stored)
            done[name] += 1
        found.add(((tuple(seen["a"]), tuple(seen["b"])), stored))
    return found


def test_two_programs_of_six_steps_have_924_orders():
    """(12 over 6) orders without reduction, each of them once; exploring each point once gives the same number."""
    whole, explored = outcomes(TWO, reduce=False, merge=False)
    assert explored.runs == explored.interleavings == comb(12, 6) == 924
    merged, again = outcomes(TWO, reduce=False)
    assert again.interleavings == 924 and again.runs < 300
    assert merged == whole


def test_outcomes_are_those_of_all_orders_computed_by_hand():
    """With reduction and without it: what the processes read, and what is stored at the end."""
    expected = by_hand()
    for how in ({"reduce": False}, {}):
        found, _ = outcomes(TWO, **how)
        assert {((values[0][2], values[1][2]), dict(objects)["s"]) for values, objects in found} == expected


@pytest.mark.parametrize(("bound", "two", "three"), [(0, 2, 6), (1, 12, 96), (2, 62, 1056), (3, 162, 7806), (4, 362, None)])
def test_a_bound_on_preemptions_gives_the_known_number_of_orders(bound, two, three):
    """Known numbers of orders of two and of three programs of six steps with so many preemptions."""
    assert outcomes(TWO, preemptions=bound)[1].interleavings == two
    if three is not None:
        assert outcomes(THREE, preemptions=bound)[1].interleavings == three


@pytest.mark.parametrize("number", [2, 3])
def test_steps_that_commute_need_one_order(number):
    """Independent processes are run once, whatever the number of their orders."""
    found, explored = outcomes([Process(name, without_conflicts(name)) for name in "abc"[:number]])
    assert explored.runs == 1 and explored.pruned == 0 and len(found) == 1
    assert explored.steps == 6 * number


def test_reduction_explores_each_class_of_orders_once():
    """Two writers of one object and a reader of another one: the orders of the writes, and nothing else."""

    def writes(actor):
        actor.storage.put("x", actor.name.encode())

    def reads(actor):
        actor.storage.get("s")

    _, explored = outcomes([*of(writes, "abc"), Process("r", reads)])
    assert explored.runs == 6


def test_a_program_is_run_once_for_each_sequence_of_answers():
    """Two programs with 924 orders need fewer runs than orders: a program that got the same answers is not run again."""
    _, explored = outcomes(TWO, reduce=False, merge=False)
    assert explored.starts < 60


def test_a_lost_update_is_found_and_the_lock_prevents_it():
    """Reading and writing in two requests loses an update in some order; under the lock in none, with two and three."""

    def lost(one):
        wanted = sum(ended.how == "returned" for ended in one.results.values())
        return None if int(one.storage.get("s")) == wanted else "an update is lost"

    for names in ("ab", "abc"):
        assert explore_exhaustively(simulated, of(adds_one, names), check=lost).failure is not None
        found = explore_exhaustively(simulated, of(adds_one_under_the_lock, names), check=lost)
        assert found.failure is None and found.is_complete


def test_a_lease_that_may_expire_loses_an_update():
    """With a lease, a process that does not revalidate it before its write loses an update, and gets the error afterwards."""

    def lost(one):
        return None if int(one.storage.get("s")) == sum(step.request == "put" for step in one.steps) else "lost"

    assert explore_exhaustively(partial(simulated, lease=100), of(adds_one_under_the_lock), check=lost).failure is not None
    assert explore_exhaustively(simulated, of(adds_one_under_the_lock), check=lost).failure is None


def test_a_check_then_put_race_is_found_in_four_steps():
    """Both processes check, then both write: no shorter order shows it, and an atomic create has no such order."""
    unfit = partial(simulated, store=STORES["check-then-put"])
    found = explore_exhaustively(unfit, of(claims), check=one_claim)
    assert found.failure is not None
    assert [str(step) for step in found.failure.run.steps] in (
        ["a: head claimed", "b: head claimed", "a: put claimed", "b: put claimed"],
        ["a: head claimed", "b: head claimed", "b: put claimed", "a: put claimed"],
        ["b: head claimed", "a: head claimed", "a: put claimed", "b: put claimed"],
        ["b: head claimed", "a: head claimed", "b: put claimed", "a: put claimed"],
    )
    assert explore_exhaustively(unfit, of(claims), preemptions=0, check=one_claim).failure is None
    assert explore_exhaustively(unfit, of(claims), preemptions=1, check=one_claim).failure is not None
    for fit in ("atomic", "rename"):
        assert explore_exhaustively(partial(simulated, store=STORES[fit]), of(claims, "abc"), check=one_claim).failure is None


def test_a_failing_run_fails_again_by_its_schedule():
    """The schedule of a failure is enough to repeat it."""
    unfit = partial(simulated, store=STORES["check-then-put"])
    failure = explore_exhaustively(unfit, of(claims, "abc"), check=one_claim).failure
    assert one_claim(run_schedule(unfit(), of(claims, "abc"), failure.run.schedule)) == failure.violation


def test_each_state_is_checked_once_and_a_violation_ends_the_search():
    """States differ by their objects; the run of a failure ends with the violating state."""
    asked = []
    explore_exhaustively(simulated, TWO, each=lambda state: asked.append(state.objects["s"].body))
    assert sorted(asked) == sorted({b"0", *(f"{name}{turn}".encode() for name in "ab" for turn in range(3))})
    failure = explore_exhaustively(
        simulated, TWO, each=lambda s: "b1 is there" if s.objects["s"].body == b"b1" else None
    ).failure
    assert failure.run.state.objects["s"].body == b"b1" and failure.run.steps[-1].request == "put"
    assert failure.run.results["a"].how == "stalled" or failure.run.results["b"].how == "stalled"


def test_crashes_stop_a_process_before_every_change():
    """One process of three changes: it ends, or crashes before the first, second or third one."""
    found, explored = outcomes([Process("a", three_turns("a"))], crashes=1)
    assert explored.runs == 4
    assert {dict(objects)["s"] for _, objects in found} == {b"0", b"a0", b"a1", b"a2"}


def test_random_orders_depend_on_the_seed():
    """The same seed gives the same runs, another seed other runs."""

    def drawn(seed):
        runs = []
        explore_with_priorities(simulated, THREE, seed=seed, runs=20, crashes=1, check=lambda one: runs.append(one.schedule))
        return runs

    assert drawn(1) == drawn(1) != drawn(2)


def test_random_orders_find_a_race_with_the_stated_probability():
    """A race that needs two steps in order is found in at least 1 / (n k) of the runs, for n processes and k steps."""
    unfit, times = partial(simulated, store=STORES["check-then-put"]), 0
    for seed in range(200):
        times += explore_with_priorities(unfit, of(claims), seed=seed, runs=2, depth=2, check=one_claim).failure is not None
    assert times >= 200 / (2 * 4)


# Programs that are drawn: reduction must keep every outcome.

_PATHS = st.sampled_from(["f/x", "f/y", "g"])
_REQUESTS = st.one_of(
    st.tuples(st.sampled_from(["get", "put", "create", "delete", "head"]), _PATHS),
    st.tuples(st.sampled_from(["names", "list"]), st.sampled_from(["f", ""])),
    st.tuples(st.sampled_from(["now", "sleep", "beat", "age"]), st.just("")),
    st.tuples(st.just("locked put"), _PATHS),
)


def carries_out(requests):
    """A program of these requests; its result is all its answers."""

    def program(actor):
        seen = []
        for number, (kind, path) in enumerate(requests):
            body = f"{actor.name}{number}".encode()
            try:
                seen.append(_one(actor, kind, path, body))
            except Exception as error:
                seen.append(type(error).__name__)
        return tuple(seen)

    return program


def _one(actor, kind, path, body):
    storage = actor.storage
    if kind == "locked put":
        actor.lock.acquire(actor.name)
        seen = actor.clock.now(), storage.names("f")
        actor.clock.sleep(2)
        actor.lock.check(actor.name)
        storage.put(path, storage.get("s") + body)
        actor.lock.release(actor.name)
        return seen
    does = {
        "now": actor.clock.now,
        "sleep": lambda: actor.clock.sleep(3),
        "beat": lambda: storage.put(".hoodie/.heartbeat/1", body),
        "age": lambda: getattr(storage.head(".hoodie/.heartbeat/1"), "modified", None),
        "put": lambda: storage.put(path, body),
        "create": lambda: storage.create(path, body),
        "get": lambda: storage.get(path),
        "head": lambda: getattr(storage.head(path), "version", None),
        "delete": lambda: storage.delete(path),
        "names": lambda: storage.names(path),
        "list": lambda: tuple(str(found) for found in storage.list(path)),
    }
    return does[kind]()


_PROGRAMS = st.one_of(
    st.lists(st.lists(_REQUESTS, min_size=1, max_size=5), min_size=2, max_size=2),
    st.lists(st.lists(_REQUESTS, min_size=1, max_size=2), min_size=3, max_size=3),
)

#: The most steps of two and of three processes that may crash or lose a lock. More have billions of orders: minutes without reduction.
_MOST_STEPS = {2: 20, 3: 8}


def _steps(programs):
    """The number of steps; a change under a lock has five."""
    return sum(5 if kind == "locked put" else 1 for requests in programs for kind, _ in requests)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are shared
@given(_PROGRAMS, st.sampled_from([0, 0, 1]), st.sampled_from([None, 500]))
@example([[("sleep", "")], [("get", "f/x"), ("now", "")], [("now", "")]], 0, None)
@example([[("now", "")], [("locked put", "f/x")], [("locked put", "f/x")]], 0, 500)
@example([[("locked put", "f/x"), ("put", "f/y"), ("locked put", "f/x")]] * 2, 0, None)
def test_reduction_keeps_every_outcome_of_random_programs(programs, crashes, lease):
    """Reads, changes, listings, clocks, heartbeats and locks of two or three processes, with and without a crash: the possible
    outcomes are the same with reduction, without it, and if every order is run to its end.
    """
    assume(not (crashes or lease) or _steps(programs) <= _MOST_STEPS[len(programs)])
    processes = [Process(name, carries_out(requests)) for name, requests in zip("abc", programs, strict=False)]
    faults = {"crashes": crashes, "make_store": partial(simulated, lease=lease)}
    reduced, _ = outcomes(processes, **faults)
    merged, explored = outcomes(processes, reduce=False, **faults)
    assert reduced == merged
    if explored.interleavings < 300:
        assert outcomes(processes, reduce=False, merge=False, **faults)[0] == merged


def test_reduction_keeps_every_history_of_two_real_writers():
    """The sequences of answers that two writers of one file group get are the same with reduction, in which each class of
    orders is run, and in all orders.
    """

    def histories(**how):
        found = set()

        def check(one):
            found.add(
                tuple((step.process, str(step.asked), str(step.answer)) for step in sorted(one.steps, key=lambda s: s[0]))
            )

        explored = (
            SCENARIOS["two-writers-of-one-group"]
            .make_scenario("two")
            .explore_exhaustively(preemptions=None, check=check, **how)
        )
        assert explored.is_complete
        return found, explored

    reduced, classes = histories()
    merged, orders = histories(reduce=False)
    assert reduced == merged
    assert orders.interleavings > 10**9 > 100_000 * classes.runs


@given(st.lists(_REQUESTS, min_size=2, max_size=2))
def test_conflict_is_symmetric_and_reads_commute(pair):
    """The order of two requests matters both ways or not at all; two reads never conflict."""
    one, other = (Request(kind, path, 3 if kind == "sleep" else None) for kind, path in pair)
    assert are_in_conflict(one, other) == are_in_conflict(other, one)
    if {one.kind, other.kind} <= {"get", "head", "names", "list", "now"}:
        assert not are_in_conflict(one, other)
