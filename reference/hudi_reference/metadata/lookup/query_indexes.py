"""The indexes of a metadata table for queries: files by partition, and the file slices that a filter needs.

As in deployed readers, `hoodie.metadata.enable=false` means that nothing of the metadata table is read, and
`hoodie.enable.data.skipping=false` that only the listing of files is. Damage in the listing is an error. A damaged index is not
used, because a query needs no index.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from hudi_reference.caching import cached_property
from hudi_reference.errors import HudiError
from hudi_reference.layout.metadata_settings import is_disabled
from hudi_reference.layout.names import is_change_file, join_path, split_path
from hudi_reference.metadata.availability import read_definitions
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.keys import ALL_PARTITIONS, BASE_PATH, column_stats_key, partition_identifier, partition_stats_key
from hudi_reference.metadata.lookup.column_bounds import is_mergeable, may_hold
from hudi_reference.metadata.lookup.expression_lookup import indexes_for_filter
from hudi_reference.metadata.lookup.index_creation import lacks_first_write
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot, open_snapshot
from hudi_reference.metadata.lookup.key_lookup import drop_slices_without_keys, groups_of, keys_of_filter, select_by_keys
from hudi_reference.metadata.lookup.secondary_lookup import groups_with_values
from hudi_reference.metadata.partitions import BuiltIn, Kind
from hudi_reference.metadata.records import ColumnStats, FileList, MetadataRecord, PartitionList, PartitionStats, Statistics
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.query.pruning.table_indexes import Commits, Filter, MayHave
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.fields import type_at
from hudi_reference.settings import boolean_setting
from hudi_reference.timeline.active import Timeline

SKIPPING = "hoodie.enable.data.skipping"
#: Up to this number of partitions, the statistics of a column are looked up in each; else all of the column are read.
_PARTITIONS = 16
#: Columns that readers do not return as the files have them.
_COMPUTED = ("_hoodie_file_name", "_hoodie_commit_seqno", "_hoodie_operation")


@implements("PROP-012", "RDR-018")
def open_indexes(table: Table, timeline: Timeline, commits: Commits) -> "QueryIndexes | None":
    """The indexes for the state of a timeline; None if the settings disable them, and if they describe another state."""
    if table.properties.is_legacy or is_disabled(table.options):
        return None
    snapshot = open_snapshot(table, timeline, commits)
    listed = None if snapshot is None else _partition_list(snapshot)
    return None if snapshot is None or listed is None else QueryIndexes(table, snapshot, listed, timeline, commits)


def _partition_list(snapshot: IndexSnapshot) -> PartitionList | None:
    """The list of partitions; None if the listing has no file groups, so that it is not usable."""
    found = snapshot.get(BuiltIn.FILES, [ALL_PARTITIONS]).get(ALL_PARTITIONS)
    return found.payload if found is not None and isinstance(found.payload, PartitionList) else None


@dataclass(frozen=True)
class QueryIndexes:
    """The indexes of a table for one query."""

    table: Table
    snapshot: IndexSnapshot
    listed: PartitionList
    timeline: Timeline
    commits: Commits

    @implements("MDT-005", "MDT-006", "MDT-007", "MDT-008", "MDT-009")
    def paths(self, among: Callable[[Iterable[str]], Iterable[str]]) -> Collection[str]:
        """The paths of the data files in the partitions that `among` selects from those of the table."""
        present = (_path(name) for name, info in self.listed.partitions.items() if not info.is_deleted)
        found = self.snapshot.get(BuiltIn.FILES, [partition_identifier(partition) for partition in among(present)])
        lists = ((_path(key), record.payload) for key, record in found.items())
        return {
            join_path(partition, name)
            for partition, payload in lists
            if isinstance(payload, FileList)
            for name, info in payload.files.items()
            if not info.is_deleted
        }

    @implements("MDT-010")
    def matching_partitions(self, partitions: Sequence[str], query: Filter) -> Sequence[str]:
        """The partitions that may have rows which the filter selects, by their statistics in the present state.

        The statistics of a partition may be older than its files (ER-205), or lack some of them (ER-209). So a partition is
        left out only if the statistics of each of its files say the same.
        """
        has_both = self._is_available(BuiltIn.PARTITION_STATS) and self._is_available(BuiltIn.COLUMN_STATS)
        is_used = has_both and query.is_latest and not query.computes_values
        if not is_used or self.table.schema_on_read or not boolean_setting(self.table.options, SKIPPING, default=True):
            return partitions
        found = partitions
        for column, kind, operator, value in self._comparisons(query):
            with suppress(HudiError):
                if is_mergeable(kind):
                    left_out = self._excluded(found, kind, (column, operator, value))
                    found = [one for one in found if one not in left_out]
        return found

    def _excluded(self, partitions: Sequence[str], kind: pa.DataType, comparison: Comparison) -> set[str]:
        """Those of the partitions that have no value which satisfies the comparison, by their statistics and those of files."""
        column, operator, value = comparison
        keys = [partition_stats_key(column, partition) for partition in partitions]
        records = self.snapshot.get(BuiltIn.PARTITION_STATS, keys)
        holds = may_hold([_payload_as(PartitionStats, records.get(key)) for key in keys], kind, operator, value)
        excluded = {one for one, may in zip(partitions, holds, strict=True) if not may}
        files = self._files_in(excluded)
        holds = may_hold(self._stats_of_files(BuiltIn.COLUMN_STATS, column, files), kind, operator, value)
        return excluded - {partition for (partition, _), may in zip(files, holds, strict=True) if may}

    def _files_in(self, partitions: Iterable[str]) -> list[tuple[str, str]]:
        """The data files of the partitions, by partition and name. Each partition is looked up once for a query."""
        new = {one: list[str]() for one in partitions if one not in self._known_files}
        for path in self.paths(lambda present: new) if new else ():
            partition, name = split_path(path)
            if not is_change_file(name):
                new[partition].append(name)
        self._known_files.update(new)
        return [(one, name) for one in partitions for name in self._known_files[one]]

    @cached_property
    def _known_files(self) -> dict[str, list[str]]:
        return {}

    def matching(self, slices: Sequence[FileSlice], query: Filter) -> Sequence[FileSlice]:
        """The slices that may have rows which the filter selects."""
        if not boolean_setting(self.table.options, SKIPPING, default=True):
            return slices
        found = slices
        for choose in (
            self._select_by_key,
            self._select_by_secondary_key,
            self._select_by_column_stats,
            self._select_by_expressions,
        ):
            with suppress(HudiError):
                found = choose(found, query)
        return found

    @implements("IDX-010", "OCC-008")
    def groups_of(self, keys: Collection[str]) -> Mapping[str, GroupId] | None:
        """The file groups that hold these record keys; None without a record index over the whole table."""
        return groups_of(self.snapshot, keys) if self._is_available(BuiltIn.RECORD_INDEX) else None

    @implements("IDX-012")
    def _select_by_key(self, slices: Sequence[FileSlice], query: Filter) -> Sequence[FileSlice]:
        """Without the slices that do not have the record keys of the filter.

        The indexes describe the present state, with the changes in log files.
        """
        if query.computes_values or not query.is_latest:
            return slices
        keys = keys_of_filter(query.where, self.table.properties, query.schema)
        if keys is None:
            return slices
        if query.logs and self._is_available(BuiltIn.RECORD_INDEX) and self.snapshot.slices(BuiltIn.RECORD_INDEX):
            slices = select_by_keys(self.snapshot, slices, keys, self._may_have(query))
        if self._is_available(BuiltIn.BLOOM_FILTERS):
            absent = drop_slices_without_keys(self.snapshot, slices, keys)
            return [one for one in slices if one not in absent]
        return slices

    @implements("IDX-024", "IDX-030")
    def _select_by_secondary_key(self, slices: Sequence[FileSlice], query: Filter) -> Sequence[FileSlice]:
        """Without the slices that have no row with a value of the filter, by the secondary indexes.

        They describe the present state, with the changes in log files, as the record index does.
        """
        if query.computes_values or not query.is_latest or not (query.logs and self._is_available(BuiltIn.RECORD_INDEX)):
            return slices
        for found in groups_with_values(self._named, self.snapshot, query, self.table.properties, self._lacks_first_write):
            groups, may_have = {*found.values()}, self._may_have(query)
            lacking = [key for key, group in found.items() if group is None]
            slices = [one for one in slices if one.group in groups or may_have(one, lacking)]
        return slices

    def _may_have(self, query: Filter) -> MayHave:
        """Whether a slice may have one of some keys that have no entry in the record index.

        ER-202, ER-207: deployed writers lose entries of keys that a log file deletes and that have rows nevertheless. A
        compaction does not add them.
        """
        return query.may_have if self.table.properties.is_merge_on_read else lambda file_slice, keys: False

    def _lacks_first_write(self, index: str) -> bool:
        metadata = self.snapshot.metadata
        return lacks_first_write(index, metadata, self.snapshot.timeline, self.timeline, self.commits)

    @cached_property
    def _definitions(self) -> Sequence[IndexDefinition]:
        return read_definitions(self.table.storage, self.table.properties)

    @cached_property
    def _named(self) -> Sequence[IndexDefinition]:
        """The definitions of the indexes that users named, if they are of a version that is understood."""
        named = tuple(f"{kind}_" for kind in Kind)
        is_needed = any(name.startswith(named) for name in self.snapshot.usable)
        return [one for one in self._definitions if one.is_known] if is_needed else ()

    @implements("MDT-010", "MDT-015", "MDT-016")
    def _select_by_column_stats(self, slices: Sequence[FileSlice], query: Filter) -> Sequence[FileSlice]:
        """Without the slices of which no file may have a value that satisfies one of the comparisons.

        A merged row has each of its values from one file of its slice, but not all of them from the same file. So the
        comparisons are decided one by one, each by all files of the slice. A merger may compute other values.
        """
        if not self._is_available(BuiltIn.COLUMN_STATS):
            return slices
        for column, kind, operator, value in self._comparisons(query):
            slices = self._select_by_values(BuiltIn.COLUMN_STATS, slices, query, kind, (column, operator, value))
        return slices

    @implements("IDX-035")
    def _select_by_expressions(self, slices: Sequence[FileSlice], query: Filter) -> Sequence[FileSlice]:
        """Without the slices of which no file may have a value with the function's result for the constant."""
        for one, kind, comparison in indexes_for_filter(self._named, self.snapshot, query):
            slices = self._select_by_values(one.partition, slices, query, kind, comparison)
        return slices

    def _select_by_values(
        self, index: str, slices: Sequence[FileSlice], query: Filter, kind: pa.DataType, comparison: Comparison
    ) -> Sequence[FileSlice]:
        """The slices of which a file may have a value that satisfies the comparison, by the statistics in an index."""
        column, operator, value = comparison
        files = [(n, name) for n, one in enumerate(slices) if not _is_computed(one, query) for name in _files(one, query)]
        stats = self._stats_of_files(index, column, [(slices[n].partition, name) for n, name in files])
        holds = zip(files, may_hold(stats, kind, operator, value), strict=True)
        matching = {n for (n, _), may in holds if may}
        return [one for n, one in enumerate(slices) if n in matching or _is_computed(one, query)]

    def _stats_of_files(self, index: str, column: str, files: Sequence[tuple[str, str]]) -> list[ColumnStats | None]:
        """The statistics of a column in files by partition and name; None for files without.

        The keys of a column have one prefix.
        """
        partitions = {partition for partition, _ in files}
        if len(partitions) <= _PARTITIONS:
            prefixes = [column_stats_key(column, partition) for partition in partitions]
        else:
            prefixes = [column_stats_key(column)]
        records = self.snapshot.with_prefix(index, prefixes) if files else {}
        keys = (column_stats_key(column, partition, name) for partition, name in files)
        return [_payload_as(ColumnStats, records.get(key)) for key in keys]

    def _comparisons(self, query: Filter) -> Iterator[tuple[str, pa.DataType, str, object]]:
        """The comparisons of columns that readers return as the files have them, with the types of the columns."""
        for column, operator, value in query.where:
            if column not in _COMPUTED:
                yield column, type_at(query.schema, column), operator, value

    @implements("IDX-022")
    def _is_available(self, partition: BuiltIn) -> bool:
        """Whether an index is usable, and of a version that is understood; with damaged definitions no index is."""
        named = BuiltIn.COLUMN_STATS if partition is BuiltIn.PARTITION_STATS else partition
        with suppress(HudiError):
            is_usable = partition in self.snapshot.usable
            return is_usable and all(one.is_known for one in self._definitions if one.partition == named)
        return False


def _files(one: FileSlice, query: Filter) -> Iterable[str]:
    """The names of the files of a slice that the query reads."""
    if one.base_file is not None:
        yield one.base_file
    if query.logs:
        yield from one.log_files


def _is_computed(one: FileSlice, query: Filter) -> bool:
    return query.computes_values and query.logs and bool(one.log_files)


S = TypeVar("S", bound=Statistics)


def _payload_as(kind: type[S], record: MetadataRecord | None) -> S | None:
    payload = None if record is None else record.payload
    return payload if isinstance(payload, kind) else None


def _path(name: str) -> str:
    """The partition path of a key: "" for the base path."""
    return "" if name == BASE_PATH else name
