"""Which of several versions of a record wins, spec "Record Merging", by the tables in `merge_tables`.

The versions of a key in a file slice are merged from the oldest on: first the base row, then the log entries in merge order.
Queries, writes and table services all use this function, so that they agree.

Versions are compared by their ordering values. A missing ordering value is the default, the number 0. Numbers of all widths are
compared as numbers, and NaN is greater than every other number. Texts are compared by their UTF-8 bytes, several fields one
after the other.
"""

import decimal
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import IncomparableOrdering, UnsupportedSchema
from hudi_reference.files.log.deletes import Ordering, Scalar
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.merge_tables import COMMIT_TIME, EVENT_TIME, Cell, Decisions, Kind, Order, Result, decisions_of
from hudi_reference.requirement import implements
from hudi_reference.schema.fields import column_at, type_at


@dataclass(frozen=True)
class Version:
    """One version of a record. `position` identifies its row for the caller."""

    kind: Kind
    ordering: Ordering | None
    position: int


#: The decision tables of the modes without a merger.
DECISIONS: dict[MergeMode, Decisions] = {
    "COMMIT_TIME_ORDERING": decisions_of(COMMIT_TIME.stored),
    "EVENT_TIME_ORDERING": decisions_of(EVENT_TIME.stored),
}


@implements("MRG-001", "MRG-008", "MRG-025", "MRG-028", "MRG-029", "MRG-030", "BLK-012")
def merge(older: Version, newer: Version, mode: MergeMode) -> Version:
    """The version that wins: the older or the newer one. Raises IncomparableOrdering."""
    cell = cell_of(DECISIONS[mode], older, newer)
    return newer if cell.result is Result.NEWER else older


@implements("MRG-028")
def cell_of(decisions: Decisions, older: Version, newer: Version) -> Cell:
    """The decision for two versions. Raises IncomparableOrdering if the tables refuse the two."""
    cells = decisions[older.kind, newer.kind]
    cell = cells.get(None) or cells[order_of(newer.ordering, older.ordering)]
    if cell.result is Result.BY_DEFAULT:
        cell = cells[compare_values(newer.ordering, older.ordering)]
    if cell.result is Result.REFUSED:
        raise incomparable(older.ordering, newer.ordering)
    return cell


@implements("MRG-003", "MRG-027", "RDR-014")
def fold(versions: Iterable[Version], mode: MergeMode) -> Version | None:
    """The version that wins of all, given oldest first; None for no versions."""
    winner: Version | None = None
    for version in versions:
        winner = version if winner is None else merge(winner, version, mode)
    return winner


@implements("MRG-019")
def orderings_of(rows: pa.Table, fields: tuple[str, ...]) -> list[Ordering | None]:
    """The ordering value of each row: a value for one field, a tuple for several, None without ordering fields."""
    if not fields:
        return [None] * rows.num_rows
    columns = [stored_values(rows, field).to_pylist() for field in fields]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def stored_values(rows: pa.Table, field: str) -> pa.ChunkedArray:
    """A column, with dates, times and timestamps as the numbers that Avro stores; `a.b` is field b of struct a.

    Raises UnsupportedSchema for a type whose values have no order.
    """
    column = column_at(rows, field)
    if column is None:
        return pa.chunked_array([pa.nulls(rows.num_rows)])
    if pt.is_nested(column.type):
        raise UnsupportedSchema(
            f"the ordering field {field} holds values that have no order", rule="MRG-019", expected="one value for a record",
            found=str(column.type), remedy="order by a field of it, or by another column",
        )  # fmt: skip
    if pt.is_date32(column.type) or pt.is_time32(column.type):
        return column.cast(pa.int32())
    return column.cast(pa.int64()) if pt.is_timestamp(column.type) or pt.is_time64(column.type) else column


def type_of(schema: pa.Schema, field: str) -> pa.DataType:
    """The type of an ordering field; the null type if there is no such column."""
    kind = type_at(schema, field)
    return pa.null() if kind is None else kind


@implements("MRG-019")
def default_of(kind: pa.DataType) -> Scalar | None:
    """The value that replaces a null ordering value of this type in comparisons; None for the null type."""
    if pt.is_string(kind) or pt.is_binary(kind):
        return "" if pt.is_string(kind) else b""
    if pt.is_decimal(kind):
        return decimal.Decimal(0)
    return None if pt.is_null(kind) else 0


@implements("MRG-019", "MRG-047")
def without_nulls(ordering: Ordering | None, kinds: Sequence[pa.DataType]) -> Ordering | None:
    """The ordering value of a row as a delete entry stores it: nulls are replaced by the default values of the columns.

    A null would mark a delete that applies whatever its ordering value, and other readers cannot compare one among several.
    """
    if isinstance(ordering, tuple):
        return tuple(default_of(kind) if part is None else part for part, kind in zip(ordering, kinds, strict=True))
    return default_of(kinds[0]) if ordering is None and kinds else ordering


@implements("MRG-028")
def order_of(newer: Ordering | None, older: Ordering | None) -> Order:
    """The order of the ordering value of the newer version relative to the older one; nulls have separate orders."""
    if newer is None:
        return Order.BOTH_NULL if older is None else Order.NEWER_NULL
    if older is None:
        return Order.OLDER_NULL
    return compare_values(newer, older) if _are_comparable(newer, older) else Order.INCOMPARABLE


@implements("MRG-019", "MRG-028", "MRG-046", "MRG-047")
def compare_values(newer: Ordering | None, older: Ordering | None) -> Order:
    """The order of two comparable values; a null is the default value."""
    left, right = _sort_key(newer), _sort_key(older)
    return Order.LOWER if left < right else Order.EQUAL if left == right else Order.GREATER


def is_lower(left: Ordering | None, right: Ordering | None) -> bool:
    """Whether `left` orders before `right`; raises IncomparableOrdering for values of different kinds."""
    if not _are_comparable(left, right):
        raise incomparable(left, right)
    return compare_values(left, right) is Order.LOWER


def incomparable(one: Ordering | None, other: Ordering | None) -> IncomparableOrdering:
    """The error for two ordering values that cannot be compared."""
    message = "two ordering values of one key cannot be compared"
    return IncomparableOrdering(message, rule="MRG-028", found=f"{one!r} and {other!r}")


def _sort_key(value: Any) -> tuple[Any, ...]:
    match value:
        case None:
            return ("number", False, 0, 1.0)
        case bool() | int() | decimal.Decimal():
            return ("number", False, value, 1.0)
        case float():
            nan = math.isnan(value)
            return ("number", nan, 0.0 if nan else value, 1.0 if value != 0 else math.copysign(1, value))
        case str():
            return ("text", value.encode())
        case bytes():
            return ("text", value)
        case _:
            return ("several", *(_sort_key(part) for part in value))


def _are_comparable(left: Any, right: Any) -> bool:
    """Whether two values can be compared, field by field; null can be compared with every value."""
    if left is None or right is None:
        return True
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(_are_comparable, left, right))
    return bool(_sort_key(left)[0] == _sort_key(right)[0])
