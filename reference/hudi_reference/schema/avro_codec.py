"""Single Avro records without a container: what log blocks and HFiles hold."""

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
    """The schema as the codec takes it: UUIDs stay the texts that Arrow has."""
    return _parsed(schema, keeps=lambda logical: logical != "uuid")


def plain_schema(schema: AvroSchema) -> Any:
    """The schema as the codec takes it, without logical types: values come as they are stored, so that every one of them comes.

    A timestamp is a number then, and may lie in a year that Python's calendar has not; a decimal is the bytes of its digits.
    """
    return _parsed(schema, keeps=lambda logical: not isinstance(logical, str))


def decimal_schema(schema: AvroSchema) -> Any:
    """The schema as the codec takes it, where of all logical types only decimals are told from what is stored."""
    return _parsed(schema, keeps=lambda logical: logical == "decimal")


def _parsed(schema: AvroSchema, keeps: Callable[[Any], bool]) -> Any:
    def without_others(entry: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in entry.items() if key != "logicalType" or keeps(value)}

    return fastavro.parse_schema(json.loads(json.dumps(schema), object_hook=without_others))


def decode_datum(data: memoryview | bytes, schema: Any, *, named: bool = False) -> Any:
    """The record that `data` is, under a schema of the codec; raises one of DAMAGE, also where bytes are left over.

    `named`: of a union of several records comes a pair, the record's full name and the record. The library is lenient: only
    what gives the same bytes again, or was walked byte by byte, is taken for the datum.
    """
    body = io.BytesIO(data)
    record = fastavro.schemaless_reader(body, schema, return_record_name=named, return_record_name_override=named)
    if body.tell() != len(data):
        raise ValueError(f"a record of {len(data)} bytes ends after {body.tell()}")
    if not _gives(data, record, schema):
        check_datum(data, schema)
    return record


def _gives(data: memoryview | bytes, record: Any, schema: Any) -> bool:
    """Whether a record is written as these bytes; of several right forms of a list the library knows one."""
    try:
        return encode_datum(record, schema) == data
    except DAMAGE:
        return False


def encode_datum(record: Any, schema: Any) -> bytes:
    """The bytes of a record under a schema of the codec."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, record)
    return out.getvalue()
