"""The files that rollbacks and cleans say that they deleted, against their plans."""

from collections.abc import Iterator

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.removals import Removals
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

RESTORE = "restore the completed file from another copy of the table"


def _completed(table: StoredTable, action: str) -> Iterator[tuple[Instant, Removals, Removals]]:
    """The completed instants of an action whose plan is readable: with what the plan removes, and what the result removed."""
    for instant in table.timeline.completed:
        requested = Instant(instant.requested, action, State.REQUESTED)
        plan, result = table.plan_of(requested), table.contents[instant].record
        if instant.action == action and plan is not None and result is not None:
            planned, done = Removals(), Removals()
            planned.add(requested, plan)
            done.add(instant, result)
            yield instant, planned, done


def _rolled_back(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-035: a rollback deletes the files of its plan and no others."""
    for instant, planned, done in _completed(table, "rollback"):
        tally.looked("TL-035")
        if more := sorted(done.rolled_back.keys() - planned.planned.keys()):
            yield Finding(
                "TL-035", "cosmetic", table.path_of(instant), "The files may have been those of another write.",
                f"the {len(planned.planned)} files of the plan", f"also {more[0]}"[:300], RESTORE, key=more[0],
            )  # fmt: skip


def _cleaned(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-035: a clean deletes the files of its plan and no others."""
    for instant, planned, done in _completed(table, "clean"):
        tally.looked("TL-035")
        more = sorted(done.cleaned.keys() - planned.planned.keys())
        if more and not done.partitions:
            yield Finding(
                "TL-035", "cosmetic", table.path_of(instant), "The files were deleted without a check that nothing needs them.",
                f"the {len(planned.planned)} files of the plan", f"also {more[0]}"[:300], RESTORE, key=more[0],
            )  # fmt: skip


CHECKS = (
    Check("removal-plans.rolled-back", ("TL-035",), "cheap", _rolled_back, tables="data"),
    Check("removal-plans.cleaned", ("TL-035",), "cheap", _cleaned, tables="data"),
)
