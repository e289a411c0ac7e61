"""Comparisons of columns with constants: the filters of a query."""

from collections.abc import Callable, Collection, Iterable
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import InvalidQuery
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.schema.fields import column_at, path_of, type_at

#: A comparison of a column, or of a field of a struct as `place.city`, with a constant. The constant of `in` is a list, that of
#: `is` and `is not` is None, that of `starts with` is a text.
Comparison = tuple[str, str, Any]

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
#: Selects the texts that begin with the constant.
PREFIX = "starts with"
#: Tests for null. They hold or do not hold also for null.
NULL_TESTS: dict[str, Callable[[Any], Any]] = {"is": pc.is_null, "is not": pc.is_valid}


def matching_rows(rows: pa.Table, where: Iterable[Comparison]) -> pa.Table:
    """The rows for which all comparisons hold."""
    for name, operator, value in where:
        column = column_at(rows, name)
        if column is None:
            raise no_such_column(name, rows.schema)
        rows = rows.filter(compare(column, operator, value))
    return rows


def columns_compared(where: Iterable[Comparison], schema: pa.Schema) -> list[str]:
    """The columns of a table that comparisons need. Raises InvalidQuery as comparing rows does."""
    found = []
    for name, operator, value in where:
        kind = type_at(schema, name)
        if kind is None:
            raise no_such_column(name, schema)
        compare(pa.chunked_array([], kind), operator, value)
        found.append(path_of(schema, name)[0])
    return found


def no_such_column(name: str, schema: pa.Schema) -> InvalidQuery:
    """The error for a column that the table lacks."""
    known = [one for one in schema.names if one not in META_COLUMNS]
    return InvalidQuery("no such column", rule="TYP-007", expected=f"one of {', '.join(known)}", found=name)


@implements("MRG-015")
def compare(column: pa.ChunkedArray, operator: str, value: Any) -> pa.ChunkedArray:
    """For each value whether the comparison with the constant holds; null for null, except for `is` and `is not`.

    The constant of `in` is a list: the comparison holds for the values that equal one of its members. Raises InvalidQuery.
    """
    if operator in NULL_TESTS:
        if value is not None:
            raise InvalidQuery("the comparison is a test for null", expected="null", found=repr(value))
        return NULL_TESTS[operator](column)
    if operator == "in":
        if isinstance(value, str | bytes) or not isinstance(value, Collection):
            raise InvalidQuery("the comparison needs a list of constants", expected="a list", found=repr(value))
        found = [compare(column, "=", one) for one in value]
        return reduce(pc.or_kleene, found) if found else pc.equal(pc.is_null(column), pa.scalar(None, pa.bool_()))
    if operator == PREFIX:
        if not (pa.types.is_string(column.type) and isinstance(value, str)):
            raise InvalidQuery(
                "only texts have a prefix", expected="a text of a text column", found=f"{value!r} of {column.type}"
            )
        return pc.starts_with(column, value)
    if operator not in _OPERATORS:
        raise InvalidQuery("unknown comparison", expected=", ".join((*_OPERATORS, "in", PREFIX, *NULL_TESTS)), found=operator)
    try:
        return _OPERATORS[operator](column, constant(column.type, value))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError) as error:
        raise InvalidQuery("the comparison does not fit the column", expected=str(column.type), found=repr(value)) from error


def constants(kind: pa.DataType, operator: str, value: Any) -> list[Any]:
    """The constant of a comparison, or those of `in`, as values of the type."""
    return [constant(kind, one).as_py() for one in (value if operator == "in" else [value])]


def constant(kind: pa.DataType, value: Any) -> pa.Scalar:
    """The constant of a comparison with a column of that type; a text is read as a value of the type."""
    found = pa.scalar(value)
    return found.cast(kind) if pa.types.is_string(found.type) and not pa.types.is_string(kind) else found
