"""The golden cases can be listed, verified and exported without running the suite."""

import errno
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
    """A folder of cases instead of the shipped ones."""
    found = Casebook(tmp_path / "fixtures")
    for module in (case, fixtures):
        monkeypatch.setattr(module, "fixtures_root", lambda: found.root)
    return found


def call(*arguments: object) -> Any:
    """`hudi-conformance fixtures ...` in this process."""
    return CliRunner().invoke(app, ["fixtures", *map(str, arguments)], env={"COLUMNS": "200"})


def test_list_shows_matching_cases(book: Casebook):
    """Id, producer and rules of each case; a pattern without matches is an error."""
    book.add("merge.one")
    book.add("log.two", requirements=["LF-012"])
    assert "merge.one" in call("list").stdout
    chosen = call("list", "--only", "LF-*")
    assert "log.two" in chosen.stdout and "merge.one" not in chosen.stdout and chosen.exit_code == 0
    assert call("list", "--only", "nothing").exit_code == 2


def test_shipped_cases_are_valid():
    """Schema, files, ids, rules, errata and size of every committed case."""
    assert list(fixtures.find_problems(case.fixtures_root())) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"requirements": ["MRG-999"]}, "requirements: there is no MRG-999"),
        ({"errata": ["ER-999"]}, "errata: there is no ER-999"),
        ({"flags": ["boredom"]}, "flags: there is no boredom"),
        ({"id": "log.one"}, "id: the folder of log.one is log/one/, found merge/one/"),
        ({"needs": "x"}, "needs: 'x' is not of type 'array'"),
        ({"rows": [{"id": "a"}]}, "rows.json: rows.0: has the columns ['id']"),
        ({"table": "../../.."}, "table: leads outside the fixtures"),
    ],
)
def test_verify_reports_errors(book: Casebook, changes: dict[str, Any], says: str):
    """Every mistake in the file itself is found before a run."""
    book.add("merge.good")
    book.add("merge.one", **changes)
    found = call("verify")
    assert found.exit_code == 1 and says in found.stderr


def test_verify_reports_duplicate_ids(book: Casebook):
    """An id identifies one case."""
    book.add("merge.one")
    book.add("merge.two", id="merge.one")
    assert "is the id of" in call("verify").stderr


def test_export_is_complete(book: Casebook, tmp_path: Path):
    """A folder with all cases and their schemas; existing files are not overwritten."""
    book.add("merge.one")
    out = tmp_path / "out"
    assert call("export", out).exit_code == 0
    assert json.loads((out / "merge" / "one" / "case.json").read_text())["id"] == "merge.one"
    assert (out / "schemas" / "case.json").is_file()
    assert call("export", out).exit_code == 2


@pytest.mark.parametrize("name", ["out", "out.tar.gz"])
def test_an_export_that_fails_leaves_nothing(book: Casebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    """A disk that is full is one line of error, and the export can be repeated: no part of it has the name."""
    book.add("merge.one")
    folder = tmp_path / "exports"
    folder.mkdir()

    def full(source: object, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(source))

    with monkeypatch.context() as patched:
        patched.setattr("shutil.copyfile", full)
        patched.setattr(tarfile.TarFile, "addfile", full)
        failed = call("export", folder / name)
    assert failed.exit_code == 3 and failed.stderr.count("\n") == 1 and "No space left" in failed.stderr
    assert list(folder.iterdir()) == []
    assert call("export", folder / name).exit_code == 0


def test_archive_is_deterministic(book: Casebook, tmp_path: Path):
    """The archive can be pinned by its checksum, which is written next to it."""
    book.add("merge.one")
    for name in ("a.tar.gz", "b.tar.gz"):
        assert call("export", tmp_path / name).exit_code == 0
    first, second = (tmp_path / n for n in ("a.tar.gz", "b.tar.gz"))
    assert first.read_bytes() == second.read_bytes()
    assert hashlib.sha256(first.read_bytes()).hexdigest() == (tmp_path / "a.tar.gz.sha256").read_text().split()[0]
    with tarfile.open(first) as tar:
        assert {"fixtures/merge/one/case.json", "fixtures/schemas/case.json"} <= set(tar.getnames())


def test_regenerate_needs_a_checkout(book: Casebook):
    """An installed package has no recipes, and the message says so."""
    assert "needs a source checkout" in call("regenerate").stderr


def test_list_never_shortens_an_id(book: Casebook):
    """An id is copied to other commands; if the output is no terminal, each case is one line."""
    name = "merge." + ".".join(["a-long-name"] * 9)
    book.add(name)
    shown = CliRunner().invoke(app, ["fixtures", "list"], env={"COLUMNS": "80"}).stdout
    assert [line.split()[0] for line in shown.splitlines()] == ["case", name, "1"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot be read: No such file"),
        ("{", "is not JSON"),
        ("{}", "not a random program"),
        ("[]", "not a random program"),
    ],
)
def test_only_random_programs_are_added(book: Casebook, tmp_path: Path, text: str | None, says: str):
    """A missing file and other JSON are usage errors in one line, and nothing is added."""
    path = tmp_path / "program.json"
    if text is not None:
        path.write_text(text)
    found = call("add", path)
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1) and says in found.stderr
    assert not list(book.root.rglob("drawn.*"))


def test_regenerating_no_recipe_is_a_usage_error():
    """A mistyped pattern must not look like tables that are all the same."""
    assert call("regenerate", "--only", "nothing.like.this").exit_code == 2
