"""The programs of writers, services and readers on a table.

A program notes what it begins (`Doing`) and what it read. From these notes and the requests to storage the checker derives
what every reader must see.
"""

from collections.abc import Callable
from contextlib import suppress

from hudi_conformance.explorer.invariants.checker import BEGIN, END, CurrentOperation
from hudi_conformance.explorer.invariants.snapshot_view import COLUMNS, comparable_row
from hudi_conformance.explorer.scenarios.services import FINISHING, KINDS, SERVICES
from hudi_conformance.explorer.scenarios.setting import Row, Setting, to_arrow
from hudi_conformance.explorer.simulation.actor import Actor
from hudi_conformance.model import Operation
from hudi_reference import (
    rollback,
)
from hudi_reference.errors import Misuse, WriteConflict

#: What a process does on a table.
Program = Callable[[Actor, Setting], object]


def writer(kind: Operation, *rows: Row, **options: str) -> Program:
    """A writer: one operation with these rows. `options` replace those of the setting; a dot is written as `__`."""

    def program(actor: Actor, setting: Setting) -> object:
        given = {**setting.options, **{key.replace("__", "."): value for key, value in options.items()}}
        table = actor.open_table(options=given)
        actor.record_note(BEGIN, CurrentOperation(kind, rows))
        return getattr(table, kind)(to_arrow(rows))

    return program


def reader(times: int = 1, at: str | None = None) -> Program:
    """A reader that reads the rows `times` times."""

    def program(actor: Actor, setting: Setting) -> object:
        table = actor.open_table()
        for _ in range(times):
            actor.record_note(BEGIN, CurrentOperation("read", at=at))
            found = table.snapshot(COLUMNS[:4]) if at is None else table.as_of(at, COLUMNS[:4])
            actor.record_note(END, tuple(sorted((comparable_row(row) for row in found.to_pylist()), key=repr)))
        return None

    return program


def partition_deleter(city: str) -> Program:
    """A writer that deletes a partition."""

    def program(actor: Actor, setting: Setting) -> object:
        table = actor.open_table(options=setting.options)
        actor.record_note(BEGIN, CurrentOperation("delete_partition", ({"city": city},)))
        return table.delete_partitions([city])

    return program


def service_runner(name: str, **options: str) -> Program:
    """A process that runs a service once. It is no failure if the service has nothing to do or is refused."""

    def program(actor: Actor, setting: Setting) -> object:
        given = {**setting.options, **{key.replace("__", "."): value for key, value in options.items()}}
        table = actor.open_table(options=given)
        actor.record_note(BEGIN, CurrentOperation(KINDS.get(name, name)))
        with suppress(Misuse):
            return SERVICES[name](table)
        return None

    return program


def recovery() -> Program:
    """A recovery after crashes: it executes pending plans, rolls back other pending actions, then reads the rows.

    It returns the actions that are still pending; there must be none.
    """

    def program(actor: Actor, setting: Setting) -> object:
        table = actor.open_table(options=setting.options)
        for _ in range(_ROUNDS):
            for pending in reversed(table.timeline.pending):
                kind = KINDS_OF_RECOVERY.get(pending.action, pending.action if pending.action in FINISHING else "rollback")
                actor.record_note(BEGIN, CurrentOperation(kind))
                with suppress(Misuse, WriteConflict):
                    FINISHING.get(pending.action, rollback)(table, pending.requested)
        reader()(actor, setting)
        return [pending.file_name for pending in table.timeline.pending]

    return program


#: A pending rollback may be one of a completed write.
KINDS_OF_RECOVERY = {"rollback": "withdrawal"}
#: Rounds of a recovery: a plan that one round rolls back is executed by the next.
_ROUNDS = 3
