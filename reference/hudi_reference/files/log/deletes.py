"""The Avro record of a delete block's content: a list of key, partition and ordering value in a wrapper (ER-017).

A wrapper is a record with one field `value`, so it costs only the number of its branch. Integer 0 stands for "no ordering
value": such a delete wins over every earlier version of its key.
"""

import decimal
from collections.abc import Callable, Sequence
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import UnsupportedSchema
from hudi_reference.requirement import implements

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
#: Several ordering values; writers before 1.1 do not know this branch, and number the others alike.
_ARRAY = {
    "type": "record",
    "name": "ArrayWrapper",
    "fields": [{"name": "wrappedValues", "type": ["null", {"type": "array", "items": _PARTS}]}],
}

#: The branch of an Integer, and the number 0.
_NO_ORDERING = b"\x04\x00"
DELETE_LIST = fastavro.parse_schema(
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


@implements("BLK-009")
def plain_deletes(data: memoryview) -> list[tuple[str, str]] | None:
    """Key and partition of each entry, if the list is of the commonest form: entries without ordering value, short texts.

    That is: one block of the list; in every entry a key and a partition of less than 64 bytes, and Integer 0. None for every
    other list, and for one that is damaged.
    """
    found, stored = [], bytes(data)
    try:
        count, place = _number(stored, 0)
        for _ in range(count):
            key, place = _short_text(stored, place)
            partition, place = _short_text(stored, place)
            if stored[place : place + 2] != _NO_ORDERING:
                return None
            place += 2
            found.append((key, partition))
    except (ValueError, IndexError):  # UnicodeDecodeError too
        return None
    return found if found and stored[place:] == b"\0" else None


def _number(stored: bytes, place: int) -> tuple[int, int]:
    """An unsigned number at a place, as Avro stores it with a sign, and the place behind it. Raises IndexError, ValueError."""
    raw, shift = 0, 0
    while stored[place] >= 0x80:
        raw |= (stored[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    raw |= stored[place] << shift
    if raw & 1 or (shift and not stored[place]):
        raise ValueError("a negative number, or one that is not in its shortest form")
    return raw >> 1, place + 1


def _short_text(stored: bytes, place: int) -> tuple[str, int]:
    """A text in a union with null, and the place behind it. Raises IndexError and ValueError for another form."""
    branch, size = stored[place], stored[place + 1]
    end = place + 2 + (size >> 1)
    if branch != 2 or size & 0x81 or end > len(stored):
        raise ValueError("a null, a long text, or one that is cut")
    return stored[place + 2 : end].decode(), end


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
def wrap(ordering: Ordering | None, kinds: Sequence[pa.DataType]) -> Any:
    """The wrapper record that stores an ordering value of columns of these types; Integer 0 for None."""
    if ordering is None:
        return (f"{NAMESPACE}.IntWrapper", {"value": 0})
    if isinstance(ordering, tuple):
        parts = [None if part is None else _wrap_one(part, kind) for part, kind in zip(ordering, kinds, strict=True)]
        return (f"{NAMESPACE}.ArrayWrapper", {"wrappedValues": parts})
    return _wrap_one(ordering, kinds[0])


def _wrap_one(value: Scalar, kind: pa.DataType) -> tuple[str, dict[str, Any]]:
    if isinstance(value, decimal.Decimal):
        value = _rescaled(value)
    elif value == 0 and _wrapper_name(kind) == "IntWrapper":
        kind = pa.int64()  # Integer 0 would mean "no ordering value"
    return f"{NAMESPACE}.{_wrapper_name(kind)}", {"value": value}


def _rescaled(value: decimal.Decimal) -> decimal.Decimal:
    try:
        return value.quantize(decimal.Decimal(1).scaleb(-15), context=decimal.Context(prec=30))
    except decimal.InvalidOperation as error:
        raise UnsupportedSchema(
            "no delete record can hold this ordering value",
            rule="BLK-009",
            expected="15 digits before the point",
            found=str(value),
        ) from error


def _wrapper_name(kind: pa.DataType) -> str:
    for is_of_kind, name in _WRAPPER_OF:
        if is_of_kind(kind):
            return name
    raise UnsupportedSchema("no delete record can hold this ordering column", rule="BLK-009", found=str(kind))


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
