"""The fast path of Avro blocks: which values it decodes, which it leaves to the plain path, and equal results."""

import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from avro_rows import damaged, schemas_and_rows, types_and_values
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import HudiError
from hudi_reference.files.log.block import Block, BlockType
from hudi_reference.files.log.content import _avro_count, _decode_avro, encode_rows
from hudi_reference.files.log.fast.decode_columns import decode_avro_columns
from hudi_reference.schema.avro import arrow_schema


def record(*kinds: Any) -> dict[str, Any]:
    """The schema of rows with columns of these types."""
    return {"type": "record", "name": "r", "fields": [{"name": f"c{n}", "type": kind} for n, kind in enumerate(kinds)]}


def framed(*bodies: bytes) -> bytes:
    """Records, each behind its length."""
    return b"".join(struct.pack(">i", len(body)) + body for body in bodies)


def row_by_row(data: bytes, schema: dict[str, Any], count: int) -> str | None:
    """The rows that the plain code decodes; None for damaged data."""
    block = Block(BlockType.AVRO_DATA, {}, struct.pack(">ii", 3, count) + data, "f.log")
    try:
        return types_and_values(_decode_avro(block, schema, _avro_count(block)))
    except HudiError:
        return None


def by_columns(data: bytes, schema: dict[str, Any], count: int) -> pa.Table | None:
    """The rows that the fast code decodes, which have to equal those of the plain code."""
    fast = decode_avro_columns(memoryview(data), schema, count)
    if fast is not None:
        assert types_and_values(fast) == row_by_row(data, schema, count)
    return fast


@bounded(200)
@given(schemas_and_rows(), st.data())
def test_damaged_bytes_give_equal_rows_or_none(drawn: tuple[dict[str, Any], pa.Table], draw: st.DataObject) -> None:
    """BLK-021, BLK-022: damaged bytes give the same rows in both, or none in the fast code."""
    schema, rows = drawn
    by_columns(damaged(draw, encode_rows(rows, schema)[8:]), schema, rows.num_rows)


@bounded(12)
@given(schemas_and_rows(most=30), st.integers(1024, 2500), st.data())
def test_many_rows_are_decoded_alike(drawn: tuple[dict[str, Any], pa.Table], count: int, draw: st.DataObject) -> None:
    """BLK-020, BLK-022: repeated rows are all decoded; damaged ones give the same rows, or none."""
    schema, rows = drawn
    order = pa.array(np.random.default_rng(count).integers(0, rows.num_rows, count))
    data = encode_rows(rows.take(order), schema)[8:]
    assert by_columns(data, schema, count) is not None
    by_columns(damaged(draw, data, 2), schema, count)


NUMBERS = sorted(
    {sign * (2**bits + near) for bits in range(63) for near in (-1, 0, 1) for sign in (1, -1)} | {-(2**63), 2**63 - 1}
)


def test_numbers_of_every_size_are_read() -> None:
    """BLK-022: numbers of one to ten bytes, next to any others."""
    schema = record("long", ["null", {"type": "long", "logicalType": "timestamp-micros"}])
    columns = [pa.array(NUMBERS), pa.array(NUMBERS[::-1]).cast(pa.timestamp("us", "UTC"))]
    rows = pa.table(columns, schema=arrow_schema(schema))
    assert by_columns(encode_rows(rows, schema)[8:], schema, rows.num_rows).equals(rows)


@pytest.mark.parametrize("sizes", ["alike", "wide", "halves", "zeros"])
def test_records_of_any_sizes_are_found(sizes: str) -> None:
    """BLK-020, BLK-021: also if values look like lengths, and if records of other sizes follow."""
    count = 5000
    lengths = {
        "alike": np.full(count, 40),
        "wide": (np.random.default_rng(1).pareto(0.5, count) * 10).clip(0, 100_000).astype(int),
        "halves": np.repeat([1, 2000], count // 2),
        "zeros": np.full(count, 300),
    }[sizes]
    fill = struct.pack(">i", 8) * 3 if sizes == "zeros" else b"\x00\x00\x00\x2cab"
    rows = pa.table({"c0": pa.array([(fill * (n // len(fill) + 1))[:n] for n in lengths], pa.binary())})
    assert by_columns(encode_rows(rows, record("bytes"))[8:], record("bytes"), count) is not None


def test_parts_of_a_block_follow_one_another() -> None:
    """BLK-020: more rows than are read at once, whose values all differ."""
    rows = pa.table({"c0": pa.array(range(40_000), pa.int64()), "c1": [f"é{n}" if n % 7 else None for n in range(40_000)]})
    schema = record("long", ["string", "null"])
    fast = decode_avro_columns(encode_rows(rows, schema)[8:], schema, rows.num_rows)
    assert fast.equals(rows)


DOUBLES = {"type": "array", "items": "double"}
TIME = {"type": "int", "logicalType": "time-millis"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
WIDE = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 0}
TAKEN = {
    "null before": (["null", "int"], b"\x02\x03"),
    "null behind": (["int", "null"], b"\x00\x03"),
    "one branch": (["int"], b"\x00\x03"),
    "last time of a day": (TIME, b"\xfe\xef\xb2\x52"),
    "decimal with a byte to spare": (DECIMAL, b"\x06\xff\xff\x9c"),
    "decimal of sixteen bytes": (WIDE, b"\x20" + b"\xff" * 8 + b"\x80" + b"\x00" * 7),
    "decimal of nine bytes": (WIDE, b"\x12\x80" + b"\x01" * 8),
    "text of many alphabets": ("string", b"\x14a\xc3\xa9\xe2\x82\xac\xf0\x9f\xa6\x80"),
    "no text": ("string", b"\x00"),
    "list of numbers": (DOUBLES, b"\x04" + struct.pack("<dd", 1.5, -0.0) + b"\x00"),
    "list of lists": ({"type": "array", "items": DOUBLES}, b"\x04\x00\x02" + b"\x01" * 8 + b"\x00\x00"),
    "map": ({"type": "map", "values": ["null", "int"]}, b"\x04\x02a\x00\x02b\x02\x05\x00"),
}
LEFT = {
    "number with a byte to spare": ("long", b"\x82\x00"),
    "number of nine bytes with one to spare": ("long", b"\x82" * 8 + b"\x00"),
    "number of ten bytes with one to spare": ("long", b"\x82" * 9 + b"\x00"),
    "number of 65 bits": ("long", b"\xff" * 9 + b"\x02"),
    "number of eleven bytes": ("long", b"\xff" * 10 + b"\x01"),
    "int of 33 bits": ("int", b"\x80\x80\x80\x80\x10"),
    "branch that is none": (["null", "int"], b"\x04\x02"),
    "branch that is none, without a value": (["null", "int"], b"\x04"),
    "branch -1": (["null", "int"], b"\x01\x02"),
    "branch with a byte to spare": (["null", "int"], b"\x82\x00\x02"),
    "second of one branch": (["int"], b"\x02\x03"),
    "boolean 2": ("boolean", b"\x02"),
    "symbol that is none": ({"type": "enum", "name": "e", "symbols": ["A"]}, b"\x02"),
    "symbol -1": ({"type": "enum", "name": "e", "symbols": ["A"]}, b"\x01"),
    "time of the next day": (TIME, b"\x80\xf0\xb2\x52"),
    "decimal of too many digits": (DECIMAL, b"\x04\x27\x10"),
    "decimal without digits": (DECIMAL, b"\x00"),
    "decimal of seventeen bytes": (WIDE, b"\x22" + b"\x00" * 17),
    "text that is not UTF-8": ("string", b"\x02\xff"),
    "length below zero": ("string", b"\x01"),
    "length beyond the record": ("string", b"\x04a"),
    "length beyond all": ("string", b"\xfe" + b"\xff" * 8 + b"\x01"),
    "list of two blocks": (DOUBLES, b"\x02" + b"\x01" * 8 + b"\x02" + b"\x01" * 8 + b"\x00"),
    "list with its size": (DOUBLES, b"\x01\x10" + b"\x01" * 8 + b"\x00"),
    "list that another block should follow": (DOUBLES, b"\x02" + b"\x01" * 8 + b"\x02"),
    "list without an end": (DOUBLES, b"\x02" + b"\x01" * 8),
    "list of more than there is": (DOUBLES, b"\xfe\xff\xff\xff\xff\x01"),
    "map with a key twice": ({"type": "map", "values": "int"}, b"\x04\x02a\x02\x02a\x04\x00"),
    "byte behind the last value": ("int", b"\x02\x02"),
    "no byte of a value": ("int", b""),
}


@pytest.mark.parametrize("before", [[], ["string"]])
@pytest.mark.parametrize(("kind", "body"), TAKEN.values(), ids=TAKEN)
def test_values_of_writers_are_decoded(kind: Any, body: bytes, before: list[str]) -> None:
    """BLK-022: the fast code decodes every form of a value that writers store."""
    bodies = [b"\x0ehundred" * len(before) + body, b"\x02k" * len(before) + body]
    assert by_columns(framed(*bodies), record(*before, kind), 2) is not None


@pytest.mark.parametrize(("kind", "body"), LEFT.values(), ids=LEFT)
def test_damaged_and_unusual_values_are_left_to_the_plain_code(kind: Any, body: bytes) -> None:
    """BLK-022: the plain code decides whether they are valid."""
    for bodies in ([body], [body, body]):
        assert by_columns(framed(*bodies), record(kind), len(bodies)) is None


def test_characters_do_not_cross_texts() -> None:
    """BLK-022: bytes that form a character only across two texts are invalid."""
    assert by_columns(framed(b"\x02\xc3", b"\x02\xa9"), record("string"), 2) is None


@pytest.mark.parametrize("data", [b"", framed(b"\x02")[:-1], framed(b"\x02") + b"\x00", b"\xff\xff\xff\xff\x02", b"\x00\x00"])
def test_inconsistent_frames_are_left_to_the_plain_code(data: bytes) -> None:
    """BLK-020, BLK-021: truncated, longer, negative."""
    assert by_columns(data, record("int"), 1) is None


def test_long_lists_of_numbers_are_read_at_once() -> None:
    """BLK-022: elements of one size may be many."""
    rows = pa.table({"c0": pa.array([np.arange(100_000.0), [], None], pa.list_(pa.field("element", pa.float64())))})
    schema = record(["null", DOUBLES])
    assert decode_avro_columns(encode_rows(rows, schema)[8:], schema, 3).equals(rows)


def test_long_lists_of_other_values_are_left() -> None:
    """BLK-022: reading many elements in turn would take longer than row by row."""
    schema = record({"type": "array", "items": "string"})
    rows = pa.table([pa.array([["a"] * 10_000])], schema=arrow_schema(schema))
    assert by_columns(encode_rows(rows, schema)[8:], schema, 1) is None
