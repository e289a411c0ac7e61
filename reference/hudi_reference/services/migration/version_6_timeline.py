"""Conversion of instants from version 6 to version 8: their files, and their rows in the history.

    .hoodie/<requested>.<action>            ->  .hoodie/timeline/<requested>_<completion>.<action>
    .hoodie/<requested>.replacecommit.*     ->  the same, or <requested>.clustering.* where the plan is of a clustering
    .hoodie/archived/.commits_.archive.<n>  ->  .hoodie/timeline/history

Commits are converted from JSON to Avro; all other contents are Avro already, and so are some inflight files after a downgrade.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_reference.ids import Ids
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.legacy.archived_log import encode_record, read_archived_log
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectInfo, Storage
from hudi_reference.timeline.contents.avro_container import MAGIC, read_record
from hudi_reference.timeline.history.history import ArchivedAction
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS, State
from hudi_reference.timeline.instants.version_6 import (
    LegacyInstant,
    completion_of,
    just_after,
    parse_legacy_name,
    read_json_record,
)


@dataclass(frozen=True)
class OldFile:
    """One file of an old timeline, with its action and state, and its content."""

    info: ObjectInfo
    instant: LegacyInstant
    content: bytes

    @property
    def record(self) -> Mapping[str, Any] | None:
        """The JSON record of a commit, in any state; None for other actions, and for an empty file."""
        is_json = self.instant.action in COMMITS and self.instant.state is not State.REQUESTED
        # ER-265: a downgrade by Apache Hudi 1.2.0 leaves the inflight files of overwrites in Avro.
        is_avro = self.instant.state is State.INFLIGHT and self.content.startswith(MAGIC)
        return read_json_record(self.content, self.info.path) if is_json and self.content and not is_avro else None


def read_old_files(files: Iterable[ObjectInfo], storage: Storage, properties: TableProperties) -> tuple[OldFile, ...]:
    """The files of the old timeline in a listing of `.hoodie`, with their contents."""
    found = []
    for info in files:
        instant = parse_legacy_name(info.path.removeprefix(f"{META_FOLDER}/"))
        if instant is None:
            continue
        if instant.state is State.COMPLETED:
            instant = replace(instant, completion=completion_of(instant.requested, info, properties))
        found.append(OldFile(info, instant, storage.get(info.path)))
    return tuple(found)


@implements("TL-004", "TL-025", "COMPAT-006")
def completion_times(completed: Iterable[tuple[Instant, Mapping[str, Any] | None]]) -> dict[Instant, str]:
    """A completion time for each completed instant, given with the metadata of writes.

    It is the time of the instant's file, if that is after the request, before the request of the next write to one of its file
    groups, and unique. Otherwise it is just after the request: the files of a copied table were all modified at one time, and
    with that time logs would be assigned to slices of later base files.
    """
    completed = sorted(completed, key=lambda pair: pair[0].requested)
    touched: dict[tuple[str, str], list[str]] = {}
    for instant, metadata in completed:
        for group in _file_groups(metadata):
            touched.setdefault(group, []).append(instant.requested)
    taken = {instant.requested for instant, _ in completed}
    times: dict[Instant, str] = {}
    for instant, metadata in completed:
        later = (_first_time_after(touched[group], instant.requested) for group in _file_groups(metadata))
        limit = min((time for time in later if time is not None), default=None)
        time = instant.completion or ""
        if time <= instant.requested or (limit is not None and time >= limit):
            time = just_after(instant.requested)
        while time in taken:
            time = just_after(time)
        taken.add(time)
        times[instant] = time
    return times


def _file_groups(metadata: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    for partition, stats in ((metadata or {}).get("partitionToWriteStats") or {}).items():
        for stat in stats or ():
            yield partition, stat.get("fileId") or ""


def _first_time_after(times: list[str], time: str) -> str | None:
    place = bisect_right(times, time)
    return times[place] if place < len(times) else None


@dataclass(frozen=True)
class MigratedTimeline:
    """Files of the new timeline by name, and the actions of the history."""

    files: Mapping[str, bytes]
    history: tuple[ArchivedAction, ...]


@implements("COMPAT-006", "TL-002", "TL-007", "TL-009", "TL-031", "LSM-002", "LSM-020")
def migrate_timeline(storage: Storage, properties: TableProperties, old: Iterable[OldFile], ids: Ids) -> MigratedTimeline:
    """The content of the new timeline, with the archived instants. Raises MalformedTable."""
    old = tuple(old)
    active = {file.instant.identity for file in old}
    archived = [a for a in read_archived_log(storage, properties.history_folder) if a.instant.identity not in active]
    completed = [(file.instant, file.record) for file in old if file.instant.state is State.COMPLETED]
    times = completion_times([*completed, *((a.instant, a.metadata) for a in archived)])
    clusterings = {file.instant.requested for file in old if _is_clustering(file)}
    files = {}
    for file in old:
        instant = _rename_instant(file.instant, times, clusterings)
        files[instant.file_name] = _content(file, ids)
    return MigratedTimeline(files, tuple(a.as_action(times[a.instant], ids.sync_marker) for a in archived))


def _is_clustering(file: OldFile) -> bool:
    """Whether a file is the plan of a clustering: in version 6 all actions that replace file groups are replacecommits."""
    if (file.instant.action, file.instant.state) != ("replacecommit", State.REQUESTED) or not file.content:
        return False
    plan = read_record(file.content, file.info.path)
    return plan.get("operationType") == "CLUSTER" or plan.get("clusteringPlan") is not None


def _rename_instant(instant: LegacyInstant, times: Mapping[Instant, str], clusterings: set[str]) -> Instant:
    if instant.state is State.COMPLETED:
        return Instant(instant.requested, ACTIONS[instant.action].completes_as, State.COMPLETED, times[instant])
    clusters = instant.action == "replacecommit" and instant.requested in clusterings
    return Instant(instant.requested, "clustering" if clusters else instant.action, instant.state)


def _content(file: OldFile, ids: Ids) -> bytes:
    record = file.record
    if record is None:
        return file.content
    name = ACTIONS[file.instant.action].contents[file.instant.state].records[0]
    return encode_record(name, record, ids.sync_marker)
