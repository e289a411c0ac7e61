"""Values are compared, not encodings; differences are reported in a readable form."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.cases.rows import Rows, canonical_rows, compare_rows
from hudi_conformance.cases.values import UnknownType, canonical_from_arrow, canonical_from_json

NESTED = {
    "type": "record",
    "name": "place",
    "fields": [{"name": "city", "type": ["null", "string"]}, {"name": "no", "type": "long"}],
}
NOON = datetime(2026, 11, 21, 12, 0, 0, 123456)


@pytest.mark.parametrize(
    ("declared", "value", "kind", "text"),
    [
        ("int", 5, pa.int32(), 5),
        ("int", 5, pa.int8(), 5),
        ("long", 2**63 - 1, pa.int64(), "9223372036854775807"),
        ("long", 7, pa.int32(), "7"),
        ("double", 0.1, pa.float64(), "0.1"),
        ("double", -0.0, pa.float64(), "-0.0"),
        ("double", 0.0, pa.float64(), "0.0"),
        ("double", float("nan"), pa.float64(), "NaN"),
        ("double", float("-inf"), pa.float64(), "-Infinity"),
        ("float", 0.1, pa.float32(), "0.1"),
        ("float", 0.10000000149011612, pa.float64(), "0.1"),
        ("string", "ü", pa.large_string(), "ü"),
        ("string", "x", pa.dictionary(pa.int32(), pa.string()), "x"),
        ("boolean", False, pa.bool_(), False),
        ("bytes", b"\x00\xff", pa.binary(), "00ff"),
        ("bytes", b"\x00\xff", pa.binary(2), "00ff"),
        ("date", date(1969, 12, 31), pa.date32(), "1969-12-31"),
        ("date", date(2026, 11, 21), pa.date64(), "2026-11-21"),
        ("timestamp-micros", NOON, pa.timestamp("us", "UTC"), "2026-11-21T12:00:00.123456Z"),
        ("timestamp-micros", NOON, pa.timestamp("us"), "2026-11-21T12:00:00.123456Z"),
        ("timestamp-micros", 1_000_000_001, pa.timestamp("ns", "UTC"), "1970-01-01T00:00:01.000000001Z"),
        ("timestamp-millis", -1, pa.timestamp("ms", "Europe/Berlin"), "1969-12-31T23:59:59.999Z"),
        ("timestamp-millis", NOON.replace(microsecond=0), pa.timestamp("s"), "2026-11-21T12:00:00Z"),
        ("local-timestamp-millis", 0, pa.timestamp("ms"), "1970-01-01T00:00:00"),
        ("decimal(10,2)", Decimal("1.50"), pa.decimal128(10, 2), "1.50"),
        ("decimal(10,2)", Decimal("1.5"), pa.decimal128(10, 1), "1.50"),
        ("decimal(10,2)", Decimal("1.505"), pa.decimal256(10, 3), "1.505"),
        ("decimal(38,0)", Decimal("9" * 38), pa.decimal128(38, 0), "9" * 38),
        (["null", "string"], None, pa.string(), None),
        ({"type": "array", "items": "long"}, [1, None], pa.list_(pa.int64()), ["1", None]),
        ({"type": "map", "values": "int"}, [("b", 2), ("a", 1)], pa.map_(pa.string(), pa.int32()), {"a": 1, "b": 2}),
        (NESTED, {"city": None, "no": 3}, pa.struct({"city": pa.string(), "no": pa.int64()}), {"city": None, "no": "3"}),
    ],
)
def test_canonical_text_does_not_depend_on_the_arrow_encoding(declared: Any, value: Any, kind: pa.DataType, text: Any):
    """Width, unit, zone and container of an Arrow value make no difference; value and declared type do."""
    found = canonical_from_arrow(pa.array([value], kind)[0], declared)
    assert (found, type(found)) == (text, type(text))


@pytest.mark.parametrize(
    ("declared", "value", "text"),
    [
        ("long", 10, "10"),
        ("long", "10", "10"),
        ("int", 10, 10),
        ("double", "NaN", "NaN"),
        ("double", -0.0, "-0.0"),
        ("double", 1, "1.0"),
        ("float", 0.1, "0.1"),
        ("bytes", "00FF", "00ff"),
        ("decimal(10,2)", "1.5", "1.50"),
        ("timestamp-micros", "2026-11-21T14:00:00.500000+02:00", "2026-11-21T12:00:00.5Z"),
        ("timestamp-micros", "1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999Z"),
        ("local-timestamp-micros", "2026-11-21 12:00:00", "2026-11-21T12:00:00"),
        ("time-micros", "01:02:03.500", "01:02:03.5"),
        (NESTED, {"no": 3}, {"city": None, "no": "3"}),
        ({"type": "map", "values": "long"}, {"b": 1, "a": 2}, {"a": "2", "b": "1"}),
    ],
)
def test_texts_of_cases_become_canonical(declared: Any, value: Any, text: Any):
    """Expected values may be written in any usual form."""
    assert repr(canonical_from_json(value, declared)) == repr(text)


@pytest.mark.parametrize(
    ("declared", "value"),
    [("long", "ten"), ("long", 1.5), ("int", True), ("bytes", "xyz"), ("date", "21.11.2026"), ("boolean", 1), ("string", 5)],
)
def test_expected_value_of_wrong_type_is_an_error(declared: str, value: Any):
    """A mistake in expected rows is found when they are loaded, and is not reported as a fault of an engine."""
    with pytest.raises(ValueError, match=r".+"):
        canonical_from_json(value, declared)


def test_value_of_another_type_is_different():
    """A text is not equal to a number with the same digits."""
    assert canonical_from_arrow(pa.scalar("10"), "long") == "'10' (string)"
    assert canonical_from_arrow(pa.scalar(10), "timestamp-micros") == "10 (int64)"


def test_struct_difference_names_additional_and_missing_fields():
    """An additional or missing field of a struct is a difference even if its value is null."""
    found = canonical_from_arrow(pa.scalar({"no": 3, "zip": None}), NESTED)
    assert found == {"city": "(no such field)", "no": "3", "zip": "None (not declared)"}


def test_map_with_duplicate_key_is_an_error():
    """Entries with a duplicate key are not dropped silently."""
    twice = pa.array([[("a", 1), ("a", 1)]], pa.map_(pa.string(), pa.int32()))[0]
    assert canonical_from_arrow(twice, {"type": "map", "values": "int"}) == [["a", 1], ["a", 1]]


def test_unknown_type_is_an_error():
    """A misspelled declared type is an error."""
    with pytest.raises(UnknownType, match="longish"):
        canonical_from_json(1, "longish")
    with pytest.raises(UnknownType, match="2 types"):
        canonical_from_json(1, ["null", "int", "string"])


def test_rows_are_a_multiset():
    """The order of rows is ignored; the number of equal rows counts."""
    a, b = {"id": "a"}, {"id": "b"}
    assert not compare_rows([a, b], [b, a])
    assert compare_rows([a], [a, a]).unexpected == (a,)
    assert compare_rows([a, a], [a]).missing == (a,)


def test_null_differs_from_empty_text():
    """A null that is returned as an empty text is a difference."""
    told = compare_rows([{"id": "a", "name": None}], [{"id": "a", "name": ""}])
    assert told.changed == (({"id": "a", "name": None}, {"id": "a", "name": ""}),)


def test_differing_rows_are_paired_by_key():
    """Differing rows are paired by key; rows without a partner are missing or unexpected."""
    expected = [{"id": "a", "v": 1}, {"id": "b", "v": 1}, {"id": "c", "v": 1}]
    found = [{"id": "a", "v": 2}, {"id": "b", "v": 1}, {"id": "d", "v": 1}]
    told = compare_rows(expected, found, ("id",))
    assert list(told.pairs()) == [
        ({"id": "a", "v": 1}, {"id": "a", "v": 2}),
        ({"id": "c", "v": 1}, None),
        (None, {"id": "d", "v": 1}),
    ]
    assert told.summary() == "1 changed (id=a); 1 missing (id=c); 1 unexpected (id=d)"


def test_default_key_is_the_first_unique_column():
    """Without a key, rows are paired by the first column whose values are all different."""
    expected = [{"p": "x", "id": "a", "v": 1}, {"p": "x", "id": "b", "v": 1}]
    told = compare_rows(expected, [{"p": "x", "id": "a", "v": 2}, expected[1]])
    assert told.key == ("id",) and len(told.changed) == 1


def test_summary_does_not_depend_on_row_order():
    """Lists of expected failures contain summaries, which must not depend on the order of rows."""
    rows = [{"id": c} for c in "abcdef"]
    assert compare_rows(rows, []).summary() == compare_rows(rows[::-1], []).summary() == "6 missing (id=a, id=b, id=c, ...)"


def test_additional_and_missing_columns_are_differences():
    """A wrong set of columns is a difference even if all other columns agree."""
    rows = Rows({"id": "string", "ts": "long"}, ({"id": "a", "ts": "1"},))
    told = rows.compare(pa.table({"id": ["a"], "extra": [1]}))
    assert (told.absent, told.strange, told.changed) == (("ts",), ("extra",), ())
    assert told.summary() == "no column ts; columns that were not requested: extra"
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array([1]), pa.array([1])], ["id", "ts", "ts"])
    assert rows.compare(twice).strange == ("ts",)


def test_empty_answer_is_compared():
    """No rows are a difference if rows are expected, and right if none are."""
    rows = Rows({"id": "string"}, ())
    assert not rows.compare(pa.table({"id": pa.array([], pa.string())}))
    assert rows.compare(pa.table({"id": ["a"]})).unexpected == ({"id": "a"},)


def test_chunks_are_ignored():
    """A column in several chunks has the same values as one in a single chunk."""
    column = pa.chunked_array([pa.array([1]), pa.array([], pa.int64()), pa.array([2])])
    assert canonical_rows(pa.table({"n": column}), {"n": "long"}) == [{"n": "1"}, {"n": "2"}]


def test_timestamps_are_compared_in_utc():
    """An instant with an offset equals the same instant in UTC."""
    berlin = datetime(2026, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    assert canonical_from_json(berlin.isoformat(), "timestamp-micros") == "2025-12-31T23:30:00Z"
