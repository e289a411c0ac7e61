"""Record keys and partition paths that differ at version 9, and those that came with its releases."""

from datetime import date
from typing import Any

from tools.recipes.recipe import HUDI_1_2, REFERENCE, Check, Recipe, Table, upsert
from tools.recipes.rows import both_types

COLUMNS = (("id", "string"), ("ts", "long"), ("name", "string"), ("p", "string"), ("q", "string"))
BY_TWO = Table(columns=COLUMNS, partition=("p", "q"), version=9)


def row(key: str, ts: int, name: str, p: str = "x") -> dict[str, Any]:
    """A row of a partition with two levels."""
    return {"id": key, "ts": ts, "name": name, "p": p, "q": "y"}


COMPLEX = both_types(
    "layout", "version-9.key-of-one-field", BY_TWO,
    upsert(row("a", 1, "stored"), row("b", 1, "stays"), row("a:1", 1, "colon")), upsert(row("a", 2, "updated")),
    producers=(HUDI_1_2, REFERENCE),
    checks=(
        Check(
            name="rows", requirements=("META-013", "MRG-005"), flags=("duplicate-rows",), errata=("ER-179",),
            says="A complex key of one field finds its record again: an update replaces the row.",
            if_it_fails="The key of the incoming row was built without the name of the field, and matched no stored key.",
        ),
        Check(
            name="keys", requirements=("META-013",), flags=("duplicate-rows",),
            columns=("_hoodie_record_key", "name"), errata=("ER-179",),
            rows=({"_hoodie_record_key": "id:a", "name": "updated"}, {"_hoodie_record_key": "id:b", "name": "stays"},
                  {"_hoodie_record_key": "id:a:1", "name": "colon"}),
            says="At version 9 the key of a complex key generator with one field is FIELD:VALUE.",
            if_it_fails="The key was computed from the key fields; read the meta column.",
        ),
    ),
)  # fmt: skip

BY_DAY = Table(
    columns=(("id", "string"), ("ts", "long"), ("name", "string"), ("day", "date")),
    partition=("day",),
    options={"hoodie.datasource.write.slash.separated.date.partitioning": "true"},
    version=9,
)


def day_row(key: str, ts: int, day: date) -> dict[str, Any]:
    """A row of a day."""
    return {"id": key, "ts": ts, "name": f"{key}{ts}", "day": day}


DAYS = both_types(
    "layout", "version-9.partition.slash-separated-date", BY_DAY,
    upsert(day_row("a", 1, date(2026, 7, 3)), day_row("b", 1, date(2026, 12, 31))), upsert(day_row("a", 2, date(2026, 7, 3))),
    producers=(HUDI_1_2, REFERENCE), needs=("types.temporal", "partition.several-levels"),
    requirements=("LAY-025",), errata=("ER-184",), flags=("wrong-value",),
    says="The folder of a date is year/month/day; the column has the stored date.",
    if_it_fails="The value was taken from the folder, or the three folders were taken for three partition columns.",
)  # fmt: skip

RECIPES: list[Recipe] = [*COMPLEX, *DAYS]
