"""After each case that wrote, the tables that the engine left are validated."""

from importlib import import_module
from pathlib import Path

import pytest

from hudi_conformance.runner import golden_cases, python_cases, run_report, selection  # noqa: F401 - see test_plugin
from hudi_conformance.validator.written_tables import WrittenTables

pytest_plugins = ["pytester"]

CONFTEST = "from hudi_conformance.suite.conftest import engine, new_uri, pytest_generate_tests, reader, writer"
PROGRAM = """
from pathlib import Path
import pyarrow as pa
import pytest
from hudi_conformance.contract.messages import TableSpec
SCHEMA = {"type": "record", "name": "t", "fields": [{"name": "id", "type": "string"}]}

def damaged(engine, uri):
    engine.create(uri, TableSpec("t", "COPY_ON_WRITE", SCHEMA, ("id",)))
    engine.write(uri, "insert", pa.table({"id": ["a"]}))
    next(Path(uri.removeprefix("file://")).glob("*.parquet")).unlink()

@pytest.mark.requirements("TL-036")
def test_that_writes(engine, new_uri):
    '''A damage that no assertion sees.'''
    damaged(engine, new_uri())

@pytest.mark.requirements("TL-036")
@pytest.mark.leaves_damage("it deletes a file")
def test_that_damages(engine, new_uri):
    '''A damage on purpose.'''
    damaged(engine, new_uri())

@pytest.mark.requirements("TL-036")
def test_that_reads_nothing(engine, new_uri):
    '''Not a table.'''
"""


def test_a_case_fails_whose_engine_left_a_table_that_is_not_sound(pytester: pytest.Pytester):
    """The failure has rule, path, expected and found; a test that damages its tables on purpose is not affected."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_program=PROGRAM)
    plugins = ("--disable-plugin-autoload", "-p", "hudi_conformance", "-p", "xdist", "-p", "no:cacheprovider")
    done = pytester.runpytest_inprocess(*plugins, "--engine=reference")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(
        ["*the engine left a table that is not sound*", "*TL-036  data-lost*", "*expected*", "*found*no file*"]
    )


def test_a_table_is_validated_again_only_if_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tables that several cases read are examined once; a table that is not there is not examined."""
    import pyarrow as pa

    from hudi_reference import create_table

    validation = import_module("hudi_conformance.validator.validation")  # not the one of the run within this process

    uri = (tmp_path / "t").as_uri()
    assert WrittenTables().problems(uri) == ()
    schema = {"type": "record", "name": "t", "fields": [{"name": "id", "type": "string"}]}
    table = create_table(uri, name="t", schema=schema, record_key=["id"])
    table.insert(pa.table({"id": ["a"]}))
    runs, plain = [], validation.validate
    monkeypatch.setattr(validation, "validate", lambda *given: runs.append(1) or plain(*given))
    tables = WrittenTables()
    assert tables.problems(uri) == () and tables.problems(uri) == ()
    assert len(runs) == 1
    next((tmp_path / "t").glob("*.parquet")).unlink()
    assert "TL-036" in tables.problems(uri)[0]
    assert len(runs) == 2
