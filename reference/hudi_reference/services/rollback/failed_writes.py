"""Failed writes: what a dead writer left is rolled back by others, spec "Appendix > Markers".

EAGER: before each write, for a table with one writer: whatever is pending then has failed.
LAZY: before each clean, for tables with several: those whose heart has stopped; a writer without a heartbeat is dead.
NEVER: by nobody but who asks for it.

Whether the writer is alive is asked again under the lock under which the rollback is planned, and writers ask under the same
lock whether a rollback of theirs is planned: either the write completes or it is rolled back, never both.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from hudi_reference.errors import CannotUndo, WriteConflict
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.plan_execution import pending_of
from hudi_reference.services.rollback.rollback import execute_rollback, heartbeats_of, schedule_rollback
from hudi_reference.write.concurrency.config import Concurrency, Policy

#: Actions of writers. Plans of services are carried out again.
_WRITES = ("commit", "deltacommit", "replacecommit")


def rollback_failed_writes(table: Table) -> tuple[str, ...]:
    """What a single writer does before it writes; the requested times of the writes that it rolled back."""
    return roll_back_failed(table) if Concurrency.of(table.options).policy is Policy.EAGER else ()


def clean_up_lazily(table: Table, options: Mapping[str, str]) -> tuple[str, ...]:
    """What a clean does before it cleans; the requested times of the writes that it rolled back."""
    settings = {**table.options, **options}
    is_lazy = Concurrency.of(settings).policy is Policy.LAZY
    return roll_back_failed(replace(table, options=settings)) if is_lazy else ()


@implements("OCC-027", "TL-019", "TL-030")
def roll_back_failed(table: Table) -> tuple[str, ...]:
    """Finish rollbacks that were begun, then roll back every pending write whose heart does not beat, the newest first.

    The requested times of these writes. What others complete or roll back meanwhile is left to them.
    """
    for begun in pending_of(table.timeline, "rollback"):
        with suppress(CannotUndo, WriteConflict):
            execute_rollback(table, begun.requested)
    done = []
    for pending in reversed(table.timeline.pending):
        if pending.action in _WRITES and not heartbeats_of(table).is_active(pending.requested):
            with suppress(CannotUndo, WriteConflict):
                execute_rollback(table, schedule_rollback(table, pending.requested, failed=True))
                done.append(pending.requested)
    return tuple(done)
