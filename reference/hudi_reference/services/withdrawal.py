"""Withdrawal of a pending plan: a service that must not, or cannot, execute it leaves the timeline without it.

A clean, rollback or restore that has begun may have deleted files. What it has done stays: files of a clean are read by
nothing, and a write that is partly rolled back is invisible until another rollback or restore is planned. A compaction, log
compaction or clustering that has begun is reverted first, and what was built of an index is removed.
"""

from contextlib import suppress

from hudi_reference.errors import CannotUndo, MalformedMetadata, UnsupportedTableFeature
from hudi_reference.locks import hold_lock, new_owner
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.indexing.indexing import abandon_build
from hudi_reference.services.planning.plan_execution import PLANNED, check_no_logs, shares_its_time
from hudi_reference.services.rollback.rollback import forget_action, revert_attempt
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.write.commit import transitions_of

#: The actions whose plans can be withdrawn.
WITHDRAWN = ("clean", "rollback", "restore", "indexing", *PLANNED)


def plan_to_withdraw(table: Table, requested: str) -> Instant:
    """The pending action with that requested time.

    Raises CannotUndo if there is none, or if it has no plan, and UnsupportedTableFeature for a compaction that has log files.
    """
    for pending in table.timeline.pending:
        if pending.requested == requested and pending.action in WITHDRAWN:
            if pending.action == "compaction":
                check_no_logs(table, pending)
            return pending
    raise CannotUndo(
        "no such plan is pending", rule="TL-047", expected=f"the requested time of a {', '.join(WITHDRAWN)}", found=requested
    )


@implements("TL-050")
def withdraw_plan(table: Table, requested: str) -> str:
    """Remove a pending plan from the timeline; its requested time. Raises CannotUndo as `plan_to_withdraw` does."""
    pending = plan_to_withdraw(table, requested)
    if pending.action in PLANNED and pending.state is State.INFLIGHT:
        revert_attempt(table, pending)
    if pending.action == "indexing" and not shares_its_time(table, "indexing", requested):
        with suppress(MalformedMetadata, UnsupportedTableFeature):  # a plan of unknown indexes has built nothing
            abandon_build(table, requested)
            return requested
    with hold_lock(transitions_of(table).times.lock, new_owner(f"withdraw {requested}")):
        forget_action(table, plan_to_withdraw(table, requested).requested, pending.action)
    return requested
