"""Filling columns of the version that wins from the other one, as payload classes and partial update modes do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hudi_reference.records.merge_tables import Fill
from hudi_reference.records.mergers.merger import BufferedRecord, RecordContext
from hudi_reference.records.row import Row
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS

#: The value that Debezium sends for an unknown value, such as a large one that did not change.
UNAVAILABLE = "__debezium_unavailable_value"


@dataclass(frozen=True)
class Filling:
    """Which columns are filled; `unavailable` is the text that Fill.UNAVAILABLE replaces, also as bytes."""

    fill: Fill
    unavailable: str = UNAVAILABLE

    @implements("MRG-048", "MRG-049", "MRG-050", "PAY-015", "PAY-016", "PAY-018")
    def merged(
        self, older: BufferedRecord, newer: BufferedRecord, winner: BufferedRecord, context: RecordContext
    ) -> BufferedRecord:
        """The winner of two versions with columns filled from the other one; unchanged if one of them is a delete.

        A filled row has the meta columns of the newer version, which made it.
        """
        other = older if winner is newer else newer
        if winner.row is None or other.row is None or winner.is_delete or other.is_delete:
            return winner
        cells = Row.cells_of(other.row)
        taken = self._taken(Row.cells_of(winner.row), cells, context)
        if not taken:
            return winner
        meta = {name: cell for name, cell in Row.cells_of(newer.row or {}).items() if name in META_COLUMNS}
        filled = {**Row.cells_of(winner.row), **{name: cells[name] for name in taken}, **meta}
        return context.updated(winner, Row(filled))

    def _taken(self, row: Mapping[str, Any], other: Mapping[str, Any], context: RecordContext) -> list[str]:
        """The columns of the row that get another value. Cells are compared, because Python has no value for every cell."""
        lacks = _LACKS.get(self.fill)
        if lacks is None:
            return []
        shared = [name for name in row if name not in META_COLUMNS and name in other]
        return [name for name in shared if lacks(row[name], name, context, self) and not _are_equal(row[name], other[name])]


def _is_null(cell: Any) -> bool:
    return not cell.is_valid if isinstance(cell, pa.Scalar) else cell is None


def _are_equal(cell: Any, other: Any) -> bool:
    """Whether two cells, of which the first is to be filled, have the same value."""
    if _is_null(cell) or _is_null(other):
        return _is_null(cell) and _is_null(other)
    return bool(_value_of(cell) == _value_of(other))


def _value_of(cell: Any) -> Any:
    return cell.as_py() if isinstance(cell, pa.Scalar) else cell


def _is_default(cell: Any, name: str, context: RecordContext, filling: Filling) -> bool:
    default = context.defaults.get(name)
    return _is_null(cell) if default is None else bool(not _is_null(cell) and _value_of(cell) == default)


def _is_unavailable(cell: Any, name: str, context: RecordContext, filling: Filling) -> bool:
    if isinstance(cell, pa.Scalar) and not isinstance(cell, _TEXTS):
        return False
    return _value_of(cell) in (filling.unavailable, filling.unavailable.encode())


#: Cells that can hold the placeholder.
_TEXTS = (pa.StringScalar, pa.LargeStringScalar, pa.BinaryScalar, pa.LargeBinaryScalar)

#: For each fill, whether a cell is to be filled.
_LACKS: Mapping[Fill, Callable[[Any, str, RecordContext, Filling], bool]] = {
    Fill.NULL: lambda cell, name, context, filling: _is_null(cell),
    Fill.DEFAULT: _is_default,
    Fill.UNAVAILABLE: _is_unavailable,
}
