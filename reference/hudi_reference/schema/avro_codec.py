"""Single Avro records without a container, as stored in log blocks and HFiles."""

import io
import json
import struct
from collections.abc import Callable
from typing import Any

import fastavro

from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.avro_validation import check_datum

#: What decoding damaged bytes raises.
DAMAGE = (
    EOFError, ValueError, IndexError, KeyError, TypeError, OverflowError, struct.error, UnicodeDecodeError,
    fastavro.schema.SchemaParseException, MemoryError, ArithmeticError,
)  # fmt: skip


def codec_schema(schema: AvroSchema) -> Any:
    """The schema for the codec; UUIDs are texts, as in Arrow."""
    return _parsed(schema, keeps=lambda logical: logical != "uuid")


def plain_schema(schema: AvroSchema) -> Any:
    """The schema for the codec without logical types, so that every stored value can be decoded.

    A timestamp is then a number, which may be in a year that Python's calendar does not have; a decimal is the bytes of its
    digits.
    """
    return _parsed(schema, keeps=lambda logical: not isinstance(logical, str))


def decimal_schema(schema: AvroSchema) -> Any:
    """The schema for the codec with decimals as the only logical type."""
    return _parsed(schema, keeps=lambda logical: logical == "decimal")


def _parsed(schema: AvroSchema, keeps: Callable[[Any], bool]) -> Any:
    def without_others(entry: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in entry.items() if key != "logicalType" or keeps(value)}

    return fastavro.parse_schema(json.loads(json.dumps(schema), object_hook=without_others))


def decode_datum(data: memoryview | bytes, schema: Any, *, named: bool = False) -> Any:
    """The record in `data` under a schema of the codec. Raises one of DAMAGE, also if bytes follow the record.

    With `named`, a value of a union of records is a pair: full name of the record, record. The library accepts malformed data,
    so the result is accepted only if it is encoded to the same bytes again, or if `check_datum` accepts the data.
    """
    body = io.BytesIO(data)
    record = fastavro.schemaless_reader(body, schema, return_record_name=named, return_record_name_override=named)
    if body.tell() != len(data):
        raise ValueError(f"a record of {len(data)} bytes ends after {body.tell()}")
    if not _gives(data, record, schema):
        check_datum(data, schema)
    return record


def _gives(data: memoryview | bytes, record: Any, schema: Any) -> bool:
    """Whether a record is encoded to these bytes. Of several valid encodings of a list the library makes only one."""
    try:
        return encode_datum(record, schema) == data
    except DAMAGE:
        return False


def encode_datum(record: Any, schema: Any) -> bytes:
    """The bytes of a record under a schema of the codec."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, record)
    return out.getvalue()
