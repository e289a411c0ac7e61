"""The schema in the metadata of a write is compared with the columns of the files that the write stored, also inside of them."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.checks.cheap.base_files import CHECKS as BASE_FILES
from hudi_conformance.validator.checks.cheap.log_files import CHECKS as LOG_FILES
from hudi_reference import create_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import RandomIds
from hudi_reference.storage import MemoryStorage, Storage

Schema = dict[str, Any]
FIELDS: list[Schema] = [
    {"name": "id", "type": "string"},
    {"name": "place", "type": ["null", {"type": "record", "name": "place", "fields": [
        {"name": "zip", "type": ["null", "string"], "default": None}, {"name": "x", "type": ["null", "int"], "default": None}]}],
     "default": None},
    {"name": "tags", "type": ["null", {"type": "array", "items": "long"}], "default": None},
    {"name": "counts", "type": ["null", {"type": "map", "values": "long"}], "default": None},
    {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}], "default": None},
    {"name": "note", "type": ["null", "string"], "default": None},
    {"name": "size", "type": ["null", "int"], "default": None},
]  # fmt: skip
ROWS = pa.table({
    "id": ["a", "b"], "place": pa.array([{"zip": "1", "x": 1}, None], pa.struct([("zip", pa.string()), ("x", pa.int32())])),
    "tags": pa.array([[1], None], pa.list_(pa.int64())), "counts": pa.array([{"k": 1}, None], pa.map_(pa.string(), pa.int64())),
    "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)), "note": ["x", None], "size": pa.array([1, None], pa.int32()),
})  # fmt: skip


def written(table_type: str = "COPY_ON_WRITE") -> Storage:
    """A table of one write, or of two for merge-on-read, the last one of log files."""
    table = create_table(
        "memory:///schemas", name="schemas", schema={"type": "record", "name": "row", "fields": FIELDS}, record_key=["id"],
        table_type=table_type, storage=MemoryStorage(), clock=ManualClock(t.START), ids=RandomIds(),  # type: ignore[arg-type]
    )  # fmt: skip
    for _ in range(2 if table_type == "MERGE_ON_READ" else 1):
        table.upsert(ROWS)
    return table.storage


Change = Callable[[dict[str, Schema]], object]
CHECKS = (*BASE_FILES, *LOG_FILES)


def change_schema(storage: Storage, change: Change) -> None:
    """Change the fields, by name, in the schema of the last write."""
    action = "deltacommit" if t.paths(storage, ".deltacommit") else "commit"

    def edit(record: Any) -> None:
        schema = json.loads(record["extraMetadata"]["schema"])
        fields = {one["name"]: one for one in schema["fields"]}
        change(fields)
        schema["fields"] = list(fields.values())
        record["extraMetadata"]["schema"] = json.dumps(schema)

    t.change_record(storage, t.completed(storage, action), edit)


def found_after(storage: Storage, change: Change) -> set[tuple[str | None, str]]:
    """Keys and severities of the findings after a change of the schema."""
    change_schema(storage, change)
    findings = t.validated(storage, CHECKS).findings
    assert {one.rule for one in findings} <= {"LF-038"}
    return {(one.key, one.severity) for one in findings}


def typed(name: str, kind: Any) -> Change:
    """Change the type of a column; a column may be null."""
    return lambda fields: fields[name].update(type=["null", kind], default=None)


def decimal(precision: int, scale: int) -> Schema:
    """The type of decimals."""
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def place(kind: str) -> Schema:
    """The structure, with another type of its second field."""
    fields = [
        {"name": "zip", "type": ["null", "string"], "default": None},
        {"name": "x", "type": ["null", kind], "default": None},
    ]
    return {"type": "record", "name": "place", "fields": fields}


def drop_zip(fields: dict[str, Schema]) -> None:
    """Remove the first field of the structure."""
    del fields["place"]["type"][1]["fields"][0]


WRONG = {
    "a field of a structure is lost": (drop_zip, "place.zip"),
    "an element of another type": (typed("tags", {"type": "array", "items": "boolean"}), "tags.element"),
    "a narrower element": (typed("tags", {"type": "array", "items": "int"}), "tags.element"),
    "a value of another type": (typed("counts", {"type": "map", "values": "boolean"}), "counts.value"),
    "a field of a structure of another type": (typed("place", place("boolean")), "place.x"),
    "fewer digits after the point": (typed("price", decimal(12, 1)), "price"),
    "fewer digits before the point": (typed("price", decimal(9, 2)), "price"),
    "a date in place of a text": (typed("note", {"type": "int", "logicalType": "date"}), "note"),
    "nulls where none may be": (lambda fields: fields.update(note={"name": "note", "type": "string"}), "note"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_schema_that_the_files_contradict_is_found(name: str) -> None:
    """LF-038: the finding names the column, or the place inside of it."""
    change, key = WRONG[name]
    assert (key, "wrong-answers") in found_after(written(), change)


WIDER = [
    ("size", "long"), ("size", "double"), ("size", "string"), ("price", decimal(12, 2)), ("price", decimal(12, 3)),
    ("place", place("long")), ("tags", {"type": "array", "items": "double"}), ("counts", {"type": "map", "values": "double"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), WIDER)
def test_a_wider_type_is_no_finding(name: str, kind: Any) -> None:
    """LF-038: a writer may widen a column, and readers convert the values."""
    assert found_after(written(), typed(name, kind)) == set()


def test_a_column_that_blocks_have_is_found() -> None:
    """LF-038: the blocks of a write have only columns of the schema in its metadata."""
    storage = written("MERGE_ON_READ")
    assert found_after(storage, lambda fields: fields.pop("size")) == {("size", "wrong-answers")}


def test_a_block_of_some_columns_is_no_finding() -> None:
    """LF-038: a block may lack columns, as those of partial updates do."""
    storage = written("MERGE_ON_READ")
    more = {"name": "more", "type": ["null", "int"], "default": None}
    assert found_after(storage, lambda fields: fields.update(more=more)) == set()


def test_a_column_that_no_base_file_has_is_cosmetic() -> None:
    """LF-038: all rows have nulls in it. A table whose files lack the partition columns is no example."""
    more = {"name": "more", "type": ["null", "int"], "default": None}
    storage = written()
    assert found_after(storage, lambda fields: fields.update(more=more)) == {("more", "cosmetic")}
    t.change_properties(
        storage, {"hoodie.table.partition.fields": "more", "hoodie.datasource.write.drop.partition.columns": "true"}
    )
    assert found_after(storage, lambda fields: None) == set()


def with_ids() -> Storage:
    """A table whose schema a statement changed: it has a schema history."""
    storage = written()
    storage.put(".hoodie/.schema/20260101000000000.schemacommit", b"{}")
    return storage


@pytest.mark.parametrize("change", [lambda fields: fields["note"].update(name="remark"), typed("size", "boolean")])
def test_tables_whose_columns_have_ids_are_left_out(change: Change) -> None:
    """LF-038: after a statement changed the schema, columns are matched by id, and names and types may differ."""
    assert found_after(with_ids(), change) == set()
