"""The properties of a metadata table: those that every writer gives it, and those that it shares with its table."""

from collections.abc import Mapping

#: What the properties of every metadata table say.
MADE = {
    "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.base.file.format": "HFILE",
    "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA", "hoodie.table.recordkey.fields": "key",
    "hoodie.record.merge.mode": "CUSTOM", "hoodie.populate.meta.fields": "false",
    "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
}  # fmt: skip
_OF_BOTH = ("hoodie.table.version", "hoodie.table.initial.version", "hoodie.timeline.layout.version")


def probable_properties(outer: Mapping[str, str]) -> dict[str, str]:
    """The properties with which a metadata table that lost its own is examined. `outer` are those of its table."""
    return {**MADE, **{key: outer[key] for key in _OF_BOTH if key in outer}}
