"""Merging in tables of version 9: deprecated classes at creation, several ordering fields, and partial update modes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.model import Model
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.custom_mergers import PACKAGE, stored_properties
from hudi_conformance.suite.support.tables.written_tables import Type, table_folder
from hudi_reference import create_table

pytestmark = [
    pytest.mark.versions(9),
    pytest.mark.needs(
        "create", "create.table-version.9", "write.upsert", "read.snapshot", "read.projection", "merge.event-time",
        "partition.none",
    ),
]  # fmt: skip
SEVERAL = pytest.mark.needs("merge.multiple-ordering-fields")
NewUri = Callable[[], str]
Row = dict[str, Any]

TYPES = {"string": pa.string(), "long": pa.int64(), "boolean": pa.bool_()}
#: Columns of the tables: rows name some of them, and those that are not named are null.
COLUMNS = {
    "id": "string", "ts": "long", "n": "long", "a": "string", "b": "string", "_event_lsn": "long",
    "_event_bin_file": "string", "_event_pos": "long", "_change_operation_type": "string", "Op": "string",
    "_hoodie_is_deleted": "boolean",
}  # fmt: skip


def table_of(type: Type, *ordering: str, **more: Any) -> TableSpec:
    """Return a table of version 9 with these ordering fields."""
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in COLUMNS.items()]
    schema = {"type": "record", "name": "merged", "namespace": "hoodie.merged", "fields": fields}
    return TableSpec("merged", type, schema, ("id",), ordering=ordering, version=9, **more)


def as_table(*rows: Row, columns: tuple[str, ...] = tuple(COLUMNS)) -> pa.Table:
    """Return rows with these columns."""
    return pa.Table.from_pylist(list(rows), schema=pa.schema([(name, TYPES[COLUMNS[name]]) for name in columns]))


def store_property(uri: str, key: str, value: str) -> None:
    """Store a value in the properties file of a table, in place of the value that it has."""
    file = table_folder(uri) / ".hoodie" / "hoodie.properties"
    kept = [line for line in file.read_text().splitlines() if not line.startswith(f"{key}=")]
    file.write_text("\n".join([*kept, f"{key}={value}"]) + "\n")
    (table_folder(uri) / ".hoodie" / ".hoodie.properties.crc").unlink(missing_ok=True)


def rows_by_key(engine: Client, uri: str, *columns: str) -> dict[str, tuple[Any, ...]]:
    """Return these columns of a snapshot by key."""
    found = engine.read(uri, Query(columns=("id", *columns))).to_pylist()
    assert len({row["id"] for row in found}) == len(found), "a key has two rows"
    return {row["id"]: tuple(row[name] for name in columns) for row in found}


#: Class -> its ordering fields, and their values in a row and in a change that is late.
ORDERED_BY_CLASS: Mapping[str, tuple[tuple[str, ...], Row, Row]] = {
    "PostgresDebeziumAvroPayload": (("_event_lsn",), {"_event_lsn": 2}, {"_event_lsn": 1}),
    "MySqlDebeziumAvroPayload": (
        ("_event_bin_file", "_event_pos"),
        {"_event_bin_file": "7", "_event_pos": 12},
        {"_event_bin_file": "7", "_event_pos": 3},
    ),
}


@SEVERAL
@BOTH_TYPES
@pytest.mark.parametrize("name", ORDERED_BY_CLASS)
@pytest.mark.requirements("PAY-026", "PAY-027", "MRG-043", "PROP-025", "PROP-026")
def test_a_deprecated_class_decides_the_ordering_fields(engine: Client, new_uri: NewUri, type: Type, name: str) -> None:
    """PAY-026: a table that is created with a class of Debezium stores the ordering fields of the class, whichever were given,
    and a change that is late by these loses.
    """
    fields, stored, late = ORDERED_BY_CLASS[name]
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", properties={"hoodie.compaction.payload.class": f"{PACKAGE}debezium.{name}"}))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 1, "a": "stored", **stored}))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 9, "a": "late", **late}))
    assert rows_by_key(engine, uri, "a") == {"k": ("stored",)}
    assert stored_properties(uri)["hoodie.table.ordering.fields"] == ",".join(fields)


@BOTH_TYPES
@pytest.mark.parametrize("name", ["DefaultHoodieRecordPayload", "OverwriteWithLatestAvroPayload"])
@pytest.mark.requirements("PROP-025", "PROP-023", "MRG-048")
def test_the_legacy_class_does_not_decide(engine: Client, new_uri: NewUri, type: Type, name: str) -> None:
    """PROP-025: a table that records a class of other behaviour merges by its merge mode and its partial update mode."""
    properties = {
        "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS",
        "hoodie.table.legacy.payload.class": f"{PACKAGE}{name}",
    }
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", merge_mode="EVENT_TIME_ORDERING", properties=properties))
    rows = ({"id": "newer", "ts": 2, "a": "A", "b": "B"}, {"id": "late", "ts": 2, "b": "B"})
    engine.write(uri, "upsert", as_table(*rows))
    engine.write(uri, "upsert", as_table({"id": "newer", "ts": 3, "b": "b"}, {"id": "late", "ts": 1, "a": "a", "b": "b"}))
    assert rows_by_key(engine, uri, "ts", "a", "b") == {"newer": (3, "A", "b"), "late": (2, "a", "B")}


#: Class -> the columns ts, a and b of a key after one input with two rows of it, the first of which has the greater ts.
#: The first row has only a, the second one only b.
ONE_INPUT: Mapping[str, tuple[int, str | None, str | None]] = {
    "OverwriteWithLatestAvroPayload": (4, None, "second"),
    "DefaultHoodieRecordPayload": (5, "first", None),
    "OverwriteNonDefaultsWithLatestAvroPayload": (4, "first", "second"),
    "PartialUpdateAvroPayload": (5, "first", "second"),
}


@BOTH_TYPES
@pytest.mark.parametrize("name", ONE_INPUT)
@pytest.mark.requirements("MRG-026", "MRG-028", "MRG-048")
def test_rows_of_a_key_in_one_input(engine: Client, new_uri: NewUri, type: Type, name: str) -> None:
    """MRG-026: of two rows of a key in one input the last one wins in commit-time mode, also with a class that once compared
    them, and the one with the greater ordering value in event-time mode. MRG-048: its nulls are filled from the other one.
    """
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", properties={"hoodie.compaction.payload.class": f"{PACKAGE}{name}"}))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 2, "a": "stored", "b": "stored"}, {"id": "other", "ts": 1}))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 5, "a": "first"}, {"id": "k", "ts": 4, "b": "second"}))
    assert rows_by_key(engine, uri, "ts", "a", "b")["k"] == ONE_INPUT[name]


#: Rows, deletes with lower and higher values of the second field, and a row after a delete.
ORDERED_BY_TWO: tuple[tuple[Row, ...], ...] = (
    tuple({"id": key, "ts": 2, "n": n} for key, n in (("lower", 5), ("higher", 5), ("null", 5), ("above", -5))),
    tuple({"id": key, "ts": 2, "n": n, "_hoodie_is_deleted": True} for key, n in (("lower", 4), ("higher", 6))),
    ({"id": "higher", "ts": 2, "n": 5},),
)
#: Then deletes with a null in the second field, of rows with a greater and with a lower value than 0.
NULLS_AMONG_TWO: tuple[tuple[Row, ...], ...] = (
    tuple({"id": key, "ts": 2, "n": None, "_hoodie_is_deleted": True} for key in ("null", "above")),
    ({"id": "above", "ts": 2, "n": -1},),
)


@SEVERAL
@BOTH_TYPES
@pytest.mark.needs("delete.flag")
@pytest.mark.requirements("BLK-037", "MRG-046", "MRG-019")
def test_deletes_with_several_ordering_values(engine: Client, new_uri: NewUri, type: Type) -> None:
    """BLK-037: a delete removes a row, and outlives a later one, only if its ordering values are the greater ones in turn."""
    write_ordered_by_two(engine, new_uri(), type, ORDERED_BY_TWO)


@SEVERAL
@BOTH_TYPES
@pytest.mark.needs("delete.flag")
@pytest.mark.requirements("MRG-047", "BLK-037")
def test_deletes_with_a_null_among_ordering_values(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-047: a delete with a null in an ordering field is refused, or the null counts as 0; every query is answered."""
    write_ordered_by_two(engine, new_uri(), type, ORDERED_BY_TWO + NULLS_AMONG_TWO)


def write_ordered_by_two(engine: Client, uri: str, type: Type, writes: tuple[tuple[Row, ...], ...]) -> None:
    """Write to a table with two ordering fields, and compare its rows with the model after each write."""
    model = Model(record_key=("id",), ordering=("ts", "n"), merge_mode="EVENT_TIME_ORDERING", table_type=type)
    engine.create(uri, table_of(type, "ts", "n", merge_mode="EVENT_TIME_ORDERING"))
    for number, rows in enumerate(writes):
        try:
            engine.write(uri, "upsert", as_table(*rows))
        except ContractError:
            assert None in {row["n"] for row in rows}, "a write without nulls failed"
        else:
            model.apply("upsert", rows)
        right = {row["id"]: (row["ts"], row["n"]) for row in model.snapshot()}
        assert rows_after(engine, uri, f"write {number}", "ts", "n") == right, f"after write {number}"


def rows_after(engine: Client, uri: str, what: str, *columns: str) -> dict[str, tuple[Any, ...]]:
    """Return these columns by key. A query that fails is a failure of the test: no write may make a table unreadable."""
    try:
        return rows_by_key(engine, uri, *columns)
    except ContractError as error:
        pytest.fail(f"a query failed after {what}: {error}")


def write_null_by_partial_update(engine: Client, uri: str, type: Type) -> None:
    """Write a row to a table with IGNORE_DEFAULTS, and set one of its columns to null by a partial update."""
    properties = {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    engine.create(uri, table_of(type, "ts", merge_mode="EVENT_TIME_ORDERING", properties=properties))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 1, "a": "A", "b": "B"}))
    engine.write(uri, "partial_update", as_table({"id": "k", "ts": 2, "a": None}, columns=("id", "ts", "a")))


@BOTH_TYPES
@pytest.mark.needs("write.partial-update", "merge.partial-updates")
@pytest.mark.requirements("MRG-050", "PROP-023")
def test_a_partial_update_sets_a_null(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-050: with IGNORE_DEFAULTS a partial update that sets a column to null stores the null, and keeps other columns."""
    uri = new_uri()
    write_null_by_partial_update(engine, uri, type)
    assert rows_by_key(engine, uri, "ts", "a", "b") == {"k": (2, None, "B")}


@pytest.mark.needs("write.partial-update", "merge.partial-updates", "service.compaction")
@pytest.mark.requirements("MRG-050", "PROP-023")
def test_a_compaction_keeps_the_null_of_a_partial_update(engine: Client, new_uri: NewUri) -> None:
    """MRG-050: with IGNORE_DEFAULTS a compaction stores the null that a partial update has set."""
    uri = new_uri()
    write_null_by_partial_update(engine, uri, "MERGE_ON_READ")
    compact_if_possible(engine, uri, "MERGE_ON_READ")
    assert rows_by_key(engine, uri, "ts", "a", "b") == {"k": (2, None, "B")}


UNAVAILABLE = "__debezium_unavailable_value"
#: Class -> two writes, and the rows after them as key -> (a, b).
CHANGES_BY_CLASS: Mapping[str, tuple[tuple[Row, ...], tuple[Row, ...], Mapping[str, tuple[Any, ...]]]] = {
    "AWSDmsAvroPayload": (
        tuple({"id": key, "ts": 2, "a": "A", "Op": "I"} for key in ("late", "gone", "lower")),
        ({"id": "late", "ts": 1, "a": "L", "Op": "U"}, {"id": "gone", "ts": 1, "Op": "D"}, {"id": "lower", "ts": 3, "Op": "d"}),
        {"late": ("L", None), "lower": (None, None)},
    ),
    "debezium.PostgresDebeziumAvroPayload": (
        tuple({"id": key, "_event_lsn": 2, "a": "A", "b": "B", "_change_operation_type": "c"} for key in ("x", "late", "gone")),
        (
            {"id": "x", "_event_lsn": 3, "a": UNAVAILABLE, "_change_operation_type": "u"},
            {"id": "late", "_event_lsn": 1, "a": "L", "_change_operation_type": "d"},
            {"id": "gone", "_event_lsn": 3, "_change_operation_type": "d"},
        ),
        {"x": ("A", None), "late": ("A", "B")},
    ),
    "debezium.MySqlDebeziumAvroPayload": (
        tuple(
            {"id": key, "_event_bin_file": "7", "_event_pos": 5, "a": "A", "_change_operation_type": "c"}
            for key in ("late", "next", "gone")
        ),
        (
            {"id": "late", "_event_bin_file": "7", "_event_pos": 4, "a": "L", "_change_operation_type": "u"},
            {"id": "next", "_event_bin_file": "8", "_event_pos": 1, "a": "N", "_change_operation_type": "u"},
            {"id": "gone", "_event_bin_file": "7", "_event_pos": 6, "_change_operation_type": "d"},
        ),
        {"late": ("A", None), "next": ("N", None)},
    ),
}


def compact_if_possible(engine: Client, uri: str, type: Type) -> None:
    """Compact a table that has logs."""
    if type == "MERGE_ON_READ":
        engine.service(uri, "compaction", phase="run")


@SEVERAL
@BOTH_TYPES
@pytest.mark.needs("service.compaction")
@pytest.mark.parametrize("name", CHANGES_BY_CLASS)
@pytest.mark.requirements("PAY-025", "PAY-026", "PAY-027", "MRG-051", "PROP-024", "PROP-025", "MRG-049", "PROP-023")
@pytest.mark.requirements("PROP-001", "PAY-004")
def test_changes_of_a_deprecated_class_are_merged_alike(engine: Client, new_uri: NewUri, type: Type, name: str) -> None:
    """PAY-026: late, unavailable and deleting changes of a capture tool are merged as the modes say that replace its class,
    which is set by its full name, by writers, queries and compaction.
    """
    stored, changes, right = CHANGES_BY_CLASS[name]
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", properties={"hoodie.compaction.payload.class": PACKAGE + name}))
    engine.write(uri, "upsert", as_table(*stored))
    engine.write(uri, "upsert", as_table(*changes))
    assert rows_by_key(engine, uri, "a", "b") == right
    compact_if_possible(engine, uri, type)
    assert rows_by_key(engine, uri, "a", "b") == right


@BOTH_TYPES
@pytest.mark.needs("service.compaction", "write.delete")
@pytest.mark.requirements("MRG-050", "PROP-023")
def test_a_deleted_row_fills_nothing(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-050: with IGNORE_DEFAULTS the nulls of a row that is written after a delete stay, also after a compaction."""
    properties = {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", merge_mode="EVENT_TIME_ORDERING", properties=properties))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 1, "a": "A", "b": "B"}, {"id": "l", "ts": 1, "a": "A"}))
    engine.write(uri, "delete", as_table({"id": "k", "ts": 1}).select(["id", "ts"]))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 2, "b": "b"}))
    right = {"k": (2, None, "b"), "l": (1, "A", None)}
    assert rows_by_key(engine, uri, "ts", "a", "b") == right
    compact_if_possible(engine, uri, type)
    assert rows_by_key(engine, uri, "ts", "a", "b") == right


@BOTH_TYPES
@pytest.mark.needs("service.compaction", "delete.flag")
@pytest.mark.requirements("MRG-050", "MRG-048", "PROP-023")
def test_a_flagged_delete_fills_nothing(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-050: with IGNORE_DEFAULTS the columns of a delete, and of the row that it removed, fill no later row."""
    properties = {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", merge_mode="EVENT_TIME_ORDERING", properties=properties))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 1, "a": "A", "b": "B"}))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 2, "a": "D", "b": "D", "_hoodie_is_deleted": True}))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 3, "b": "b", "_hoodie_is_deleted": False}))
    right = {"k": (3, None, "b")}
    assert rows_by_key(engine, uri, "ts", "a", "b") == right
    compact_if_possible(engine, uri, type)
    assert rows_by_key(engine, uri, "ts", "a", "b") == right


@SEVERAL
@BOTH_TYPES
@pytest.mark.needs("service.compaction")
@pytest.mark.requirements("MRG-047", "MRG-046")
def test_a_null_among_ordering_values_leaves_a_readable_table(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-047: a row with a null in an ordering field is refused, or queries and a compaction go on as if it were 0."""
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", "n", merge_mode="EVENT_TIME_ORDERING"))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 2, "n": -1, "a": "A"}, {"id": "l", "ts": 2, "n": 1, "a": "A"}))
    right: dict[str, tuple[Any, ...]] = {"k": ("A",), "l": ("A",)}
    try:
        engine.write(
            uri, "upsert", as_table({"id": "k", "ts": 2, "n": None, "a": "0"}, {"id": "l", "ts": 2, "n": None, "a": "0"})
        )
    except ContractError:
        pass
    else:
        right = {"k": ("0",), "l": ("A",)}
    assert rows_after(engine, uri, "a null in an ordering field", "a") == right
    compact_if_possible(engine, uri, type)
    assert rows_after(engine, uri, "a compaction", "a") == right


@BOTH_TYPES
@pytest.mark.needs("service.compaction")
@pytest.mark.requirements("MRG-042", "PROP-025")
def test_contradicting_properties_have_no_effect(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-042: the strategy id of another mode and a legacy class of other behaviour change nothing, for writers, queries and
    compaction.
    """
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", merge_mode="EVENT_TIME_ORDERING"))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 2, "a": "A"}, {"id": "l", "ts": 2, "a": "A"}))
    store_property(uri, "hoodie.record.merge.strategy.id", "ce9acb64-bde0-424c-9b91-f6ebba25356d")
    store_property(uri, "hoodie.table.legacy.payload.class", f"{PACKAGE}OverwriteWithLatestAvroPayload")
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 1, "a": "late"}, {"id": "l", "ts": 3, "a": "newer"}))
    right = {"k": ("A",), "l": ("newer",)}
    assert rows_by_key(engine, uri, "a") == right
    compact_if_possible(engine, uri, type)
    assert rows_by_key(engine, uri, "a") == right


#: Columns of nested types: type in Avro, type in Arrow, and a value that holds a null.
NESTED: Mapping[str, tuple[Any, pa.DataType, Any]] = {
    "texts": ({"type": "array", "items": ["null", "string"]}, pa.list_(pa.string()), ["x", None]),
    "counts": ({"type": "map", "values": ["null", "long"]}, pa.map_(pa.string(), pa.int64()), [("m", 1), ("n", None)]),
    "parts": (
        {"type": "record", "name": "part", "fields": [{"name": "p", "type": ["null", "long"], "default": None}]},
        pa.struct([("p", pa.int64())]), {"p": None},
    ),
}  # fmt: skip


#: Columns with a default: the type in Avro, the default there, the type and the default of a row, and another value.
DEFAULTS: Mapping[str, tuple[Any, Any, pa.DataType, Any, Any]] = {
    "number": ("long", 7, pa.int64(), 7, 8),
    "text": ("string", "none", pa.string(), "none", "some"),
    "bytes": ("bytes", "\u00ff\u0000", pa.binary(), b"\xff\0", b"\1"),
    "day": ({"type": "int", "logicalType": "date"}, 365, pa.date32(), date(1971, 1, 1), date(1970, 1, 1)),
    "time": (
        {"type": "long", "logicalType": "timestamp-micros"}, 1_000_001, pa.timestamp("us", "UTC"),
        datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC),
    ),
}  # fmt: skip


@pytest.mark.needs("table-version.9", "merge-on-read", "types.temporal", "log.avro")
@pytest.mark.requirements("MRG-048")
def test_defaults_of_each_type_are_filled(engine: Client, new_uri: NewUri) -> None:
    """MRG-048: with IGNORE_DEFAULTS a column of a newer row that has its default keeps the stored value. In the schema
    a default of bytes is a text, those of dates and times are numbers. Another value replaces the stored one.
    """
    fields: list[dict[str, Any]] = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
    fields += [{"name": name, "type": avro, "default": default} for name, (avro, default, *_) in DEFAULTS.items()]
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64()), *((name, one[2]) for name, one in DEFAULTS.items())])
    default, other = ({name: found[place] for name, found in DEFAULTS.items()} for place in (3, 4))
    uri = new_uri()
    table = create_table(
        uri, name="merged", schema={"type": "record", "name": "merged", "fields": fields}, record_key=("id",), version=9,
        ordering=("ts",), table_type="MERGE_ON_READ", properties={"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"},
    )  # fmt: skip
    stored = [{"id": "default", "ts": 1, **other}, {"id": "other", "ts": 1, **default}]
    changes = [{"id": "default", "ts": 2, **default}, {"id": "other", "ts": 2, **other}]
    for rows in (stored, changes):
        table.upsert(pa.Table.from_pylist(rows, schema=schema))
    assert rows_by_key(engine, uri, *DEFAULTS) == dict.fromkeys(("default", "other"), tuple(other.values()))


@pytest.mark.needs("table-version.9", "merge-on-read", "log.avro")
@pytest.mark.requirements("MRG-048")
def test_a_null_is_not_a_default_of_another_value(engine: Client, new_uri: NewUri) -> None:
    """MRG-048: with IGNORE_DEFAULTS a null is a value like others in a column whose default is no null: it is not filled from
    the other version, be that older or late. The default is filled, also from a null.
    """
    fields: list[dict[str, Any]] = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
    fields += [
        {"name": "number", "type": ["long", "null"], "default": 7},
        {"name": "text", "type": ["string", "null"], "default": "none"},
        {"name": "plain", "type": ["null", "string"], "default": None},
    ]
    schema = pa.schema([
        ("id", pa.string()), ("ts", pa.int64()), ("number", pa.int64()), ("text", pa.string()), ("plain", pa.string()),
    ])  # fmt: skip
    value, null = {"number": 8, "text": "some", "plain": "x"}, {"number": None, "text": None, "plain": None}
    uri = new_uri()
    table = create_table(
        uri, name="merged", schema={"type": "record", "name": "merged", "fields": fields}, record_key=("id",), version=9,
        ordering=("ts",), table_type="MERGE_ON_READ", properties={"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"},
    )  # fmt: skip
    stored = [{"id": "null", "ts": 1, **value}, {"id": "late", "ts": 5, **null}, {"id": "default", "ts": 1, **null}]
    default = {"number": 7, "text": "none", "plain": None}
    changes = [{"id": "null", "ts": 2, **null}, {"id": "late", "ts": 1, **value}, {"id": "default", "ts": 2, **default}]
    for rows in (stored, changes):
        table.upsert(pa.Table.from_pylist(rows, schema=schema))
    assert rows_by_key(engine, uri, "number", "text", "plain") == {
        "null": (None, None, "x"), "late": (None, None, "x"), "default": (None, None, None),
    }  # fmt: skip


@BOTH_TYPES
@pytest.mark.needs("service.compaction", "types.nested")
@pytest.mark.requirements("MRG-048", "MRG-008")
def test_nulls_of_nested_columns_are_filled(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-048: with IGNORE_DEFAULTS a list, a map or a record that is null is filled from the other version, also from a late
    one; nulls inside of a value stay.
    """
    kinds = {"id": "string", "ts": "long"} | {name: avro for name, (avro, _, _) in NESTED.items()}
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in kinds.items()]
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64()), *((name, arrow) for name, (_, arrow, _) in NESTED.items())])
    values = {name: value for name, (_, _, value) in NESTED.items()}
    nothing = dict.fromkeys(NESTED)
    spec = table_of(
        type, "ts", merge_mode="EVENT_TIME_ORDERING", properties={"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    )
    uri = new_uri()
    engine.create(uri, replace(spec, schema={**spec.schema, "fields": fields}))
    stored = [{"id": "newer", "ts": 1, **values}, {"id": "late", "ts": 5, **nothing}, {"id": "null", "ts": 1, **nothing}]
    changes = [{"id": "newer", "ts": 2, **nothing}, {"id": "late", "ts": 1, **values}, {"id": "null", "ts": 2, **nothing}]
    for rows in (stored, changes):
        engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=schema))
    right = {"newer": tuple(values.values()), "late": tuple(values.values()), "null": tuple(nothing.values())}
    assert rows_by_key(engine, uri, *NESTED) == right
    compact_if_possible(engine, uri, type)
    assert rows_by_key(engine, uri, *NESTED) == right


#: Changes of the properties of a table that a merge must refuse.
UNKNOWN_MERGING = {
    "no mode": ("hoodie.record.merge.mode=EVENT_TIME_ORDERING", ""),
    "unknown partial update mode": (
        "hoodie.table.partial.update.mode=IGNORE_DEFAULTS",
        "hoodie.table.partial.update.mode=KEEP",
    ),
    "layout 1": ("hoodie.timeline.layout.version=2", "hoodie.timeline.layout.version=1"),
}


@pytest.mark.needs("service.compaction", "merge-on-read")
@pytest.mark.leaves_damage("it edits the properties")
@pytest.mark.parametrize("change", UNKNOWN_MERGING)
@pytest.mark.requirements("MRG-041", "PROP-023", "PROP-019")
def test_unknown_merging_is_refused(engine: Client, new_uri: NewUri, change: str) -> None:
    """MRG-041: without a merge mode, with an unknown partial update mode or another layout, a query, a compaction and an upsert
    fail, and nothing completes.
    """
    uri = new_uri()
    properties = {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    engine.create(uri, table_of("MERGE_ON_READ", "ts", merge_mode="EVENT_TIME_ORDERING", properties=properties))
    for ts in (1, 2):
        engine.write(uri, "upsert", as_table({"id": "k", "ts": ts, "a": "A"}))
    file = table_folder(uri) / ".hoodie" / "hoodie.properties"
    old, new = UNKNOWN_MERGING[change]
    assert engine.read(uri, Query(columns=("id", "a"))).num_rows == 1
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    (file.parent / ".hoodie.properties.crc").unlink(missing_ok=True)
    before = completed_instants(uri)
    with pytest.raises(ContractError):
        engine.read(uri, Query(columns=("id", "a")))
    with pytest.raises(ContractError):
        engine.service(uri, "compaction", phase="run")
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_table({"id": "k", "ts": 3, "a": "B"}))
    assert completed_instants(uri) == before


def completed_instants(uri: str) -> set[str]:
    """Return the completed instants of the table."""
    return {path.name for path in (table_folder(uri) / ".hoodie" / "timeline").glob("*_*")}
