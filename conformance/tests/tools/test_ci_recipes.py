"""The recipes of docs/ci.md run as they are written; only the installation and the choice of cases are replaced."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from hudi_conformance.templates import TEMPLATES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "ci.md").read_text(encoding="utf-8")

#: Cases that the recipes run here; a user's job runs all.
ONLY = "queries.chosen.cow"

#: Recipes that test an adapter in a shell.
RECIPES = ("shell", "gitlab")


def block(language: str, word: str) -> str:
    """The code block of the page with this word."""
    found = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S) if word in text]
    assert len(found) == 1, word
    return str(found[0])


def recipe(name: str) -> str:
    """The script of a recipe, without its lines that install the suite."""
    if name == "shell":
        text = block("bash", "set -euo pipefail")
    else:
        text = "set -e\n" + "\n".join(yaml.safe_load(block("yaml", "image: python"))["hudi-conformance"]["script"])
    return "\n".join(line for line in text.splitlines() if not re.search(r"-m venv|pip install", line))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of a user with an adapter, and the suite of this test where the recipes expect it."""
    template = TEMPLATES["python"]
    (tmp_path / "my-adapter").write_text(f"#!{sys.executable}\n" + template.text("adapter.py"))
    suite = tmp_path / ".hudi-suite" / "bin" / "hudi-conformance"
    suite.parent.mkdir(parents=True)
    call = f'"{sys.executable}" -c "from hudi_conformance.cli import app; app()"'
    suite.write_text(f'#!/bin/sh\ncase "$1" in run) {call} "$@" --only {ONLY};; *) {call} "$@";; esac\n')
    for program in (tmp_path / "my-adapter", suite):
        program.chmod(0o755)
    return tmp_path


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in bash, with the installed suite on the path."""
    prologue = 'PATH="$PWD/.hudi-suite/bin:$PATH"\n'
    return subprocess.run(["bash", "-c", prologue + script], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_passes_with_the_list_that_update_wrote(checkout: Path, name: str):
    """The command that writes the list, then the job: exit code 0 and the reports, although nothing fails."""
    first = re.findall(r"^hudi-conformance run .* --update$", PAGE, re.M)[0]
    assert run(first, checkout).returncode == 0
    done = run(recipe(name), checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    artifacts = yaml.safe_load(block("yaml", "image: python"))["hudi-conformance"]["artifacts"]
    assert ONLY in (checkout / artifacts["reports"]["junit"]).read_text()
    assert {"index.html", "junit.xml", "report.jsonl"} <= {path.name for path in (checkout / artifacts["paths"][0]).iterdir()}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_fails_if_an_answer_gets_worse(checkout: Path, name: str):
    """An adapter that passes smoke and loses the rows of the case, with a list without entries: exit code 1, and the reports."""
    program = checkout / "my-adapter"
    right, wrong = (
        "return pa.concat_tables(files)",
        'return pa.concat_tables(files).slice(0, 0 if "fare" in files[0].column_names else 9)',
    )
    program.write_text(program.read_text().replace(right, wrong))
    (checkout / "hudi-failures.toml").write_text("")
    done = run(recipe(name), checkout)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "3 missing" in done.stdout
    assert (checkout / "report" / "index.html").exists()


def test_the_page_pins_the_release_of_this_checkout():
    """Every release that the page names is the one that it describes."""
    named = set(re.findall(r"hudi-conformance(?:==|@v|-)(\d+\.\d+\.\d+)", PAGE))
    assert named == {version("hudi-conformance")}
