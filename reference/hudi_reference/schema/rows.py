"""Rows between Arrow and the Python values that the Avro library reads and writes."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt


def from_avro(rows: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """Decoded Avro records as an Arrow table."""
    columns = []
    for field in schema:
        convert = _converter(field.type)
        values = [row[field.name] for row in rows]
        columns.append(pa.array(values if convert is None else [convert(v) for v in values], field.type))
    return pa.table(columns, schema=schema)


def to_avro(rows: pa.Table) -> list[dict[str, Any]]:
    """An Arrow table as values for the Avro encoder."""
    plain = [name for name in rows.column_names if _holds_map(rows.schema.field(name).type)]
    records: list[dict[str, Any]] = rows.to_pylist(maps_as_pydicts="strict" if plain else None)
    return records


def _converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """What a decoded value needs before Arrow takes it: maps become lists of pairs; None for types that need nothing."""
    if pt.is_map(kind):
        item = _converter(kind.item_type) or _same
        return lambda value: None if value is None else [(k, item(v)) for k, v in value.items()]
    if pt.is_list(kind):
        element = _converter(kind.value_type)
        return element and (lambda value: None if value is None else [element(v) for v in value])
    if pt.is_struct(kind):
        fields = {field.name: convert for field in kind if (convert := _converter(field.type))}
        if fields:
            return lambda value: None if value is None else {k: fields.get(k, _same)(v) for k, v in value.items()}
    return None


def _same(value: Any) -> Any:
    return value


def _holds_map(kind: pa.DataType) -> bool:
    if pt.is_map(kind):
        return True
    return pt.is_nested(kind) and any(_holds_map(kind.field(i).type) for i in range(kind.num_fields))
