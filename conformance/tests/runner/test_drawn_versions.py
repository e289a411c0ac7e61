"""Python cases that hold for each table version draw the version of their tables."""

import json
from pathlib import Path

import pytest

from hudi_conformance.runner import golden_cases, python_cases, run_report, selection  # noqa: F401 - see test_plugin

pytest_plugins = ["pytester"]

CONFTEST = "from hudi_conformance.suite.conftest import engine, histories, new_uri, pytest_generate_tests, reader, writer"
PROGRAM = """
from pathlib import Path
import pytest
from hudi_conformance.contract.messages import TableSpec
SCHEMA = {"type": "record", "name": "t", "fields": [{"name": "id", "type": "string"}]}
SEEN = set()

def version_of(engine, uri):
    engine.create(uri, TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",)))
    text = (Path(uri.removeprefix("file://")) / ".hoodie" / "hoodie.properties").read_text()
    return next(line for line in text.splitlines() if line.startswith("hoodie.table.version=")).partition("=")[2]

@pytest.mark.needs("create")
@pytest.mark.parametrize("n", range(12))
@pytest.mark.requirements("PROP-001")
def test_drawn(engine, new_uri, n):
    '''The version is that of the client.'''
    assert version_of(engine, new_uri()) == str(engine.table_version)

@pytest.mark.each_version
@pytest.mark.parametrize("n", range(6))
@pytest.mark.requirements("PROP-001")
def test_drawn_for_a_table_of_its_own(engine, n):
    '''A test with the mark makes its tables itself.'''
    assert engine.table_version in (8, 9)

@pytest.mark.needs("create")
@pytest.mark.parametrize("n", range(6))
@pytest.mark.requirements("PROP-001")
@pytest.mark.versions(8)
def test_of_one_version(engine, new_uri, n):
    '''The version is the named one.'''
    assert version_of(engine, new_uri()) == "8"

@pytest.mark.parametrize("n", range(6))
@pytest.mark.requirements("PROP-001")
def test_that_does_not_create(engine, new_uri, n):
    '''The version is the first one.'''
    assert version_of(engine, new_uri()) == "8"

@pytest.mark.needs("create", "write.upsert")
@pytest.mark.requirements("PROP-001")
@pytest.mark.parametrize("n", range(2))
def test_with_a_shared_table(engine, histories, new_uri, n):
    '''The version is the first one, or the one that the run names.'''
    uri = histories.copy(engine, 1, new_uri())
    assert f"hoodie.table.version={engine.table_version}" in Path(
        uri.removeprefix("file://"), ".hoodie", "hoodie.properties").read_text()

@pytest.mark.needs("create", "write.upsert")
@pytest.mark.requirements("PROP-001")
@pytest.mark.versions(8)
def test_of_one_version_with_a_shared_table(engine, histories, new_uri):
    '''The table that other cases share at version 9 is not used.'''
    uri = histories.copy(engine, 1, new_uri())
    assert "hoodie.table.version=8" in Path(uri.removeprefix("file://"), ".hoodie", "hoodie.properties").read_text()
"""
#: An engine that does not know version 9.
OLDER = """
from hudi_conformance.engines.reference.engine import Reference
PLAIN = Reference.hello
def hello(self):
    from dataclasses import replace
    said = PLAIN(self)
    return replace(said, features=said.features - {"create.table-version.9", "table-version.9"})
Reference.hello = hello
"""


def versions_of_run(pytester: pytest.Pytester, conftest: str = "", *options: str) -> dict[str, list[int]]:
    """Run the program; the versions of each result by case."""
    pytester.makeconftest(CONFTEST + "\n" + conftest)
    pytester.makepyfile(test_program=PROGRAM)
    plugins = ("--disable-plugin-autoload", "-p", "hudi_conformance", "-p", "no:cacheprovider")
    done = pytester.runpytest_subprocess(*plugins, "--engine=reference", "--report=report", *options)
    done.assert_outcomes(passed=33)
    lines = (Path(pytester.path) / "report" / "report.jsonl").read_text().splitlines()
    return {found["case"]: found["versions"] for found in map(json.loads, lines)}


def test_the_version_is_drawn_by_the_id_of_the_case(pytester: pytest.Pytester):
    """Both versions are drawn, the same in each run; tests with a mark, and those that create no table by themselves, are not
    drawn. The result names the version.
    """
    found = versions_of_run(pytester)
    assert {tuple(versions) for case, versions in found.items() if "test_drawn" in case} == {(8,), (9,)}
    assert {tuple(versions) for case, versions in found.items() if "test_drawn" not in case} == {(8,)}
    assert versions_of_run(pytester) == found


def test_an_engine_without_version_9_creates_tables_of_version_8(pytester: pytest.Pytester):
    """The draw follows the features of the engine."""
    assert set(map(tuple, versions_of_run(pytester, OLDER).values())) == {(8,)}


def test_a_run_names_the_version(pytester: pytest.Pytester):
    """With --table-version each case that holds for each version makes tables of it; the others keep theirs."""
    for named in (8, 9):
        found = versions_of_run(pytester, "", f"--table-version={named}")
        assert {tuple(versions) for case, versions in found.items() if "test_drawn" in case} == {(named,)}
        shared = {tuple(versions) for case, versions in found.items() if "test_with_a_shared_table" in case}
        assert shared == {(named,)}
        each = ("test_drawn", "test_with_a_shared_table")
        others = {case: versions for case, versions in found.items() if not case.partition("::")[2].startswith(each)}
        assert {tuple(versions) for versions in others.values()} == {(8,)}
    assert set(map(tuple, versions_of_run(pytester, OLDER, "--table-version=9").values())) == {(8,)}
