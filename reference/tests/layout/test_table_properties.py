"""`hoodie.properties`: syntax, checksum, backup, and inferred settings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded, contents, new_table, set_property

from hudi_reference import open_table
from hudi_reference.errors import (
    HudiError,
    InvalidProperty,
    MalformedProperties,
    MissingProperty,
    TableNotFound,
    UnknownMerger,
    UnsupportedTableVersion,
    UnsupportedTimelineLayout,
)
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.merge_config import COMMIT_TIME_STRATEGY, EVENT_TIME_STRATEGY, PAYLOAD_STRATEGY
from hudi_reference.layout.properties import (
    BACKUP_PATH,
    PROPERTIES_PATH,
    TableProperties,
    checksum,
    read_properties,
)
from hudi_reference.storage import MemoryStorage

DEFAULT = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
EVENT_PAYLOAD = "org.apache.hudi.common.model.EventTimeAvroPayload"
OVERWRITE = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"
OTHER = "com.example.Payload"
OTHER_ID = "1897ef5f-18bc-4557-939c-9d6a8afd1519"
EVENT, COMMIT, CUSTOM = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING", "CUSTOM"


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a=1\nb=2\n", {"a": "1", "b": "2"}),
        ("a:1", {"a": "1"}),
        ("a 1", {"a": "1"}),
        ("a\t=\f 1 ", {"a": "1 "}),
        ("  a = b = c ", {"a": "b = c "}),
        ("a==1", {"a": "=1"}),
        ("a", {"a": ""}),
        ("=1", {"": "1"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("# a=1\n ! b=2\n\n \t\nc=3", {"c": "3"}),
        ("a=one\\\n   two\\\n\tthree", {"a": "onetwothree"}),
        ("a=one\\\n# no comment", {"a": "one# no comment"}),
        ("a=one\\\\\nb=2", {"a": "one\\", "b": "2"}),
        ("a=one\\\n\nb=2", {"a": "one", "b": "2"}),
        ("a=end\\", {"a": "end"}),
        (r"a\=b\:c\ d=\t\n\r\f\\\q", {"a=b:c d": "\t\n\r\f\\q"}),
        (r"a=\u0041\u00e9\u65E5", {"a": "Aé日"}),
        (r"a=\ud83d\udeb2", {"a": "🚲"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=\xe9", {"a": "é"}),
        ("hoodie.table.create.schema={\"type\"\\:\"record\"}", {"hoodie.table.create.schema": '{"type":"record"}'}),
    ],
)  # fmt: skip
def test_syntax_of_java_properties(text: str, entries: dict[str, str]) -> None:
    """PROP-003: the whole syntax of java.util.Properties is accepted, because other tools may have rewritten the file."""
    assert load(text.encode("latin-1")) == entries


def test_written_properties_are_escaped_as_by_java() -> None:
    """PROP-003: `= : # !` and blanks are escaped, characters beyond ASCII as UTF-16 code units; keys are sorted."""
    entries = {"b": ' lead:"x"=#!', "a k": "é🚲\t\\", "c": "inner blank"}
    assert dump(entries, "why") == (
        b"#why\n"
        b"a\\ k=\\u00E9\\uD83D\\uDEB2\\t\\\\\n"
        b'b=\\ lead\\:"x"\\=\\#\\!\n'
        b"c=inner blank\n"
    )  # fmt: skip


@bounded(200)
@given(st.dictionaries(st.text(), st.text(), max_size=5))
def test_entries_are_unchanged_after_writing_and_reading(entries: dict[str, str]) -> None:
    """PROP-003: keys and values with any characters."""
    assert load(dump(entries, "comment")) == entries


@pytest.mark.parametrize(("database", "name"), [("default", "t"), ("", "v8_x_metadata"), ("db", "日本🚲")])
def test_the_checksum_covers_the_two_names(database: str, name: str) -> None:
    """PROP-011: CRC-32 of `<database>.<table>` in UTF-8; the dot stays without a database."""
    assert crc32_bit_by_bit(b"123456789") == 0xCBF43926
    assert checksum(database, name) == str(crc32_bit_by_bit(f"{database}.{name}".encode()))


def test_a_table_may_have_any_name() -> None:
    """PROP-004: a name beyond ASCII and beyond the first 65,536 characters is read as it was written."""
    table = new_table(name="Fahrten 🚲 = été")
    assert open_table("x:", storage=table.storage).properties.name == "Fahrten 🚲 = été"


def crc32_bit_by_bit(data: bytes) -> int:
    """CRC-32 by its definition: polynomial 0xEDB88320, reflected, inverted at both ends."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0xEDB88320 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def table_text(**changes: str | None) -> bytes:
    """The properties of a table at version 8; keys by their last words, None leaves one out."""
    entries = {
        "hoodie.table.name": "t",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "8",
        "hoodie.timeline.layout.version": "2",
        "hoodie.table.checksum": checksum("", "t"),
    }
    for key, value in changes.items():
        entries["hoodie." + key.replace("_", ".")] = value
    return dump({key: value for key, value in entries.items() if value is not None}, "test")


def read(main: bytes | None, backup: bytes | None = None) -> TableProperties:
    """Read the properties of a table with these two files."""
    storage = MemoryStorage()
    storage.put(".hoodie/timeline/x", b"")
    for path, data in ((PROPERTIES_PATH, main), (BACKUP_PATH, backup)):
        if data is not None:
            storage.put(path, data)
    before = contents(storage)
    try:
        return read_properties(storage)
    finally:
        assert contents(storage) == before


def test_missing_folder_is_not_a_table() -> None:
    """LAY-012: a folder without `.hoodie` is not a table, and the error says so."""
    with pytest.raises(TableNotFound) as raised:
        open_table("memory:///nothing-here", storage=MemoryStorage())
    assert (raised.value.rule, raised.value.path) == ("LAY-012", ".hoodie")


def test_a_folder_without_properties_is_a_broken_table() -> None:
    """LAY-013: the folder exists and the file does not: this is damage, and not a missing table."""
    with pytest.raises(MalformedProperties) as raised:
        read(None)
    assert (raised.value.rule, raised.value.path) == ("LAY-013", PROPERTIES_PATH)


@pytest.mark.parametrize(
    ("changes", "error", "rule"),
    [
        ({"table_name": None}, MissingProperty, "PROP-004"),
        ({"table_type": None}, MissingProperty, "PROP-005"),
        ({"table_version": None}, MissingProperty, "PROP-006"),
        ({"timeline_layout_version": None}, MissingProperty, "PROP-010"),
        ({"table_checksum": "1"}, MalformedProperties, "PROP-011"),
        ({"table_name": "u"}, MalformedProperties, "PROP-011"),
        ({"table_version": "eight"}, InvalidProperty, "PROP-006"),
        ({"table_version": "-8"}, InvalidProperty, "PROP-006"),
        ({"table_version": "\u0668"}, InvalidProperty, "PROP-006"),
        ({"table_version": "8" * 5000}, InvalidProperty, "PROP-006"),
        ({"timeline_layout_version": "2.0"}, InvalidProperty, "PROP-010"),
        ({"table_version": "10"}, UnsupportedTableVersion, "COMPAT-004"),
        ({"table_version": "7"}, UnsupportedTableVersion, "COMPAT-002"),
        ({"table_version": "5"}, UnsupportedTableVersion, "COMPAT-002"),
        ({"table_version": "99"}, UnsupportedTableVersion, "COMPAT-004"),
        ({"table_version": "6"}, UnsupportedTimelineLayout, "PROP-010"),
        ({"timeline_layout_version": "1"}, UnsupportedTimelineLayout, "PROP-010"),
    ],
)
def test_a_bad_file_is_refused_by_the_rule_it_breaks(changes: dict[str, str | None], error: type[HudiError], rule: str) -> None:
    """PROP-004, PROP-006, PROP-010, PROP-011, COMPAT-002, COMPAT-004: each fault has its own error, which names the file."""
    with pytest.raises(error) as raised:
        read(table_text(**changes))
    assert type(raised.value) is error
    assert (raised.value.rule, raised.value.path) == (rule, PROPERTIES_PATH)


def test_truncated_file_is_refused_or_complete() -> None:
    """PROP-011: a truncated file lacks a required key or fails its checksum; a file that is accepted has every required key."""
    table = new_table()
    whole = table.storage.get(PROPERTIES_PATH)
    for length in range(len(whole)):
        table.storage.put(PROPERTIES_PATH, whole[:length])
        try:
            found = read_properties(table.storage)
        except (MalformedProperties, UnsupportedTimelineLayout, UnsupportedTableVersion):
            continue
        assert found.name == "trips"


def test_backup_replaces_a_missing_or_damaged_file() -> None:
    """PROP-011: an interrupted update leaves a valid backup, which readers use."""
    backup = table_text(table_type="MERGE_ON_READ")
    assert read(None, backup).is_merge_on_read
    assert read(table_text(table_checksum="1"), backup).is_merge_on_read
    assert read(b"", backup).is_merge_on_read
    assert not read(table_text(), backup).is_merge_on_read


def test_damaged_backup_reports_the_file() -> None:
    """PROP-011: the error names `hoodie.properties`, which has to be repaired."""
    with pytest.raises(MalformedProperties) as raised:
        read(table_text(table_checksum="1"), table_text(table_checksum="2"))
    assert (raised.value.path, raised.value.found) == (PROPERTIES_PATH, "1")


def test_a_file_without_checksum_is_accepted() -> None:
    """PROP-011: the checksum is checked where it is present."""
    assert read(table_text(table_checksum=None)).name == "t"


def test_backup_is_not_used_for_refused_versions() -> None:
    """COMPAT-002: a table at version 10 with a backup from before its upgrade is a table at version 10."""
    with pytest.raises(UnsupportedTableVersion):
        read(table_text(table_version="10"), table_text())


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("hoodie.table.type", "MERGE_ON_WRITE", "PROP-005"),
        ("hoodie.record.merge.mode", "LATEST", "MRG-016"),
        ("hoodie.populate.meta.fields", "yes", "PROP-001"),
        ("hoodie.table.base.file.format", "CSV", "PROP-001"),
    ],
)
def test_unknown_value_is_an_error(key: str, value: str, rule: str) -> None:
    """PROP-001: a default for the table type or the merge mode would silently give wrong rows."""
    with pytest.raises(InvalidProperty) as raised:
        TableProperties({key: value}).get(key)
    assert (raised.value.rule, raised.value.path) == (rule, PROPERTIES_PATH)
    assert value in (raised.value.found or "")


def test_unknown_keys_are_kept() -> None:
    """PROP-001: what another release wrote stays visible."""
    assert read(table_text(from_the_future="x")).get("hoodie.from.the.future") == "x"


@pytest.mark.parametrize(
    ("entries", "fields"),
    [
        ({}, ()),
        ({"hoodie.table.precombine.field": "ts"}, ("ts",)),
        ({"hoodie.table.ordering.fields": "ts"}, ("ts",)),
        ({"hoodie.table.ordering.fields": " ts , seq,"}, ("ts", "seq")),
        ({"hoodie.table.ordering.fields": "", "hoodie.table.precombine.field": "ts"}, ("ts",)),
        ({"hoodie.table.ordering.fields": "new", "hoodie.table.precombine.field": "old"}, ("new",)),
    ],
)
def test_both_names_of_the_ordering_fields_are_read(entries: dict[str, str], fields: tuple[str, ...]) -> None:
    """MRG-019, ER-030: 1.0 writes `precombine.field`, 1.2 writes `ordering.fields`, both at version 8."""
    assert TableProperties(entries).ordering_fields == fields


def test_types_of_custom_key_generator_fields_are_left_out() -> None:
    """PROP-008: `field:TYPE` items name the field before the colon."""
    assert TableProperties({"hoodie.table.partition.fields": "p:SIMPLE,d:TIMESTAMP"}).partition_fields == ("p", "d")


def properties_of(mode: str | None, strategy: str | None, payload: str | None, ordering: str | None) -> TableProperties:
    """A table's merge configuration as stored."""
    entries = {
        "hoodie.record.merge.mode": mode,
        "hoodie.record.merge.strategy.id": strategy,
        "hoodie.compaction.payload.class": payload,
        "hoodie.table.precombine.field": ordering,
    }
    return TableProperties({key: value for key, value in entries.items() if value is not None})


@pytest.mark.parametrize("ordering", [None, "ts"])
@pytest.mark.parametrize(
    ("mode", "strategy", "payload", "expected"),
    [
        (EVENT, None, None, EVENT),
        (COMMIT, None, None, COMMIT),
        (None, EVENT_TIME_STRATEGY, None, EVENT),
        (EVENT, EVENT_TIME_STRATEGY, None, EVENT),
        (None, COMMIT_TIME_STRATEGY, None, COMMIT),
        (COMMIT, COMMIT_TIME_STRATEGY, None, COMMIT),
        (COMMIT, EVENT_TIME_STRATEGY, None, InvalidProperty),
        (EVENT, COMMIT_TIME_STRATEGY, None, InvalidProperty),
        (CUSTOM, EVENT_TIME_STRATEGY, None, InvalidProperty),
        (None, OTHER_ID, None, CUSTOM),
        (CUSTOM, OTHER_ID, None, CUSTOM),
        (CUSTOM, PAYLOAD_STRATEGY, OTHER, CUSTOM),
        (EVENT, OTHER_ID, None, InvalidProperty),
        (COMMIT, PAYLOAD_STRATEGY, OTHER, InvalidProperty),
        (None, None, DEFAULT, EVENT),
        (None, None, EVENT_PAYLOAD, EVENT),
        (EVENT, EVENT_TIME_STRATEGY, DEFAULT, EVENT),
        (None, PAYLOAD_STRATEGY, DEFAULT, CUSTOM),
        (None, None, OVERWRITE, COMMIT),
        (COMMIT, COMMIT_TIME_STRATEGY, OVERWRITE, COMMIT),
        (EVENT, None, OVERWRITE, InvalidProperty),
        (COMMIT, None, DEFAULT, InvalidProperty),
        (None, None, OTHER, CUSTOM),
        (CUSTOM, None, OTHER, CUSTOM),
        (CUSTOM, None, None, InvalidProperty),
        (None, PAYLOAD_STRATEGY, None, InvalidProperty),
        (None, EVENT_TIME_STRATEGY, OVERWRITE, InvalidProperty),
        (COMMIT, COMMIT_TIME_STRATEGY, DEFAULT, InvalidProperty),
        (EVENT, None, OTHER, InvalidProperty),
    ],
)
def test_merge_mode_is_inferred_as_deployed(
    mode: str | None, strategy: str | None, payload: str | None, ordering: str | None, expected: str | type[HudiError]
) -> None:
    """MRG-016, MRG-017, MRG-021, MRG-031: a known strategy id decides, then the payload class; contradictions are errors."""
    found = properties_of(mode, strategy, payload, ordering)
    if isinstance(expected, str):
        assert found.merge_mode == expected
        return
    with pytest.raises(expected) as raised:
        _ = found.merge_mode
    assert raised.value.path == PROPERTIES_PATH


@pytest.mark.parametrize(("ordering", "expected"), [(None, COMMIT), ("ts", EVENT)])
def test_merge_mode_without_properties_depends_on_the_ordering_field(ordering: str | None, expected: str) -> None:
    """MRG-020: without mode, id and class: event time if there is an ordering field."""
    assert properties_of(None, None, None, ordering).merge_mode == expected


def test_the_older_name_of_the_strategy_id_is_read() -> None:
    """MRG-018: `hoodie.compaction.record.merger.strategy` is the same property."""
    assert TableProperties({"hoodie.compaction.record.merger.strategy": EVENT_TIME_STRATEGY}).merge_mode == EVENT


def test_unknown_custom_merger_is_refused_by_queries() -> None:
    """MRG-031: another merger would give wrong rows."""
    table = new_table()
    set_property(table.storage, "hoodie.record.merge.mode", "CUSTOM")
    set_property(table.storage, "hoodie.record.merge.strategy.id", OTHER_ID)
    with pytest.raises(UnknownMerger) as raised:
        open_table("x:", storage=table.storage).snapshot()
    assert raised.value.feature == "merge.custom"


def test_a_created_table_has_every_required_key() -> None:
    """PROP-002, PROP-006, PROP-010: the properties that Apache Hudi 1.0.2 always writes for a data table exist, with its
    values."""
    entries = load(new_table(ordering=("ts",), partition=("p",)).storage.get(PROPERTIES_PATH))
    schema = entries.pop("hoodie.table.create.schema")
    assert schema.startswith('{"type":"record"')
    assert entries == {
        "hoodie.table.name": "trips",
        "hoodie.database.name": "default",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "8",
        "hoodie.table.initial.version": "8",
        "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
        "hoodie.archivelog.folder": "archived",
        "hoodie.table.timeline.timezone": "UTC",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "p",
        "hoodie.table.precombine.field": "ts",
        "hoodie.table.keygenerator.type": "SIMPLE",
        "hoodie.record.merge.mode": EVENT,
        "hoodie.record.merge.strategy.id": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
        "hoodie.compaction.payload.class": DEFAULT,
        "hoodie.datasource.write.hive_style_partitioning": "false",
        "hoodie.datasource.write.partitionpath.urlencode": "false",
        "hoodie.datasource.write.drop.partition.columns": "false",
        "hoodie.table.checksum": str(crc32_bit_by_bit(b"default.trips")),
    }


def test_values_are_stored_in_the_letters_of_the_format() -> None:
    """A reader that compares exactly finds the value that it knows."""
    table = new_table(
        properties={"hoodie.table.cdc.enabled": "True", "hoodie.table.cdc.supplemental.logging.mode": "data_before"}
    )
    entries = read_properties(table.storage).entries
    assert entries["hoodie.table.cdc.enabled"] == "true"
    assert entries["hoodie.table.cdc.supplemental.logging.mode"] == "DATA_BEFORE"
