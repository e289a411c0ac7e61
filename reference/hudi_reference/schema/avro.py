"""Avro schemas and the corresponding Arrow schemas.

Rows are Arrow in memory. The schema of a table is an Avro record, stored in commit metadata, log blocks and properties. Every
data column is nullable in Arrow, because deletes and schema evolution leave nulls.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import fastavro
import pyarrow as pa

from hudi_reference.errors import MalformedSchema, UnsupportedSchema
from hudi_reference.requirement import implements
from hudi_reference.schema.validation import check_schema

AvroSchema = Mapping[str, Any]

#: The five meta columns, which come before the data columns.
META_COLUMNS = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)

_PRIMITIVES: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
}

_LOGICAL: dict[tuple[str, str], pa.DataType] = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    ("long", "timestamp-millis"): pa.timestamp("ms", "UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", "UTC"),
    ("long", "local-timestamp-millis"): pa.timestamp("ms"),
    ("long", "local-timestamp-micros"): pa.timestamp("us"),
    ("string", "uuid"): pa.string(),
}


@implements("LF-038")
def parse_schema(text: str | bytes | Mapping[str, Any], path: str) -> AvroSchema:
    """A record schema from its JSON. Raises MalformedSchema, and UnsupportedSchema for recursive types."""
    try:
        schema = dict(text) if isinstance(text, Mapping) else json.loads(text)
        parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
        if schema["type"] != "record" or not isinstance(schema["fields"], list):
            raise MalformedSchema("the schema is not a record", rule="LF-038", path=path, found=str(schema["type"]))
        check_schema(parsed, path)
        return {str(key): value for key, value in schema.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, fastavro.schema.SchemaParseException,
            fastavro.schema.UnknownType) as error:  # fmt: skip
        raise MalformedSchema(
            "not an Avro schema", rule="LF-038", path=path, found=f"{type(error).__name__}: {error}"
        ) from error


def field_names(schema: AvroSchema) -> tuple[str, ...]:
    """The names of a record's fields."""
    return tuple(field["name"] for field in schema["fields"])


@implements("META-001", "META-002")
def with_meta_columns(schema: AvroSchema) -> AvroSchema:
    """The schema of stored rows: the five meta columns, then the data columns."""
    present = set(field_names(schema))
    meta = [{"name": name, "type": ["null", "string"], "doc": "", "default": None} for name in META_COLUMNS]
    return {**schema, "fields": [field for field in meta if field["name"] not in present] + list(schema["fields"])}


def without_meta_columns(schema: AvroSchema) -> AvroSchema:
    """The schema of the data columns."""
    return {**schema, "fields": [field for field in schema["fields"] if field["name"] not in META_COLUMNS]}


def only(schema: AvroSchema, names: Iterable[str]) -> AvroSchema:
    """The record with only the named fields, in the order of the schema."""
    wanted = set(names)
    return {**schema, "fields": [field for field in schema["fields"] if field["name"] in wanted]}


def arrow_schema(schema: AvroSchema, path: str | None = None) -> pa.Schema:
    """The Arrow columns of an Avro record, found at `path`. Raises UnsupportedSchema for a type without an Arrow type."""
    known: dict[str, Any] = {}
    try:
        space = _space_of(_full_name(schema, None))
        return pa.schema([pa.field(f["name"], _arrow_type(f["type"], known, space)) for f in schema["fields"]])
    except UnsupportedSchema as error:
        error.path = path
        raise
    except (OverflowError, pa.ArrowException) as error:
        raise UnsupportedSchema("a type that Arrow has not", rule="LF-038", path=path, found=str(error)) from error


def _arrow_type(avro: Any, known: dict[str, Any], namespace: str | None) -> pa.DataType:
    if isinstance(avro, str):
        return _named_or_primitive(avro, known, namespace)
    if isinstance(avro, Sequence):
        return _union_type(avro, known, namespace)
    kind = avro["type"]
    if not isinstance(kind, str):
        return _arrow_type(kind, known, namespace)
    if (logical := _logical_type(avro)) is not None:
        _remember(avro, logical, known, namespace)
        return logical
    if kind in _COMPLEX:
        return _COMPLEX[kind](avro, known, namespace)
    return _named_or_primitive(kind, known, namespace)


def _logical_type(avro: Mapping[str, Any]) -> pa.DataType | None:
    if avro.get("logicalType") == "decimal" and avro["type"] in ("bytes", "fixed"):
        precision, scale = avro.get("precision"), avro.get("scale", 0)
        if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision <= 38 or precision < 1:
            raise UnsupportedSchema(
                "a decimal of this precision and scale", rule="LF-038", expected="1 to 38 digits, at most all behind the point",
                found=f"{precision}, {scale}",
            )  # fmt: skip
        return pa.decimal128(precision, scale)
    if avro.get("logicalType") == "duration" and avro["type"] == "fixed":
        raise UnsupportedSchema("a duration", rule="LF-038", expected="a type of tables", found=str(avro.get("name")))
    return _LOGICAL.get((avro["type"], str(avro.get("logicalType"))))


def _record_type(avro: Mapping[str, Any], known: dict[str, Any], namespace: str | None) -> pa.DataType:
    inner = _space_of(_full_name(avro, namespace))
    _remember(avro, None, known, namespace)  # a recursive record has no Arrow type
    fields = [pa.field(f["name"], _arrow_type(f["type"], known, inner)) for f in avro.get("fields", ())]
    return _remember(avro, pa.struct(fields), known, namespace)


def _union_type(avro: Sequence[Any], known: dict[str, Any], namespace: str | None) -> pa.DataType:
    branches = [branch for branch in avro if branch not in ("null", {"type": "null"})]
    if len(branches) > 1:
        raise UnsupportedSchema("a union of several types", rule="LF-038", expected="a type and null", found=json.dumps(avro))
    return _arrow_type(branches[0], known, namespace) if branches else pa.null()


def _remember(avro: Mapping[str, Any], kind: Any, known: dict[str, Any], namespace: str | None) -> Any:
    if "name" in avro:
        known[_full_name(avro, namespace)] = kind
    return kind


def _full_name(avro: Mapping[str, Any], namespace: str | None) -> str:
    """The full name of a type; without a namespace of its own it has that of the enclosing type."""
    name, space = str(avro.get("name", "")), avro.get("namespace", namespace)
    return name if "." in name or not space else f"{space}.{name}"


def _space_of(full_name: str) -> str | None:
    return full_name.rpartition(".")[0] or None


def _named_or_primitive(name: str, known: dict[str, Any], namespace: str | None) -> pa.DataType:
    if name in _PRIMITIVES:
        return _PRIMITIVES[name]
    found = known.get(_full_name({"name": name}, namespace)) or known.get(name)
    if found is None:
        raise UnsupportedSchema("an unknown or recursive type", rule="LF-038", found=name)
    return found


def _list_type(avro: Mapping[str, Any], known: dict[str, Any], namespace: str | None) -> pa.DataType:
    return pa.list_(pa.field("element", _arrow_type(avro["items"], known, namespace)))


def _map_type(avro: Mapping[str, Any], known: dict[str, Any], namespace: str | None) -> pa.DataType:
    return pa.map_(pa.string(), _arrow_type(avro["values"], known, namespace))


_COMPLEX: dict[str, Callable[[Mapping[str, Any], dict[str, Any], str | None], pa.DataType]] = {
    "record": _record_type,
    "array": _list_type,
    "map": _map_type,
    "fixed": lambda avro, known, namespace: _remember(avro, pa.binary(avro["size"]), known, namespace),
    "enum": lambda avro, known, namespace: _remember(avro, pa.string(), known, namespace),
}
