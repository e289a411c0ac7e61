"""Merging in tables of version 9: partial update modes, merge properties and several ordering fields, worked out by hand."""

from typing import Any

import pyarrow as pa
import pytest

from hudi_reference import create_table
from hudi_reference.errors import InvalidProperty, UnsupportedTimelineLayout
from hudi_reference.files.log.content import Delete
from hudi_reference.layout.java_properties import dump
from hudi_reference.layout.properties import PROPERTIES_PATH, TableProperties, read_properties
from hudi_reference.records.changes import IS_DELETED, KEY, Changes
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.schema.avro import arrow_schema
from hudi_reference.storage import MemoryStorage

AVRO: dict[str, Any] = {
    "type": "record", "name": "t", "fields": [
        {"name": "a", "type": ["null", "string"], "default": None},
        {"name": "b", "type": ["null", "bytes"], "default": None},
        {"name": "n", "type": ["int", "null"], "default": 7},
        {"name": "ts", "type": ["null", "long"], "default": None},
        {"name": IS_DELETED, "type": ["null", "boolean"], "default": None},
    ],
}  # fmt: skip
COLUMNS: dict[str, pa.DataType] = {
    KEY: pa.string(), "a": pa.string(), "b": pa.binary(), "n": pa.int32(), "ts": pa.int64(), IS_DELETED: pa.bool_(),
}  # fmt: skip
ARROW = pa.schema(list(COLUMNS.items()))
MODE, MARK = "hoodie.table.partial.update.mode", "__debezium_unavailable_value"
EVENT = {"hoodie.table.version": "9", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING", "hoodie.table.ordering.fields": "ts"}
COMMIT = {"hoodie.table.version": "9", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
DEFAULTS, UNAVAILABLE = {MODE: "IGNORE_DEFAULTS"}, {MODE: "FILL_UNAVAILABLE"}
Values = tuple[str | None, int | None, int | None]


def rows(*values: Values, flag: bool | None = None, data: bytes | None = None) -> pa.Table:
    """Rows of key k with `a`, `n` and `ts`, the deleted flag, and `b`."""
    found = [{KEY: "k", "a": a, "n": n, "ts": ts, "b": data, IS_DELETED: flag} for a, n, ts in values]
    return pa.Table.from_pylist(found, schema=ARROW)


def merged(entries: dict[str, str], *batches: pa.Table | list[Delete], present: dict[int, frozenset[str]] | None = None) -> Any:
    """The values `a`, `n` and `ts` of the merged rows, where the first batch is the base file."""
    base, *changes = batches
    assert isinstance(base, pa.Table)
    found = merge_changes(base, Changes(changes, ARROW, present or {}), merging_of(TableProperties(entries), (), AVRO))
    return [(row["a"], row["n"], row["ts"]) for row in found.to_pylist()]


@pytest.mark.parametrize(
    ("entries", "newer", "expected"),
    [
        (EVENT, ("A2", 2, 6), ("A2", 2, 6)), (EVENT, (None, 7, 6), ("A", 1, 6)), (EVENT, ("A2", None, 6), ("A2", None, 6)),
        (EVENT, ("A2", 2, 4), ("A", 1, 5)), (EVENT, ("A2", 7, 5), ("A2", 1, 5)),
        (COMMIT, (None, 2, 4), ("A", 2, 4)), (COMMIT, ("A2", 7, None), ("A2", 1, 5)),
    ],
)  # fmt: skip
def test_columns_with_their_default_are_taken_from_the_loser(entries: dict[str, str], newer: Values, expected: Values) -> None:
    """MRG-012: the default of `a` and `ts` is null and that of `n` is 7, so there a null is a value."""
    assert merged(entries | DEFAULTS, rows(("A", 1, 5)), rows(newer)) == [expected]


def test_the_older_row_is_filled_if_it_wins() -> None:
    """MRG-012: a late row supplies the columns that the winner has with their default."""
    assert merged(EVENT | DEFAULTS, rows((None, 7, 5)), rows(("late", 3, 4))) == [("late", 3, 5)]


def test_versions_are_merged_one_after_the_other_from_the_base_row_on() -> None:
    """MRG-003: (3, null, B2) over (2, A, B), then a late row: the same rows in one log, in two, and after a compaction."""
    base, second, late = rows(("A", 1, 2)), rows((None, 7, 3)), rows(("A0", 5, 1))
    assert merged(EVENT | DEFAULTS, base, second, late) == [("A", 1, 3)]
    compacted = rows(*merged(EVENT | DEFAULTS, base, second))
    assert merged(EVENT | DEFAULTS, compacted, late) == [("A", 1, 3)]


@pytest.mark.parametrize("mode", [DEFAULTS, UNAVAILABLE])
def test_deletes_fill_nothing_and_are_not_filled(mode: dict[str, str]) -> None:
    """MRG-029: a delete removes the row or loses, by its ordering value; a row after it is taken as it is."""
    entries, stored = EVENT | mode, rows(("A", 1, 5))
    assert merged(entries, stored, rows((None, 7, 6), flag=True)) == []
    assert merged(entries, rows((None, 7, 5)), rows(("A2", 2, 4), flag=True)) == [(None, 7, 5)]
    assert merged(entries, stored, [Delete("k", None, 6)], rows((None, 7, 7))) == [(None, 7, 7)]
    assert merged(entries, stored, [Delete("k", None, None)], rows((None, 7, 1))) == [(None, 7, 1)]
    assert merged(entries, stored, [Delete("k", None, 6)], rows(("A2", 2, 4))) == []


def test_partial_blocks_are_merged_without_the_mode() -> None:
    """LF-046: a null in a block of some columns is a value, also where the table ignores defaults."""
    present = {0: frozenset({KEY, "a", "ts"})}
    assert merged(EVENT | DEFAULTS, rows(("A", 1, 5)), rows((None, None, 6)), present=present) == [(None, 1, 6)]
    assert merged(EVENT | DEFAULTS, rows(("A", 1, 5)), rows(("A2", None, 4)), present=present) == [("A", 1, 5)]


def test_placeholders_are_filled_in_texts_and_bytes() -> None:
    """MRG-012: a value that the source did not send is taken from the other version; a null is a value."""
    base, newer = rows(("A", 1, 5), data=b"data"), rows((MARK, None, 6), data=MARK.encode())
    merging = merging_of(TableProperties(EVENT | UNAVAILABLE), (), AVRO)
    found = merge_changes(base, Changes([newer], ARROW), merging)
    assert found.select(["a", "b", "n"]).to_pylist() == [{"a": "A", "b": b"data", "n": None}]


def test_the_placeholder_is_a_merge_property() -> None:
    """PROP-001: the text of values that were not sent is stored with the prefix of merge properties."""
    stored = {"hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value": "?"}
    entries = EVENT | UNAVAILABLE | stored
    assert merged(entries, rows(("A", 1, 5)), rows(("?", 2, 6))) == [("A", 2, 6)]
    assert merged(entries, rows(("A", 1, 5)), rows((MARK, 2, 6))) == [(MARK, 2, 6)]


def test_the_delete_marker_is_a_merge_property_and_its_case_counts() -> None:
    """MRG-014: the marker is stored with the prefix; another case of it is a value."""
    prefix = "hoodie.record.merge.property.hoodie.payload.delete."
    entries = EVENT | {f"{prefix}field": "a", f"{prefix}marker": "D"}
    assert merged(entries, rows(("A", 1, 5)), rows(("D", 1, 6))) == []
    assert merged(entries, rows(("A", 1, 5)), rows(("d", 1, 6))) == [("d", 1, 6)]
    assert merged({**entries, "hoodie.table.version": "8"}, rows(("A", 1, 5)), rows(("D", 1, 6))) == []


def test_an_unchanged_winner_keeps_its_commit_time() -> None:
    """META-011: a late row that fills nothing does not make a new version of the record; one that fills something does."""
    schema = ARROW.append(pa.field("_hoodie_commit_time", pa.string()))

    def stamped(values: Values, time: str) -> pa.Table:
        return rows(values).append_column("_hoodie_commit_time", pa.array([time])).cast(schema)

    merging = merging_of(TableProperties(EVENT | DEFAULTS), (), AVRO)
    for stored, time in ((("A", 1, 5), "1"), ((None, 1, 5), "2")):
        found = merge_changes(stamped(stored, "1"), Changes([stamped(("A0", 2, 4), "2")], schema), merging)
        assert found.column("_hoodie_commit_time").to_pylist() == [time]


@pytest.mark.parametrize("mode", ["NONE", "FILL_DEFAULTS", "ignore_defaults"])
def test_unknown_partial_update_modes_are_refused(mode: str) -> None:
    """PROP-001: rows merged by a mode that is not known would be wrong, so the error names the property."""
    with pytest.raises(InvalidProperty, match=r"hoodie\.table\.partial\.update\.mode"):
        merging_of(TableProperties(EVENT | {MODE: mode}))


def test_version_8_has_no_partial_update_modes() -> None:
    """COMPAT-002: the property is unknown at version 8, so it changes nothing there, whatever its value is."""
    entries = {**EVENT, "hoodie.table.version": "8", MODE: "IGNORE_DEFAULTS"}
    assert merged(entries, rows(("A", 1, 5)), rows((None, 7, 6))) == [(None, 7, 6)]
    assert merging_of(TableProperties({**entries, MODE: "x"})).merger is None


@pytest.mark.parametrize("name", ["hoodie.table.ordering.fields", "hoodie.table.precombine.field"])
def test_both_names_of_the_ordering_fields_count(name: str) -> None:
    """ER-030: a list of fields may be under the older name too, after a downgrade and an upgrade."""
    entries = {"hoodie.table.version": "9", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING", name: "n,ts"}
    assert merged(entries, rows(("A", 1, 5)), rows(("A2", 0, 9))) == [("A", 1, 5)]
    assert merged(entries, rows(("A", 1, 5)), rows(("A2", 1, 6))) == [("A2", 1, 6)]
    assert merged(entries, rows(("A", -1, 5)), rows(("A2", None, 1))) == [("A2", None, 1)]
    assert merged(entries, rows(("A", 1, 5)), rows(("A2", None, 9))) == [("A", 1, 5)]
    assert merged(entries, rows(("A", 1, 5)), [Delete("k", None, (1, 4))]) == [("A", 1, 5)]
    assert merged(entries, rows(("A", 1, 5)), [Delete("k", None, (2, 0))]) == []
    assert merged(entries, rows(("A", None, None)), [Delete("k", None, (0, 0))]) == []


@pytest.mark.parametrize("nulls", [("n",), ("ts",), ("n", "ts")])
def test_nulls_among_several_ordering_fields_are_ordered(nulls: tuple[str, ...]) -> None:
    """MRG-047: rows and flagged deletes with nulls are written, stored as the default values, and merged by them."""
    fields = [{"name": "id", "type": "string"}, *AVRO["fields"][2:]]
    schema = {**AVRO, "fields": [{**field, "type": ["null", "int"], "default": None} if field["name"] == "n" else field
                                 for field in fields]}  # fmt: skip
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        table = create_table("x:", name="t", schema=schema, record_key=("id",), ordering=("n", "ts"), version=9, table_type=kind,
                             storage=MemoryStorage())  # fmt: skip
        zero = {"id": "k", "n": 0, "ts": 0} | dict.fromkeys(nulls)

        def upsert(row: dict[str, Any], *, flag: bool = False, table: Any = table) -> list[Any]:
            table.upsert(pa.Table.from_pylist([{**row, IS_DELETED: flag}], schema=arrow_schema(schema)))
            return [(found["n"], found["ts"]) for found in table.snapshot().to_pylist()]

        assert upsert({"id": "k", "n": -1, "ts": 9}) == [(-1, 9)]
        assert upsert(zero) == [(zero["n"], zero["ts"])]
        assert upsert({"id": "k", "n": 0, "ts": -1}) == [(zero["n"], zero["ts"])]
        assert upsert(zero, flag=True) == []
        assert upsert({"id": "k", "n": 0, "ts": 1}) == [(0, 1)]


def test_the_mode_decides_against_an_id_and_a_class() -> None:
    """MRG-016: at version 9 a strategy id or a class of another mode is information only."""
    stored = {
        "hoodie.record.merge.strategy.id": "ce9acb64-bde0-424c-9b91-f6ebba25356d",
        "hoodie.table.legacy.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
    }
    assert merged(EVENT | stored, rows(("A", 1, 5)), rows(("A2", 2, 4))) == [("A", 1, 5)]


def test_the_legacy_class_decides_nothing() -> None:
    """PROP-025: merging follows mode and partial update mode, whatever class was asked for once."""
    legacy = {"hoodie.table.legacy.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload"}
    assert merged(EVENT | DEFAULTS | legacy, rows(("A", 1, 5)), rows((None, 2, 6))) == [("A", 2, 6)]


def test_a_missing_mode_is_refused_and_not_inferred() -> None:
    """MRG-041: a table of version 9 without its mode is refused by the name of the property; version 8 infers the mode."""
    entries = {"hoodie.table.version": "9", "hoodie.table.ordering.fields": "ts"}
    with pytest.raises(InvalidProperty, match=r"hoodie\.record\.merge\.mode"):
        merging_of(TableProperties(entries))
    assert merging_of(TableProperties({**entries, "hoodie.table.version": "8"})).mode == "EVENT_TIME_ORDERING"


def test_version_9_has_layout_2() -> None:
    """PROP-019: another timeline layout is refused, because its folder would seem to have no instants."""
    storage = MemoryStorage()
    entries = {"hoodie.table.name": "t", "hoodie.table.type": "MERGE_ON_READ", **EVENT, "hoodie.timeline.layout.version": "1"}
    storage.put(PROPERTIES_PATH, dump(entries, "layout 1"))
    with pytest.raises(UnsupportedTimelineLayout):
        read_properties(storage)
