"""Markers: an empty file precedes each data file of a write, and none is left once the write has completed.

Only the reference can be stopped between two requests, from inside its process.
"""

from collections.abc import Mapping
from typing import Literal

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import Crashed, CrashingStorage, crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.recorded_locks import START
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import CAPTURED
from hudi_reference import create_table, open_table, rollback
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.storage import MemoryStorage
from hudi_reference.tables import WritableTable

NEEDS = pytest.mark.needs("write.upsert", "service.rollback")

TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]


def open_on_day(storage: CrashingStorage | MemoryStorage, day: int) -> WritableTable:
    """Return the table as opened by a process that starts this many days after its creation."""
    table: WritableTable = open_table(
        "memory:///marked", storage=storage, clock=ManualClock(START + day * 86_400_000), ids=SeededIds(day)
    )
    return table


def storage_with_row(type: TableType, version: int, properties: Mapping[str, str] | None = None) -> MemoryStorage:
    """Return the storage of a table of that version with one row."""
    storage, spec = MemoryStorage(), Program(type, "COMMIT_TIME_ORDERING", False).spec()
    create_table(
        "memory:///marked", name="marked", schema=dict(spec.schema), record_key=("id",), table_type=spec.type,
        version=version, properties=properties, storage=storage, clock=ManualClock(START), ids=SeededIds(0),
    )  # fmt: skip
    open_on_day(storage, 1).upsert(as_arrow([row("a", 1, "before")]))
    return storage


def stopped_writes(type: TableType, version: int) -> list[Crashed]:
    """Return every state in which a crash may leave an upsert that changes the row and adds another."""
    late = as_arrow([row("a", 2, "late"), row("b", 2, "late and new")])
    return list(crash_states(storage_with_row(type, version), lambda storage: open_on_day(storage, 2).upsert(late)))


def names_below(storage: MemoryStorage, folder: str) -> set[str]:
    """Return the paths below a folder."""
    return {info.path.removeprefix(f"{folder}/") for info in storage.list(folder)}


def data_files(storage: MemoryStorage) -> set[str]:
    """Return all files outside the meta folder, except partition metadata files."""
    return {info.path for info in storage.list(skip=".hoodie") if ".hoodie_partition" not in info.path}


@NEEDS
@BOTH_TYPES
@pytest.mark.requirements("OCC-027", "LAY-011")
@pytest.mark.versions(8, 9)
def test_markers_precede_data_files(engine: Client, type: TableType, drawn_version: int) -> None:
    """LAY-011: wherever a writer crashes, each of its files has a marker below the meta folder: MERGE for a base file that
    replaces an earlier one, CREATE for any other. The markers are deleted once the write has completed.
    """
    only_in_process(engine)
    before = data_files(storage_with_row(type, drawn_version))
    rewritten = "MERGE" if type == "COPY_ON_WRITE" else "CREATE"
    points = stopped_writes(type, drawn_version)
    for point in points:
        marked = dict(name.split(".marker.") for name in names_below(point.storage, ".hoodie/.temp") if ".marker." in name)
        paths = {path.split("/", 1)[1]: kind for path, kind in marked.items()}
        completed = len([name for name in names_below(point.storage, ".hoodie/timeline") if "_" in name]) == 2
        written = data_files(point.storage) - before
        assert completed or written <= paths.keys(), point
        assert sorted(paths.values()) in ([], ["CREATE"], [rewritten], sorted(["CREATE", rewritten])), point
        if not completed and len(written) == 2:
            assert sorted(paths.values()) == sorted(["CREATE", rewritten]), point
    assert points[-1].ended and not names_below(points[-1].storage, ".hoodie/.temp")


@NEEDS
@BOTH_TYPES
@pytest.mark.requirements("OCC-027")
@pytest.mark.versions(8, 9)
def test_a_rollback_removes_all_files_of_a_crashed_write(engine: Client, type: TableType, drawn_version: int) -> None:
    """OCC-027: after a rollback no file of the write is left, including files that no metadata names, and no marker."""
    only_in_process(engine)
    before = data_files(storage_with_row(type, drawn_version))
    rolled_back = 0
    for point in stopped_writes(type, drawn_version):
        table = open_on_day(point.storage, 3)
        if table.timeline.pending:
            (failed,) = table.timeline.pending
            rollback(table, failed.requested)
            assert data_files(point.storage) == before, point
            assert not names_below(point.storage, ".hoodie/.temp"), point
            assert table.snapshot(["value"]).to_pylist() == [{"value": "before"}], point
            rolled_back += 1
    assert rolled_back


@NEEDS
@pytest.mark.needs("copy-on-write", "read.cdc")
@pytest.mark.requirements("OCC-027", "TYP-004")
@pytest.mark.versions(8, 9)
def test_markers_precede_change_files(engine: Client, drawn_version: int) -> None:
    """OCC-027: wherever a writer of a table with change capture crashes, its change file has a marker of the kind CREATE: it is
    a file of the write like any other, and replaces none.
    """
    only_in_process(engine)
    late, states = as_arrow([row("a", 2, "late")]), 0
    storage = storage_with_row("COPY_ON_WRITE", drawn_version, CAPTURED)
    for point in crash_states(storage, lambda storage: open_on_day(storage, 2).upsert(late)):
        completed = len([name for name in names_below(point.storage, ".hoodie/timeline") if "_" in name]) == 2
        for change in (path for path in data_files(point.storage) if path.endswith(".cdc") and not completed):
            marked = {name.split("/", 1)[1] for name in names_below(point.storage, ".hoodie/.temp")}
            assert f"{change}.marker.CREATE" in marked, point
            states += 1
    assert states
