"""Comparisons of columns with constants: the filters of a query."""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import InvalidQuery
from hudi_reference.requirement import implements

#: A comparison of a column with a constant.
Comparison = tuple[str, str, Any]

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def matching_rows(rows: pa.Table, where: Iterable[Comparison]) -> pa.Table:
    """The rows for which all comparisons hold."""
    for column, operator, value in where:
        rows = rows.filter(compare(rows.column(column), operator, value))
    return rows


@implements("MRG-015")
def compare(column: pa.ChunkedArray, operator: str, value: Any) -> pa.ChunkedArray:
    """For each value whether the comparison with the constant holds; null for null. Raises InvalidQuery."""
    if operator not in _OPERATORS:
        raise InvalidQuery("unknown comparison", expected=" ".join(_OPERATORS), found=operator)
    try:
        return _OPERATORS[operator](column, constant(column.type, value))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError) as error:
        raise InvalidQuery("the comparison does not fit the column", expected=str(column.type), found=repr(value)) from error


def constant(kind: pa.DataType, value: Any) -> pa.Scalar:
    """The constant of a comparison with a column of that type; a text is read as a value of the type."""
    found = pa.scalar(value)
    return found.cast(kind) if pa.types.is_string(found.type) and not pa.types.is_string(kind) else found
