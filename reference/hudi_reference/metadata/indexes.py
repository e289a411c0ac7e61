"""The maintained indexes, each as two functions of the table: all its entries, and the changes by an action.

    files            the names and sizes of all committed files by partition, and the list of partitions
    record_index     the file group that holds a record key
    bloom_filters    the bloom filter of each base file, as it is in its footer

An action changes an index by the difference between the table before it and after it, over the file groups that it changes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from hudi_reference.caching import cached_property
from hudi_reference.files.base_file import read_footer
from hudi_reference.files.bloom.bloom import FilterType
from hudi_reference.layout.names import BaseFileName, LogFileName, join_path, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.metadata.keys import ALL_PARTITIONS, bloom_filters_key, partition_identifier
from hudi_reference.metadata.locations import location_of
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.records import (
    BloomFilter,
    FileInfo,
    FileList,
    MetadataRecord,
    PartitionList,
    RecordLocation,
)
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.file_groups import GroupId
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.times import milliseconds_of

#: A partition path ("" for the base path) -> names of files -> their sizes in bytes.
Sizes = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Change:
    """An action: the table before and after it, the metadata of a write, and the paths of deleted files."""

    instant: str
    before: Table
    after: Table
    commit: CommitMetadata | None = None
    deleted: tuple[str, ...] = ()

    @cached_property
    def views(self) -> tuple[View, View]:
        """The views before and after. Each needs a listing, so that they are loaded only when used."""
        return self.before.view(), self.after.view()


@dataclass(frozen=True)
class Index:
    """An index: its partition, the settings that enable it, and its entries.

    `groups` is its default number of file groups; `setting` enables it, and `count` sets another number of groups.
    """

    partition: BuiltIn
    setting: str
    count: str
    groups: int
    whole: Callable[[Table, View], Iterable[MetadataRecord]]
    change: Callable[[Change], Entries]
    #: Whether a write with this metadata must add entries to the index.
    concerned: Callable[[CommitMetadata], bool]

    def is_wanted(self, options: Mapping[str, str]) -> bool:
        """Whether the settings enable it."""
        return options.get(self.setting) == "true"

    def groups_of(self, options: Mapping[str, str]) -> int:
        """The number of file groups at its creation."""
        return int(options.get(self.count, self.groups))


# files


@implements("MDT-001", "MDT-005", "MDT-006", "MDT-007", "MDT-008", "MDT-013")
def _all_files(table: Table, view: View) -> Iterator[MetadataRecord]:
    found: dict[str, dict[str, int]] = {}
    slices = [one for group in view.groups for one in group.slices]
    read = {one.path(name) for one in slices for name in (one.base_file, *one.log_files) if name}
    for info in table.storage.list(skip=META_FOLDER):
        partition, name = split_path(info.path)
        if info.path in read or _is_committed_change_log(name, view):
            found.setdefault(partition, {})[name] = info.size
    return _listing(found)


def _is_committed_change_log(name: str, view: View) -> bool:
    parsed = parse_data_file_name(name)
    return isinstance(parsed, LogFileName) and parsed.cdc and view.timeline.completion_of(parsed.instant) is not None


def _listing(sizes: Sizes) -> Iterator[MetadataRecord]:
    """The record that lists all partitions, and one for each partition."""
    named = {partition_identifier(partition): files for partition, files in sorted(sizes.items())}
    yield MetadataRecord(ALL_PARTITIONS, PartitionList(dict.fromkeys(named, FileInfo(0))))
    for partition, files in named.items():
        yield MetadataRecord(partition, FileList({name: FileInfo(size) for name, size in files.items()}))


@implements("MDT-001", "MDT-005", "MDT-006", "MDT-007", "MDT-008", "MDT-013")
def _changed_files(change: Change) -> Entries:
    added: dict[str, dict[str, int]] = {}
    for stat in () if change.commit is None else change.commit.stats:
        for path, size in {stat.path: stat.size, **stat.changes}.items():
            partition, name = split_path(path)
            added.setdefault(partition, {})[name] = size
    gone: dict[str, dict[str, FileInfo]] = {}
    for path in change.deleted:
        partition, name = split_path(path)
        gone.setdefault(partition_identifier(partition), {})[name] = FileInfo(0, is_deleted=True)
    tombstones = [MetadataRecord(partition, FileList(files)) for partition, files in gone.items()]
    return Entries([*(_listing(added) if added else ()), *tombstones])


# record_index


@implements("MDT-001", "IDX-010", "IDX-011", "IDX-020")
def _all_locations(table: Table, view: View) -> Iterator[MetadataRecord]:
    reader = view.reader(table)
    for found in view.groups.latest_slices:
        for key in reader.current_keys(found).to_pylist():
            yield _located(key, found.group, found.base_instant)


def _located(key: str, group: GroupId, instant: str) -> MetadataRecord:
    partition, file_id = group
    # ER-065: the digits of the instant, taken for a moment in UTC.
    return MetadataRecord(key, RecordLocation(partition, location_of(file_id), milliseconds_of(instant)))


@implements("MDT-001", "IDX-010", "IDX-011", "IDX-020")
def _changed_locations(change: Change) -> Entries:
    """Records that are new or have moved to another group, and those that were removed."""
    commit = change.commit
    if commit is None or commit.operation in ("COMPACT", "LOG_COMPACT"):
        return Entries()
    touched = {(stat.partition, stat.file_id) for stat in commit.stats}
    touched |= {(partition, file_id) for partition, ids in commit.replaced.items() for file_id in ids}
    old = _locations(change.before, change.views[0], touched)
    new = _locations(change.after, change.views[1], touched)
    moved = [_located(key, group, change.instant) for key, group in new.items() if old.get(key) != group]
    return Entries(moved, [key for key in old if key not in new])


def _locations(table: Table, view: View, touched: set[GroupId]) -> dict[str, GroupId]:
    reader = view.reader(table)
    slices = (found for found in view.groups.latest_slices if found.group in touched)
    return {key: found.group for found in slices for key in reader.current_keys(found).to_pylist()}


# bloom_filters


@implements("IDX-002", "IDX-003", "IDX-004", "IDX-007")
def _all_filters(table: Table, view: View) -> Iterator[MetadataRecord]:
    for one in (one for group in view.groups for one in group.slices):
        if one.base_file is not None and one.base_file not in one.missing:
            yield from _filter_of(table.storage, one.partition, one.base_file)


def _filter_of(storage: Storage, partition: str, name: str) -> Iterator[MetadataRecord]:
    """The record of a base file; none if the file has no filter."""
    footer = read_footer(storage, join_path(partition, name))
    parsed = parse_data_file_name(name)
    if footer.filter_text is not None and parsed is not None:
        payload = BloomFilter(footer.type_code or FilterType.SIMPLE, parsed.instant, footer.filter_text)
        yield MetadataRecord(bloom_filters_key(partition, name), payload)


@implements("IDX-002", "IDX-003", "IDX-004", "IDX-007", "IDX-008")
def _changed_filters(change: Change) -> Entries:
    stats = () if change.commit is None else change.commit.stats
    names = [split_path(stat.path) for stat in stats if _is_base(stat.path)]
    added = [record for partition, name in names for record in _filter_of(change.before.storage, partition, name)]
    return Entries(added, [bloom_filters_key(*split_path(path)) for path in change.deleted if _is_base(path)])


def _is_base(path: str) -> bool:
    return isinstance(parse_data_file_name(split_path(path)[1]), BaseFileName)


_PREFIX = "hoodie.metadata."
FILES = Index(
    BuiltIn.FILES, f"{_PREFIX}enable", "", 1, _all_files, _changed_files, lambda commit: bool(commit.stats)
)  # fmt: skip
RECORD_INDEX = Index(
    BuiltIn.RECORD_INDEX, f"{_PREFIX}record.index.enable", f"{_PREFIX}record.index.min.filegroup.count", 10,
    _all_locations, _changed_locations, lambda commit: not commit.is_service and any(stat.inserts for stat in commit.stats),
)  # fmt: skip
BLOOM_FILTERS = Index(
    BuiltIn.BLOOM_FILTERS, f"{_PREFIX}index.bloom.filter.enable", f"{_PREFIX}index.bloom.filter.file.group.count", 4,
    _all_filters, _changed_filters, lambda commit: any(_is_base(stat.path) for stat in commit.stats),
)  # fmt: skip
#: By partition; the listing of files comes first, because every metadata table needs it.
INDEXES: Mapping[str, Index] = {index.partition.value: index for index in (FILES, RECORD_INDEX, BLOOM_FILTERS)}
