"""Records of the metadata table, spec "Metadata", "Indexes": one Avro record with a type number and one filled member per type.

    type   member                  in partitions
    1      filesystemMetadata      files, key `__all_partitions__`
    2      filesystemMetadata      files, key a partition path
    3      ColumnStatsMetadata     column_stats, expr_index_…
    4      BloomFilterMetadata     bloom_filters, expr_index_…
    5      recordIndexMetadata     record_index
    6      ColumnStatsMetadata     partition_stats, expr_index_…
    7      SecondaryIndexMetadata  secondary_index_…

The key is that of the HFile's entry; in the value it is empty. The meta columns before it are not filled, and not read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hudi_reference.metadata.locations import Location
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class FileInfo:
    """Size in bytes; deleted entries have size 0, as partitions have."""

    size: int
    is_deleted: bool = False


@implements("MDT-007")
@dataclass(frozen=True)
class PartitionList:
    """Partition paths of the table; `.` for the base path."""

    partitions: Mapping[str, FileInfo]


@implements("MDT-006")
@dataclass(frozen=True)
class FileList:
    """Names of the files of a partition, base and log files: all committed files in storage."""

    files: Mapping[str, FileInfo]


@dataclass(frozen=True)
class Bound:
    """A least or greatest value and the type of its wrapper record; dates are days, times and timestamps microseconds.

    The value of a list of values is a tuple of bounds.
    """

    wrapper: str
    value: bool | int | float | bytes | str | Decimal | Any


@dataclass(frozen=True)
class ValueType:
    """The type of the values of a column in statistics of index version V2; `info` are precision and scale of decimals."""

    ordinal: int
    info: str | None = None


@dataclass(frozen=True)
class Statistics:
    """Statistics of the values of a column. The number of values includes the nulls; sizes in bytes, 0 for log files.

    It must not be used if all values are null, or for floating-point columns with the range 0.0 to 0.0.
    """

    column: str
    least: Bound | None
    greatest: Bound | None
    value_count: int | None
    null_count: int | None
    total_size: int | None
    total_uncompressed_size: int | None
    is_deleted: bool = False
    is_tight: bool = False
    #: None in statistics of index version V1.
    value_type: ValueType | None = None


@implements("MDT-011", "MDT-014")
@dataclass(frozen=True)
class ColumnStats(Statistics):
    """Statistics of a column in one file."""

    file_name: str = field(kw_only=True)


@dataclass(frozen=True)
class PartitionStats(Statistics):
    """Statistics of a column in all files of a partition."""

    partition: str = field(kw_only=True)


@implements("IDX-005", "IDX-006", "IDX-007", "IDX-008")
@dataclass(frozen=True)
class BloomFilter:
    """The bloom filter of a base file: `SIMPLE` or `DYNAMIC_V0`, and the Base64 text that its footer has, stored as bytes."""

    type: str
    instant: str
    text: str
    is_deleted: bool = False


@implements("IDX-010", "IDX-013", "IDX-020")
@dataclass(frozen=True)
class RecordLocation:
    """The location of a record: partition path ("" for the base path), file id, and time of the instant that stored it."""

    partition: str
    location: Location
    milliseconds: int
    position: int | None = None


@implements("IDX-030")
@dataclass(frozen=True)
class SecondaryEntry:
    """The value of a secondary index entry. Removed entries are entries of delete blocks, never flagged records."""

    is_deleted: bool = False


Payload = PartitionList | FileList | ColumnStats | BloomFilter | RecordLocation | PartitionStats | SecondaryEntry


@implements("MDT-003")
@dataclass(frozen=True)
class MetadataRecord:
    """A record of the metadata table with its key."""

    key: str
    payload: Payload
