"""Rows as a small table, or row by row if the table is too wide for the page."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hudi_conformance.render.parts.layout import DIM, format_count

#: The longest value in a table, and in a row that is printed alone.
_LONGEST, _LONGEST_ALONE = 40, 200
Row = Mapping[str, Any]


def show_rows(
    console: Console, rows: Sequence[Row], total: int, word: str = "row", indent: int = 2, *, whole: bool = False
) -> None:
    """The first rows of `total`, by column; every value canonical, so that different values look different.

    Long values are shortened, unless `whole` is set.
    """
    if rows:
        tables = (_table(rows, longest) for longest in ([_LONGEST_ALONE] if whole else [_LONGEST_ALONE, _LONGEST]))
        fitting = (t for t in tables if t.__rich_measure__(console, console.options).maximum + indent <= console.width)
        console.print(Padding(next(fitting, None) or _one_by_one(rows), (0, 0, 0, indent)))
    if total > len(rows):
        more = format_count(total - len(rows), f"more {word}") if rows else format_count(total, word)
        console.print(Text(f"{' ' * indent}... {more}", style=DIM))


def format_cell(value: Any, longest: int) -> Text:
    """The text of a value: null differs from the string null, nested values are JSON."""
    if value is None:
        return Text("null", style=DIM)
    if value == "":
        return Text('""', style=DIM)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Text(text if len(text) <= longest else f"{text[: longest - 3]}...")


def _table(rows: Sequence[Row], longest: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in rows[0]:
        table.add_column(Text(name), no_wrap=True)
    for row in rows:
        table.add_row(*(format_cell(value, longest) for value in row.values()))
    return table


def _one_by_one(rows: Sequence[Row]) -> Table:
    """Each row as a list of columns and values."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=DIM, justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for number, row in enumerate(rows):
        line = Text()
        for name, value in row.items():
            line.append(f"{name} ", style=DIM).append_text(format_cell(value, _LONGEST_ALONE)).append("  ")
        line.rstrip()
        table.add_row(str(number), line)
    return table
