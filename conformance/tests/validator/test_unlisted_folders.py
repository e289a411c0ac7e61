"""Folders that storage does not list: each is a finding, and nothing is concluded from what was not seen."""

import errno
import json
import os
from pathlib import Path

import deep_damage_samples as d
import pytest
import validated_tables_samples as t
from typer.testing import CliRunner

from hudi_conformance.cli import app
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import NOT_READ
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference.storage import LocalStorage, SystemCalls

#: The system call itself, which a test replaces.
_ENTRIES = SystemCalls.entries
ERRORS = (errno.EACCES, errno.EIO)


class NotListing(SystemCalls):
    """System calls that do not list one folder."""

    def __init__(self, folder: Path, error: int) -> None:
        self.inode, self.error = folder.stat().st_ino, error

    def entries(self, folder: int) -> "list[os.DirEntry[str]]":
        """Raises OSError for the folder."""
        if os.fstat(folder).st_ino == self.inode:
            raise OSError(self.error, "injected")
        return _ENTRIES(self, folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound table with indexes and several partitions."""
    return t.copy_to_folder(d.indexed_merge_on_read(), tmp_path_factory.mktemp("unlisted"))


def _folders(folder: Path) -> list[Path]:
    return [folder, *sorted(path for path in folder.rglob("*") if path.is_dir())]


@pytest.mark.parametrize("error", ERRORS)
def test_a_folder_that_cannot_be_listed_is_the_only_finding(folder: Path, error: int):
    """Whichever folder it is, it is named, the rest is examined, and no file is called lost or without an owner."""
    for unlisted in _folders(folder):
        storage = LocalStorage(folder, calls=NotListing(unlisted, error))
        found = validate(load_table(str(folder), storage=storage), ALL)
        assert not found.broken, (unlisted, found.broken)
        assert {one.meaning for one in found.findings} == {NOT_READ}, (unlisted, found.findings)
        name = str(unlisted.relative_to(folder)) if unlisted != folder else str(folder)
        assert name in {one.path for one in found.findings}, (unlisted, found.findings)
        assert not found.is_sound


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("command", ["validate", "inspect"])
def test_commands_show_the_folder_and_the_rest(folder: Path, command: str, error: int, monkeypatch: pytest.MonkeyPatch):
    """The answer is JSON with the path of the folder, and the exit code is 1."""
    for unlisted in (folder, folder / ".hoodie" / "timeline", folder / "x"):
        calls = NotListing(unlisted, error)
        monkeypatch.setattr(SystemCalls, "entries", lambda _, opened, calls=calls: calls.entries(opened))
        found = CliRunner().invoke(app, [command, str(folder), "--json"])
        monkeypatch.undo()
        assert found.exit_code == 1, (unlisted, found.output, found.exception)
        result = json.loads(found.stdout)
        named = [one["path"] for one in result["findings"]] if command == "validate" else [result["refused"]["path"]]
        assert (str(unlisted.relative_to(folder)) if unlisted != folder else str(folder)) in named, (unlisted, named)
