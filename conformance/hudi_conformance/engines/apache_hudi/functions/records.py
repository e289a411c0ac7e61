"""Rows between Arrow and Hudi's Avro records."""

import json
import struct
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import EngineError
from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_reference.files.log.fast.decode_columns import decode_avro_columns
from hudi_reference.schema.avro import AvroSchema, arrow_schema, parse_schema, select_fields
from hudi_reference.schema.avro_codec import codec_schema, encode_datum, to_avro
from hudi_reference.schema.from_arrow import avro_field


def to_records(bridge: JavaBridge, rows: pa.Table, schema: AvroSchema) -> Iterator[Any]:
    """`rows` as Avro records in Java, of the fields of `schema` that they have.

    Raises EngineError for a row that the schema does not allow.
    """
    parsed = codec_schema(schema)
    in_java = bridge.jvm.org.apache.avro.Schema.Parser().parse(json.dumps(schema))
    decode = bridge.hudi.avro.HoodieAvroUtils.bytesToAvro
    for row in to_avro(rows):
        try:
            data = encode_datum(row, parsed)
        except (TypeError, ValueError, OverflowError) as e:
            raise EngineError(f"a row that the schema does not allow: {e}") from e
        yield decode(bridge.bytes_of(data), in_java)


def schema_of(rows: pa.Table, known: AvroSchema) -> AvroSchema:
    """The fields of the table's schema that `rows` have. Raises EngineError for a column that the table does not have."""
    unknown = set(rows.column_names) - {field["name"] for field in known["fields"]}
    if unknown:
        raise EngineError(f"the table has no column {', '.join(sorted(unknown))}")
    return select_fields(known, rows.column_names)


def with_new_columns(rows: pa.Table, known: AvroSchema) -> AvroSchema:
    """The table's schema with the further columns of `rows`, each nullable."""
    names = {field["name"] for field in known["fields"]}
    new = [avro_field(field, known.get("namespace", "hoodie")) for field in rows.schema if field.name not in names]
    return {**known, "fields": [*known["fields"], *new]}


def from_records(bridge: JavaBridge, records: Iterable[Any], schema: str) -> pa.Table:
    """Avro records of Hudi with the Avro schema `schema`, as Arrow."""
    encode = bridge.hudi.avro.HoodieAvroUtils.avroToBytes
    framed, count = bytearray(), 0
    for record in records:
        data = bytes(encode(record))
        framed += struct.pack(">i", len(data))
        framed += data
        count += 1
    parsed = parse_schema(schema, "the table's schema")
    rows = arrow_schema(parsed).empty_table() if count == 0 else decode_avro_columns(bytes(framed), parsed, count)
    if rows is None:
        raise EngineError("the records do not match their schema")
    return rows
