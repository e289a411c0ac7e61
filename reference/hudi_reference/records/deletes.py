"""Which rows are deletes, spec "Record Merger > Deletes": by a flag, by the delete marker of the table, or by the operation
column.

A delete that is stored as a row has the ordering value of the row. Each of the three marks is sufficient.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.requirement import implements

IS_DELETED = "_hoodie_is_deleted"
OPERATION = "_hoodie_operation"
#: Operations that remove a row: a delete, and the image before an update.
REMOVING = ("D", "-U")


@dataclass(frozen=True)
class DeleteMarker:
    """A column, and the value that marks a row as deleted: the value's text must be equal to `value`.

    Case counts unless `ignore_case`.
    """

    column: str
    value: str
    ignore_case: bool = False


def delete_columns(marker: DeleteMarker | None) -> tuple[str, ...]:
    """The columns that mark deletes, if the table has them."""
    return (IS_DELETED, OPERATION, *((marker.column,) if marker else ()))


@implements("MRG-001", "MRG-014")
def deleted(rows: pa.Table, marker: DeleteMarker | None = None) -> pa.ChunkedArray | None:
    """For each row whether it is a delete, never null; None if the table has no column that marks deletes."""
    found: pa.ChunkedArray | None = None
    for flags in _flags(rows, marker):
        known = pc.fill_null(flags, False)
        found = known if found is None else pc.or_(found, known)
    return found


def _flags(rows: pa.Table, marker: DeleteMarker | None) -> Iterator[pa.ChunkedArray]:
    names = rows.column_names
    if IS_DELETED in names and pt.is_boolean(rows.schema.field(IS_DELETED).type):
        yield rows.column(IS_DELETED)
    if OPERATION in names:
        # ER-127: D and -U are deletes, as from release 1.1 on.
        yield pc.is_in(rows.column(OPERATION), value_set=pa.array(REMOVING))
    if marker is not None and marker.column in names:
        column = rows.column(marker.column)
        marked = [value for value in pc.unique(column).to_pylist() if value is not None and _is_marker(value, marker)]
        yield pc.is_in(column, value_set=pa.array(marked, column.type))


def _is_marker(value: Any, marker: DeleteMarker) -> bool:
    text = _text(value)
    return text.lower() == marker.value.lower() if marker.ignore_case else text == marker.value


def _text(value: Any) -> str:
    """A value as text, like Java's `toString`, for the types of delete markers: texts, booleans, integers."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def without_deletes(rows: pa.Table, marker: DeleteMarker | None = None) -> pa.Table:
    """The rows that are not deletes."""
    flags = deleted(rows, marker)
    return rows if flags is None else rows.filter(pc.invert(flags))
