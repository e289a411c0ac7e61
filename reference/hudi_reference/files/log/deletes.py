"""The Avro record of a delete block's content: a list of key, partition and ordering value in a wrapper (ER-017).

A wrapper is a record with one field `value`, so it costs only the number of its branch. Integer 0 stands for "no ordering
value": such a delete wins over every earlier version of its key.
"""

import datetime
import decimal
from typing import Any

import fastavro

from hudi_reference.requirement import implements

Scalar = bool | int | float | str | bytes | decimal.Decimal | datetime.date | datetime.datetime
#: An ordering value as stored: one value, or a tuple where the table has several ordering fields.
Ordering = Scalar | tuple[Scalar | None, ...]

_NAMESPACE = "org.apache.hudi.avro.model"
_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15}


def _wrapper(name: str, avro_type: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": "value", "type": avro_type}]}


_WRAPPERS = [
    _wrapper("BooleanWrapper", "boolean"),
    _wrapper("IntWrapper", "int"),
    _wrapper("LongWrapper", "long"),
    _wrapper("FloatWrapper", "float"),
    _wrapper("DoubleWrapper", "double"),
    _wrapper("BytesWrapper", "bytes"),
    _wrapper("StringWrapper", "string"),
    _wrapper("DateWrapper", "int"),
    _wrapper("DecimalWrapper", _DECIMAL),
    _wrapper("TimeMicrosWrapper", "long"),
    _wrapper("TimestampMicrosWrapper", "long"),
]
_PARTS = ["null", *(wrapper["name"] for wrapper in _WRAPPERS), _wrapper("LocalDateWrapper", "int")]
#: Several ordering values; writers before 1.1 do not know this branch, and number the others alike.
_ARRAY = {
    "type": "record",
    "name": "ArrayWrapper",
    "fields": [{"name": "wrappedValues", "type": ["null", {"type": "array", "items": _PARTS}]}],
}

DELETE_LIST = fastavro.parse_schema(
    {
        "type": "record",
        "name": "HoodieDeleteRecordList",
        "namespace": _NAMESPACE,
        "fields": [
            {
                "name": "deleteRecordList",
                "type": {
                    "type": "array",
                    "items": {
                        "type": "record",
                        "name": "HoodieDeleteRecord",
                        "fields": [
                            {"name": "recordKey", "type": ["null", "string"], "default": None},
                            {"name": "partitionPath", "type": ["null", "string"], "default": None},
                            {"name": "orderingVal", "type": ["null", *_WRAPPERS, _ARRAY], "default": None},
                        ],
                    },
                },
            }
        ],
    }
)


@implements("BLK-009")
def unwrap(stored: Any) -> Ordering | None:
    """The ordering value of a delete entry as decoded; None for null and for Integer 0, which mean "none"."""
    if stored is None:
        return None
    name, record = stored
    kind = name.rpartition(".")[2]
    if kind == "ArrayWrapper":
        return tuple(None if part is None else part[1]["value"] for part in record["wrappedValues"] or ())
    value: Scalar = record["value"]
    return None if kind == "IntWrapper" and value == 0 else value


@implements("BLK-009")
def wrap(ordering: Ordering | None) -> Any:
    """The wrapper record that stores an ordering value; Integer 0 for None."""
    if ordering is None:
        return (f"{_NAMESPACE}.IntWrapper", {"value": 0})
    if isinstance(ordering, tuple):
        parts = [None if part is None else _wrap_one(part) for part in ordering]
        return (f"{_NAMESPACE}.ArrayWrapper", {"wrappedValues": parts})
    return _wrap_one(ordering)


def _wrap_one(value: Scalar) -> tuple[str, dict[str, Any]]:
    match value:
        case bool():
            kind = "BooleanWrapper"
        case int():
            kind = "LongWrapper"
        case float():
            kind = "DoubleWrapper"
        case str():
            kind = "StringWrapper"
        case bytes():
            kind = "BytesWrapper"
        case decimal.Decimal():
            kind, value = "DecimalWrapper", value.quantize(decimal.Decimal(1).scaleb(-15))
        case _:
            raise TypeError(f"no wrapper for an ordering value of type {type(value).__name__}")
    return f"{_NAMESPACE}.{kind}", {"value": value}
