"""The expected rows of a check: the steps of its recipe run on the model, or the rows written by hand."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from tools.recipes.catalogue import as_of_instant
from tools.recipes.column_types import arrow_schema, declared
from tools.recipes.recipe import Check, Recipe, Row

from hudi_conformance.cases.rows import canonical_rows
from hudi_conformance.engines.support.columns import META_COLUMNS
from hudi_conformance.model import Model

_HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": lambda a, b: a in b,
}


def columns_of(recipe: Recipe, check: Check) -> tuple[tuple[str, Any], ...]:
    """Names and types of the columns of the answer."""
    known = dict.fromkeys(META_COLUMNS, "string") | dict(recipe.table.columns)
    latest = [step.columns for step in recipe.steps if step.columns][-1:] or [recipe.table.columns]
    known |= dict(latest[0]) | dict(check.read_as)
    if check.kind == "cdc":
        image = {"type": "record", "fields": tuple((name, known[name]) for name, _ in latest[0])}
        return (("op", "string"), ("ts_ms", "string"), ("before", image), ("after", image))
    return tuple((name, known[name]) for name in check.columns or (name for name, _ in latest[0]))


def right_rows(recipe: Recipe, check: Check, instants: Sequence[str]) -> list[Row]:
    """The right rows of `check`; `{n}` in a meta column of rows by hand is the requested time of step n."""
    columns = [name for name, _ in columns_of(recipe, check)]
    rows = _by_hand(check.rows, instants) if check.rows is not None else _by_model(recipe, check, instants)
    chosen = [row for row in rows if all(_fits(row, condition) for condition in check.where)]
    return [{name: row.get(name) for name in columns} for row in chosen]


def _by_hand(rows: Sequence[Row], instants: Sequence[str]) -> list[Row]:
    return [{n: v.format(*instants) if n in META_COLUMNS else v for n, v in row.items()} for row in rows]


def _by_model(recipe: Recipe, check: Check, instants: Sequence[str]) -> list[Row]:
    model = model_of(recipe, instants, [None] * len(instants))
    if check.as_of is not None:
        return list(model.as_of(as_of_instant(check.as_of, instants)))
    return list(model.read_optimized() if check.kind == "read-optimized" else model.snapshot())


def model_of(recipe: Recipe, instants: Sequence[str], completions: Sequence[str | None]) -> Model:
    """The model after the steps of a recipe with these requested and completion times."""
    table = recipe.table
    model = Model(
        record_key=table.record_key,
        partition=table.partition_columns,
        ordering=table.ordering,
        merge_mode=table.merge_mode,
        table_type=table.type,
    )
    for step, instant, completion in zip(recipe.steps, instants, completions, strict=True):
        if step.modelled != "nothing":
            model.apply(step.modelled, step.rows, instant, completion)  # type: ignore[arg-type]
    return model


def _fits(row: Row, condition: tuple[str, str, Any]) -> bool:
    column, operator, value = condition
    if column not in row:  # rows by hand may have only the columns of the answer
        return True
    return row[column] is not None and _HOLDS[operator](row[column], value)


def document(recipe: Recipe, check: Check, rows: Sequence[Row]) -> dict[str, Any]:
    """Rows in the form of `expected/rows.json`."""
    columns = columns_of(recipe, check)
    return rows_document(columns, pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(columns)))


def rows_document(columns: Sequence[tuple[str, Any]], table: pa.Table) -> dict[str, Any]:
    """Arrow rows in the form of `expected/rows.json`."""
    types = {name: declared(kind, name) for name, kind in columns}
    return {
        "columns": [{"name": name, "type": kind} for name, kind in types.items()],
        "rows": sorted(canonical_rows(table, types), key=str),
    }
