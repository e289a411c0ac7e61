"""Run the steps of action.yml without GitHub: each `run` step in bash, with inputs and outputs substituted.

python -m tools.run_action engine='python adapter.py' only='log.file.*'

Steps with `uses` are not run; they are printed with their inputs. `--without NAME` leaves out a step.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ACTION = Path(__file__).resolve().parents[1] / "action.yml"
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


class BadAction(Exception):
    """The action uses something that does not exist: an input, an output of a step, or an expression of another form."""


@dataclass
class ActionRun:
    """One run of the action.

    Attributes:
        inputs: the inputs that are given; the others have their defaults.
        workspace: the folder of the checkout that uses the action.
        temporary: the folder for files of the runner.
        without: names of steps to leave out.
    """

    inputs: dict[str, str]
    workspace: Path
    temporary: Path
    without: frozenset[str] = frozenset()
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    code: int = 0

    def __post_init__(self) -> None:
        self.action: dict[str, Any] = yaml.safe_load(ACTION.read_text("utf-8"))
        declared = self.action["inputs"]
        if unknown := self.inputs.keys() - declared.keys():
            raise BadAction(f"no input {', '.join(sorted(unknown))}; the inputs are {', '.join(declared)}")
        if missing := [name for name, about in declared.items() if about.get("required") and not self.inputs.get(name)]:
            raise BadAction(f"the input {', '.join(missing)} is required")
        self.inputs = {name: str(about.get("default", "")) for name, about in declared.items()} | self.inputs

    def run(self) -> int:
        """Run the steps; the exit code of the first that failed. After it only steps with `always()` run."""
        for step in self.action["runs"]["steps"]:
            if step["name"] in self.without or not self._wanted(step.get("if", "")):
                print(f"-- {step['name']}: left out", flush=True)
            elif "uses" in step:
                given = {name: self._filled(str(value)) for name, value in step.get("with", {}).items()}
                print(f"-- {step['name']}: {step['uses']} {given}, not run here", flush=True)
            else:
                self._run(step)
        return self.code

    def _wanted(self, condition: str) -> bool:
        """Whether a step runs: conditions are `always()` and comparisons of an input with a text, joined with `&&`."""
        parts = [part.strip() for part in condition.split("&&") if part.strip()]
        if self.code and "always()" not in parts:
            return False
        return all(self._holds(part) for part in parts if part != "always()")

    def _holds(self, comparison: str) -> bool:
        match = re.fullmatch(r"([\w.-]+) (==|!=) '(.*)'", comparison)
        if match is None:
            raise BadAction(f"a condition of another form: {comparison}")
        return (self._value(match[1]) == match[3]) == (match[2] == "==")

    def _run(self, step: Mapping[str, Any]) -> None:
        print(f"-- {step['name']}", flush=True)
        output = self.temporary / "output"
        output.write_text("")
        environment = {
            **os.environ,
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"),
            **{name: self._filled(str(value)) for name, value in step.get("env", {}).items()},
        }
        if "${{" in step["run"]:
            raise BadAction(f"{step['name']}: an expression in a script; pass it as a variable of the environment")
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        code = subprocess.run(argv, cwd=self.workspace, env=environment, check=False).returncode
        self.code = self.code or code
        lines = output.read_text().splitlines()
        self.outputs[step.get("id", step["name"])] = {name: value for name, _, value in (line.partition("=") for line in lines)}

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        """The value of an expression: an input, an output of a step, or the folder of the action."""
        match name.split("."):
            case ["inputs", one] if one in self.inputs:
                return self.inputs[one]
            case ["steps", step, "outputs", one] if step in self._ids():
                return self.outputs.get(step, {}).get(one, "")
            case ["github", "action_path"]:
                return str(ACTION.parent)
        raise BadAction(f"there is no {name}")

    def _ids(self) -> set[str]:
        return {step["id"] for step in self.action["runs"]["steps"] if "id" in step}


def main() -> int:
    """Run the action with the inputs of the command line; its exit code."""
    parser = argparse.ArgumentParser(
        prog="tools.run_action", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("inputs", metavar="INPUT=VALUE", nargs="+")
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="leave out a step")
    asked = parser.parse_args()
    inputs = dict(text.split("=", 1) for text in asked.inputs)
    with tempfile.TemporaryDirectory(prefix="hudi-action-") as temporary:
        return ActionRun(inputs, Path.cwd(), Path(temporary), frozenset(asked.without)).run()


if __name__ == "__main__":
    sys.exit(main())
