"""Which Arrow types an answer may have for a type of Avro, and when their values are equal: the table of docs/contract.md.

The truth tables are written by hand; the page takes its table from the code that compares.
"""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from tools.pages.contract_types import TYPES, accepted_types

from hudi_conformance.cases.rows import parse_rows
from hudi_conformance.contract.arrow_files import read_rows

UTC = datetime.UTC
AT = datetime.datetime(2026, 1, 2, 3, 4, 5, 500_000)
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
WIDE = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2}
POINT = {"type": "record", "name": "p", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["null", "int"]}]}
LONGS = {"type": "array", "items": "long"}
COUNTS = {"type": "map", "values": "long"}
LOCAL = {"type": "long", "logicalType": "local-timestamp-micros"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
TIME = {"type": "int", "logicalType": "time-millis"}
DATE = {"type": "int", "logicalType": "date"}
TEXTS = pa.array(["a"]).dictionary_encode()


def equal(declared, expected, column):
    """Whether a column with one value is right where a case expects a value of the declared type."""
    right = parse_rows([{"c": expected}], {"c": declared})
    return not right.compare(pa.table({"c": column}))


SAME = [
    ("int", 7, pa.array([7], pa.int64())),
    ("int", 7, pa.array([7], pa.uint8())),
    ("long", "7", pa.array([7], pa.int8())),
    ("long", "9223372036854775807", pa.array([2**63 - 1], pa.uint64())),
    ("float", "0.1", pa.array([0.1], pa.float64())),
    ("float", "NaN", pa.array([float("nan")], pa.float32())),
    ("double", "0.5", pa.array([0.5], pa.float32())),
    ("double", "-Infinity", pa.array([float("-inf")])),
    ("string", "a", pa.array(["a"], pa.large_string())),
    ("string", "a", pa.array(["a"], pa.string_view())),
    ("string", "a", TEXTS),
    (["null", "string"], "a", TEXTS),
    ("long", "7", pa.array([7]).dictionary_encode()),
    ({"type": "array", "items": "string"}, ["a"], pa.ListArray.from_arrays([0, 1], TEXTS)),
    ("bytes", "0aff", pa.array([b"\x0a\xff"], pa.large_binary())),
    ("bytes", "0aff", pa.array([b"\x0a\xff"], pa.binary(2))),
    ({"type": "fixed", "name": "f", "size": 2}, "0aff", pa.array([b"\x0a\xff"])),
    ({"type": "enum", "name": "e", "symbols": ["a"]}, "a", TEXTS),
    (DATE, "2026-01-02", pa.array([AT.date()], pa.date64())),
    (TIME, "03:04:05.5", pa.array([AT.time()], pa.time64("ns"))),
    (MICROS, "2026-01-02T03:04:05.5Z", pa.array([AT], pa.timestamp("ms"))),
    (MICROS, "2026-01-02T03:04:05.5Z", pa.array([AT.replace(tzinfo=UTC)], pa.timestamp("ns", "Asia/Tokyo"))),
    (LOCAL, "2026-01-02T03:04:05.5", pa.array([AT], pa.timestamp("ns"))),
    (LOCAL, "2026-01-02T03:04:05.5", pa.array([AT.replace(tzinfo=UTC)], pa.timestamp("us", "UTC"))),
    (DECIMAL, "1.50", pa.array([Decimal("1.5")], pa.decimal32(9, 1))),
    (DECIMAL, "1.50", pa.array([Decimal("1.5")], pa.decimal256(76, 30))),
    (WIDE, "123456789012345678901234567890.50", pa.array([Decimal("123456789012345678901234567890.5")], pa.decimal256(76, 10))),
    (POINT, {"x": 1, "y": None}, pa.array([{"y": None, "x": 1}], pa.struct([("y", pa.int64()), ("x", pa.int8())]))),
    (LONGS, ["1", None], pa.array([[1, None]], pa.large_list(pa.int32()))),
    (LONGS, ["1", "2"], pa.array([[1, 2]], pa.list_(pa.int64(), 2))),
    (LONGS, ["1"], pa.array([[1]], pa.list_(pa.field("array", pa.int64())))),
    (COUNTS, {"a": "2", "b": "1"}, pa.array([[("b", 1), ("a", 2)]], pa.map_(pa.string(), pa.int64()))),
    ("long", None, pa.nulls(1)),
    (COUNTS, None, pa.nulls(1)),
    (DECIMAL, None, pa.array([None], pa.string())),
]

DIFFERENT = [
    ("int", 7, pa.array([7.0])),
    ("long", "7", pa.array([7.0])),
    ("long", "7", pa.array(["7"])),
    ("long", "7", pa.array([Decimal(7)])),
    ("double", "7.0", pa.array([7])),
    ("double", "0.1", pa.array([0.1], pa.float32())),
    ("double", "0.0", pa.array([-0.0])),
    ("boolean", True, pa.array([1])),
    ("string", "ab", pa.array([b"ab"])),
    ("string", "\u00e9", pa.array(["e\u0301"])),
    ("bytes", "6162", pa.array(["ab"])),
    (DATE, "2026-01-02", pa.array([datetime.datetime(2026, 1, 2)], pa.timestamp("us"))),
    (DATE, "2026-01-02", pa.array([20455], pa.int32())),
    (MICROS, "2026-01-02T03:04:05.5Z", pa.array([AT.isoformat()])),
    (MICROS, "2026-01-02T03:04:05.5Z", pa.array([1767323045500000])),
    (MICROS, "2026-01-02T03:04:05.5Z", pa.array([AT], pa.timestamp("us")).cast(pa.timestamp("s"), safe=False)),
    ("long", "7", pa.array([1], pa.timestamp("ns"))),
    ("string", "x", pa.array([2**60], pa.timestamp("s"))),
    (DECIMAL, "1.50", pa.array([1.5])),
    (DECIMAL, "1.50", pa.array(["1.50"])),
    (DECIMAL, "1.50", pa.array([Decimal("1.501")], pa.decimal128(10, 3))),
    (POINT, {"x": 1, "y": None}, pa.array([{"x": 1}], pa.struct([("x", pa.int32())]))),
    (POINT, {"x": 1, "y": None}, pa.array([{"x": 1, "y": None, "z": None}])),
    (LONGS, ["1", "2"], pa.array([[2, 1]])),
    (LONGS, None, pa.array([[]], pa.list_(pa.int64()))),
    (LONGS, ["1"], pa.array([[1]], pa.list_view(pa.int64()))),
    (COUNTS, {"a": "2"}, pa.array([[("a", 2), ("a", 2)]], pa.map_(pa.string(), pa.int64()))),
    (COUNTS, {"a": "2"}, pa.array([[{"key": "a", "value": 2}]])),
    (COUNTS, None, pa.array([[]], pa.map_(pa.string(), pa.int64()))),
    ("long", "0", pa.nulls(1)),
]


@pytest.mark.parametrize(("declared", "expected", "column"), SAME, ids=lambda value: str(getattr(value, "type", value))[:40])
def test_these_values_are_equal(declared, expected, column):
    """An engine may use any encoding of Arrow that keeps the value."""
    assert equal(declared, expected, column)


@pytest.mark.parametrize(
    ("declared", "expected", "column"), DIFFERENT, ids=lambda value: str(getattr(value, "type", value))[:40]
)
def test_these_values_are_wrong(declared, expected, column):
    """A value of another kind is wrong even if its text is the same; the comparison names it and does not fail."""
    assert not equal(declared, expected, column)


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS, TEXT = ["float16", "float32", "float64"], ["utf8", "large_utf8", "utf8_view"]
BINARY, TIMES = ["binary", "large_binary", "binary_view", "fixed_size_binary"], ["time32(s, ms)", "time64(us, ns)"]
MOMENTS = ["timestamp(any unit)", "timestamp(any unit, any zone)"]
ACCEPTED = {
    "boolean": ["bool"],
    "int": INTEGERS,
    "long": INTEGERS,
    "float": FLOATS,
    "double": FLOATS,
    "string, uuid": TEXT,
    "enum": TEXT,
    "bytes": BINARY,
    "fixed": BINARY,
    "date": ["date32", "date64"],
    "time-millis": TIMES,
    "time-micros": TIMES,
    "timestamp-millis, timestamp-micros": MOMENTS,
    "local-timestamp-millis, local-timestamp-micros": MOMENTS,
    "decimal": ["decimal32", "decimal64", "decimal128", "decimal256"],
    "record": ["struct"],
    "array": ["list", "large_list", "fixed_size_list"],
    "map": ["map"],
}


@pytest.mark.parametrize("row", TYPES, ids=lambda row: row.title)
def test_the_table_of_the_page_has_these_types(row):
    """What the generator finds by comparing is what the contract promises; dictionary encoding counts as the type of its values."""
    assert sorted(accepted_types(row)) == sorted(ACCEPTED[row.title])
    assert equal(row.avro, row.expected, pa.array([row.sample], row.sent))
    if not pa.types.is_nested(row.sent):
        assert equal(row.avro, row.expected, pa.array([row.sample], row.sent).dictionary_encode())


def test_columns_and_rows_have_no_order_and_every_column_is_there_once():
    """Rows are a multiset; columns are compared by name."""
    right = parse_rows([{"a": "1", "b": "x"}, {"a": "1", "b": "x"}, {"a": "2", "b": "y"}], {"a": "long", "b": "string"})
    assert not right.compare(pa.table({"b": ["y", "x", "x"], "a": [2, 1, 1]}))
    assert right.compare(pa.table({"a": [1, 2], "b": ["x", "y"]})).missing
    assert right.compare(pa.table({"a": [1, 1, 2]})).absent == ("b",)
    assert right.compare(pa.table({"a": [1, 1, 2], "b": ["x", "x", "y"], "_hoodie_file_name": ["", "", ""]})).strange


def test_files_of_other_libraries(tmp_path):
    """Several batches, compressed buffers, dictionaries that differ between batches' columns, other names of map entries."""
    entries = pa.map_(pa.field("keys", pa.string(), nullable=False), pa.field("values", pa.int64()))
    rows = pa.table({"m": pa.array([[("a", 1)], None], entries), "s": pa.array(["x", "y"]).dictionary_encode()})
    for codec in (None, "lz4", "zstd"):
        path = tmp_path / f"{codec}.arrow"
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema, options=options) as writer:
            writer.write_table(rows, max_chunksize=1)
        right = parse_rows([{"m": {"a": "1"}, "s": "x"}, {"m": None, "s": "y"}], {"m": COUNTS, "s": "string"})
        assert not right.compare(read_rows(path))
