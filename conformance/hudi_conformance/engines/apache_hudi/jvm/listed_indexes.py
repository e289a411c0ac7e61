"""The settings of a writer that maintains the indexes which the properties of a table list.

Hudi removes an index that a writer disables, and most of them are disabled by default. A user repeats the settings of the
indexes for each write and service; the adapters do the same.
"""

from collections.abc import Mapping

from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_reference.layout.metadata_settings import ENABLE, GLOBAL_RECORD_INDEX, INFLIGHT, PARTITIONED_RECORD_INDEX, USABLE

#: Metadata partition -> the setting of a writer that maintains it.
SETTINGS: Mapping[str, str] = {
    "files": ENABLE,
    "column_stats": "hoodie.metadata.index.column.stats.enable",
    "partition_stats": "hoodie.metadata.index.partition.stats.enable",
    "bloom_filters": "hoodie.metadata.index.bloom.filter.enable",
    "record_index": GLOBAL_RECORD_INDEX[0],
}
#: The same for indexes that users name, by the prefix of the partition.
NAMED: Mapping[str, str] = {
    "secondary_index_": "hoodie.metadata.index.secondary.enable",
    "expr_index_": "hoodie.metadata.index.expression.enable",
}


def listed(properties: Mapping[str, str], *entries: str) -> tuple[str, ...]:
    """The metadata partitions in these entries of the table properties."""
    found = (name.strip() for entry in entries or (USABLE, INFLIGHT) for name in properties.get(entry, "").split(","))
    return tuple(name for name in found if name)


def maintaining(bridge: JavaBridge, table: str, properties: Mapping[str, str]) -> dict[str, str]:
    """The settings that maintain every listed index."""
    settings = (_setting(bridge, table, name) for name in listed(properties))
    return {setting: "true" for setting in settings if setting is not None}


def _setting(bridge: JavaBridge, table: str, partition: str) -> str | None:
    """The setting that maintains a metadata partition, None for one that Hudi does not know."""
    if partition == "record_index" and _is_partitioned(bridge, table):
        return PARTITIONED_RECORD_INDEX
    named = (setting for prefix, setting in NAMED.items() if partition.startswith(prefix))
    return SETTINGS.get(partition) or next(named, None)


def _is_partitioned(bridge: JavaBridge, table: str) -> bool:
    """Whether the record index has file groups of their own for each partition, by its definition."""
    definitions = bridge.meta_client(table).getIndexMetadata()
    if not definitions.isPresent():
        return False
    found = definitions.get().getIndexDefinitions().get("record_index")
    return found is not None and str(found.getIndexOptions().get("isPartitioned")) == "true"
