"""The statistics of a partition: those of the files of its latest slices together.

A base value that a log file replaces still counts, because the statistics of log files are added to those of the base file;
after a compaction only the new base file counts. So the range contains all values, and may contain more.
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
def partition_statistics(partition: str, kind: pa.DataType, files: Iterable[ColumnStats]) -> PartitionStats | None:
    """The statistics of a column of this type in a partition; None if the bounds of a file are of an unrelated type.

    Deployed writers mark them as tight: each record replaces the one before it, and is not merged with it.
    """
    parts = []
    for one in files:
        bounds = [None if bound is None else convert_bound(bound, kind) for bound in (one.least, one.greatest)]
        if one.least is not None and None in bounds:
            return None
        parts.append(_statistics_of_file(partition, one, *bounds))
    return replace(reduce(_combine, parts), is_tight=True, value_type=value_type_of(kind)) if parts else None


def _statistics_of_file(partition: str, one: ColumnStats, least: Bound | None, greatest: Bound | None) -> PartitionStats:
    sizes = (one.total_size, one.total_uncompressed_size)
    return PartitionStats(one.column, least, greatest, one.value_count, one.null_count, *sizes, partition=partition)


def _combine(one: PartitionStats, other: PartitionStats) -> PartitionStats:
    found = merge_payloads(one, other)
    assert isinstance(found, PartitionStats)
    return found
