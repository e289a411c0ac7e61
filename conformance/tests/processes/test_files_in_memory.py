"""Temporary files of a run are in memory if there is room, and if the user has not chosen another folder."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from hudi_conformance.processes import session
from hudi_conformance.processes.session import FREE_MEMORY, PREFIX, files_in_memory, memory_folder


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in place of that of Linux, with room, for a user who has chosen none."""
    monkeypatch.setattr(session, "MEMORY", tmp_path)
    monkeypatch.setenv("HUDI_CONFORMANCE_LASTING_TMPDIR", "/tmp")
    _room(monkeypatch, FREE_MEMORY)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def _room(patch: pytest.MonkeyPatch, free: int, flags: int = 0) -> None:
    patch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=free >> 12, f_frsize=1 << 12, f_flag=flags))


def test_a_block_has_a_folder_of_its_own_and_deletes_it(memory: Path) -> None:
    """A file that is left in the folder of the block is deleted with it; what the block found is there again."""
    before = os.environ.get("TMPDIR"), tempfile.gettempdir()
    with files_in_memory():
        (folder,) = memory.iterdir()
        assert folder.name.startswith(PREFIX)
        assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(folder)
        Path(tempfile.mkdtemp(), "left").touch()
    assert (os.environ.get("TMPDIR"), tempfile.gettempdir()) == before


def test_a_folder_that_the_user_has_chosen_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """With TMPDIR nothing is put into memory."""
    monkeypatch.setenv("HUDI_CONFORMANCE_LASTING_TMPDIR", "/var/tmp")
    assert memory_folder() is None


def test_nothing_is_put_into_a_memory_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers mostly have 64 MiB there, from which no library may be loaded."""
    assert memory_folder() is not None
    _room(monkeypatch, FREE_MEMORY - 4096)
    assert memory_folder() is None
    _room(monkeypatch, FREE_MEMORY, os.ST_NOEXEC)
    assert memory_folder() is None


def test_systems_without_the_folder_do_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only Linux has it."""
    monkeypatch.undo()
    monkeypatch.setattr(session, "MEMORY", tmp_path / "missing")
    assert memory_folder() is None
