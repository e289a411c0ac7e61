"""Files and instants of crashed writers: a clean rolls back exactly these.

The reference is the writer that crashes; the engine under test cleans.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.concurrent.concurrent_table import ConcurrentTable
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, begin_write, send_heartbeat
from hudi_conformance.suite.support.concurrent.slow_writers import InterruptedLock, SlowWriter
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    create_updated_table,
    data_file_names,
    keep_commits,
    pending_actions,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import data_files, table_folder
from hudi_reference import WritableTable, clean, open_table, rollback
from hudi_reference.locks import InProcessLock
from hudi_reference.services.clustering.clustering import execute_clustering

CLEANS = pytest.mark.needs(*WRITES, "service.clean", "inspect.table")
REPLACED = pytest.mark.needs("timeline.replaced-groups")
INTERVAL, MISSES = "hoodie.client.heartbeat.interval_in_ms", "hoodie.client.heartbeat.tolerable.misses"
NewUri = Callable[[], str]
CHANGES = as_arrow([row("a", 90, "crashed"), row("c", 90, "crashed", "rio"), row("d", 90, "crashed")])
#: What the crashed writer was executing.
ACTIONS: dict[str, Callable[[WritableTable], object]] = {
    "upsert": lambda table: table.upsert(CHANGES),
    "delete": lambda table: table.delete(CHANGES),
    "insert overwrite": lambda table: table.insert_overwrite(CHANGES),
    "delete partition": lambda table: table.delete_partitions(["oslo"]),
}


class _Crashed(BaseException):
    """The writer has crashed."""


def crash_writer(uri: str, action: Callable[[WritableTable], object]) -> None:
    """A writer stores its files and crashes before it completes; it has never sent a heartbeat."""

    def crash() -> None:
        raise _Crashed

    with suppress(_Crashed):
        action(SlowWriter(uri, crash).table)


@CLEANS
@BOTH_TYPES
@pytest.mark.parametrize("action", [name if " " not in name else pytest.param(name, marks=REPLACED) for name in ACTIONS])
@pytest.mark.requirements("OCC-027", "TL-019", "TL-030", "SVC-006")
def test_a_clean_rolls_back_crashed_writers(engine: Client, new_uri: NewUri, type: str, action: str) -> None:
    """TL-019: whatever the writer was executing: no file, marker or instant of it is left, the rows are those before it, and
    the next write succeeds.
    """
    table = create_updated_table(engine, new_uri(), 1, type)
    before = data_files(table.uri)
    crash_writer(table.uri, ACTIONS[action])
    (failed,) = pending_actions(engine, table.uri)
    engine.service(table.uri, "clean", options={**SEVERAL_WRITERS, **keep_commits(10)})
    assert pending_actions(engine, table.uri) == []
    assert data_files(table.uri) == before
    assert not (table_folder(table.uri) / ".hoodie" / ".temp" / failed["requested"]).exists()
    assert read_snapshot(engine, table.uri) == table.rows[-1]
    engine.write(table.uri, "upsert", as_arrow([row("b", 95, "next")]), options=SEVERAL_WRITERS)
    assert [found["value"] for found in read_snapshot(engine, table.uri)] == ["update 2", "next", "x"]


@CLEANS
@pytest.mark.needs("merge-on-read")
@pytest.mark.parametrize(
    "service",
    [pytest.param(name, marks=pytest.mark.needs(f"service.{name}")) for name in ("compaction", "log-compaction", "clustering")],
)
@pytest.mark.requirements("SVC-006", "TL-030", "SVC-008")
def test_a_clean_keeps_requested_plans(engine: Client, new_uri: NewUri, service: Service) -> None:
    """SVC-006: a requested plan has no heartbeat; it has not failed. After the clean it is still there and can be executed."""
    table = ConcurrentTable(engine, new_uri()).create("MERGE_ON_READ")
    for number in range(3):
        table.write({"a": f"log {number}"})
    plan = table.schedule(service)
    table.run("clean", options=keep_commits(1))
    assert plan in [found["requested"] for found in pending_actions(engine, table.uri)]
    assert table.run(service, "execute", plan)
    assert pending_actions(engine, table.uri) == []
    table.check("the plan was carried out")


@CLEANS
@BOTH_TYPES
@pytest.mark.parametrize("policy", ["NEVER", "EAGER"])
@pytest.mark.requirements("TL-030", "OCC-027")
def test_a_clean_rolls_back_nothing_without_the_lazy_policy(engine: Client, new_uri: NewUri, type: str, policy: str) -> None:
    """TL-030: only the policy LAZY, for several writers, lets a clean roll back writes: without it, a writer that seems to have
    crashed can still complete.
    """
    table = create_updated_table(engine, new_uri(), 3, type)
    slow = begin_write(table.uri, (row("c", 90, "slow", "rio"),))
    engine.service(table.uri, "clean", options={"hoodie.clean.failed.writes.policy": policy, **keep_commits(1)})
    assert slow.files <= data_file_names(table.uri)
    slow.complete()
    assert [found["value"] for found in read_snapshot(engine, table.uri)] == ["update 4", "x", "slow"]


@CLEANS
@pytest.mark.needs("copy-on-write")
@pytest.mark.parametrize(
    ("settings", "age", "lives"),
    [
        ({}, 100, True),
        ({}, 150, False),
        ({INTERVAL: "20000"}, 30, True),
        ({INTERVAL: "20000"}, 80, False),
        ({INTERVAL: "20000", MISSES: "6"}, 100, True),
        ({INTERVAL: "300000"}, 400, True),
    ],
)
@pytest.mark.requirements("TL-030", "OCC-027")
def test_a_heartbeat_expires_after_the_tolerable_misses(
    engine: Client, new_uri: NewUri, settings: dict[str, str], age: int, lives: bool
) -> None:
    """TL-030: a heartbeat is valid for the interval times the tolerable misses, two minutes by default."""
    table = create_updated_table(engine, new_uri(), 1)
    slow = begin_write(table.uri, (row("c", 90, "slow", "rio"),))
    send_heartbeat(table.uri, slow.instant)
    then, heartbeat = time.time() - age, table_folder(table.uri) / ".hoodie" / ".heartbeat" / slow.instant
    os.utime(heartbeat, (then, then))
    engine.service(table.uri, "clean", options={**SEVERAL_WRITERS, **settings, **keep_commits(10)})
    assert (slow.files <= data_file_names(table.uri)) == lives
    assert bool(pending_actions(engine, table.uri)) == lives
    assert heartbeat.exists() == lives


@CLEANS
@BOTH_TYPES
@pytest.mark.requirements("TL-030", "TL-019", "OCC-027")
def test_a_write_that_completes_before_its_rollback_is_planned_stays(engine: Client, new_uri: NewUri, type: str) -> None:
    """TL-030: a clean finds a pending write without a heartbeat, which completes before the clean has the lock of the table. It
    has not failed: the clean leaves its files and rows.
    """
    only_in_process(engine)
    table = create_updated_table(engine, new_uri(), 1, type)
    slow = begin_write(table.uri, (row("c", 90, "slow", "rio"),))
    opened = replace(open_table(table.uri), lock=InterruptedLock(InProcessLock(timeout=0.5), "plan", slow.complete))
    clean(opened, {**SEVERAL_WRITERS, **keep_commits(10)})
    assert slow.files <= data_file_names(table.uri)
    assert pending_actions(engine, table.uri) == []
    assert [found["value"] for found in read_snapshot(engine, table.uri)] == ["update 2", "x", "slow"]


@CLEANS
@pytest.mark.needs("service.clustering", "service.rollback", "copy-on-write")
@pytest.mark.requirements("TL-050", "SVC-006", "TL-019")
def test_a_clustering_that_completes_before_its_rollback_stays(engine: Client, new_uri: NewUri) -> None:
    """TL-050: the execution of a clustering is to be rolled back, and completes before the rollback has the lock of the table.
    The rollback leaves it: its files are those of the rows.
    """
    only_in_process(engine)
    table = create_updated_table(engine, new_uri(), 1)
    plan = engine.service(table.uri, "clustering", phase="schedule", options={})
    assert plan is not None
    (table_folder(table.uri) / ".hoodie" / "timeline" / f"{plan}.clustering.inflight").touch()

    def complete() -> None:
        execute_clustering(open_table(table.uri), plan)

    rollback(replace(open_table(table.uri), lock=InterruptedLock(InProcessLock(timeout=0.5), "revert", complete)), plan)
    assert pending_actions(engine, table.uri) == []
    assert read_snapshot(engine, table.uri) == table.rows[-1]
