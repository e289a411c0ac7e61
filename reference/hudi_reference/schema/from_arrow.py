"""Avro types of Arrow columns, for columns that a write adds to a table. Each is nullable, with null as its default."""

from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import InvalidRows
from hudi_reference.schema.promotion import kind_of

_TIMES = {"s": "millis", "ms": "millis", "us": "micros"}
_PLAIN = {"boolean", "int", "long", "float", "double", "bytes", "string"}


def avro_field(field: pa.Field, space: str) -> dict[str, Any]:
    """A nullable field of a record. Named types have names in the namespace `space`, like those of deployed writers.

    Raises InvalidRows for types that a table cannot have.
    """
    return {"name": field.name, "type": ["null", _avro_type(field.type, field.name, space)], "default": None}


def _avro_type(kind: pa.DataType, name: str, space: str) -> Any:  # noqa: PLR0911 - one for each kind of type
    plain = kind_of(kind)
    if plain in _PLAIN:
        return plain
    if plain == "date":
        return {"type": "int", "logicalType": "date"}
    if plain == "timestamp" and kind.unit in _TIMES:
        return {"type": "long", "logicalType": f"{'' if kind.tz else 'local-'}timestamp-{_TIMES[kind.unit]}"}
    if plain == "time" and kind.unit in _TIMES:
        base, unit = ("int", "millis") if pt.is_time32(kind) else ("long", "micros")
        return {"type": base, "logicalType": f"time-{unit}"}
    if plain == "decimal" and kind.precision <= 38:
        return _decimal(kind, f"{space}.{name}")
    if pt.is_struct(kind):
        fields = [avro_field(part, f"{space}.{name}") for part in kind]
        return {"type": "record", "name": name, "namespace": space, "fields": fields}
    if pt.is_list(kind) or pt.is_large_list(kind):
        return {"type": "array", "items": ["null", _avro_type(kind.value_type, name, space)]}
    if pt.is_map(kind) and kind_of(kind.key_type) == "string":
        return {"type": "map", "values": ["null", _avro_type(kind.item_type, name, space)]}
    raise InvalidRows(
        f"the column {name} has a type that no table has", rule="LF-038", found=str(kind),
        expected="a type of Avro: see docs for the types of columns",
    )  # fmt: skip


def _decimal(kind: pa.DataType, space: str) -> dict[str, Any]:
    """A decimal with the fewest bytes that can store the digits and a sign."""
    size = next(count for count in range(1, 17) if 2 ** (8 * count - 1) > 10**kind.precision)
    return {
        "type": "fixed", "name": "fixed", "namespace": space, "size": size,
        "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale,
    }  # fmt: skip
