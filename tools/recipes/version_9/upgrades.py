"""Tables that 1.2.0 or the reference upgraded from version 8 to version 9, or downgraded from 9 to 8."""

from typing import Any

from tools.recipes.merge.payloads import PACKAGE
from tools.recipes.query.data_skipping import COLUMNS as INDEXED
from tools.recipes.query.data_skipping import KEYS, check_filter
from tools.recipes.query.data_skipping import row as indexed_row
from tools.recipes.recipe import COMMIT, COW, HUDI_1_2, MOR, REFERENCE, Recipe, Step, Table, delete, recipe, service, upsert
from tools.recipes.rows import COLUMNS, FLAGGED, SHORT, flagged, row

AT_8 = {"hoodie.write.table.version": "8"}
UPGRADE = {"hoodie.write.table.version": "9", "hoodie.write.auto.upgrade": "true"}
NEW = {"id": "new", "ts": 1, "name": "after the upgrade"}
STALE: dict[str, Any] = {"flags": ("silent-stale",)}


def producers_of(kind: str) -> dict[str, Any]:
    """The producers of a type of table."""
    return {"producers": (HUDI_1_2, REFERENCE) if kind == MOR else (HUDI_1_2,)}


def upgraded(name: str, table: Table, *steps: Step, **check: Any) -> list[Recipe]:
    """A table of version 8, whose last write upgraded it; its merge configuration is that of the first write.

    The reference makes some of those with logs, too: it migrates the table before the last write.
    """
    check = {"requirements": ("COMPAT-003", "PROP-022"), "if_it_fails": BY_MODE, **check}
    return [
        recipe("compatibility", f"version-9.upgraded.{name}.{SHORT[kind]}", table.having(type=kind, version=9, options=AT_8),
               *steps, upsert(NEW, options=UPGRADE), **{**STALE, **producers_of(kind), **check})
        for kind in (COW, MOR)
    ]  # fmt: skip


BY_MODE = "After the upgrade the stored merge mode decides, as strategy id and payload class did before."
LATE = (
    upsert(row(10, "stored"), row(1, "untouched", "b")),
    upsert(row(9, "late")),
    upsert(row(12, "newest"), row(0, "late", "b")),
)


def class_of(name: str) -> dict[str, str]:
    """The option of the first write that names a payload class."""
    return {"hoodie.datasource.write.payload.class": PACKAGE + name}


UPGRADED = [
    *upgraded(
        "event-time", Table(columns=COLUMNS), *LATE, upsert(row(11, "late again")),
        says="A table in event-time mode keeps its rows in an upgrade, and late rows lose.",
    ),
    *upgraded(
        "commit-time", Table(columns=COLUMNS, ordering=(), merge_mode=COMMIT), *LATE,
        says="A table in commit-time mode keeps its rows in an upgrade.", producers=(HUDI_1_2,),
    ),
    *upgraded(
        "deletes", Table(columns=FLAGGED), upsert(row(10, "stored"), row(1, "gone", "b"), row(1, "flagged", "c")),
        delete({"id": "b"}), upsert(flagged(2, "c"), flagged(9)), says="Deleted records stay deleted in an upgrade.",
    ),
    *upgraded(
        "overwrite-non-defaults", Table(columns=COLUMNS),
        upsert(row(10, "stored"), row(1, "untouched", "b"), options=class_of("OverwriteNonDefaultsWithLatestAvroPayload")),
        upsert({"id": "a", "ts": 9, "name": None}, options=class_of("OverwriteNonDefaultsWithLatestAvroPayload")),
        rows=({"id": "a", "ts": 9, "name": "stored"}, row(1, "untouched", "b"), NEW), requirements=("COMPAT-003", "PROP-023"),
        says="The payload class becomes a merge mode and a partial update mode; the rows stay.",
    ),
]  # fmt: skip

BY_VERSION = "The definition of the index says V1; the version of the table does not change how it is read."
INDEXES = [
    Recipe(
        f"version-9.upgraded.indexes.{SHORT[kind]}", "compatibility",
        Table(INDEXED, partition=("p",), type=kind, options={**KEYS, **AT_8}, version=9),
        (
            upsert(indexed_row("a", "x", 1, 1.0, "rome"), indexed_row("b", "x", 1, 2.0, "oslo"),
                   indexed_row("c", "y", 1, 30.0, "bonn")),
            upsert(indexed_row("a", "x", 2, 50.0, "zagreb")),
            upsert(indexed_row("d", "z", 1, 60.0, "cairo"), options=UPGRADE),
        ),
        tuple(
            check_filter(name, where, requirements=(rule, "IDX-043", "IDX-049"), if_it_fails=BY_VERSION,
                  says="After an upgrade each index answers as before, also for rows that were written later.")
            for name, where, rule in (
                ("values", (("fare", ">", 40.0),), "MDT-010"), ("old-value", (("fare", "<", 1.5),), "MDT-010"),
                ("record-key", (("id", "=", "a"),), "IDX-012"), ("new-key", (("id", "=", "d"),), "IDX-012"),
            )
        ),
        producers=(HUDI_1_2,),
    )
    for kind in (MOR,)
]  # fmt: skip

DOWNGRADE = service("downgrade")
BACK = "The table is of version 8 again: strategy id and payload class decide, and hoodie.table.precombine.field orders."


def downgraded(name: str, table: Table, *steps: Step, **check: Any) -> Recipe:
    """A table of version 9 that was downgraded to version 8."""
    check = {"requirements": ("COMPAT-002", "MRG-014", "PROP-009"), "if_it_fails": BACK, **check}
    at_9 = table.having(type=MOR, options={"hoodie.write.table.version": "9"})
    return recipe("compatibility", f"version-9.downgraded.{name}.mor", at_9, *steps, DOWNGRADE,
                  **{**STALE, **producers_of(MOR), **check})  # fmt: skip


DOWNGRADED = [
    downgraded("event-time", Table(columns=COLUMNS), *LATE, says="A table that was downgraded to version 8 keeps its rows."),
]  # fmt: skip

RECIPES = [*UPGRADED, *INDEXES, *DOWNGRADED]
