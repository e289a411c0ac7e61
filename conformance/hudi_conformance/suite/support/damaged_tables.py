"""Damages to copies of golden tables: a query afterwards has the same rows as before, or is an error."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.answers import Answers
from hudi_conformance.suite.support.golden_queries import Snapshots, check_rows, read_snapshots
from hudi_conformance.suite.support.programs.table_programs import Budget
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: Paths and their damaged contents; None removes the file.
Changes = dict[Path, bytes | None]


def check_damages(
    engine: Client, budget: Budget, area: str, damages: Callable[[Path], Iterable[Changes]], *features: str
) -> None:
    """Apply each damage to copies of golden tables: the snapshot has the same rows as before, or is an error.

    Each damage is repaired, so that all tests share the copies and the snapshots before the damage.

    Args:
        engine: the engine that reads the tables.
        budget: how many tables it reads.
        area: the first part of the ids of the tables.
        damages: the damages to the table in a folder. The test is skipped if no table has any.
        features: further features that the engine must offer.
    """
    applied = sum(
        check_damages_of_table(engine, name, uri, every, damages)
        for name, uri, every in read_snapshots(engine, budget, area, *features, shared=_copies()[1])
    )
    expect_damaged(applied, "file that could be damaged in this way")


def check_damages_of_table(
    engine: Client, name: str, uri: str, every: pa.Table, damages: Callable[[Path], Iterable[Changes]]
) -> int:
    """Apply each damage to the table `uri`, whose snapshot is `every`, and undo it; return the number of damages."""
    applied = 0
    for changes in damages(table_folder(uri)):
        with _damaged(changes):
            found = Answers(engine).ask(uri, Query())
        if found is not None:
            check_rows(found, every, f"{name}, {', '.join(p.name for p in changes)}")
        applied += 1
    return applied


@cache
def _copies() -> tuple[tempfile.TemporaryDirectory[str], Snapshots]:
    """The copies of golden tables that all tests of the process share, in a folder that is deleted when the process ends."""
    scratch = tempfile.TemporaryDirectory(prefix="hudi-conformance-golden-")
    return scratch, Snapshots(Path(scratch.name))


@contextmanager
def _damaged(changes: Changes) -> Iterator[None]:
    """The files have these contents, and afterwards those from before, with the times of change from before."""
    before = {path: (path.read_bytes(), path.stat()) if path.is_file() else None for path in changes}
    store_contents(changes)
    try:
        yield
    finally:
        store_contents({path: old and old[0] for path, old in before.items()})
        for path, old in before.items():
            if old is not None:
                os.utime(path, ns=(old[1].st_atime_ns, old[1].st_mtime_ns))


def expect_damaged(damaged: int, what: str) -> None:
    """Skip a test that has damaged nothing."""
    if not damaged:
        pytest.skip(f"the tables that were read have no {what}")


def store_contents(contents: Changes) -> None:
    """Give each of these files its content; None removes the file."""
    for path, data in contents.items():
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (path.parent / f".{path.name}.crc").unlink(missing_ok=True)  # a copy of the file has its own
