"""Columns matched by the ids of a schema history, as statements that rename and drop columns produce it.

The reference writes two file groups; then the test writes the history to its folder and into the last commit, where Apache Hudi
stores it.
"""

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.metadata_tables import EVERY_INDEX
from hudi_conformance.suite.support.tables.renamed_columns import (
    BEFORE,
    CHANGES,
    FIRST,
    GROWING,
    Row,
    add_extra_metadata,
    create_altered_table,
    nullable_text_schema,
    read_rows,
    schema_version,
)
from hudi_conformance.suite.support.tables.written_tables import CAPTURED, completion_time, table_folder
from hudi_reference import create_table
from hudi_reference.schema.avro import META_COLUMNS, arrow_schema

NEEDS = ("read.snapshot", "read.by-id", "read.projection", "copy-on-write", "merge.commit-time", "partition.none")


@pytest.mark.needs(*NEEDS)
@pytest.mark.requirements("LF-038")
def test_by_id_a_renamed_column_keeps_its_values(engine: Client, new_uri: Callable[[], str]) -> None:
    """LF-038: values that older files store under the former name are found; a new column with an old name has none of them."""
    uri = new_uri()
    create_altered_table(uri)
    assert read_rows(engine, uri, by_id=True) == [
        {"id": "1", "new": "a", "old": None},
        {"id": "2", "new": None, "old": None},
        {"id": "3", "new": "b", "old": "c"},
    ]


@pytest.mark.needs(*NEEDS)
@pytest.mark.requirements("LF-038")
def test_by_name_columns_are_matched_by_name(engine: Client, new_uri: Callable[[], str]) -> None:
    """LF-038: without the option for ids, the text of the specification holds: columns are matched by name."""
    uri = new_uri()
    create_altered_table(uri)
    assert read_rows(engine, uri) == [
        {"id": "1", "new": None, "old": "a"},
        {"id": "2", "new": None, "old": None},
        {"id": "3", "new": "b", "old": "c"},
    ]


@pytest.mark.needs(*NEEDS, "read.filter")
@pytest.mark.requirements("LF-038", "MRG-015")
def test_filters_use_the_current_names(engine: Client, new_uri: Callable[[], str]) -> None:
    """MRG-015: a comparison of a renamed column uses the values that older files have under its former name, and no others."""
    uri = new_uri()
    create_altered_table(uri)
    assert [row["id"] for row in read_rows(engine, uri, by_id=True, where=(("new", "=", "a"),))] == ["1"]
    assert read_rows(engine, uri, by_id=True, where=(("old", "=", "a"),)) == []


@pytest.mark.needs(*NEEDS, "read.filter", "partition.plain")
@pytest.mark.requirements("LF-038", "MDT-010")
def test_statistics_are_those_of_the_names_in_the_file(engine: Client, new_uri: Callable[[], str]) -> None:
    """MDT-010: two columns have exchanged their names. The statistics of older files and partitions under one name are those of
    the values that the other column has now, so that they exclude nothing.
    """
    uri = new_uri()
    first: list[Row] = [{**row, "day": "d1"} for row in FIRST]
    second: list[Row] = [{"id": "3", "gone": "b", "old": "z", "day": "d2"}]
    changes = (({**BEFORE, "day": 8}, first), ({"id": 5, "gone": 6, "old": 7, "day": 8}, second))
    create_altered_table(uri, changes, options={**GROWING, **EVERY_INDEX}, partition=("day",))
    for where, ids in ((("gone", "=", "a"), ["1"]), (("old", "=", "y"), ["2"]), (("old", "=", "z"), ["3"])):
        found = engine.read(uri, Query(columns=("id",), by_id=True, where=(where,))).column("id").to_pylist()
        assert found == ids, where


@pytest.mark.needs(*NEEDS, "read.as-of")
@pytest.mark.requirements("LF-038", "TYP-008")
def test_time_travel_uses_the_schema_of_its_time(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: as of the commit before the change, columns have the names and values of that time."""
    uri = new_uri()
    first, _ = create_altered_table(uri)
    assert read_rows(engine, uri, kind="as-of", as_of=first, by_id=True, columns=tuple(BEFORE)) == FIRST


@pytest.mark.needs(*NEEDS, "read.as-of")
@pytest.mark.requirements("LF-038", "TYP-008")
def test_time_travel_between_two_schema_changes(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: writers keep only the newest file of the history; as of an earlier change the versions in that file are used."""
    uri = new_uri()
    _, second, _ = create_altered_table(
        uri, (*CHANGES, ({"id": 5, "newest": 6, "old": 8}, [{"id": "4", "newest": "d", "old": None}]))
    )
    assert read_rows(engine, uri, kind="as-of", as_of=second, by_id=True) == [
        {"id": "1", "new": "a", "old": None},
        {"id": "2", "new": None, "old": None},
        {"id": "3", "new": "b", "old": "c"},
    ]


#: An update under the first version, between the insert and the change of the schema.
UPDATE: list[Row] = [{"id": "1", "old": "a2", "gone": "x"}]
UPDATED = (CHANGES[0], (BEFORE, UPDATE), CHANGES[1])
#: The inserted record, the updated one, and the one of the last write, with the names of the last version.
INSERTED, CHANGED, LAST = (
    {"id": "1", "new": "a", "old": None}, {"id": "1", "new": "a2", "old": None}, {"id": "3", "new": "b", "old": "c"},
)  # fmt: skip


@pytest.mark.needs(*NEEDS, "read.incremental")
@pytest.mark.requirements("LF-038", "TYP-009")
def test_windows_before_a_schema_change_have_its_names(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-009: a window that ends before a column was renamed has its values under the present name, as one that ends later."""
    uri = new_uri()
    first, second, third = (completion_time(uri, instant) for instant in create_altered_table(uri, UPDATED))
    for begin, end, rows in ((first, second, [CHANGED]), (first, third, [CHANGED, LAST]), (second, third, [LAST])):
        assert read_rows(engine, uri, kind="incremental", begin=begin, end=end, by_id=True) == rows


@pytest.mark.needs(*NEEDS, "read.cdc")
@pytest.mark.requirements("LF-038", "TYP-012")
@pytest.mark.parametrize("mode", ["OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"])
def test_changes_before_a_schema_change_have_its_names(engine: Client, new_uri: Callable[[], str], mode: str) -> None:
    """TYP-012: the images of a change from before a column was renamed have its values under the present name, whether a
    change-capture file has them under the former name, or the mode omits them and they are read from the file slices.
    """
    uri = new_uri()
    captured = {**CAPTURED, "hoodie.table.cdc.supplemental.logging.mode": mode}
    first, second, third = (completion_time(uri, one) for one in create_altered_table(uri, UPDATED, captured))
    update, insert = ("u", INSERTED, CHANGED), ("i", None, LAST)
    for begin, end, changes in ((first, second, [update]), (second, third, [insert]), (first, third, [update, insert])):
        found = engine.read(uri, Query("cdc", begin=begin, end=end, by_id=True)).to_pylist()
        found.sort(key=lambda one: str(one["after"]["id"]))  # changes have no order
        assert [(one["op"], one["before"], one["after"]) for one in found] == changes


LATER: list[Row] = [{"id": "3", "old": "b", "gone": "z"}]


@pytest.mark.needs(*NEEDS)
@pytest.mark.requirements("LF-038")
def test_files_from_before_the_history_are_matched_by_name(engine: Client, new_uri: Callable[[], str]) -> None:
    """LF-038: the history begins with the version of the second write; the file of the first one has its columns by their
    names.
    """
    uri = new_uri()
    create_altered_table(uri, (CHANGES[0], (BEFORE, LATER)))
    (file,) = (table_folder(uri) / ".hoodie" / ".schema").iterdir()
    history = json.loads(file.read_text())
    file.write_text(json.dumps({"schemas": [max(history["schemas"], key=lambda one: one["version_id"])]}))
    assert read_rows(engine, uri, by_id=True, columns=tuple(BEFORE)) == [*FIRST, *LATER]


#: Values of a type that a statement changed, in Avro, with the new type in Avro and in the history, and the values of it.
DECIMAL = ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}, "decimal(6, 2)")
CHANGED_TYPES: dict[str, tuple[Any, list[Any], tuple[Any, str], list[Any]]] = {
    "double to decimal": ("double", [2.345, -2.345], DECIMAL, [Decimal("2.35"), Decimal("-2.35")]),
}


@pytest.mark.needs(*NEEDS, "types.decimal")
@pytest.mark.requirements("LF-038")
@pytest.mark.parametrize("name", CHANGED_TYPES)
def test_by_id_values_are_converted_to_the_present_type(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """LF-038: a statement changed the type of a column. Values of the earlier type are converted; digits beyond the scale of
    a decimal are rounded, a half away from zero.
    """
    uri, (avro, values, (changed, known), expected) = new_uri(), CHANGED_TYPES[name]

    def schema(kind: Any) -> dict[str, Any]:
        plain = nullable_text_schema(("id",))
        return {**plain, "fields": [*plain["fields"], {"name": "v", "type": ["null", kind], "default": None}]}

    def version(instant: str, kind: str) -> dict[str, Any]:
        plain = schema_version(instant, {"id": 5})
        return {**plain, "fields": [*plain["fields"], {"id": 6, "name": "v", "optional": True, "type": kind}]}

    table = create_table(uri, name="changed", schema=schema(avro), record_key=("id",), options=GROWING)
    first = table.bulk_insert(to_table([{"id": str(n), "v": value} for n, value in enumerate(values)], schema(avro)))
    second = table.bulk_insert(to_table([{"id": "last", "v": None}], schema(avro)))
    meta, versions = table_folder(uri) / ".hoodie", [version(first, str(avro)), version(second, known)]
    (file,) = (meta / "timeline").glob(f"{second}_*.commit")
    add_extra_metadata(file, {"schema": json.dumps(schema(changed)), "latest_schema": json.dumps(versions[1])})
    (meta / ".schema").mkdir()
    (meta / ".schema" / f"{file.stem}.schemacommit").write_text(json.dumps({"schemas": versions[::-1]}))
    found = {row["id"]: row["v"] for row in read_rows(engine, uri, by_id=True, columns=("id", "v"))}
    assert found == {**{str(n): value for n, value in enumerate(expected)}, "last": None}


@pytest.mark.needs(*NEEDS, "merge-on-read", "merge.partial-updates", "log.avro")
@pytest.mark.requirements("LF-038", "LF-045")
def test_by_id_a_partial_update_changes_the_column_of_its_time(engine: Client, new_uri: Callable[[], str]) -> None:
    """LF-045: a block of partial updates has some columns under the names of its time. After a column was renamed, the update
    has changed that column, and left alone the one that has the former name now.
    """
    uri, first, last = new_uri(), {"id": 5, "a": 6, "b": 7}, {"id": 5, "b": 6, "c": 7}
    table = create_table(
        uri, name="renamed", schema=nullable_text_schema(tuple(first)), record_key=("id",), table_type="MERGE_ON_READ"
    )
    instants = [
        table.upsert(pa.table({"id": ["1", "2"], "a": ["a1", "a2"], "b": ["b1", "b2"]})),
        table.partial_update(pa.table({"id": ["1"], "a": ["changed"]})),
        table.upsert(pa.table({"id": ["3"], "a": ["a3"], "b": ["b3"]})),
    ]
    versions = [schema_version(instants[0], first), schema_version(instants[2], last)]
    meta = table_folder(uri) / ".hoodie"
    (file,) = (meta / "timeline").glob(f"{instants[2]}_*commit")
    schema = json.dumps(nullable_text_schema((*META_COLUMNS, *last)))
    add_extra_metadata(file, {"schema": schema, "latest_schema": json.dumps(versions[1])})
    (meta / ".schema").mkdir()
    (meta / ".schema" / f"{instants[2]}.schemacommit").write_text(json.dumps({"schemas": versions[::-1]}))
    assert [row for row in read_rows(engine, uri, by_id=True, columns=tuple(last)) if row["id"] != "3"] == [
        {"id": "1", "b": "changed", "c": "b1"},
        {"id": "2", "b": "a2", "c": "b2"},
    ]


#: How the fields of a record are stored in a column: its Avro type, its type in the history, and values made of the record's.
NESTED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "a struct": (lambda inner: inner, lambda inner: inner, lambda found: found),
    "a list": (
        lambda inner: {"type": "array", "items": ["null", inner]},
        lambda inner: {"type": "array", "element_id": 20, "element_optional": True, "element": inner},
        lambda found: [found, None],
    ),
    "a map": (
        lambda inner: {"type": "map", "values": ["null", inner]},
        lambda inner: {"type": "map", "key_id": 20, "key": "string", "value_id": 21, "value_optional": True, "value": inner},
        lambda found: [("k", found), ("l", None)],
    ),
    "a struct in a struct": (
        lambda inner: {"type": "record", "name": "outer", "fields": [{"name": "in", "type": ["null", inner], "default": None}]},
        lambda inner: {"type": "record", "fields": [{"id": 20, "name": "in", "optional": True, "type": inner}]},
        lambda found: {"in": found},
    ),
}


@pytest.mark.needs(*NEEDS, "types.nested")
@pytest.mark.requirements("LF-038")
@pytest.mark.parametrize("where", NESTED)
def test_by_id_nested_fields_keep_their_values(engine: Client, new_uri: Callable[[], str], where: str) -> None:
    """LF-038: a renamed field inside another type keeps its values; a field that was dropped and added again has none of the
    old ones, whether its name is the same or that of another dropped field.
    """
    in_avro, in_history, value = NESTED[where]
    before, after = {"old": 6, "gone": 7, "same": 8}, {"new": 6, "old": 9, "same": 10}

    def schema(names: Sequence[str]) -> dict[str, Any]:
        inner = {"type": "record", "name": "inner", "fields": nullable_text_schema(names)["fields"]}
        fields = [{"name": "id", "type": ["null", "string"], "default": None},
                  {"name": "v", "type": ["null", in_avro(inner)], "default": None}]  # fmt: skip
        return {"type": "record", "name": "row", "namespace": "hoodie.renamed", "fields": fields}

    def known(instant: str, ids: dict[str, int]) -> dict[str, Any]:
        plain = schema_version(instant, {"id": 5})
        inner = {"type": "record", "fields": [{"id": n, "name": f, "optional": True, "type": "string"} for f, n in ids.items()]}
        return {**plain, "fields": [*plain["fields"], {"id": 11, "name": "v", "optional": True, "type": in_history(inner)}]}

    uri = new_uri()
    table = create_table(uri, name="renamed", schema=schema(tuple(before)), record_key=("id",), options=GROWING)
    first = table.bulk_insert(
        to_table([{"id": "1", "v": value({"old": "a", "gone": "x", "same": "p"})}], schema(tuple(before)))
    )
    meta = table_folder(uri) / ".hoodie"
    second = table.bulk_insert(to_table([{"id": "2", "v": None}], schema(tuple(before))))
    versions = [known(first, before), known(second, after)]
    (file,) = (meta / "timeline").glob(f"{second}_*.commit")
    add_extra_metadata(file, {"schema": json.dumps(schema(tuple(after))), "latest_schema": json.dumps(versions[1])})
    (meta / ".schema").mkdir()
    (meta / ".schema" / f"{file.stem}.schemacommit").write_text(json.dumps({"schemas": versions[::-1]}))
    found = read_rows(engine, uri, by_id=True, columns=("id", "v"))
    assert found == [{"id": "1", "v": value({"new": "a", "old": None, "same": None})}, {"id": "2", "v": None}]


def to_table(found: Sequence[dict[str, Any]], schema: Any) -> pa.Table:
    """Return the rows as a table of that schema."""
    return pa.Table.from_pylist(list(found), schema=arrow_schema(schema))
