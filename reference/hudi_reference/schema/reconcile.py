"""The schema of a table after a write whose rows have new or wider columns, spec "Schema Evolution" as deployed.

A schema is only extended: a new column is appended, and a type is promoted by `promotion.BY_NAME`. No column and no value of
its old type is lost. The same holds for nested fields.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import InvalidRows
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, AvroSchema, arrow_schema, parse_schema
from hudi_reference.schema.evolution import fits
from hudi_reference.schema.from_arrow import avro_field
from hudi_reference.schema.promotion import BY_NAME, can_promote, kind_of


@implements("LF-038")
def reconcile_schema(schema: AvroSchema, rows: pa.Schema) -> AvroSchema:
    """The schema of a table with `schema` after `rows` are written to it; the same schema if they fit.

    Raises InvalidRows for a column that would be narrowed or change its type, and for a name that differs from that of another
    column only in case: deployed engines treat the two as one column.
    """
    data = pa.schema([field for field in rows if field.name not in META_COLUMNS])
    name, space = str(schema["name"]), str(schema.get("namespace") or "")
    fields = _fields(schema["fields"], data, _dotted_name(space, name), "")
    return parse_schema({**schema, "fields": fields}, "the schema of the write") if fields != schema["fields"] else schema


def without_columns(table: str) -> AvroSchema:
    """The schema of a table of this name before it has a column, named as deployed writers name it."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", table)
    name = f"_{name}" if name[:1].isdigit() else name
    return {"type": "record", "name": f"{name}_record", "namespace": f"hoodie.{name}", "fields": []}


def _fields(known: Sequence[Mapping[str, Any]], found: Sequence[pa.Field], space: str, path: str) -> list[Any]:
    """The fields of a record; new fields of the rows are appended."""
    given = {field.name: field for field in found}
    fields = [_field(field, given[field["name"]], space, path) if field["name"] in given else field for field in known]
    names = {str(field["name"]) for field in known}
    alike = {name.lower(): name for name in names}
    for field in found:
        if field.name in names:
            continue
        # ER-247: a deployed engine takes it for another name of the stored field, whose values are lost.
        if (other := alike.setdefault(field.name.lower(), field.name)) != field.name:
            raise InvalidRows(
                "a new column differs from another one in capital letters only", rule="LF-038",
                expected=path + other, found=path + field.name,
            )  # fmt: skip
        if pt.is_struct(field.type):
            _fields((), list(field.type), space, f"{path}{field.name}.")  # their names differ, too
        fields.append(avro_field(field, space))
    return fields


def _field(known: Mapping[str, Any], found: pa.Field, space: str, path: str) -> Mapping[str, Any]:
    kind = _type(known["type"], found.type, _dotted_name(space, str(known["name"])), f"{path}{found.name}")
    return known if kind == known["type"] else {**known, "type": kind}


def _type(avro: Any, found: pa.DataType, space: str, path: str) -> Any:
    """The type of a column, promoted if its values in the rows need it."""
    if isinstance(avro, list):
        return [branch if branch == "null" else _type(branch, found, space, path) for branch in avro]
    wanted = arrow_schema({"type": "record", "name": "r", "fields": [{"name": "f", "type": avro}]}, path).field("f").type
    if fits(found, wanted):
        return avro
    match avro:
        case {"type": "record", "fields": fields} if pt.is_struct(found):
            return {**avro, "fields": _fields(fields, list(found), space, f"{path}.")}
        case {"type": "array", "items": items} if pt.is_list(found) or pt.is_large_list(found):
            return {**avro, "items": _type(items, found.value_type, space, f"{path}.element")}
        case {"type": "map", "values": values} if pt.is_map(found):
            return {**avro, "values": _type(values, found.item_type, space, f"{path}.value")}
    if can_promote(wanted, found):
        return avro_field(pa.field("f", found), space)["type"][1]
    raise InvalidRows(
        f"the column {path} would become narrower, or another type", rule="LF-038", found=str(found),
        expected=" or ".join([str(wanted), *BY_NAME.get(kind_of(wanted), ())]), remedy="cast the column, or use a new one",
    )  # fmt: skip


def _dotted_name(space: str, name: str) -> str:
    return f"{space}.{name}" if space else name
