"""The timeline under table services: compaction, clustering, overwriting, cleaning, rollback, savepoint, history."""

from collections.abc import Mapping
from typing import Any

from tools.recipes.recipe import (
    HUDI,
    AsOf,
    Check,
    Recipe,
    Step,
    Table,
    as_of,
    compact,
    delete,
    delete_partition,
    insert,
    insert_overwrite,
    invisible,
    read_optimized,
    recipe,
    service,
    upsert,
)
from tools.recipes.rows import both_types
from tools.recipes.table_edits import add, only, uncommit
from tools.recipes.timeline.timeline import (
    BASE,
    BOTH_TYPES,
    COW_PARTED,
    COW_TABLE,
    FIRST,
    MOR_PARTED,
    MOR_TABLE,
    NOT_DONE,
    SLICES,
    before_replacement,
    row,
    shown,
)


def timeline(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of the area timeline, by Apache Hudi."""
    return recipe("timeline", name, table, *steps, producers=(HUDI,), **more)


def numbered(count: int) -> tuple[Step, ...]:
    """A first commit to two partitions, then commits 1 to `count` that update one record in one of them."""
    first = upsert(row(0, "never changed", key="s", p="s"), row(0, "first", p="n"), row(0, "first", key="z", p="n"))
    return (first, *(upsert(row(n, f"commit {n}", p="n")) for n in range(1, count + 1)))


SERVICES = [
    timeline(
        "compaction.pending",
        MOR_TABLE,
        BASE,
        upsert(row(2, "in the log before the plan")),
        service("schedule_compaction"),
        upsert(row(3, "in the log after the plan"), row(3, "newer", key="b")),
        needs=("timeline.pending-compaction",),
        checks=(
            Check(
                requirements=("NBC-002", "CMP-003", "TYP-007"),
                says="While a compaction is only planned, logs before and after the plan are merged with the old base file.",
                if_it_fails="The planned compaction opens a slice without base file; merge it with the slice before it. "
                + SLICES,
                flags=("silent-stale", "lost-write"),
            ),
            read_optimized(
                requirements=("TYP-017", "RDR-012"),
                says="While a compaction is only planned, the old base files are the read-optimized answer.",
                if_it_fails="The slice of the planned compaction has no base file yet; the one before it counts.",
                flags=("silent-stale",),
            ),
            as_of(
                1,
                "as-of-before-the-plan",
                requirements=("TYP-008", "RDR-012"),
                says="Time travel to before a planned compaction sees base file and log of that time.",
                if_it_fails=SLICES,
                flags=("silent-stale",),
            ),
            shown("TL-027", "TL-047", "TL-025", says="A planned compaction is pending in requested state under its own word."),
        ),
    ),
    timeline(
        "compaction.inflight-with-base-file",
        MOR_TABLE,
        upsert(row(1, "base"), row(1, "deleted", key="b")),
        upsert(row(2, "in the log")),
        delete({"id": "b"}),
        invisible(compact()),
        edits=(uncommit(3),),
        needs=("timeline.pending-compaction",),
        checks=(
            Check(
                requirements=("RDR-012", "RDR-008", "RDR-015"),
                says="The base file of a compaction that is still running is not read; old base file and logs are.",
                if_it_fails="The running compaction's base file was taken, and with it logs lost or applied twice. " + SLICES,
                flags=("lost-write",),
            ),
            read_optimized(
                requirements=("RDR-012", "RDR-008"),
                says="The base file of a compaction that is still running is not the read-optimized answer.",
                if_it_fails=NOT_DONE,
                flags=("dirty-read",),
            ),
            shown("TL-028", "TL-053", says="A compaction with requested and inflight files is inflight."),
        ),
    ),
    timeline(
        "compaction.completed-then-log",
        MOR_TABLE,
        BASE,
        upsert(row(2, "compacted")),
        compact(),
        upsert(row(3, "after the compaction")),
        checks=(
            Check(
                requirements=("TL-044", "RDR-015", "CMP-005"),
                says="After a compaction the new base file and the logs after it are read, and no older file.",
                if_it_fails=SLICES,
                flags=("double-apply",),
            ),
            read_optimized(
                requirements=("TYP-017", "CMP-001"),
                says="The read-optimized answer is the state of the compaction.",
                if_it_fails="A completed compaction is a commit on the timeline whose requested file says compaction.",
                flags=("silent-stale",),
            ),
            as_of(
                1,
                "as-of-before-the-compaction",
                requirements=("TYP-008", "CMP-005", "BF-009"),
                says="Time travel to before a compaction reads the older slice, which is still there.",
                if_it_fails=SLICES,
                flags=("silent-stale",),
            ),
            as_of(
                2,
                "as-of-the-compaction",
                requirements=("TYP-008", "RDR-013", "LF-004"),
                says="Time travel to the instant of a compaction does not see the log written after it.",
                if_it_fails=SLICES,
                flags=("dirty-read",),
            ),
            shown(
                "TL-044",
                "TL-042",
                says="A finished compaction is a completed commit, and nothing of it is pending.",
                errata=("ER-004",),
            ),
        ),
    ),
    timeline(
        "clustering.completed",
        COW_PARTED,
        insert(row(1, "north", p="n")),
        insert(row(1, "north too", key="b", p="n"), row(1, "south", key="c", p="s")),
        service("cluster"),
        upsert(row(2, "north again", p="n")),
        needs=("timeline.replaced-groups",),
        checks=(
            Check(
                requirements=("TL-043", "TL-042", "RDR-010", "TL-011"),
                says="After a clustering the new file groups are read and the replaced ones are not.",
                if_it_fails="Old and new file groups were read, or the replacecommit was not tied to its pending clustering.",
                flags=("double-apply",),
            ),
            before_replacement(
                1,
                "Time travel to before a clustering still reads the replaced file groups.",
                name="as-of-before-the-clustering",
            ),
            shown(
                "TL-043",
                "TL-042",
                says="A finished clustering is a completed replacecommit, and nothing of it is pending.",
                errata=("ER-003",),
            ),
        ),
    ),
    timeline(
        "clustering.planned",
        COW_PARTED,
        insert(row(1, "north", p="n")),
        insert(row(1, "north too", key="b", p="n")),
        service("schedule_clustering"),
        requirements=("TL-040", "RDR-010"),
        says="A clustering that is only planned hides no file group.",
        if_it_fails="Only a completed replacecommit replaces file groups.",
        flags=("lost-write",),
    ),
    timeline(
        "clustering.inflight-with-data-files",
        COW_PARTED,
        insert(row(1, "north", p="n")),
        insert(row(1, "north too", key="b", p="n")),
        service("cluster"),
        edits=(uncommit(2),),
        requirements=("TL-040", "RDR-008", "TL-010"),
        says="The new file groups of a clustering that is still running are not read; the old ones are.",
        if_it_fails=NOT_DONE,
        flags=("double-apply",),
    ),
    timeline(
        "insert-overwrite",
        COW_PARTED,
        upsert(row(1, "north", p="n"), row(1, "north too", key="b", p="n"), row(1, "south", key="c", p="s")),
        insert_overwrite(row(1, "instead", key="d", p="n")),
        upsert(row(2, "south again", key="c", p="s")),
        needs=("timeline.replaced-groups",),
        checks=(
            Check(
                requirements=("TL-039", "TL-010", "RDR-010"),
                says="An insert overwrite replaces all rows of its partitions and leaves the others.",
                if_it_fails="The completed replacecommit names the replaced file ids by partition; leave those groups out.",
                flags=("resurrected-row",),
            ),
            before_replacement(0, "Time travel to before an insert overwrite sees the replaced rows and not the new ones."),
            shown("TL-039", says="An insert overwrite is a replacecommit in all its states."),
        ),
    ),
    timeline(
        "insert-overwrite.merge-on-read",
        MOR_PARTED,
        upsert(row(1, "north", p="n"), row(1, "south", key="c", p="s")),
        upsert(row(2, "north, in a log", p="n")),
        insert_overwrite(row(1, "instead", key="d", p="n")),
        needs=("timeline.replaced-groups",),
        requirements=("TL-039", "RDR-010"),
        says="An insert overwrite replaces base files and logs of its partitions.",
        if_it_fails="Logs of a replaced file group were read.",
        flags=("resurrected-row",),
    ),
    timeline(
        "insert-overwrite.inflight",
        COW_PARTED,
        upsert(row(1, "north", p="n"), row(1, "south", key="c", p="s")),
        invisible(insert_overwrite(row(1, "instead", key="d", p="n"))),
        edits=(uncommit(1),),
        requirements=("TL-010", "RDR-008"),
        says="An insert overwrite that did not complete neither adds nor hides rows.",
        if_it_fails=NOT_DONE,
        flags=("dirty-read",),
    ),
    timeline(
        "delete-partition",
        MOR_PARTED,
        upsert(row(1, "north", p="n"), row(1, "south", key="c", p="s")),
        upsert(row(2, "south, in a log", key="c", p="s")),
        delete_partition({"p": "s"}),
        upsert(row(3, "north again", p="n")),
        needs=("timeline.replaced-groups",),
        checks=(
            Check(
                requirements=("TL-039", "RDR-010"),
                says="The rows of a deleted partition are gone.",
                if_it_fails="A replacecommit without new files still replaces the groups it names.",
                flags=("resurrected-row",),
            ),
            before_replacement(1, "Time travel to before a partition was deleted still sees its rows."),
        ),
    ),
    *(
        timeline(
            f"clean.{short}",
            table,
            FIRST,
            upsert(row(2, "second")),
            *([compact()] if short == "mor" else []),
            service("clean"),
            upsert(row(3, "after the clean")),
            requirements=("CLN-001", "TL-013", "TYP-007"),
            says="Files that a clean deleted are not missed by a snapshot.",
            if_it_fails="Take files from the latest slices; metadata of older commits may name files that are gone.",
            flags=("lost-write",),
        )
        for short, table in BOTH_TYPES
    ),
    timeline(
        "clean.keeps-a-savepoint",
        COW_TABLE,
        FIRST,
        service("savepoint", of=0),
        upsert(row(2, "second")),
        upsert(row(3, "third")),
        service("clean"),
        kind="as-of",
        as_of=AsOf(0),
        requirements=("TL-041", "TL-021", "CLN-002"),
        says="Time travel to a savepointed instant works after a clean: its files are still there.",
        if_it_fails="The clean's limit was applied to all earlier instants, savepointed ones too.",
        flags=("lost-write",),
    ),
    timeline(
        "clean.of-the-files-asked-for",
        COW_TABLE,
        FIRST,
        upsert(row(2, "second")),
        upsert(row(3, "third")),
        service("clean"),
        kind="as-of",
        as_of=AsOf(0),
        requirements=("CLN-003",),
        says="Time travel to an instant whose files were cleaned is an error, and not an empty or partial answer.",
        error="cleaned",
        if_it_fails="The commit's files are gone; say so instead of answering with what is left.",
        flags=("lost-write",),
    ),
    *both_types(
        "timeline",
        "rollback",
        MOR_TABLE,
        FIRST,
        invisible(upsert(row(2, "rolled back"))),
        service("rollback", of=1),
        upsert(row(1, "added later", key="c")),
        requirements=("TL-019", "TL-033", "TYP-007"),
        says="A commit that was rolled back has no effect.",
        if_it_fails="The rollback removed the instant's files; what is left is the state before it.",
        flags=("resurrected-row",),
        producers=(HUDI,),
    ),
    timeline(
        "savepoint",
        COW_TABLE,
        FIRST,
        service("savepoint", of=0),
        upsert(row(2, "second")),
        checks=(
            Check(
                requirements=("TL-021", "TL-022"),
                says="A savepoint changes no row; it shares its requested time with the commit that it protects.",
                if_it_fails="Savepoint and commit of one requested time are two actions; do not let one hide the other.",
                flags=("lost-write",),
                errata=("ER-001",),
            ),
            as_of(
                0,
                "as-of",
                requirements=("TL-021", "TYP-008"),
                says="Time travel to a savepointed instant shows its rows.",
                if_it_fails="Savepoint and commit of one requested time are two actions; do not let one hide the other.",
                flags=("silent-stale",),
            ),
            shown(
                "TL-022",
                "TL-045",
                says="A savepoint and the commit that it protects are two completed instants of one requested time.",
                errata=("ER-001",),
            ),
        ),
    ),
    *both_types(
        "timeline",
        "restore",
        MOR_TABLE,
        FIRST,
        service("savepoint", of=0),
        invisible(upsert(row(2, "undone"))),
        invisible(delete({"id": "b"})),
        service("restore", of=0),
        upsert(row(1, "after the restore", key="c")),
        requirements=("TL-023", "TYP-007"),
        says="After a restore the table is as at its savepoint, with what was written since the restore.",
        if_it_fails="The restore removed later instants and their files; a reader must not remember them.",
        flags=("resurrected-row",),
        producers=(HUDI,),
    ),
]

ARCHIVING = {
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.clean.automatic": "true",
    "hoodie.cleaner.commits.retained": "1",
    "hoodie.timeline.compaction.batch.size": "3",
}


def archived(name: str, table: Table, commits: int, options: Mapping[str, str] = ARCHIVING, **more: Any) -> Recipe:
    """A table with so many commits, by Apache Hudi, that its writer archives most of them."""
    about = {"producers": (HUDI,), "needs": ("timeline.history",), **more}
    return recipe("timeline", f"history.{name}", table.having(options=options), *numbered(commits), **about)


HISTORY = [
    archived(
        short,
        table,
        9,
        checks=(
            Check(
                requirements=("RDR-009", "ARC-002", "TL-055"),
                says="Files of instants that were moved to the history still count as committed.",
                if_it_fails="An instant older than the active timeline is archived and so completed; the history says when.",
                flags=("lost-write",),
            ),
            shown(
                "LSM-001",
                "LSM-002",
                "LSM-003",
                "LSM-007",
                "LSM-010",
                "LSM-012",
                "LSM-017",
                "LSM-018",
                "LSM-019",
                "ARC-002",
                says="Active timeline and history together hold every completed action once, with both its times.",
                needs=("timeline.history",),
            ),
        ),
    )
    for short, table in (("cow", COW_PARTED), ("mor", MOR_PARTED))
] + [
    archived(
        "with-leftovers",
        MOR_PARTED,
        8,
        edits=(
            add(".hoodie/timeline/history/manifest_99.0a1b2c3d-0000-4000-8000-000000000000", '{"files": ['),
            add(".hoodie/timeline/history/20200101000000000_20200101000000001_0.parquet", b"PAR1 cut short"),
        ),
        requirements=("LSM-012", "LSM-009", "RDR-009"),
        says="A left-over temporary manifest and an unlisted file in the history folder have no effect.",
        if_it_fails="The current manifest is the one that _version_ names, and only files it lists count.",
        flags=("lost-write",),
    ),
    archived(
        "version-file-missing",
        MOR_PARTED,
        8,
        edits=(lambda folder, _: only(folder, ".hoodie/timeline/history/_version_").unlink(),),
        requirements=("LSM-005", "RDR-009"),
        says="If the version file of the history is gone for a moment, the manifest with the highest number counts.",
        if_it_fails="The version file is deleted and created again by deployed writers; fall back to the largest manifest.",
        flags=("lost-write",),
    ),
]

RECIPES = [*SERVICES, *HISTORY]
