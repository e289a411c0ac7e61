"""The steps of the guide to the reference name existing functions and rules that these implement."""

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

from hudi_reference.requirement import rules_of

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "reading-the-reference.md"
PATHS = ("Snapshot", "Log block", "Merge", "Commit", "Compaction", "History")
STEP = re.compile(r"^\d+\. `([\w.]+):([\w.]+)`(?: \(([A-Z0-9, -]+)\))? \w", re.MULTILINE)


def steps() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Module, function and rules of each step of the guide."""
    for module, name, rules in STEP.findall(GUIDE.read_text("utf-8")):
        yield module, name, tuple(rules.split(", ")) if rules else ()


@pytest.mark.parametrize(("module", "name", "rules"), list(steps()))
def test_a_step_names_a_function_that_carries_its_rules(module: str, name: str, rules: tuple[str, ...]) -> None:
    """The function exists and is marked with every rule that the guide lists for it."""
    found = importlib.import_module(f"hudi_reference.{module}")
    owner, _, last = name.rpartition(".")
    marked = inspect.getattr_static(reduce(getattr, filter(None, owner.split(".")), found), last)
    assert set(rules) <= set(rules_of(marked))


def test_every_numbered_line_is_a_step() -> None:
    """No step has another form, which would not be checked; every path has its heading."""
    text = GUIDE.read_text("utf-8")
    assert len(re.findall(r"^\d+\. ", text, re.MULTILINE)) == len(list(steps()))
    assert [heading for heading in re.findall(r"^## (.+)$", text, re.MULTILINE) if heading in PATHS] == list(PATHS)
