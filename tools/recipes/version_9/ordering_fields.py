"""Several ordering fields: compared from left to right, in rows, delete blocks and compaction; nulls among them."""

from collections.abc import Iterator
from typing import Any

from tools.recipes.recipe import (
    COW,
    HUDI_1_2,
    MOR,
    REFERENCE,
    Recipe,
    Row,
    Step,
    Table,
    compact_by_client,
    delete,
    recipe,
    upsert,
)
from tools.recipes.rows import SHORT

COLUMNS = (("id", "string"), ("n", "int"), ("ts", "long"), ("name", "string"), ("_hoodie_is_deleted", "boolean"))
TABLE = Table(columns=COLUMNS, ordering=("n", "ts"), version=9)
NEEDS = ("merge.multiple-ordering-fields",)
#: Key, ordering values of the stored row, and of the incoming one; the name says how the incoming one compares.
ROWS = (
    ("first-greater", (1, 5), (2, 1)),
    ("first-lower", (2, 1), (1, 9)),
    ("second-greater", (1, 5), (1, 6)),
    ("second-lower", (1, 5), (1, 4)),
    ("equal", (1, 5), (1, 5)),
    ("by-number", (9, 1), (10, 1)),
)
IN_TURN = "Compare the values of the fields in turn, each by its type; the first that differs decides, a delete like a row."


def version(key: str, ordering: tuple[int | None, int | None], name: str | None, deleted: bool = False) -> Row:
    """A version of a record."""
    return {"id": key, "n": ordering[0], "ts": ordering[1], "name": name, "_hoodie_is_deleted": deleted}


def compared(name: str, *steps: Step, says: str, kinds: Any = (COW, MOR), **check: Any) -> Iterator[Recipe]:
    """The recipe in each type of table; the rows are those of the model."""
    rules = check.pop("requirements", ("MRG-046", "PROP-020"))
    for kind in kinds:
        yield recipe(
            "merge", f"version-9.ordering-fields.{name}.{SHORT[kind]}", TABLE.having(type=kind), *steps, says=says,
            requirements=rules, if_it_fails=IN_TURN, flags=("silent-stale",), needs=NEEDS,
            producers=(HUDI_1_2, REFERENCE), **check,
        )  # fmt: skip


STORED = upsert(*(version(key, old, "stored") for key, old, _ in ROWS))
INCOMING = upsert(*(version(key, new, "incoming") for key, _, new in ROWS))
FLAGGED = upsert(*(version(key, new, None, deleted=True) for key, _, new in ROWS))
OLD_ROWS = upsert(*(version(key, old, "again") for key, old, _ in ROWS))
NULLS = "A null among the ordering values counts as 0, the default ordering value; the table stays readable."

RECIPES = [
    *compared("rows", STORED, INCOMING, says="The first ordering field that differs decides which row wins."),
    *compared(
        "flagged-deletes", STORED, FLAGGED, OLD_ROWS,
        requirements=("MRG-046", "BLK-037"), errata=("ER-190",),
        says="Deletes with several ordering values are compared like rows, also in delete blocks.",
    ),
    *compared(
        "deletes-by-key", STORED, delete(*({"id": key} for key, _, _ in ROWS[:2])), INCOMING,
        requirements=("MRG-046", "BLK-037"), says="A delete by key has no ordering values and removes the stored row.",
    ),
    *compared(
        "compacted", STORED, INCOMING, compact_by_client(), kinds=(MOR,), requirements=("MRG-046", "MRG-013"),
        says="A compaction compares several ordering fields as a query does.",
    ),
    *compared(
        "null-in-an-int", upsert(version("a", (1, 5), "stored"), version("b", (None, 5), "stored")),
        upsert(version("a", (None, 9), "incoming"), version("b", (1, 1), "incoming")), kinds=(MOR,),
        requirements=("MRG-047",), errata=("ER-175",), says=NULLS,
    ),
    *compared(
        "null-in-a-long", upsert(version("a", (1, 5), "stored"), version("b", (1, 1), "stored")),
        upsert(version("a", (1, None), "incoming"), version("b", (1, 2), "incoming")), kinds=(MOR,),
        requirements=("MRG-047",), errata=("ER-175",), says=NULLS,
    ),
]  # fmt: skip
