"""Avro column types as Spark, Arrow and Avro record schemas."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

_SIMPLE: dict[str, tuple[str, pa.DataType]] = {
    "string": ("string", pa.string()),
    "int": ("int", pa.int32()),
    "long": ("bigint", pa.int64()),
    "float": ("float", pa.float32()),
    "double": ("double", pa.float64()),
    "boolean": ("boolean", pa.bool_()),
    "bytes": ("binary", pa.binary()),
    "date": ("date", pa.date32()),
    "timestamp-micros": ("timestamp", pa.timestamp("us", tz="UTC")),
    "local-timestamp-micros": ("timestamp_ntz", pa.timestamp("us")),
}
_AVRO_LOGICAL = {
    "date": {"type": "int", "logicalType": "date"},
    "timestamp-micros": {"type": "long", "logicalType": "timestamp-micros"},
    "local-timestamp-micros": {"type": "long", "logicalType": "local-timestamp-micros"},
}


#: A decimal is `decimal(p,s)`, stored in Avro as Spark does (fixed), or `decimal-as-bytes(p,s)`.
AS_BYTES = "decimal-as-bytes"


def decimal_of(kind: str) -> tuple[int, int]:
    """Precision and scale of a decimal type."""
    precision, scale = kind.partition("(")[2].removesuffix(")").split(",")
    return int(precision), int(scale)


def declared(kind: Any, name: str) -> Any:
    """The type in expected rows, which does not depend on the encoding."""
    return kind.replace(AS_BYTES, "decimal") if isinstance(kind, str) else avro_type(kind, name, "rows")


def _avro_decimal(kind: str, namespace: str) -> dict[str, Any]:
    precision, scale = decimal_of(kind)
    logical = {"logicalType": "decimal", "precision": precision, "scale": scale}
    if kind.startswith(AS_BYTES):
        return {"type": "bytes", **logical}
    size = next(n for n in range(1, 17) if 2 ** (8 * n - 1) - 1 >= 10**precision - 1)
    return {"type": "fixed", "name": "fixed", "namespace": namespace, "size": size, **logical}


def spark_type(kind: Any) -> str:
    """The type in Spark's SQL."""
    if isinstance(kind, dict):
        if kind["type"] == "array":
            return f"array<{spark_type(kind['items'])}>"
        if kind["type"] == "map":
            return f"map<string,{spark_type(kind['values'])}>"
        return f"struct<{','.join(f'{n}:{spark_type(k)}' for n, k in kind['fields'])}>"
    return kind if kind.startswith("decimal") else _SIMPLE[kind][0]


def arrow_type(kind: Any) -> pa.DataType:
    """The type in Arrow."""
    if isinstance(kind, dict):
        if kind["type"] == "array":
            return pa.list_(pa.field("element", arrow_type(kind["items"])))
        if kind["type"] == "map":
            return pa.map_(pa.string(), arrow_type(kind["values"]))
        return pa.struct([pa.field(n, arrow_type(k)) for n, k in kind["fields"]])
    return pa.decimal128(*decimal_of(kind)) if kind.startswith("decimal") else _SIMPLE[kind][1]


def avro_type(kind: Any, name: str, namespace: str) -> Any:
    """The type of column `name` in Avro, without the null branch.

    Records and fixed types have the names that Spark uses, because Apache Hudi resolves a log record only if the names agree.
    """
    if isinstance(kind, dict):
        if kind["type"] == "array":
            return {"type": "array", "items": ["null", avro_type(kind["items"], name, namespace)]}
        if kind["type"] == "map":
            return {"type": "map", "values": ["null", avro_type(kind["values"], name, namespace)]}
        fields = _fields(kind["fields"], f"{namespace}.{name}")
        return {"type": "record", "name": name, "namespace": namespace, "fields": fields}
    if kind.startswith("decimal"):
        return _avro_decimal(kind, f"{namespace}.{name}")
    return _AVRO_LOGICAL.get(kind, kind)


def _fields(columns: Iterable[tuple[str, Any]], namespace: str) -> list[dict[str, Any]]:
    return [{"name": n, "type": ["null", avro_type(k, n, namespace)], "default": None} for n, k in columns]


def avro_record(name: str, columns: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The Avro record of a table's data columns."""
    namespace, record = f"hoodie.{name}", f"{name}_record"
    return {"type": "record", "name": record, "namespace": namespace, "fields": _fields(columns, f"{namespace}.{record}")}


def arrow_schema(columns: Iterable[tuple[str, Any]]) -> pa.Schema:
    """The Arrow schema of a table's data columns."""
    return pa.schema([pa.field(n, arrow_type(k)) for n, k in columns])
