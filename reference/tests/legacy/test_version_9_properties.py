"""Conversion of properties between version 8 and version 9, against tables worked out by hand."""

import pytest

from hudi_reference.errors import InvalidProperty, MigrationRefused
from hudi_reference.layout.properties import TableProperties
from hudi_reference.services.migration.version_9_properties import downgraded_entries, upgraded_entries

PACKAGE = "org.apache.hudi.common.model."
EVENT, COMMIT = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5", "ce9acb64-bde0-424c-9b91-f6ebba25356d"
PAYLOAD, PRIVATE = "00000000-0000-0000-0000-000000000000", "11111111-2222-3333-4444-555555555555"
SAME = {"hoodie.table.name": "t", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.initial.version": "8"}
COLUMNS = ("ts", "_event_seq", "_event_bin_file", "_event_pos", "_event_lsn")
PREFIX = "record.merge.property."
MODE, ID, CLASS = "record.merge.mode", "record.merge.strategy.id", "compaction.payload.class"
LEGACY, PARTIAL = "table.legacy.payload.class", "table.partial.update.mode"
OLD_ORDERING, ORDERING, OLD_ID = "table.precombine.field", "table.ordering.fields", "compaction.record.merger.strategy"
DELETE, MARKER = "payload.delete.field", "payload.delete.marker"
OF_DEBEZIUM = {f"{PREFIX}hoodie.{DELETE}": "_change_operation_type", f"{PREFIX}hoodie.{MARKER}": "d"}
VALUE = {f"{PREFIX}hoodie.write.partial.update.unavailable.value": "__debezium_unavailable_value"}
OF_DMS = {f"{PREFIX}hoodie.{DELETE}": "Op", f"{PREFIX}hoodie.{MARKER}": "D"}

#: Class -> mode, id and ordering field at version 8; mode, ordering fields and other entries at version 9.
CLASSES = {
    "OverwriteWithLatestAvroPayload": (("COMMIT_TIME_ORDERING", COMMIT, ""), ("COMMIT_TIME_ORDERING", "", {})),
    "DefaultHoodieRecordPayload": (("EVENT_TIME_ORDERING", EVENT, "ts"), ("EVENT_TIME_ORDERING", "ts", {})),
    "EventTimeAvroPayload": (("EVENT_TIME_ORDERING", EVENT, "ts"), ("EVENT_TIME_ORDERING", "ts", {})),
    "OverwriteNonDefaultsWithLatestAvroPayload": (
        ("CUSTOM", PAYLOAD, "ts"), ("COMMIT_TIME_ORDERING", "ts", {PARTIAL: "IGNORE_DEFAULTS"}),
    ),
    "PartialUpdateAvroPayload": (("CUSTOM", PAYLOAD, "ts"), ("EVENT_TIME_ORDERING", "ts", {PARTIAL: "IGNORE_DEFAULTS"})),
    "debezium.PostgresDebeziumAvroPayload": (
        ("CUSTOM", PAYLOAD, "_event_lsn"),
        ("EVENT_TIME_ORDERING", "_event_lsn", {PARTIAL: "FILL_UNAVAILABLE", **VALUE, **OF_DEBEZIUM}),
    ),
    "debezium.MySqlDebeziumAvroPayload": (
        ("CUSTOM", PAYLOAD, "_event_seq"), ("EVENT_TIME_ORDERING", "_event_bin_file,_event_pos", OF_DEBEZIUM),
    ),
    "AWSDmsAvroPayload": (("CUSTOM", PAYLOAD, "ts"), ("COMMIT_TIME_ORDERING", "ts", OF_DMS)),
}  # fmt: skip


def table(version: int, **entries: str) -> TableProperties:
    """The properties of a table, from names without `hoodie.`."""
    return TableProperties(expected(version, entries))


def expected(version: int, entries: dict[str, str]) -> dict[str, str]:
    """The entries of a table, from names without `hoodie.`; empty values are absent."""
    named = {f"hoodie.{key}": value for key, value in entries.items() if value}
    return {**SAME, "hoodie.table.version": str(version), **named}


@pytest.mark.parametrize("name", CLASSES)
def test_each_payload_class_at_both_versions(name: str) -> None:
    """COMPAT-008, COMPAT-010: the entries of each class that version 9 replaces, after an upgrade and after a downgrade."""
    (mode, strategy, field), (new_mode, ordering, others) = CLASSES[name]
    old = {MODE: mode, ID: strategy, CLASS: PACKAGE + name, OLD_ORDERING: field}
    new = {MODE: new_mode, LEGACY: PACKAGE + name, ORDERING: ordering, **others}
    assert upgraded_entries(table(8, **old), COLUMNS) == expected(9, new)
    assert downgraded_entries(table(9, **new), COLUMNS) == expected(8, {**old, OLD_ID: strategy})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({OLD_ORDERING: "ts"}, {MODE: "EVENT_TIME_ORDERING", LEGACY: f"{PACKAGE}DefaultHoodieRecordPayload", ORDERING: "ts"}),
        ({ID: COMMIT}, {MODE: "COMMIT_TIME_ORDERING", LEGACY: f"{PACKAGE}OverwriteWithLatestAvroPayload"}),
        ({OLD_ID: COMMIT}, {MODE: "COMMIT_TIME_ORDERING", LEGACY: f"{PACKAGE}OverwriteWithLatestAvroPayload"}),
        ({MODE: "CUSTOM", ID: PRIVATE, CLASS: f"{PACKAGE}DefaultHoodieRecordPayload"}, {MODE: "CUSTOM", ID: PRIVATE}),
        (
            {MODE: "CUSTOM", ID: PAYLOAD, CLASS: f"{PACKAGE}HoodieAvroPayload", OLD_ORDERING: "ts"},
            {MODE: "CUSTOM", ID: PAYLOAD, CLASS: f"{PACKAGE}HoodieAvroPayload", ORDERING: "ts"},
        ),
        (
            {MODE: "EVENT_TIME_ORDERING", OLD_ORDERING: "ts", DELETE: "op", MARKER: "x"},
            {
                MODE: "EVENT_TIME_ORDERING", ORDERING: "ts", LEGACY: f"{PACKAGE}DefaultHoodieRecordPayload",
                f"{PREFIX}hoodie.{DELETE}": "op", f"{PREFIX}hoodie.{MARKER}": "x",
            },
        ),
    ],
    ids=["by-ordering", "by-id", "by-older-name-of-id", "private-id", "another-class", "marker"],
)  # fmt: skip
def test_upgraded_merge_configurations(old: dict[str, str], new: dict[str, str]) -> None:
    """COMPAT-008: the mode by which version 8 merged is stored; id and class only stay with mode CUSTOM."""
    assert upgraded_entries(table(8, **old), COLUMNS) == expected(9, new)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (
            {MODE: "COMMIT_TIME_ORDERING"},
            {MODE: "COMMIT_TIME_ORDERING", ID: COMMIT, OLD_ID: COMMIT, CLASS: f"{PACKAGE}OverwriteWithLatestAvroPayload"},
        ),
        (
            {MODE: "COMMIT_TIME_ORDERING", PARTIAL: "IGNORE_DEFAULTS", ORDERING: "ts"},
            {
                MODE: "CUSTOM", ID: PAYLOAD, OLD_ID: PAYLOAD, OLD_ORDERING: "ts",
                CLASS: f"{PACKAGE}OverwriteNonDefaultsWithLatestAvroPayload",
            },
        ),
        (
            {MODE: "EVENT_TIME_ORDERING", LEGACY: f"{PACKAGE}AWSDmsAvroPayload", ORDERING: "ts"},
            {
                MODE: "EVENT_TIME_ORDERING", ID: EVENT, OLD_ID: EVENT, OLD_ORDERING: "ts",
                CLASS: f"{PACKAGE}DefaultHoodieRecordPayload",
            },
        ),
        (
            {MODE: "EVENT_TIME_ORDERING", ORDERING: "ts", f"{PREFIX}hoodie.{DELETE}": "op", f"{PREFIX}hoodie.{MARKER}": "x"},
            {
                MODE: "EVENT_TIME_ORDERING", ID: EVENT, OLD_ID: EVENT, OLD_ORDERING: "ts", DELETE: "op", MARKER: "x",
                CLASS: f"{PACKAGE}DefaultHoodieRecordPayload",
            },
        ),
    ],
    ids=["no-class", "class-by-settings", "contradicting-legacy-class", "marker"],
)  # fmt: skip
def test_downgraded_merge_configurations(new: dict[str, str], old: dict[str, str]) -> None:
    """COMPAT-010: the payload class is one that merges as the table does; the legacy class is information only."""
    assert downgraded_entries(table(9, **new), COLUMNS) == expected(8, old)


@pytest.mark.parametrize(
    "entries",
    [
        {MODE: "EVENT_TIME_ORDERING", ORDERING: "ts,_event_pos"},
        {MODE: "EVENT_TIME_ORDERING", ORDERING: "ts", PARTIAL: "FILL_UNAVAILABLE"},
        {MODE: "CUSTOM", ID: PRIVATE, PARTIAL: "IGNORE_DEFAULTS"},
    ],
    ids=["several-ordering-fields", "no-class", "custom"],
)
def test_a_downgrade_that_version_8_cannot_express(entries: dict[str, str]) -> None:
    """COMPAT-010: what no property of version 8 says is refused."""
    with pytest.raises(MigrationRefused):
        downgraded_entries(table(9, **entries), COLUMNS)


def test_columns_that_the_other_version_orders_by() -> None:
    """PAY-027: the columns by which a class orders at the other version have to exist."""
    name = f"{PACKAGE}debezium.MySqlDebeziumAvroPayload"
    with pytest.raises(MigrationRefused, match="_event_bin_file"):
        upgraded_entries(table(8, **{MODE: "CUSTOM", ID: PAYLOAD, CLASS: name}), ("_event_seq",))
    stored = {MODE: "EVENT_TIME_ORDERING", LEGACY: name, ORDERING: "_event_bin_file,_event_pos", **OF_DEBEZIUM}
    with pytest.raises(MigrationRefused, match="_event_seq"):
        downgraded_entries(table(9, **stored), ("_event_bin_file", "_event_pos"))


def test_contradictions_are_not_converted() -> None:
    """MRG-021, MRG-041: a contradiction at version 8, and a missing mode at version 9, are errors."""
    with pytest.raises(InvalidProperty):
        upgraded_entries(table(8, **{MODE: "COMMIT_TIME_ORDERING", ID: EVENT}), COLUMNS)
    with pytest.raises(InvalidProperty):
        downgraded_entries(table(9, **{ORDERING: "ts"}), COLUMNS)
