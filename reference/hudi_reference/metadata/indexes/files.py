"""The index `files`: the names and sizes of all committed files by partition, and the list of partitions."""

from collections.abc import Iterator, Mapping

from hudi_reference.layout.names import LogFileName, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.metadata.indexes.index import PREFIX, Change, Index
from hudi_reference.metadata.keys import ALL_PARTITIONS, partition_identifier
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.records import FileInfo, FileList, MetadataRecord, PartitionList
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements

#: A partition path ("" for the base path) -> names of files -> their sizes in bytes.
Sizes = Mapping[str, Mapping[str, int]]


@implements("MDT-001", "MDT-005", "MDT-006", "MDT-007", "MDT-008", "MDT-013")
def _all_files(table: Table, view: View) -> Iterator[MetadataRecord]:
    found: dict[str, dict[str, int]] = {}
    slices = [one for group in view.groups for one in group.slices]
    read = {path for one in slices for path in one.paths}
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


FILES = Index(
    BuiltIn.FILES.value, (f"{PREFIX}enable",), lambda options, entries: 1, _all_files, _changed_files,
    lambda commit: bool(commit.stats),
)  # fmt: skip
