"""What new tables of version 9 store about merging, and which settings of later writes are refused."""

import itertools
from typing import Any

import pytest
from reference_samples import SCHEMA, new_table, rows_of

from hudi_reference import open_table
from hudi_reference.errors import InvalidProperty, Misuse
from hudi_reference.layout.stored_merging import stored_merging

EVENT_ID, COMMIT_ID = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5", "ce9acb64-bde0-424c-9b91-f6ebba25356d"
PAYLOAD_ID, CUSTOM_ID = "00000000-0000-0000-0000-000000000000", "1897ef5f-18bc-4557-939c-9d6a8afd1519"
PRIVATE_ID = "6f1f2b8e-52c5-4d6a-9a55-0a3f3f1c2d01"
EVENT, COMMIT, CUSTOM = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING", "CUSTOM"
PACKAGE = "org.apache.hudi.common.model."
#: Deprecated class -> mode, partial update mode, and the strategy id that may be given with it.
DEPRECATED = {
    "OverwriteWithLatestAvroPayload": (COMMIT, None, COMMIT_ID),
    "DefaultHoodieRecordPayload": (EVENT, None, EVENT_ID),
    "EventTimeAvroPayload": (EVENT, None, EVENT_ID),
    "OverwriteNonDefaultsWithLatestAvroPayload": (COMMIT, "IGNORE_DEFAULTS", None),
    "PartialUpdateAvroPayload": (EVENT, "IGNORE_DEFAULTS", None),
    "debezium.PostgresDebeziumAvroPayload": (EVENT, "FILL_UNAVAILABLE", None),
    "debezium.MySqlDebeziumAvroPayload": (EVENT, None, None),
    "AWSDmsAvroPayload": (COMMIT, None, None),
}
OTHERS = ("HoodieAvroPayload", "FirstValueAvroPayload", "Unknown")
Stored = tuple[str, str | None, str | None, str | None, str | None]


def without_class(strategy: str | None, mode: str | None, ordered: bool) -> Stored | None:
    """Mode, id, class, legacy class and partial update mode that are stored if no class is given; None is an error."""
    if strategy is None:
        return None if mode == CUSTOM else (mode or (EVENT if ordered else COMMIT), None, None, None, None)
    if strategy == PAYLOAD_ID:
        return None
    standard = {EVENT_ID: EVENT, COMMIT_ID: COMMIT}.get(strategy, CUSTOM)
    stored_id = strategy if standard == CUSTOM else None
    return (standard, stored_id, None, None, None) if mode in (None, standard) else None


def with_class(name: str, strategy: str | None, mode: str | None) -> Stored | None:
    """The same with a class."""
    if name in DEPRECATED:
        found, partial, own = DEPRECATED[name]
        if strategy == PRIVATE_ID:
            return CUSTOM, PRIVATE_ID, None, None, None
        if strategy in (EVENT_ID, COMMIT_ID) and strategy != own:
            return None
        return found, None, None, PACKAGE + name, partial
    if strategy in (EVENT_ID, COMMIT_ID) or mode not in (None, CUSTOM):
        return None
    if strategy == PRIVATE_ID:
        return CUSTOM, PRIVATE_ID, None, None, None
    return CUSTOM, PAYLOAD_ID, PACKAGE + name, None, None


@pytest.mark.parametrize("name", [None, *DEPRECATED, *OTHERS])
def test_all_combinations_of_class_id_mode_and_ordering(name: str | None) -> None:
    """MRG-043, MRG-044: the table of the release, for every combination; a mode beside a deprecated class is ignored."""
    ids, modes = (None, EVENT_ID, COMMIT_ID, PAYLOAD_ID, CUSTOM_ID, PRIVATE_ID), (None, EVENT, COMMIT, CUSTOM)
    for strategy, mode, ordered in itertools.product(ids, modes, (False, True)):
        expected = without_class(strategy, mode, ordered) if name is None else with_class(name, strategy, mode)
        payload = None if name is None else PACKAGE + name
        try:
            found = stored_merging(mode, strategy, payload, is_ordered=ordered, version=9)
            answer = found.mode, found.strategy, found.payload, found.legacy_payload, found.partial_update
        except InvalidProperty:
            answer = None
        assert answer == expected, (strategy, mode, ordered)


def fields(*names: str) -> dict[str, Any]:
    """The schema of the samples with more text columns."""
    return {**SCHEMA, "fields": [*SCHEMA["fields"], *({"name": n, "type": ["null", "string"], "default": None} for n in names)]}


def merging_of_new_table(schema: dict[str, Any] = SCHEMA, **options: Any) -> dict[str, str]:
    """The properties on merging of a new table of version 9."""
    table = new_table(version=9, schema=schema, **options)
    return {key: value for key, value in table.properties.entries.items() if any(
        part in key for part in ("merge", "payload", "ordering", "precombine", "partial")
    )}  # fmt: skip


def test_standard_modes_store_the_mode_alone() -> None:
    """PROP-020, PROP-026: neither class nor id; a single ordering field has the newer name too."""
    assert merging_of_new_table(ordering=("ts",)) == {
        "hoodie.record.merge.mode": EVENT, "hoodie.table.ordering.fields": "ts",
    }  # fmt: skip
    assert merging_of_new_table() == {"hoodie.record.merge.mode": COMMIT}
    for name in ("hoodie.table.ordering.fields", "hoodie.datasource.write.precombine.field"):
        assert merging_of_new_table(properties={name: "ts"})["hoodie.table.ordering.fields"] == "ts"
    several = merging_of_new_table(ordering=("ts", "p"), merge_mode=COMMIT)
    assert several == {"hoodie.record.merge.mode": COMMIT, "hoodie.table.ordering.fields": "ts,p"}


def test_versions_of_a_new_table() -> None:
    """PROP-018, PROP-019, PROP-022: version 9 with layout 2 where asked for, otherwise version 8; no other version."""
    keys = ("hoodie.table.version", "hoodie.table.initial.version", "hoodie.timeline.layout.version")
    assert [new_table(version=9).properties.entries[key] for key in keys] == ["9", "9", "2"]
    assert [new_table().properties.entries[key] for key in keys] == ["8", "8", "2"]
    with pytest.raises(Misuse, match="version"):
        new_table(version=10)


@pytest.mark.filterwarnings("ignore:payload classes:DeprecationWarning")
@pytest.mark.parametrize(
    ("name", "columns", "stored"),
    [
        ("PartialUpdateAvroPayload", (), {"mode": EVENT, "ordering": "ts", "partial": "IGNORE_DEFAULTS"}),
        ("AWSDmsAvroPayload", ("Op",), {"mode": COMMIT, "ordering": "ts", "field": "Op", "marker": "D"}),
        (
            "debezium.PostgresDebeziumAvroPayload", ("_event_lsn", "_change_operation_type"),
            {"mode": EVENT, "ordering": "_event_lsn", "partial": "FILL_UNAVAILABLE", "field": "_change_operation_type",
             "marker": "d", "unavailable": "__debezium_unavailable_value"},
        ),
        (
            "debezium.MySqlDebeziumAvroPayload", ("_event_bin_file", "_event_pos", "_change_operation_type"),
            {"mode": EVENT, "ordering": "_event_bin_file,_event_pos", "field": "_change_operation_type", "marker": "d"},
        ),
    ],
)  # fmt: skip
def test_deprecated_classes_become_properties(name: str, columns: tuple[str, ...], stored: dict[str, str]) -> None:
    """PAY-024, PAY-025, PAY-026, PAY-027: mode, ordering, partial mode, marker and placeholder instead of the class."""
    prefix = "hoodie.record.merge.property.hoodie."
    names = {
        "mode": "hoodie.record.merge.mode", "ordering": "hoodie.table.ordering.fields",
        "partial": "hoodie.table.partial.update.mode", "field": f"{prefix}payload.delete.field",
        "marker": f"{prefix}payload.delete.marker", "unavailable": f"{prefix}write.partial.update.unavailable.value",
    }  # fmt: skip
    given = {"hoodie.datasource.write.payload.class": PACKAGE + name}
    expected = {names[what]: value for what, value in stored.items()}
    found = merging_of_new_table(fields(*columns), ordering=("ts",), options=given)
    assert found == expected | {"hoodie.table.legacy.payload.class": PACKAGE + name}


@pytest.mark.filterwarnings("ignore:payload classes:DeprecationWarning")
def test_the_delete_marker_is_stored_as_a_merge_property() -> None:
    """PROP-024: with DefaultHoodieRecordPayload or no class; other classes have their own deletes."""
    given = {"hoodie.payload.delete.field": "p", "hoodie.payload.delete.marker": "D"}
    prefixed = {f"hoodie.record.merge.property.{key}": value for key, value in given.items()}
    mode = {"hoodie.record.merge.mode": EVENT, "hoodie.table.ordering.fields": "ts"}
    for where in ("options", "properties"):
        assert merging_of_new_table(ordering=("ts",), **{where: given}) == mode | prefixed
    for name, kept in (("DefaultHoodieRecordPayload", prefixed), ("EventTimeAvroPayload", {})):
        payload = {"hoodie.datasource.write.payload.class": PACKAGE + name}
        found = merging_of_new_table(ordering=("ts",), options=given | payload)
        assert found == mode | kept | {"hoodie.table.legacy.payload.class": PACKAGE + name}


@pytest.mark.filterwarnings("ignore:payload classes:DeprecationWarning")
def test_other_classes_and_mergers_are_stored() -> None:
    """PAY-028: CUSTOM with the id of payloads and the class."""
    payload = {"hoodie.compaction.payload.class": f"{PACKAGE}HoodieAvroPayload"}
    assert merging_of_new_table(properties=payload) == payload | {
        "hoodie.record.merge.mode": CUSTOM, "hoodie.record.merge.strategy.id": PAYLOAD_ID,
    }  # fmt: skip


DEFAULT, PARTIAL = f"{PACKAGE}DefaultHoodieRecordPayload", f"{PACKAGE}PartialUpdateAvroPayload"


@pytest.mark.parametrize(
    ("options", "accepted"),
    [
        ({}, True), ({"hoodie.write.record.merge.mode": EVENT}, True), ({"hoodie.write.record.merge.mode": COMMIT}, False),
        ({"hoodie.table.ordering.fields": "ts"}, True), ({"hoodie.datasource.write.precombine.field": "p"}, False),
        ({"hoodie.table.ordering.fields": "ts,p"}, False),
        ({"hoodie.write.record.merge.strategy.id": EVENT_ID}, False),
        ({"hoodie.datasource.write.payload.class": DEFAULT}, True),
        ({"hoodie.datasource.write.payload.class": PARTIAL}, False),
        ({"hoodie.datasource.write.payload.class": f"{PACKAGE}HoodieAvroPayload"}, False),
        ({"hoodie.write.table.version": "8", "hoodie.write.auto.upgrade": "true"}, True),
    ],
)  # fmt: skip
def test_settings_of_later_writes(options: dict[str, str], accepted: bool) -> None:
    """MRG-045, COMPAT-005: a setting may repeat what the table stores or mean the same; no setting changes the version."""
    table = new_table(version=9, ordering=("ts",))

    def write() -> str | None:
        opened = open_table("memory:///unused", storage=table.storage, options=options)
        opened.upsert(rows_of(SCHEMA, {"id": "1", "ts": 1}))
        return open_table("memory:///unused", storage=table.storage).properties.get("hoodie.table.version")

    if accepted:
        assert write() == "9"
    else:
        with pytest.raises(Misuse, match="a write cannot change"):
            write()


@pytest.mark.filterwarnings("ignore:payload classes:DeprecationWarning")
def test_the_deprecated_class_of_the_table_is_accepted() -> None:
    """MRG-045: writers go on naming the class with which the table was created; another deprecated class is refused."""
    table = new_table(version=9, ordering=("ts",), options={"hoodie.datasource.write.payload.class": PARTIAL})
    for name, accepted in ((PARTIAL, True), (DEFAULT, False)):
        options = {"hoodie.datasource.write.payload.class": name}
        if accepted:
            open_table("memory:///unused", storage=table.storage, options=options)
        else:
            with pytest.raises(Misuse, match="payload class"):
                open_table("memory:///unused", storage=table.storage, options=options)
