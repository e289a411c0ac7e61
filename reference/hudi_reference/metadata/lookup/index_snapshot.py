"""The entries of the metadata table that describe one state of its table.

An entry counts if its action has completed on the timeline of the table. The metadata table is written before an action
completes, so it may be ahead of the timeline that a query has read: entries of pending actions are ignored. With entries of
actions that began later, or without entries of completed writes, it describes another state and is not used.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hudi_reference.caching import cached_property
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import HFile, hfile_of, open_hfile
from hudi_reference.files.log.block import BlockType
from hudi_reference.files.log.content import block_schema, decode_deletes
from hudi_reference.metadata.availability import usable_partitions
from hudi_reference.metadata.codec import decode_entries
from hudi_reference.metadata.partitions import IndexGroups
from hudi_reference.metadata.record_merge import MergedRecords
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.table import FIRST, MetadataTable, log_blocks
from hudi_reference.query.file_groups import FileGroups, FileSlice, GroupId
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.pruning.folder_listing import Listed
from hudi_reference.query.pruning.table_indexes import Commits
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, parse_schema
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

#: Bytes of log blocks of a slice that are kept for further look-ups of the same query.
_SMALL = 1 << 20

#: Selects entries of an HFile.
Select = Callable[[HFile], Iterable[Entry]]


@implements("MDT-002", "OCC-021", "RDR-018")
def open_snapshot(table: Table, data: Timeline, commits: Commits) -> "IndexSnapshot | None":
    """The metadata table as far as it describes the state of `data`.

    None if there is none, if its writer has begun an action that `data` does not have, or if it lacks one of the `commits`;
    also if it has version 6, to which an interrupted downgrade has changed it.
    None also during a rollback or restore: it removes a write before its entries, which a compaction may have merged.
    """
    usable = usable_partitions(table.properties)
    is_rolling_back = any(one.action in ("rollback", "restore") for one in data.pending)
    metadata = None if is_rolling_back or not usable else MetadataTable.for_table(table)
    if metadata is None or metadata.properties.is_legacy:
        return None
    timeline, pending = metadata.timeline, data.pending_times
    last = max((_completion(one) for one in data.completed), default="")
    later = [one for one in timeline.completed if one.requested > last and one.requested not in pending]
    if any(one.action == "deltacommit" for one in later) or _lacks_writes(timeline, commits):
        return None
    instants = (replace(one, state=State.INFLIGHT) if one.requested in pending else one for one in timeline.instants)
    return IndexSnapshot(metadata, replace(timeline, instants=tuple(instants)), usable)


def _lacks_writes(timeline: Timeline, commits: Commits) -> bool:
    """Whether a write with files is not in the metadata table, although it completed after the table was initialised."""
    known = {one.requested for one in timeline.completed}
    first = min((_completion(one) for one in timeline.completed if one.requested.startswith(FIRST)), default="")
    start = first or timeline.start or ""
    return any(commit.stats and _completion(one) > start and one.requested not in known for one, commit in commits.items())


def _completion(instant: Instant) -> str:
    return instant.completion or instant.requested


@dataclass(frozen=True)
class IndexSnapshot:
    """The entries of the usable partitions that describe one state of the table."""

    metadata: MetadataTable
    timeline: Timeline
    usable: tuple[str, ...]

    @cached_property
    def _slices(self) -> dict[str, list[FileSlice]]:
        return {}

    @implements("MDT-016", "IDX-011")
    def get(self, partition: str, keys: Collection[str]) -> dict[str, MetadataRecord]:
        """The records of these keys, each from the file group of its key: of an HFile only the blocks that may have them.

        Not for secondary indexes, which are read by prefix. Raises InvalidQuery for a key in a partition of the table that has
        no file groups.
        """
        slices = {one.file_id: one for one in self.slices(partition)}
        groups, file_groups = dict[str, dict[str, str]](), IndexGroups.from_ids(slices)
        for key in keys if slices else ():
            group, stored = file_groups.locate(key)
            groups.setdefault(group, {})[stored] = key
        return {
            wanted[stored]: record
            for group, wanted in groups.items()
            for stored, record in self._merge_slice(slices[group], _select_keys(wanted), wanted.__contains__)
        }

    @implements("MDT-016")
    def with_prefix(self, partition: str, prefixes: Collection[str]) -> dict[str, MetadataRecord]:
        """The records whose keys begin with one of the prefixes, from every file group."""
        starts = tuple(sorted(prefixes))

        def select(file: HFile) -> Iterator[Entry]:
            for prefix in starts:
                yield from file.prefix(prefix)

        return {
            key: record
            for found in self.slices(partition)
            for key, record in self._merge_slice(found, select, lambda key: key.startswith(starts))
        }

    def slices(self, partition: str) -> Sequence[FileSlice]:
        """The latest slice of each file group of a partition, by number."""
        if partition not in self._slices:
            self._slices[partition] = self._load(partition)
        return self._slices[partition]

    def _load(self, partition: str) -> list[FileSlice]:
        listed = Listed({info.path for info in self.metadata.storage.list(partition)}, partition.__eq__)
        metadata, known = self.metadata, self._known.get("groups")
        groups = self._known["groups"] = load_file_groups(
            metadata.storage,
            metadata.properties,
            self._timeline_since_compaction,
            known,
            listing=lambda commits: listed,
            checks=metadata.checks,
        )
        return sorted(groups.latest_slices, key=lambda found: found.file_id)

    @cached_property
    def _known(self) -> dict[str, FileGroups]:
        """The file groups that were loaded last: the commits, which are those of all partitions, are not read again."""
        return {}

    @cached_property
    def _timeline_since_compaction(self) -> Timeline:
        """The timeline without the writes that the last compaction has merged: the metadata of the others is not needed."""
        done = [one for one in self.timeline.commits if one.action == "commit"]
        start = max((one.requested for one in done), default="")
        recent = tuple(one for one in self.timeline.commits if _completion(one) >= start)
        found = replace(self.timeline)
        vars(found)["commits"] = recent
        return found

    def _merge_slice(
        self, found: FileSlice, select: Select, wanted: Callable[[str], bool]
    ) -> Iterator[tuple[str, MetadataRecord]]:
        """The selected records of a slice: those of its base file, merged with each log file."""
        records = MergedRecords()
        for part in self._parts(found):
            for key in filter(wanted, part.deleted):
                records.remove(key)
            if part.file is not None and part.schema is not None:
                stored = decode_entries(select(part.file), part.schema, part.path)
                if part.is_base:
                    records = MergedRecords(stored)
                else:
                    for new in stored:
                        records.add(new)
        yield from records.merged().items()

    def _parts(self, found: FileSlice) -> Iterable["_Part"]:
        """The files and blocks of a slice, in order. Those of a small slice are opened once for all look-ups."""
        name = found.partition, found.file_id
        return self._opened[name] if name in self._opened else self._open_parts(found)

    def _open_parts(self, found: FileSlice) -> Iterator["_Part"]:
        opened, size = [], 0
        for part in _read_parts(self.metadata.storage, found):
            size += part.kept
            if size <= _SMALL:
                opened.append(part)
            yield part
        if size <= _SMALL:
            self._opened[found.partition, found.file_id] = opened

    @cached_property
    def _opened(self) -> dict[GroupId, list["_Part"]]:
        return {}


@dataclass(frozen=True)
class _Part:
    """The base file or a log block of a slice of the metadata table."""

    path: str
    is_base: bool = False
    file: HFile | None = None
    schema: AvroSchema | None = None
    #: Keys whose records the block deletes.
    deleted: tuple[str, ...] = ()
    #: Bytes that the part keeps in memory.
    kept: int = 0


def _read_parts(storage: Storage, found: FileSlice) -> Iterator[_Part]:
    """The base file and the log blocks of a slice, in the order in which they are merged."""
    if found.base_file is not None:
        hfile = open_hfile(storage, path := found.path(found.base_file))
        yield _Part(path, True, hfile, parse_schema(hfile.schema(), path))
    for block in log_blocks(storage, found):
        if block.kind is BlockType.DELETE:
            yield _Part(block.path, deleted=tuple(delete.key for delete in decode_deletes(block)))
        elif block.kind is BlockType.HFILE_DATA:
            file = hfile_of(block.content, block.path, block.content_offset)
            yield _Part(block.path, False, file, block_schema(block), kept=file.size)


def _select_keys(keys: Collection[str]) -> Select:
    return lambda file: file.get(*keys)
