"""What the marks of a suite module say, without an import."""

from hudi_conformance.cases.suite_marks import read_suite_module

MODULE = """
import pytest
BOTH = pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])

@BOTH
@pytest.mark.each_version
@pytest.mark.requirements("RDR-002")
def test_marked(engine, type): ...

@pytest.mark.versions(9, 8)
def test_of_two_versions(engine): ...

def test_plain(engine): ...
"""


def test_the_versions_of_a_test_are_read():
    """The mark `each_version` has no arguments and is found beside others; numbers of `versions` are sorted."""
    found = {test["name"]: (test["each_version"], test["versions"]) for test in read_suite_module(MODULE)["tests"]}
    assert found == {"test_marked": (True, []), "test_of_two_versions": (False, [8, 9]), "test_plain": (False, [])}
