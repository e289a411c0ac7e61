"""Which plans of rollbacks and restores are not executed, spec "Timeline > Actions".

A pending plan may come from another engine, or may have been changed. Before anything is deleted:

    rollback    each file is a base or log file that the write to roll back has stored: its instant is in the name
    both        no savepoint protects a completed write that is to be removed
    rollback    no later write had completed when the plan was made, or began after the one to roll back had completed: it
                would be based on what is removed
    rollback    the write is on the active timeline, or its files are gone: archived writes had completed
    restore     each completed write completed after the target did
    restore     every write that is later than the target is removed, not only some of them; none began after one of these had
                completed
    both        no file of the state that remains was deleted by a clean, or is planned to be
"""

from collections.abc import Collection, Iterable, Sequence

from hudi_reference.errors import UnsafePlan
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.rollback_validation import find_lost_file
from hudi_reference.services.planning.unsafe_plan import unsafe_plan
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.history.history import END_OF_TIME
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State


@implements("TL-019", "TL-021")
def check_rollback_plan(table: Table, requested: str, target: str, files: Collection[str]) -> None:
    """Check the plan of the rollback that was requested then. Changes nothing.

    Args:
        table: the table as it is now.
        requested: the requested time of the rollback.
        target: the requested time of the write that it rolls back.
        files: the paths that it deletes.

    Raises:
        UnsafePlan: the plan must not be executed; the error names the plan, and the file or the write.
    """
    _check_time(table, "rollback", requested, target)
    for path in files:
        partition, name = split_path(path)
        file = parse_data_file_name(name)
        if file is None or file.instant != target or META_FOLDER in partition.split("/"):
            raise _unsafe(table, "rollback", requested, "TL-019", f"{path}: not a data file of the write {target}")
    timeline = table.timeline
    targets = [found for found in timeline.writes if found.requested == target]
    if not targets and timeline.completion_of(target) is not None:
        for path in files:
            if table.storage.head(path) is not None:
                raise _unsafe(table, "rollback", requested, "TL-019", f"{path}: the write {target} is archived")
    for write in (found for found in targets if found.state is State.COMPLETED):
        _check_not_savepointed(table, timeline, "rollback", requested, {target})
        for other in timeline.commits:
            had_completed = (other.completion or other.requested) < requested
            is_based_on_it = other.requested > (write.completion or write.requested)
            if is_based_on_it or (had_completed and _is_later(other, write)):
                raise _unsafe(table, "rollback", requested, "TL-019", f"{other.file_name} is later than {write.file_name}")
        if (write.completion or "") < requested:  # a plan that the write has overtaken is dropped
            _check_complete(table, timeline, "rollback", requested, (write,))


@implements("TL-021", "TL-023")
def check_restore_plan(table: Table, requested: str, target: str, removed: Iterable[str]) -> None:
    """Check the plan of the restore that was requested then. Changes nothing.

    Args:
        table: the table as it is now.
        requested: the requested time of the restore.
        target: the requested time of the commit to which it restores; "" in plans of releases that do not store it.
        removed: the requested times of the writes that it removes.

    Raises:
        UnsafePlan: the plan must not be executed; the error names the plan and the write.
    """
    times, timeline = set(removed), table.timeline
    for time in times:
        _check_time(table, "restore", requested, time)
    _check_not_savepointed(table, timeline, "restore", requested, times)
    commits = timeline.commits
    going = [found for found in commits if found.requested in times]
    base = next((found for found in commits if found.requested == target), None)
    if target and base is None:
        raise _unsafe(table, "restore", requested, "TL-023", f"{target} is not a completed commit on the active timeline")
    start = base or min(going, key=lambda found: found.requested, default=None)
    if start is None:
        return
    for found in going if base is not None else ():
        if not _is_after(found, start):
            raise _unsafe(table, "restore", requested, "TL-023", f"{found.file_name} is not later than the target {target}")
    first_done = min((found.completion or found.requested for found in going), default=END_OF_TIME)
    for found in commits:
        is_kept = (
            found.requested not in times and found.requested > start.requested and (base is None or _is_after(found, base))
        )
        had_completed = (found.completion or found.requested) < requested
        if is_kept and (had_completed or found.requested > first_done) and _needs(table, found, going):
            raise _unsafe(table, "restore", requested, "TL-023", f"{found.file_name} is later than the target and would stay")
    if going:
        _check_complete(table, timeline, "restore", requested, [found for found in timeline.writes if found.requested in times])


def _check_complete(table: Table, timeline: Timeline, action: str, requested: str, removed: Sequence[Instant]) -> None:
    path = find_lost_file(table, timeline, removed)
    if path is not None:
        raise _unsafe(table, action, requested, "CLN-003", f"{path}: a clean has deleted it, or is planned to")


def _is_later(found: Instant, than: Instant) -> bool:
    return found.requested > than.requested or (found.completion or "") > (than.completion or than.requested)


def _is_after(found: Instant, base: Instant) -> bool:
    """Whether an action completed after another one had."""
    return (found.completion or found.requested) > (base.completion or base.requested)


def _needs(table: Table, found: Instant, removed: Iterable[Instant]) -> bool:
    """Whether a write that stays may have rows of these writes. A compaction has them if they had completed before its plan."""
    is_compaction = load_commit(table.storage, table.properties, found).operation == "COMPACT"
    return not is_compaction or any((other.completion or other.requested) < found.requested for other in removed)


def _check_time(table: Table, action: str, requested: str, time: str) -> None:
    """The time becomes a part of the paths of markers and heartbeats."""
    if not (time.isascii() and time.isdigit()):
        raise _unsafe(table, action, requested, "TL-027", f"{time!r} is not an instant time")


def _check_not_savepointed(table: Table, timeline: Timeline, action: str, requested: str, times: Collection[str]) -> None:
    for found in timeline.completed:
        if found.action == "savepoint" and found.requested in times:
            raise _unsafe(table, action, requested, "TL-021", f"a savepoint protects {found.requested}")


def _unsafe(table: Table, action: str, requested: str, rule: str, found: str) -> UnsafePlan:
    return unsafe_plan(
        table, action, requested, f"the plan of the {action} would remove what must stay", rule=rule,
        expected="writes that nothing else is based on, with their own files", found=found,
    )  # fmt: skip
