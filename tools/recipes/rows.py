"""Columns and rows that recipes of several areas use."""

from collections.abc import Mapping
from typing import Any

from tools.recipes.recipe import COW, MOR, Recipe, Row, Step, Table, TableType, recipe

COLUMNS = (("id", "string"), ("ts", "long"), ("name", "string"))
PARTED = (*COLUMNS, ("p", "string"))
FLAGGED = (*COLUMNS, ("_hoodie_is_deleted", "boolean"))
#: The part of recipe names for each table type.
SHORT: Mapping[TableType, str] = {COW: "cow", MOR: "mor"}


def both_types(area: str, name: str, table: Table, *steps: Step, **more: Any) -> list[Recipe]:
    """The same recipe for copy-on-write and merge-on-read."""
    return [recipe(area, f"{name}.{short}", table.having(type=kind), *steps, **more) for kind, short in SHORT.items()]


def row(ts: Any, name: str, key: str = "a", **more: Any) -> Row:
    """A version of record `key` with ordering value `ts`."""
    return {"id": key, "ts": ts, "name": name, **more}


def flagged(ts: Any, key: str = "a") -> Row:
    """A row with the delete flag and an ordering value."""
    return {"id": key, "ts": ts, "name": None, "_hoodie_is_deleted": True}
