"""Golden cases of one table share a copy only while it is unchanged."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from hudi_conformance.cases.case import Case, find_cases
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.runner.table_copies import TableCopies


@pytest.fixture
def case() -> Case:
    """A golden case with a table."""
    return next(case for case in find_cases(fixtures_root() / "queries") if case.table is not None)


def folder_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


def write_a_file(table: Path) -> None:
    (table / "new").write_bytes(b"")


def delete_a_file(table: Path) -> None:
    (table / ".hoodie" / "hoodie.properties").unlink()


def overwrite_in_place(table: Path) -> None:
    """The same size, and the same time of modification."""
    path = table / ".hoodie" / "hoodie.properties"
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"?")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def make_a_folder(table: Path) -> None:
    (table / ".hoodie" / "empty").mkdir()


def test_cases_of_an_unchanged_table_share_a_copy(case: Case) -> None:
    """The second case of a table gets the copy of the first, which has the files of the golden table."""
    copies = TableCopies()
    first = copies.find_copy("x", case)
    assert copies.find_copy("x", replace(case, id="another.case")) == first
    files = {path.relative_to(case.subject): path.read_bytes() for path in case.subject.rglob("*") if path.is_file()}
    folder = folder_of(first)
    assert {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files
    copies.close()
    assert not folder.exists()


@pytest.mark.parametrize("change", [write_a_file, delete_a_file, overwrite_in_place, make_a_folder])
def test_a_changed_copy_is_not_used_again(case: Case, change: Callable[[Path], None]) -> None:
    """Whatever an engine does to its copy, the next case has the golden table."""
    copies = TableCopies()
    first = copies.find_copy("x", case)
    change(folder_of(first))
    second = copies.find_copy("x", case)
    assert second != first
    assert not folder_of(first).exists()
    assert (folder_of(second) / ".hoodie" / "hoodie.properties").read_bytes() == (
        case.subject / ".hoodie" / "hoodie.properties"
    ).read_bytes()
    copies.close()


def test_engines_share_no_copy(case: Case) -> None:
    """A change by one engine cannot affect another one, even while both run."""
    copies = TableCopies()
    assert copies.find_copy("x", case) != copies.find_copy("y", case)
    copies.close()


def test_the_number_of_copies_is_limited() -> None:
    """The oldest copy is deleted, so that a run needs little space on the disk."""
    tables = {case.subject: case for case in find_cases(fixtures_root() / "queries") if case.table is not None}
    copies = TableCopies(most=2)
    first, *_, last = [folder_of(copies.find_copy("x", case)) for case in list(tables.values())[:3]]
    assert not first.exists()
    assert last.exists()
    copies.close()
