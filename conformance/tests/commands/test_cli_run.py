"""`hudi-conformance run`: matrix, failing cases, reports and exit codes."""

import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from hudi_conformance.cases.case import find_cases
from hudi_conformance.cli import COMMANDS, load
from hudi_conformance.runner.progress import display

SCRIPT = "from hudi_conformance.cli import app; app()"


def call(where: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a process in the folder `where`, with a wide terminal and these environment variables."""
    environment = {**os.environ, "COLUMNS": "160", **variables}
    command = [sys.executable, "-c", SCRIPT, *arguments]
    return subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def case() -> str:
    """The id of a shipped case that a faulty engine must fail: a table whose rows are stored in log files."""
    chosen = (
        c for c in find_cases() if c.producer.engine == "reference" and c.id.startswith("merge.") and "merge-on-read" in c.needs
    )
    return next(c.id for c in chosen if c.expected.rows and not c.expected.open and "event-time" in c.id)


def test_correct_engine_has_exit_code_0(tmp_path: Path, case: str):
    """Header, matrix, and the location of the reports are printed."""
    done = call(tmp_path, "run", "--only", case, "--seed", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    text = done.stdout.splitlines()
    assert text[0].endswith("table version 8 · seed 5 · 1 case")
    assert [line.split() for line in text if line.startswith("merge")] == [
        ["merge", "modes", "and", "payloads", "1", "of", "1"]
    ]
    assert text[-1].endswith("exit 0")
    assert sorted(p.name for p in (tmp_path / "report").iterdir()) == ["index.html", "junit.xml", "report.jsonl", "run.json"]


def test_options_for_other_tests_are_ignored(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch):
    """PYTEST_ADDOPTS holds options for the tests of the user. The run neither obeys them nor fails on options that it lacks."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--numprocesses=2 --collect-only --no-such-option")
    done = call(tmp_path, "run", "--only", case)
    assert (done.returncode, "1 of 1" in done.stdout) == (0, True), done.stdout + done.stderr


def ended(node: str, outcome: str, **more: object) -> SimpleNamespace:
    """The report of a case."""
    line = {"outcome": outcome, "engine": "reference", "case": "names.one", "seconds": 1.0, "chapter": "layout", **more}
    hello = {"hello": None, "failed_start": None}
    return SimpleNamespace(hudi_result=line, hudi_hello=hello, nodeid=node, when="call", failed=outcome != "pass")


def test_progress_without_terminal(monkeypatch: pytest.MonkeyPatch):
    """A long run prints lines of progress if a progress bar is not possible."""
    monkeypatch.setattr(display, "BETWEEN_LINES", 0.0)
    console = Console(file=io.StringIO(), width=120)
    shown = display.ProgressDisplay(console)
    shown.pytest_xdist_node_collection_finished(None, ["a/test_x.py::test_1[reference]", "a/test_x.py::test_2[reference]"])
    for number, outcome in enumerate(("pass", "fail"), 1):
        shown.pytest_runtest_logreport(ended(f"a/test_x.py::test_{number}[reference]", outcome))  # type: ignore[arg-type]
    written = [line.split("   ") for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert [(cases.split("  ")[1], tally) for cases, _, tally in written] == [
        ("1 of 2", "1 pass"),
        ("2 of 2", "1 pass  1 wrong"),
    ]
    assert [left for _, left, _ in written] == ["1 s left", "1 s left"]


def test_golden_matrix_comes_first():
    """When the last golden case has ended, the matrix is printed, with the number of the other cases and their time."""
    output = Console(file=io.StringIO(), width=120)
    shown = display.ProgressDisplay(Console(file=io.StringIO()), output)
    golden, program = "fixtures/names/one/case.json::reference", "a/test_x.py::test_1[reference]"
    shown.pytest_xdist_node_collection_finished(None, [golden, program])
    result = {"requirements": [], "description": "", "message": "", "pairs": []}
    shown.pytest_runtest_logreport(ended(golden, "pass", **result))  # type: ignore[arg-type]
    text = output.file.getvalue()  # type: ignore[attr-defined]
    assert "golden cases, after" in text and "1 of 1" in text
    assert "1 model-based and concurrency cases follow; they take about" in text


def test_golden_tier_has_no_python_cases(tmp_path: Path):
    """--tier golden leaves Python cases out; if nothing else is chosen, that is a usage error."""
    done = call(tmp_path, "run", "--tier", "golden", "--only", "LAY-011", "--only", "test_layout::*")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (tmp_path / "report" / "report.jsonl").read_text().splitlines()
    assert lines and not any("::" in json.loads(line)["case"] for line in lines)
    done = call(tmp_path, "run", "--tier", "golden", "--only", "test_layout::*")
    assert (done.returncode, "no golden case is chosen" in done.stdout) == (2, True)


def test_wrong_answers_are_printed(tmp_path: Path, case: str):
    """A faulty engine that ignores log files fails; rule, both sides and the command that repeats the case are printed."""
    done = call(tmp_path, "run", "reference", "faulty:ignores-logs", "--only", case, "--report", "out")
    assert done.returncode == 1
    for words in ("1 wrong", "wrong answers first", "rule", "expected", "found", "hint", "exit 1"):
        assert words in done.stdout
    assert f"hudi-conformance run faulty:ignores-logs --only {case}" in done.stdout
    assert f'name="case" value="{case}"' in (tmp_path / "out" / "junit.xml").read_text()
    outcomes = [json.loads(line)["outcome"] for line in (tmp_path / "out" / "report.jsonl").read_text().splitlines()]
    assert outcomes == ["pass", "fail"]


def test_listed_failures_are_expected(tmp_path: Path, case: str):
    """--update writes the list; the same run then succeeds, and the failure is shown as known."""
    options = ("run", "faulty:ignores-logs", "--only", case, "--expected-failures", "list.toml")
    assert call(tmp_path, *options, "--update").returncode == 0
    done = call(tmp_path, *options)
    assert done.returncode == 0 and "known failures, with" in done.stdout and "wrong answers first" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["referense"], 2, "did you mean reference?"),
        (["faulty:nothing"], 2, "there is no faulty engine 'nothing'"),
        (["--only", "merge.nothing"], 2, "merge.*?"),
        (["--skip", "merge"], 2, "did you mean merge.*, merging"),
        (["--only", "names.*", "--skip", "names.*"], 2, "every chosen case is skipped"),
        (["python -c pass", "--update"], 2, "--update needs the list to write; add --expected-failures FILE"),
        (["--expected-failures", "absent.toml"], 2, "there is no list absent.toml"),
        (["--expected-failures", "broken.toml"], 2, "broken.toml: is not TOML"),
        (["python -c pass", "--expected-failures", "."], 2, "for 'python -c pass', a command line, give a file"),
        (["--known-flaky", "absent.txt"], 2, "absent.txt: cannot be read: No such file or directory"),
        (["--only", "@empty.txt"], 2, "empty.txt: has no pattern"),
        (["python -c pass", "--only", "properties.*"], 3, "did not start"),
    ],
)
def test_exit_codes_of_usage_errors_and_broken_adapters(tmp_path: Path, arguments: list[str], code: int, says: str):
    """2 for a usage error, 3 for a broken adapter."""
    (tmp_path / "broken.toml").write_text("[[failure")
    (tmp_path / "empty.txt").write_text("# nothing\n")
    done = call(tmp_path, "run", *arguments)
    assert (done.returncode, says in " ".join(done.stdout.split())) == (code, True), done.stdout + done.stderr


def test_option_jobs_does_not_change_results(tmp_path: Path):
    """--jobs changes how long it takes, nothing else."""
    found = []
    for jobs in ("1", "2"):
        assert call(tmp_path, "run", "--only", "layout.partition*", "--jobs", jobs, "--report", jobs).returncode == 0
        lines = map(json.loads, (tmp_path / jobs / "report.jsonl").read_text().splitlines())
        found.append(sorted((r["case"], r["engine"], r["outcome"], r["message"]) for r in lines))
    assert found[0] == found[1] and found[0]


def test_help_imports_no_command(tmp_path: Path):
    """The overview names every command without importing one, so that it is fast."""
    script = f"import sys; sys.argv[1:] = ['--help']\ntry:\n    {SCRIPT}\nfinally:\n    print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)
    assert not any(f"'{heavy}'" in done.stdout for heavy in ("pyarrow", "pytest", "jsonschema", "hudi_reference"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str):
    """Each name in the overview is a command with a help text."""
    assert load(name).help


def test_a_refusal_does_not_fail_the_run(tmp_path: Path):
    """Exit code 0; refusals stand in their own column, without danger, and not among the wrong answers."""
    done = call(
        tmp_path, "run", "faulty:always-refuses", "--only", "queries.chosen.cow*", "--expected-failures", empty_list(tmp_path)
    )
    assert done.returncode == 0, done.stdout
    assert "refused" in done.stdout and "wrong answers first" not in done.stdout and "SILENT" not in done.stdout


def empty_list(folder: Path) -> str:
    """A list without entries, in which the default for refusals holds."""
    (folder / "list.toml").write_text("# nothing\n")
    return "list.toml"


def test_an_engine_that_hangs_is_not_asked_to_the_end(tmp_path: Path):
    """After so many time-outs the other cases are not run; the run is not as expected, and says so once."""
    (tmp_path / "patterns.txt").write_text("queries.chosen.cow  # the first\nqueries.chosen.mor\nqueries.chosen.cow.*\n")
    options = ("--only", "@patterns.txt", "--message-timeout", "0.5", "--max-timeouts", "2", "--trace")
    done = call(tmp_path, "run", "faulty:hangs", *options)
    assert done.returncode == 1, done.stdout
    assert re.search(r"faulty:hangs: \d+ cases not run: 2 time-outs before \(--max-timeouts 2\)", done.stdout)
    outcomes = Counter(json.loads(line)["outcome"] for line in (tmp_path / "report" / "report.jsonl").read_text().splitlines())
    assert set(outcomes) == {"timeout", "not-run"} and outcomes["timeout"] == 2
    trace = (tmp_path / "report" / "trace.txt").read_text()
    assert '-> {"op": "hello"' in trace and '<- {"protocol": 1' in trace and '-> {"op": "read"' in trace
    assert "!! EngineTimeout: no answer to read within 0.5 s" in trace


def test_a_flaky_case_may_fail(tmp_path: Path, case: str):
    """It is shown with its reason, and the run is as expected."""
    (tmp_path / "flaky.txt").write_text(f"{case}  # the store is eventually consistent\n")
    done = call(tmp_path, "run", "faulty:ignores-logs", "--only", case, "--known-flaky", "flaky.txt")
    assert done.returncode == 0, done.stdout
    assert "flaky cases, which may pass or fail" in done.stdout and "the store is eventually consistent" in done.stdout


def test_annotations_for_github(tmp_path: Path, case: str):
    """One workflow command for each fault, and the matrix as the summary of the step; JUnit names are readable."""
    done = call(
        tmp_path, "run", "faulty:ignores-logs", "--only", case, "--format", "github", GITHUB_STEP_SUMMARY=str(tmp_path / "s.md")
    )
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert line.startswith("::error ") and f"title={case}" in line and "%0Arepeat: hudi-conformance run" in line
    assert "| merge modes and payloads | 0 of 1  1 wrong |" in (tmp_path / "s.md").read_text()
    junit = (tmp_path / "report" / "junit.xml").read_text()
    assert f'<testcase classname="faulty:ignores-logs.merging" name="{case}"' in junit
    assert '<testsuite name="hudi-conformance"' in junit


def test_a_case_whose_process_ends_has_no_result():
    """A process that ends, after a time limit or a crash, is reported with its case, and counted as no outcome."""
    shown = display.ProgressDisplay(Console(file=io.StringIO()))
    text = "worker 'gw0' crashed while running 'a/test_x.py::test_1[reference]'"
    report = SimpleNamespace(nodeid="a/test_x.py::test_1[reference]", when="???", failed=True, longrepr=text)
    shown.pytest_runtest_logreport(report)  # type: ignore[arg-type]
    assert shown.lost == [text] and not shown.counts
