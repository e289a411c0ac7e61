"""Checks that the files of a table fit together, so that damage is an error and not another answer.

The timeline describes every file that counts: a table with data files has a timeline, metadata describes the action in whose
file it is, and no completed action is based on an incomplete one. The checks take what a reader has read anyway. docs/damage.md
lists them, and the damages that no check can find.

A table passes its `ReadChecks` to what reads its files. A reader with `NO_CHECKS` reads damaged tables too: a validator, which
examines them, or an engine that has no such checks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from hudi_reference.errors import MalformedMetadata, MalformedTable, UnfinishedMigration
from hudi_reference.files.base.written_file import UNKNOWN, WrittenFile
from hudi_reference.layout.names import BASE_EXTENSIONS, BaseFileName, LogFileName, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.contents.avro_container import Record
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State
from hudi_reference.timeline.instants.version_6 import parse_legacy_name, unfinished

#: Compactions of base files and of log files.
_COMPACTIONS = ("compaction", "logcompaction")
_REMEDY = "restore the file from another copy of the table"


@dataclass(frozen=True)
class ReadChecks:
    """Whether a reader refuses files that do not fit together."""

    is_on: bool = True

    def refuse(self, faults: Iterable[MalformedTable]) -> None:
        """Raise the first of these errors. Without checks they are not looked for."""
        if self.is_on:
            for fault in faults:
                raise fault

    def base_file(
        self,
        spans: Iterable[tuple[int, int]],
        timeline: Timeline,
        *,
        may_keep_names: bool,
        rows: int = 0,
        fills_meta_columns: bool = True,
        columns: pa.Schema | None = None,
        partition_values: Mapping[str, Any] = MappingProxyType({}),
    ) -> WrittenFile:
        """What the timeline says about a base file: completed writes made these spans of bytes and counted these rows."""
        if not self.is_on:
            return UNKNOWN
        pending = {instant.requested for instant in timeline.pending if ACTIONS[instant.action].writes}
        size = max((end for _, end in spans), default=0)
        return WrittenFile(True, size, pending, may_keep_names, rows, fills_meta_columns, columns, partition_values)


#: The checks of readers.
DAMAGE_CHECKS = ReadChecks()
NO_CHECKS = ReadChecks(is_on=False)


@implements("COMPAT-006")
def faults_of_moved_actions(
    listed: Iterable[str],
    commits: Mapping[Instant, CommitMetadata],
    timeline: Timeline,
    storage: Storage,
    properties: TableProperties,
) -> Iterator[UnfinishedMigration]:
    """Actions that an interrupted downgrade moved to the folder of version 6, while the table still has a later version.

    Without them rows are missing, or replaced rows return. They are looked for if data files are of actions that are not on the
    active timeline. A replacecommit may have no data files: it deletes partitions. If their writes are active, it is not found.
    """
    if properties.is_legacy or properties.is_metadata_table:
        return
    named = {stat.path for commit in commits.values() for stat in commit.stats}
    names = (parse_data_file_name(split_path(path)[1]) for path in listed if path not in named)
    active = {instant.requested for instant in timeline.instants}
    unknown = {name.instant for name in names if name is not None and name.instant <= timeline.read_time} - active
    for name in storage.names(META_FOLDER) if unknown else ():
        moved = parse_legacy_name(name)
        if (
            moved is not None
            and (moved.requested in unknown or (moved.state is State.COMPLETED and moved.action == "replacecommit"))
            and moved.requested not in active
            and moved.requested <= timeline.read_time
            and timeline.archived.completion_of(moved.requested, everywhere=True) is None
        ):
            yield unfinished(f"{META_FOLDER}/{name}", properties)  # ER-283


@implements("LAY-017", "TL-036")
def faults_of_empty_timeline(listed: Iterable[str], storage: Storage, properties: TableProperties) -> Iterator[MalformedTable]:
    """A table without instants that has data files: no writer stores a file before the first state of its action.

    The data files were listed after the timeline, so that the first write of a table may have begun in between.
    """
    stray = next((path for path in sorted(listed) if parse_data_file_name(split_path(path)[1]) is not None), None)
    if stray is not None and not load_timeline(storage, properties).instants:
        yield MalformedTable(
            "the timeline has no instant, and the table has data files", rule="LAY-017", path=properties.timeline_folder,
            expected="the instants of the actions that wrote the files", found=stray,
            remedy="restore the timeline folder, or hoodie.timeline.path in hoodie.properties",
        )  # fmt: skip


@implements("TL-007", "BF-009")
def faults_of_unnamed_files(
    listed: Iterable[str], commits: Mapping[Instant, CommitMetadata], properties: TableProperties
) -> Iterator[MalformedMetadata]:
    """Data files with the instant of a completed write whose metadata names no file.

    Failed attempts leave files that metadata does not name, but only beside those that it names. The name of a log file in
    a table that is older than version 8 may have the instant of its slice. New file groups of the metadata table begin with a
    log file that no metadata names.
    """
    if properties.is_metadata_table:
        return
    without = {one.requested: one for one, commit in commits.items() if not any(stat.path for stat in commit.stats)}
    for path in sorted(listed) if without else ():
        name = parse_data_file_name(split_path(path)[1])
        is_own = isinstance(name, BaseFileName) or properties.was_created_at_version_8
        if name is not None and is_own and (instant := without.get(name.instant)) is not None:
            yield _foreign(f"{properties.timeline_folder}/{instant.file_name}", "TL-007", f"the path of {path}", "no file")


@implements("TL-002", "TL-007", "BF-009")
def faults_of_commit(commit: CommitMetadata, instant: Instant, path: str, *, is_legacy: bool) -> Iterator[MalformedMetadata]:
    """What shows that the metadata in the completed file of an instant is not its own."""
    content = ACTIONS[instant.action].contents[instant.state]
    if isinstance(commit.record, Record) and not is_legacy and commit.record.name not in content.records:
        yield _foreign(path, "TL-002", " or ".join(content.records), commit.record.name)
    if not (commit.stats or commit.replaced or commit.record.get("extraMetadata")):
        yield _foreign(path, "TL-007", "files, or at least the schema of the table", "no information, as in an inflight file")
    own = tuple(f"_{instant.requested}.{extension}" for extension in BASE_EXTENSIONS)
    for stat in commit.stats:
        if stat.path.endswith(own):  # a base file of this instant
            continue
        if not stat.path and (stat.writes or stat.inserts or stat.updates):
            yield _foreign(
                path, "TL-007", "the path of each file that was written", "rows without a file, as in an inflight file"
            )
        name = parse_data_file_name(split_path(stat.path)[1])
        if instant.action == "commit" and isinstance(name, LogFileName):
            yield _foreign(path, "TL-007", "base files, as in every commit", stat.path)
        # The name of a log file may have the instant of its slice; `faults_between_commits` knows the plans of slices.
        if isinstance(name, BaseFileName) and name.instant != instant.requested:
            yield _foreign(path, "BF-009", f"files of instant {instant.requested}", stat.path)


@implements("TL-036", "TL-005")
def faults_between_commits(
    commits: Mapping[Instant, CommitMetadata], timeline: Timeline, properties: TableProperties
) -> Iterator[MalformedMetadata]:
    """What shows that completed writes do not fit together.

    Each span of a file was written by one action. A base file is made of files of completed actions: an action whose
    files its metadata names as earlier ones has completed, although its completed file is missing. So has the write of the
    base file whose logs a log compaction merges. What the metadata of another log file names as earlier says nothing: with
    change capture it is the whole slice, with the files of pending and failed writes. No action writes into the log file
    that another action has begun before that one has completed; names of version 6 have the instant of the slice instead,
    which the timeline knows.
    Compactions may be pending, because writes begin a slice at the time of a pending one. So may clusterings: with consistent
    hashing, a write stores its rows for the new buckets in log files with the instant of the clustering (ER-163). Such a plan
    may be later than the request of the write, which looks its slices up after that; no other name of a log file is later.
    """
    folder = properties.timeline_folder
    planned = instants_of_slices(timeline, commits)
    pending = {i.requested for i in timeline.pending if ACTIONS[i.action].writes and i.action not in _COMPACTIONS}
    clusterings = {i.requested for i in timeline.pending if i.action == "clustering"}
    begun = timeline.pending_times
    written: dict[tuple[str, int], Instant] = {}
    for instant, commit in commits.items():
        for stat in commit.stats:
            if stat.path and written.setdefault((stat.path, stat.log_offset), instant) is not instant:
                yield _foreign(f"{folder}/{instant.file_name}", "TL-005", "files that no other action wrote", stat.path)
            if stat.previous_instant in pending and (not stat.is_log or commit.operation == "LOG_COMPACT"):
                yield _incomplete(folder, instant, stat.previous_instant, stat.path)
            is_other = ".log." in stat.path and f"_{instant.requested}.log." not in stat.path
            name = parse_data_file_name(split_path(stat.path)[1]) if pending or is_other else None
            if is_other and not properties.is_legacy and name is not None and instant.requested < name.instant not in planned:
                yield _foreign(f"{folder}/{instant.file_name}", "BF-009", f"files of instant {instant.requested}", stat.path)
            is_of_slice = is_other and not properties.was_created_at_version_8
            if is_of_slice and name is not None and name.instant not in begun and timeline.completion_of(name.instant) is None:
                yield _incomplete(folder, instant, name.instant, stat.path)
            may_be_pending = properties.is_legacy or (isinstance(name, LogFileName) and name.instant in clusterings)
            if name is not None and name.instant in pending and not may_be_pending:
                yield _incomplete(folder, instant, name.instant, stat.path)
        for log in _earlier_logs(commit) if pending else ():
            if log.instant in pending:
                yield _incomplete(folder, instant, log.instant, str(log))


def instants_of_slices(timeline: Timeline, commits: Mapping[Instant, CommitMetadata]) -> set[str]:
    """The requested times of compactions and clusterings, pending or completed by `commits`: file slices begin at them."""
    planned = {one.requested for one in timeline.pending if one.action in ("compaction", "clustering")}
    return planned | {one.requested for one, commit in commits.items() if commit.operation in ("COMPACT", "CLUSTER")}


def _earlier_logs(commit: CommitMetadata) -> Iterator[LogFileName]:
    """The log files of which base files were made."""
    partitions: Mapping[str, Any] = commit.record.get("partitionToWriteStats") or {}
    for stat in (stat for stats in partitions.values() for stat in stats or ()):
        if not isinstance(parse_data_file_name(split_path(stat.get("path") or "")[1]), BaseFileName):
            continue
        names = map(parse_data_file_name, stat.get("logFiles") or ())
        yield from (name for name in names if isinstance(name, LogFileName))


def _incomplete(folder: str, instant: Instant, earlier: str, path: str) -> MalformedMetadata:
    return MalformedMetadata(
        "a completed action is based on one without a completed file", rule="TL-036", path=f"{folder}/{instant.file_name}",
        expected=f"the completed file of {earlier}", found=f"a pending action, and {path}",
        remedy="restore the completed file from another copy of the table",
    )  # fmt: skip


def _foreign(path: str, rule: str, expected: str, found: str) -> MalformedMetadata:
    return MalformedMetadata("the metadata is that of another action", rule=rule, path=path, expected=expected, found=found,
                             remedy=_REMEDY)  # fmt: skip
