"""Lock sections of services: from reading the timeline to the plan, and at completion.

Only the reference can be observed, from inside its process.
"""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.recorded_locks import START, RecordingStorage
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_reference import create_table, open_table, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.services.clean.clean import execute_clean, schedule_clean
from hudi_reference.services.rollback.restore import execute_restore, schedule_restore
from hudi_reference.services.rollback.rollback import execute_rollback, schedule_rollback
from hudi_reference.storage import MemoryStorage
from hudi_reference.tables import WritableTable


def open_recorded_table() -> tuple[WritableTable, RecordingStorage, list[str]]:
    """Return a table in memory with four commits, its storage, and the requested times."""
    spec = Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", False).spec()
    storage = RecordingStorage(MemoryStorage(), 1_000_000)
    options = {"storage": storage, "clock": ManualClock(START), "ids": SeededIds(1)}
    create_table("memory:///watched", name="watched", schema=dict(spec.schema), record_key=("id",), **options)  # type: ignore[arg-type]
    table = open_table("memory:///watched", **options)  # type: ignore[arg-type]
    times = [table.upsert(as_arrow([row("a", n, f"value {n}")])) for n in range(4)]
    return table, storage, times


def requests_of(storage: RecordingStorage, act: Callable[[], object]) -> list[tuple[str, str | None]]:
    """Return the requests to storage that an act makes, each with the owner of the lock at that time."""
    before = len(storage.requests)
    act()
    return storage.requests[before:]


def _clean(table: WritableTable, _: list[str]) -> str | None:
    return schedule_clean(table, {"hoodie.clean.commits.retained": "1"})


def _rollback(table: WritableTable, times: list[str]) -> str | None:
    return schedule_rollback(table, times[-1])


def _restore(table: WritableTable, times: list[str]) -> str | None:
    return schedule_restore(table, times[1])


SERVICES = pytest.mark.parametrize(
    ("schedule", "execute"),
    [(_clean, execute_clean), (_rollback, execute_rollback), (_restore, execute_restore)],
    ids=["clean", "rollback", "restore"],
)
Schedule = Callable[[WritableTable, list[str]], str | None]
Execute = Callable[[WritableTable, str], str]


@SERVICES
@pytest.mark.needs("service.clean", "service.rollback", "service.restore")
@pytest.mark.requirements("SVC-002", "SVC-004")
def test_a_plan_is_made_and_published_in_one_lock_section(engine: Client, schedule: Schedule, execute: Execute) -> None:
    """SVC-002: from its first read of the table to the publication of the plan a service holds the lock without
    interruption.
    """
    only_in_process(engine)
    table, storage, times = open_recorded_table()
    requests = requests_of(storage, lambda: schedule(table, times))
    published = next(n for n, (what, _) in enumerate(requests) if what.endswith(".requested") and "create" in what)
    owners = {owner for _, owner in requests[: published + 1]}
    assert len(owners) == 1 and None not in owners
    assert table.timeline.pending[-1].requested in requests[published][0]


@SERVICES
@pytest.mark.needs("service.clean", "service.rollback", "service.restore")
@pytest.mark.requirements("SVC-001", "SVC-003")
def test_the_lock_is_held_for_completion_only(engine: Client, schedule: Schedule, execute: Execute) -> None:
    """SVC-003: the completed file is created under the lock; files are deleted without it, so that no other process has to
    wait.
    """
    only_in_process(engine)
    table, storage, times = open_recorded_table()
    requested = schedule(table, times)
    assert requested is not None
    requests = requests_of(storage, lambda: execute(table, requested))
    completing = [owner for what, owner in requests if what.startswith(f"create .hoodie/timeline/{requested}_")]
    deleting = [owner for what, owner in requests if what.startswith("delete") and what.endswith(".parquet")]
    assert len(completing) == 1 and None not in completing
    assert deleting and set(deleting) == {None}


@pytest.mark.needs("service.savepoint")
@pytest.mark.requirements("SVC-003")
def test_a_savepoint_is_checked_and_completed_under_the_lock(engine: Client) -> None:
    """SVC-003: the files are checked under the same lock under which cleans are planned."""
    only_in_process(engine)
    table, storage, times = open_recorded_table()
    requests = requests_of(storage, lambda: savepoint(table, times[0]))
    (place,) = [n for n, (what, _) in enumerate(requests) if f"create .hoodie/timeline/{times[0]}_" in what]
    held = [what for what, owner in requests[:place] if owner is not None and owner == requests[place][1]]
    assert any(what.startswith("names .hoodie/timeline") for what in held)
