"""Columns matched by the ids of a schema history, on a merge-on-read table that Apache Hudi 1.0.2 wrote and altered.

Its statements, one commit each: insert k1, k2, k3; update c of k2; rename b to bb; widen a from int to bigint; drop c; add c;
rename s.x to s.xx; add s.z; update c and bb of k3.
"""

import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_reference import open_table
from hudi_reference.errors import MalformedSchema
from hudi_reference.schema.field_ids import FieldIdMapping, SchemaHistory
from hudi_reference.write.column_ids import entry_after

DATA = Path(__file__).parents[1] / "data" / "schema_history" / "renamed-1.0.2.tar.gz"
COLUMNS = ("id", "ts", "a", "bb", "c", "s")


@pytest.fixture
def table(tmp_path):
    """The table, opened for reading by id."""
    with tarfile.open(DATA) as archive:
        archive.extractall(tmp_path, filter="data")
    return open_table((tmp_path / "ddlM").as_uri(), schema_on_read=True)


def rows(table, columns=COLUMNS, **more):
    """The snapshot by key."""
    return {row["id"]: row for row in table.snapshot(columns=[*dict.fromkeys(["id", *columns])], **more).to_pylist()}


def test_by_id_a_rename_keeps_values_and_a_new_column_has_none(table):
    """LF-038: the old files call b what is bb now; the c of old files is not the c of now."""
    found = rows(table)
    assert {key: row["bb"] for key, row in found.items()} == {"k1": "b1", "k2": "b2", "k3": "b33"}
    assert {key: row["c"] for key, row in found.items()} == {"k1": None, "k2": None, "k3": "new c"}
    assert {key: row["a"] for key, row in found.items()} == {"k1": 1, "k2": 2, "k3": 3}
    assert {key: row["s"]["xx"] for key, row in found.items()} == {"k1": 1, "k2": 2, "k3": 3}
    assert {row["s"]["z"] for row in found.values()} == {None}


def test_by_name_a_rename_loses_values_and_old_ones_come_back(table):
    """LF-038: without the history a column is whatever has its name; this is why engines ask for it."""
    found = rows(replace(table, schema_on_read=False))
    assert {key: row["bb"] for key, row in found.items()} == {"k1": None, "k2": None, "k3": "b33"}
    assert {key: row["c"] for key, row in found.items()} == {"k1": "c1", "k2": "c22", "k3": "new c"}


def test_projection_and_filter_go_by_the_names_of_now(table):
    """MRG-015: a column that old files have under another name can be asked for alone, and be compared."""
    assert {row["bb"] for row in rows(table, ("bb",)).values()} == {"b1", "b2", "b33"}
    assert set(rows(table, ("id",), where=[("bb", "=", "b2")])) == {"k2"}


def test_time_travel_has_the_names_of_then(table):
    """TYP-008: before the rename the column is b, and the first c has its values."""
    before = sorted(instant.requested for instant in table.timeline.commits)[1]
    found = {row["id"]: row for row in table.as_of(before, columns=["id", "b", "c"]).to_pylist()}
    assert {key: (row["b"], row["c"]) for key, row in found.items()} == {
        "k1": ("b1", "c1"), "k2": ("b2", "c22"), "k3": ("b3", "c3")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("commit", "columns", "first"),
    [(2, ["bb", "c"], {"bb": "b1", "c": "c1"}), (4, ["bb"], {"bb": "b1"}), (5, ["bb", "c"], {"bb": "b1", "c": None})],
)
def test_the_past_is_read_by_the_only_file_of_the_history(table, commit, columns, first):
    """TYP-008, LF-038: after the rename, the drop and the new c; writers keep the newest file of the history alone."""
    time = table.timeline.commits[commit].requested
    (found,) = table.as_of(time, columns=columns, where=[("id", "=", "k1")]).to_pylist()
    assert found == first


@pytest.mark.parametrize("text", ["[]", "{}", '{"schemas":[{"version_id":1,"fields":[{"id":1}]}]}', "nonsense",
                                  '{"schemas":[{"version_id":1,"fields":[{"id":1,"name":"a","type":{"type":"?"}}]}]}'])  # fmt: skip
def test_a_history_that_is_none_is_an_error(text):
    """LF-038: a damaged history must not become one without renames."""
    with pytest.raises(MalformedSchema):
        SchemaHistory.parse([text], ".hoodie/.schema")


@pytest.mark.parametrize("text", ["nonsense", '{"version_id":1,"fields":[]}', '{"max_column_id":"x","fields":[]}',
                                  '{"max_column_id":1,"fields":[{"id":1}]}'])  # fmt: skip
def test_a_write_after_a_damaged_version_is_refused(text):
    """LF-038: a version in commit metadata without highest id or names cannot be continued."""
    before, after = (
        {"type": "record", "name": "t", "fields": [{"name": n, "type": "int"} for n in names]} for names in ("a", "ab")
    )
    with pytest.raises(MalformedSchema):
        entry_after(text, before, after, "3")


def version(number, inner):
    """A version as Apache Hudi 1.0.2 and 1.2.0 write it: an array and a map of records that have one field, `inner`."""

    def field(of_field, name, kind):
        return {"id": of_field, "name": name, "optional": True, "type": kind}

    def record(of_field):
        return {"type": "record", "fields": [field(of_field, inner, "int")]}

    items = {"type": "array", "element_id": 7, "element": record(8), "element_optional": True}
    pairs = {"type": "map", "key_id": 9, "key": "string", "value_id": 10, "value": record(11), "value_optional": True}
    fields = [field(5, "items", items), field(6, "pairs", pairs)]
    return {"max_column_id": 11, "version_id": number, "type": "record", "fields": fields}


def test_fields_inside_of_arrays_and_maps_keep_their_ids():
    """LF-038: a field of an array's elements and one of a map's values that were renamed have their values."""
    history = SchemaHistory.parse([json.dumps({"schemas": [version(2, "new"), version(1, "old")]})], ".hoodie/.schema")
    record = pa.struct([("old", pa.int32())])
    stored = pa.table(
        {"items": [[{"old": 1}]], "pairs": [[("k", {"old": 2})]]},
        schema=pa.schema([("items", pa.list_(record)), ("pairs", pa.map_(pa.string(), record))]),
    )
    (row,) = FieldIdMapping(history, history.at("2")).renamed(stored, "1").to_pylist()
    assert row == {"items": [{"new": 1}], "pairs": [("k", {"new": 2})]}
