"""The statistics of a partition: those of the files of its latest slices together.

A base value that a log file replaces still counts, because the statistics of log files are added to those of the base file;
after a compaction only the new base file counts. So the range contains all values, and may contain more.

Entries are merged in the order in which their actions began. A write that began before another action and completes after it
stores an entry that the other one's entry follows, and that was made without the files of the write. So an action that
completes while an earlier write is pending stores statistics that are merged with the entries before them. Deployed writers
store tight ones, and such an entry lacks values: readers compare it with the statistics of the files.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

import pyarrow as pa

from hudi_reference.metadata.record_merge import merge_payloads
from hudi_reference.metadata.records import Bound, ColumnStats, PartitionStats
from hudi_reference.metadata.statistics.bounds import convert_bound
from hudi_reference.metadata.value_types import value_type_of
from hudi_reference.requirement import implements


@implements("MDT-011", "MDT-014")
def partition_statistics(
    partition: str, kind: pa.DataType, files: Iterable[ColumnStats], *, is_tight: bool = True
) -> PartitionStats | None:
    """The statistics of a column of this type in a partition; None if the bounds of a file are of an unrelated type.

    Tight ones replace the record before them, as all of deployed writers do; others are merged with it.
    """
    parts = []
    for one in files:
        bounds = [None if bound is None else convert_bound(bound, kind) for bound in (one.least, one.greatest)]
        if one.least is not None and None in bounds:
            return None
        parts.append(_statistics_of_file(partition, one, *bounds))
    return replace(reduce(_combine, parts), is_tight=is_tight, value_type=value_type_of(kind)) if parts else None


def _statistics_of_file(partition: str, one: ColumnStats, least: Bound | None, greatest: Bound | None) -> PartitionStats:
    sizes = (one.total_size, one.total_uncompressed_size)
    return PartitionStats(one.column, least, greatest, one.value_count, one.null_count, *sizes, partition=partition)


def _combine(one: PartitionStats, other: PartitionStats) -> PartitionStats:
    found = merge_payloads(one, other)
    assert isinstance(found, PartitionStats)
    return found
