"""The pytest plugin: golden cases are items, engines are parameters, and other projects are not affected."""

import json
from typing import Any

import pytest
from tiny_cases import Casebook

# pytester forgets what is first imported inside a run; classes that are compared must not come twice.
from hudi_conformance.runner import golden_cases, python_cases, run_report, selection  # noqa: F401

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.usefixtures("tiny_engines")


@pytest.fixture
def book(pytester: pytest.Pytester) -> Casebook:
    """Cases in the folder where pytest runs."""
    return Casebook(pytester.path / "cases")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """pytest in this process, so that it finds the tiny engines.

    Plugins are named, because pytest looks through every file of each distribution with a plugin when it loads all of them.
    """
    plugins = ("--disable-plugin-autoload", "-p", "hudi_conformance", "-p", "xdist", "-p", "no:cacheprovider")
    return pytester.runpytest_inprocess(*plugins, *arguments)


def results(pytester: pytest.Pytester) -> list[dict[str, Any]]:
    """The lines of the report."""
    return [json.loads(line) for line in (pytester.path / "out" / "report.jsonl").read_text().splitlines()]


def test_a_case_is_one_item_per_engine(pytester: pytest.Pytester, book: Casebook):
    """Node ids are the path of the case file and the name of the engine."""
    book.add("merge.one")
    done = run(pytester, "--engine=tiny", "--engine=liar", "--collect-only", "-q")
    done.stdout.fnmatch_lines(["cases/merge/one/case.json::tiny", "cases/merge/one/case.json::liar"])


def test_outcomes_map_to_pytest_outcomes(pytester: pytest.Pytester, book: Casebook):
    """Right answers pass, wrong ones fail, cases that are not offered or refused are skipped, open cases pass."""
    book.add("merge.one")
    book.add("merge.two", needs=["read.cdc"])
    book.add("merge.three", expected={"open": True})
    run(pytester, "--engine=tiny").assert_outcomes(passed=2, skipped=1)
    run(pytester, "--engine=liar").assert_outcomes(passed=1, failed=1, skipped=1)
    run(pytester, "--engine=coward").assert_outcomes(passed=1, skipped=2)


def test_failure_message(pytester: pytest.Pytester, book: Casebook):
    """Rule, expected and found rows, the probable cause and the command, instead of a traceback."""
    book.add("merge.one", flags=["silent-stale"])
    done = run(pytester, "--engine=liar")
    done.stdout.fnmatch_lines(
        [
            "merge.one   liar   wrong   SILENT-STALE",
            "  rule      MRG-029  *",
            "  expected  a   10",
            "  found     a   11",
            "  hint      Look at the tiny engine.",
            "  repeat    hudi-conformance run liar --only merge.one",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*.py:*")


def test_report_has_every_result(pytester: pytest.Pytester, book: Casebook):
    """One line per case and engine, and the data of the run."""
    book.add("merge.one")
    run(pytester, "--engine=tiny", "--engine=liar", "--report=out", "--seed=5")
    assert [(r["case"], r["engine"], r["outcome"]) for r in results(pytester)] == [
        ("merge.one", "tiny", "pass"),
        ("merge.one", "liar", "fail"),
    ]
    about = json.loads((pytester.path / "out" / "run.json").read_text())
    assert (about["seed"], about["complete"], [e["version"] for e in about["engines"]]) == (5, False, ["7", "7"])
    assert "merge.one" in (pytester.path / "out" / "index.html").read_text()


def test_results_of_xdist_workers(pytester: pytest.Pytester, book: Casebook):
    """With xdist the report is the same as without."""
    book.add("merge.one", needs=["service.clustering", "pause.drawn"])
    book.add("merge.two", needs=["pause.drawn"])
    run(pytester, "--report=out", "-n2", "--dist=loadgroup").assert_outcomes(skipped=2)
    assert sorted((r["case"], r["engine"], r["outcome"]) for r in results(pytester)) == [
        ("merge.one", "reference", "unsupported"),
        ("merge.two", "reference", "unsupported"),
    ]


def test_default_engine_is_the_reference(pytester: pytest.Pytester, book: Casebook):
    """pytest needs no option."""
    book.add("merge.one")
    run(pytester, "--collect-only", "-q").stdout.fnmatch_lines(["*::reference"])


@pytest.mark.parametrize("pattern", ["merge.one", "merge.o*", "LF-012", "LF-*"])
def test_cases_are_chosen_by_id_or_rule(pytester: pytest.Pytester, book: Casebook, pattern: str):
    """--cases takes an id, a chapter, a rule, or a pattern of these."""
    book.add("merge.one", requirements=["LF-012"])
    book.add("layout.two")
    run(pytester, "--engine=tiny", f"--cases={pattern}").assert_outcomes(passed=1, deselected=1)


def test_a_listed_failure_does_not_fail_the_run(pytester: pytest.Pytester, book: Casebook):
    """pytest reports it as an expected failure with the reason of the list."""
    book.add("merge.one")
    (pytester.path / "liar.toml").write_text(ENTRY)
    done = run(pytester, "--engine=liar", "--expected-failures=liar.toml", "-rx")
    done.assert_outcomes(xfailed=1)
    done.stdout.fnmatch_lines(["XFAIL *case.json::liar - it lies"])
    assert done.ret == pytest.ExitCode.OK


ENTRY = '[[failure]]\ncase = "merge.one"\noutcome = "fail"\nmessage = "1 changed (id=a)"\nreason = "it lies"\n'


@pytest.mark.parametrize(
    ("engine", "entry", "says"),
    [
        ("tiny", ENTRY, "*list*listed as an expected failure, and passes (it lies)*"),
        ("liar", ENTRY.replace("id=a", "id=b"), "*list*fails in another way than listed*"),
        ("liar", ENTRY.replace("merge.one", "merge.two"), "*list*not in the list*"),
        ("blind", ENTRY, "*merge.one: is not offered now*"),
    ],
)
def test_incorrect_list_fails_the_run(pytester: pytest.Pytester, book: Casebook, engine: str, entry: str, says: str):
    """Unexpected pass, other failure, unlisted failure, entry without a failing case."""
    book.add("merge.one")
    (pytester.path / "list.toml").write_text(entry)
    done = run(pytester, f"--engine={engine}", "--expected-failures=list.toml")
    done.stdout.fnmatch_lines([says])
    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_option_rewrites_the_list(pytester: pytest.Pytester, book: Casebook):
    """After --update-expected-failures the same run succeeds."""
    book.add("merge.one")
    options = ("--engine=liar", "--expected-failures=liar.toml")
    assert run(pytester, *options, "--update-expected-failures").ret == pytest.ExitCode.OK
    assert 'message = "1 changed (id=a)"' in (pytester.path / "liar.toml").read_text()
    run(pytester, *options).assert_outcomes(xfailed=1)


def test_option_writes_a_list_without_entries(pytester: pytest.Pytester, book: Casebook):
    """After --update-expected-failures of an engine without failures the list exists, so that the same run can name it."""
    book.add("merge.one")
    assert run(pytester, "--engine=tiny", "--expected-failures=tiny.toml", "--update-expected-failures").ret == 0
    assert "[[failure]]" not in (pytester.path / "tiny.toml").read_text()
    assert run(pytester, "--engine=tiny", "--expected-failures=tiny.toml").ret == pytest.ExitCode.OK


def test_an_engine_that_does_not_start_fails_every_case(pytester: pytest.Pytester, book: Casebook):
    """No case is skipped because an engine is missing."""
    book.add("merge.one")
    book.add("merge.two")
    run(pytester, "--engine=stillborn", "--report=out").assert_outcomes(failed=2)
    assert {r["message"] for r in results(pytester)} == {"the engine could not be created: RuntimeError: no heartbeat"}


def test_broken_case_is_reported_on_one_line(pytester: pytest.Pytester, book: Casebook):
    """The message names the file, the key and the mistake."""
    book.add("merge.one", needs="read.snapshot")
    done = run(pytester)
    done.stdout.fnmatch_lines(["*case.json: needs: 'read.snapshot' is not of type 'array'"])
    done.stdout.no_fnmatch_line("*Traceback*")


PROGRAM = '''
import pytest
from hudi_conformance.contract import EngineError, Query

@pytest.mark.requirements("MRG-029", "LF-012")
@pytest.mark.needs("read.snapshot")
@pytest.mark.parametrize("size", [1, 2])
def test_tables_are_read(engine, tmp_path, size):
    """Rows come back."""
    (tmp_path / "rows.json").write_text('[{"id": "a", "ts": 10}]')
    assert engine.read(tmp_path.as_uri(), Query()).to_pylist() == [{"id": "a", "ts": 10}], "other rows"

@pytest.mark.needs("read.snapshot", writer=("create",))
def test_relay(writer, reader):
    """One writes, the other reads."""

def test_pairs(writer, reader):
    """Every ordered pair."""
    assert writer.name and reader.name
'''


@pytest.fixture
def program(pytester: pytest.Pytester) -> None:
    """Python cases in a folder whose conftest provides the engines."""
    pytester.makeconftest("from hudi_conformance.runner.python_cases import engine, pytest_generate_tests, reader, writer")
    pytester.makepyfile(test_merge_tables=PROGRAM)


def test_run_names_the_table_versions_of_its_cases(pytester: pytest.Pytester, book: Casebook):
    """The versions of golden cases and of Python cases, each of them once; a case that names none is of version 8."""
    book.add("merge.one")
    run(pytester, "cases", "--engine=tiny", "--report=out")
    assert json.loads((pytester.path / "out" / "run.json").read_text())["table_versions"] == [8]
    pytester.makeconftest("from hudi_conformance.runner.python_cases import engine, pytest_generate_tests")
    marked = "import pytest\n\n@pytest.mark.versions(9)\ndef test_one(engine):\n    pass\n"
    pytester.makepyfile(test_merge_tables=marked)
    run(pytester, "--engine=tiny", "--report=out")
    assert json.loads((pytester.path / "out" / "run.json").read_text())["table_versions"] == [8, 9]


@pytest.mark.usefixtures("program")
def test_python_cases(pytester: pytest.Pytester):
    """A test runs once per engine; its result has a stable name, its chapter, its rules and its docstring."""
    run(pytester, "--engine=tiny", "--engine=liar", "--report=out", "-k", "tables_are_read")
    found = {(r["case"], r["engine"]): r for r in results(pytester)}
    assert set(found) == {(f"test_merge_tables::test_tables_are_read[size={n}]", e) for n in (1, 2) for e in ("tiny", "liar")}
    right = found["test_merge_tables::test_tables_are_read[size=1]", "tiny"]
    wrong = found["test_merge_tables::test_tables_are_read[size=1]", "liar"]
    assert (right["outcome"], right["chapter"], right["requirements"]) == ("pass", "merging", ["MRG-029", "LF-012"])
    assert (wrong["outcome"], wrong["message"], wrong["description"]) == ("fail", "other rows", "Rows come back.")


@pytest.mark.usefixtures("program")
def test_relays_run_for_every_ordered_pair(pytester: pytest.Pytester):
    """The result belongs to the reader; the name states the writer."""
    run(pytester, "--engine=tiny", "--engine=liar", "--report=out", "-k", "pairs").assert_outcomes(passed=4)
    assert {(r["case"].partition("[")[2], r["engine"]) for r in results(pytester)} == {
        (f"by {w}]", r) for w in ("tiny", "liar") for r in ("tiny", "liar")
    }


@pytest.mark.usefixtures("program")
def test_undeclared_features_are_not_asked_for(pytester: pytest.Pytester):
    """Undeclared features are not counted as wrong answers, for reader and writer."""
    run(pytester, "--engine=blind", "--report=out", "-k", "tables_are_read").assert_outcomes(skipped=2)
    assert {r["outcome"] for r in results(pytester)} == {"unsupported"}


@pytest.mark.usefixtures("program")
def test_relay_with_an_unsupported_writer_is_skipped(pytester: pytest.Pytester):
    """A relay that cannot run is skipped and is not a case of the reader."""
    done = run(pytester, "--engine=tiny", "--report=out", "-k", "relay", "-rs")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*tiny, which writes: not offered: create"])
    assert not (pytester.path / "out").exists()


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(("engine", "outcome"), [("coward", "refused"), ("honest", "error"), ("stillborn", "crash")])
def test_refusals_and_errors_in_python_cases(pytester: pytest.Pytester, engine: str, outcome: str):
    """A refusal or an error of the engine is not a wrong answer."""
    run(pytester, f"--engine={engine}", "--report=out", "-k", "tables_are_read and 1")
    assert {r["outcome"] for r in results(pytester)} == {outcome}


ENDING = '''
import os, time
from pathlib import Path

import pytest

def started(name):
    """Append the name of a test that starts."""
    with Path("started.txt").open("a") as file:
        file.write(name + "\\n")

@pytest.mark.requirements("MRG-029")
@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("size", [1, 2])
def test_hangs(engine, size):
    """The engine answers."""
    started(f"hangs {size}")
    time.sleep(600 if size == 1 else 0)

def test_ends_the_process(engine):
    """The engine does not end its process."""
    started("ends")
    os._exit(7)
'''


def test_case_that_ended_its_worker_has_a_result(pytester: pytest.Pytester):
    """A case whose process ended by the limit of a case is a time-out, another one a crash; neither runs again."""
    pytester.makeconftest(
        "from hudi_conformance.engines.registry import connect\n"
        "from hudi_conformance.runner.python_cases import engine, pytest_generate_tests, reader, writer\n"
        "connect('reference').close()  # imports take long, and are not part of the case that way\n"
    )
    pytester.makeini("[pytest]\nfaulthandler_timeout = 5\nfaulthandler_exit_on_timeout = true\n")
    pytester.makepyfile(test_merge_ending=ENDING)
    (pytester.path / "list.toml").write_text(
        '[[failure]]\ncase = "test_merge_ending::test_ends_the_process"\noutcome = "crash"\n'
        'message = "the process that ran the case ended before the case"\nreason = "known"\n'
    )
    options = ("-n2", "--dist=loadgroup", "--engine=reference", "--report=out", "--junitxml=out.xml")
    done = pytester.runpytest_subprocess("-p", "no:randomly", *options, "--expected-failures=list.toml", timeout=120)
    done.assert_outcomes(passed=1, failed=1, xfailed=1)
    assert sorted((pytester.path / "started.txt").read_text().split("\n")) == ["", "ends", "hangs 1", "hangs 2"]
    found = {r["case"]: r for r in results(pytester)}
    assert {case: r["outcome"] for case, r in found.items()} == {
        "test_merge_ending::test_hangs[size=1]": "timeout",
        "test_merge_ending::test_hangs[size=2]": "pass",
        "test_merge_ending::test_ends_the_process": "crash",
    }
    hung = found["test_merge_ending::test_hangs[size=1]"]
    assert (hung["chapter"], hung["requirements"], hung["description"]) == ("merging", ["MRG-029"], "The engine answers.")
    assert hung["message"] == "the case took longer than 5 s and its process was ended"
    about = json.loads((pytester.path / "out" / "run.json").read_text())
    assert [e["version"] for e in about["engines"]] != [None]
    assert "test_hangs[size=1]" in (pytester.path / "out.xml").read_text()


def test_other_projects_are_not_affected(pytester: pytest.Pytester):
    """Their case.json, their fixture named engine, and their results are unchanged."""
    (pytester.path / "case.json").write_text('{"id": 1}')
    pytester.makepyfile(
        """
        import pytest, sys

        @pytest.fixture
        def engine():
            return "ours"

        def test_theirs(engine):
            assert engine == "ours"
        """
    )
    done = run(pytester)
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*hudi-conformance*report*")


def test_plugin_imports_no_heavy_module(pytester: pytest.Pytester):
    """Each pytest run of the environment loads the plugin, so that it must be fast."""
    pytester.makepyfile("import sys\ndef test_light(): assert not {'pyarrow', 'jsonschema', 'rich'} & set(sys.modules)")
    pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:xdist").assert_outcomes(passed=1)


def test_suite_runs_with_pyargs(pytester: pytest.Pytester, book: Casebook, monkeypatch: pytest.MonkeyPatch):
    """`pytest --pyargs hudi_conformance.suite` runs Python cases and golden cases in any project."""
    from hudi_conformance.cases import schema

    book.add("merge.one")
    monkeypatch.setattr(schema, "fixtures_root", lambda: book.root)
    done = run(pytester, "--pyargs", "hudi_conformance.suite", "--engine=tiny", "--collect-only", "-q")
    done.stdout.fnmatch_lines(["*cases/merge/one/case.json::tiny", "*test_writes.py::*tiny*"])


def test_a_mutant_is_applied_during_the_run_and_reverted_afterwards(pytester: pytest.Pytester):
    """--mutant NAME takes the name of a mutant."""
    from hudi_conformance.mutants import Patch
    from hudi_conformance.mutants.harness import mutant as mutant_module

    def apply(patch: Patch) -> None:
        """Leaves a trace."""
        patch.item(TRACE, "applied", True)

    mutant = mutant_module.Mutant("leaves-a-trace", ("MRG-029",), "Leaves a trace.", apply)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(mutant_module, "all_mutants", lambda: (mutant,))
        pytester.makepyfile("from test_plugin import TRACE\ndef test_trace(): assert TRACE == {'applied': True}")
        run(pytester, "--mutant=leaves-a-trace").assert_outcomes(passed=1)
    assert TRACE == {"applied": False}


TRACE = {"applied": False}
