"""The index `column_stats`: least and greatest value, number of values and of nulls of the columns in each data file."""

from collections.abc import Iterator, Mapping

from hudi_reference.layout.names import split_path
from hudi_reference.metadata.indexes.index import PREFIX, Change, Index, group_count
from hudi_reference.metadata.keys import column_stats_key
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.records import ColumnStats, MetadataRecord
from hudi_reference.metadata.statistics.columns import (
    defined_columns,
    in_version,
    indexed_columns,
    new_definition,
    statistics_version,
)
from hudi_reference.metadata.statistics.slices import slice_statistics
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements


@implements("MDT-001", "MDT-011", "MDT-012", "MDT-014", "MDT-015")
def _all_statistics(table: Table, view: View) -> Iterator[MetadataRecord]:
    columns, version = indexed_columns(table, view.schema), statistics_version(table)
    for one in (one for group in view.groups for one in group.slices):
        for found in slice_statistics(table.storage, one, columns).values():
            yield from _records(one.partition, found, version)


def _records(partition: str, found: Mapping[str, ColumnStats], version: str) -> Iterator[MetadataRecord]:
    for column, one in found.items():
        yield MetadataRecord(column_stats_key(column, partition, one.file_name), in_version(one, version))


@implements("MDT-001", "MDT-011", "MDT-012", "MDT-014", "MDT-015")
def _changed_statistics(change: Change) -> Entries:
    """Entries of the new files; the entries of deleted files are removed."""
    version = statistics_version(change.before)
    added = [r for path, found in change.statistics.items() for r in _records(split_path(path)[0], found, version)]
    columns = defined_columns(change.before) if change.deleted else ()
    return Entries(added, [column_stats_key(column, *split_path(path)) for path in change.deleted for column in columns])


COLUMN_STATS = Index(
    BuiltIn.COLUMN_STATS.value, (f"{PREFIX}index.column.stats.enable",),
    group_count(f"{PREFIX}index.column.stats.file.group.count", 2),
    _all_statistics, _changed_statistics, lambda commit: bool(commit.stats),
    definition=lambda table, schema, earlier: new_definition(table, indexed_columns(table, schema, earlier)),
)  # fmt: skip
