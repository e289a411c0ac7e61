"""Mutants that are drawn at random: which changes are drawn, how one is applied, and what judges it."""

import ast
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import hudi_reference.errors  # noqa: F401 - a test needs a module that is imported
from hudi_conformance.mutants.drawn.draw import (
    Change,
    DrawnMutant,
    draw_mutants,
    install_mutant,
    mutants_of_source,
    reference_folder,
)
from hudi_conformance.mutants.drawn.operators import find_sites
from hudi_conformance.mutants.drawn.triage import find_stale_entries, load_triage
from hudi_conformance.runner.mutation import drawn
from hudi_conformance.runner.mutation.drawn import DrawnRun, Judgement, judge_mutant, load_run, save_run
from hudi_conformance.runner.mutation.lines import RecordedLines
from hudi_conformance.runner.mutation.worker import Answer, Worker

SOURCE = '''"""Docstring."""
LIMIT = 3


def count(values: "list[int]", least: int = 1) -> int:
    """Docstring."""
    if not values or least < 0:
        raise ValueError("no values")
    return min(v for v in values if v >= least)
'''


def changes(source: str) -> dict[str, str]:
    return {site.after: site.operator for site in find_sites(ast.parse(source))}


def test_every_operator_makes_a_small_change():
    assert changes("x = a < b") == {"a <= b": "comparison", "a >= b": "comparison"}
    assert changes("x = a and b") == {"a or b": "and-or", "b": "operand-removed", "a": "operand-removed"}
    assert changes("x = f(a, key=b)") == {"f(a)": "argument-removed"}
    assert changes("x = a[1:]") == {"1 + 1:": "off-by-one", "2": "constant"}
    assert changes("x = [a for a in b if a]") == {"[a for a in b]": "condition-removed"}


def test_texts_of_errors_and_docstrings_are_not_changed():
    found = changes(SOURCE)
    assert found == {
        "4": "constant",  # LIMIT
        "2": "constant",  # the default of `least`
        "if True: raise ValueError('no values')": "condition-true",
        "if False: raise ValueError('no values')": "condition-false",
        "not values and least < 0": "and-or",
        "least < 0": "operand-removed",
        "not values": "operand-removed",
        "values": "not-removed",
        "least <= 0": "comparison",
        "least >= 0": "comparison",
        "1": "constant",
        "pass": "statement-removed",
        "max((v for v in values if v >= least))": "opposite",
        "(v for v in values)": "condition-removed",
        "v > least": "comparison",
        "v < least": "comparison",
    }


def test_statements_of_a_function_do_not_run_on_import():
    """A mutant of a line that runs on import is judged by all cases, any other one by the cases that execute the line."""
    assert {site.after for site in find_sites(ast.parse(SOURCE)) if site.runs_on_import} == {"4", "2"}


def test_every_drawn_mutant_compiles_and_differs(tmp_path: Path):
    (tmp_path / "counting.py").write_text(SOURCE)
    same = ast.dump(ast.parse(SOURCE))
    for mutant in mutants_of_source("counting.py", SOURCE):
        tree = ast.parse(SOURCE)
        list(find_sites(tree))[mutant.number].make()
        compile(tree, "counting.py", "exec")
        assert ast.dump(tree) != same


def test_a_seed_decides_what_is_drawn():
    root = reference_folder() / "layout"
    drawn_twice = [[m.name for m in draw_mutants(50, seed, root)] for seed in (1, 1, 2)]
    assert drawn_twice[0] == drawn_twice[1] != drawn_twice[2]
    assert len({(m.path, m.site.line) for m in draw_mutants(50, seed=3, root=root)}) == 50


def mutants_of_path(path: str) -> list[DrawnMutant]:
    return list(mutants_of_source(path, (reference_folder() / path).read_text()))


def first_mutant(path: str, operator: str) -> DrawnMutant:
    return next(m for m in mutants_of_path(path) if m.site.operator == operator)


def test_a_module_is_imported_with_the_change():
    mutant = first_mutant("layout/names.py", "comparison")
    code = f"""
from importlib.machinery import SourceFileLoader
from hudi_conformance.mutants.drawn.draw import install_mutant
install_mutant({mutant.name!r})
import hudi_reference.layout.names as changed
plain = SourceFileLoader(changed.__name__, changed.__file__).get_code(changed.__name__)
assert changed.__loader__.get_code(changed.__name__) != plain
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_mutant_that_does_not_exist_is_refused():
    with pytest.raises(LookupError, match="no mutant"):
        install_mutant("drawn:no/such/file.py:1")
    assert "hudi_reference.errors" in sys.modules
    with pytest.raises(LookupError, match="imported before"):
        install_mutant("drawn:errors.py:0")


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    started = Worker()
    yield started
    started.close()


@pytest.mark.slow
def test_a_mutant_is_judged_by_the_cases_that_execute_its_line(worker: Worker):
    """A reader that ignores base files, and the same change where no case executes the line."""
    case, path = "fixtures/merge/event-time.late-record.mor/case.json", "layout/names.py"
    killed = first_mutant(path, "condition-false")  # names of base files are not recognized
    lines = RecordedLines({(path, killed.site.line): frozenset({f"{case}::reference"})}, {})
    judged = judge_mutant(killed, lines, worker)
    assert (judged.outcome, judged.asked) == ("killed", 1)
    assert judged.killed_by.startswith("merge.event-time.late-record.mor")
    assert judge_mutant(killed, RecordedLines({}, {}), worker).outcome == "not executed"


class FailingOnce(Worker):
    """A worker whose first run reports a failure of a test, which passes when it is run again."""

    def __init__(self) -> None:
        self.runs: list[Sequence[str]] = []

    def run(self, arguments: Sequence[str], **limits: object) -> Answer:
        """Note the tests of the run."""
        self.runs.append([argument for argument in arguments if argument.startswith("test_")])
        return Answer(1, ("x::slow",), ("test_x.py::slow",)) if len(self.runs) == 1 else Answer(0)


def test_a_failure_that_does_not_repeat_kills_nothing():
    """The test is run alone once more; the others are then run without it."""
    mutant = first_mutant("layout/names.py", "condition-false")
    tests = frozenset({"test_x.py::slow", "test_x.py::quick"})
    lines = RecordedLines({(mutant.path, mutant.site.line): tests}, {"test_x.py::slow": 0.2, "test_x.py::quick": 0.1})
    busy = FailingOnce()
    assert judge_mutant(mutant, lines, busy).outcome == "survived"
    assert busy.runs == [["test_x.py::quick", "test_x.py::slow"], ["test_x.py::slow"], ["test_x.py::quick"]]


ENDINGS = """
import pytest, time

def test_passes():
    pass

def test_fails():
    assert False

def test_loops():
    while True:
        pass

def test_waits():
    time.sleep(1000)

def test_ends():
    import os
    os._exit(7)
"""


@pytest.mark.slow
def test_a_worker_says_how_a_run_ended(worker: Worker, tmp_path: Path):
    """A worker runs pytest again after a run that failed, was too long, waited, or ended its process."""
    (tmp_path / "test_endings.py").write_text(ENDINGS)

    def run(test: str) -> Answer:
        arguments = ["-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", f"{tmp_path}/test_endings.py::{test}"]
        return worker.run(arguments, cpu_seconds=1, seconds=20 if test == "test_loops" else 5)

    assert run("test_passes") == Answer(0)
    assert run("test_fails") == Answer(1, ("test_endings.py::test_fails",), ("test_endings.py::test_fails",))
    assert run("test_loops").exit == -signal.SIGXCPU
    assert run("test_waits").exit is None
    assert run("test_ends").exit == 7
    assert run("test_passes") == Answer(0)


def test_tests_that_execute_the_same_lines_are_run_last():
    """Of tests with the same lines the shortest runs early; a test with other lines runs before the second of them."""
    lines = RecordedLines(
        {("a.py", 1): frozenset({"short", "long", "longer", "other"}), ("a.py", 2): frozenset({"other"})},
        {"short": 0.1, "long": 0.2, "longer": 0.21, "other": 0.3},
    )
    assert lines.tests_of("a.py", 1) == ("short", "other", "long", "longer")
    assert lines.tests_of("a.py", 2) == ("other",)


def test_every_triaged_survivor_is_a_change_of_the_reference(tmp_path: Path):
    """An entry is found again by its content; it is out of date when the code has changed."""
    entries = load_triage()
    assert [str(entry.change) for entry in find_stale_entries(entries)] == []
    assert len({entry.change for entry in entries}) == len(entries)
    assert {entry.kind for entry in entries} <= {"equivalent", "not observable", "hole"}
    assert all(entry.reason.endswith(".") for entry in entries)
    assert list(find_stale_entries(entries, tmp_path)) == list(entries)


def test_an_interrupted_run_is_continued(tmp_path: Path):
    """What the same seed found on the same sources is read again; other seeds and other mutants are not."""
    killed = Judgement("drawn:a.py:1", Change("a.py", "f", "x = 1", "constant", "1", "2"), "killed", "case", 3, 0.5)
    file, names = tmp_path / "judged.json", {"drawn:a.py:1", "drawn:a.py:7"}
    save_run(file, DrawnRun(4, [killed], {"drawn:a.py:7": 2}))
    assert load_run(file, 4, names) == DrawnRun(4, [killed], {"drawn:a.py:7": 2})
    assert load_run(file, 4, {"drawn:a.py:7"}) == DrawnRun(4, [], {"drawn:a.py:7": 2})
    assert load_run(file, 5, names) == DrawnRun(5)
    assert load_run(tmp_path / "none.json", 4, names) == DrawnRun(4)


def test_a_batch_that_a_mutant_has_passed_is_not_run_again(monkeypatch: pytest.MonkeyPatch):
    """An undecided mutant goes on with its next batch; a judged one is not run."""
    undecided, judged = mutants_of_path("layout/names.py")[:2]
    tests = {"test_x.py::first": 1.9, "test_x.py::second": 5.0}
    lines = RecordedLines({(undecided.path, undecided.site.line): frozenset(tests)}, tests)
    busy = FailingOnce()
    monkeypatch.setattr(drawn, "Worker", lambda: busy)
    monkeypatch.setattr(drawn, "_check_control", lambda *_: None)
    monkeypatch.setattr(busy, "close", lambda: None)
    known = Judgement(judged.name, judged.change, "killed", "case", 3, 0.5)
    run = DrawnRun(1, [known], {undecided.name: 1})
    drawn.judge_mutants([undecided, judged], lines, run, jobs=1, done=lambda _: None)
    assert busy.runs[0] == ["test_x.py::second"]
    assert [(j.name, j.asked) for j in run.judged] == [(judged.name, 3), (undecided.name, 2)]
    assert run.passed == {}
