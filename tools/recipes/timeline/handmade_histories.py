"""Timelines built by hand: completion times that are only in the history, and queries while writes are pending."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tools.recipes.handmade_actions import Archived, at, compaction, data_block, deltacommit, history, replacement
from tools.recipes.handmade_tables import BASE, BYSTANDER, COMMIT_TABLE, row
from tools.recipes.recipe import REFERENCE, Check, Recipe, Table, TableEdit, as_of, bulk_insert, invisible, recipe, upsert
from tools.recipes.table_edits import uncommit
from tools.recipes.timeline.timeline import BOTH_TYPES, before_replacement, check_timeline


def handmade(name: str, table: Table, *steps: Any, **more: Any) -> Recipe:
    """A recipe of the area timeline, by the reference."""
    return recipe("timeline", name, table, *steps, producers=(REFERENCE,), **more)


ACTIONS: tuple[Archived, ...] = ((1, 2, "deltacommit"), (10, 40, "deltacommit"), (20, 21, "deltacommit"))
#: Actions of an older history file: the first one only, and all of them with another completion time of the second.
FIRST_ONLY = ACTIONS[:1]
OTHERWISE: tuple[Archived, ...] = ((1, 2, "deltacommit"), (10, 11, "deltacommit"), (20, 21, "deltacommit"))
WHOLE = f"{at(1)}_{at(20)}_1.parquet"
PART = f"{at(1)}_{at(1)}_0.parquet"


def archived(
    name: str,
    manifests: Mapping[int, Sequence[str]],
    files: Mapping[str, Sequence[Archived]],
    version: int | None,
    **check: Any,
) -> Recipe:
    """A table with two archived log files, one of which was pending when a later compaction began.

    Only the history shows that it completed after the compaction, so that it belongs to the slice of the compaction.
    """
    edits: tuple[TableEdit, ...] = (
        deltacommit(10, 40, data_block(10, row("completed after the compaction"), row("also after", "c"))),
        deltacommit(20, 21, data_block(20, row("completed before the compaction"))),
        compaction(30, 35, row("completed before the compaction"), BYSTANDER),
        deltacommit(50, 51, data_block(50, row("last", "d"))),
        history(manifests, files, version, archived=(1, 10, 20)),
    )
    rows = Check(
        says=check.pop("says"),
        requirements=check.pop("requirements"),
        if_it_fails="Print the completion time of each log: that of an archived action is in the history.",
        flags=("lost-write",),
        rows=(row("completed after the compaction"), BYSTANDER, row("also after", "c"), row("last", "d")),
        **check,
    )
    told = check_timeline(
        *rows.requirements,
        says="The history has the requested time and the completion time of each archived action.",
        errata=rows.errata,
    )
    return handmade(
        f"history.{name}",
        COMMIT_TABLE,
        BASE,
        edits=edits,
        needs=("timeline.history", "log.avro", "merge.commit-time"),
        checks=(rows, replace(told, needs=("timeline.history",))),
    )


HISTORY = [
    archived(
        "completion-times",
        {1: [WHOLE]},
        {WHOLE: ACTIONS},
        1,
        requirements=("RDR-009", "LSM-018", "NBC-002"),
        says="The completion time of an archived action, from the history, decides to which slice its log file belongs.",
    ),
    archived(
        "several-files",
        {3: [PART, f"{at(10)}_{at(20)}_0.parquet"]},
        {PART: FIRST_ONLY, f"{at(10)}_{at(20)}_0.parquet": ACTIONS[1:]},
        3,
        requirements=("LSM-010", "LSM-017"),
        says="All files that the manifest lists are read, not only the first.",
    ),
    archived(
        "an-older-manifest-is-valid",
        {1: [WHOLE], 2: [PART]},
        {WHOLE: ACTIONS, PART: FIRST_ONLY},
        1,
        requirements=("LSM-005", "LSM-007"),
        says="The manifest that the version file names is read, not the one with the highest number.",
    ),
    archived(
        "a-newer-manifest-is-valid",
        {9: [PART], 10: [WHOLE]},
        {WHOLE: ACTIONS, PART: FIRST_ONLY},
        10,
        requirements=("LSM-005", "LSM-007"),
        says="The manifest that the version file names is read, not the first one in the folder.",
    ),
    archived(
        "no-version-file-and-ten-manifests",
        {9: [PART], 10: [WHOLE]},
        {WHOLE: ACTIONS, PART: FIRST_ONLY},
        None,
        requirements=("LSM-005", "RDR-009"),
        errata=("ER-005",),
        says="Without a version file the manifest with the highest number is read: 10, not 9.",
    ),
    archived(
        "an-unlisted-file",
        {1: [WHOLE]},
        {WHOLE: ACTIONS, f"{at(1)}_{at(20)}_0.parquet": OTHERWISE},
        1,
        requirements=("LSM-012",),
        says="A history file that the manifest does not list is ignored, although it has other times of the same actions.",
    ),
]

AS_OF_BESIDE_PENDING = [
    handmade(
        f"as-of.beside-a-pending-write.{short}",
        table,
        upsert(row("first"), row("bystander", "b")),
        upsert(row("second", ts=2)),
        invisible(upsert(row("pending", "c"))),
        upsert(row("third", ts=3)),
        edits=(uncommit(2),),
        checks=(
            as_of(
                3,
                "past-it",
                requirements=("TYP-008",),
                says=(
                    "Time travel past a pending write is an error, because the answer would change when the write completes."
                ),
                error="pending-write",
                if_it_fails=(
                    "The same query would have two answers, before and after the pending write completes; report an error."
                ),
                flags=("silent-stale",),
            ),
            as_of(
                1,
                "before-it",
                requirements=("TYP-008", "RDR-005"),
                says="Time travel to before a pending write returns the snapshot of that time.",
                if_it_fails="A pending write after the read time does not matter.",
                flags=("silent-stale",),
            ),
        ),
    )
    for short, table in BOTH_TYPES
]

TIMES = [
    handmade(
        "times.of-no-calendar",
        COMMIT_TABLE,
        BASE,
        edits=(
            deltacommit(61, 62, data_block(61, row("in second 61"), row("also there", "c"))),
            deltacommit(98, 99, data_block(98, row("in second 98"))),
        ),
        needs=("log.avro", "merge.commit-time"),
        requirements=("TT-001",),
        says="Instants are compared as text: one that is not a calendar time is treated like any other.",
        if_it_fails="Instants were parsed as dates. They may come from a logical clock; only their order matters.",
        flags=("lost-write",),
        rows=(row("in second 98"), BYSTANDER, row("also there", "c")),
    ),
]

REPLACED = [
    handmade(
        "replaced.several-groups",
        COMMIT_TABLE,
        bulk_insert(row("first group"), row("first group", "b")),
        bulk_insert(row("second group", "c")),
        upsert(row("log of the first group"), row("log of the second group", "c")),
        edits=(
            replacement(30, 31, row("instead", "z")),
            deltacommit(40, 41, data_block(40, row("of a replaced group", "b"))),
        ),
        needs=("timeline.replaced-groups", "log.avro", "merge.commit-time"),
        checks=(
            Check(
                requirements=("TL-010", "TL-039", "RDR-010"),
                says="All file groups that a replacecommit names are hidden with their log files, including a later one.",
                if_it_fails="The metadata names file ids by partition; hide every one of them.",
                flags=("resurrected-row",),
                rows=(row("instead", "z"),),
            ),
            before_replacement(
                2, "Time travel to before a replacecommit reads all file groups that it replaced, and not the new one."
            ),
        ),
    ),
]

RECIPES = [*REPLACED, *HISTORY, *AS_OF_BESIDE_PENDING, *TIMES]
