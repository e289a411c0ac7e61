"""Writes and services on a table whose columns were renamed, dropped and added by statements.

Its schema history gives every column an id. A file that is written later has the columns under their present names, so it must
have the values of the columns with these ids, and the ids must stay as they are.
"""

import json
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.renamed_columns import (
    AFTER,
    BEFORE,
    CHANGES,
    GROWING,
    Row,
    create_altered_table,
    read_rows,
)
from hudi_conformance.suite.support.tables.tables_under_services import read_instant_file
from hudi_conformance.suite.support.tables.tables_with_logs import DUE
from hudi_conformance.suite.support.tables.written_tables import Type
from hudi_reference.schema.avro import META_COLUMNS

NewUri = Callable[[], str]
NEEDS = ("read.snapshot", "read.by-id", "read.projection", "merge.commit-time", "partition.none")
BY_ID = {"hoodie.schema.on.read.enable": "true"}
#: An update of a row under the first version; it lies in a log of a merge-on-read table.
UPDATE: list[Row] = [{"id": "1", "old": "a2", "gone": "x"}]
#: All rows with the names of the last version.
ROWS: list[Row] = [
    {"id": "1", "new": "a2", "old": None}, {"id": "2", "new": None, "old": None}, {"id": "3", "new": "b", "old": "c"},
]  # fmt: skip


def create_table_with_history(uri: str, table_type: Type, before_last: Callable[[], object] = lambda: None) -> None:
    """Create the table: an insert and an update under the first version, an insert under the second one."""
    changes = (CHANGES[0], (BEFORE, UPDATE), CHANGES[1])
    create_altered_table(uri, changes, table_type=table_type, before_last=before_last)


def stored_fields(uri: str, instant: str, action: str = "commit") -> dict[str, dict[str, Any]]:
    """Return the columns by name in the version that a write of this time added to its metadata."""
    _, record = read_instant_file(uri, instant, action)
    version: dict[str, Any] = json.loads(record["extraMetadata"]["latest_schema"])
    return {field["name"]: field for field in version["fields"] if field["name"] not in META_COLUMNS}


def stored_ids(uri: str, instant: str, action: str = "commit") -> dict[str, int]:
    """Return the id of each column in that version."""
    return {name: field["id"] for name, field in stored_fields(uri, instant, action).items()}


@pytest.mark.needs(*NEEDS, "merge-on-read", "service.compaction")
@pytest.mark.requirements("LF-038")
def test_a_compaction_keeps_the_values_of_renamed_columns(engine: Client, new_uri: NewUri) -> None:
    """LF-038: base file and log have a column under its former name; the compacted file has their values under its present
    name.
    """
    uri = new_uri()
    create_table_with_history(uri, "MERGE_ON_READ")
    assert engine.service(uri, "compaction", options=DUE) is not None
    assert read_rows(engine, uri, by_id=True) == ROWS
    assert read_rows(engine, uri, by_id=False) == ROWS


@pytest.mark.needs(*NEEDS, "merge-on-read", "service.compaction")
@pytest.mark.requirements("LF-038", "CMP-001")
def test_a_planned_compaction_stores_the_names_of_its_time(engine: Client, new_uri: NewUri) -> None:
    """LF-038: a column is renamed between the plan of a compaction and its execution. The compacted file belongs to the time
    of the plan, so readers expect the former name in it.
    """
    uri, planned = new_uri(), []
    plan = lambda: planned.append(engine.service(uri, "compaction", phase="schedule", options=DUE))  # noqa: E731
    create_table_with_history(uri, "MERGE_ON_READ", plan)
    engine.service(uri, "compaction", phase="execute", instant=planned[0], options=DUE)
    assert read_rows(engine, uri, by_id=True) == ROWS


@pytest.mark.needs(*NEEDS, "copy-on-write", "service.clustering")
@pytest.mark.requirements("LF-038")
def test_a_clustering_keeps_the_values_of_renamed_columns(engine: Client, new_uri: NewUri) -> None:
    """LF-038: files that have a column under two names are joined, and the new file has the values of both under one name."""
    uri = new_uri()
    create_table_with_history(uri, "COPY_ON_WRITE")
    assert engine.service(uri, "clustering", options={}) is not None
    assert read_rows(engine, uri, by_id=True) == ROWS
    assert read_rows(engine, uri, by_id=False) == ROWS


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert")
@pytest.mark.requirements("LF-038")
def test_an_update_keeps_the_values_of_renamed_columns(engine: Client, new_uri: NewUri) -> None:
    """LF-038: a write updates one row of a file from before a column was renamed; the other rows keep their values."""
    uri = new_uri()
    create_table_with_history(uri, "COPY_ON_WRITE")
    changed = {"id": "2", "new": "z", "old": "y"}
    engine.write(uri, "upsert", pa.Table.from_pylist([changed]), options=BY_ID)
    assert read_rows(engine, uri, by_id=True) == [ROWS[0], changed, ROWS[2]]


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert")
@pytest.mark.requirements("LF-038")
def test_a_write_keeps_the_ids(engine: Client, new_uri: NewUri) -> None:
    """LF-038: the metadata of a write has the version of the history, from which the next statement takes the ids."""
    uri = new_uri()
    create_table_with_history(uri, "COPY_ON_WRITE")
    instant = engine.write(uri, "upsert", pa.Table.from_pylist([{"id": "4", "new": "d", "old": "e"}]), options=BY_ID)
    assert stored_ids(uri, instant) == AFTER


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert")
@pytest.mark.requirements("LF-038")
def test_a_column_that_a_write_adds_gets_an_id_of_its_own(engine: Client, new_uri: NewUri) -> None:
    """LF-038: a write with a new column adds a version in which it has an id that no column ever had; its values are read."""
    uri = new_uri()
    create_table_with_history(uri, "COPY_ON_WRITE")
    added = {"id": "4", "new": "d", "old": "e", "gone": "f"}
    instant = engine.write(uri, "upsert", pa.Table.from_pylist([added]), options={**GROWING, **BY_ID})
    ids = stored_ids(uri, instant)
    assert ids.items() >= AFTER.items() and ids["gone"] not in {*BEFORE.values(), *AFTER.values()}
    found = engine.read(uri, Query(columns=(*AFTER, "gone"), by_id=True)).to_pylist()
    assert sorted(found, key=lambda row: str(row["id"])) == [*({**row, "gone": None} for row in ROWS), added]


#: New columns: the type of Arrow, the type in the version without its ids (or the types that are right), and a value.
TYPED: Mapping[str, tuple[pa.DataType, Any, Any]] = {
    "place": (pa.struct([("x", pa.int64())]), {"type": "record", "fields": [{"name": "x", "optional": True, "type": "long"}]},
              {"x": 1}),
    "tags": (pa.list_(pa.string()), {"type": "array", "element": "string", "element_optional": True}, ["a", "b"]),
    "counts": (pa.map_(pa.string(), pa.int64()), {"type": "map", "key": "string", "value": "long", "value_optional": True},
               [("a", 1)]),
    "day": (pa.date32(), "date", date(1969, 12, 31)),
    "data": (pa.binary(), "binary", b"x"),
    # From release 1.2 on, decimals that are stored as fixed bytes have a name of their own.
    "price": (pa.decimal128(10, 2), ("decimal(10, 2)", "decimal_fixed(10, 2)[5]"), Decimal("1.25")),
}  # fmt: skip
IDS = ("id", "element_id", "key_id", "value_id")


def split_ids(stored: Any) -> tuple[Any, list[int]]:
    """Return the type of a column or the column itself without the ids in it, and these."""
    if isinstance(stored, list):
        parts = [split_ids(one) for one in stored]
        return [part for part, _ in parts], [number for _, numbers in parts for number in numbers]
    if not isinstance(stored, dict):
        return stored, []
    inner = {name: split_ids(value) for name, value in stored.items() if name not in IDS}
    own = [stored[name] for name in IDS if name in stored]
    return {name: part for name, (part, _) in inner.items()}, own + [n for _, numbers in inner.values() for n in numbers]


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert", "schema.evolution", "types.nested")
@pytest.mark.parametrize("name", TYPED)
@pytest.mark.requirements("LF-038")
def test_parts_of_a_new_column_get_ids_of_their_own(engine: Client, new_uri: NewUri, name: str) -> None:
    """LF-038: in the version that a write adds, a new column has its type, and it and each field, element, key and value in it
    have ids that nothing else has.
    """
    uri, (kind, stored, value) = new_uri(), TYPED[name]
    create_table_with_history(uri, "COPY_ON_WRITE")
    rows = pa.table({"id": ["4"], "new": ["d"], "old": ["e"], name: pa.array([value], kind)})
    fields = stored_fields(uri, engine.write(uri, "upsert", rows, options={**GROWING, **BY_ID}))
    found, ids = split_ids(fields[name])
    assert found["type"] in (stored if isinstance(stored, tuple) else (stored,))
    assert len(ids) == len({*ids} - {*BEFORE.values(), *AFTER.values()})
    (row,) = engine.read(uri, Query(columns=("id", name), where=(("id", "=", "4"),), by_id=True)).to_pylist()
    assert row == {"id": "4", name: value}


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert", "schema.evolution", "types.nested")
@pytest.mark.requirements("LF-038")
def test_a_new_field_of_a_struct_leaves_the_other_ids(engine: Client, new_uri: NewUri) -> None:
    """LF-038: a write adds a field to a struct; the struct and its other field keep their ids, the new field gets another."""
    uri, options = new_uri(), {**GROWING, **BY_ID}
    create_table_with_history(uri, "COPY_ON_WRITE")
    ids = []
    for place in ({"x": 1}, {"x": 2, "y": "z"}):
        row = {"id": "4", "new": "d", "old": "e", "place": place}
        field = stored_fields(uri, engine.write(uri, "upsert", pa.Table.from_pylist([row]), options=options))["place"]
        ids.append({"place": field["id"], **{one["name"]: one["id"] for one in field["type"]["fields"]}})
    first, second = ids
    assert second.items() > first.items() and second["y"] not in {*first.values(), *AFTER.values()}


#: A column with a struct in it, by its fields, and a value of it by that of the struct.
NESTED: Mapping[str, tuple[Callable[[pa.DataType], pa.DataType], Callable[[Any], Any]]] = {
    "list": (pa.list_, lambda struct: [struct]),
    "map": (lambda kind: pa.map_(pa.string(), kind), lambda struct: [("k", struct)]),
}


@pytest.mark.needs(*NEEDS, "copy-on-write", "write.upsert", "schema.evolution", "types.nested")
@pytest.mark.parametrize("name", NESTED)
@pytest.mark.requirements("LF-038")
def test_a_new_field_of_an_element_leaves_the_other_ids(engine: Client, new_uri: NewUri, name: str) -> None:
    """LF-038: a write adds a field to the struct in a list or map: the column, its element, key and value, and the other field
    keep their ids, and the value of the first write is found by them.
    """
    uri, options, (kind_of, value_of) = new_uri(), {**GROWING, **BY_ID}, NESTED[name]
    create_table_with_history(uri, "COPY_ON_WRITE")
    first = pa.struct([("x", pa.int64())])
    second = pa.struct([("x", pa.int64()), ("y", pa.string())])
    ids = []
    for key, kind, struct in (("4", first, {"x": 1}), ("5", second, {"x": 2, "y": "z"})):
        rows = {"id": [key], "new": ["d"], "old": ["e"], "inner": pa.array([value_of(struct)], kind_of(kind))}
        instant = engine.write(uri, "upsert", pa.table(rows), options=options)
        ids.append(split_ids(stored_fields(uri, instant)["inner"])[1])
    assert len(ids[1]) == len(ids[0]) + 1 == len({*ids[1]})
    assert {*ids[0]} < {*ids[1]}
    found = engine.read(uri, Query(columns=("id", "inner"), where=(("id", "in", ["4", "5"]),), by_id=True)).to_pylist()
    assert {row["id"]: row["inner"] for row in found} == {
        "4": value_of({"x": 1, "y": None}), "5": value_of({"x": 2, "y": "z"})}  # fmt: skip
