"""Damages of entries of the metadata table, which their keys, the files, the timeline or other entries contradict."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import deep_damage_samples as d
import pyarrow as pa

from hudi_reference.files.base_file import read_base_file
from hudi_reference.layout.names import split_path
from hudi_reference.metadata.keys import bloom_filters_key
from hudi_reference.metadata.records import Bound, ColumnStats, MetadataRecord, PartitionList, PartitionStats
from hudi_reference.storage import Storage

Edit = Callable[[Storage], object]
WRONG, COSMETIC = "wrong-answers", "cosmetic"


def _entry(index: str, change: Callable[[Any], Any], pick: Callable[[Storage, Any], bool] = lambda storage, one: True) -> Edit:
    """Replace the first entry of an index that fits."""

    def edit(storage: Storage) -> None:
        entries = sorted(d.entries_of(storage, index).items())
        key, payload = next((key, one.payload) for key, one in entries if pick(storage, one.payload))
        d.change_index(storage, index, removed=[key])  # a record would be merged with the one before it
        d.change_index(storage, index, [MetadataRecord(key, change(payload))])

    return edit


def _statistics(change: Callable[[ColumnStats], ColumnStats]) -> Edit:
    """Replace the statistics of the column fare in the newest base file."""

    def pick(storage: Storage, one: Any) -> bool:
        newest = d.base_files(storage)[-1].rpartition("/")[2]
        return isinstance(one, ColumnStats) and one.file_name == newest and one.column == "fare"

    return _entry("column_stats", change, pick)


def _of_partition(change: Callable[[Any], Any], index: str = "partition_stats", column: str = "fare") -> Edit:
    """Replace the statistics of a column in a partition."""
    return _entry(index, change, lambda storage, one: isinstance(one, PartitionStats) and one.column == column)


def _of_a_newest_file(storage: Storage, one: Any) -> bool:
    newest = [d.base_files(storage, partition)[-1].rpartition("/")[2] for partition in "xy"]
    return isinstance(one, ColumnStats) and one.file_name in newest


def _of_an_older_file(storage: Storage, one: Any) -> bool:
    return isinstance(one, ColumnStats) and one.column == "fare" and not _of_a_newest_file(storage, one)


def _wider(one: Any) -> Any:
    return replace(one, greatest=Bound("LongWrapper", 10**6))


def _longer_filter(storage: Storage) -> None:
    """The filter of the newest base file is one for more keys, in the index alone."""
    path = d.base_files(storage)[-1]
    key, keys = bloom_filters_key(*split_path(path)), d.keys_of(read_base_file(storage, path))
    record = d.entries_of(storage, "bloom_filters")[key]
    text = d.make_file_filter(pa.array([*keys, "another key"])).encode()
    d.change_index(storage, "bloom_filters", removed=[key])
    d.change_index(storage, "bloom_filters", [MetadataRecord(key, replace(record.payload, text=text))])  # type: ignore[type-var]


def _filter_of_other_values(storage: Storage) -> None:
    """The filter of an expression in the newest base file is one of the values without the function."""
    path = d.base_files(storage)[-1]
    key = bloom_filters_key(*split_path(path))
    record = d.entries_of(storage, "expr_index_by_lower")[key]
    text = d.make_file_filter(read_base_file(storage, path).column("city").combine_chunks()).encode()
    d.change_index(storage, "expr_index_by_lower", removed=[key])
    d.change_index(storage, "expr_index_by_lower", [MetadataRecord(key, replace(record.payload, text=text))])  # type: ignore[type-var]


def _filter_of_nothing(storage: Storage) -> None:
    record = min(d.entries_of(storage, "bloom_filters").values(), key=lambda one: one.key)
    d.change_index(storage, "bloom_filters", [MetadataRecord(bloom_filters_key("x", "gone.parquet"), record.payload)])


def _with_sizes(payload: Any) -> Any:
    return replace(payload, partitions={name: replace(one, size=7) for name, one in payload.partitions.items()})


def _more(value: int | None) -> int:
    return (value or 0) + 1


TEXT = Bound("StringWrapper", "a")
#: A sound table, the damage, and the rules of its findings with their severities.
ENTRY_DAMAGES: dict[str, tuple[Callable[[], Storage], Edit, set[tuple[str, str]]]] = {
    "another number of nulls": (
        d.indexed, _statistics(lambda one: replace(one, null_count=_more(one.null_count))), {("MDT-014", COSMETIC)},
    ),
    "another number of values": (
        d.indexed, _statistics(lambda one: replace(one, value_count=_more(one.value_count))), {("MDT-014", COSMETIC)},
    ),
    "an entry of another column": (d.indexed, _statistics(lambda one: replace(one, column="ts")), {("MDT-015", WRONG)}),
    "an entry of another file": (d.indexed, _statistics(lambda one: replace(one, file_name="gone")), {("MDT-015", WRONG), ("MDT-001", COSMETIC)}),
    "other sizes of a column": (
        d.indexed, _statistics(lambda one: replace(one, total_size=_more(one.total_size))), {("MDT-014", COSMETIC)},
    ),
    "another decoded size of a column": (
        d.indexed, _statistics(lambda one: replace(one, total_uncompressed_size=_more(one.total_uncompressed_size))),
        {("MDT-014", COSMETIC)},
    ),
    "an entry of another column of an older file": (
        d.indexed, _entry("column_stats", lambda one: replace(one, column="ts"), _of_an_older_file), {("MDT-015", COSMETIC)},
    ),
    "an entry of a partition with another column": (
        d.indexed, _of_partition(lambda one: replace(one, column="ts")), {("MDT-015", WRONG)},
    ),
    "an entry of another partition": (
        d.indexed, _of_partition(lambda one: replace(one, partition="y" if one.partition == "x" else "x")),
        {("MDT-015", WRONG)},
    ),
    "an entry of an expression with another column": (
        d.indexed, _entry("expr_index_by_lower", lambda one: replace(one, column="ts"), _of_a_newest_file),
        {("MDT-015", WRONG)},
    ),
    "a partition with more values": (
        d.indexed, _of_partition(lambda one: replace(one, value_count=_more(one.value_count))), {("MDT-014", COSMETIC)},
    ),
    "a partition with more nulls": (
        d.indexed, _of_partition(lambda one: replace(one, null_count=_more(one.null_count))), {("MDT-014", COSMETIC)},
    ),
    "a partition with fewer bytes": (d.indexed, _of_partition(lambda one: replace(one, total_size=1)), {("MDT-014", COSMETIC)}),
    "statistics of a partition too wide": (d.indexed, _of_partition(_wider), {("MDT-014", COSMETIC)}),
    "statistics of an expression in a partition too wide": (
        d.indexed,
        _of_partition(lambda one: replace(one, greatest=Bound("StringWrapper", "zz")), "expr_index_by_lower", "city"),
        {("MDT-014", COSMETIC)},
    ),
    "a filter of another time": (
        d.indexed, _entry("bloom_filters", lambda one: replace(one, instant="20200101000000000")), {("IDX-007", COSMETIC)},
    ),
    "a filter with more keys": (d.indexed, _longer_filter, {("IDX-006", COSMETIC)}),
    "a filter of a file that is not there": (d.indexed, _filter_of_nothing, {("MDT-001", COSMETIC)}),
    "a filter of another type": (
        d.indexed, _entry("bloom_filters", lambda one: replace(one, type="SIMPLE")),
        {("IDX-005", WRONG), ("IDX-006", WRONG)},
    ),
    "a filter of an expression with other values": (
        d.with_filters_of_an_expression, _filter_of_other_values, {("IDX-004", WRONG)},
    ),
    "a location in another file group of the index": (
        d.indexed, lambda storage: d.copy_to_other_group(storage, "record_index"), {("IDX-010", WRONG)},
    ),
    "a pair in another file group of the index": (
        d.indexed, lambda storage: d.copy_to_other_group(storage, "secondary_index_by_city"), {("IDX-024", WRONG)},
    ),
    "sizes of partitions": (
        d.indexed, _entry("files", _with_sizes, lambda storage, one: isinstance(one, PartitionList)), {("MDT-007", COSMETIC)},
    ),
    "the time of a location": (
        d.indexed, _entry("record_index", lambda one: replace(one, milliseconds=one.milliseconds + 1)), {("IDX-020", COSMETIC)},
    ),
    "a pair that is marked as removed": (
        d.indexed, _entry("secondary_index_by_city", lambda one: replace(one, is_deleted=True)), {("IDX-024", WRONG)},
    ),
    **{
        f"{name}, without statistics of partitions": (d.with_statistics, _statistics(change), {("MDT-014", COSMETIC)})
        for name, change in {
            "another number of nulls": lambda one: replace(one, null_count=_more(one.null_count)),
            "another number of values": lambda one: replace(one, value_count=_more(one.value_count)),
            "statistics too wide": _wider,
        }.items()
    },
    "no nulls where there is one": (d.with_nulls, _statistics(lambda one: replace(one, null_count=0)), {("MDT-010", WRONG)}),
    "bounds of texts for numbers": (d.indexed, _statistics(lambda one: replace(one, least=TEXT, greatest=TEXT)), {("MDT-010", WRONG)}),
}  # fmt: skip
