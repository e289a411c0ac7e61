"""The index `bloom_filters`: the bloom filter of each base file, as it is in its footer."""

from collections.abc import Iterator

from hudi_reference.files.base_file import read_footer
from hudi_reference.files.bloom.bloom import FilterType
from hudi_reference.layout.names import BaseFileName, join_path, parse_data_file_name, split_path
from hudi_reference.metadata.indexes.index import PREFIX, Change, Index, group_count
from hudi_reference.metadata.keys import bloom_filters_key
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.records import BloomFilter, MetadataRecord
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage


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


BLOOM_FILTERS = Index(
    BuiltIn.BLOOM_FILTERS.value, (f"{PREFIX}index.bloom.filter.enable",),
    group_count(f"{PREFIX}index.bloom.filter.file.group.count", 4),
    _all_filters, _changed_filters, lambda commit: any(_is_base(stat.path) for stat in commit.stats),
)  # fmt: skip
