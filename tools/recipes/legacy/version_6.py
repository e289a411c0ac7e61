"""Tables of version 6, and tables that Apache Hudi upgraded from it to version 8."""

from typing import Any

from tools.recipes.recipe import (
    COMMIT,
    COW,
    HUDI,
    HUDI_1_2,
    MOR,
    Check,
    Recipe,
    Row,
    Step,
    Table,
    TableEdit,
    as_of,
    bulk_insert,
    compact,
    delete,
    delete_partition,
    insert_overwrite,
    invisible,
    read_optimized,
    recipe,
    service,
    upsert,
)
from tools.recipes.table_edits import find_file, set_property

COLUMNS = (("id", "string"), ("ts", "long"), ("p", "string"), ("name", "string"))
OLD = {"hoodie.write.table.version": "6"}
#: The settings of a write that first upgrades the table.
UPGRADE = {"hoodie.write.table.version": "8", "hoodie.write.auto.upgrade": "true"}
#: Writers upgrade the metadata table too. Few commits stay active, and the others are archived.
ARCHIVING = {
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.commits.archival.batch": "2",
    "hoodie.clean.automatic": "true",
    "hoodie.cleaner.commits.retained": "1",
}
COMPACTING = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "3"}
LATEST = {"hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"}
COW_6 = Table(columns=COLUMNS, type=COW, partition=("p",), options=OLD)
MOR_6 = Table(columns=COLUMNS, type=MOR, partition=("p",), options=OLD)

BY_NAME = "In a table of version 6 a log file belongs to the slice whose base file's instant is in its name."
BY_LAYOUT_1 = "The timeline of version 6 is in .hoodie itself; a completed instant there has no completion time."


def row(ts: int, name: str, key: str = "a", p: str = "x") -> Row:
    """A version of record `key`."""
    return {"id": key, "ts": ts, "p": p, "name": name}


def compatibility(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of this area, by Apache Hudi."""
    return recipe("compatibility", name, table, *steps, **{"producers": (HUDI,), **more})


def recipe_of_version_6(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A table of version 6."""
    defaults = {} if "checks" in more else {"requirements": ("COMPAT-001", "COMPAT-003"), "flags": ("silent-stale",)}
    needs = ("table-version.6", *more.pop("needs", ()))
    return compatibility(f"v6.{name}", table, *steps, needs=needs, **{**defaults, **more})


def upgraded(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A table that was created at version 6 and that the last step upgraded."""
    defaults = {"requirements": ("COMPAT-003", "TYP-007"), "flags": ("lost-write",), "producers": (HUDI, HUDI_1_2)}
    last = upsert(row(1, "after the upgrade", "new"), options=UPGRADE)
    return compatibility(f"upgraded.{name}", table, *steps, last, **{**defaults, **more})


def time_travel(step: int, **more: Any) -> Check:
    """A check of the table after a step."""
    return as_of(step, "as-of", requirements=("COMPAT-001", "COMPAT-003"), flags=("silent-stale",), **more)


def snapshot(says: str, if_it_fails: str) -> Check:
    """A check of the current rows."""
    return Check(requirements=("COMPAT-001", "COMPAT-003"), says=says, if_it_fails=if_it_fails, flags=("silent-stale",))


TWO = (upsert(row(1, "a1"), row(1, "b1", "b")), upsert(row(2, "a2")))
ROLLED_BACK = (*TWO, invisible(upsert(row(9, "failed"), until="inflight")), upsert(row(4, "a4")))
LOGS = (
    upsert(row(1, "a1"), row(1, "b1", "b"), row(1, "c1", "c", "y")),
    upsert(row(2, "a2")),
    upsert(row(4, "a4"), row(2, "c2", "c", "y")),
    upsert(row(3, "late")),
    delete({"id": "b", "p": "x"}),
)
OVERWRITES = (
    upsert(row(1, "a1"), row(1, "b1", "b"), row(1, "c1", "c", "y")),
    upsert(row(2, "a2")),
    insert_overwrite(row(3, "instead", "d")),
    upsert(row(4, "a4")),
    delete_partition({"p": "y"}),
)
COMPACTIONS = (
    upsert(row(5, "a5"), row(1, "b1", "b")),
    upsert(row(4, "a4")),
    compact(),
    upsert(row(3, "a3")),
)
SCHEDULED = (*COMPACTIONS, service("schedule_compaction"), upsert(row(2, "a2")))
BY_COMMIT = MOR_6.having(ordering=(), merge_mode=COMMIT)

MANY = (upsert(row(1, "a1"), row(1, "b1", "b")), *(upsert(row(n, f"a{n}")) for n in range(2, 12)))
#: Tables with so many commits that the first ones are archived.
ARCHIVED = (
    ("cow", COW_6.having(options=ARCHIVING), MANY[:8]),
    ("mor", MOR_6.having(options={**ARCHIVING, **COMPACTING}), MANY),
)

OLD_TABLES = [
    recipe_of_version_6(
        "cow",
        COW_6,
        *OVERWRITES,
        checks=(
            snapshot(
                "A copy-on-write table of version 6 with replaced file groups is read by the rules of its timeline.",
                BY_LAYOUT_1,
            ),
            time_travel(
                1,
                says="Time travel to before the replacecommits reads the file groups that they replaced.",
                if_it_fails=BY_LAYOUT_1,
            ),
        ),
    ),
    recipe_of_version_6(
        "mor",
        MOR_6,
        *LOGS,
        checks=(
            snapshot(
                "All log files of a slice have the instant of the base file in their names; each of their blocks is read.",
                BY_NAME,
            ),
            time_travel(
                1,
                says=(
                    "Time travel compares the instants of blocks, because the names of all log files of a slice have the "
                    "same, earlier instant."
                ),
                if_it_fails="Compare the instant in the header of each block with the read time.",
            ),
            read_optimized(
                requirements=("COMPAT-003", "TYP-017"),
                says="A read-optimized query of a table of version 6 reads base files only.",
                if_it_fails="Rows of log files were merged, or base files were not found.",
                flags=("silent-stale",),
            ),
        ),
    ),
    recipe_of_version_6(
        "mor.compacted",
        BY_COMMIT,
        *COMPACTIONS,
        says=(
            "Log files that a compaction has merged are not merged again; their names have the instant of the earlier "
            "base file."
        ),
        if_it_fails=BY_NAME,
        flags=("double-apply",),
    ),
    recipe_of_version_6(
        "mor.pending-compaction",
        BY_COMMIT,
        *SCHEDULED,
        needs=("timeline.pending-compaction",),
        says="Logs that are named after a pending compaction are read with the slice before it.",
        if_it_fails="The instant in the name is pending; the blocks in the file are completed.",
        flags=("lost-write",),
    ),
    recipe_of_version_6(
        "mor.rolled-back",
        MOR_6,
        *ROLLED_BACK,
        upsert(row(3, "late")),
        needs=("log.command",),
        says="A block of a failed write is ignored if a later command block rolls it back.",
        if_it_fails="Version 6 rolls back by a command block in the same slice, and leaves the failed block there.",
        flags=("resurrected-row",),
    ),
    *(
        recipe_of_version_6(
            f"{short}.pending",
            table,
            *TWO,
            invisible(upsert(row(9, "pending"), until="inflight")),
            says="The files of a write that did not complete are not read.",
            if_it_fails="Only a file name without .requested or .inflight at its end is a completed instant.",
            flags=("dirty-read",),
        )
        for short, table in (("cow", COW_6), ("mor", MOR_6))
    ),
    recipe_of_version_6(
        "mor.clustered",
        MOR_6,
        bulk_insert(row(1, "a1"), row(1, "b1", "b")),
        upsert(row(2, "a2")),
        service("cluster"),
        upsert(row(3, "a3")),
        service("schedule_clustering"),
        needs=("timeline.replaced-groups",),
        says="A clustering is called replacecommit in every state; only a completed one replaces file groups.",
        if_it_fails="The pending clustering has no effect; the file groups that the completed one replaced are hidden.",
        flags=("lost-write", "double-apply"),
    ),
    recipe_of_version_6(
        "cow.savepoint",
        COW_6,
        upsert(row(1, "a1"), row(1, "b1", "b")),
        service("savepoint", of=0),
        upsert(row(2, "a2")),
        says="In version 6, a savepoint has the instant of the commit that it protects; both are completed.",
        if_it_fails="These are two completed actions of one instant; neither hides the other.",
    ),
    *(
        recipe_of_version_6(
            f"{short}.archived",
            table,
            *steps,
            says="An instant older than the timeline in .hoodie is archived and therefore completed.",
            if_it_fails="An instant older than the active timeline is completed; its files are committed.",
            flags=("lost-write",),
        )
        for short, table, steps in ARCHIVED
    ),
    recipe_of_version_6(
        "mor.latest-with-an-ordering-field",
        MOR_6.having(options=LATEST),
        upsert(row(5, "a5"), row(1, "b1", "b")),
        upsert(row(9, "a9")),
        upsert(row(3, "a3")),
        rows=(row(3, "a3"), row(1, "b1", "b")),
        open=True,
        errata=("ER-084",),
        requirements=("COMPAT-003",),
        says="If the payload class keeps the latest write, the class decides, although the table has an ordering field.",
        if_it_fails="Releases of that time compared ordering values between log records, but not with base rows.",
    ),
]

UPGRADED = [
    upgraded(
        "cow",
        COW_6,
        *OVERWRITES,
        says=(
            "After an upgrade, pending replacecommits are named clustering; the file groups that replacecommits "
            "replaced stay replaced."
        ),
        if_it_fails=(
            "The completed file is a replacecommit; the files of its earlier states have JSON and the name of a clustering."
        ),
    ),
    upgraded(
        "mor",
        MOR_6,
        *LOGS,
        says=(
            "After an upgrade, a log file with the instant of a base file in its name still belongs to the slice of "
            "that base file."
        ),
        if_it_fails=BY_NAME,
    ),
    upgraded(
        "mor.pending-compaction",
        BY_COMMIT,
        *SCHEDULED,
        needs=("timeline.pending-compaction",),
        errata=("ER-085",),
        says="After an upgrade, log files that are named after a pending compaction are still read.",
        if_it_fails="The instant in the name is pending; the blocks in the file are completed.",
    ),
    upgraded(
        "mor.rolled-back",
        MOR_6,
        *ROLLED_BACK,
        needs=("log.command",),
        says="After an upgrade, the block of a write that was rolled back before is still ignored.",
        if_it_fails="The command block of the rollback is in the same slice.",
        flags=("resurrected-row",),
    ),
    *(
        upgraded(
            f"{short}.archived",
            table,
            *steps,
            producers=(HUDI,),  # only by 1.0.2, because these tables are large, and 1.2.0 upgrades them in the same way
            needs=("timeline.history",),
            errata=("ER-083",),
            says="The history that an upgrade makes of archived instants is not sorted; all of its instants are read.",
            if_it_fails="Rows are not sorted, and the smallest time in a file's name may be larger than the largest.",
        )
        for short, table, steps in ARCHIVED
    ),
]


def half_upgraded(folder: Any, instants: Any) -> None:
    """The state after a crash during an upgrade by Apache Hudi: the first instants are moved, the version is still 6."""
    target = folder / ".hoodie" / "timeline"
    target.mkdir()
    for file in sorted((folder / ".hoodie").glob(f"{instants[1]}.*")):
        complete = file.name.endswith("commit")
        name = file.name.replace(".", f"_{int(instants[1]) + 900}.", 1) if complete else file.name
        file.rename(target / name)


def back_in_place(folder: Any, instants: Any) -> None:
    """Restore an instant of version 6 that a migration removed."""
    source = find_file(folder / ".hoodie" / "timeline", f"{instants[0]}_*")
    (folder / ".hoodie" / f"{instants[0]}{source.suffix}").write_bytes(b"{}")


def refused(
    name: str,
    says: str,
    feature: str,
    *edits: TableEdit,
    requirements: tuple[str, ...],
    table: Table = COW_6,
    or_rows: bool = False,
) -> Recipe:
    """A table whose version and layout do not match, or that no release reads."""
    return compatibility(
        f"refuse.{name}",
        table,
        *TWO,
        edits=edits,
        requirements=requirements,
        says=says,
        refused=feature,
        or_rows=or_rows,
        if_it_fails="Version and layout together determine the rules for reading; no rules exist for this combination.",
        flags=("silent-guess",),
    )


VERSION, LAYOUT = "hoodie.table.version", "hoodie.timeline.layout.version"
COW_8 = COW_6.having(options={"hoodie.write.table.version": "8"})
ODD_ONES = [
    refused(
        "version-7",
        "A table of version 7, which no published release writes, is refused or read as version 6.",
        "table-version",
        set_property(VERSION, "7"),
        or_rows=True,
        requirements=("COMPAT-002",),
    ),
    refused(
        "version-5",
        "A table of version 5, with its timeline in .hoodie, is refused by an engine that does not read that version.",
        "table-version",
        set_property(VERSION, "5"),
        or_rows=True,
        requirements=("COMPAT-001", "COMPAT-002"),
    ),
    refused(
        "version-6-with-layout-2",
        "A table of version 6 whose properties state timeline layout 2 is refused.",
        "timeline-layout",
        set_property(LAYOUT, "2"),
        requirements=("PROP-010", "COMPAT-001"),
    ),
    refused(
        "version-8-with-layout-1",
        "A table of version 8 whose properties state timeline layout 1 is refused.",
        "timeline-layout",
        set_property(LAYOUT, "1"),
        requirements=("PROP-010", "COMPAT-001"),
        table=COW_8,
    ),
    compatibility(
        "refuse.no-version",
        COW_8,
        *TWO,
        edits=(set_property(VERSION, None),),
        requirements=("COMPAT-002", "PROP-006"),
        says="A table without a table version is an error, because the rules for reading it are unknown.",
        error="no version",
        if_it_fails="The reader used its own latest version in place of the version of the table.",
        flags=("silent-guess",),
    ),
    compatibility(
        "initial-version-by-name",
        COW_8,
        *TWO,
        edits=(set_property("hoodie.table.initial.version", "SIX"),),
        requirements=("COMPAT-002", "COMPAT-003"),
        says="The version at which a table was created does not affect reading; some builds stored it as a word.",
        if_it_fails="Only hoodie.table.version decides.",
        flags=("lost-write",),
    ),
    compatibility(
        "v6.half-upgraded",
        COW_6,
        *TWO,
        edits=(half_upgraded,),
        needs=("table-version.6",),
        requirements=("COMPAT-003", "COMPAT-006"),
        says=(
            "A table of version 6 in which an interrupted upgrade has moved some instants is an error; no part of its "
            "rows is returned."
        ),
        error="an upgrade was interrupted",
        if_it_fails="Some instants are in .hoodie/timeline and not in .hoodie; without them committed rows are missing.",
        flags=("lost-write",),
    ),
    compatibility(
        "unfinished.old-instants-left",
        COW_8,
        *TWO,
        edits=(back_in_place,),
        requirements=("COMPAT-006", "LAY-017"),
        says="A reader of version 8 ignores instants of version 6 that a migration has not yet removed.",
        if_it_fails="The timeline of version 8 is in its own folder; files beside it in .hoodie are not part of it.",
        flags=("double-apply",),
    ),
]

RECIPES = [*OLD_TABLES, *UPGRADED, *ODD_ONES]
