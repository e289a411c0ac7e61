"""Single Avro records without a container, as stored in log blocks and HFiles, and their conversion to and from Arrow rows.

Dates, times and timestamps are converted as the stored numbers, because Arrow has more years than Python's calendar.
"""

import decimal
import io
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import fastavro
import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.caching import cached_property
from hudi_reference.schema.avro import AvroSchema, ParsedSchema
from hudi_reference.schema.avro_validation import Data, check_of

#: What decoding damaged bytes raises.
DAMAGE = (
    EOFError, ValueError, IndexError, KeyError, TypeError, OverflowError, struct.error, UnicodeDecodeError,
    fastavro.schema.SchemaParseException, MemoryError, ArithmeticError,
)  # fmt: skip
#: More digits than any column has, so that no value is rounded.
_DIGITS = decimal.Context(prec=100)


#: Which logical types a schema of the codec keeps. UUIDs are always texts, as in Arrow.
Kept = Literal["all", "decimals", "none"]


@dataclass(frozen=True, eq=False)
class CodecSchema:
    """A schema for the codec. Callers must not change it."""

    #: The schema in the form of the Avro library.
    parsed: Any

    @cached_property
    def check(self) -> Callable[[Data], None]:
        """The check that bytes are a datum. Making it takes longer than the check of a record."""
        return check_of(self.parsed)


def codec_schema(schema: AvroSchema, kept: Kept = "all") -> CodecSchema:
    """The schema for the codec, with logical types as `kept` says.

    Without logical types every stored value can be decoded: a timestamp is a number, which may be in a year that Python's
    calendar does not have, and a decimal is the bytes of its digits.
    """
    return _codec_schema(schema.text if isinstance(schema, ParsedSchema) else json.dumps(schema), kept)


@lru_cache(maxsize=256)
def _codec_schema(text: str | bytes, kept: Kept) -> CodecSchema:
    """The schema for the codec, from JSON."""

    def without_others(entry: dict[str, Any]) -> dict[str, Any]:
        logical = entry.get("logicalType")
        keeps = {"all": logical != "uuid", "decimals": logical == "decimal", "none": not isinstance(logical, str)}[kept]
        return {key: value for key, value in entry.items() if key != "logicalType" or keeps}

    return CodecSchema(fastavro.parse_schema(json.loads(text, object_hook=without_others)))


def decode_datum(data: Data, schema: CodecSchema, *, named: bool = False) -> Any:
    """The record in `data`. Raises one of DAMAGE, also if bytes follow the record.

    With `named`, a value of a union of records is a pair: full name of the record, record. The library accepts malformed data,
    so the data is checked before.
    """
    schema.check(data)
    return fastavro.schemaless_reader(
        io.BytesIO(data), schema.parsed, return_record_name=named, return_record_name_override=named
    )


def encode_datum(record: Any, schema: CodecSchema) -> bytes:
    """The bytes of a record."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema.parsed, record)
    return out.getvalue()


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
        item = _converter(kind.item_type) or _unchanged
        return lambda value: None if value is None else [(k, item(v)) for k, v in value.items()]
    if pt.is_list(kind):
        element = _converter(kind.value_type)
        return element and (lambda value: None if value is None else [element(v) for v in value])
    if pt.is_struct(kind):
        fields = {field.name: convert for field in kind if (convert := _converter(field.type))}
        if fields:
            return lambda value: None if value is None else {k: fields.get(k, _unchanged)(v) for k, v in value.items()}
    return None


def _decimal(digits: bytes, scale: int) -> decimal.Decimal:
    """The number whose digits are a big-endian integer in two's complement."""
    if not digits:
        raise ValueError("a decimal without digits")
    if len(digits) > 1000:
        raise ValueError(f"a decimal of {len(digits)} bytes")
    return _DIGITS.scaleb(decimal.Decimal(int.from_bytes(digits, "big", signed=True)), -scale)


def _unchanged(value: Any) -> Any:
    return value


def _holds_map(kind: pa.DataType) -> bool:
    if pt.is_map(kind):
        return True
    return pt.is_nested(kind) and any(_holds_map(kind.field(i).type) for i in range(kind.num_fields))
