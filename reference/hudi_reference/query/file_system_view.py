"""The file groups of a table at a read time, from one listing of storage and the metadata of the timeline.

Apache Hudi calls this the file system view. Files of writes that are not completed, or of failed attempts, are left out.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from hudi_reference.errors import ActionRemoved, MalformedFileName
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.query.damage_checks import (
    DAMAGE_CHECKS,
    ReadChecks,
    faults_between_commits,
    faults_of_commit,
    faults_of_empty_timeline,
    faults_of_moved_actions,
    faults_of_unnamed_files,
)
from hudi_reference.query.file_groups import FileGroup, FileGroups, GroupId, NamedFile, make_slices, replaced_groups
from hudi_reference.query.pruning.folder_listing import Listed
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.avro_container import read_record
from hudi_reference.timeline.contents.metadata import CommitMetadata, groups_of_compaction, read_commit_metadata
from hudi_reference.timeline.history.archived import archived_commits
from hudi_reference.timeline.history.history import END_OF_TIME
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

#: Greater than the requested times of the creations of partitions of a metadata table, which are no times of a clock.
_AFTER_CREATIONS = "00000000000001"
#: Lists the files of some partitions; the argument are the completed writes.
Listing = Callable[[Mapping[Instant, CommitMetadata]], Listed]


@implements("LAY-003", "LAY-005", "LAY-009", "LAY-010", "LAY-012", "LAY-019", "RDR-005", "RDR-018", "OCC-021")
def load_file_groups(
    storage: Storage,
    properties: TableProperties,
    timeline: Timeline,
    known: FileGroups | None = None,
    listing: Listing | None = None,
    checks: ReadChecks = DAMAGE_CHECKS,
) -> FileGroups:
    """The file groups at the time of the last instant of `timeline`, from one listing and the timeline's metadata.

    `known` are the groups at an earlier time: metadata of writes that had completed then is not read again. `listing` returns
    the paths of some partitions, from another source than a listing of the whole table.
    """
    before = {} if known is None else known.commits
    commits = {one: before.get(one) or load_commit(storage, properties, one, checks) for one in timeline.commits}
    checks.refuse(faults_between_commits(commits, timeline, properties))
    if properties.is_metadata_table:
        commits = _drop_commits_before_creation(commits)
    if listing is None:
        listed, holds = Listed({info.path for info in storage.list(skip=META_FOLDER)})
    else:
        listed, holds = listing(commits)
    checks.refuse(faults_of_moved_actions(listed, commits, timeline, storage, properties))
    if not timeline.instants and timeline.read_time == END_OF_TIME:
        checks.refuse(faults_of_empty_timeline(listed, storage, properties))
    checks.refuse(faults_of_unnamed_files(listed, commits, properties))
    compactions = _pending_compactions(storage, properties, timeline)

    def grouped(commits: dict[Instant, CommitMetadata]) -> FileGroups:
        groups, replaced = {}, replaced_groups(commits)
        for identity, files in _collect_data_files(listed, commits, holds).items():
            pending = compactions.get(identity, ())
            slices = make_slices(identity, files, pending, timeline, listed, is_legacy=properties.is_legacy)
            if slices:
                groups[identity] = FileGroup(*identity, slices, replaced.get(identity))
        return FileGroups(groups, commits)

    found = grouped(commits)
    if properties.is_metadata_table and any(one.missing for one in found.latest_slices):
        archived = archived_commits(timeline.archived, end=_AFTER_CREATIONS)
        found = grouped(_drop_commits_before_creation(commits, archived))
    return found


@implements("MDT-002", "PROP-013")
def _drop_commits_before_creation(
    commits: Mapping[Instant, CommitMetadata], archived: Mapping[Instant, CommitMetadata] = MappingProxyType({})
) -> dict[Instant, CommitMetadata]:
    """The commits of a metadata table without the files of earlier partitions: an index may be dropped and created again.

    Dropping an index deletes its folder and leaves the timeline as it is, so that earlier commits name files that are gone. The
    creation of a partition is a bulk insert. Its requested time is small, so that it may be `archived` before earlier commits.
    """
    created: dict[str, str] = {}
    for instant, commit in (*archived.items(), *commits.items()):
        if commit.operation in ("BULK_INSERT", "BULK_INSERT_PREPPED"):
            for stat in commit.stats:
                created[stat.partition] = max(created.get(stat.partition, ""), instant.completion or "")
    kept = {}
    for instant, commit in commits.items():
        stats = tuple(stat for stat in commit.stats if (instant.completion or "") >= created.get(stat.partition, ""))
        kept[instant] = commit if len(stats) == len(commit.stats) else replace(commit, stats=stats)
    return kept


@implements("TYP-005")
def _collect_data_files(
    listed: Collection[str], commits: Mapping[Instant, CommitMetadata], holds: Callable[[str], bool] | None = None
) -> dict[GroupId, list[NamedFile]]:
    """Base files and log files of each file group, without those of failed attempts.

    Args:
        listed: the paths of all files in storage, or in the partitions that `holds` selects.
        commits: the metadata of the completed writes; it may name files that storage does not have.
        holds: whether the files of a partition are listed; None for all partitions.

    Raises:
        MalformedFileName: metadata names a file that is no data file.
    """
    committed = {stat.path for commit in commits.values() for stat in commit.stats if stat.path}
    if holds is not None:
        committed = {path for path in committed if holds(split_path(path)[0])}
    found: dict[str, BaseFileName | LogFileName] = {}
    for path in sorted({*listed, *committed}):
        parsed = parse_data_file_name(split_path(path)[1])
        if parsed is None and path in committed:
            raise MalformedFileName(
                "not the name of a data file", rule="BF-003", path=path, remedy="the commit metadata names it"
            )
        if parsed is None or (isinstance(parsed, LogFileName) and parsed.cdc):
            continue
        found[path] = parsed
    files: dict[GroupId, list[NamedFile]] = {}
    failed = _files_of_failed_attempts(found, commits)
    for path, parsed in found.items():
        if path not in failed:
            partition, name = split_path(path)
            files.setdefault((partition, parsed.file_id), []).append((name, parsed))
    return files


@implements("BF-006", "BF-008", "LF-006", "TL-005")
def _files_of_failed_attempts(
    files: Mapping[str, BaseFileName | LogFileName], commits: Mapping[Instant, CommitMetadata]
) -> set[str]:
    """The paths of the data files of failed task attempts, as far as the commit metadata shows them.

    Commit metadata names every base file of its write, so other base files of its instant are of failed attempts. It does not
    name every log file: rollback commands are stored in files of their own. So a log file is of a failed attempt only if the
    metadata names another one of the same group, instant and version. In version 6 the instant in the name of a log file is not
    that of its writer, which is compared too.
    """
    described = {instant.requested for instant in commits}
    winners = {stat.path: instant.requested for instant, commit in commits.items() for stat in commit.stats if stat.path}
    logs = {
        path: (split_path(path)[0], file.file_id, file.version, file.instant)
        for path, file in files.items()
        if isinstance(file, LogFileName)
    }
    taken = {logs[path] for path, writer in winners.items() if path in logs and logs[path][-1] == writer}
    lost_logs = {path for path, attempt in logs.items() if attempt in taken}
    lost_bases = {path for path, file in files.items() if path not in logs and file.instant in described}
    return (lost_logs | lost_bases) - winners.keys()


@implements("TL-005", "BF-009")
def load_commit(
    storage: Storage, properties: TableProperties, instant: Instant, checks: ReadChecks = DAMAGE_CHECKS
) -> CommitMetadata:
    """The metadata of one completed write. Raises MalformedMetadata, also if it is the metadata of another write."""
    path = f"{properties.timeline_folder}/{instant.file_name}"
    commit = read_commit_metadata(_content(storage, path, "TL-007"), path, legacy=properties.is_legacy)
    checks.refuse(faults_of_commit(commit, instant, path, is_legacy=properties.is_legacy))
    return commit


def _content(storage: Storage, path: str, rule: str) -> bytes:
    try:
        return storage.get(path)
    except FileNotFoundError as error:
        raise ActionRemoved(
            "the file of an action is missing", rule=rule, path=path, remedy="read again: it may have been archived meanwhile"
        ) from error


@implements("CMP-003", "TL-047")
def _pending_compactions(storage: Storage, properties: TableProperties, timeline: Timeline) -> dict[GroupId, tuple[str, ...]]:
    """Requested times of the pending compactions of each file group."""
    found: dict[GroupId, list[str]] = {}
    for instant in timeline.pending:
        if instant.action != "compaction":
            continue
        requested = Instant(instant.requested, "compaction", State.REQUESTED)
        path = f"{properties.timeline_folder}/{requested.file_name}"
        for group in groups_of_compaction(read_record(_content(storage, path, "TL-015"), path), path):
            found.setdefault(group, []).append(instant.requested)
    return {group: tuple(times) for group, times in found.items()}
