"""The table to which recipes add actions by hand, with its rows."""

from typing import Any

from tools.recipes.handmade_actions import COLUMNS
from tools.recipes.recipe import COMMIT, MOR, Row, Table, upsert

#: In commit-time mode the result shows the order in which changes are applied.
COMMIT_TABLE = Table(columns=COLUMNS, type=MOR, merge_mode=COMMIT)


def row(name: str, key: str = "a", ts: int = 1) -> Row:
    """A version of record `key`."""
    return {"id": key, "ts": ts, "name": name}


def row_of(key: str, name: str = "base", ts: int = 1, **more: Any) -> Row:
    """A version of record `key`, for recipes that test keys."""
    return {"id": key, "ts": ts, "name": name, **more}


BYSTANDER = row("bystander", "b")
#: A base file with record a and a record that no action changes.
BASE = upsert(row("base"), BYSTANDER)
#: A base file with the records a and b of `row_of`.
BASE_OF_A_AND_B = upsert(row_of("a"), row_of("b"))
