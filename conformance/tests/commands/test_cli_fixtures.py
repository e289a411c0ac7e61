"""The golden cases can be listed, checked and taken away by people who never run the suite."""

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tiny_cases import Casebook
from typer.testing import CliRunner

from hudi_conformance.cases import case
from hudi_conformance.cli import app
from hudi_conformance.commands.suite import fixtures


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Casebook:
    """A folder of cases in the place of the shipped ones."""
    found = Casebook(tmp_path / "fixtures")
    for module in (case, fixtures):
        monkeypatch.setattr(module, "fixtures_root", lambda: found.root)
    return found


def call(*arguments: object) -> Any:
    """`hudi-conformance fixtures ...` in this process."""
    return CliRunner().invoke(app, ["fixtures", *map(str, arguments)], env={"COLUMNS": "200"})


def test_list_shows_what_matches(book: Casebook):
    """Id, producer and rules of each case; none is an error of the pattern."""
    book.add("merge.one")
    book.add("log.two", requirements=["LF-012"])
    assert "merge.one" in call("list").stdout
    chosen = call("list", "--only", "LF-*")
    assert "log.two" in chosen.stdout and "merge.one" not in chosen.stdout and chosen.exit_code == 0
    assert call("list", "--only", "nothing").exit_code == 2


def test_the_shipped_cases_are_whole():
    """Shape, files, ids, rules, errata and size of every committed case."""
    assert list(fixtures.problems(case.fixtures_root())) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"requirements": ["MRG-999"]}, "requirements: there is no MRG-999"),
        ({"errata": ["ER-999"]}, "errata: there is no ER-999"),
        ({"id": "log.one"}, "id: the folder of log.one is log/one/, found merge/one/"),
        ({"needs": "x"}, "needs: 'x' is not of type 'array'"),
        ({"rows": [{"id": "a"}]}, "rows.json: rows.0: has the columns ['id']"),
        ({"table": "../../.."}, "table: leads outside the fixtures"),
    ],
)
def test_verify_names_what_is_wrong(book: Casebook, changes: dict[str, Any], says: str):
    """Every kind of mistake that the file itself can make is found before a run."""
    book.add("merge.good")
    book.add("merge.one", **changes)
    found = call("verify")
    assert found.exit_code == 1 and says in found.stderr


def test_verify_finds_an_id_that_is_used_twice(book: Casebook):
    """An id leads to one case."""
    book.add("merge.one")
    book.add("merge.two", id="merge.one")
    assert "is the id of" in call("verify").stderr


def test_an_export_is_usable_without_the_suite(book: Casebook, tmp_path: Path):
    """A folder with all cases and the schemas of their files; nothing that is there is overwritten."""
    book.add("merge.one")
    out = tmp_path / "out"
    assert call("export", out).exit_code == 0
    assert json.loads((out / "merge" / "one" / "case.json").read_text())["id"] == "merge.one"
    assert (out / "schemas" / "case.json").is_file()
    assert call("export", out).exit_code == 2


def test_an_archive_is_the_same_every_time(book: Casebook, tmp_path: Path):
    """It can be pinned by its checksum, which lies beside it."""
    book.add("merge.one")
    for name in ("a.tar.gz", "b.tar.gz"):
        assert call("export", tmp_path / name).exit_code == 0
    first, second = (tmp_path / n for n in ("a.tar.gz", "b.tar.gz"))
    assert first.read_bytes() == second.read_bytes()
    assert hashlib.sha256(first.read_bytes()).hexdigest() == (tmp_path / "a.tar.gz.sha256").read_text().split()[0]
    with tarfile.open(first) as tar:
        assert {"fixtures/merge/one/case.json", "fixtures/schemas/case.json"} <= set(tar.getnames())


def test_regenerate_needs_a_checkout(book: Casebook):
    """An installed package has no recipes, and says so."""
    assert "needs a source checkout" in call("regenerate").stderr
