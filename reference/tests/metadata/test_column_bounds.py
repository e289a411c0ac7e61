"""Statistics of files and comparisons: a file is skipped only if none of its values can satisfy the comparison."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_reference.metadata.lookup.column_bounds import may_hold
from hudi_reference.metadata.records import Bound, ColumnStats
from hudi_reference.query.pruning.predicates import compare

NAN = float("nan")
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


def stats(wrapper: str, least: Any, greatest: Any, values: int | None = 9, nulls: int | None = 1, **more: Any) -> ColumnStats:
    """Statistics of a column with these bounds; None is a missing bound."""
    low, high = (None if bound is None else Bound(wrapper, bound) for bound in (least, greatest))
    return ColumnStats("c", low, high, values, nulls, 0, 0, file_name="f", **more)


def skips(found: ColumnStats | None, kind: pa.DataType, operator: str, value: Any) -> bool:
    """Whether the file is skipped."""
    return may_hold([found], kind, operator, value) == [False]


@pytest.mark.parametrize(
    ("operator", "value", "skipped"),
    [
        ("=", 4, True), ("=", 5, False), ("=", 7, False), ("=", 8, True), ("=", "8", True), ("<", 5, True), ("<", 6, False),
        ("<=", 4, True), ("<=", 5, False), (">", 7, True), (">", 6, False), (">=", 8, True), (">=", 7, False),
        ("!=", 6, False), ("!=", 9, False), ("in", [1, 2, 9], True), ("in", [1, 6], False), ("in", [], True),
    ],
)  # fmt: skip
def test_bounds_decide_comparisons(operator: str, value: Any, skipped: bool) -> None:
    """MDT-010: with bounds 5 and 7, for every comparison."""
    assert skips(stats("IntWrapper", 5, 7), pa.int32(), operator, value) is skipped


@pytest.mark.parametrize(
    ("prefix", "skipped"),
    [
        ("", False),
        ("o", False),
        ("or", False),
        ("os", False),
        ("p", False),
        ("n", True),
        ("oq", True),
        ("pa", True),
        ("oa", True),
    ],
)
def test_a_prefix_may_be_below_the_least_value(prefix: str, skipped: bool) -> None:
    """MDT-010, ER-271: a file of orkdal, oslo and p may have a text with each prefix between their first characters."""
    assert skips(stats("StringWrapper", "orkdal", "p"), pa.string(), "starts with", prefix) is skipped


@pytest.mark.parametrize(
    ("found", "without_null", "without_value"),
    [
        (stats("IntWrapper", 5, 7, nulls=0), True, False),
        (stats("IntWrapper", 5, 7, nulls=1), False, False),
        (stats("IntWrapper", 0, 0, values=3, nulls=3), False, True),
        (stats("IntWrapper", None, None, values=0, nulls=0), True, True),
        (stats("IntWrapper", 5, 7, nulls=None), False, False),
        (stats("IntWrapper", 5, 7, values=None, nulls=3), False, False),
        (stats("IntWrapper", 5, 7, nulls=0, is_deleted=True), False, False),
        (None, False, False),
    ],
)
def test_numbers_of_nulls_decide_tests_for_null(found: ColumnStats | None, without_null: bool, without_value: bool) -> None:
    """MDT-010: a file is skipped only if its statistics count nulls, and count none, or nothing else."""
    assert skips(found, pa.int32(), "is", None) is without_null
    assert skips(found, pa.int32(), "is not", None) is without_value


@pytest.mark.parametrize(("value", "skipped"), [(5, True), (6, False)])
def test_a_file_of_one_value_is_skipped_by_unequal(value: int, skipped: bool) -> None:
    """MDT-010: a file whose values all equal the constant has none that differs."""
    assert skips(stats("LongWrapper", 5, 5), pa.int64(), "!=", value) is skipped


@pytest.mark.parametrize(
    "found",
    [
        None,
        stats("IntWrapper", 0, 0, values=3, nulls=3),
        stats("IntWrapper", 5, 7, values=None),
        stats("IntWrapper", 5, 7, nulls=None),
        stats("IntWrapper", 5, 7, is_deleted=True),
        stats("IntWrapper", None, None),
        stats("StringWrapper", "a", "b"),
        stats("DoubleWrapper", 5.0, 7.0),
    ],
)
def test_unknown_bounds_skip_nothing(found: ColumnStats | None) -> None:
    """MDT-010: no statistics, those of nulls alone, deleted ones, and bounds of another type decide nothing."""
    assert not any(skips(found, pa.int32(), operator, 9) for operator in OPERATORS)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_a_file_with_a_long_text_may_have_values(kind: pa.DataType) -> None:
    """MDT-010, ER-164: deployed writers count all values as nulls if one has more than 4096 bytes."""
    found = stats("StringWrapper", None, None, values=3, nulls=3)
    assert not skips(found, kind, "is not", None)
    assert not skips(found, kind, "is", None)
    assert skips(found, pa.int32(), "is not", None)


def test_a_file_without_values_is_skipped() -> None:
    """MDT-010: a log file that only deletes records adds no value to its slice."""
    assert skips(stats("IntWrapper", None, None, values=0, nulls=0), pa.int32(), "=", 9)


@pytest.mark.parametrize("bounds", [(0.0, 0.0), (-0.0, 0.0), (NAN, NAN), (1.0, NAN), (NAN, 1.0)])
def test_bounds_of_a_file_with_a_nan_skip_nothing(bounds: tuple[float, float]) -> None:
    """MDT-010: deployed writers store 0.0 to 0.0 for a base file with a NaN, and NaN for a log file with one."""
    for operator in OPERATORS:
        assert not skips(stats("DoubleWrapper", *bounds), pa.float64(), operator, 9.0)


def test_a_nan_differs_from_every_value() -> None:
    """MDT-010: a NaN may be in a file whose bounds do not show it, and `!=` holds for it."""
    assert not skips(stats("FloatWrapper", 5.0, 5.0), pa.float32(), "!=", 5.0)


@pytest.mark.parametrize(
    ("least", "greatest", "operator", "value", "skipped"),
    [
        ("a", "c", "=", "d", True), ("a", "c", "=", "\U0001f600", True), ("\U0001f600", "\uffff", "=", "\ue000", False),
        ("a", "\uffff", ">", "\U0001f600", False), ("a", "\uffff", "<", "A", True),
    ],
)  # fmt: skip
def test_texts_whose_order_depends_on_the_encoding(least: str, greatest: str, operator: str, value: str, skipped: bool) -> None:
    """MDT-010: Java orders texts by UTF-16 units, so a bound with characters from U+D800 on is none for the reader."""
    assert skips(stats("StringWrapper", least, greatest), pa.string(), operator, value) is skipped


@pytest.mark.parametrize(
    ("found", "kind", "operator", "value", "skipped"),
    [
        (stats("IntWrapper", 5, 7), pa.int64(), "=", 8, True),
        (stats("IntWrapper", 5, 7), pa.float64(), ">", 7.5, True),
        (stats("IntWrapper", 16777216, 16777217), pa.float32(), "=", 16777216.0, False),
        (stats("IntWrapper", 2, 10), pa.string(), "=", "3", False),
        (stats("FloatWrapper", 1.5, 2.5), pa.float64(), "<", 1.5, True),
        (stats("LongWrapper", 5, 2**40), pa.int32(), ">", 2**33, False),
        (stats("DecimalWrapper", Decimal("1.230000000000000"), Decimal("4.5")), pa.decimal128(10, 2), ">", Decimal("4.50"), True),
        (stats("DecimalWrapper", Decimal("1.239"), Decimal("4.5")), pa.decimal128(10, 2), "=", Decimal("1.23"), False),
        (stats("DateWrapper", 18262, 18263), pa.date32(), "=", datetime.date(2020, 1, 3), True),
        (stats("DateWrapper", 18262, 18263), pa.date32(), "=", "2020-01-02", False),
        (stats("LongWrapper", 0, 10**6), pa.timestamp("us", "UTC"), ">", datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.UTC), True),
        (stats("LongWrapper", 0, 1), pa.timestamp("ms", "UTC"), ">", datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), False),
        (stats("BytesWrapper", b"\x01", b"\x02"), pa.binary(), "=", b"\xff", False),
        (stats("BooleanWrapper", False, False), pa.bool_(), "=", True, True),
    ],
)  # fmt: skip
def test_bounds_of_every_type(found: ColumnStats, kind: pa.DataType, operator: str, value: Any, skipped: bool) -> None:
    """MDT-014: bounds are compared in the order of the column's present type, or not at all."""
    assert skips(found, kind, operator, value) is skipped


@given(st.lists(st.none() | st.integers(-4, 4), min_size=1), st.sampled_from(OPERATORS), st.integers(-5, 5))
def test_no_file_with_a_matching_value_is_skipped(values: list[int | None], operator: str, value: int) -> None:
    """MDT-010: over random values with nulls."""
    present = [one for one in values if one is not None]
    bounds = (min(present), max(present)) if present else (0, 0)
    found = stats("IntWrapper", *bounds, values=len(values), nulls=values.count(None))
    matches = compare(pa.chunked_array([pa.array(values, pa.int32())]), operator, value).to_pylist()
    assert not (any(matches) and skips(found, pa.int32(), operator, value))
