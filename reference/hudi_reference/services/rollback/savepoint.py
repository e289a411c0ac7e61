"""Savepoint: protects the files that a reader at one instant needs until the savepoint is deleted, spec "Timeline > Actions".

savepoint.inflight      carries the requested time of the commit that it protects; there is no requested file
savepoint.completed     names the files
"""

from collections.abc import Iterable
from dataclasses import replace

from hudi_reference.errors import CannotProtect
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.retention import find_missing_file
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.plan_execution import by_partition, path_in, read_content
from hudi_reference.services.planning.rollback_validation import files_of_pending_cleans, planned_removals
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.actions import write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.write.commit import transitions_of


@implements("TL-021", "TL-022", "TL-041", "SVC-003")
def savepoint(table: Table, instant: str, *, user: str = "", comments: str = "") -> str:
    """Protect the files that a read as of that commit needs; the commit's requested time, which is also the savepoint's.

    A savepoint changes no data file, and so no index: a table with indexes that are not maintained here may get one.

    Raises CannotProtect if there is no such completed commit on the active timeline, if it has a savepoint already, if a
    rollback or restore is going to remove it, and if a clean has deleted files of this state, or is planned to.
    """
    files = savepoint_files(table, instant)
    transitions, begun = transitions_of(table), Instant(instant, "savepoint", State.INFLIGHT)
    if begun not in table.timeline.instants:
        transitions.start(replace(begun, state=State.REQUESTED))
    record = {
        "savepointedBy": user,
        "savepointedAt": table.clock.now(),
        "comments": comments,
        "partitionMetadata": {
            partition: {"partitionPath": partition, "savepointDataFile": names}
            for partition, names in by_partition(files).items()
        },
        "version": 1,
    }
    content = write_action(replace(begun, state=State.COMPLETED), record, table.ids.sync_marker())
    try:
        transitions.complete(begun, content, lambda timeline: _check_kept(table, timeline, instant, files))
    except CannotProtect:
        transitions.remove(begun)
        raise
    return instant


@implements("TL-021", "TL-022")
def savepoint_files(table: Table, instant: str) -> tuple[str, ...]:
    """The paths of the files that a savepoint of that commit would protect. Changes nothing. Raises CannotProtect."""
    timeline = table.timeline
    commit = _check_active(timeline, instant)
    if any(found.requested == instant for found in completed_savepoints(timeline)):
        raise CannotProtect("there is a savepoint of this commit already", rule="TL-021", found=instant)
    groups = load_file_groups(table.storage, table.properties, timeline.until(instant))
    later = [found for found in timeline.commits if found.requested > instant]
    lost = find_missing_file(table.storage, table.properties, later, groups)
    # A restore keeps the writes that were requested after the commit and completed before it.
    restored = load_file_groups(table.storage, table.properties, _completed_with(timeline, commit), groups)
    slices = (*groups.latest_slices, *restored.latest_slices)
    files = tuple(dict.fromkeys((*(path for found in slices for path in found.paths), *([lost] if lost else ()))))
    _check_kept(table, timeline, instant, files)
    return files


def _completed_with(timeline: Timeline, commit: Instant) -> Timeline:
    """The timeline of the actions that had completed when the commit had."""
    completion = commit.completion or commit.requested
    return timeline.completed_before(f"{completion}0")  # later than this time, and earlier than any later one


def _check_active(timeline: Timeline, instant: str) -> Instant:
    """The completed commit of that requested time. Raises CannotProtect."""
    found = next((found for found in timeline.commits if found.requested == instant), None)
    if found is None:
        raise CannotProtect("no completed commit on the active timeline", rule="TL-021", found=instant)
    return found


@implements("TL-021", "TL-019", "TL-023")
def _check_stays(table: Table, timeline: Timeline, instant: str) -> None:
    """Raises CannotProtect if a rollback or restore of the commit is planned: neither its plan nor the savepoint would hold."""
    for pending, removed in planned_removals(table, timeline):
        if instant in removed:
            raise CannotProtect(
                "the commit is being removed", rule="TL-021", path=pending.file_name, expected="a commit that stays",
                found=instant, remedy="execute the pending plan, or withdraw it",
            )  # fmt: skip


@implements("TL-021", "CLN-003")
def _check_kept(table: Table, timeline: Timeline, instant: str, files: Iterable[str]) -> None:
    """Raises CannotProtect if the commit was archived or is being removed, or a clean has deleted one of the files or is
    planned to.

    Called under the lock, under which actions are archived and cleans are planned.
    """
    _check_active(timeline, instant)
    _check_stays(table, timeline, instant)
    to_be_deleted = files_of_pending_cleans(table, timeline)
    for path in files:
        if path in to_be_deleted or table.storage.head(path) is None:
            raise CannotProtect(
                "a clean deletes files of this commit",
                rule="TL-021",
                path=path,
                expected="a commit that the last clean retained",
            )


@implements("TL-021")
def delete_savepoint(table: Table, instant: str) -> str:
    """Delete a savepoint, so that cleans may delete its files; its requested time. Raises CannotProtect if there is none."""
    found = next((i for i in table.timeline.instants if (i.requested, i.action) == (instant, "savepoint")), None)
    if found is None:
        raise CannotProtect("no such savepoint", rule="TL-021", found=instant, expected="the requested time of a savepoint")
    transitions = transitions_of(table)
    transitions.remove(transitions.withdraw(found) if found.state is State.COMPLETED else found)
    return instant


def completed_savepoints(timeline: Timeline) -> tuple[Instant, ...]:
    """The completed savepoints."""
    return tuple(found for found in timeline.completed if found.action == "savepoint")


@implements("TL-021", "TL-041")
def savepointed_files(table: Table, timeline: Timeline) -> frozenset[str]:
    """The paths of all files that savepoints protect."""
    return frozenset(
        path_in(partition, name)
        for found in completed_savepoints(timeline)
        for partition, files in read_content(table, found)["partitionMetadata"].items()
        for name in files["savepointDataFile"]
    )
