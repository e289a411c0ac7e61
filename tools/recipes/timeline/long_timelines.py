"""Long timelines: histories of several levels, every action archived, other folders, other zones."""

from typing import Any

from tools.recipes.recipe import (
    HUDI,
    HUDI_1_2,
    Check,
    Recipe,
    Step,
    Table,
    as_of,
    compact,
    delete_partition,
    insert,
    insert_overwrite,
    invisible,
    recipe,
    service,
    upsert,
)
from tools.recipes.timeline.services import ARCHIVING, archived, numbered
from tools.recipes.timeline.timeline import COW_PARTED, FIRST, MOR_PARTED, check_timeline, row

TYPES = (("cow", COW_PARTED), ("mor", MOR_PARTED))
#: Settings for archiving without cleaning.
WITHOUT_CLEANS = {**ARCHIVING, "hoodie.clean.automatic": "false"}
FOLDERS = {"hoodie.timeline.path": "instants/active", "hoodie.timeline.history.path": "older"}
UTC = {"hoodie.table.timeline.timezone": "UTC"}

LOST = "An instant older than the active timeline is archived and therefore completed; the history has its completion time."
ZONES = "Instants are texts: compare them unchanged, and never convert them between zones."


def timeline(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of the area timeline, by Apache Hudi."""
    return recipe("timeline", name, table, *steps, **{"producers": (HUDI,), **more})


def rows_are_right(*requirements: str, says: str, **more: Any) -> Check:
    """A check of the latest rows."""
    about = {"if_it_fails": LOST, "flags": ("lost-write",), **more}
    return Check(requirements=(*requirements, "TYP-007"), says=says, **about)


def at(step: int, name: str, *requirements: str, says: str, **more: Any) -> Check:
    """A time-travel check as of a step."""
    about = {"if_it_fails": LOST, "flags": ("lost-write",), **more}
    return as_of(step, name, requirements=(*requirements, "TYP-008"), says=says, **about)


def listed(*requirements: str, says: str) -> Check:
    """A check of the timeline with its history."""
    return check_timeline(*requirements, says=says, needs=("timeline.history",))


LEVELS = [
    archived(
        f"levels.{short}",
        table,
        26,
        producers=(HUDI, HUDI_1_2) if short == "mor" else (HUDI,),
        checks=(
            rows_are_right(
                "RDR-009", "LSM-010", "ARC-002",
                says="A commit whose record is two levels deep in the history is still completed.",
            ),
            listed(
                "LSM-001", "LSM-003", "LSM-010", "LSM-012", "ARC-002",
                says=("A history compacted to levels 1 and 2 has every archived action once, whatever older files are in "
                      "the folder."),
            ),
        ),
    )
    for short, table in TYPES
]  # fmt: skip

ALL_ACTIONS = [
    timeline(
        f"history.of-all-actions.{short}",
        table.having(options=ARCHIVING),
        upsert(row(1, "never changed", key="s", p="s"), row(1, "replaced", key="w", p="w"), row(1, "north", p="n")),
        upsert(row(1, "gone with its partition", key="x", p="x")),
        invisible(upsert(row(2, "rolled back", p="n"))),
        service("rollback", of=2),
        insert_overwrite(row(1, "instead", key="v", p="w")),
        delete_partition({"p": "x"}),
        insert(row(1, "clustered", key="c", p="s")),
        service("cluster"),
        *([upsert(row(3, "in a log", p="n")), compact()] if short == "mor" else []),
        *(upsert(row(n, f"commit {n}", p="n")) for n in range(10, 20)),
        needs=("timeline.history", "timeline.replaced-groups"),
        checks=(
            rows_are_right(
                "RDR-009", "RDR-010", "TL-042",
                says=("File groups that an archived replacecommit replaced stay replaced, and its new file groups stay "
                      "committed."),
                flags=("resurrected-row", "lost-write"),
            ),
            listed(
                "LSM-001", "LSM-002", "ARC-002", "TL-042",
                says=("Commits, replacecommits, clusterings, compactions, cleans and rollbacks in the history are named by "
                      "their completed action."),
            ),
        ),
    )
    for short, table in TYPES
]  # fmt: skip

TRAVEL = [
    archived(
        f"time-travel.{short}",
        table,
        8,
        WITHOUT_CLEANS,
        checks=(
            rows_are_right("RDR-009", says="Without cleaning, the latest of many slices is read."),
            at(
                2,
                "an-archived-instant",
                "RDR-009",
                says="Time travel to an archived instant whose files exist returns the snapshot of that time.",
            ),
            at(7, "an-active-instant", "RDR-009", says="Time travel to an active instant returns the snapshot of that time."),
        ),
    )
    for short, table in TYPES
]

OTHER_FOLDERS = [
    timeline(
        f"other-folders.{short}",
        table.having(options={**ARCHIVING, **FOLDERS}),
        *numbered(7),
        needs=("timeline.history",),
        checks=(
            rows_are_right(
                "LAY-017", "PROP-001",
                says="A table whose timeline is in other folders is read like any other table.",
                if_it_fails="hoodie.timeline.path is below .hoodie, and hoodie.timeline.history.path is below that.",
            ),
            listed(
                "LAY-017", "PROP-001", "LSM-001",
                says="Active timeline and history are read from the folders that the properties name.",
            ),
        ),
    )
    for short, table in TYPES
]  # fmt: skip


def zone_recipe(name: str, zone: str, table: Table, says: str, **options: str) -> Recipe:
    """Three commits by a machine in a zone."""
    return timeline(
        f"zone.{name}",
        table.having(options=options),
        FIRST,
        upsert(row(2, "second")),
        upsert(row(3, "third")),
        zone=zone,
        checks=(
            rows_are_right(
                "TT-001", says=f"A snapshot is the same in every time zone. {says}", if_it_fails=ZONES, flags=("silent-stale",)
            ),
            at(1, "as-of", "TT-001", says=f"Time travel compares the digits unchanged. {says}", if_it_fails=ZONES,
               flags=("silent-stale",)),
            check_timeline("TT-001", "TL-031", says=f"Requested and completion times are shown unchanged. {says}"),
        ),
    )  # fmt: skip


COW_ALONE, MOR_ALONE = (table.having(columns=table.columns[:3], partition=()) for table in (COW_PARTED, MOR_PARTED))

#: In each zone the table in UTC comes first, because the clock of a machine must not go back while it writes tables.
OTHER_ZONES = [
    zone_recipe("utc-from-a-machine-ahead", "Asia/Kolkata", MOR_ALONE, "The timeline is in UTC, behind the machine.", **UTC),
    zone_recipe(
        "local-ahead.cow", "Asia/Kolkata", COW_ALONE, "Instants are in local time, five and a half hours ahead of UTC."
    ),
    zone_recipe(
        "local-ahead.mor", "Asia/Kolkata", MOR_ALONE, "Instants are in local time, five and a half hours ahead of UTC."
    ),
    zone_recipe("local-behind", "America/Caracas", MOR_ALONE, "Instants are in local time, four hours behind UTC."),
]

RECIPES = [*LEVELS, *ALL_ACTIONS, *TRAVEL, *OTHER_FOLDERS, *OTHER_ZONES]
