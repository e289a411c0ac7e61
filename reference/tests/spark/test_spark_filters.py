"""The filters that Spark pushes, as comparisons: a pure function, without a session."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("hudi_spark.source.pushing", reason="needs the extra spark; 4.0 pushes no filters", exc_type=ImportError)

from pyspark.sql.datasource import EqualTo, GreaterThan, In, IsNotNull, IsNull, Not, StringStartsWith

from hudi_spark.source.filters import comparison_of

SCHEMA = pa.schema(
    [
        ("id", pa.string()), ("n", pa.int64()), ("f", pa.float64()), ("d", pa.date32()), ("m", pa.decimal128(9, 2)),
        ("t", pa.timestamp("us", "UTC")), ("ms", pa.timestamp("ms", "UTC")), ("s", pa.struct([("a", pa.int32())])),
    ]
)  # fmt: skip
NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("pushed", "comparison"),
    [
        (EqualTo(("id",), "a"), ("id", "=", "a")),
        (Not(EqualTo(("n",), 1)), ("n", "!=", 1)),
        (In(("n",), (1, None, 2)), ("n", "in", [1, 2])),
        (StringStartsWith(("id",), "a"), ("id", "starts with", "a")),
        (EqualTo(("d",), NOW.date()), ("d", "=", NOW.date())),
        (EqualTo(("m",), Decimal("1.00")), ("m", "=", Decimal("1.00"))),
        (GreaterThan(("t",), NOW), ("t", ">", NOW)),
        (GreaterThan(("t",), NOW.replace(tzinfo=None)), None),
        (GreaterThan(("ms",), NOW), None),
        (GreaterThan(("f",), 1.0), None),
        (EqualTo(("s", "a"), 1), ("s.a", "=", 1)),
        (Not(EqualTo(("s", "a"), 1)), ("s.a", "!=", 1)),
        (EqualTo(("s", "b"), 1), None),
        (EqualTo(("id", "a"), 1), None),
        (IsNull(("id",)), ("id", "is", None)),
        (IsNotNull(("f",)), ("f", "is not", None)),
        (IsNull(("s", "a")), ("s.a", "is", None)),
        (IsNull(("unknown",)), None),
        (Not(In(("n",), (1,))), None),
        (EqualTo(("unknown",), 1), None),
    ],
)
def test_filters_that_mean_the_same_are_pushed(pushed: Any, comparison: Any) -> None:
    """Fields of structs and tests for null are pushed; comparisons of floating-point numbers stay with Spark."""
    assert comparison_of(pushed, SCHEMA) == comparison
