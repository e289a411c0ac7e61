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
from tools.recipes.table_edits import add, find_file, uncommit
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
    check_timeline,
    row,
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
                says=(
                    "While a compaction is only requested, log files from before and after it are merged with the old "
                    "base file."
                ),
                if_it_fails="The planned compaction opens a slice without base file; merge it with the slice before it. "
                + SLICES,
                flags=("silent-stale", "lost-write"),
            ),
            read_optimized(
                requirements=("TYP-017", "RDR-012"),
                says="While a compaction is only requested, a read-optimized query reads the old base files.",
                if_it_fails="The slice of the requested compaction has no base file yet; use the slice before it.",
                flags=("silent-stale",),
            ),
            as_of(
                1,
                "as-of-before-the-plan",
                requirements=("TYP-008", "RDR-012"),
                says="Time travel to before a requested compaction reads the base file and the log file of that time.",
                if_it_fails=SLICES,
                flags=("silent-stale",),
            ),
            check_timeline(
                "TL-027",
                "TL-047",
                "TL-025",
                says="A requested compaction is on the timeline under the action compaction, in the state requested.",
            ),
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
                says="The base file of an inflight compaction is not read; the old base file and the log files are.",
                if_it_fails="The running compaction's base file was taken, and with it logs lost or applied twice. " + SLICES,
                flags=("lost-write",),
            ),
            read_optimized(
                requirements=("RDR-012", "RDR-008"),
                says="A read-optimized query does not read the base file of an inflight compaction.",
                if_it_fails=NOT_DONE,
                flags=("dirty-read",),
            ),
            check_timeline("TL-028", "TL-053", says="A compaction with requested and inflight files is inflight."),
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
                says="After a compaction the new base file and later log files are read, and no older file.",
                if_it_fails=SLICES,
                flags=("double-apply",),
            ),
            read_optimized(
                requirements=("TYP-017", "CMP-001"),
                says="A read-optimized query returns the rows at the time of the compaction.",
                if_it_fails=(
                    "A completed compaction is a commit on the timeline; its requested file has the action compaction."
                ),
                flags=("silent-stale",),
            ),
            as_of(
                1,
                "as-of-before-the-compaction",
                requirements=("TYP-008", "CMP-005", "BF-009"),
                says="Time travel to before a compaction reads the older slice, which still exists.",
                if_it_fails=SLICES,
                flags=("silent-stale",),
            ),
            as_of(
                2,
                "as-of-the-compaction",
                requirements=("TYP-008", "RDR-013", "LF-004"),
                says="Time travel to the instant of a compaction leaves out the log file written after it.",
                if_it_fails=SLICES,
                flags=("dirty-read",),
            ),
            check_timeline(
                "TL-044",
                "TL-042",
                says="A completed compaction is a completed commit, and none of its instants is pending.",
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
                if_it_fails=(
                    "Old and new file groups were read, or the replacecommit was not matched with its pending clustering."
                ),
                flags=("double-apply",),
            ),
            before_replacement(
                1,
                "Time travel to before a clustering reads the replaced file groups.",
                name="as-of-before-the-clustering",
            ),
            check_timeline(
                "TL-043",
                "TL-042",
                says="A completed clustering is a completed replacecommit, and none of its instants is pending.",
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
        says="A clustering that is only requested hides no file group.",
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
        says="The new file groups of an inflight clustering are not read; the old ones are.",
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
                says="An insert overwrite replaces all rows of its partitions and leaves the other partitions unchanged.",
                if_it_fails="The completed replacecommit names the replaced file ids by partition; do not read those groups.",
                flags=("resurrected-row",),
            ),
            before_replacement(0, "Time travel to before an insert overwrite returns the replaced rows and not the new ones."),
            check_timeline("TL-039", says="An insert overwrite is a replacecommit in all its states."),
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
        says="An insert overwrite replaces the base files and log files of its partitions.",
        if_it_fails="Log files of a replaced file group were read.",
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
                says="The rows of a deleted partition are not returned.",
                if_it_fails="A replacecommit without new files still replaces the file groups that it names.",
                flags=("resurrected-row",),
            ),
            before_replacement(1, "Time travel to before a partition was deleted returns its rows."),
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
            says="A snapshot does not need files that a clean deleted.",
            if_it_fails="Select files by the latest slices; the metadata of older commits may name deleted files.",
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
        says="Time travel to a savepointed instant works after a clean, because its files are retained.",
        if_it_fails="The limit of the clean was applied to all earlier instants, including savepointed ones.",
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
        says="Time travel to an instant whose files were cleaned is an error, not an empty or partial answer.",
        error="cleaned",
        if_it_fails="The files of the commit are deleted; report an error, not a partial answer.",
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
        says="The rows of a commit that was rolled back are not returned.",
        if_it_fails="The rollback removed the files of the instant; the remaining files have the state before it.",
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
                says="A savepoint changes no row; it has the requested time of the commit that it protects.",
                if_it_fails="The savepoint and the commit of one requested time are two actions; neither hides the other.",
                flags=("lost-write",),
                errata=("ER-001",),
            ),
            as_of(
                0,
                "as-of",
                requirements=("TL-021", "TYP-008"),
                says="Time travel to a savepointed instant returns its rows.",
                if_it_fails="The savepoint and the commit of one requested time are two actions; neither hides the other.",
                flags=("silent-stale",),
            ),
            check_timeline(
                "TL-022",
                "TL-045",
                says="A savepoint and the commit that it protects are two completed instants with the same requested time.",
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
        says="After a restore the table has the rows of its savepoint and of the writes after the restore.",
        if_it_fails="The restore removed later instants and their files; a reader must not use what it read before.",
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
    """A table with so many commits that Apache Hudi's writer archives most of them."""
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
                says="The files of archived instants are still committed.",
                if_it_fails=(
                    "An instant older than the active timeline is archived and therefore completed; the history "
                    "has its completion time."
                ),
                flags=("lost-write",),
            ),
            check_timeline(
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
                says="Active timeline and history together have every completed action once, with both of its times.",
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
        says="A temporary manifest and an unlisted file that were left in the history folder have no effect.",
        if_it_fails="The valid manifest is the one that _version_ names, and only files that it lists are read.",
        flags=("lost-write",),
    ),
    archived(
        "version-file-missing",
        MOR_PARTED,
        8,
        edits=(lambda folder, _: find_file(folder, ".hoodie/timeline/history/_version_").unlink(),),
        requirements=("LSM-005", "RDR-009"),
        says="If the version file of the history is missing during an update, the manifest with the highest number is read.",
        if_it_fails=(
            "Deployed writers delete the version file and create it again; use the manifest with the highest number meanwhile."
        ),
        flags=("lost-write",),
    ),
]

RECIPES = [*SERVICES, *HISTORY]
