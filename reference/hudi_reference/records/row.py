"""A row that a merger reads or makes: values by column, converted from Arrow on access."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as pt


@dataclass(frozen=True)
class Row(Mapping[str, Any]):
    """Values by column. A cell is an Arrow scalar as it was read, or a plain value of a merger."""

    cells: Mapping[str, Any]

    @classmethod
    def at(cls, columns: Mapping[str, pa.ChunkedArray], place: int) -> "Row":
        """The row of a table at a position."""
        return cls({name: column[place] for name, column in columns.items()})

    @staticmethod
    def cells_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
        """The cells of a row, or the values of any other mapping."""
        return row.cells if isinstance(row, Row) else row

    def __getitem__(self, name: str) -> Any:
        cell = self.cells[name]
        return cell.as_py() if isinstance(cell, pa.Scalar) else cell

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


def table_of(rows: list[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as a table; columns that a row does not have are null."""
    cells = [Row.cells_of(row) for row in rows]
    return pa.table([_column([row.get(f.name) for row in cells], f.type) for f in schema], schema=schema)


def _column(cells: list[Any], kind: pa.DataType) -> pa.Array:
    """Cells as a column. Nested scalars are not passed to `pa.array`, which fails for nulls among lists and maps."""
    if not pt.is_nested(kind) or not cells:
        return pa.array(cells, kind)
    return pa.concat_arrays([_array_of(cell, kind) for cell in cells])


def _array_of(cell: Any, kind: pa.DataType) -> pa.Array:
    if not isinstance(cell, pa.Scalar):
        return pa.array([cell], kind)
    one = pa.repeat(cell, 1) if cell.is_valid else pa.nulls(1, kind)
    return one if one.type == kind else one.cast(kind)
