"""A row that a merger reads or makes: values by column, converted from Arrow on access."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


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
    return pa.table([pa.array([row.get(f.name) for row in cells], f.type) for f in schema], schema=schema)
