"""Filters on tables with every index after services, rollbacks and crashes: no matching row is lost, and none comes back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tools.recipes.query.data_skipping import COLUMNS, KEYS, STATS, check_filter, row
from tools.recipes.recipe import (
    COW,
    HUDI,
    HUDI_1_2,
    MOR,
    Check,
    Recipe,
    Step,
    Table,
    TableType,
    compact,
    delete,
    delete_partition,
    insert,
    insert_overwrite,
    invisible,
    service,
    upsert,
)
from tools.recipes.table_edits import uncommit

SHORT = {COW: "cow", MOR: "mor"}
#: An index of the keys of the rows in each city.
BY_CITY = service("create_index", statement="CREATE INDEX by_city ON {table} (city)")
#: Statistics of the year of `ts`.
YEARLY = "CREATE INDEX by_year ON {table} USING column_stats(ts) OPTIONS (expr='from_unixtime', format='yyyy')"
BY_YEAR = service("create_index", statement=YEARLY)
YEAR = 365 * 24 * 3600
BASE = upsert(
    row("a", "x", 1, 1.0, "rome"),
    row("b", "x", 1, 2.0, "oslo"),
    row("c", "y", 1, 30.0, "bonn"),
    row("d", "z", 1, None, None),
)
UPDATED = upsert(row("a", "x", YEAR, 50.0, "zagreb"), row("e", "y", YEAR, 31.0, "bonn"))
#: A rollback removes this write: its values are found in no row, those of the write before are.
REMOVED = invisible(upsert(row("a", "x", 2 * YEAR, 90.0, "cairo"), row("f", "y", 2 * YEAR, 91.0, "cairo")))
LATER = upsert(row("b", "x", 3 * YEAR, 70.0, "rome"))

OLD = "An entry of the replaced or rolled back file decided, or the entries of the new file are missing: "
FILES = "compare the entries of every index with the files of the latest slices."


def filters(rule: str) -> tuple[Check, ...]:
    """Filters by each index: statistics of values, the record key, the secondary key, the year of `ts`; and all rows."""
    told: dict[str, Any] = {
        "says": "After the services a filter selects the rows that the table has, by every index.",
        "if_it_fails": OLD + FILES,
    }

    def check(name: str, *where: tuple[str, str, Any], index: str) -> Check:
        return check_filter(name, where, **told, requirements=(index, rule))

    return (
        check("all-rows", index="MDT-008"),
        check("values", ("fare", ">", 40.0), index="MDT-010"),
        check("record-key", ("id", "=", "a"), index="IDX-012"),
        check("secondary-key", ("city", "=", "bonn"), index="IDX-023"),
        check("year", ("ts", ">=", YEAR), index="IDX-035"),
    )


def indexed(
    name: str, *steps: Step, rule: str, kinds: tuple[TableType, ...] = (COW, MOR), options: Mapping[str, str] = KEYS,
    secondary: bool = True, expression: bool = True, pending: int | None = None, by_1_2: bool = True,
) -> list[Recipe]:  # fmt: skip
    """Recipes for each type of table and release; two named indexes, unless excluded, are created after the first step.

    `pending` and `of` of the steps are numbers of steps without those that create indexes; the step `pending` is not completed.
    Tables of Hudi 1.2.0 are of version 9 and of the last of `kinds`, without named indexes, for which it needs a lock provider.
    """
    table = Table(COLUMNS, partition=("p",), options=options)
    release_1_2 = (HUDI_1_2, kinds[-1:], 9, ".without-named-indexes", ())
    keys, years = (BY_CITY,) if secondary else (), (BY_YEAR,) if expression else ()
    return [
        Recipe(
            f"skipping.{name}{suffix}.{SHORT[kind]}", "queries", table.having(type=kind, version=version),
            (steps[0], *named, *(_later(step, len(named)) for step in steps[1:])), filters(rule), producers=(producer,),
            edits=() if pending is None else (uncommit(pending + len(named)),),
        )
        for producer, types, version, suffix, named in ((HUDI, kinds, 8, "", (*keys, *years)), *[release_1_2] * by_1_2)
        for kind in types
    ]  # fmt: skip


def _later(step: Step, by: int) -> Step:
    """The step after `by` more steps, which come after the first one."""
    return replace(step, of=step.of + by) if step.of else step


#: Hudi rolls back no completed commit that a compaction of the metadata table contains.
UNCOMPACTED = {"hoodie.metadata.compact.max.delta.commits": "100"}
RECIPES = [
    *indexed("after-compaction", BASE, UPDATED, delete({"id": "c", "p": "y"}), compact(), LATER, rule="CMP-005", kinds=(MOR,)),
    *indexed("after-clustering", BASE, insert(row("g", "x", 1, 3.0, "bonn")), service("cluster"), UPDATED, rule="TL-043"),
    *indexed("after-a-clean", BASE, UPDATED, LATER, service("clean"), rule="MDT-001", kinds=(COW,)),
    # Hudi refuses both operations on a table with a secondary index, and 1.2.0 fails to overwrite one with a record index.
    *indexed(
        "after-an-overwrite", BASE, insert_overwrite(row("h", "x", YEAR, 41.0, "bonn")), LATER, rule="MDT-001", secondary=False,
        by_1_2=False,
    ),
    # Hudi 1.0.2 deletes no partition of a table with a record index or an expression index.
    *indexed(
        "after-a-deleted-partition", BASE, UPDATED, delete_partition({"p": "y"}),
        rule="MDT-001", kinds=(COW,), secondary=False, expression=False, options=STATS,
    ),
    *indexed(
        "after-a-rollback", BASE, UPDATED, REMOVED, service("rollback", of=2), LATER, rule="MDT-001",
        options={**KEYS, **UNCOMPACTED},
    ),
    *indexed(
        "after-a-restore", BASE, service("savepoint", of=0), REMOVED, service("restore", of=0), LATER, rule="MDT-001",
        kinds=(COW,),
    ),
    *indexed("ahead-of-the-data", BASE, UPDATED, REMOVED, rule="MDT-001", pending=2),
]  # fmt: skip
