"""Conversion of the properties of a table from version 6 to version 8."""

from collections.abc import Mapping

from hudi_reference.layout.merge_config import MERGE_CONFIGURATION
from hudi_reference.layout.properties import LEGACY_VERSION, TABLE_VERSION, TIMELINE_LAYOUT, TableProperties
from hudi_reference.requirement import implements

#: Class of a key generator without its package -> type in version 8.
KEY_GENERATORS = {
    "SimpleKeyGenerator": "SIMPLE",
    "ComplexKeyGenerator": "COMPLEX",
    "TimestampBasedKeyGenerator": "TIMESTAMP",
    "CustomKeyGenerator": "CUSTOM",
    "NonpartitionedKeyGenerator": "NON_PARTITION",
    "GlobalDeleteKeyGenerator": "GLOBAL_DELETE",
}
#: Properties that have another name in version 8, or that belong to the metadata table, which a migration deletes.
_DROPPED = (
    "hoodie.compaction.record.merger.strategy",
    "hoodie.table.metadata.partitions",
    "hoodie.table.metadata.partitions.inflight",
)


@implements("PROP-006", "PROP-010", "MRG-020", "COMPAT-006")
def migrate_properties(properties: TableProperties) -> dict[str, str]:
    """The entries of the table at version 8. The merge mode stays the same (ER-084)."""
    kept = {key: value for key, value in properties.entries.items() if key not in _DROPPED}
    return {
        **kept,
        "hoodie.table.version": str(TABLE_VERSION),
        "hoodie.table.initial.version": properties.get("hoodie.table.initial.version") or str(LEGACY_VERSION),
        "hoodie.timeline.layout.version": str(TIMELINE_LAYOUT),
        "hoodie.timeline.path": properties.get("hoodie.timeline.path") or "timeline",
        "hoodie.timeline.history.path": properties.get("hoodie.timeline.history.path") or "history",
        **_merging(properties),
        **_key_generator(properties),
    }


def _merging(properties: TableProperties) -> Mapping[str, str]:
    found = properties.merging
    if found.mode == "CUSTOM":
        return {"hoodie.record.merge.mode": found.mode, "hoodie.record.merge.strategy.id": found.strategy}
    strategy, payload = MERGE_CONFIGURATION[found.mode]
    return {
        "hoodie.record.merge.mode": found.mode,
        "hoodie.record.merge.strategy.id": strategy,
        "hoodie.compaction.payload.class": payload,
    }


def _key_generator(properties: TableProperties) -> Mapping[str, str]:
    """The type of the key generator by its class; a custom class is kept, with type USER_PROVIDED."""
    name = (properties.get("hoodie.table.keygenerator.class") or "").rpartition(".")[2]
    if not name or properties.get("hoodie.table.keygenerator.type"):
        return {}
    return {"hoodie.table.keygenerator.type": KEY_GENERATORS.get(name, "USER_PROVIDED")}
