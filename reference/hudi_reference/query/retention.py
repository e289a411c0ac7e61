"""How far back a table can be read: to the earliest instant that cleans retained, and to savepoints, spec "Cleaning"."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hudi_reference.errors import InvalidQuery, missing_data_file
from hudi_reference.layout.names import is_change_file, join_path, parse_data_file_name
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.file_groups import FileGroups, FileSlice, GroupId
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.actions import load_action
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.history.archived import archived_commits, metadata_of
from hudi_reference.timeline.history.history import END_OF_TIME
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS, State


@implements("CLN-003", "TL-041", "TYP-008")
def check_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> None:
    """Raises InvalidQuery if a clean may have deleted files that a query as of `time` needs."""
    first = _first_retained(storage, properties, timeline, time)
    if time >= first:
        return
    # Archived writes count, too: a savepointed write stays active when later ones are archived.
    writes = (found.requested for found in timeline.requested_between(end=time) if found.action in COMMITS)
    newest = max(writes, default="")
    if any((i.requested, i.action) == (newest, "savepoint") for i in timeline.completed):
        return
    raise InvalidQuery(
        "the files of this time were cleaned", rule="CLN-003", expected=f"a time from {first} on, or a savepointed instant",
        found=time,
    )  # fmt: skip


@implements("TYP-008")
def check_begun(timeline: Timeline, time: str) -> None:
    """Raises InvalidQuery if every completed action was requested after `time`. A table without actions has no rows."""
    if any(instant.requested <= time for instant in timeline.completed):
        return
    first = next((instant.requested for instant in timeline.requested_between()), time)
    if time < first:
        raise InvalidQuery(
            "this time is before the first instant of the table", rule="TYP-008",
            expected=f"a time from {first} on, its first instant", found=time,
        )  # fmt: skip


@implements("TYP-008", "RDR-006")
def timeline_as_of(timeline: Timeline, time: str) -> Timeline:
    """The actions that were requested at `time` or before. Raises InvalidQuery while a write of them is still pending."""
    if not timeline.instants:  # data files beside it are refused at any time
        return timeline
    before = timeline.until(time)
    for instant in before.pending:
        if instant.action in ("commit", "deltacommit", "replacecommit"):
            raise InvalidQuery(
                "a write requested before this time is still pending: its completion would change the answer",
                rule="TYP-008", path=instant.file_name, expected=f"a time before {instant.requested}", found=time,
            )  # fmt: skip
    return before


def _first_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> str:
    """The first instant from `time` on whose files are certain to exist; "" if no clean deleted files of `time`."""
    start = _start(timeline)
    # What the reader and `check_whole` know of the active timeline shows the files that such a clean deleted since `start`.
    unknown = start if time < start else ""
    return max((earliest or unknown for earliest in _earliest_retained(storage, properties, timeline, time)), default="")


def _start(timeline: Timeline) -> str:
    """The first write before which others may be archived; if all active writes are savepointed, the last of them."""
    return timeline.start or max((commit.requested for commit in timeline.commits), default="")


@implements("CLN-003", "CLN-005")
def _earliest_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> Iterator[str]:
    """The earliest instant that each clean requested after `time` retained; "" if that is not known.

    Earlier cleans have deleted no file of the state at `time`. Each clean counts, not only the last one: its settings may have
    been others. It is not known of archived cleans, of those by versions, and of one that has begun and did not complete.
    """
    for found in timeline.instants:
        if found.action != "clean" or found.requested <= time or found.state is State.REQUESTED:
            continue
        record: Mapping[str, Any] | None = None
        if found.state is State.COMPLETED:
            record = load_action(storage, properties, found)
        yield str((record or {}).get("earliestCommitToRetain") or "")
    if time < _start(timeline) and any(found.action == "clean" for found in timeline.archived.instants(begin=time)):
        yield ""


@implements("CLN-003", "CLN-005")
def check_state_retained(storage: Storage, properties: TableProperties, timeline: Timeline, time: str) -> None:
    """Raises InvalidQuery if a clean may have deleted files of the state at `time`, part of which archived writes made.

    The metadata of archived writes is not read, so the state is known only from the earliest instant on that all later cleans
    retained.
    """
    first = max((one or END_OF_TIME for one in _earliest_retained(storage, properties, timeline, time)), default="")
    if time < first:
        raise files_were_cleaned(time, None if first == END_OF_TIME else first)


def files_were_cleaned(time: str, first: str | None, path: str | None = None) -> InvalidQuery:
    """The error for a state or change whose files were cleaned; `first` is the earliest time that can be queried."""
    return InvalidQuery(
        "the files of this time were cleaned", rule="CLN-003", path=path, found=time,
        expected="the present state" if first is None else f"a time from {first} on",
        remedy="begin later; without an end, an incremental query reads the present state of what changed since the begin",
    )  # fmt: skip


def was_cleaned(timeline: Timeline) -> bool:
    """Whether the table was ever cleaned."""
    return any(found.action == "clean" for found in (*timeline.completed, *timeline.history))


@implements("CLN-003", "CLN-006")
def check_whole(storage: Storage, properties: TableProperties, timeline: Timeline, then: FileGroups, time: str) -> None:
    """Check that no file of the state `then` at `time` is missing that only the metadata of archived writes names.

    Raises:
        InvalidQuery: a file was cleaned.
        MissingDataFile: a file is missing, and the table was never cleaned.
    """
    if time < _start(timeline):
        return  # files that archived writes superseded are not known; `check_retained` covers this case
    later = [commit for commit in timeline.commits if commit.requested > time]
    path = find_missing_file(storage, properties, later, then) or _find_cleaned_file(storage, properties, timeline, then, time)
    if path is None:
        return
    if not was_cleaned(timeline):
        raise missing_data_file(path)
    raise _no_longer_whole(path, time)


@implements("CLN-003", "CLN-005")
def check_not_cleaned(
    storage: Storage, properties: TableProperties, now: Timeline, then: Timeline, slices: Iterable[FileSlice], *, logs: bool
) -> None:
    """Raises InvalidQuery if a clean since `then` deleted a file of these slices. Another missing file was lost."""
    time = max((found.requested for found in then.instants), default="")
    cleaned = {path for files in deleted_files(storage, properties, now, time).values() for _, path in files}
    for path in (one.lost_path(logs=logs) for one in slices):
        if path in cleaned:
            raise _no_longer_whole(path, time)


def _no_longer_whole(path: str, time: str) -> InvalidQuery:
    return InvalidQuery(
        "the files of this time were cleaned", rule="CLN-003", path=path, expected="a later time, or a savepointed instant",
        found=time,
    )  # fmt: skip


@implements("CLN-003", "CLN-006")
def _find_cleaned_file(
    storage: Storage, properties: TableProperties, timeline: Timeline, then: FileGroups, time: str
) -> str | None:
    """The path of a deleted file that is newer than the newest slice of its group in the state `then` at `time`.

    If a savepoint keeps an older slice of a group, and the write of the deleted one was archived, only the clean shows it.
    """
    newer = []
    for group, files in deleted_files(storage, properties, timeline, time).items():
        known = then.groups.get(group)
        newest = known.slices[0].base_instant if known is not None else ""
        for instant, path in files:
            is_newer = newest < instant <= time and timeline.completion_of(instant) is not None
            if is_newer and group not in then.replaced:
                newer.append((group, instant, path))
    replaced = _replaced_by_archived(timeline, min(instant for _, instant, _ in newer), time) if newer else {}
    return next((path for group, instant, path in newer if replaced.get(group, "") < instant), None)


def _replaced_by_archived(timeline: Timeline, begin: str, end: str) -> Mapping[GroupId, str]:
    """The groups that archived writes of this time replaced, with the requested time of the last of them."""
    found: dict[GroupId, str] = {}
    for instant, commit in archived_commits(timeline.archived, begin, end).items():
        for partition, file_ids in commit.replaced.items():
            for file_id in file_ids:
                found[partition, file_id] = max(found.get((partition, file_id), ""), instant.requested)
    return found


@implements("CLN-003", "TL-013")
def deleted_files(
    storage: Storage, properties: TableProperties, timeline: Timeline, time: str
) -> Mapping[GroupId, list[tuple[str, str]]]:
    """Instants and paths of the files of each group that the cleans requested after `time` deleted."""
    cleans = (i for i in timeline.completed if i.action == "clean" and i.requested > time)
    records: list[Mapping[str, Any] | None] = [load_action(storage, properties, clean) for clean in cleans]
    if time < _start(timeline):
        archived = timeline.archived.actions(begin=time, plan=False)
        records += [metadata_of(one, "a clean in the history") for one in archived if one.instant.action == "clean"]
    found: dict[GroupId, list[tuple[str, str]]] = {}
    for record in records:
        for partition, cleaned in ((record and record.get("partitionMetadata")) or {}).items():
            for name in (path.rpartition("/")[2] for path in cleaned.get("successDeleteFiles") or ()):
                file = parse_data_file_name(name)
                if file is not None and not is_change_file(name):
                    found.setdefault((partition, file.file_id), []).append((file.instant, join_path(partition, name)))
    return found


@implements("CLN-003")
def find_missing_file(storage: Storage, properties: TableProperties, later: Iterable[Instant], then: FileGroups) -> str | None:
    """The path of a file or group that is missing in the state before the writes in `later`; None if nothing is missing.

    The metadata of archived writes is not available. The metadata of later writes shows which older files they superseded and
    which groups they replaced.
    """
    times = {instant.requested for instant in later}
    commits = {i: load_commit(storage, properties, i) for i in later if i.state is State.COMPLETED and i.action in COMMITS}
    begun = {group for instant, commit in commits.items() for group in _groups_started_by(instant, commit)}
    for instant, commit in commits.items():
        for partition, name in (*_superseded_base_files(commit), *_compacted_log_files(storage, properties, instant, commit)):
            file = parse_data_file_name(name)
            if file is not None and file.instant not in times and name not in _names(then, (partition, file.file_id)):
                return join_path(partition, name)
        for partition, file_ids in commit.replaced.items():
            for file_id in file_ids:
                if (partition, file_id) not in begun and (partition, file_id) not in then.groups:
                    return join_path(partition, file_id)
    return None


def _groups_started_by(instant: Instant, commit: CommitMetadata) -> Iterator[GroupId]:
    """The groups whose first file is a file of this write: a base file without an older one, or a log file of a slice that the
    write itself began. A compaction starts no group, because it reads log files.
    """
    for stat in commit.stats:
        before_first = instant.requested if stat.is_log else "null"
        if stat.previous_instant == before_first and commit.operation != "COMPACT":
            yield stat.partition, stat.file_id


def _superseded_base_files(commit: CommitMetadata) -> Iterator[tuple[str, str]]:
    """Partition and name of the base files that a write superseded."""
    return ((s.partition, s.previous_base_file.rpartition("/")[2]) for s in commit.stats if s.previous_base_file)


def _compacted_log_files(
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
        yield from ((operation["partitionPath"] or "", name) for name in names if not is_change_file(name))


def _names(groups: FileGroups, identity: GroupId) -> frozenset[str]:
    group = groups.groups.get(identity)
    return frozenset(name for one in (group.slices if group else ()) for name in one.files)
