"""Converting stored rows to the schema of a query, spec "Schema Evolution" as deployed: columns are matched by name.

A column that the stored rows do not have is null; a type may be widened (`promotion`). Rows of a write must fit without
conversion (`fits`), so the text "12" is not written as a number. Files have the nullability of the Avro schema
(`with_required_columns`), because readers compare the two.
"""

from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.errors import InvalidRows, UnsupportedSchema
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.promotion import conversion


@implements("LAY-002", "COMPAT-003")
def conform(rows: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """The columns of `schema`, in its order and types, from rows that were stored under an older schema.

    Raises UnsupportedSchema if a stored value cannot be converted to the wanted type.
    """
    if rows.schema.equals(schema):
        return rows.replace_schema_metadata(schema.metadata)
    columns = [_column(rows, field, path) for field in schema]
    return pa.table(columns, schema=schema) if columns else rows.select([])


def _column(rows: pa.Table, field: pa.Field, path: str) -> pa.ChunkedArray:
    if field.name not in rows.column_names:
        return pa.chunked_array([pa.nulls(rows.num_rows, field.type)])
    column = rows.column(field.name)
    if column.type == field.type:
        return column
    chunks = [_convert(chunk, field.type, f"{path}, column {field.name}") for chunk in column.chunks]
    return pa.chunked_array(chunks, type=field.type)


def _convert(array: pa.Array, wanted: pa.DataType, where: str) -> pa.Array:
    found = array.type
    if found == wanted:
        return array
    if pt.is_struct(wanted) and pt.is_struct(found):
        return _convert_struct(array, wanted, where)
    if pt.is_map(wanted) and pt.is_map(found):
        return _convert_map(array, wanted, where)
    if pt.is_list(wanted) and (pt.is_list(found) or pt.is_large_list(found)):
        return _convert_list(array, wanted, where)
    convert = conversion(found, wanted)
    try:
        if convert is not None:
            return convert(array, wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _cannot_convert(found, wanted, where) from error
    raise _cannot_convert(found, wanted, where)


def _cannot_convert(found: pa.DataType, wanted: pa.DataType, where: str) -> UnsupportedSchema:
    return UnsupportedSchema(
        "a stored column does not fit the table's schema",
        rule="LF-038", path=where, expected=str(wanted), found=str(found),
    )  # fmt: skip


def _convert_struct(array: pa.StructArray, wanted: pa.StructType, where: str) -> pa.Array:
    children = [
        _convert(array.field(field.name), field.type, where)
        if array.type.get_field_index(field.name) >= 0
        else pa.nulls(len(array), field.type)
        for field in wanted
    ]
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())


def _convert_list(array: pa.Array, wanted: pa.ListType, where: str) -> pa.Array:
    plain = pc.cast(array, pa.list_(array.type.value_type)) if pt.is_large_list(array.type) else array
    compact = pa.concat_arrays([plain])
    values = _convert(compact.flatten(), wanted.value_type, where)
    offsets = _offsets(compact)
    return pa.ListArray.from_arrays(offsets, values, type=wanted, mask=compact.is_null())


def _convert_map(array: pa.MapArray, wanted: pa.MapType, where: str) -> pa.Array:
    entries = array.cast(pa.list_(pa.struct([("key", array.type.key_type), ("value", array.type.item_type)])))
    flat = entries.flatten()
    keys = _convert(flat.field("key"), wanted.key_type, where)
    items = _convert(flat.field("value"), wanted.item_type, where)
    built = pa.MapArray.from_arrays(_offsets(entries), keys, items)
    return pc.if_else(array.is_null(), pa.nulls(len(array), built.type), built).cast(wanted)


def _offsets(array: pa.ListArray) -> pa.Array:
    """Offsets into `array.flatten()`, which omits the values of null lists."""
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    return pa.concat_arrays([pa.array([0], pa.int32()), pc.cast(pc.cumulative_sum(lengths), pa.int32())])


@implements("LF-038")
def fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a column of type `found` can be written into one of type `wanted`; values of timestamps are checked later."""
    if found == wanted or pt.is_null(found):
        return True
    if pt.is_dictionary(found):
        return fits(found.value_type, wanted)
    if pt.is_nested(wanted):
        return _nested_fits(found, wanted)
    return _number_fits(found, wanted) or any(
        is_kind(found) and is_kind(wanted) for is_kind in (_is_text, _is_bytes, pt.is_timestamp, pt.is_date, pt.is_time)
    )


def _number_fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pt.is_integer(found) and pt.is_integer(wanted):
        return bool(found.bit_width + pt.is_unsigned_integer(found) <= wanted.bit_width)
    if pt.is_floating(found) and pt.is_floating(wanted):
        return bool(found.bit_width <= wanted.bit_width)
    if pt.is_decimal(found) and pt.is_decimal(wanted):
        before_point = found.precision - found.scale <= wanted.precision - wanted.scale
        return bool(before_point and found.scale <= wanted.scale)
    return False


def _nested_fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pt.is_struct(found) and pt.is_struct(wanted):
        known = {field.name: field.type for field in wanted}
        return all(field.name in known and fits(field.type, known[field.name]) for field in found)
    if pt.is_map(found) and pt.is_map(wanted):
        return fits(found.key_type, wanted.key_type) and fits(found.item_type, wanted.item_type)
    return _is_list(found) and _is_list(wanted) and fits(found.value_type, wanted.value_type)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_binary_view(kind) or pt.is_fixed_size_binary(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pt.is_list(kind) or pt.is_large_list(kind) or pt.is_fixed_size_list(kind))


def with_required_columns(rows: pa.Table, avro: AvroSchema, rule: str) -> pa.Table:
    """`rows`, nullable only where the Avro record `avro` is. Raises InvalidRows, by `rule`, for a null in another column."""
    known: dict[str, Any] = {}
    kinds = {field["name"]: field["type"] for field in avro["fields"]}
    wanted = pa.schema([_field(column.name, column.type, kinds[column.name], known) for column in rows.schema])
    with suppress(ValueError):
        return rows.cast(wanted)
    try:
        return _without_hidden_nulls(rows).cast(wanted)
    except ValueError as error:
        raise InvalidRows("a null in a column that is not nullable", rule=rule, found=str(error)) from error


def _without_hidden_nulls(rows: pa.Table) -> pa.Table:
    """The same values, built anew: other programs store nulls in the fields of a null record, which Arrow takes for values."""
    columns = [pa.chunked_array([column.to_pylist()], column.type) if pt.is_nested(column.type) else column
               for column in rows.columns]  # fmt: skip
    return pa.table(columns, schema=rows.schema)


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
