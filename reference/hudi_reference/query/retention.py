"""How far back a table can be read: to its first instant, as far as cleans have retained, and to savepoints.

Spec "Table Management > Cleaning".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hudi_reference.errors import InvalidQuery, missing_data_file
from hudi_reference.layout.names import join_path, parse_data_file_name, tells_changes
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.file_groups import FileGroups, GroupId, load_commit
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.actions import load_action
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.history.history import END_OF_TIME
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS, State


@implements("CLN-003", "TL-041", "TYP-008")
def check_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> None:
    """Raises InvalidQuery if a clean may have deleted files that a read as of `time` needs: what is left is not the answer."""
    first = _first_retained(storage, properties, timeline, time)
    if time >= first:
        return
    newest = max((commit.requested for commit in timeline.commits if commit.requested <= time), default="")
    if any((i.requested, i.action) == (newest, "savepoint") for i in timeline.completed):
        return
    raise InvalidQuery(
        "the files of this time were cleaned", rule="CLN-003", expected=f"a time from {first} on, or a savepointed instant",
        found=time,
    )  # fmt: skip


@implements("TYP-008")
def check_begun(timeline: Timeline, time: str) -> None:
    """Raises InvalidQuery if all that ever completed was requested after `time`; a table where nothing did has no rows."""
    if any(instant.requested <= time for instant in timeline.completed):
        return
    first = next((instant.requested for instant in timeline.requested_between()), time)
    if time < first:
        raise InvalidQuery(
            "at this time the table had not begun", rule="TYP-008", expected=f"a time from {first} on, its first instant",
            found=time,
        )  # fmt: skip


def _first_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> str:
    """The first instant whose files are sure to be there; "" where no clean has ever been."""
    if earliest := _earliest_to_retain(storage, properties, timeline):
        return earliest
    start = timeline.start or ""
    if time >= start:  # what the active timeline knows to be missing is noticed, and the rest in `check_whole`
        return ""
    return start if was_cleaned(timeline) else ""


def _earliest_to_retain(storage: Storage, properties: TableProperties, timeline: Timeline) -> str:
    """What the last clean of the active timeline says; "" where there is none, or its policy knows no such instant."""
    cleans = [found for found in timeline.completed if found.action == "clean"]
    record: Mapping[str, Any] = (load_action(storage, properties, cleans[-1]) if cleans else None) or {}
    return str(record.get("earliestCommitToRetain") or "")


@implements("CLN-003", "CLN-005")
def check_state_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> None:
    """The same for the state at `time` where archived writes made part of it: nothing tells which of their files are gone.

    Only a clean that names the earliest instant it retained leaves a known state behind.
    """
    first = _earliest_to_retain(storage, properties, timeline) or END_OF_TIME
    if time < first and was_cleaned(timeline):
        raise cleaned_away(time, None if first == END_OF_TIME else first)


def cleaned_away(time: str, first: str | None, path: str | None = None) -> InvalidQuery:
    """The error for a state or change whose files are gone; `first` is the earliest time that can still be asked for."""
    return InvalidQuery(
        "the files of this time were cleaned", rule="CLN-003", path=path, found=time,
        expected="the present state" if first is None else f"a time from {first} on",
        remedy="leave the end out: what has changed since the beginning can still be told, in its present state",
    )  # fmt: skip


def was_cleaned(timeline: Timeline) -> bool:
    """Whether a clean has ever been."""
    return any(found.action == "clean" for found in (*timeline.completed, *timeline.history))


@implements("CLN-003", "CLN-006")
def check_whole(storage: Storage, properties: TableProperties, timeline: Timeline, then: FileGroups, time: str) -> None:
    """Raises InvalidQuery if files of the state `then` at `time` are gone that only archived writes knew of; MissingDataFile
    where no clean has ever been.
    """
    if time < (timeline.start or ""):
        return  # what archived writes put others in place of, nobody tells; `check_retained` has looked at it
    later = [commit for commit in timeline.commits if commit.requested > time]
    path = lost_file(storage, properties, later, then)
    if path is None:
        return
    if not was_cleaned(timeline):
        raise missing_data_file(path)
    raise InvalidQuery(
        "the files of this time were cleaned", rule="CLN-003", path=path, expected="a later time, or a savepointed instant",
        found=time,
    )  # fmt: skip


@implements("CLN-003")
def lost_file(storage: Storage, properties: TableProperties, later: Iterable[Instant], then: FileGroups) -> str | None:
    """The path of a file or group that the state before the writes in `later` needs and does not have; None if there is none.

    The metadata of a write names the files that it made, but that of archived writes is not at hand. What came later tells
    which files it put others in place of, and which groups it replaced.
    """
    times = {instant.requested for instant in later}
    commits = {i: load_commit(storage, properties, i) for i in later if i.state is State.COMPLETED and i.action in COMMITS}
    begun = {group for commit in commits.values() for group in _begun(commit)}
    for instant, commit in commits.items():
        for partition, name in (*_superseded(commit), *_compacted(storage, properties, instant, commit)):
            file = parse_data_file_name(name)
            if file is not None and file.instant not in times and name not in _names(then, (partition, file.file_id)):
                return join_path(partition, name)
        for partition, file_ids in commit.replaced.items():
            for file_id in file_ids:
                if (partition, file_id) not in begun and (partition, file_id) not in then.groups:
                    return join_path(partition, file_id)
    return None


def _begun(commit: CommitMetadata) -> Iterator[GroupId]:
    """The groups whose first file is a base file of this write. A compaction begins none: it reads logs."""
    for stat in commit.stats:
        if stat.previous_instant == "null" and not stat.is_log and commit.operation != "COMPACT":
            yield stat.partition, stat.file_id


def _superseded(commit: CommitMetadata) -> Iterator[tuple[str, str]]:
    """Partition and name of the base files that a write put others in place of."""
    return ((s.partition, s.previous_base_file.rpartition("/")[2]) for s in commit.stats if s.previous_base_file)


def _compacted(
    storage: Storage, properties: TableProperties, instant: Instant, commit: CommitMetadata
) -> Iterator[tuple[str, str]]:
    """Partition and name of the log files that a compaction read, by its plan."""
    if commit.operation != "COMPACT":
        return
    try:
        plan = load_action(storage, properties, Instant(instant.requested, "compaction", State.REQUESTED))
    except FileNotFoundError:
        return
    for operation in (plan["operations"] or ()) if plan else ():
        names = (path.rpartition("/")[2] for path in operation["deltaFilePaths"] or ())
        yield from ((operation["partitionPath"] or "", name) for name in names if not tells_changes(name))


def _names(groups: FileGroups, identity: GroupId) -> frozenset[str]:
    group = groups.groups.get(identity)
    return frozenset(name for found in (group.slices if group else ()) for name in (found.base_file or "", *found.log_files))
