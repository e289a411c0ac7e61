"""What writers left that died, and who may take it for that: cleans undo it, and nothing else.

The writer that dies is the reference's; the engine cleans.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.concurrent.concurrent_table import Stage
from hudi_conformance.suite.support.concurrent.pending_writes import SEVERAL_WRITERS, beat, halfway
from hudi_conformance.suite.support.concurrent.slow_writers import SlowWriter
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    keep_commits,
    names_of,
    pending,
    snapshot,
    updated,
)
from hudi_conformance.suite.support.tables.written_tables import data_files, folder_of
from hudi_reference import WritableTable

CLEANS = pytest.mark.needs(*WRITES, "service.clean", "inspect.table")
REPLACED = pytest.mark.needs("timeline.replaced-groups")
INTERVAL, MISSES = "hoodie.client.heartbeat.interval_in_ms", "hoodie.client.heartbeat.tolerable.misses"
NewUri = Callable[[], str]
CHANGES = as_arrow([row("a", 90, "dead"), row("c", 90, "dead", "rio"), row("d", 90, "dead")])
#: What a writer was about to do.
DEEDS: dict[str, Callable[[WritableTable], object]] = {
    "upsert": lambda table: table.upsert(CHANGES),
    "delete": lambda table: table.delete(CHANGES),
    "insert overwrite": lambda table: table.insert_overwrite(CHANGES),
    "delete partition": lambda table: table.delete_partitions(["oslo"]),
}


class _Died(BaseException):
    """The writer is dead."""


def dies(uri: str, deed: Callable[[WritableTable], object]) -> None:
    """A writer stores its files and dies before it completes; its heart has never beaten."""

    def die() -> None:
        raise _Died

    with suppress(_Died):
        deed(SlowWriter(uri, die).table)


@CLEANS
@BOTH_TYPES
@pytest.mark.parametrize("deed", [name if " " not in name else pytest.param(name, marks=REPLACED) for name in DEEDS])
@pytest.mark.requirements("OCC-027", "TL-019", "TL-030", "SVC-006")
def test_a_clean_undoes_what_the_dead_left(engine: Client, new_uri: NewUri, type: str, deed: str) -> None:
    """Whatever the writer was about to do: no file, marker or instant of it is left, the rows are those before it, and the next
    writer goes on."""
    known = updated(engine, new_uri(), 1, type)
    before = data_files(known.uri)
    dies(known.uri, DEEDS[deed])
    (failed,) = pending(engine, known.uri)
    engine.service(known.uri, "clean", options={**SEVERAL_WRITERS, **keep_commits(10)})
    assert pending(engine, known.uri) == []
    assert data_files(known.uri) == before
    assert not (folder_of(known.uri) / ".hoodie" / ".temp" / failed["requested"]).exists()
    assert snapshot(engine, known.uri) == known.rows[-1]
    engine.write(known.uri, "upsert", as_arrow([row("b", 95, "next")]), options=SEVERAL_WRITERS)
    assert [found["value"] for found in snapshot(engine, known.uri)] == ["update 2", "next", "x"]


@CLEANS
@pytest.mark.needs("merge-on-read")
@pytest.mark.parametrize(
    "service",
    [pytest.param(name, marks=pytest.mark.needs(f"service.{name}")) for name in ("compaction", "log-compaction", "clustering")],
)
@pytest.mark.requirements("SVC-006", "TL-030", "SVC-008")
def test_a_clean_leaves_plans_to_be_carried_out(engine: Client, new_uri: NewUri, service: Service) -> None:
    """Nobody's heart beats for a plan that is requested; it has not failed. After the clean it is there and is carried out."""
    stage = Stage(engine, new_uri()).set("MERGE_ON_READ")
    for number in range(3):
        stage.writes({"a": f"log {number}"})
    plan = stage.planned(service)
    stage.runs("clean", options=keep_commits(1))
    assert plan in [found["requested"] for found in pending(engine, stage.uri)]
    assert stage.runs(service, "execute", plan)
    assert pending(engine, stage.uri) == []
    stage.check("the plan was carried out")


@CLEANS
@BOTH_TYPES
@pytest.mark.parametrize("policy", ["NEVER", "EAGER"])
@pytest.mark.requirements("TL-030", "OCC-027")
def test_a_clean_undoes_nothing_where_the_settings_do_not_say_so(
    engine: Client, new_uri: NewUri, type: str, policy: str
) -> None:
    """That is the policy of cleans of several writers alone: a writer that seems dead may then go on and complete."""
    known = updated(engine, new_uri(), 3, type)
    slow = halfway(known.uri, (row("c", 90, "slow", "rio"),))
    engine.service(known.uri, "clean", options={"hoodie.clean.failed.writes.policy": policy, **keep_commits(1)})
    assert slow.files <= names_of(known.uri)
    slow.complete()
    assert [found["value"] for found in snapshot(engine, known.uri)] == ["update 4", "x", "slow"]


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
def test_a_heart_may_miss_as_many_beats_as_is_said(
    engine: Client, new_uri: NewUri, settings: dict[str, str], age: int, lives: bool
) -> None:
    """A heartbeat proves for the interval times the misses, two minutes if nothing else is said, that its writer lives."""
    known = updated(engine, new_uri(), 1)
    slow = halfway(known.uri, (row("c", 90, "slow", "rio"),))
    beat(known.uri, slow.instant)
    then, heart = time.time() - age, folder_of(known.uri) / ".hoodie" / ".heartbeat" / slow.instant
    os.utime(heart, (then, then))
    engine.service(known.uri, "clean", options={**SEVERAL_WRITERS, **settings, **keep_commits(10)})
    assert (slow.files <= names_of(known.uri)) == lives
    assert bool(pending(engine, known.uri)) == lives
    assert heart.exists() == lives
