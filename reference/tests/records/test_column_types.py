"""Values of every type come back from base files and log blocks, by each decoder."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import (
    SCHEMA,
    TABLE_TYPES,
    bounded,
    data_files,
    new_table,
    rows_of,
    trip,
    trips,
)

from hudi_reference import create_table
from hudi_reference.files.log.content import encode_rows
from hudi_reference.files.log.fast.decode_columns import decode_avro_columns
from hudi_reference.schema.avro import arrow_schema
from hudi_reference.storage import MemoryStorage

COW, MOR = TABLE_TYPES
both_types = pytest.mark.parametrize("table_type", TABLE_TYPES)


TYPES: dict[str, tuple[Any, list[Any]]] = {
    "boolean": ("boolean", [True, False]),
    "int": ("int", [0, -(2**31), 2**31 - 1]),
    "long": ("long", [0, -(2**63), 2**63 - 1]),
    "float": ("float", [0.5, -0.0, float("inf"), 1.100000023841858]),
    "double": ("double", [0.1, -1e300, 5e-324]),
    "bytes": ("bytes", [b"", b"\x00\xff"]),
    "string": ("string", ["", "é日🚲", "a\0b", "x" * 1000]),
    "date": ({"type": "int", "logicalType": "date"}, [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    "time-micros": ({"type": "long", "logicalType": "time-micros"}, [datetime.time(23, 59, 59, 999999)]),
    "time-millis": ({"type": "int", "logicalType": "time-millis"}, [datetime.time(0, 0, 0, 1000)]),
    "timestamp-micros": ({"type": "long", "logicalType": "timestamp-micros"}, [
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, datetime.UTC), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)]),
    "timestamp-millis": ({"type": "long", "logicalType": "timestamp-millis"}, [datetime.datetime(2026, 1, 1, 0, 0, 0, 1000, datetime.UTC)]),
    "local-timestamp-micros": ({"type": "long", "logicalType": "local-timestamp-micros"}, [datetime.datetime(2026, 1, 1, 0, 0, 0, 1)]),
    "decimal": ({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 4}, [Decimal("-1.5000"), Decimal("9" * 30 + ".0001")]),
    "fixed-decimal": ({"type": "fixed", "name": "fd", "size": 8, "logicalType": "decimal", "precision": 10, "scale": 2}, [Decimal("-7.25")]),
    "fixed": ({"type": "fixed", "name": "f4", "size": 4}, [b"\x00\x01\x02\xff"]),
    "enum": ({"type": "enum", "name": "color", "symbols": ["RED", "BLUE"]}, ["RED", "BLUE"]),
    "uuid": ({"type": "string", "logicalType": "uuid"}, ["3fa85f64-5717-4562-b3fc-2c963f66afa6"]),
    "array": ({"type": "array", "items": ["null", "long"]}, [[], [1, None, 3]]),
    "map": ({"type": "map", "values": ["null", "string"]}, [[], [("k", "v"), ("n", None)]]),
    "record": ({"type": "record", "name": "inner", "fields": [{"name": "x", "type": ["null", "int"]}, {"name": "y", "type": "string"}]},
               [{"x": 1, "y": "z"}, {"x": None, "y": ""}]),
    "deep": ({"type": "array", "items": {"type": "record", "name": "item", "fields": [
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "int"}}}]}},
        [[], [{"tags": [("a", [1, 2])]}, {"tags": []}]]),
}  # fmt: skip


@both_types
@pytest.mark.parametrize("kind", TYPES)
def test_values_of_every_type_come_back(table_type: str, kind: str) -> None:
    """LF-020, BF-002: through base files and log blocks alike, nulls included, values as they were given."""
    avro, values = TYPES[kind]
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "v", "type": ["null", avro], "default": None}]}
    table = new_table(schema=schema, table_type=table_type)
    given_values = [*values, None]
    ids = [str(number) for number in range(len(given_values))]
    table.insert(rows_of(schema, *(trip(key, v=values[0]) for key in ids)))
    table.upsert(rows_of(schema, *(trip(key, v=value) for key, value in zip(ids, given_values, strict=True))))
    found = {row["id"]: row["v"] for row in table.snapshot(["id", "v"]).to_pylist()}
    assert [found[key] for key in ids] == given_values
    if table_type == MOR:
        assert len(data_files(table, ".log.")) == 1


LEAVES = [
    "boolean",
    "int",
    "long",
    "double",
    "bytes",
    "string",
    "date",
    "timestamp-micros",
    "decimal",
    "array",
    "record",
    "enum",
    "fixed",
]


@bounded(60)
@given(st.data(), st.lists(st.sampled_from(LEAVES), min_size=1, max_size=4, unique=True), st.integers(0, 30))
def test_columnar_decoding_is_decoding_row_by_row(data: st.DataObject, kinds: list[str], count: int) -> None:
    """BLK-022: the fast path gives the same rows and types, or leaves the block to the plain one."""
    fields = [{"name": f"c{place}", "type": TYPES[kind][0] if data.draw(st.booleans()) else ["null", TYPES[kind][0]]}
              for place, kind in enumerate(kinds)]  # fmt: skip
    schema = {"type": "record", "name": "r", "fields": fields}
    values = [
        st.sampled_from(TYPES[kind][1] + ([None] if isinstance(field["type"], list) else []))
        for kind, field in zip(kinds, fields, strict=True)
    ]
    drawn = [{f"c{place}": data.draw(value) for place, value in enumerate(values)} for _ in range(count)]
    content = encode_rows(pa.Table.from_pylist(drawn, schema=arrow_schema(schema)), schema)
    fast = decode_avro_columns(content[8:], schema, count)
    if fast is not None:
        assert fast.schema == arrow_schema(schema)
        assert fast.to_pylist() == drawn


@pytest.mark.parametrize("count", [999, 1000, 3000])
def test_blocks_of_many_rows_are_read_like_those_of_few(count: int) -> None:
    """BLK-020: nothing changes where the fast path takes over, nulls and all."""
    table = new_table(table_type=MOR)
    table.insert(trips(*(trip(str(n), "a", n) for n in range(count))))
    table.upsert(trips(*(trip(str(n), None if n % 3 else "b", -n) for n in range(count))))
    found = {row["id"]: (row["name"], row["ts"]) for row in table.snapshot(["id", "name", "ts"]).to_pylist()}
    assert found == {str(n): (None if n % 3 else "b", -n) for n in range(count)}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_vectors_blobs_and_variants_are_their_physical_types(kind):
    """TYP-020: bytes of a fixed length and records, in base files, in logs and after an update of another column."""
    vector = {"type": "fixed", "name": "v", "size": 8, "logicalType": "vector", "dimension": 2, "elementType": "FLOAT"}
    reference = {"type": "record", "name": "reference", "fields": [
        {"name": "external_path", "type": ["null", "string"], "default": None},
        {"name": "length", "type": ["null", "long"], "default": None},
    ]}  # fmt: skip
    blob = {"type": "record", "name": "blob", "logicalType": "blob", "fields": [
        {"name": "type", "type": {"type": "enum", "name": "kind", "symbols": ["INLINE", "OUT_OF_LINE"]}},
        {"name": "data", "type": ["null", "bytes"], "default": None},
        {"name": "reference", "type": ["null", reference], "default": None},
    ]}  # fmt: skip
    variant = {"type": "record", "name": "variant", "logicalType": "variant", "fields": [
        {"name": "metadata", "type": "bytes"}, {"name": "value", "type": "bytes"},
    ]}  # fmt: skip
    columns = {"vec": vector, "blob": blob, "variant": variant}
    fields = [{"name": name, "type": ["null", found], "default": None} for name, found in columns.items()]
    schema = {"type": "record", "name": "t", "fields": [{"name": "id", "type": "string"}, *fields]}
    table = create_table("x:", name="t", schema=schema, record_key=("id",), table_type=kind, version=9, storage=MemoryStorage())
    rows = [
        {"id": key, "vec": b"12345678", "variant": {"metadata": b"m", "value": b"v"},
         "blob": {"type": "INLINE", "data": b"d", "reference": {"external_path": "p", "length": 3}}}
        for key in "ab"
    ]  # fmt: skip
    table.insert(pa.Table.from_pylist(rows, schema=arrow_schema(schema)))
    rows[0] = {"id": "a", "vec": None, "variant": None, "blob": {"type": "OUT_OF_LINE", "data": None, "reference": None}}
    table.upsert(pa.Table.from_pylist(rows[:1], schema=arrow_schema(schema)))
    assert sorted(table.snapshot(list(rows[0])).select(["id", *columns]).to_pylist(), key=lambda row: row["id"]) == [
        {name: row[name] for name in ("id", *columns)} for row in rows
    ]
