"""Races of other processes with the local storage: folders that become links, and folders that come and go."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from hudi_reference.errors import StorageFault, SymbolicLinkInTable
from hudi_reference.storage import LocalStorage, ObjectChanged, ObjectExists, SystemCalls

PRECIOUS = b"of another program"


def names_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The base path of a table with a folder, and a folder outside of it with files of the same names."""
    table, outside = tmp_path / "table", tmp_path / "outside"
    for folder in (table / "a" / "p", outside / "p"):
        folder.mkdir(parents=True)
        (folder / "x").write_bytes(PRECIOUS if folder.is_relative_to(outside) else b"of the table")
    return table, outside


OPERATIONS: dict[str, Callable[[LocalStorage], object]] = {
    "get": lambda storage: storage.get("a/p/x"),
    "open": lambda storage: bytes(storage.open("a/p/x").read()),
    "head": lambda storage: storage.head("a/p/x"),
    "list": lambda storage: storage.list("a"),
    "names": lambda storage: storage.names("a/p"),
    "put": lambda storage: storage.put("a/p/x", b"mine"),
    "create": lambda storage: storage.create("a/p/new", b"mine"),
    "replace": lambda storage: storage.replace("a/p/x", b"mine", storage.head("a/p/x").version),
    "delete": lambda storage: storage.delete("a/p/x"),
}


class Swapping(SystemCalls):
    """Puts a link in the place of the folder `a` before a call."""

    def __init__(self, table: Path, outside: Path, at: int) -> None:
        self.table, self.outside, self.left = table, outside, at

    def __getattribute__(self, name: str):
        found = super().__getattribute__(name)
        if name in vars(SystemCalls) and not name.startswith("_"):
            self.left -= 1
            if self.left == 0:
                (self.table / "a").rename(self.table.with_name("moved"))
                (self.table / "a").symlink_to(self.outside)
        return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_folder_that_becomes_a_link_before_any_call_is_not_followed(tmp_path: Path, name: str) -> None:
    """LAY-005: at whichever system call of an operation another process puts a link in the place of a folder, nothing outside
    is read, listed, written or deleted."""
    for call in range(1, 60):
        table, outside = tmp_path / f"{call}" / "table", tmp_path / f"{call}" / "outside"
        for folder, text in ((table / "a" / "p", b"of the table"), (outside / "p", PRECIOUS)):
            folder.mkdir(parents=True)
            (folder / "x").write_bytes(text)
        (outside / "p" / "only outside").write_bytes(PRECIOUS)
        calls = Swapping(table, outside, call)
        result = None
        with suppress(SymbolicLinkInTable, FileNotFoundError, StorageFault):
            result = OPERATIONS[name](LocalStorage(table, calls=calls))
        assert names_of(outside) == {"p/x": PRECIOUS, "p/only outside": PRECIOUS}, call
        assert PRECIOUS not in (result if isinstance(result, bytes) else b"")
        assert "only outside" not in str(result)
        if calls.left > 0:
            break
    assert call > 5, "the operation has more calls than that"


@contextmanager
def swapping(table: Path, outside: Path) -> Iterator[None]:
    """A thread that puts a folder of the table and a link to the other folder in each other's place, over and over."""
    stop, link, aside = threading.Event(), table / "link", table.with_name("aside")
    link.symlink_to(outside)

    def swap() -> None:
        while not stop.is_set():
            for first, second in (((table / "a"), aside), (link, table / "a"), (table / "a", link), (aside, table / "a")):
                with suppress(OSError):
                    first.rename(second)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_thread_that_swaps_a_folder_for_a_link_gets_nothing(places: tuple[Path, Path], name: str) -> None:
    """LAY-005: the same with a thread that swaps them all the time."""
    table, outside = places
    storage, results = LocalStorage(table), []
    with swapping(table, outside):
        for _ in range(300):
            with suppress(SymbolicLinkInTable, FileNotFoundError, StorageFault, ObjectExists, ObjectChanged, AttributeError):
                results.append(OPERATIONS[name](storage))  # AttributeError: there is no version of a missing file
    assert names_of(outside) == {"p/x": PRECIOUS}
    assert PRECIOUS not in results


def test_a_pipe_is_no_object(tmp_path: Path) -> None:
    """A named pipe in the place of a file does not make a reader wait."""
    os.mkfifo(tmp_path / "x")
    storage = LocalStorage(tmp_path)
    with pytest.raises(FileNotFoundError):
        storage.get("x")
    assert storage.head("x") is None and storage.list() == [] and storage.names("") == ()


def test_folders_that_others_remove_are_made_again(tmp_path: Path) -> None:
    """LAY-004: a writer creates its file although others remove the folder as soon as it is empty."""
    storage, stop = LocalStorage(tmp_path), threading.Event()

    def remove() -> None:
        while not stop.wait(0.001):  # without a pause, a busy machine might never let the writer in
            with suppress(OSError):
                (tmp_path / "a" / "b").rmdir()
                (tmp_path / "a").rmdir()

    thread = threading.Thread(target=remove)
    thread.start()
    try:
        for number in range(300):
            storage.create(f"a/b/{number}", b"x")
            storage.delete(f"a/b/{number}")
    finally:
        stop.set()
        thread.join()
