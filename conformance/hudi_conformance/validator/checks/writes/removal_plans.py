"""The files that rollbacks and cleans say that they deleted, against their plans; and those that a pending rollback deletes."""

from collections.abc import Iterator, Mapping
from typing import Any

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
            planned.add(requested, None, plan)
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


def _pending_rollbacks(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """TL-019: a pending rollback deletes no file that another write stored.

    Before version 8 several writes may append to one log file.
    """
    if table.opened.had_version_6:
        return
    for path, rollback in table.removals.planned.items():
        written = table.opened.writers.get(path) if rollback.action == "rollback" else None
        tally.looked("TL-019", at=written is not None)
        plan: Mapping[str, Any] = table.plan_of(rollback) or {}
        target = str((plan.get("instantToRollback") or {}).get("commitTime"))
        if written is not None and written[0].requested != target and path in table.listing.files:
            yield Finding(
                "TL-019", "wrong-answers", path, "The file will be lost as soon as the rollback is executed.",
                f"no file that {written[0].file_name} stored in the plan of a rollback of {target}",
                f"{table.path_of(rollback)} is about to delete it",
                f"remove the pending files of the rollback {rollback.requested} before a writer executes it",
            )  # fmt: skip


CHECKS = (
    Check("removal-plans.rolled-back", ("TL-035",), "cheap", _rolled_back, tables="data"),
    Check("removal-plans.cleaned", ("TL-035",), "cheap", _cleaned, tables="data"),
    Check("removal-plans.pending-rollbacks", ("TL-019",), "cheap", _pending_rollbacks, tables="data"),
)
