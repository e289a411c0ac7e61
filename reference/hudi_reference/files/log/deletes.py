"""The Avro record of a delete block's content: a list of key, partition and ordering value in a wrapper (ER-017).

A wrapper is a record with one field `value`. Integer 0 means "no ordering value": such a delete wins over every earlier version
of its key.
"""

import decimal
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import UnsupportedSchema
from hudi_reference.requirement import implements
from hudi_reference.schema.avro_codec import codec_schema

Scalar = bool | int | float | str | bytes | decimal.Decimal
#: An ordering value as stored (dates and timestamps as their numbers), or a tuple of them for several ordering fields.
Ordering = Scalar | tuple[Scalar | None, ...]

NAMESPACE = "org.apache.hudi.avro.model"
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
#: Several ordering values. Writers before 1.1 do not have this last branch; the numbers of the others are the same.
_ARRAY = {
    "type": "record",
    "name": "ArrayWrapper",
    "fields": [{"name": "wrappedValues", "type": ["null", {"type": "array", "items": _PARTS}]}],
}

DELETE_LIST = codec_schema(
    {
        "type": "record",
        "name": "HoodieDeleteRecordList",
        "namespace": NAMESPACE,
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


@implements("BLK-009", "BLK-037")
def unwrap(stored: Any) -> Ordering | None:
    """The ordering value of a delete entry as decoded; None for null and for Integer 0, which mean "none"."""
    if stored is None:
        return None
    name, record = stored
    kind = name.rpartition(".")[2]
    if kind == "ArrayWrapper":
        return tuple(None if part is None else part[1]["value"] for part in record["wrappedValues"] or ())
    value: Scalar = record["value"]
    # ER-052: Integer 0 means "no ordering value", as deployed.
    return None if kind == "IntWrapper" and value == 0 else value


@implements("BLK-009", "BLK-037")
def wrap(ordering: Ordering | None, kinds: Sequence[pa.DataType]) -> Any:
    """The wrapper record that stores an ordering value of columns of these types; Integer 0 for None."""
    if ordering is None:
        return (f"{NAMESPACE}.IntWrapper", {"value": 0})
    if isinstance(ordering, tuple):
        parts = [None if part is None else _wrap_one(part, kind) for part, kind in zip(ordering, kinds, strict=True)]
        return (f"{NAMESPACE}.ArrayWrapper", {"wrappedValues": parts})
    # Integer 0 would mean "no ordering value".
    return _wrap_one(ordering, pa.int64() if ordering == 0 and _wrapper_name(kinds[0]) == "IntWrapper" else kinds[0])


def _wrap_one(value: Scalar, kind: pa.DataType) -> tuple[str, dict[str, Any]]:
    if isinstance(value, decimal.Decimal):
        value = _rescale(value)
    return f"{NAMESPACE}.{_wrapper_name(kind)}", {"value": value}


def _rescale(value: decimal.Decimal) -> decimal.Decimal:
    try:
        return value.quantize(decimal.Decimal(1).scaleb(-15), context=decimal.Context(prec=30))
    except decimal.InvalidOperation as error:
        raise UnsupportedSchema(
            "a delete record cannot store this ordering value",
            rule="BLK-009",
            expected="15 digits before the point",
            found=str(value),
        ) from error


def _wrapper_name(kind: pa.DataType) -> str:
    for is_of_kind, name in _WRAPPER_OF:
        if is_of_kind(kind):
            return name
    raise UnsupportedSchema("a delete record cannot store values of this ordering column", rule="BLK-009", found=str(kind))


_WRAPPER_OF: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pt.is_boolean, "BooleanWrapper"),
    (pt.is_date32, "DateWrapper"),
    (pt.is_int32, "IntWrapper"),
    (pt.is_time32, "IntWrapper"),
    (pt.is_int64, "LongWrapper"),
    (pt.is_time64, "LongWrapper"),
    (pt.is_timestamp, "LongWrapper"),
    (pt.is_float32, "FloatWrapper"),
    (pt.is_float64, "DoubleWrapper"),
    (pt.is_string, "StringWrapper"),
    (pt.is_binary, "BytesWrapper"),
    (pt.is_decimal, "DecimalWrapper"),
)
