"""Avro schemas that define a type once and refer to it by its name afterwards."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES

KINDS = {"type": "enum", "name": "kinds", "symbols": ["x", "y"]}
CODE = {"type": "fixed", "name": "code", "namespace": "elsewhere", "size": 2}
PRICE = {"type": "fixed", "name": "price", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2}
SIDES = {"type": "enum", "name": "sides", "symbols": ["left", "right"]}
POINT = {
    "type": "record", "name": "point", "namespace": "inner",
    "fields": [{"name": "a", "type": ["null", SIDES]}, {"name": "b", "type": ["null", "sides"]}],
}  # fmt: skip
#: Column -> the type in Avro, the type in Arrow, and a value. A name without namespace is in that of the record around it.
COLUMNS: dict[str, tuple[Any, pa.DataType, Any]] = {
    "kind": (["null", KINDS], pa.string(), "x"),
    "other_kind": (["null", "kinds"], pa.string(), "y"),
    "full_kind": (["null", "hoodie.rows.kinds"], pa.string(), "y"),
    "code": (["null", CODE], pa.binary(2), b"ab"),
    "other_code": (["null", "elsewhere.code"], pa.binary(2), b"cd"),
    "price": (["null", PRICE], pa.decimal128(10, 2), Decimal("1.25")),
    "other_price": (["null", "price"], pa.decimal128(10, 2), Decimal("-0.01")),
    "point": (["null", POINT], pa.struct([("a", pa.string()), ("b", pa.string())]), {"a": "left", "b": "right"}),
    "other_point": (["null", "inner.point"], pa.struct([("a", pa.string()), ("b", pa.string())]), {"a": None, "b": "left"}),
    "null_last": (["string", "null"], pa.string(), "text"),
    "whole": (["null", {"type": "bytes", "logicalType": "decimal", "precision": 4}], pa.decimal128(4, 0), Decimal(12)),
}


@BOTH_TYPES
@pytest.mark.needs(
    "create", "write.upsert", "read.snapshot", "read.projection", "merge.event-time", "types.avro", "types.nested"
)
@pytest.mark.requirements("LF-038")
def test_a_type_is_defined_once(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """LF-038: columns refer to an enumeration, fixed bytes, a decimal and a record by the name under which another column
    defines them: in full, or within the namespace of the record around it. Rows are written and read in base and log files.
    """
    fields: list[dict[str, Any]] = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
    for name, (avro, _, _) in COLUMNS.items():
        fields.append({"name": name, "type": avro} | ({"default": None} if avro[0] == "null" else {}))
    schema = {"type": "record", "name": "row", "namespace": "hoodie.rows", "fields": fields}
    uri = new_uri()
    engine.create(uri, TableSpec("rows", type, schema, ("id",), ordering=("ts",)))
    values = {name: pa.array([value, None], kind) for name, (_, kind, value) in COLUMNS.items()}
    for time in (1, 2):
        rows = pa.table({"id": ["a", "b"], "ts": pa.array([time, time], pa.int64()), **values})
        engine.write(uri, "upsert", rows)
        found = engine.read(uri, Query(columns=("id", "ts", *COLUMNS))).sort_by("id")
        assert found.to_pylist() == rows.to_pylist(), f"after write {time}"


#: Column -> the type in Avro, in which a primitive type is an object, the type in Arrow, and a value.
OBJECTS: dict[str, tuple[Any, pa.DataType, Any]] = {
    "null_first": ([{"type": "null"}, {"type": "string"}], pa.string(), "text"),
    "null_last": ([{"type": "long"}, {"type": "null"}], pa.int64(), 7),
    "null_alone": ([{"type": "null"}, "double"], pa.float64(), 0.5),
    "value_alone": (["null", {"type": "boolean"}], pa.bool_(), True),
    "parts": (
        [{"type": "null"}, {"type": "array", "items": [{"type": "null"}, {"type": "int"}]}], pa.list_(pa.int32()), [1, 2],
    ),
}  # fmt: skip


@BOTH_TYPES
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "read.projection", "merge.event-time", "types.nested")
@pytest.mark.requirements("LF-038")
def test_a_primitive_type_may_be_an_object(engine: Client, new_uri: Callable[[], str], type: Any) -> None:
    """LF-038: Avro writes a primitive type as its name, or as an object with this name. The columns and their values are the
    same, also if the type of null is such an object.
    """
    fields: list[dict[str, Any]] = [{"name": "id", "type": {"type": "string"}}, {"name": "ts", "type": {"type": "long"}}]
    for name, (avro, _, _) in OBJECTS.items():
        fields.append({"name": name, "type": avro} | ({"default": None} if avro[0] in ("null", {"type": "null"}) else {}))
    schema, uri = {"type": "record", "name": "row", "namespace": "hoodie.rows", "fields": fields}, new_uri()
    engine.create(uri, TableSpec("rows", type, schema, ("id",), ordering=("ts",)))
    values = {name: pa.array([value, None], kind) for name, (_, kind, value) in OBJECTS.items()}
    for time in (1, 2):
        rows = pa.table({"id": ["a", "b"], "ts": pa.array([time, time], pa.int64()), **values})
        engine.write(uri, "upsert", rows)
        found = engine.read(uri, Query(columns=("id", "ts", *OBJECTS))).sort_by("id")
        assert found.to_pylist() == rows.to_pylist(), f"after write {time}"
