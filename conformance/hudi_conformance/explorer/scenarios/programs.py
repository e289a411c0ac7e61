"""The programs of writers, services and readers on a table, and how scenarios are made of them.

A program notes what it begins (`Doing`) and what it read. From these notes and the requests to storage the checker derives
what every reader must see.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from hudi_conformance.explorer.history.isolation import anomalies
from hudi_conformance.explorer.invariants.checker import BEGIN, END, Doing, InvariantChecker, ObservedState, Prepared, Start
from hudi_conformance.explorer.invariants.snapshot_view import COLUMNS, row_of
from hudi_conformance.explorer.scenarios.history_builder import history_of
from hudi_conformance.explorer.scenarios.scenario import Scenario
from hudi_conformance.explorer.simulation.scheduler import Actor, Process, Run
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore
from hudi_conformance.model import Model, Operation
from hudi_reference import (
    archive,
    clean,
    cluster,
    compact,
    create_table,
    delete_savepoint,
    index,
    log_compact,
    open_table,
    restore,
    rollback,
    savepoint,
)
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError, Misuse, StorageFault, WriteConflict
from hudi_reference.ids import SeededIds
from hudi_reference.locks import InProcessLock
from hudi_reference.services.clean.clean import execute_clean, schedule_clean
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import execute_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import schedule_log_compaction
from hudi_reference.services.indexing.indexing import execute_indexing, schedule_indexing
from hudi_reference.services.planning.plan_execution import pending_of
from hudi_reference.services.rollback.restore import execute_restore
from hudi_reference.services.rollback.rollback import execute_rollback, schedule_rollback
from hudi_reference.storage import MemoryStorage
from hudi_reference.tables import WritableTable
from hudi_reference.timeline.instants.states import ACTIONS

SCHEMA: Mapping[str, Any] = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "city", "type": ["null", "string"], "default": None},
        {"name": "ts", "type": ["null", "long"], "default": None},
        {"name": "value", "type": ["null", "string"], "default": None},
    ],
}
ARROW = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64()), ("value", pa.string())])
Row = Mapping[str, Any]
#: What a process does on a table.
Program = Callable[[Actor, "Setting"], object]
TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
#: 2025-12-01: before simulated time starts.
BEFORE = 1_764_547_200_000


def row(id: str, value: str, city: str = "oslo", ts: int = 1) -> Row:
    """One row."""
    return {"id": id, "city": city, "ts": ts, "value": value}


def arrow(rows: Sequence[Row]) -> pa.Table:
    """Rows as an Arrow table."""
    return pa.Table.from_pylist([dict(row) for row in rows], ARROW)


@dataclass(frozen=True)
class Setting:
    """A table and the actions before the run: writes, and services by name."""

    type: TableType = "COPY_ON_WRITE"
    before: tuple[tuple[str, tuple[Row, ...]], ...] = (("upsert", (row("a", "a0"), row("b", "b0"))),)
    ordering: bool = False
    #: Settings of all writers and services by Hudi's names.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Promises of the programs; see `Start`.
    promises: Mapping[str, bool] = field(default_factory=dict)
    #: Settings of the simulated store.
    simulated: Mapping[str, Any] = field(default_factory=dict)
    #: A write that stores its files before the run and crashes before it completes.
    crashed_write: tuple[Row, ...] = ()

    def model(self) -> Model:
        """An empty model of the table."""
        mode: Any = "EVENT_TIME_ORDERING" if self.ordering else "COMMIT_TIME_ORDERING"
        ordering = ("ts",) if self.ordering else ()
        return Model(record_key=("id",), partition=("city",), ordering=ordering, merge_mode=mode, table_type=self.type)


def prepared(setting: Setting) -> tuple[MemoryStorage, Start]:
    """The table of a setting, and its description for the checker."""
    storage, clock, ids = MemoryStorage(), ManualClock(BEFORE), SeededIds(7)
    given: dict[str, Any] = {"storage": storage, "clock": clock, "ids": ids, "lock": InProcessLock(timeout=0)}
    mode: Any = "EVENT_TIME_ORDERING" if setting.ordering else "COMMIT_TIME_ORDERING"
    create_table(
        "memory:///before", name="explored", schema=dict(SCHEMA), record_key=("id",), partition=("city",),
        table_type=setting.type, ordering=("ts",) if setting.ordering else (), merge_mode=mode, **given,
    )  # fmt: skip
    table = open_table("memory:///before", options=setting.options, **given)
    writes: list[Prepared] = []
    for kind, rows in setting.before:
        if not rows:
            SERVICES[kind](table)
            continue
        requested = getattr(table, kind)(arrow(rows))
        completion = table.timeline.completion_of(requested) or ""
        writes.append(Prepared(requested, completion, kind, rows))  # type: ignore[arg-type]
    if setting.crashed_write:
        with suppress(_Crashed):
            replace(table, storage=_CrashingStorage(storage)).upsert(arrow(setting.crashed_write))
    return storage, Start(setting.model, tuple(writes), **setting.promises)


class _Crashed(BaseException):
    """The writer has crashed."""


@dataclass
class _CrashingStorage:
    """A storage whose writer crashes before it publishes the completion."""

    storage: MemoryStorage

    def __getattr__(self, name: str) -> Any:
        return getattr(self.storage, name)

    def create(self, path: str, data: bytes) -> None:
        """Create the object, unless it is a completed instant."""
        if path.startswith(".hoodie/timeline/") and "_" in path.rpartition("/")[2]:
            raise _Crashed
        self.storage.create(path, data)


# Programs.


def writes(kind: Operation, *rows: Row, **options: str) -> Program:
    """A writer: one operation with these rows. `options` replace those of the setting; a dot is written as `__`."""

    def program(actor: Actor, setting: Setting) -> object:
        given = {**setting.options, **{key.replace("__", "."): value for key, value in options.items()}}
        table = actor.open(options=given)
        actor.note(BEGIN, Doing(kind, rows))
        return getattr(table, kind)(arrow(rows))

    return program


def reads(times: int = 1, at: str | None = None) -> Program:
    """A reader that reads the rows `times` times."""

    def program(actor: Actor, setting: Setting) -> object:
        table = actor.open()
        for _ in range(times):
            actor.note(BEGIN, Doing("read", at=at))
            found = table.snapshot(COLUMNS[:4]) if at is None else table.as_of(at, COLUMNS[:4])
            actor.note(END, tuple(sorted((row_of(row) for row in found.to_pylist()), key=repr)))
        return None

    return program


def deletes(city: str) -> Program:
    """A writer that deletes a partition."""

    def program(actor: Actor, setting: Setting) -> object:
        table = actor.open(options=setting.options)
        actor.note(BEGIN, Doing("delete_partition", ({"city": city},)))
        return table.delete_partitions([city])

    return program


def serves(name: str, **options: str) -> Program:
    """A process that runs a service once. It is no failure if the service has nothing to do or is refused."""

    def program(actor: Actor, setting: Setting) -> object:
        given = {**setting.options, **{key.replace("__", "."): value for key, value in options.items()}}
        table = actor.open(options=given)
        actor.note(BEGIN, Doing(KINDS.get(name, name)))
        with suppress(Misuse):
            return SERVICES[name](table)
        return None

    return program


def _pending_writes(table: WritableTable) -> list[str]:
    return [i.requested for i in table.timeline.pending if ACTIONS[i.action].writes and not ACTIONS[i.action].planned]


def _roll_back_pending(table: WritableTable) -> object:
    """Roll back every pending write, whatever its heartbeat: what an operator may do."""
    found = reversed(_pending_writes(table))
    return [execute_rollback(table, schedule_rollback(table, requested, failed=True)) for requested in found]


def _roll_back_newest(table: WritableTable) -> object:
    newest = table.timeline.latest
    return None if newest is None else rollback(table, newest.requested)


def _roll_back_attempts(table: WritableTable) -> object:
    """Roll back attempts at plans."""
    return [rollback(table, i.requested) for i in table.timeline.pending if ACTIONS[i.action].reverts]


def _first(table: WritableTable) -> str:
    return table.timeline.commits[0].requested


def _execute_compactions(table: WritableTable) -> object:
    return [execute_compaction(table, pending.requested) for pending in pending_of(table.timeline, "compaction")]


def _restore(table: WritableTable) -> object:
    return restore(table, _first(table))


#: The index that an indexer builds: the record index, in two file groups.
INDEX: Mapping[str, str] = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
}


def _execute_indexing(table: WritableTable) -> object:
    return [execute_indexing(table, pending.requested) for pending in pending_of(table.timeline, "indexing")]


#: Services by name.
SERVICES: Mapping[str, Callable[[WritableTable], object]] = {
    "compaction": compact,
    "compaction-plan": schedule_compaction,
    "compaction-execution": _execute_compactions,
    "log-compaction": log_compact,
    "log-compaction-plan": schedule_log_compaction,
    "clustering": cluster,
    "clustering-plan": schedule_clustering,
    "clean": lambda table: clean(table, table.options),
    "clean-plan": lambda table: schedule_clean(table, table.options),
    "rollback": _roll_back_pending,
    "rollback-of-attempt": _roll_back_attempts,
    "rollback-of-latest-write": _roll_back_newest,
    "savepoint": lambda table: savepoint(table, _first(table)),
    "restore": _restore,
    "archive": archive,
    "indexing": lambda table: index(table, INDEX),
    "indexing-plan": lambda table: schedule_indexing(table, INDEX),
    "indexing-execution": _execute_indexing,
}
#: Service -> kind of its activity, where the names differ.
KINDS = {
    "compaction-plan": "compaction",
    "compaction-execution": "compaction",
    "log-compaction": "logcompaction",
    "log-compaction-plan": "logcompaction",
    "clustering-plan": "clustering",
    "clean-plan": "clean",
    "indexing-plan": "indexing",
    "indexing-execution": "indexing",
    "rollback-of-latest-write": "withdrawal",
    "rollback-of-attempt": "compaction",
}

# Recovery.


def recovers() -> Program:
    """A recovery after crashes: it executes pending plans, rolls back other pending actions, then reads the rows.

    It returns the actions that are still pending; there must be none.
    """

    def program(actor: Actor, setting: Setting) -> object:
        table = actor.open(options=setting.options)
        for _ in range(_ROUNDS):
            for pending in reversed(table.timeline.pending):
                kind = KINDS_OF_RECOVERY.get(pending.action, pending.action if pending.action in FINISHING else "rollback")
                actor.note(BEGIN, Doing(kind))
                with suppress(Misuse, WriteConflict):
                    FINISHING.get(pending.action, rollback)(table, pending.requested)
        reads()(actor, setting)
        return [pending.file_name for pending in table.timeline.pending]

    return program


#: A pending rollback may be one of a completed write.
KINDS_OF_RECOVERY = {"rollback": "withdrawal"}
#: Rounds of a recovery: a plan that one round rolls back is executed by the next.
_ROUNDS = 3


def _finish_log_compaction(table: WritableTable, _: str) -> object:
    return log_compact(table)


def _delete_savepoint(table: WritableTable, instant: str) -> object:
    return delete_savepoint(table, instant)


def _finish_clustering(table: WritableTable, _: str) -> object:
    return cluster(table, {**table.options, "hoodie.clustering.inline.max.commits": "1000"})


#: How a pending action is finished, by action; every other one is rolled back.
FINISHING: Mapping[str, Callable[[WritableTable, str], object]] = {
    "compaction": execute_compaction,
    "logcompaction": _finish_log_compaction,
    "clustering": _finish_clustering,
    "clean": execute_clean,
    "rollback": execute_rollback,
    "restore": execute_restore,
    "savepoint": _delete_savepoint,
    "indexing": lambda table, _: index(table),
}

# Scenarios.


def checking(setting: Setting, start: Start) -> Callable[[Run], str | None]:
    """The check of runs on a table: invariants, isolation of the history, and how the processes ended."""
    checker = InvariantChecker(start)

    def check(run: Run) -> str | None:
        if (broken := checker(run)) is not None:
            return broken
        seen = checker.follow(run)[-1]
        history = history_of(start, run, seen, ordering=setting.ordering)
        anomaly = next(anomalies(history), None)
        return _ended_badly(run, seen) if anomaly is None else f"{anomaly} (step {len(run.steps)})"

    return check


def _ended_badly(run: Run, seen: ObservedState) -> str | None:
    completed = {done.process for done in seen.done if done.step and done.is_write and run.steps[done.step - 1].fault is None}
    for process, ended in run.results.items():
        if process in seen.writers & completed and isinstance(ended.error, StorageFault):  # its caller would write again
            return f"{process} fails with {ended.error}, although its write completed [OCC-024] (step {len(run.steps)})"
        if ended.error is not None and not isinstance(ended.error, HudiError):
            return f"{process} fails with {type(ended.error).__name__}: {ended.error} (step {len(run.steps)})"
        if process == RECOVERY and ended.value:
            return f"after the recovery {', '.join(ended.value)} is still pending [SVC-006] (step {len(run.steps)})"
    begun = [found.file_name for found in seen.pending if found.action == "savepoint"]
    if begun and all(ended.how == "returned" for ended in run.results.values()):
        return f"{begun[0]} remains of a savepoint that was refused [TL-021] (step {len(run.steps)})"
    return None


def _without_errors(check: Callable[[Run], str | None]) -> Callable[[Run], str | None]:
    """The same check, and no process may end with an error."""

    def asked(run: Run) -> str | None:
        errors = (f"{name} {ended} (step {len(run.steps)})" for name, ended in run.results.items() if ended.how == "raised")
        return check(run) or next(errors, None)

    return asked


#: Clock skew of the process `late`, in milliseconds.
SKEW = -10_000
#: The process that starts when all others have ended.
RECOVERY = "z"


def explored(name: str, description: str, setting: Setting, programs: Mapping[str, Program], **bounds: Any) -> Scenario:
    """A scenario of these programs, by the names of their processes. `bounds` are attributes of `Scenario`."""
    storage, start = prepared(setting)
    others = tuple(process for process in programs if process != RECOVERY)

    def process(name: str, program: Program) -> Process:
        after = others if name == RECOVERY else ()
        return Process(name, lambda actor: program(actor, setting), after, SKEW if name == "late" else 0)

    return Scenario(
        name, description, lambda: SimulatedStore.of(storage, **setting.simulated),
        lambda: [process(name, program) for name, program in programs.items()], checking(setting, start), **bounds,
    )  # fmt: skip


@dataclass(frozen=True)
class Definition:
    """The definition of a scenario. `preemptions` and `crashes` are the bounds that continuous integration explores."""

    description: str
    setting: Setting
    programs: Mapping[str, Program]
    preemptions: int | None = 1
    crashes: int = 0
    #: Whether no process may end with an error.
    without_errors: bool = False

    def scenario(self, name: str, **bounds: Any) -> Scenario:
        """Make the scenario; `bounds` replace those of the definition."""
        limits = {"preemptions": self.preemptions, "crashes": self.crashes, **bounds}
        found = explored(name, self.description, self.setting, self.programs, **limits)
        return replace(found, check=_without_errors(found.check)) if self.without_errors else found
