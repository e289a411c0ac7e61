"""Validation of rollbacks and restores: the state that remains must have all its files, and no clean may delete them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hudi_reference.errors import CannotUndo
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.retention import find_missing_file
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.clean_plan import planned_files
from hudi_reference.services.planning.plan_execution import fields_of_plan, pending_of, read_plan, rollback_target
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant


def files_of_pending_cleans(table: Table, timeline: Timeline) -> frozenset[str]:
    """The paths of all files that pending cleans will delete. Called under the lock, under which cleans are planned."""
    plans = (read_plan(table, "clean", clean.requested) for clean in pending_of(timeline, "clean"))
    return frozenset(path for plan in plans for path in planned_files(plan))


def planned_removals(table: Table, timeline: Timeline) -> Iterator[tuple[Instant, frozenset[str]]]:
    """The pending rollbacks and restores, each with the requested times of the writes that it removes."""
    for pending in pending_of(timeline, "rollback"):
        yield pending, frozenset((rollback_target(table, pending.requested)[0],))
    for pending in pending_of(timeline, "restore"):
        plan = read_plan(table, "restore", pending.requested)
        with fields_of_plan("restore", pending.requested):
            yield pending, frozenset(str(write["commitTime"]) for write in plan["instantsToRollback"])


@implements("CLN-003", "TL-019", "TL-023")
def check_state_complete(table: Table, timeline: Timeline, removed: Sequence[Instant]) -> None:
    """Raises CannotUndo if a clean has deleted files of the state without the removed writes, or is planned to."""
    path = find_lost_file(table, timeline, removed)
    if path is not None:
        raise CannotUndo(
            "a clean has deleted files of this state, or is planned to", rule="TL-023", path=path,
            expected="a savepointed instant, or one that the last clean retained",
        )  # fmt: skip


def find_lost_file(table: Table, timeline: Timeline, removed: Sequence[Instant]) -> str | None:
    """A file of the state without the removed writes that a clean has deleted, or is planned to; None if there is none.

    This includes files that only the metadata of later actions still names.
    """
    rest = replace(timeline, instants=tuple(known for known in timeline.instants if known not in removed))
    groups = load_file_groups(table.storage, table.properties, rest)
    gone = [found.path(name) for found in groups.latest_slices for name in sorted(found.missing)]
    path = gone[0] if gone else find_missing_file(table.storage, table.properties, list(removed), groups)
    to_be_deleted = files_of_pending_cleans(table, timeline)
    return path or next((file for found in groups.latest_slices for file in found.paths if file in to_be_deleted), None)
