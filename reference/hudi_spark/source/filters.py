"""Filters of Spark as comparisons of the reference.

A filter is pushed down where both mean the same for every value: on integers, texts, booleans, dates, decimals and timestamps,
and tests for null on every type. Spark keeps the others, on floating-point numbers: it treats NaN as the greatest number.
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from hudi_reference.query.pruning.predicates import NULL_TESTS, PREFIX, Comparison
from hudi_reference.schema.fields import type_at

_OPERATORS: dict[type[Filter], str] = {
    EqualTo: "=",
    EqualNullSafe: "=",
    GreaterThan: ">",
    GreaterThanOrEqual: ">=",
    LessThan: "<",
    LessThanOrEqual: "<=",
    In: "in",
    StringStartsWith: PREFIX,
    IsNull: "is",
    IsNotNull: "is not",
}


def comparison_of(pushed: Filter, schema: pa.Schema) -> Comparison | None:
    """The comparison that holds for the same rows; None if there is none, so that the filter stays with Spark.

    `schema` has the Arrow types of the query's columns, as the reference reads them.
    """
    comparison = _comparison(pushed)
    return comparison if comparison is not None and _fits(comparison, schema) else None


def _comparison(found: Filter) -> Comparison | None:
    if isinstance(found, Not):
        inner = found.child
        return (".".join(inner.attribute), "!=", inner.value) if isinstance(inner, EqualTo) else None
    name, value = ".".join(getattr(found, "attribute", ())), getattr(found, "value", None)
    if isinstance(found, EqualNullSafe) and value is None:
        return None
    if isinstance(found, In):
        value = [one for one in found.value if one is not None]
    operator = _OPERATORS.get(type(found))
    return None if operator is None else (name, operator, value)


def _fits(comparison: Comparison, schema: pa.Schema) -> bool:
    """Whether the reference compares the column with each constant as Spark does."""
    name, operator, value = comparison
    kind = type_at(schema, name)
    if operator in NULL_TESTS:
        return kind is not None
    return kind is not None and all(_is_constant_of(kind, one) for one in (value if operator == "in" else [value]))


def _is_constant_of(kind: pa.DataType, value: Any) -> bool:
    is_kind = _KINDS.get(type(value))
    return is_kind is not None and bool(is_kind(kind, value))


def _is_timestamp(kind: pa.DataType, value: datetime.datetime) -> bool:
    return pt.is_timestamp(kind) and kind.unit == "us" and (kind.tz is None) == (value.tzinfo is None)


#: Type of a constant -> whether a column has values of this type.
_KINDS: dict[type, Callable[[pa.DataType, Any], bool]] = {
    bool: lambda kind, _: pt.is_boolean(kind),
    int: lambda kind, _: pt.is_integer(kind),
    str: lambda kind, _: pt.is_string(kind),
    Decimal: lambda kind, _: pt.is_decimal(kind),
    datetime.datetime: _is_timestamp,
    datetime.date: lambda kind, _: pt.is_date(kind),
}
