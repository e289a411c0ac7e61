"""What is left of a table when writes are undone: it must be whole, and stay so."""

from collections.abc import Sequence
from dataclasses import replace

from hudi_reference.errors import CannotUndo
from hudi_reference.query.file_groups import load_file_groups
from hudi_reference.query.retention import lost_file
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.clean_plan import paths_of, planned_files
from hudi_reference.services.planning.plan_execution import pending_of, read_plan
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant


def doomed_files(table: Table, timeline: Timeline) -> frozenset[str]:
    """The paths of all files that pending cleans are going to delete. Asked under the lock under which cleans are planned."""
    plans = (read_plan(table, "clean", clean.requested) for clean in pending_of(timeline, "clean"))
    return frozenset(path for plan in plans for path in planned_files(plan))


@implements("CLN-002", "TL-019", "TL-023")
def brings_back(table: Table, timeline: Timeline) -> bool:
    """Whether a restore, or the rollback of a completed write, is under way: older slices will be the latest ones again."""
    if pending_of(timeline, "restore"):
        return True
    plans = (read_plan(table, "rollback", rollback.requested) for rollback in pending_of(timeline, "rollback"))
    targets = {plan["instantToRollback"]["commitTime"] for plan in plans}
    return any(commit.requested in targets for commit in timeline.commits)


@implements("CLN-003", "TL-019", "TL-023")
def check_left(table: Table, timeline: Timeline, undone: Sequence[Instant]) -> None:
    """Raises CannotUndo if a clean has deleted files of the state that is left without these writes, or is about to.

    It does not matter whether the timeline still knows a file, or only what came later does.
    """
    rest = replace(timeline, instants=tuple(known for known in timeline.instants if known not in undone))
    groups = load_file_groups(table.storage, table.properties, rest)
    gone = [found.path(name) for found in groups.latest_slices for name in sorted(found.missing)]
    path = gone[0] if gone else lost_file(table.storage, table.properties, list(undone), groups)
    doomed = doomed_files(table, timeline)
    path = path or next((file for found in groups.latest_slices for file in paths_of(found) if file in doomed), None)
    if path is not None:
        raise CannotUndo(
            "a clean has deleted files of this state, or is about to", rule="TL-023", path=path,
            expected="a savepointed instant, or one that the last clean retained",
        )  # fmt: skip
