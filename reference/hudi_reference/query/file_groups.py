"""File groups and their slices as of a read time, spec "File Layout Hierarchy" and "Reader Expectations".

Files of writes that are not completed are ignored. Each base file, and each pending compaction, starts a slice at its requested
time. A log file belongs to the newest slice that started no later than the log file's write completed.
"""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hudi_reference.caching import cached_property
from hudi_reference.layout.names import BaseFileName, LogFileName, join_path, parse_data_file_name
from hudi_reference.requirement import implements
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.schema_history import carried_versions

GroupId = tuple[str, str]
#: Offsets of the first byte and of the byte after the last one.
Span = tuple[int, int]
#: The requested time of a bootstrap that stores meta columns alone; one of whole rows has the next one.
BOOTSTRAP_OF_METADATA = "00000000000001"
#: The name of a data file, as text and parsed.
NamedFile = tuple[str, BaseFileName | LogFileName]


@implements("LAY-022", "LAY-023")
@dataclass(frozen=True)
class FileSlice:
    """One slice: at most one base file, and log files in merge order.

    `missing` are files that the timeline names and storage does not have.
    """

    partition: str
    file_id: str
    base_instant: str
    base_file: str | None = None
    log_files: tuple[str, ...] = ()
    pending_compaction: bool = False
    missing: frozenset[str] = frozenset()

    @property
    def group(self) -> GroupId:
        """The file group of the slice."""
        return self.partition, self.file_id

    @cached_property
    def base_file_instant(self) -> str:
        """The instant that wrote the base file; "" if there is no base file."""
        parsed = parse_data_file_name(self.base_file or "")
        return parsed.instant if isinstance(parsed, BaseFileName) else ""

    @property
    def lacks_columns(self) -> bool:
        """Whether the base file has meta columns alone: the others are in a file outside of the table (LAY-007)."""
        return self.base_file is not None and self.base_instant == BOOTSTRAP_OF_METADATA

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, the base file first."""
        return (*((self.base_file,) if self.base_file else ()), *self.log_files)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the files below the base path, the base file first."""
        return tuple(map(self.path, self.files))

    def path(self, name: str) -> str:
        """A file's path below the base path."""
        return join_path(self.partition, name)

    @implements("TL-036", "RDR-012")
    def lost_path(self, *, logs: bool) -> str | None:
        """The path of a missing file that a query needs, with log files or without them; None if there is none."""
        # A slice of log files alone has lost its base file too, if its log files are missing.
        needed = self.missing if logs or self.base_file is None else self.missing & {self.base_file}
        return self.path(min(needed)) if needed else None


@implements("LAY-020", "RDR-007", "RDR-010", "RDR-012")
@dataclass(frozen=True)
class FileGroup:
    """The slices of one file id in one partition, newest first.

    `replaced_by` is the requested time of the replacecommit that replaced the group.
    """

    partition: str
    file_id: str
    slices: tuple[FileSlice, ...]
    replaced_by: str | None = None

    @property
    def latest(self) -> FileSlice | None:
        """The slice that a snapshot reads; None for a replaced group.

        The slice of a pending compaction has no base file yet, so its log files are merged into the slice before it.
        """
        if self.replaced_by is not None or not self.slices:
            return None
        newest, *older = self.slices
        while newest.pending_compaction and older:
            before = older.pop(0)
            newest = replace(before, log_files=before.log_files + newest.log_files, missing=before.missing | newest.missing)
        return newest

    @implements("RDR-006", "RDR-011")
    def at(self, timeline: Timeline, *, is_legacy: bool = False) -> "FileGroup | None":
        """The group as it was on an earlier timeline; None if it had no slice then."""
        names = [(one, name) for one in self.slices for name in one.files]
        parsed = [(name, parse_data_file_name(name)) for _, name in names]
        files = [(name, file) for name, file in parsed if file is not None]
        listed = {one.path(name) for one, name in names if name not in one.missing}
        slices = make_slices((self.partition, self.file_id), files, (), timeline, listed, is_legacy=is_legacy)
        # ER-037: a replacecommit hides its groups from its requested time on, so that time travel still reads them.
        is_replaced = self.replaced_by is not None and timeline.completion_of(self.replaced_by) is not None
        return FileGroup(self.partition, self.file_id, slices, self.replaced_by if is_replaced else None) if slices else None


@dataclass(frozen=True)
class CommittedFiles:
    """The files of the completed writes of the active timeline.

    Attributes:
        spans: the spans of bytes that the writes made, by path. Files whose metadata has no size are left out.
        by_write: the paths of all files of each write, change-capture files included, by its requested time.
        rows: how many rows the writes counted in their base files, by path.
        appended: the requested times of the writes that wrote bytes into a log file, by path.
        schemas: the schema of each write as Avro JSON, by its requested time. Empty if a statement changed the schema of the
            table: columns are matched by ids then, and files may have other names.
    """

    spans: Mapping[str, tuple[Span, ...]]
    by_write: Mapping[str, frozenset[str]]
    rows: Mapping[str, int] = field(default_factory=dict)
    appended: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    schemas: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FileGroups:
    """All file groups of a table at one read time, by partition and file id.

    `commits` is the metadata of the completed writes on the active timeline, by requested time.
    """

    groups: Mapping[GroupId, FileGroup]
    commits: dict[Instant, CommitMetadata] = field(default_factory=dict)

    def __iter__(self) -> Iterator[FileGroup]:
        return iter(self.groups.values())

    def committed_files(self) -> CommittedFiles:
        """The files that those writes wrote."""
        spans: dict[str, list[Span]] = {}
        rows: dict[str, int] = {}
        appended: dict[str, tuple[str, ...]] = {}
        for instant, commit in self.commits.items():
            for stat in commit.stats:
                if stat.path and stat.size:
                    spans.setdefault(stat.path, []).append((stat.log_offset, stat.size))
                if ".log." in stat.path and stat.size > stat.log_offset:
                    appended[stat.path] = (*appended.get(stat.path, ()), instant.requested)
                if stat.writes and not stat.is_log:
                    rows[stat.path] = stat.writes
        by_write = {instant.requested: commit.paths for instant, commit in self.commits.items()}
        schemas = {instant.requested: commit.schema for instant, commit in self.commits.items() if commit.schema is not None}
        if any(carried_versions(self.commits)):
            schemas = {}
        return CommittedFiles({path: tuple(found) for path, found in spans.items()}, by_write, rows, appended, schemas)

    @implements("RDR-006", "RDR-011")
    def at(self, timeline: Timeline, *, is_legacy: bool = False) -> "FileGroups":
        """The groups as they were on an earlier timeline, from files that exist or are known to be missing."""
        found = ((identity, group.at(timeline, is_legacy=is_legacy)) for identity, group in self.groups.items())
        then = set(timeline.commits)
        commits = {instant: commit for instant, commit in self.commits.items() if instant in then}
        return FileGroups({identity: group for identity, group in found if group is not None}, commits)

    @cached_property
    @implements("RDR-010", "LAY-003")
    def latest_slices(self) -> tuple[FileSlice, ...]:
        """The slices that a snapshot reads."""
        return tuple(latest for group in self.groups.values() if (latest := group.latest) is not None)

    def slices_in(self, partitions: Collection[str]) -> tuple[FileSlice, ...]:
        """The slices that a snapshot reads in these partitions."""
        return tuple(file_slice for file_slice in self.latest_slices if file_slice.partition in partitions)

    @property
    def replaced(self) -> frozenset[GroupId]:
        """The groups that were replaced, also those without files; rows that are written to one are never read."""
        return frozenset(replaced_groups(self.commits))


@implements("RDR-010", "RDR-011", "TL-010", "TL-039")
def replaced_groups(commits: Mapping[Instant, CommitMetadata]) -> dict[GroupId, str]:
    """The file groups that these writes replaced, each with the requested time of its replacecommit."""
    return {
        (partition, file_id): instant.requested
        for instant, commit in commits.items()
        for partition, file_ids in commit.replaced.items()
        for file_id in file_ids
    }


@implements("RDR-008", "RDR-012", "RDR-013", "RDR-015", "MRG-009", "NBC-002", "LAY-023", "TL-033", "COMPAT-003")
def make_slices(
    identity: GroupId,
    files: Iterable[NamedFile],
    compactions: tuple[str, ...],
    timeline: Timeline,
    listed: set[str],
    *,
    is_legacy: bool,
) -> tuple[FileSlice, ...]:
    """The slices of one group, newest first.

    Args:
        identity: partition and file id.
        files: names of base files and log files, as text and parsed.
        compactions: the requested times of its pending compactions.
        timeline: the completed writes at the read time.
        listed: the paths of all files in storage.
        is_legacy: whether the table is of version 6.
    """
    last = timeline.read_time
    slices = {instant: FileSlice(*identity, instant, pending_compaction=True) for instant in compactions}
    logs = []
    for name, parsed in files:
        # ER-034: files whose time is the read time are included; the text excludes them.
        if parsed.instant > last:
            continue
        completion = timeline.completion_of(parsed.instant)
        if isinstance(parsed, LogFileName):
            # ER-023: in version 6 the name has the instant of the slice, which is that of its base file or of a pending
            # compaction, and not that of the writer. ER-085: after an upgrade the log files of a compaction that was pending
            # then still have its instant.
            time = parsed.instant if is_legacy or parsed.instant in compactions else completion
            if time is not None:
                logs.append((parsed.merge_order, name, parsed, time))
        elif completion is not None:
            slices[parsed.instant] = FileSlice(*identity, parsed.instant, base_file=name)
    starts, logs_of = sorted(slices), dict[str, list[str]]()
    for _, name, parsed, time in sorted(logs, key=lambda log: log[0]):
        # ER-035: the slice with the greatest base instant up to the completion time of the log file.
        place = bisect_right(starts, time)
        start = starts[place - 1] if place else parsed.instant
        if start not in slices:
            slices[start] = FileSlice(*identity, start)
            insort(starts, start)
        logs_of.setdefault(start, []).append(name)
    slices |= {start: replace(slices[start], log_files=tuple(names)) for start, names in logs_of.items()}
    return tuple(_mark_missing_files(slices[start], listed) for start in sorted(slices, reverse=True))


@implements("TL-036")
def _mark_missing_files(file_slice: FileSlice, listed: set[str]) -> FileSlice:
    """The slice with those of its files marked as missing that storage does not have."""
    missing = [name for name in file_slice.files if file_slice.path(name) not in listed]
    return replace(file_slice, missing=frozenset(missing)) if missing else file_slice
