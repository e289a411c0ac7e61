"""The table that the tests of Apache Hudi's adapters write: rows of (id, p, ts, n), with columns of richer types beside."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa

from hudi_conformance.contract import TableSpec

NESTED = {
    "type": "record",
    "name": "nested",
    "fields": [{"name": "a", "type": "int"}, {"name": "l", "type": {"type": "array", "items": "string"}}],
}
SCHEMA = {
    "type": "record",
    "name": "t",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "p", "type": "string"},
        {"name": "ts", "type": "long"},
        {"name": "n", "type": ["null", "int"], "default": None},
        {"name": "d", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
        {"name": "w", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "x", "type": ["null", NESTED]},
    ],
}
ARROW = pa.schema(
    {
        "id": pa.string(),
        "p": pa.string(),
        "ts": pa.int64(),
        "n": pa.int32(),
        "d": pa.decimal128(10, 2),
        "w": pa.timestamp("us", "UTC"),
        "x": pa.struct({"a": pa.int32(), "l": pa.list_(pa.string())}),
    }
)
RICH = {"d": Decimal("1.25"), "w": dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "x": {"a": 1, "l": ["q", "r"]}}
PLAIN = ("id", "p", "ts", "n")


def rows(*values: tuple[object, ...], **more: object) -> pa.Table:
    """Rows of (id, p, ts, n), all with the same further columns."""
    return pa.Table.from_pylist([dict(zip(PLAIN, value, strict=True)) | more for value in values], schema=ARROW)


def plain(found: pa.Table) -> list[tuple[object, ...]]:
    """The rows as (id, p, ts, n), in order of id."""
    return sorted(tuple(row[name] for name in PLAIN) for row in found.to_pylist())


def spec(**changes: object) -> TableSpec:
    """A merge-on-read table of one partition field that orders by ts."""
    usual = {"name": "t", "type": "MERGE_ON_READ", "schema": SCHEMA, "record_key": ("id",), "partition": ("p",)}
    return TableSpec(**({**usual, "ordering": ("ts",)} | changes))
