"""The Avro schemas of the metadata table's records: those that Apache Hudi 1.0 and 1.1 store, in tables of version 8 and 9.

The later one has the types of values, and lists of values as bounds. A reader takes the schema that a file holds, which may
have more fields; a writer stores that of its table version, or the later one if the table has it already.
"""

import json
from typing import Any

from hudi_reference.schema.avro import META_COLUMNS, AvroSchema, ParsedSchema

NAMESPACE = "org.apache.hudi.avro.model"
#: Strings of Java classes have this property; readers ignore it.
_STRING = {"type": "string", "avro.java.string": "String"}
#: Decimal bounds have one precision and scale, whatever those of their column.
DECIMAL_PRECISION, DECIMAL_SCALE = 30, 15
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": DECIMAL_PRECISION, "scale": DECIMAL_SCALE}

#: The wrappers of bounds, in the order of the union's branches after null.
WRAPPERS: dict[str, Any] = {
    "BooleanWrapper": "boolean",
    "IntWrapper": "int",
    "LongWrapper": "long",
    "FloatWrapper": "float",
    "DoubleWrapper": "double",
    "BytesWrapper": "bytes",
    "StringWrapper": _STRING,
    "DateWrapper": "int",
    "DecimalWrapper": DECIMAL,
    "TimeMicrosWrapper": {"type": "long", "logicalType": "time-micros"},
    "TimestampMicrosWrapper": "long",
    "LocalDateWrapper": "int",
}


def _record(name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def _field(name: str, avro_type: Any) -> dict[str, Any]:
    return {"name": name, "type": avro_type}


def _nullable(name: str, *branches: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", *branches], "default": None}


_FILE_INFO = _record("HoodieMetadataFileInfo", _field("size", "long"), _field("isDeleted", "boolean"))

_BLOOM_FILTER = _record(
    "HoodieMetadataBloomFilter",
    _field("type", _STRING),
    _field("timestamp", _STRING),
    _field("bloomFilter", "bytes"),
    _field("isDeleted", "boolean"),
)

_WRAPPER_RECORDS = [_record(name, _field("value", avro_type)) for name, avro_type in WRAPPERS.items()]
#: The wrapper of a list of values, in its wrappers.
ARRAY, ARRAY_VALUES = "ArrayWrapper", "wrappedValues"
_ARRAY_RECORD = _record(ARRAY, _nullable(ARRAY_VALUES, {"type": "array", "items": ["null", *WRAPPERS]}))
#: The name of the type that the later schema has and the earlier one lacks.
VALUE_TYPE = "HoodieValueTypeInfo"
_VALUE_TYPE = _record(VALUE_TYPE, _field("typeOrdinal", "int"), _nullable("additionalInfo", _STRING))


def _column_stats(wrappers: list[dict[str, Any]], *later: dict[str, Any]) -> dict[str, Any]:
    return _record(
        "HoodieMetadataColumnStats",
        _nullable("fileName", _STRING),
        _nullable("columnName", _STRING),
        _nullable("minValue", *wrappers),
        _nullable("maxValue", *(one["name"] for one in wrappers)),
        *(_nullable(name, "long") for name in ("valueCount", "nullCount", "totalSize", "totalUncompressedSize")),
        _field("isDeleted", "boolean"),
        {"name": "isTightBound", "type": "boolean", "default": False},
        *later,
    )


_RECORD_INDEX = _record(
    "HoodieRecordIndexInfo",
    _nullable("partitionName", _STRING),
    _nullable("fileIdHighBits", "long"),
    _nullable("fileIdLowBits", "long"),
    _nullable("fileIndex", "int"),
    _nullable("fileId", _STRING),
    _nullable("instantTime", "long"),
    {"name": "fileIdEncoding", "type": "int", "default": 0},
    _nullable("position", "long"),
)

_SECONDARY_INDEX = _record("HoodieSecondaryIndexInfo", _field("isDeleted", "boolean"))


def _schema(column_stats: dict[str, Any]) -> AvroSchema:
    members = {
        **_record(
            "HoodieMetadataRecord",
            *(_nullable(name, "string") for name in META_COLUMNS),
            _field("key", _STRING),
            _field("type", "int"),
            _field("filesystemMetadata", ["null", {"type": "map", "values": _FILE_INFO, "avro.java.string": "String"}]),
            _nullable("BloomFilterMetadata", _BLOOM_FILTER),
            _nullable("ColumnStatsMetadata", column_stats),
            _nullable("recordIndexMetadata", _RECORD_INDEX),
            _nullable("SecondaryIndexMetadata", _SECONDARY_INDEX),
        ),
        "namespace": NAMESPACE,
    }
    return ParsedSchema(json.dumps(members), members)


#: The record of every partition, in tables of version 8 and 9. The meta columns exist but are empty.
SCHEMA: AvroSchema = _schema(_column_stats(_WRAPPER_RECORDS))
SCHEMA_9: AvroSchema = _schema(_column_stats([*_WRAPPER_RECORDS, _ARRAY_RECORD], _nullable("valueType", _VALUE_TYPE)))


def schema_of(version: int) -> AvroSchema:
    """The schema that writers store in metadata tables of that table version."""
    return SCHEMA if version < 9 else SCHEMA_9
