"""Failed writes: pending writes of crashed writers are rolled back by other processes, spec "Appendix > Markers".

    EAGER   before each write, for a table with one writer: every pending write has failed
    LAZY    before each clean, for tables with several writers: writes whose heartbeat has expired or is missing
    NEVER   on explicit request only

The heartbeat is checked again under the lock under which the rollback is planned, and a writer checks under the same lock
whether its rollback is planned. So a write either completes or is rolled back, never both.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from hudi_reference.errors import CannotUndo, WriteConflict
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.plan_execution import pending_of
from hudi_reference.services.rollback.records import RollbackPlan
from hudi_reference.services.rollback.rollback import (
    execute_rollback,
    heartbeats_of,
    pending_target,
    plan_rollback,
    schedule_rollback,
)
from hudi_reference.write.concurrency.config import Concurrency, Policy

#: Actions of writers. Plans of services are executed again.
_WRITES = ("commit", "deltacommit", "replacecommit")


def rollback_expired_writes(table: Table, options: Mapping[str, str]) -> tuple[str, ...]:
    """Before a clean, with policy LAZY: roll back writes whose heartbeat has expired; their requested times."""
    settings = {**table.options, **options}
    is_lazy = Concurrency.from_options(settings).policy is Policy.LAZY
    return roll_back_failed(replace(table, options=settings)) if is_lazy else ()


def plans_before_clean(table: Table, options: Mapping[str, str]) -> tuple[RollbackPlan, ...]:
    """The rollbacks that `rollback_expired_writes` would execute now. Changes nothing."""
    settings = {**table.options, **options}
    if Concurrency.from_options(settings).policy is not Policy.LAZY:
        return ()
    changed, found = replace(table, options=settings), []
    targets = [pending_target(changed, pending.requested) for pending in pending_of(table.timeline, "rollback")]
    for pending in reversed(table.timeline.pending):
        if pending.action in _WRITES and not heartbeats_of(changed).is_active(pending.requested):
            targets.append(pending.requested)
    for target in dict.fromkeys(targets):
        with suppress(CannotUndo):
            found.append(plan_rollback(changed, target))
    return tuple(found)


@implements("OCC-027", "TL-019", "TL-030")
def roll_back_failed(table: Table) -> tuple[str, ...]:
    """Execute pending rollbacks, then roll back every pending write without an active heartbeat, the newest first.

    Writes that other processes complete or roll back meanwhile are skipped. Returns the requested times of the others.
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
