"""The page that teaches adapters is true: its files are written, its commands run, and their output is the one printed there."""

import doctest
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "plug-in-an-engine.md"
#: The beginning of a file's first line, which names the file.
COMMENTS = {"js": "// ", "python": "# "}
SAME = doctest.OutputChecker().check_output


def blocks(first: str, last: str) -> Iterator[tuple[str, str]]:
    """The fenced blocks of the sections from the heading `first` to `last`, as (language, text)."""
    text = PAGE.read_text("utf-8")
    chosen = text[text.index(f"\n## {first}") : text.index(f"\n## {last}")]
    yield from re.findall(r"^```(\w*)\n(.*?)^```$", chosen, re.MULTILINE | re.DOTALL)


@pytest.fixture
def commands_on_path(tmp_path, monkeypatch):
    """`hudi-conformance` and `python` are those of this test, from whichever environment it runs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    call = "from hudi_conformance.cli import app; app()"
    for name, rest in (("python", ""), ("hudi-conformance", f' -c "{call}"')):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{rest} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def follow(tmp_path, commands_on_path):
    """Do what the blocks of some sections say; return how many commands ran."""
    folder = tmp_path / "page"
    folder.mkdir()

    def run(first: str, last: str) -> int:
        ran = 0
        for language, text in blocks(first, last):
            if language in COMMENTS:
                (folder / text.split("\n", 1)[0].removeprefix(COMMENTS[language])).write_text(text)
            elif language == "console":
                ran += _run(folder, text)
        return ran

    return run


def _run(folder: Path, text: str) -> bool:
    """Run the command of a block and compare its output; ... is anything."""
    command = "; ".join(line[2:] for line in text.splitlines() if line.startswith("$ "))
    expected = "\n".join(line for line in text.splitlines() if not line.startswith("$ ")) + "\n"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    if command.startswith("npm ") and done.returncode:
        pytest.skip(f"npm cannot install packages here: {done.stderr[-200:]}")
    assert SAME(expected, done.stdout, doctest.ELLIPSIS), f"{command}\n{done.stdout}{done.stderr}"
    return True


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_page_builds_an_adapter_that_refuses(follow):
    """Steps 1 and 2 need nothing but Node.js."""
    assert follow("Step 1", "Step 3") == 3


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node.js with npm")
def test_the_page_builds_the_adapter_that_it_shows(follow):
    """All steps: the first reader is wrong, the second is right."""
    assert follow("Step 1", "Step 4") == 6


def test_the_page_shows_the_base_class_and_a_decoder(follow):
    """The sections for Python."""
    assert follow("In Python", "When an adapter") == 1
