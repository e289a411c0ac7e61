"""Canonical values (see `cases.values`) of records that Apache Hudi returns in Avro's binary encoding.

The codec decodes the plain types; logical types are converted here, so that conversions of the codec do not affect the
comparison.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from itertools import count
from typing import Any

import fastavro
import pyarrow as pa

from hudi_conformance.cases.values import canonical_from_arrow
from hudi_conformance.engines.support.columns import NULLS

#: Arrow types whose numbers are those that Avro stores for the logical type.
_NUMBERS: Mapping[str, pa.DataType] = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
}
_PLAIN: Mapping[str, pa.DataType] = {"float": pa.float32(), "double": pa.float64()}
#: Avro type -> Python type of its decoded values, which identifies the branch of a union.
_BUILT_IN: Mapping[str, type] = {
    "boolean": bool, "int": int, "long": int, "float": float, "double": float, "string": str, "bytes": bytes,
    "enum": str, "fixed": bytes, "array": list, "map": dict, "record": dict,
}  # fmt: skip


def canonical_rows(schema: str, records: Iterable[bytes]) -> list[dict[str, Any]]:
    """The canonical values of records written with the Avro schema of that JSON text."""
    codec = _codec(schema)
    return [codec.row(record) for record in records]


@lru_cache(maxsize=64)
def _codec(schema: str) -> "_Codec":
    return _Codec(json.loads(schema))


class _Codec:
    """One schema: parsed for the codec without logical types, and its named types by full name with them."""

    def __init__(self, schema: Any) -> None:
        _name_records(schema, count())
        self.named: dict[str, Any] = {}
        self.schema: Any = fastavro.parse_schema(schema, named_schemas=self.named)
        self.plain = fastavro.parse_schema(_without_logical_types(schema))

    def row(self, record: bytes) -> dict[str, Any]:
        stream = io.BytesIO(record)
        options = {"return_record_name": True, "return_record_name_override": True}
        found: dict[str, Any] = self.value(fastavro.schemaless_reader(stream, self.plain, None, **options), self.schema)
        return found

    def value(self, value: Any, schema: Any) -> Any:
        if value is None:
            return None
        if isinstance(schema, list):
            return self._of_branch(value, [branch for branch in schema if branch not in NULLS])
        if isinstance(schema, str):
            schema = self.named.get(schema, {"type": schema})
        kind = schema["type"]
        if not isinstance(kind, str) or kind not in _BUILT_IN:
            return self.value(value, kind)
        return self._nested[kind](self, value, schema) if kind in self._nested else _leaf(value, schema)

    def _of_branch(self, value: Any, branches: list[Any]) -> Any:
        """The value of a union.

        The codec returns the name of a record; for other types the Python type identifies the branch.
        """
        if isinstance(value, tuple):
            return self.value(value[1], value[0])
        fitting = [branch for branch in branches if isinstance(value, _BUILT_IN[self._kind(branch)])]
        return self.value(value, (fitting or branches)[0])

    def _kind(self, schema: Any) -> str:
        while not (isinstance(schema, str) and schema in _BUILT_IN):
            schema = self.named[schema]["type"] if isinstance(schema, str) else schema["type"]
        return schema

    def _record(self, value: Mapping[str, Any], schema: Any) -> dict[str, Any]:
        return {field["name"]: self.value(value[field["name"]], field["type"]) for field in schema["fields"]}

    def _array(self, value: list[Any], schema: Any) -> list[Any]:
        return [self.value(item, schema["items"]) for item in value]

    def _map(self, value: Mapping[str, Any], schema: Any) -> dict[str, Any]:
        return {key: self.value(item, schema["values"]) for key, item in sorted(value.items())}

    _nested: Mapping[str, Callable[["_Codec", Any, Any], Any]] = {"record": _record, "array": _array, "map": _map}


def _leaf(value: Any, schema: Mapping[str, Any]) -> Any:
    logical = str(schema.get("logicalType"))
    if logical in _NUMBERS:
        return canonical_from_arrow(pa.scalar(value, _NUMBERS[logical]), schema)
    if logical == "decimal":
        return _decimal(int.from_bytes(value, "big", signed=True), schema.get("scale", 0))
    if schema["type"] in _PLAIN:
        return canonical_from_arrow(pa.scalar(value, _PLAIN[schema["type"]]), schema["type"])
    if schema["type"] == "long":
        return str(value)
    return value.hex() if isinstance(value, bytes) else value


def _decimal(unscaled: int, scale: int) -> str:
    """All digits with the scale of the type, regardless of the precision of the decimal context."""
    sign, digits = int(unscaled < 0), tuple(map(int, str(abs(unscaled))))
    return format(Decimal((sign, digits, -scale)), "f")


def _name_records(schema: Any, numbers: Iterator[int]) -> None:
    """Name records that have no name: Apache Hudi 1.0.2 creates such schemas for ORC files."""
    if isinstance(schema, list):
        for branch in schema:
            _name_records(branch, numbers)
    elif isinstance(schema, dict):
        if schema["type"] == "record":
            schema.setdefault("name", f"record{next(numbers)}")
        inner = [schema["type"], schema.get("items"), schema.get("values"), *(f["type"] for f in schema.get("fields", ()))]
        _name_records([part for part in inner if not isinstance(part, str | None)], numbers)


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_logical_types(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: value for key, value in schema.items() if key != "logicalType"}
    for part in ("type", "items", "values"):
        if part in found:
            found[part] = _without_logical_types(found[part])
    if "fields" in found:
        found["fields"] = [_without_logical_types(field) for field in found["fields"]]
    return found
