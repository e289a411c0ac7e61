"""Nullability of columns by the Avro schema, for Parquet files: readers compare the two schemas."""

from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import InvalidRows
from hudi_reference.schema.avro import AvroSchema


def with_required_columns(rows: pa.Table, avro: AvroSchema, rule: str) -> pa.Table:
    """`rows`, nullable only where the Avro record `avro` is. Raises InvalidRows, by `rule`, for a null in another column."""
    try:
        return rows.cast(mark_required_columns(rows.schema, avro))
    except ValueError as error:
        raise InvalidRows("a null in a column that is not nullable", rule=rule, found=str(error)) from error


def mark_required_columns(columns: pa.Schema, avro: AvroSchema) -> pa.Schema:
    """`columns`, nullable only where the Avro record `avro` is, in nested types too."""
    known: dict[str, Any] = {}
    kinds = {field["name"]: field["type"] for field in avro["fields"]}
    return pa.schema([_field(column.name, column.type, kinds[column.name], known) for column in columns])


def _field(name: str, kind: pa.DataType, avro: Any, known: dict[str, Any]) -> pa.Field:
    branches = avro if isinstance(avro, list) else [avro]
    plain = _resolve_type(next((branch for branch in branches if branch != "null"), "null"), known)
    return pa.field(name, _type(kind, plain, known), nullable="null" in branches)


def _type(kind: pa.DataType, avro: Any, known: dict[str, Any]) -> pa.DataType:
    if pt.is_struct(kind):
        kinds = {field["name"]: field["type"] for field in avro["fields"]}
        return pa.struct([_field(part.name, part.type, kinds[part.name], known) for part in kind])
    if pt.is_list(kind):
        return pa.list_(_field(kind.value_field.name, kind.value_type, avro["items"], known))
    if pt.is_map(kind):
        return pa.map_(kind.key_type, _field(kind.item_field.name, kind.item_type, avro["values"], known))
    return kind


def _resolve_type(avro: Any, known: dict[str, Any]) -> Any:
    """The type that a name refers to, or that is nested in a type without further content."""
    if isinstance(avro, str):
        return known.get(avro.rpartition(".")[2], avro)
    if isinstance(avro["type"], dict):
        return _resolve_type(avro["type"], known)
    if "name" in avro:
        known[avro["name"].rpartition(".")[2]] = avro
    return avro
