"""`hudi-conformance migrate`: what it shows, and when it changes the table."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hudi_conformance.cli import app
from hudi_reference import create_table
from hudi_reference.layout.properties import read_properties
from hudi_reference.storage import LocalStorage

FIELDS = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of version 8."""
    schema = {"type": "record", "name": "t", "namespace": "hoodie.t", "fields": FIELDS}
    create_table(tmp_path.as_uri(), name="t", schema=schema, record_key=["id"], ordering=["ts"])
    return tmp_path


def test_a_migration_is_shown_and_made_with_yes(table: Path) -> None:
    """COMPAT-009: without --yes each change is shown and none is made; with it the same changes are made."""
    shown = CliRunner().invoke(app, ["migrate", str(table), "--to", "9"])
    assert shown.exit_code == 0
    lines = shown.output.splitlines()
    assert {"set      hoodie.table.version=9", "set      hoodie.table.ordering.fields=ts"} < set(lines)
    assert "unset    hoodie.table.precombine.field" in lines
    assert read_properties(LocalStorage(table)).version == 8
    done = CliRunner().invoke(app, ["migrate", str(table), "--to", "9", "--yes"])
    assert done.output.splitlines() == lines[:-1]
    assert read_properties(LocalStorage(table)).version == 9


def test_without_a_version_the_table_stays(table: Path) -> None:
    """COMPAT-005: a table of version 8 or 9 is not migrated unless a version is given; other versions are refused."""
    for _ in range(2):
        before = read_properties(LocalStorage(table)).version
        said = CliRunner().invoke(app, ["migrate", str(table), "--yes"])
        assert "has this version already" in said.output
        assert read_properties(LocalStorage(table)).version == before
        CliRunner().invoke(app, ["migrate", str(table), "--to", "9", "--yes"])
    assert CliRunner().invoke(app, ["migrate", str(table), "--to", "7", "--yes"]).exit_code != 0


@pytest.mark.parametrize(("place", "found"), [("nothing", "nothing; the path exists up to"), ("file", "a file")])
def test_a_path_without_a_table_is_named(tmp_path: Path, place: str, found: str) -> None:
    """As by the other commands: the path, what is there, and what to do."""
    (tmp_path / "file").write_text("x")
    said = CliRunner().invoke(app, ["migrate", str(tmp_path / place)])
    assert said.exit_code == 1
    assert f"TableNotFound: {tmp_path / place}: there is no table at this path" in said.output and found in said.output
