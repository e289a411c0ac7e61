"""Conversion of the properties of a table between version 8 and version 9: how the table merges is stored in other properties.

version 8                                          version 9
mode, strategy id and payload class                the mode; strategy id and class only with mode CUSTOM
a payload class that version 9 replaces            mode, partial update mode and properties for merging; the class as legacy
hoodie.table.precombine.field                      hoodie.table.ordering.fields
hoodie.payload.delete.field and .marker            the same with the prefix of properties for merging
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace

from hudi_reference.errors import MigrationRefused
from hudi_reference.layout.merge_config import MERGE_CONFIGURATION, infer
from hudi_reference.layout.properties import NEWEST_VERSION, PROPERTIES_PATH, TABLE_VERSION, TableProperties
from hudi_reference.layout.property_table import MERGE_PROPERTY
from hudi_reference.layout.stored_merging import (
    DELETE_FIELD,
    DELETE_MARKER,
    REPLACED_PAYLOADS,
    StoredMerging,
    stored_merging,
)
from hudi_reference.requirement import implements

_MODE, _PAYLOAD = "hoodie.record.merge.mode", "hoodie.compaction.payload.class"
#: Downgrades store the strategy id under its older name too.
_STRATEGIES = ("hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy")
_ORDERING, _OLDER_ORDERING = "hoodie.table.ordering.fields", "hoodie.table.precombine.field"
_LEGACY, _PARTIAL = "hoodie.table.legacy.payload.class", "hoodie.table.partial.update.mode"
_MERGING = (_MODE, _PAYLOAD, *_STRATEGIES, _ORDERING, _OLDER_ORDERING, _LEGACY, _PARTIAL)
#: The ordering field at version 8 of classes that have several at version 9.
_ORDERING_OF_CLASS = {"MySqlDebeziumAvroPayload": ("_event_seq",)}


@implements("COMPAT-008", "MRG-041", "PROP-018", "PROP-020", "PROP-024", "PROP-025", "PROP-026")
def upgraded_entries(properties: TableProperties, columns: Container[str]) -> dict[str, str]:
    """The entries at version 9 of a table at version 8 with these columns. Raises MigrationRefused, InvalidProperty."""
    found, marker = properties.merging, properties.delete_marker
    is_ordered = bool(properties.ordering_fields)
    stored = stored_merging(found.mode, found.strategy, found.payload, is_ordered=is_ordered, version=NEWEST_VERSION)
    dropped: tuple[str, ...] = _MERGING
    if marker is not None and stored.mode != "CUSTOM":  # a marker of the payload class itself counts first
        stored = replace(stored, properties={DELETE_FIELD: marker[0], DELETE_MARKER: marker[1], **stored.properties})
        dropped = (*dropped, DELETE_FIELD, DELETE_MARKER)
    _check_columns(stored.ordering, columns, found.payload)
    ordering = stored.ordering or properties.ordering_fields
    return {
        **_without(properties, dropped),
        **stored.entries(),
        **({_ORDERING: ",".join(ordering)} if ordering else {}),
        "hoodie.table.version": str(NEWEST_VERSION),
    }


@implements("COMPAT-010", "MRG-018", "MRG-020", "PROP-009", "PROP-020", "PROP-025")
def downgraded_entries(properties: TableProperties, columns: Container[str]) -> dict[str, str]:
    """The entries at version 8 of a table at version 9 with these columns. Raises MigrationRefused, InvalidProperty."""
    given = {
        key.removeprefix(MERGE_PROPERTY): value for key, value in properties.entries.items() if key.startswith(MERGE_PROPERTY)
    }
    kept = _without(properties, (*_MERGING, *(f"{MERGE_PROPERTY}{name}" for name in given)))
    found, ordering = properties.merging, properties.ordering_fields
    if found.mode != "CUSTOM":
        payload = _payload_of(properties, given)
        replaced = REPLACED_PAYLOADS[payload]
        given = {name: value for name, value in given.items() if name not in replaced.properties}
        ordering = _ORDERING_OF_CLASS.get(payload.rpartition(".")[2], ordering)
        _check_columns(ordering, columns, payload)
        found = infer(None, None, payload, is_ordered=bool(ordering))
    elif properties.partial_update_mode:
        raise _no_payload(properties)
    if len(ordering) > 1:
        raise MigrationRefused(
            "several ordering fields", rule="COMPAT-010", path=PROPERTIES_PATH, expected="one ordering field at version 8",
            found=f"{_ORDERING}={','.join(ordering)}",
            remedy="keep the table at version 9: writers of version 8 know one field",
        )  # fmt: skip
    return {
        **kept,
        **given,
        _MODE: found.mode,
        **dict.fromkeys(_STRATEGIES, found.strategy),
        _PAYLOAD: found.payload,
        **({_OLDER_ORDERING: ordering[0]} if ordering else {}),
        "hoodie.table.version": str(TABLE_VERSION),
    }


def _without(properties: TableProperties, keys: Container[str]) -> dict[str, str]:
    return {key: value for key, value in properties.entries.items() if key not in keys}


@implements("COMPAT-010", "PROP-025")
def _payload_of(properties: TableProperties, given: Mapping[str, str]) -> str:
    """The payload class by which version 8 merges as the table does.

    The legacy class is information only: it is taken if the table merges as it does.
    """
    for name in _candidates(properties):
        one = REPLACED_PAYLOADS.get(name)
        if one is not None and _merges_as(one, properties, given):
            return name
    raise _no_payload(properties)


def _candidates(properties: TableProperties) -> Iterator[str]:
    if legacy := properties.get(_LEGACY):
        yield legacy
    yield MERGE_CONFIGURATION[properties.merge_mode][1]
    yield from REPLACED_PAYLOADS


def _merges_as(one: StoredMerging, properties: TableProperties, given: Mapping[str, str]) -> bool:
    same_mode = (one.mode, one.partial_update) == (properties.merge_mode, properties.partial_update_mode)
    same_ordering = one.ordering in ((), properties.ordering_fields)
    return same_mode and same_ordering and all(given.get(name) == value for name, value in one.properties.items())


def _no_payload(properties: TableProperties) -> MigrationRefused:
    return MigrationRefused(
        "no payload class of version 8 merges as the table does", rule="COMPAT-010", path=PROPERTIES_PATH,
        expected=f"the settings of one of {', '.join(name.rpartition('.')[2] for name in REPLACED_PAYLOADS)}",
        found=f"{_MODE}={properties.merge_mode}, {_PARTIAL}={properties.partial_update_mode}",
        remedy="keep the table at version 9",
    )  # fmt: skip


def _check_columns(ordering: tuple[str, ...], columns: Container[str], payload: str) -> None:
    """Raises MigrationRefused if the ordering fields of a class are no columns of the table."""
    for name in ordering:
        if name not in columns:
            raise MigrationRefused(
                "the table lacks an ordering field of its payload class", rule="PAY-022", path=PROPERTIES_PATH,
                expected=f"a column {name}, for {payload.rpartition('.')[2]}", found="no such column",
                remedy="keep the table at its version, or add the column by a write with a new schema",
            )  # fmt: skip
