"""Converting rows between Arrow and the Python values that the Avro library reads and writes.

Dates, times and timestamps are converted as the stored numbers, because Arrow has more years than Python's calendar.
"""

import decimal
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

#: More digits than any column has, so that no value is rounded.
_DIGITS = decimal.Context(prec=100)


def from_avro(rows: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """Decoded Avro records as an Arrow table; decimals may be the stored bytes.

    Raises pyarrow.ArrowException and ValueError for values that do not fit the schema.
    """
    columns = []
    for field in schema:
        convert = _converter(field.type)
        values = [row[field.name] for row in rows]
        columns.append(pa.array(values if convert is None else [convert(v) for v in values], field.type))
    return pa.table(columns, schema=schema)


def to_avro(rows: pa.Table) -> list[dict[str, Any]]:
    """An Arrow table as values for the Avro encoder."""
    maps = any(_holds_map(field.type) for field in rows.schema)
    for place, field in enumerate(rows.schema):
        if (stored := _stored(field.type)) != field.type:
            rows = rows.set_column(place, field.with_type(stored), rows.column(place).cast(stored))
    records: list[dict[str, Any]] = rows.to_pylist(maps_as_pydicts="strict" if maps else None)
    return records


def _stored(kind: pa.DataType) -> pa.DataType:
    """The type with numbers for dates, times and timestamps."""
    if pt.is_date32(kind) or pt.is_time32(kind):
        return pa.int32()
    if pt.is_time64(kind) or pt.is_timestamp(kind):
        return pa.int64()
    if pt.is_list(kind):
        return pa.list_(kind.value_field.with_type(_stored(kind.value_type)))
    if pt.is_map(kind):
        return pa.map_(kind.key_type, kind.item_field.with_type(_stored(kind.item_type)))
    if pt.is_struct(kind):
        return pa.struct([field.with_type(_stored(field.type)) for field in kind])
    return kind


def _converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """The conversion of a decoded value for Arrow, such as maps to lists of pairs; None for types that need none."""
    if pt.is_decimal(kind):
        return lambda value: _decimal(value, kind.scale) if isinstance(value, bytes) else value
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


def _decimal(digits: bytes, scale: int) -> decimal.Decimal:
    """The number whose digits are a big-endian integer in two's complement."""
    if not digits:
        raise ValueError("a decimal without digits")
    if len(digits) > 1000:
        raise ValueError(f"a decimal of {len(digits)} bytes")
    return _DIGITS.scaleb(decimal.Decimal(int.from_bytes(digits, "big", signed=True)), -scale)


def _same(value: Any) -> Any:
    return value


def _holds_map(kind: pa.DataType) -> bool:
    if pt.is_map(kind):
        return True
    return pt.is_nested(kind) and any(_holds_map(kind.field(i).type) for i in range(kind.num_fields))
