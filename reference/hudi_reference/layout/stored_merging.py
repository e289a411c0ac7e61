"""What a new table stores about merging, spec "Table Properties" and RFC-97.

Tables of version 8 store mode, strategy id and payload class, each inferred from the others. Tables of version 9 store the
mode, and the other two only for mode CUSTOM. The payload classes that version 9 replaces become a mode, a partial update mode
and properties for merging.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hudi_reference.layout.merge_config import (
    COMMIT_TIME_STRATEGY,
    DEFAULT_PAYLOAD,
    EVENT_TIME_STRATEGY,
    MODE_ONLY,
    PAYLOAD_STRATEGY,
    MergeMode,
    infer,
)
from hudi_reference.layout.property_table import MERGE_PROPERTY
from hudi_reference.requirement import implements

_PACKAGE = "org.apache.hudi.common.model."
#: The strategy id by which custom mergers are found if a table does not name another one.
CUSTOM_STRATEGY = "1897ef5f-18bc-4557-939c-9d6a8afd1519"
#: Strategy ids with a meaning of their own; any other id is that of one merger.
KNOWN_STRATEGIES = (EVENT_TIME_STRATEGY, COMMIT_TIME_STRATEGY, PAYLOAD_STRATEGY, CUSTOM_STRATEGY)
DELETE_FIELD, DELETE_MARKER = "hoodie.payload.delete.field", "hoodie.payload.delete.marker"


@dataclass(frozen=True)
class StoredMerging:
    """How a table merges, as its properties say it; None or empty is not stored.

    `ordering` replaces the ordering fields that were given. `properties` are those for merging, without their prefix.
    """

    mode: MergeMode
    strategy: str | None = None
    payload: str | None = None
    legacy_payload: str | None = None
    partial_update: str | None = None
    ordering: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)

    @implements("PROP-024", "PROP-025", "PROP-026", "MRG-020", "MRG-033")
    def entries(self) -> dict[str, str]:
        """The properties, without the ordering fields."""
        named = {
            "hoodie.record.merge.mode": self.mode,
            "hoodie.record.merge.strategy.id": self.strategy,
            "hoodie.compaction.payload.class": self.payload,
            "hoodie.table.legacy.payload.class": self.legacy_payload,
            "hoodie.table.partial.update.mode": self.partial_update,
        }
        prefixed = {f"{MERGE_PROPERTY}{name}": value for name, value in self.properties.items()}
        return {key: value for key, value in named.items() if value is not None} | prefixed


_COMMIT: Mapping[str, Any] = {"mode": "COMMIT_TIME_ORDERING"}
_EVENT: Mapping[str, Any] = {"mode": "EVENT_TIME_ORDERING"}
_DEBEZIUM_DELETES = {DELETE_FIELD: "_change_operation_type", DELETE_MARKER: "d"}
_UNAVAILABLE = {"hoodie.write.partial.update.unavailable.value": "__debezium_unavailable_value"}

#: Payload class -> what a table of version 9 stores instead of it.
REPLACED_PAYLOADS: Mapping[str, StoredMerging] = {
    _PACKAGE + name: StoredMerging(legacy_payload=_PACKAGE + name, **stored)
    for name, stored in {
        "OverwriteWithLatestAvroPayload": _COMMIT,
        "DefaultHoodieRecordPayload": _EVENT,
        "EventTimeAvroPayload": _EVENT,
        "OverwriteNonDefaultsWithLatestAvroPayload": {**_COMMIT, "partial_update": "IGNORE_DEFAULTS"},
        "PartialUpdateAvroPayload": {**_EVENT, "partial_update": "IGNORE_DEFAULTS"},
        "debezium.PostgresDebeziumAvroPayload": {
            **_EVENT, "partial_update": "FILL_UNAVAILABLE", "ordering": ("_event_lsn",),
            "properties": {**_UNAVAILABLE, **_DEBEZIUM_DELETES},
        },
        # ER-178: the file is compared as text, as deployed.
        "debezium.MySqlDebeziumAvroPayload": {
            **_EVENT, "ordering": ("_event_bin_file", "_event_pos"), "properties": _DEBEZIUM_DELETES,
        },
        "AWSDmsAvroPayload": {**_COMMIT, "properties": {DELETE_FIELD: "Op", DELETE_MARKER: "D"}},
    }.items()
}  # fmt: skip


def stored_merging(
    mode: str | None, strategy: str | None, payload: str | None, *, is_ordered: bool, version: int
) -> StoredMerging:
    """What a new table of the version stores; `is_ordered` is whether it has ordering fields. Raises InvalidProperty."""
    if version < MODE_ONLY:
        found = infer(mode, strategy, payload, is_ordered=is_ordered, version=version)
        return StoredMerging(found.mode, found.strategy, found.payload)
    return _of_mode_only(mode, strategy or None, payload or None, is_ordered=is_ordered)


@implements("MRG-043", "MRG-044", "PAY-024", "PAY-025", "PAY-026", "PAY-027", "PAY-028")
def _of_mode_only(mode: str | None, strategy: str | None, payload: str | None, *, is_ordered: bool) -> StoredMerging:
    """The same for version 9. A class that is replaced decides alone: a mode that is given with it is ignored."""
    replacement = REPLACED_PAYLOADS.get(payload or "")
    found = infer(None if replacement else mode, strategy, payload, is_ordered=is_ordered)
    if strategy and (strategy not in KNOWN_STRATEGIES or (strategy == CUSTOM_STRATEGY and not payload)):
        return StoredMerging("CUSTOM", strategy)
    if replacement is not None:
        return replacement
    if found.mode == "CUSTOM":
        return StoredMerging("CUSTOM", PAYLOAD_STRATEGY, payload)
    return StoredMerging(found.mode)


@implements("PROP-024", "MRG-051")
def with_delete_marker(stored: StoredMerging, settings: Mapping[str, str]) -> StoredMerging:
    """The same with the delete marker in the settings, which counts unless a payload class has a marker of its own."""
    given = {name: settings[name] for name in (DELETE_FIELD, DELETE_MARKER) if settings.get(name)}
    takes = stored.payload is None and stored.legacy_payload in (None, DEFAULT_PAYLOAD)
    return replace(stored, properties={**stored.properties, **given}) if takes and given else stored
