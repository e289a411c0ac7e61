"""The file groups of a damaged table, in two views.

The *reader's view* is what a query reads: writes before the active timeline count as committed, as readers assume. The *strict
view* has only files of writes that the active timeline or the history shows as completed and whose metadata names them. A file
that is in the reader's view alone is read although no completed write stored it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from hudi_conformance.validator.stored.history import KnownHistory
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name, split_path
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.damage_checks import NO_CHECKS
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.pruning.folder_listing import Listed
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import CommitMetadata, WriteStat
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State


@dataclass(frozen=True)
class DataFile:
    """A data file on storage."""

    path: str
    size: int
    modified: int
    name: BaseFileName | LogFileName

    @property
    def partition(self) -> str:
        """The partition path of its folder."""
        return split_path(self.path)[0]

    @property
    def group(self) -> tuple[str, str]:
        """Partition and file id."""
        return self.partition, self.name.file_id

    @property
    def is_change_log(self) -> bool:
        """Whether it is a CDC file, which is in no file slice."""
        return isinstance(self.name, LogFileName) and self.name.cdc


@dataclass(frozen=True)
class Views:
    """Makes the views.

    Attributes:
        storage: the storage of the table.
        properties: the properties with which the table is examined.
        files: the data files in scope, by path.
        wants: whether a partition is in scope.
        has_readable_plan: whether the plan of a pending compaction can be read; others are left out.
    """

    storage: Storage
    properties: TableProperties
    files: Mapping[str, DataFile]
    wants: Callable[[str], bool]
    has_readable_plan: Callable[[Instant], bool]

    def of_readers(self, timeline: Timeline, commits: Mapping[Instant, CommitMetadata]) -> FileGroups:
        """The reader's view."""
        return self._groups(timeline, commits)

    def strict(self, timeline: Timeline, archived: Iterable[Instant], commits: Mapping[Instant, CommitMetadata]) -> FileGroups:
        """The strict view; `commits` is the metadata of active and archived writes."""
        by_identity = {i.identity: i for i in (*timeline.pending, *archived, *timeline.completed)}
        instants = tuple(by_identity[identity] for identity in sorted(by_identity))
        return self._groups(Timeline(instants, KnownHistory(())), commits)

    def _groups(self, timeline: Timeline, commits: Mapping[Instant, CommitMetadata]) -> FileGroups:
        known = {instant: self._in_scope(commits.get(instant) or self._by_names(instant)) for instant in timeline.commits}
        readable = replace(timeline, instants=tuple(filter(self._can_be_read, timeline.instants)))
        listed = Listed(set(self.files))
        before = FileGroups({}, known)
        return load_file_groups(self.storage, self.properties, readable, before, lambda given: listed, NO_CHECKS)

    def _can_be_read(self, instant: Instant) -> bool:
        is_pending_compaction = instant.action == "compaction" and instant.state is not State.COMPLETED
        return not is_pending_compaction or self.has_readable_plan(instant)

    def _in_scope(self, commit: CommitMetadata) -> CommitMetadata:
        """The metadata without other partitions and without paths that are no names of data files."""
        places = ((stat, *split_path(stat.path)) for stat in commit.stats)
        kept = (stat for stat, partition, name in places if self.wants(partition) and parse_data_file_name(name) is not None)
        return replace(commit, stats=tuple(kept))

    def _by_names(self, instant: Instant) -> CommitMetadata:
        """The metadata of a write whose own cannot be read: the files with its requested time in their names."""
        mine = (file for file in self.files.values() if file.name.instant == instant.requested)
        return CommitMetadata("UNKNOWN", tuple(WriteStat(file.name.file_id, file.partition, file.path) for file in mine))
