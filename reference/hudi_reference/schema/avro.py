"""Avro schemas and the corresponding Arrow schemas.

Rows are Arrow in memory. The schema of a table is an Avro record, stored in commit metadata, log blocks and properties. Every
data column is nullable in Arrow, because deletes and schema evolution leave nulls.

A schema is refused if a few bytes could represent values of unlimited size under it. A recursive type can be nested as deeply
as damaged bytes declare, deeper than the stack of a decoder. An array of elements without bytes can have more elements than fit
into memory. No writer of Hudi tables stores such types.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import fastavro
import pyarrow as pa

from hudi_reference.errors import MalformedSchema, UnsupportedSchema
from hudi_reference.limits import COLUMNS, NESTING, SCHEMA_NODES, LimitExceeded
from hudi_reference.requirement import implements

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


class ParsedSchema(dict[str, Any]):
    """A schema with the JSON that it was parsed from, which identifies it. A schema is never changed: others are made of it."""

    def __init__(self, text: str | bytes, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        self.text = text


#: The least number of bytes of a value.
_LEAST = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}


@implements("LF-038")
def parse_schema(text: str | bytes | Mapping[str, Any], path: str) -> AvroSchema:
    """A record schema from its JSON. Raises MalformedSchema, and UnsupportedSchema for recursive types."""
    try:
        text = json.dumps(dict(text)) if isinstance(text, Mapping) else text
        schema, _ = checked_schema(text)
        is_record = schema["type"] == "record" and isinstance(schema["fields"], list)
    except (UnsupportedSchema, LimitExceeded) as error:
        error.path = path
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, fastavro.schema.SchemaParseException,
            fastavro.schema.UnknownType) as error:  # fmt: skip
        raise MalformedSchema(
            "not an Avro schema", rule="LF-038", path=path, found=f"{type(error).__name__}: {error}"
        ) from error
    if not is_record:
        raise MalformedSchema("the schema is not a record", rule="LF-038", path=path, found=str(schema["type"]))
    return ParsedSchema(text, schema)


@lru_cache(maxsize=256)
def checked_schema(text: str | bytes) -> tuple[Any, Any]:
    """The schema of a text in its short form, and as the Avro library parses it, with full names. Callers must not change it.

    It is cached because log blocks, commits and plans of a table repeat the same few texts. Raises errors of the library,
    ValueError for invalid names and sizes, UnsupportedSchema for types with values without limit.
    """
    parsed = fastavro.parse_schema(json.loads(text))
    size = _size_of(parsed, {})
    SCHEMA_NODES.check(size.types)
    NESTING.check(size.levels)
    return _short_form(json.loads(text)), parsed


@implements("LF-038")
def _short_form(avro: Any) -> Any:
    """A type in which primitive types are names: `{"type": "null"}` is `"null"`, and the same type for all callers.

    Objects with further members stay, except that a null has no members with a meaning. The type has been checked.
    """
    match avro:
        case list():
            return [_short_form(branch) for branch in avro]
        case {"type": "record" | "error", "fields": fields}:
            return {**avro, "fields": [{**field, "type": _short_form(field["type"])} for field in fields]}
        case {"type": "array", "items": items}:
            return {**avro, "items": _short_form(items)}
        case {"type": "map", "values": values}:
            return {**avro, "values": _short_form(values)}
        case {"type": str(name)} if name in _LEAST and (len(avro) == 1 or name == "null"):
            return name
    return avro


class _Size(NamedTuple):
    """The least bytes of a value of a type, and the number of types and of levels in it, with named types at each reference."""

    least: int
    types: int = 1
    levels: int = 1


def _around(least: int, inner: Sequence[_Size]) -> _Size:
    """The size of a type that is made of others."""
    return _Size(least, 1 + sum(size.types for size in inner), 1 + max((size.levels for size in inner), default=0))


def _size_of(avro: Any, known: dict[str, _Size | None]) -> _Size:
    """The size of a type; each type is visited once. `known` has the named types; None for a type that is being checked.

    Types that name each other double with each level, so that a few kilobytes may declare any number of columns.
    """
    size: _Size | None
    match avro:
        case str():
            size = _Size(_LEAST[avro]) if avro in _LEAST else known.get(avro)
            if size is None:
                raise _infinite_type("a type that contains itself", avro)
        case list():
            sizes = [_size_of(branch, known) for branch in avro]
            size = _around(1 + min([branch.least for branch in sizes], default=0), sizes)
        case {"type": "record" | "error", "name": name, "fields": fields}:
            known[_checked_name(name, known, _LEAST)] = None
            COLUMNS.check(len(fields))
            names = [_checked_name(field["name"]) for field in fields]
            if len(set(names)) < len(names):
                raise ValueError(f"record {name} has two fields of one name")
            sizes = [_size_of(field["type"], known) for field in fields]
            size = known[name] = _around(sum(field.least for field in sizes), sizes)
        case {"type": "array", "items": items}:
            inner = _size_of(items, known)
            if inner.least == 0:
                raise _infinite_type("an array of elements without bytes", items)
            size = _around(1, [inner])
        case {"type": "map", "values": values}:
            size = _around(1, [_size_of(values, known)])
        case {"type": "fixed", "name": name, "size": int(width)} if width >= 0:
            size = known[_checked_name(name, known, _LEAST)] = _Size(width)
        case {"type": "enum", "name": name, "symbols": [_, *_]}:
            size = known[_checked_name(name, known, _LEAST)] = _Size(1)
        case {"type": str(name)} if name in _LEAST or name in known:
            size = _size_of(name, known)
        case _:
            raise ValueError(f"not a type:  {str(avro)[:200]}")
    return size


def _checked_name(name: Any, *taken: Collection[str]) -> str:
    """A name, if it is a text that is not empty, and none of those that are taken. Raises ValueError."""
    if not isinstance(name, str) or not name.encode():
        raise ValueError(f"the name {name!r}")
    if any(name in names for names in taken):
        raise ValueError(f"the name {name!r} of a type has another meaning already")
    return name


def _infinite_type(what: str, found: Any) -> UnsupportedSchema:
    return UnsupportedSchema(what, rule="LF-038", expected="types whose values take a byte or more", found=str(found)[:200])


def field_names(schema: AvroSchema) -> tuple[str, ...]:
    """The names of a record's fields."""
    return tuple(field["name"] for field in schema["fields"])


@implements("META-001", "META-002")
def with_meta_columns(schema: AvroSchema) -> AvroSchema:
    """The schema of stored rows: the five meta columns, then the data columns."""
    present = {field["name"] for field in schema["fields"]}
    meta = [{"name": name, "type": ["null", "string"], "doc": "", "default": None} for name in META_COLUMNS]
    return {**schema, "fields": [field for field in meta if field["name"] not in present] + list(schema["fields"])}


def without_meta_columns(schema: AvroSchema) -> AvroSchema:
    """The schema of the data columns."""
    return {**schema, "fields": [field for field in schema["fields"] if field["name"] not in META_COLUMNS]}


def select_fields(schema: AvroSchema, names: Iterable[str]) -> AvroSchema:
    """The record with only the named fields, in the order of the schema."""
    wanted = set(names)
    return {**schema, "fields": [field for field in schema["fields"] if field["name"] in wanted]}


def arrow_schema(schema: AvroSchema, path: str | None = None) -> pa.Schema:
    """The Arrow columns of an Avro record, found at `path`. Raises UnsupportedSchema for a type without an Arrow type."""
    known: dict[str, Any] = {}
    try:
        space = _full_name(schema, None).rpartition(".")[0]
        return pa.schema([pa.field(f["name"], _arrow_type(f["type"], known, space)) for f in schema["fields"]])
    except UnsupportedSchema as error:
        error.path = path
        raise
    except (OverflowError, pa.ArrowException) as error:
        raise UnsupportedSchema("a type that Arrow does not have", rule="LF-038", path=path, found=str(error)) from error


def _arrow_type(avro: Any, known: dict[str, Any], namespace: str | None) -> pa.DataType:
    if isinstance(avro, str):
        found = _PRIMITIVES.get(avro, known.get(_full_name({"name": avro}, namespace), known.get(avro)))
        if found is None:
            raise UnsupportedSchema("an unknown or recursive type", rule="LF-038", found=avro)
        return found
    if isinstance(avro, Sequence):
        branches = [branch for branch in avro if branch != "null"]
        if len(branches) > 1:
            raise UnsupportedSchema(
                "a union of several types", rule="LF-038", expected="a type and null", found=json.dumps(avro)
            )
        return _arrow_type(branches[0], known, namespace) if branches else pa.null()
    kind = avro["type"]
    if not isinstance(kind, str):
        return _arrow_type(kind, known, namespace)
    if (logical := _logical_type(avro)) is not None:
        _register_named_type(avro, logical, known, namespace)
        return logical
    if kind in _COMPLEX:
        return _COMPLEX[kind](avro, known, namespace)
    return _arrow_type(kind, known, namespace)


@implements("TYP-020")
def _logical_type(avro: Mapping[str, Any]) -> pa.DataType | None:
    if avro.get("logicalType") == "decimal" and avro["type"] in ("bytes", "fixed"):
        precision, scale = avro.get("precision"), avro.get("scale", 0)
        if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision <= 38 or precision < 1:
            raise UnsupportedSchema(
                "a decimal of this precision and scale", rule="LF-038", expected="1 to 38 digits, not more after the point",
                found=f"{precision}, {scale}",
            )  # fmt: skip
        return pa.decimal128(precision, scale)
    if avro.get("logicalType") == "duration" and avro["type"] == "fixed":
        raise UnsupportedSchema("a duration", rule="LF-038", expected="a type of tables", found=str(avro.get("name")))
    return _LOGICAL.get((avro["type"], str(avro.get("logicalType"))))


def _record_type(avro: Mapping[str, Any], known: dict[str, Any], namespace: str | None) -> pa.DataType:
    inner = _full_name(avro, namespace).rpartition(".")[0]
    _register_named_type(avro, None, known, namespace)  # a recursive record has no Arrow type
    fields = [pa.field(f["name"], _arrow_type(f["type"], known, inner)) for f in avro.get("fields", ())]
    return _register_named_type(avro, pa.struct(fields), known, namespace)


def _register_named_type(avro: Mapping[str, Any], kind: Any, known: dict[str, Any], namespace: str | None) -> Any:
    if "name" in avro:
        known[_full_name(avro, namespace)] = kind
    return kind


def _full_name(avro: Mapping[str, Any], namespace: str | None) -> str:
    """The full name of a type; without a namespace of its own it has that of the enclosing type."""
    name, space = str(avro.get("name", "")), avro.get("namespace", namespace)
    return name if "." in name or not space else f"{space}.{name}"


def _list_type(avro: Mapping[str, Any], known: dict[str, Any], namespace: str | None) -> pa.DataType:
    return pa.list_(pa.field("element", _arrow_type(avro["items"], known, namespace)))


def _map_type(avro: Mapping[str, Any], known: dict[str, Any], namespace: str | None) -> pa.DataType:
    return pa.map_(pa.string(), _arrow_type(avro["values"], known, namespace))


_COMPLEX: dict[str, Callable[[Mapping[str, Any], dict[str, Any], str | None], pa.DataType]] = {
    "record": _record_type,
    "array": _list_type,
    "map": _map_type,
    "fixed": lambda avro, known, namespace: _register_named_type(avro, pa.binary(avro["size"]), known, namespace),
    "enum": lambda avro, known, namespace: _register_named_type(avro, pa.string(), known, namespace),
}
