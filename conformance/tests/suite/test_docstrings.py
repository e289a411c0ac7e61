"""Docstrings of the tests of the suite: the rule, then the guarantee."""

import ast
import re
from pathlib import Path

import pytest

from hudi_conformance.cases.case_index import python_cases
from hudi_conformance.cases.suite_marks import read_guarantee

CASES = {case.id: case for case in python_cases()}


def docstring(case):
    """The docstring of the test function of a case."""
    path, _, name = case.node.rpartition("::")
    tree = ast.parse(Path(path).read_text("utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return next(ast.get_docstring(node) for node in functions if node.name == name)


@pytest.mark.parametrize("id_", CASES)
def test_a_docstring_names_a_rule_that_the_test_cites_and_the_guarantee(id_):
    """The rule whose text is nearest to the guarantee; the marks name all rules."""
    text = docstring(CASES[id_])
    found = re.match(r"([A-Z0-9]+-\d{3}): \S", text)
    assert found is not None, text
    assert found[1] in CASES[id_].requirements
    assert CASES[id_].description == read_guarantee(text)


def test_a_guarantee_is_shown_without_its_rule():
    """Reports and `explain` print the rules themselves."""
    assert read_guarantee("TL-001: every write\n    is an action.\n\n    Further text.") == "Every write is an action."
    assert read_guarantee("") == ""
