"""The windows of a check as a series of queries, with the expected rows of each from the model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from tools.recipes.column_types import arrow_schema
from tools.recipes.expectation import columns_of, model_of, rows_document
from tools.recipes.recipe import Bound, Check, Recipe, Row, Window
from tools.recipes.timeline_summary import timeline_of

from hudi_conformance.model import Model, windows


def completions_of(table: Path, instants: Sequence[str]) -> list[str | None]:
    """The completion times of the steps, from the names of the timeline files and from the history."""
    known = {entry["requested"]: entry["completion"] for entry in timeline_of(table)["completed"]}
    return [known.get(instant) for instant in instants]


def reads_document(recipe: Recipe, check: Check, instants: Sequence[str], table: Path) -> dict[str, Any]:
    """The content of `expected/reads.json`."""
    series = _Series(recipe, check, instants, completions_of(table, instants))
    return {"columns": series.document([])["columns"], "reads": [series.read(window) for window in check.windows]}


class _Series:
    """The queries of one check."""

    def __init__(self, recipe: Recipe, check: Check, instants: Sequence[str], completions: Sequence[str | None]) -> None:
        self.check, self.instants, self.completions = check, instants, completions
        self.columns = columns_of(recipe, check)
        self.model: Model = model_of(recipe, instants, completions)

    def read(self, window: Window) -> dict[str, Any]:
        """One query with the right answer."""
        begin, end = self._time(window.begin), self._time(window.end)
        bounds = {name: time for name, time in (("begin", begin), ("end", end)) if time is not None}
        found: dict[str, Any] = {"name": window.name, "query": {"kind": self.check.kind, **bounds}}
        if self.check.columns is not None:
            found["query"]["columns"] = list(self.check.columns)
        if window.says:
            found["says"] = window.says
        if window.error is not None:
            return found | {"error": window.error}
        rows, inclusive = (self._rows(windows.Window(begin, end, including)) for including in (False, True))
        found["rows"] = rows
        if inclusive != rows:  # releases before 1.1 include actions that completed exactly at the begin of the window (ER-101)
            found["accept"] = [inclusive]
        is_reversed = begin is not None and end is not None and end < begin
        return found | ({"or_error": True} if window.or_error or is_reversed else {})

    def document(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Rows in the form of `expected/rows.json`."""
        return rows_document(self.columns, pa.Table.from_pylist([dict(r) for r in rows], schema=arrow_schema(self.columns)))

    def _rows(self, window: windows.Window) -> list[Mapping[str, Any]]:
        ask = windows.change_rows if self.check.kind == "cdc" else windows.incremental_rows
        names = [name for name, _ in self.columns]
        found: list[Mapping[str, Any]] = self.document([{n: row.get(n) for n in names} for row in ask(self.model, window)])[
            "rows"
        ]
        return found

    def _time(self, bound: Bound | None) -> str | None:
        if bound is None:
            return None
        return self.instants[bound.step] if bound.begun else self.completions[bound.step]
