"""Which partitions of the metadata table a writer keeps: the properties that list them, and the settings that drop them.

A writer with the value `false` of one of these settings drops the partition before its action completes, as deployed writers
do: it would be out of date afterwards. Without the setting a listed partition is maintained.
"""

from collections.abc import Iterable, Mapping

from hudi_reference.settings import boolean_setting

#: The properties that list the partitions that readers may use, and those that are being built.
USABLE, INFLIGHT = "hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight"
#: The setting that enables the metadata table.
ENABLE = "hoodie.metadata.enable"
_COLUMNS = "hoodie.metadata.index.column.stats.enable"
#: The settings that enable a record index: over the whole table, with its name since 1.1, and a partitioned one.
GLOBAL_RECORD_INDEX = ("hoodie.metadata.record.index.enable", "hoodie.metadata.global.record.level.index.enable")
PARTITIONED_RECORD_INDEX = "hoodie.metadata.record.level.index.enable"
#: Partition -> the settings of which any with the value `false` drops it. Statistics of partitions are made from those of
#: columns.
DROPPED_BY: Mapping[str, tuple[str, ...]] = {
    "files": (ENABLE,),
    "column_stats": (_COLUMNS,),
    "partition_stats": (_COLUMNS, "hoodie.metadata.index.partition.stats.enable"),
    "bloom_filters": ("hoodie.metadata.index.bloom.filter.enable",),
    "record_index": GLOBAL_RECORD_INDEX,
}
#: Partition -> the settings of which any with the value `true` keeps it all the same: another kind of the same index.
_KEPT_BY: Mapping[str, tuple[str, ...]] = {"record_index": (PARTITIONED_RECORD_INDEX,)}


def is_disabled(options: Mapping[str, str]) -> bool:
    """Whether the settings switch the metadata table off: a reader does not use it, and a writer deletes it."""
    return not boolean_setting(options, ENABLE, default=True)


def partitions_to_drop(options: Mapping[str, str], partitions: Iterable[str]) -> tuple[str, ...]:
    """Those of the partitions that a writer with these settings drops; without the metadata table all of them."""
    if is_disabled(options):
        return tuple(partitions)
    return tuple(
        one
        for one in partitions
        if not all(boolean_setting(options, key, default=True) for key in DROPPED_BY.get(one, ()))
        and not any(boolean_setting(options, key) for key in _KEPT_BY.get(one, ()))
    )
