"""Schedule files, shrinking, diagrams, and the command `explore`."""

import json
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree

import pytest
from scheduler_programs import (
    adds_one,
    adds_one_under_the_lock,
    claims,
    of,
    one_claim,
    simulated,
    three_turns,
    without_conflicts,
)
from typer.testing import CliRunner

from hudi_conformance.cli import app
from hudi_conformance.explorer.drawing.diagram import draw_html, draw_svg, draw_text, write_diagram
from hudi_conformance.explorer.scenarios import parallel, scenarios
from hudi_conformance.explorer.scenarios.scenario import Scenario
from hudi_conformance.explorer.search.explore import Explored, explore_exhaustively
from hudi_conformance.explorer.search.shrink import InOrder, shrink
from hudi_conformance.explorer.simulation.actor import Process
from hudi_conformance.explorer.simulation.program_tree import NotPossible
from hudi_conformance.explorer.simulation.runs import Choice
from hudi_conformance.explorer.simulation.schedule_file import (
    Diverged,
    ScheduleError,
    read_schedule,
    schedule_of_run,
    write_schedule,
)
from hudi_conformance.explorer.simulation.scheduler import run_schedule
from hudi_conformance.explorer.simulation.stores import STORES

UNFIT = partial(simulated, store=STORES["check-then-put"])


def claiming(names="ab", make_store=UNFIT):
    return Scenario("claims", "processes that claim one object", make_store, lambda: of(claims, names), one_claim)


# Files.


def test_a_schedule_file_replays_its_run(tmp_path):
    """Written, read and replayed: the same schedule, requests and violation."""
    scenario = claiming()
    failure = scenario.explore_exhaustively().failure
    saved = schedule_of_run(
        "claims", failure.run, store="check-then-put", violation=failure.violation, requirements=("S3-002",)
    )
    write_schedule(saved, tmp_path / "s.jsonl")
    assert read_schedule(tmp_path / "s.jsonl") == saved
    again = scenario.replay(saved)
    assert [str(step) for step in again.steps] == [str(step) for step in failure.run.steps]
    assert scenario.find_violation(again) == failure.violation


def test_a_diverging_replay_is_reported_with_its_step(tmp_path):
    """A step that cannot be taken, or another request than the one that was saved, is an error."""
    saved = schedule_of_run("claims", claiming().explore_exhaustively().failure.run)
    with pytest.raises(Diverged, match="step 1: a asked create claimed; the schedule has head claimed"):
        claiming(make_store=simulated).replay(replace(saved, schedule=saved.schedule[:1]))
    with pytest.raises(NotPossible):
        claiming(make_store=simulated).replay(saved)
    assert claiming(make_store=simulated).replay(saved, strict=False).results["a"].how == "returned"


@pytest.mark.parametrize(("lines", "message"), [
    ([], "line 1: the first line"),
    (["{}"], "line 1"),
    (['{"schedule": 2, "scenario": "x", "processes": ["a"]}'], "line 1: 1 was expected"),
    (['{"schedule": 1, "scenario": "x", "processes": ["a"], "store": "cheap"}'], "no store 'cheap'"),
    (['{"schedule": 1, "scenario": "x", "processes": ["a"]}', '{"process": "b"}'], "line 2: not a step of a"),
    (['{"schedule": 1, "scenario": "x", "processes": ["a"]}', '{"process": "a", "fault": "trip"}'], "line 2: 'trip'"),
    (['{"schedule": 1, "scenario": "x", "processes": ["a"]}', "{"], "line 2: not JSON"),
])  # fmt: skip
def test_an_invalid_schedule_file_is_refused_with_its_line(tmp_path, lines, message):
    """The message names file, line and error."""
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(ScheduleError, match=message):
        read_schedule(path)


# Shrinking.


def test_shrinking_keeps_the_failure_and_removes_the_rest():
    """Of five processes two remain, and the one choice that the failure needs."""
    failure = explore_exhaustively(UNFIT, of(claims, "abcde"), check=one_claim).failure
    small = shrink(UNFIT, of(claims, "abcde"), failure.run.schedule, one_claim)
    assert len(small.processes) == 2 and len(small.schedule) == 1
    assert one_claim(run_schedule(UNFIT(), small.processes, small.schedule)) == small.violation
    assert len(small.run.steps) == 4


def test_shrinking_removes_parts_of_programs_and_faults():
    """Other parts of the program, and the crash of another process, are removed."""

    def noise(actor):
        without_conflicts(actor.name)(actor)

    processes = [Process(name, InOrder((noise, adds_one, noise))) for name in "ab"] + [Process("c", without_conflicts("c"))]

    def lost(one):
        writes = sum((step.effect, step.path) == ("changed", "s") for step in one.steps)
        return "lost" if int(one.storage.get("s")) < writes else None

    schedule = ["c", "c!crash-before", *["a"] * 7, *["b"] * 14, *["a"] * 7]
    small = shrink(simulated, processes, schedule, lost)
    assert [process.name for process in small.processes] == ["a", "b"]
    assert all(len(process.program.parts) == 1 for process in small.processes)
    assert [str(step) for step in small.run.steps] in (
        ["a: get s", "b: get s", "b: put s", "a: put s"], ["b: get s", "a: get s", "a: put s", "b: put s"],
    )  # fmt: skip


def test_a_failure_that_needs_its_crash_keeps_it():
    """A fault is removed only if the run fails without it."""

    def torn(one):
        return "torn" if one.storage.head("a/0") and not one.storage.head("a/2") else None

    small = shrink(
        simulated,
        [Process("a", without_conflicts("a")), Process("b", without_conflicts("b"))],
        ["b", "a", "a", "a", "a!crash-after"],
        torn,
    )
    assert [process.name for process in small.processes] == ["a"]
    assert [choice.fault for choice in small.schedule if choice.fault] == ["crash-after"]


def test_a_run_that_does_not_fail_cannot_be_shrunk():
    """Shrinking a passing run is an error."""
    with pytest.raises(ValueError, match="does not fail"):
        shrink(simulated, of(adds_one_under_the_lock), [], lambda one: None)


# Diagrams.


def real_run():
    scenario = scenarios.SCENARIOS["two-writers-of-one-group"].make_scenario("two-writers-of-one-group")
    schedule = ["a"] * 9 + ["b"] * 4 + ["a"] * 90 + ["b!crash-before"]
    return run_schedule(scenario.make_store(), scenario.processes(), schedule, strict=False)


def test_a_diagram_shows_each_step_in_the_column_of_its_process_and_the_table_where_it_changes():
    """Requests in order, faults, the timeline's instants by number, and how each process ended."""
    shown = draw_text(real_run(), "two writers").splitlines()
    head = shown[2]
    at = {name: head.index(f" {name} ") + 1 for name in ("a", "b")} | {"table": head.index("table")}
    rows = {line.split()[0]: line for line in shown[4:] if line.strip()}
    assert shown[0] == "two writers"
    created = next(line for line in shown if ".requested" in line and line[at["a"] :].startswith("create #2"))
    assert created[at["table"] :].startswith("#1 done, #2 requested")
    assert any(line[at["b"] :].startswith("…") for line in shown), "reads share one line"
    assert any("✕ crashes before it" in line[at["b"] : at["table"]] for line in shown)
    assert "b: crashed" in shown and rows["#2"].startswith("#2 = commit 2026")


def test_svg_is_well_formed_and_contains_every_line():
    """An arrow for each line of the diagram, a vertical line for each process and the store; text is escaped."""
    found = run_schedule(simulated(), [Process("<a>", three_turns("x")), Process("b", claims)], ["b!lose-answer"])
    picture = ElementTree.fromstring(draw_svg(found))
    names = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text") if t.get("class") == "name"]
    assert names == ["<a>", "b", "store"]
    arrows = list(picture.iter("{http://www.w3.org/2000/svg}g"))
    assert len(arrows) == len(found.steps) == 7
    assert "<figcaption>1 &lt; 2" in draw_html(found, "1 < 2")


@pytest.mark.parametrize(("name", "start"), [("d.svg", "<svg"), ("d.html", "<!DOCTYPE html>"), ("d.txt", "wrong")])
def test_the_extension_of_a_diagram_file_decides_its_format(tmp_path, name, start):
    """SVG, HTML or text."""
    write_diagram(run_schedule(simulated(), of(claims)), "wrong", tmp_path / name)
    assert (tmp_path / name).read_text().startswith(start)


# The command.


def explored(*arguments):
    return CliRunner().invoke(app, ["explore", *map(str, arguments)])


class Tiny:
    """A tiny scenario."""

    description, preemptions, crashes = "two processes that claim one object", None, 0

    def make_scenario(self, name, **bounds):
        return replace(claiming(make_store=simulated), **bounds)


@pytest.fixture
def tiny(monkeypatch):
    """The scenarios with a tiny one added."""
    monkeypatch.setitem(scenarios.SCENARIOS, "claims", Tiny())


def test_the_command_lists_scenarios_and_stores():
    """With their descriptions, and the broken promises of the stores."""
    found = explored("--list")
    assert found.exit_code == 0
    assert "two-writers-of-one-g" in found.stdout and "check-then-put" in found.stdout and "create once" in found.stdout


def test_the_command_explores_and_prints_its_figures(tiny):
    """All orders without a violation: exit code 0."""
    found = explored("claims")
    assert found.exit_code == 0 and "claims" in found.stdout and "all" in found.stdout


def test_the_command_explores_random_runs_of_a_seed(tiny):
    """--random N makes N runs."""
    found = explored("claims", "--random", 7, "--seed", 3)
    assert found.exit_code == 0 and " 7 " in found.stdout


def test_a_failure_is_printed_saved_and_replayed(tiny, tmp_path):
    """On the store check-then-put the race is found, drawn and saved, and the saved file fails again."""
    found = explored("claims", "--store", "check-then-put", "--save", tmp_path, "--diagram", tmp_path / "d.svg")
    assert found.exit_code == 1
    assert "a and b were told" in found.stdout and "the shortest schedule: " in found.stdout
    kept = next(tmp_path.glob("claims-*.jsonl"))
    head = json.loads(kept.read_text().splitlines()[0])
    assert head["violation"] == "a and b were told" and head["store"] == "check-then-put"
    assert (tmp_path / "d.svg").read_text().startswith("<svg")
    again = explored("--replay", kept)
    assert again.exit_code == 1 and "a and b were told" in again.stdout


@pytest.mark.parametrize(("arguments", "message"), [
    (["no-such"], "no scenario 'no-such'"), (["--preemptions", "few"], "a number, or all"),
    (["--store", "cheap"], "no store 'cheap'"), (["--mutant", "no-such"], "no mutant"),
    (["--replay", "/nonexistent"], "No such file"),
])  # fmt: skip
def test_usage_errors_have_exit_code_2(arguments, message):
    """The message names the wrong value."""
    found = explored(*arguments)
    assert found.exit_code == 2 and message in found.output


def test_random_runs_do_not_depend_on_the_number_of_processes(monkeypatch):
    """The parts of a task have seeds derived from that of the task; their figures are added, states counted once."""
    monkeypatch.setattr(parallel, "PART", 10)
    task = parallel.Task("two-writers-of-one-group", "atomic", runs=25, seed=3)
    assert [(part.runs, part.seed) for part in task.split()] == [(10, 3), (10, 1_000_006), (5, 2_000_009)]
    found = []
    for jobs in (1, 2):
        with parallel.parallel_runner(jobs, nothing) as run_task:
            found.append(parallel.combine_results(run_task(task.split())).found)
    assert [(one.runs, one.steps, one.starts, one.states) for one in found[:1]] == [
        (one.runs, one.steps, one.starts, one.states) for one in found[1:]
    ]
    assert found[0].runs == 25


def nothing():
    """Prepare nothing."""


def test_parts_after_the_first_failure_do_not_count():
    """The result is that of one process, whichever part finishes first."""
    parts = [
        parallel.TaskResult(Explored(runs=4)),
        parallel.TaskResult(Explored(runs=2), (Choice("a"),)),
        parallel.TaskResult(Explored(runs=9)),
    ]
    found = parallel.combine_results(iter(parts))
    assert (found.found.runs, found.schedule) == (6, (Choice("a"),))
