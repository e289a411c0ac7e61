"""The action for GitHub Actions: its steps run in bash, with the inputs of a user."""

import sys
from pathlib import Path

import pytest
import yaml
from tools.run_action import ACTION, ActionRun, BadAction

from hudi_conformance.templates import TEMPLATES


@pytest.fixture
def runner(tmp_path):
    """Run the action in an empty checkout; the suite is the one of this test, because installing it takes a minute."""
    temporary, workspace = tmp_path / "runner", tmp_path / "checkout of a user"
    program = temporary / "hudi-conformance" / "bin" / "hudi-conformance"
    program.parent.mkdir(parents=True)
    workspace.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from hudi_conformance.cli import app; app()" "$@"\n')
    program.chmod(0o755)

    def run(**inputs: str) -> ActionRun:
        found = ActionRun(
            {name.replace("_", "-"): value for name, value in inputs.items()},
            workspace,
            temporary,
            frozenset({"Install the suite"}),
        )
        found.run()
        return found

    return run


def test_a_run_as_expected_passes_and_leaves_reports(runner, capfd):
    """The reference on two cases: exit code 0, HTML, JUnit and a summary."""
    done = runner(engine="reference", only="log.file.one-delete-block\nnames.log-file-names\n")
    assert (done.code, done.outputs["run"]["exit-code"]) == (0, "0"), capfd.readouterr()
    folder = done.workspace / "hudi-conformance-report"
    assert {"index.html", "junit.xml"} <= {path.name for path in folder.iterdir()}
    assert "| chapter |" in (done.temporary / "summary.md").read_text("utf-8")
    assert "hudi-conformance-report" in capfd.readouterr().out, "the folder is uploaded"


def test_a_wrong_answer_fails_the_job_with_annotations(runner, capfd):
    """A faulty engine: one annotation for the fault, exit code 1; and 0 where the job may go on."""
    case = "merge.event-time.late-record.two-logs.mor"
    done = runner(engine="faulty:ignores-ordering", only=case)
    assert (done.code, done.outputs["run"]["exit-code"]) == (1, "1")
    assert f"::error title={case}%3A wrong" in capfd.readouterr().out
    assert runner(engine="faulty:ignores-ordering", only=case, fail_on_differences="false").code == 0


def test_a_known_failure_does_not_fail_the_job(runner):
    """The list of the user is a path in the checkout; `options` are further options."""
    case = "merge.event-time.late-record.two-logs.mor"
    inputs = {"engine": "faulty:ignores-ordering", "only": case, "expected_failures": "known failures.toml"}
    assert runner(**inputs, options="--update").code == 0
    assert runner(**inputs).code == 0


def test_an_adapter_of_the_checkout_is_run(runner):
    """The engine is a command line that is run in the checkout."""
    runs = ActionRun({"engine": "unused"}, Path(), Path())
    assert runs.inputs["report"] == "hudi-conformance-report"
    template = TEMPLATES["python"]
    done = runner(engine=f"{sys.executable} adapter.py", only="nothing-has-this-name")
    (done.workspace / "adapter.py").write_text(template.text("adapter.py"))
    assert done.code == 2, "a wrong pattern is a usage error, which always fails"
    assert runner(engine=f"{sys.executable} adapter.py", only="queries.chosen.cow", skip="merge.*").code == 0


def test_the_action_is_whole():
    """Each step of bash names its shell, each input and output has a description, and no input is pasted into a script."""
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    steps = action["runs"]["steps"]
    assert [step["name"] for step in steps if "run" in step and step.get("shell") != "bash"] == []
    assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []
    assert [name for name, about in (action["inputs"] | action["outputs"]).items() if not about.get("description")] == []
    with pytest.raises(BadAction, match="no input engin"):
        ActionRun({"engin": "reference"}, Path(), Path())
    with pytest.raises(BadAction, match="engine is required"):
        ActionRun({}, Path(), Path())
