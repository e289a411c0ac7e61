"""Binary Avro: the primitives that delete blocks need are encoded here, whole values by fastavro."""

import io
import json
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import fastavro

from hudi_conformance.engines.support.columns import META_COLUMNS

Schema = Mapping[str, Any]


def encode_long(number: int) -> bytes:
    """An int or long: zigzag, then seven bits a byte, low bits first."""
    zigzag, out = number << 1 if number >= 0 else ~(number << 1), bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def encode_string(value: str) -> bytes:
    """A string."""
    return encode_bytes(value.encode())


def encode_bytes(value: bytes) -> bytes:
    """A value of type bytes."""
    return encode_long(len(value)) + value


def encode_optional_string(value: str | None) -> bytes:
    """A value of union[null, string]."""
    return encode_long(0) if value is None else encode_long(1) + encode_string(value)


def encode_double(value: float) -> bytes:
    """A double: eight bytes, little-endian."""
    return struct.pack("<d", value)


def encode_float(value: float) -> bytes:
    """A float: four bytes, little-endian."""
    return struct.pack("<f", value)


def record_schema(name: str, *fields: tuple[str, Any], namespace: str = "corpus") -> Schema:
    """A record schema of these fields."""
    return {"type": "record", "name": name, "namespace": namespace, "fields": [_field(*field) for field in fields]}


def stored_schema(*fields: tuple[str, Any], name: str = "row") -> Schema:
    """The schema of stored rows: the five meta columns, then these fields."""
    return record_schema(name, *((column, ["null", "string"]) for column in META_COLUMNS), *fields)


def encode_datum(schema: Schema, value: Mapping[str, Any]) -> bytes:
    """A value in binary form, without container and schema; values of logical types are given as stored numbers."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, _parsed(json.dumps(_physical(schema))), value)
    return out.getvalue()


def _physical(avro_type: Any) -> Any:
    """The type without its logical types."""
    if isinstance(avro_type, list):
        return [_physical(one) for one in avro_type]
    if isinstance(avro_type, dict):
        return {key: _physical(value) for key, value in avro_type.items() if key not in ("logicalType", "precision", "scale")}
    return avro_type


def schema_text(schema: Schema) -> str:
    """The schema as the text of a header."""
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def canonical_rows(schema: Schema, values: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The canonical form of rows of texts, booleans, ints and longs; rows of other types are written out in the cases."""
    longs = {field["name"] for field in schema["fields"] if "long" in (field["type"], *_branches(field["type"]))}
    return [{k: str(v) if k in longs and v is not None else v for k, v in value.items()} for value in values]


def _branches(avro_type: Any) -> Sequence[Any]:
    return avro_type if isinstance(avro_type, list) else ()


def _field(name: str, avro_type: Any) -> dict[str, Any]:
    default = {"default": None} if isinstance(avro_type, list) and avro_type[0] == "null" else {}
    return {"name": name, "type": avro_type, **default}


@cache
def _parsed(schema: str) -> Any:
    return fastavro.parse_schema(json.loads(schema))
