"""Which queries read slices in threads: those that wait for a storage or for large files."""

from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from hudi_reference import WritableTable, create_table
from hudi_reference.query import plan as plans
from hudi_reference.query.plan import use_threads
from hudi_reference.storage import MemoryStorage, Storage

SCHEMA = {"type": "record", "name": "t", "fields": [{"name": "id", "type": "string"}, {"name": "p", "type": "string"}]}


@pytest.fixture
def table(tmp_path: Path) -> WritableTable:
    """A table of three small files."""
    made = create_table(str(tmp_path), name="t", schema=SCHEMA, record_key=("id",), partition=("p",))
    made.insert(pa.table({"id": ["1", "2", "3"], "p": ["a", "b", "c"]}))
    return made


def test_small_local_files_are_read_in_one_thread(table: WritableTable) -> None:
    """Threads that read small files, which are local or in memory, mostly wait for Python's lock."""
    groups = table.file_groups()
    for storage in (table.storage, MemoryStorage()):
        assert not use_threads(storage, groups.latest_slices, groups.committed_files().spans)


@pytest.mark.parametrize("change", ["another storage", "large files", "files that the timeline does not describe"])
def test_other_files_are_read_in_threads(table: WritableTable, change: str) -> None:
    """A reader waits for other storages, and large files or those of unknown size may take long."""
    groups = table.file_groups()
    storage, committed = table.storage, groups.committed_files().spans
    if change == "another storage":
        storage = cast(Storage, object())  # the query only asks for its type
    elif change == "large files":
        committed = dict.fromkeys(committed, ((0, plans.SMALL_FILE),))
    else:
        committed = {}
    assert use_threads(storage, groups.latest_slices, committed)
    assert not use_threads(storage, groups.latest_slices[:1], committed)


def test_a_query_in_threads_and_one_without_give_the_same_rows(table: WritableTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice changes no row."""
    alone = table.snapshot()
    monkeypatch.setattr(plans, "SMALL_FILE", 0)
    assert table.snapshot().equals(alone)
