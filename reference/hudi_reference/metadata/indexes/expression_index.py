"""The expression indexes `expr_index_<name>`: statistics or bloom filters of a function of one column.

kind            an entry for each                key, value
column_stats    base file and log file           as in column_stats; the number of values is without nulls
                partition                        the column, `__partition_stat__`, the partition
bloom_filters   base file                        as in bloom_filters: the texts of the values
"""

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.files.bloom.bloom import MAX_ENTRIES, RATE, FilterType, make_file_filter, make_filter
from hudi_reference.java_text import texts_of
from hudi_reference.layout.names import BaseFileName, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.metadata.definitions import V2, IndexDefinition
from hudi_reference.metadata.indexes.file_values import values_in_file
from hudi_reference.metadata.indexes.index import PREFIX, Change, Index, changed_groups, group_count
from hudi_reference.metadata.indexes.index_functions import check_function, values_of
from hudi_reference.metadata.indexes.secondary_index import column_type
from hudi_reference.metadata.keys import (
    bloom_filters_key,
    column_stats_key,
    expression_partition_stats_key,
    partition_identifier,
)
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.record_merge import widen_statistics
from hudi_reference.metadata.records import (
    BloomFilter,
    Bound,
    ColumnStats,
    MetadataRecord,
    PartitionStats,
    Statistics,
)
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.value_types import typed_bound, value_type_of
from hudi_reference.metadata.writer import Entries
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements

#: The kinds of expression indexes.
KINDS = (BuiltIn.COLUMN_STATS.value, BuiltIn.BLOOM_FILTERS.value)


@implements("IDX-032", "IDX-033", "IDX-034")
def expression_index(definition: IndexDefinition) -> Index:
    """The index of a definition. Raises UnsupportedTableFeature for an unknown kind or function, and for several columns."""
    if definition.kind not in KINDS or len(definition.columns) != 1:
        raise UnsupportedTableFeature(
            "an expression index that is not supported", rule="IDX-032", path=definition.partition,
            expected=f"{' or '.join(KINDS)} of one column", found=f"{definition.kind} of {', '.join(definition.columns)}",
        )  # fmt: skip
    check_function(definition.function, definition.options)
    entries = _Entries(definition)
    return Index(
        definition.partition, (), group_count(f"{PREFIX}index.expression.file.group.count", 2), entries.whole, entries.change,
        lambda commit: False,
    )  # fmt: skip


@implements("IDX-034")
def check_expression(definition: IndexDefinition, schema: pa.Schema, properties: TableProperties) -> None:
    """Raises Misuse for a column that the table lacks, UnsupportedTableFeature for a function that does not take it.

    Bloom filters are those of base files only, so that a merge-on-read table cannot have them.
    """
    check_function(definition.function, definition.options, column_type(definition.columns[0], schema))
    if definition.kind == BuiltIn.BLOOM_FILTERS and properties.is_merge_on_read:
        raise UnsupportedTableFeature(
            "bloom filters of an expression on a merge-on-read table: log files have none", rule="IDX-034",
            expected="a copy-on-write table, or statistics of the expression", found=definition.partition,
        )  # fmt: skip


@dataclass(frozen=True)
class _Entries:
    """The entries of the index of a definition."""

    definition: IndexDefinition

    @property
    def column(self) -> str:
        return self.definition.columns[0]

    @implements("IDX-035")
    def whole(self, table: Table, view: View) -> Iterator[MetadataRecord]:
        """The entries of the files of the latest slices, and of their partitions."""
        paths = {path for one in view.groups.latest_slices for path in one.paths}
        files = [(info.path, info.size) for info in table.storage.list(skip=META_FOLDER) if info.path in paths]
        found = dict(self._entries_of_files(table, view.reader(table), files))
        partitions = {split_path(path)[0] for path in found} if table.properties.partition_fields else set()
        return (record for record in (*found.values(), *self._entries_of_partitions(sorted(partitions), found)))

    @implements("IDX-035")
    def change(self, change: Change) -> Entries:
        """The entries of new files, and again those of their partitions; the entries of deleted files are removed."""
        removed = [self._key(*split_path(path)) for path in change.deleted if parse_data_file_name(split_path(path)[1])]
        if change.commit is None:
            return Entries((), removed)
        view = change.views[1]
        reader = view.reader(change.after)
        found = dict(self._entries_of_files(change.after, reader, [(stat.path, stat.size) for stat in change.commit.stats]))
        if self.definition.kind == BuiltIn.BLOOM_FILTERS or not change.after.properties.partition_fields:
            return Entries(list(found.values()), removed)
        partitions = sorted({partition for partition, _ in changed_groups(change.commit)})
        living = [path for one in view.groups.latest_slices if one.partition in partitions for path in one.paths]
        present = self._stored_entries(change.before, reader, [path for path in living if path not in found])
        present |= {path: found[path] for path in living if path in found}
        aggregates = list(self._entries_of_partitions(partitions, present, is_tight=change.replaces_entries))
        keys = {record.key for record in aggregates}
        possible = partitions if change.replaces_entries else ()
        gone = [key for one in possible if (key := expression_partition_stats_key(self.column, one)) not in keys]
        return Entries([*found.values(), *aggregates], [*removed, *gone])

    def _stored_entries(self, table: Table, reader: SliceReader, paths: Sequence[str]) -> dict[str, MetadataRecord]:
        """The entries of files that were there before; entries that the index lacks, as it is being built, are computed."""
        metadata = MetadataTable.for_table(table) if paths else None
        stored = {} if metadata is None else metadata.records(self.definition.partition, table.timeline)
        keys = {path: self._key(*split_path(path)) for path in paths}
        missing = [path for path, key in keys.items() if key not in stored]
        sizes = {path: info.size for path in missing if (info := table.storage.head(path)) is not None}
        return {path: stored[key] for path, key in keys.items() if key in stored} | dict(
            self._entries_of_files(table, reader, sizes.items())
        )

    def _entries_of_files(
        self, table: Table, reader: SliceReader, files: Iterable[tuple[str, int]]
    ) -> Iterator[tuple[str, MetadataRecord]]:
        """Path and entry of each file; `files` are paths and sizes."""
        for path, size in files:
            partition, name = split_path(path)
            if self.column not in reader.schema.names:  # a definition may be older than the drop of its column
                return
            is_base = isinstance(parse_data_file_name(name), BaseFileName)
            if is_base or self.definition.kind == BuiltIn.COLUMN_STATS:
                values = values_in_file(reader, partition, name, self.column).combine_chunks()
                if not len(values):  # as deployed: no entry for a file without rows
                    continue
                result = values_of(self.definition.function, self.definition.options, values, zone_of(table.options))
                yield path, self._record(partition, name, size, result)

    def _entries_of_partitions(
        self, partitions: Iterable[str], found: Mapping[str, MetadataRecord], *, is_tight: bool = True
    ) -> Iterator[MetadataRecord]:
        """The statistics of each of these partitions: those of its files together."""
        for partition in partitions:
            files = [record.payload for path, record in found.items() if split_path(path)[0] == partition]
            known = [as_partition_statistics(one, partition) for one in files if isinstance(one, ColumnStats)]
            if known:
                key = expression_partition_stats_key(self.column, partition)
                yield MetadataRecord(key, replace(reduce(widen_statistics, known), is_tight=is_tight))

    def _key(self, partition: str, name: str) -> str:
        if self.definition.kind == BuiltIn.BLOOM_FILTERS:
            return bloom_filters_key(partition, name)
        return column_stats_key(self.column, partition, name)

    def _record(self, partition: str, name: str, size: int, values: pa.Array) -> MetadataRecord:
        """The entry of a file with these values of the function."""
        key, parsed = self._key(partition, name), parse_data_file_name(name)
        if self.definition.kind == BuiltIn.BLOOM_FILTERS:
            assert parsed is not None
            return MetadataRecord(key, _filter_of(values, parsed.instant, self.definition.options))
        least, greatest = bounds_of(values)
        count = len(values) - values.null_count
        kind, sizes = None, (size, 2 * size)
        if self.definition.version == V2:
            kind = value_type_of(values.type)
            least, greatest = typed_bound(least, kind), typed_bound(greatest, kind)
        stats = ColumnStats(self.column, least, greatest, count, values.null_count, *sizes, value_type=kind, file_name=name)
        return MetadataRecord(key, stats)


#: The setting of the time zone in which functions of times are evaluated.
_ZONE = "spark.sql.session.timeZone"


def zone_of(options: Mapping[str, str]) -> datetime.tzinfo:
    """The time zone of a writer's settings. Raises Misuse for an unknown one."""
    name = options.get(_ZONE, "UTC")
    try:
        return datetime.UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Misuse(
            "an unknown time zone", rule="IDX-037", expected="a name as Europe/Oslo", found=f"{_ZONE}={name}"
        ) from error


def as_partition_statistics(stats: ColumnStats, partition: str) -> PartitionStats:
    """The statistics of a file as those of its partition."""
    values = {one.name: getattr(stats, one.name) for one in fields(Statistics)}
    return PartitionStats(**values, partition=partition_identifier(partition))


@implements("IDX-004", "IDX-005")
def _filter_of(values: pa.Array, instant: str, options: Mapping[str, str]) -> BloomFilter:
    """The filter over the texts of the values, with the size of the options or else one for their number."""
    kind = FilterType(options.get("filtertype", FilterType.DYNAMIC_V0))
    present = filter_texts(values.drop_null())
    texts = present.filter(pc.not_equal(present, ""))
    if "numentries" not in options:
        return BloomFilter(kind, instant, make_file_filter(texts, kind).encode())
    sizes = {"entries": int(options["numentries"]), "max_entries": int(options.get("maxentries", MAX_ENTRIES))}
    made = make_filter(texts, kind, rate=float(options.get("fpp", RATE)), **sizes)
    return BloomFilter(kind, instant, made.encode())


def filter_texts(values: pa.Array) -> pa.Array:
    """The texts of values in a bloom filter: those of Java objects; a timestamp has at least one digit after the second."""
    if not pt.is_timestamp(values.type):
        return texts_of(values)
    times = (str(value.replace(tzinfo=None)) for value in values.cast(pa.timestamp("us")).to_pylist())
    return pa.array([time.rstrip("0") if "." in time else f"{time}.0" for time in times], pa.string())


#: The wrapper of a value of the function, by a test of its type.
_WRAPPERS: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pt.is_boolean, "BooleanWrapper"),
    (pt.is_int64, "LongWrapper"),
    (pt.is_integer, "IntWrapper"),
    (pt.is_float32, "FloatWrapper"),
    (pt.is_float64, "DoubleWrapper"),
    (pt.is_string, "StringWrapper"),
    (pt.is_date32, "DateWrapper"),
    (pt.is_timestamp, "TimestampMicrosWrapper"),
)


@implements("IDX-035")
def bounds_of(values: pa.Array) -> tuple[Bound | None, Bound | None]:
    """The least and the greatest value; none of a column without values. NaN is greater than all numbers, as in Spark."""
    wrapper = next((name for fits, name in _WRAPPERS if fits(values.type)), None)
    present = values.drop_null()
    if wrapper is None:
        raise UnsupportedTableFeature(
            "statistics of values of this type",
            rule="IDX-035",
            expected="numbers, texts, dates and times",
            found=str(values.type),
        )
    if not len(present):
        return None, None
    plain = present.cast(pa.timestamp("us")).cast(pa.int64()) if pt.is_timestamp(present.type) else present
    if pt.is_date32(present.type):
        plain = present.cast(pa.int32())
    numbers = plain.to_pylist()
    order = sorted(numbers, key=_order)
    return Bound(wrapper, order[0]), Bound(wrapper, order[-1])


def _order(value: Any) -> Any:
    if isinstance(value, float):
        return math.isnan(value), value
    return value.encode() if isinstance(value, str) else value
