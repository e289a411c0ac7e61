"""The index `partition_stats`: the statistics of the columns in all files of a partition's latest slices.

A write or service stores the statistics of the partitions that it changes anew: those of the files that it wrote, and for the
other files of the latest slices their entries in `column_stats`. A partition without slices has none.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

import pyarrow as pa

from hudi_reference.layout.names import BaseFileName, parse_data_file_name, split_path
from hudi_reference.metadata.indexes.index import PREFIX, Change, Index, group_count
from hudi_reference.metadata.keys import column_stats_key, partition_stats_key
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.records import ColumnStats, MetadataRecord
from hudi_reference.metadata.statistics.columns import in_version, indexable_columns, indexed_columns, statistics_version
from hudi_reference.metadata.statistics.partitions import partition_statistics
from hudi_reference.metadata.statistics.slices import slice_statistics
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, AvroSchema

#: The statistics of the files of a partition, by the name of the file and that of the column.
Files = Mapping[str, Mapping[str, ColumnStats]]
#: How many entries of files are looked up at once, about.
_AT_ONCE = 100_000


@implements("MDT-001")
def _all_statistics(table: Table, view: View) -> Iterator[MetadataRecord]:
    columns, version = indexed_columns(table, view.schema), statistics_version(table)
    for partition, slices in _group_by_partition(view.groups.latest_slices):
        files = _if_known(
            {name: one for found in slices for name, one in slice_statistics(table.storage, found, columns).items()}
        )
        yield from _records(partition, columns, view.schema, files, version)


def _group_by_partition(slices: Collection[FileSlice]) -> Iterator[tuple[str, list[FileSlice]]]:
    ordered = sorted(slices, key=lambda one: one.partition)
    return ((partition, list(found)) for partition, found in groupby(ordered, lambda one: one.partition))


def _records(
    partition: str, columns: Sequence[str], schema: AvroSchema, files: Files, version: str, *, is_tight: bool = True
) -> Iterator[MetadataRecord]:
    kinds = indexable_columns(schema, version)
    for column in columns:
        kind = pa.string() if column in META_COLUMNS else kinds.get(column)
        parts = [found[column] for found in files.values() if column in found]
        statistics = None if kind is None else partition_statistics(partition, kind, parts, is_tight=is_tight)
        if statistics is not None:
            yield MetadataRecord(partition_stats_key(column, partition), in_version(statistics, version))


@implements("MDT-001")
def _changed_statistics(change: Change) -> Entries:
    """The statistics of the partitions that a write changes; those of a partition that became empty are removed."""
    if change.commit is None:
        return Entries()
    touched = {stat.partition for stat in change.commit.stats} | set(change.commit.replaced)
    slices = dict(_group_by_partition(change.view_after.groups.slices_in(touched))) if touched else {}
    records, removed, version = [], [], statistics_version(change.before)
    for partition, files in _statistics_by_partition(change, {one: slices.get(one, []) for one in sorted(touched)}):
        is_tight = change.replaces_entries
        found = [*_records(partition, change.columns, change.schema, files, version, is_tight=is_tight)]
        present = {record.key for record in found}
        records += found
        if is_tight or not files:
            removed += [key for column in change.columns if (key := partition_stats_key(column, partition)) not in present]
    return Entries(records, removed)


def _statistics_by_partition(change: Change, slices: Mapping[str, Sequence[FileSlice]]) -> Iterator[tuple[str, Files]]:
    """The statistics of the files of each partition: those that the action computed, and those of the other files in the index.

    The entries of many partitions are looked up at once, because each look-up decodes whole blocks of entries.
    """
    waiting: list[str] = []
    keys: set[str] = set()
    for partition, found in slices.items():
        waiting.append(partition)
        keys |= _keys_of_known_files(change, found)
        if len(keys) >= _AT_ONCE:
            yield from _statistics_of_files(change, {one: slices[one] for one in waiting}, keys)
            waiting, keys = [], set()
    yield from _statistics_of_files(change, {one: slices[one] for one in waiting}, keys)


def _keys_of_known_files(change: Change, slices: Sequence[FileSlice]) -> set[str]:
    """The keys in the index of the files of slices, without those for which the action computed the statistics."""
    others = [path for one in slices for path in _paths_of_slice(one).values() if path not in change.statistics]
    return {column_stats_key(column, *split_path(path)) for path in others for column in change.columns}


def _statistics_of_files(
    change: Change, slices: Mapping[str, Sequence[FileSlice]], keys: Collection[str]
) -> Iterator[tuple[str, Files]]:
    stored = change.find(BuiltIn.COLUMN_STATS, keys) if keys else {}
    kinds = indexable_columns(change.schema, statistics_version(change.before))
    wanted = {column for column in change.columns if column in META_COLUMNS or column in kinds}
    for partition, found in slices.items():
        files: dict[str, Mapping[str, ColumnStats]] = {}
        for one in found:
            entries = {name: _statistics_of_file(change, path, stored) for name, path in _paths_of_slice(one).items()}
            if not all(one and wanted <= one.keys() for one in entries.values()):  # ER-286
                entries = dict(slice_statistics(change.before.storage, one, change.columns))
            files |= entries
        yield partition, _if_known(files)


def _if_known(files: Files) -> Files:
    """The statistics of the files of a partition; nothing if a base file is not Parquet, because it has none."""
    return files if all(name.endswith(".parquet") or not _is_base_file(name) for name in files) else {}


def _paths_of_slice(found: FileSlice) -> dict[str, str]:
    return {name: found.path(name) for name in found.files if name not in found.missing}


def _statistics_of_file(change: Change, path: str, stored: Mapping[str, MetadataRecord]) -> Mapping[str, ColumnStats]:
    """The statistics of a file; nothing if they are not known, or not reliable."""
    if path in change.statistics:
        return change.statistics[path]
    records = (stored.get(column_stats_key(column, *split_path(path))) for column in change.columns)
    entries = [record.payload for record in records if record is not None and isinstance(record.payload, ColumnStats)]
    return {entry.column: entry for entry in entries} if all(map(_is_reliable, entries)) else {}


def _is_base_file(name: str) -> bool:
    """Whether a data file is a base file, by its name."""
    return isinstance(parse_data_file_name(name), BaseFileName)


def _is_reliable(entry: ColumnStats) -> bool:
    """Whether the bounds are those of the values.

    Deployed writers store 0 as bounds of a base file if a value is a NaN, and no bounds and as many nulls as values if a text
    is longer than four kilobytes.
    """
    if not _is_base_file(entry.file_name):
        return entry.least is None or entry.least.value == entry.least.value
    if entry.least is None or entry.greatest is None:
        return entry.value_count == 0
    return not (isinstance(entry.least.value, float) and entry.least.value == entry.greatest.value == 0)


PARTITION_STATS = Index(
    BuiltIn.PARTITION_STATS.value, (f"{PREFIX}index.partition.stats.enable",),
    group_count(f"{PREFIX}index.partition.stats.file.group.count", 1), _all_statistics, _changed_statistics,
    lambda commit: bool(commit.stats),
)  # fmt: skip
