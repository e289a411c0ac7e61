"""Statistics of columns beside the values of the column: which exclude a value, which contain more than needed."""

import math

import pyarrow as pa
import pytest

from hudi_conformance.validator.checks.deep.bounds import deviation
from hudi_conformance.validator.checks.deep.file_entries import column_of
from hudi_reference.metadata.records import Bound, ColumnStats

NAN = math.nan


def entry(least: object, greatest: object, wrapper: str = "DoubleWrapper", nulls: int = 0) -> ColumnStats:
    """Statistics of a column with these bounds; None is no bound."""
    first, last = (None if one is None else Bound(wrapper, one) for one in (least, greatest))
    return ColumnStats("column", first, last, 3, nulls, 0, 0, file_name="file")


@pytest.mark.parametrize(
    ("values", "least", "greatest", "is_narrow"),
    [
        ([1.0, 2.0], 1.0, 2.0, None),
        ([1.0, 2.0], 1.5, 2.0, True),
        ([1.0, 2.0], 1.0, 1.5, True),
        ([1.0, 2.0], 0.0, 2.0, False),
        ([1.0, 2.0], 1.0, 9.0, False),
        ([-0.0, 0.0], 0.0, -0.0, None),
        ([1.0, NAN], 1.0, 1.0, True),
        ([1.0, NAN], 1.0, NAN, None),
        ([NAN, NAN], 0.0, 0.0, True),
        ([NAN, NAN], NAN, NAN, None),
        ([1.0, 2.0], None, 2.0, None),
        ([None, None], 5.0, 5.0, None),
    ],
)
def test_bounds_of_floating_point_numbers(
    values: list[float | None], least: float | None, greatest: float, is_narrow: bool | None
) -> None:
    """MDT-010, ER-164: a NaN is greater than all numbers, so that bounds without a NaN exclude it."""
    found = deviation(entry(least, greatest, nulls=values.count(None)), pa.chunked_array([pa.array(values, pa.float64())]))
    assert (None if found is None else found.is_narrow) == is_narrow


@pytest.mark.parametrize(
    ("least", "greatest", "is_narrow"),
    [(1, 3, None), (2, 3, True), (1, 2, True), (0, 3, False), (1, 4, False), (None, 3, None)],
)
def test_bounds_of_whole_numbers(least: int | None, greatest: int, is_narrow: bool | None) -> None:
    """MDT-010, MDT-014: bounds that exclude a value, and bounds that are wider than the values."""
    found = deviation(entry(least, greatest, "LongWrapper"), pa.chunked_array([[1, 2, 3]]))
    assert (None if found is None else found.is_narrow) == is_narrow


@pytest.mark.parametrize(
    ("least", "greatest", "is_narrow"),
    [
        ("\uff71", "\U0001f600", None),
        ("\U0001f600", "\uff71", True),
        ("\uff71", "\uff71", True),
        ("a", "\U0001f600", False),
        (None, "\U0001f600", None),
    ],
)
def test_bounds_of_texts(least: str | None, greatest: str, is_narrow: bool | None) -> None:
    """MDT-010, ER-266: the order is that of characters. Bounds in the order of UTF-16 units exclude all values."""
    found = deviation(entry(least, greatest, "StringWrapper"), pa.chunked_array([["\uff71", "\U0001f600"]]))
    assert (None if found is None else found.is_narrow) == is_narrow


@pytest.mark.parametrize(
    ("least", "greatest", "is_narrow"), [(1, 3, None), (2, 3, True), (1, 2, True), (0, 3, False), (1, 4, False)]
)
@pytest.mark.parametrize(("kind", "wrapper"), [(pa.date32(), "DateWrapper"), (pa.timestamp("us"), "TimestampMicrosWrapper")])
def test_bounds_of_dates_and_times(kind: pa.DataType, wrapper: str, least: int, greatest: int, is_narrow: bool | None) -> None:
    """MDT-010: statistics have numbers of days or of microseconds."""
    found = deviation(entry(least, greatest, wrapper), pa.chunked_array([pa.array([1, 2, 3], kind)]))
    assert (None if found is None else found.is_narrow) == is_narrow


def test_bounds_of_another_type_exclude_all_values() -> None:
    """MDT-010: numbers as bounds of texts, and a text as a bound of numbers."""
    for wrapper, value, values in (("LongWrapper", 1, ["a"]), ("StringWrapper", "a", [1])):
        found = deviation(entry(value, value, wrapper), pa.chunked_array([values]))
        assert found is not None
        assert (found.is_narrow, found.found) == (True, wrapper)


def test_bounds_that_should_contain_a_nan_are_named() -> None:
    """ER-164: a NaN is the greatest value."""
    for values, last in (([1.0, 2.0], "2.0"), ([1.0, NAN], "NaN")):
        found = deviation(entry(1.5, 1.5), pa.chunked_array([values]))
        assert found is not None
        assert (found.expected, found.found) == (f"bounds that contain 1.0 to {last}", "1.5 to 1.5")


def test_a_column_inside_of_a_struct_is_found_by_its_path() -> None:
    """MDT-010: statistics name a field of a record by a path with dots; a column may have dots in its name, too."""
    rows = pa.table({"s": pa.array([{"v": 1, "t": {"w": 2}}]), "a.b": [3], "n": [4]})
    found = {name: column_of(rows, name) for name in ("s.v", "s.t.w", "a.b", "n", "s", "s.x", "n.v", "x")}
    texts = {name: None if one is None else one.to_pylist() for name, one in found.items()}
    assert texts == {"s.v": [1], "s.t.w": [2], "a.b": [3], "n": [4], "s": None, "s.x": None, "n.v": None, "x": None}
