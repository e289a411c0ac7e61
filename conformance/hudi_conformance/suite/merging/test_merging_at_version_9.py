"""Merging in tables of version 9: deprecated classes at creation, several ordering fields, and partial update modes."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.model import Model
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.custom_mergers import PACKAGE, stored_properties
from hudi_conformance.suite.support.tables.written_tables import Type

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
    "_event_bin_file": "string", "_event_pos": "long", "_change_operation_type": "string", "_hoodie_is_deleted": "boolean",
}  # fmt: skip


def table_of(type: Type, *ordering: str, **more: Any) -> TableSpec:
    """Return a table of version 9 with these ordering fields."""
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in COLUMNS.items()]
    schema = {"type": "record", "name": "merged", "namespace": "hoodie.merged", "fields": fields}
    return TableSpec("merged", type, schema, ("id",), ordering=ordering, version=9, **more)


def as_table(*rows: Row, columns: tuple[str, ...] = tuple(COLUMNS)) -> pa.Table:
    """Return rows with these columns."""
    return pa.Table.from_pylist(list(rows), schema=pa.schema([(name, TYPES[COLUMNS[name]]) for name in columns]))


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


#: Rows, deletes with lower and higher values of the second field, a null among them, and rows after the deletes.
ORDERED_BY_TWO: tuple[tuple[Row, ...], ...] = (
    tuple({"id": key, "ts": 2, "n": n} for key, n in (("lower", 5), ("higher", 5), ("null", 5), ("above", -5))),
    tuple({"id": key, "ts": 2, "n": n, "_hoodie_is_deleted": True} for key, n in (("lower", 4), ("higher", 6))),
    tuple({"id": key, "ts": 2, "n": None, "_hoodie_is_deleted": True} for key in ("null", "above")),
    ({"id": "higher", "ts": 2, "n": 5}, {"id": "above", "ts": 2, "n": -1}),
)


@SEVERAL
@BOTH_TYPES
@pytest.mark.needs("delete.flag")
@pytest.mark.requirements("BLK-037", "MRG-046", "MRG-047", "MRG-019")
def test_deletes_with_several_ordering_values(engine: Client, new_uri: NewUri, type: Type) -> None:
    """BLK-037: a delete removes a row, and outlives a later one, only if its ordering values are the greater ones in turn.

    MRG-047: a write with a null among them is refused, or the null counts as 0.
    """
    model = Model(record_key=("id",), ordering=("ts", "n"), merge_mode="EVENT_TIME_ORDERING", table_type=type)
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", "n", merge_mode="EVENT_TIME_ORDERING"))
    for number, rows in enumerate(ORDERED_BY_TWO):
        try:
            engine.write(uri, "upsert", as_table(*rows))
        except ContractError:
            assert None in {row["n"] for row in rows}, "a write without nulls failed"
        else:
            model.apply("upsert", rows)
        right = {row["id"]: (row["ts"], row["n"]) for row in model.snapshot()}
        assert rows_by_key(engine, uri, "ts", "n") == right, f"after write {number}"


@BOTH_TYPES
@pytest.mark.needs("write.partial-update", "merge.partial-updates")
@pytest.mark.requirements("MRG-050", "PROP-023")
def test_a_partial_update_sets_a_null(engine: Client, new_uri: NewUri, type: Type) -> None:
    """MRG-050: with IGNORE_DEFAULTS a partial update that sets a column to null stores the null, and keeps other columns."""
    properties = {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    uri = new_uri()
    engine.create(uri, table_of(type, "ts", merge_mode="EVENT_TIME_ORDERING", properties=properties))
    engine.write(uri, "upsert", as_table({"id": "k", "ts": 1, "a": "A", "b": "B"}))
    engine.write(uri, "partial_update", as_table({"id": "k", "ts": 2, "a": None}, columns=("id", "ts", "a")))
    assert rows_by_key(engine, uri, "ts", "a", "b") == {"k": (2, None, "B")}
