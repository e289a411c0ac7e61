"""Docstrings of the tests of the suite: the rule, then the guarantee."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from hudi_conformance.cases.case_index import python_cases
from hudi_conformance.cases.suite_marks import read_guarantee

CASES = {case.id: case for case in python_cases()}


@cache
def docstrings(path):
    """The docstrings of the functions of a module, by their names."""
    functions = (node for node in ast.parse(Path(path).read_text("utf-8")).body if isinstance(node, ast.FunctionDef))
    return {node.name: ast.get_docstring(node) for node in functions}


@pytest.mark.parametrize("id_", CASES)
def test_a_docstring_names_a_rule_that_the_test_cites_and_the_guarantee(id_):
    """The rule whose text is nearest to the guarantee; the marks name all rules."""
    path, _, name = CASES[id_].node.rpartition("::")
    text = docstrings(path)[name]
    found = re.match(r"([A-Z0-9]+-\d{3}): \S", text)
    assert found is not None, text
    assert found[1] in CASES[id_].requirements
    assert CASES[id_].description == read_guarantee(text)


def test_a_guarantee_is_shown_without_its_rule():
    """Reports and `explain` print the rules themselves."""
    assert read_guarantee("TL-001: every write\n    is an action.\n\n    Further text.") == "Every write is an action."
    assert read_guarantee("") == ""
