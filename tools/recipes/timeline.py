"""The timeline: what counts as done, and what lies about without counting."""

from typing import Any

from tools.recipes.recipe import (
    COMMIT,
    COW,
    HUDI,
    MOR,
    REFERENCE,
    AsOf,
    Check,
    Recipe,
    Row,
    Step,
    Table,
    compact,
    delete,
    delete_partition,
    insert,
    insert_overwrite,
    invisible,
    service,
    upsert,
)
from tools.recipes.surgery import add, back_to_requested, copy, erase_instant, only, uncommit

COLUMNS = (("id", "string"), ("ts", "long"), ("name", "string"))
PARTED = (*COLUMNS, ("p", "string"))
COW_TABLE = Table(columns=COLUMNS, type=COW)
MOR_TABLE = Table(columns=COLUMNS, type=MOR)
COW_PARTED = Table(columns=PARTED, type=COW, partition=("p",))
MOR_PARTED = Table(columns=PARTED, type=MOR, partition=("p",))
BOTH_TYPES = (("cow", COW_TABLE), ("mor", MOR_TABLE))

NOT_DONE = (
    "Files of an instant that is not completed were read: take the list of files from completed instants, never from "
    "the folder alone."
)
SLICES = "Print the file slices (inspect) and compare base instant and log files with the timeline."


def row(ts: int, name: str, key: str = "a", **more: Any) -> Row:
    """A version of record `key`."""
    return {"id": key, "ts": ts, "name": name, **more}


def numbered(count: int) -> tuple[Step, ...]:
    """A first commit to two partitions, then commits 1 to `count` that update one record in one of them."""
    first = upsert(row(0, "never changed", key="s", p="s"), row(0, "first", p="n"), row(0, "first", key="z", p="n"))
    return (first, *(upsert(row(n, f"commit {n}", p="n")) for n in range(1, count + 1)))


def shown(*requirements: str, says: str, **more: Any) -> Check:
    """A check of what inspecting shows of the timeline."""
    return Check(
        name="timeline",
        requirements=requirements,
        says=says,
        timeline=True,
        if_it_fails="Compare the listing of .hoodie/timeline with the table of file names, action by action.",
        **more,
    )


def timeline(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of this area; what is not about the recipe is about its one check, unless `checks` are given."""
    about = {key: more.pop(key) for key in ("producers", "surgery", "needs", "note") if key in more}
    checks = more.pop("checks", None) or (Check(**more),)
    return Recipe(name=name, area="timeline", table=table, steps=steps, checks=checks, **about)


PENDING = [
    *(
        timeline(
            f"pending.{state}.{short}",
            table,
            upsert(row(1, "committed"), row(1, "bystander", key="b")),
            invisible(upsert(row(2, "not committed"), row(2, "not committed either", key="c"))),
            surgery=(surgery,),
            requirements=("TL-033", "RDR-008", "TL-025"),
            says=f"The files of an instant that is {words} contribute nothing.",
            if_it_fails=NOT_DONE,
            flags=("dirty-read",),
        )
        for state, words, surgery in (
            ("inflight", "inflight", uncommit(1)),
            ("requested", "only requested", back_to_requested(1)),
            ("unknown-to-the-timeline", "unknown to the timeline", erase_instant(1)),
        )
        for short, table in BOTH_TYPES
    ),
    *(
        timeline(
            f"pending.before-a-completed-one.{short}",
            table,
            upsert(row(1, "north", p="n"), row(1, "south", key="b", p="s")),
            invisible(upsert(row(2, "not committed", p="n"))),
            upsert(row(3, "south again", key="b", p="s")),
            surgery=(uncommit(1),),
            requirements=("TL-033", "RDR-008", "TL-030"),
            says="An instant that is still inflight counts for nothing although a later one has completed.",
            if_it_fails="Everything up to the latest completed instant was taken for completed.",
            flags=("dirty-read",),
        )
        for short, table in (("cow", COW_PARTED), ("mor", MOR_PARTED))
    ),
    timeline(
        "pending.delete.mor",
        MOR_TABLE,
        upsert(row(1, "committed"), row(1, "bystander", key="b")),
        invisible(delete({"id": "a"})),
        surgery=(uncommit(1),),
        requirements=("TL-033", "RDR-008", "LF-036"),
        says="A delete whose instant did not complete removes nothing.",
        if_it_fails=NOT_DONE,
        flags=("lost-write", "dirty-read"),
    ),
    timeline(
        "pending.delete.cow",
        COW_TABLE,
        upsert(row(1, "committed"), row(1, "bystander", key="b")),
        invisible(delete({"id": "a"})),
        surgery=(uncommit(1),),
        requirements=("TL-033", "RDR-008", "RDR-012"),
        says="A base file without a row, written by a delete that did not complete, removes nothing.",
        if_it_fails=NOT_DONE,
        flags=("lost-write", "dirty-read"),
    ),
    timeline(
        "pending.base-file-before-a-committed-log",
        MOR_TABLE,
        upsert(row(1, "base"), row(1, "bystander", key="b")),
        invisible(upsert(row(2, "makes a new base file, not committed", key="z"))),
        upsert(row(3, "in a log behind the uncommitted base file")),
        surgery=(uncommit(1),),
        producers=(HUDI,),
        requirements=("RDR-012", "RDR-013", "RDR-008"),
        says="A committed log counts although a base file that nobody committed lies between it and its real base file.",
        if_it_fails="A base file of a pending instant opened a slice and took the log with it; leave it out before slicing.",
        flags=("lost-write",),
    ),
    timeline(
        "pending.first-instant",
        COW_TABLE,
        upsert(row(1, "committed"), columns=COLUMNS),
        invisible(upsert(row(2, "not committed"))),
        surgery=(uncommit(1),),
        requirements=("RDR-003", "RDR-005"),
        says="The read time is that of the latest completed action, not of the latest instant on the timeline.",
        if_it_fails=NOT_DONE,
        flags=("dirty-read",),
        producers=(REFERENCE,),
    ),
]

AS_OF_STEPS = (
    upsert(row(1, "first"), row(1, "deleted later", key="b")),
    upsert(row(2, "second"), row(2, "added", key="c")),
    delete({"id": "b"}),
    upsert(row(4, "fourth")),
)


def as_of_checks() -> tuple[Check, ...]:
    """Time travel to each instant in its exact form, and to the other forms of a time."""
    asked = "The filter is: requested times, compared as text, no later than the one asked for."
    checks = [
        Check(
            name=f"step-{step + 1}",
            kind="as-of",
            as_of=AsOf(step),
            requirements=("TYP-008", "RDR-005", "LAY-024"),
            says=f"Time travel to the requested time of commit {step + 1} shows what a snapshot showed then.",
            if_it_fails=asked,
            flags=("silent-stale",),
        )
        for step in range(len(AS_OF_STEPS))
    ]
    return (
        *checks,
        Check(
            name="before-the-first",
            kind="as-of",
            as_of=AsOf(0, "before"),
            requirements=("TYP-008", "RDR-006"),
            says="Time travel to a time before the first commit shows no rows.",
            if_it_fails="Instants after the read time took part.",
            flags=("dirty-read",),
        ),
        Check(
            name="fourteen-digits",
            kind="as-of",
            as_of=AsOf(2, "14"),
            requirements=("TYP-008",),
            says="A time of 14 digits compares as text: it lies before the instants of its own second.",
            if_it_fails=asked + " Fourteen digits are not extended.",
            flags=("dirty-read",),
        ),
        Check(
            name="date-and-time",
            kind="as-of",
            as_of=AsOf(1, "text"),
            requirements=("TYP-008",),
            says="A time written as yyyy-MM-dd HH:mm:ss.SSS means the instant of the same digits.",
            if_it_fails="The digits are taken as they are, without conversion between zones.",
            flags=("silent-stale",),
        ),
        Check(
            name="date",
            kind="as-of",
            as_of=AsOf(0, "date"),
            requirements=("TYP-008",),
            says="A bare date means its midnight, before all commits of that day.",
            if_it_fails="The date was taken for the end of the day or not understood.",
            flags=("dirty-read",),
        ),
    )


TWO_TIMES = shown(
    "TL-031",
    "TL-004",
    "TL-006",
    "LAY-017",
    says="A completed instant is known by requested time, completion time and action, all from its file's name.",
)

AS_OF = [timeline(f"as-of.{short}", table, *AS_OF_STEPS, checks=(*as_of_checks(), TWO_TIMES)) for short, table in BOTH_TYPES]

SERVICES = [
    timeline(
        "compaction.pending",
        MOR_TABLE,
        upsert(row(1, "base"), row(1, "bystander", key="b")),
        upsert(row(2, "in the log before the plan")),
        service("schedule_compaction"),
        upsert(row(3, "in the log after the plan"), row(3, "newer", key="b")),
        producers=(HUDI,),
        needs=("timeline.pending-compaction",),
        checks=(
            Check(
                requirements=("NBC-002", "CMP-003", "TYP-007"),
                says="While a compaction is only planned, logs from before and after the plan meet the old base file.",
                if_it_fails="The planned compaction opens a slice without base file; merge it with the slice before it. "
                + SLICES,
                flags=("silent-stale", "lost-write"),
            ),
            Check(
                name="read-optimized",
                kind="read-optimized",
                requirements=("TYP-017", "RDR-012"),
                says="While a compaction is only planned, the old base files are the read-optimized answer.",
                if_it_fails="The slice of the planned compaction has no base file yet; the one before it counts.",
                flags=("silent-stale",),
            ),
            Check(
                name="as-of-before-the-plan",
                kind="as-of",
                as_of=AsOf(1),
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
        surgery=(uncommit(3),),
        producers=(HUDI,),
        needs=("timeline.pending-compaction",),
        checks=(
            Check(
                requirements=("RDR-012", "RDR-008", "RDR-015"),
                says="The base file of a compaction that is still running is not read; old base file and logs are.",
                if_it_fails="The running compaction's base file was taken, and with it logs lost or applied twice. " + SLICES,
                flags=("lost-write",),
            ),
            Check(
                name="read-optimized",
                kind="read-optimized",
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
        upsert(row(1, "base"), row(1, "bystander", key="b")),
        upsert(row(2, "compacted")),
        compact(),
        upsert(row(3, "after the compaction")),
        producers=(HUDI,),
        checks=(
            Check(
                requirements=("TL-044", "RDR-015", "CMP-005"),
                says="After a compaction the new base file and the logs after it are read, and no older file.",
                if_it_fails=SLICES,
                flags=("double-apply",),
            ),
            Check(
                name="read-optimized",
                kind="read-optimized",
                requirements=("TYP-017", "CMP-001"),
                says="The read-optimized answer is the state of the compaction.",
                if_it_fails="A completed compaction is a commit on the timeline whose requested file says compaction.",
                flags=("silent-stale",),
            ),
            Check(
                name="as-of-before-the-compaction",
                kind="as-of",
                as_of=AsOf(1),
                requirements=("TYP-008", "CMP-005"),
                says="Time travel to before a compaction reads the older slice, which is still there.",
                if_it_fails=SLICES,
                flags=("silent-stale",),
            ),
            Check(
                name="as-of-the-compaction",
                kind="as-of",
                as_of=AsOf(2),
                requirements=("TYP-008", "RDR-013"),
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
        producers=(HUDI,),
        needs=("timeline.replaced-groups",),
        checks=(
            Check(
                requirements=("TL-043", "TL-042", "RDR-010", "TL-011"),
                says="After a clustering the new file groups are read and the replaced ones are not.",
                if_it_fails="Old and new file groups were read, or the replacecommit was not tied to its pending clustering.",
                flags=("double-apply",),
            ),
            Check(
                name="as-of-before-the-clustering",
                kind="as-of",
                as_of=AsOf(1),
                requirements=("RDR-011", "TYP-008"),
                says="Time travel to before a clustering still reads the replaced file groups.",
                if_it_fails="Replaced groups are hidden from the replacing instant on, not for ever.",
                flags=("lost-write",),
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
        producers=(HUDI,),
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
        surgery=(uncommit(2),),
        producers=(HUDI,),
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
        producers=(HUDI,),
        needs=("timeline.replaced-groups",),
        checks=(
            Check(
                requirements=("TL-039", "TL-010", "RDR-010"),
                says="An insert overwrite replaces all rows of its partitions and leaves the others.",
                if_it_fails="The completed replacecommit names the replaced file ids by partition; leave those groups out.",
                flags=("resurrected-row",),
            ),
            Check(
                name="as-of-before",
                kind="as-of",
                as_of=AsOf(0),
                requirements=("RDR-011", "TYP-008"),
                says="Time travel to before an insert overwrite sees the replaced rows and not the new ones.",
                if_it_fails="Replaced groups are hidden from the replacing instant on, not for ever.",
                flags=("lost-write",),
            ),
            shown("TL-039", says="An insert overwrite is a replacecommit in all its states."),
        ),
    ),
    timeline(
        "insert-overwrite.merge-on-read",
        MOR_PARTED,
        upsert(row(1, "north", p="n"), row(1, "south", key="c", p="s")),
        upsert(row(2, "north, in a log", p="n")),
        insert_overwrite(row(1, "instead", key="d", p="n")),
        producers=(HUDI,),
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
        surgery=(uncommit(1),),
        producers=(HUDI,),
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
        producers=(HUDI,),
        needs=("timeline.replaced-groups",),
        checks=(
            Check(
                requirements=("TL-039", "RDR-010"),
                says="The rows of a deleted partition are gone.",
                if_it_fails="A replacecommit without new files still replaces the groups it names.",
                flags=("resurrected-row",),
            ),
            Check(
                name="as-of-before",
                kind="as-of",
                as_of=AsOf(1),
                requirements=("RDR-011", "TYP-008"),
                says="Time travel to before a partition was deleted still sees its rows.",
                if_it_fails="Replaced groups are hidden from the replacing instant on, not for ever.",
                flags=("lost-write",),
            ),
        ),
    ),
    *(
        timeline(
            f"clean.{short}",
            table,
            upsert(row(1, "first"), row(1, "bystander", key="b")),
            upsert(row(2, "second")),
            *([compact()] if short == "mor" else []),
            service("clean"),
            upsert(row(3, "after the clean")),
            producers=(HUDI,),
            requirements=("CLN-001", "TL-013", "TYP-007"),
            says="Files that a clean deleted are not missed by a snapshot.",
            if_it_fails="Take files from the latest slices; metadata of older commits may name files that are gone.",
            flags=("lost-write",),
        )
        for short, table in BOTH_TYPES
    ),
    *(
        timeline(
            f"rollback.{short}",
            table,
            upsert(row(1, "first"), row(1, "bystander", key="b")),
            invisible(upsert(row(2, "rolled back"))),
            service("rollback", of=1),
            upsert(row(1, "added later", key="c")),
            producers=(HUDI,),
            requirements=("TL-019", "TL-033", "TYP-007"),
            says="A commit that was rolled back is as if it had never been.",
            if_it_fails="The rollback removed the instant's files; what is left is the state before it.",
            flags=("resurrected-row",),
        )
        for short, table in BOTH_TYPES
    ),
    timeline(
        "savepoint",
        COW_TABLE,
        upsert(row(1, "first"), row(1, "bystander", key="b")),
        service("savepoint", of=0),
        upsert(row(2, "second")),
        producers=(HUDI,),
        checks=(
            Check(
                requirements=("TL-021", "TL-022"),
                says="A savepoint changes no row; it shares its requested time with the commit that it protects.",
                if_it_fails="Savepoint and commit of one requested time are two actions; do not let one hide the other.",
                flags=("lost-write",),
                errata=("ER-002",),
            ),
            Check(
                name="as-of",
                kind="as-of",
                as_of=AsOf(0),
                requirements=("TL-021", "TYP-008"),
                says="Time travel to a savepointed instant shows its rows.",
                if_it_fails="Savepoint and commit of one requested time are two actions; do not let one hide the other.",
                flags=("silent-stale",),
            ),
            shown(
                "TL-022",
                "TL-045",
                says="A savepoint and the commit that it protects are two completed instants of one requested time.",
                errata=("ER-002",),
            ),
        ),
    ),
    *(
        timeline(
            f"restore.{short}",
            table,
            upsert(row(1, "first"), row(1, "bystander", key="b")),
            service("savepoint", of=0),
            invisible(upsert(row(2, "undone"))),
            invisible(delete({"id": "b"})),
            service("restore", of=0),
            upsert(row(1, "after the restore", key="c")),
            producers=(HUDI,),
            requirements=("TL-023", "TYP-007"),
            says="After a restore the table is as at its savepoint, with what was written since the restore.",
            if_it_fails="The restore removed later instants and their files; a reader must not remember them.",
            flags=("resurrected-row",),
        )
        for short, table in BOTH_TYPES
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

HISTORY = [
    timeline(
        f"history.{short}",
        table.having(options=ARCHIVING),
        *numbered(9),
        producers=(HUDI,),
        needs=("timeline.history",),
        checks=(
            Check(
                requirements=("RDR-009", "ARC-002", "TL-055"),
                says="Files of instants that were moved to the history still count as committed.",
                if_it_fails="An instant older than the active timeline is archived and so completed; the history says when.",
                flags=("lost-write",),
            ),
            shown(
                "LSM-002",
                "LSM-003",
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
    timeline(
        "history.with-leftovers",
        MOR_PARTED.having(options=ARCHIVING),
        *numbered(8),
        surgery=(
            add(".hoodie/timeline/history/manifest_99.0a1b2c3d-0000-4000-8000-000000000000", '{"files": ['),
            add(".hoodie/timeline/history/20200101000000000_20200101000000001_0.parquet", b"PAR1 cut short"),
        ),
        producers=(HUDI,),
        needs=("timeline.history",),
        requirements=("LSM-012", "LSM-009", "RDR-009"),
        says="A left-over temporary manifest and an unlisted file in the history folder do not disturb.",
        if_it_fails="The current manifest is the one that _version_ names, and only files it lists count.",
        flags=("lost-write",),
    ),
    timeline(
        "history.version-file-missing",
        MOR_PARTED.having(options=ARCHIVING),
        *numbered(8),
        surgery=(lambda folder, _: only(folder, ".hoodie/timeline/history/_version_").unlink(),),
        producers=(HUDI,),
        needs=("timeline.history",),
        requirements=("LSM-005", "RDR-009"),
        says="If the version file of the history is gone for a moment, the manifest with the highest number counts.",
        if_it_fails="The version file is deleted and created again by deployed writers; fall back to the largest manifest.",
        flags=("lost-write",),
    ),
]


def twice_completed(path: str, instants: Any) -> str:
    """The name of the last instant's completed file with a completion time one minute later."""
    begin, _, rest = path.rpartition("/")[2].partition("_")
    completion, _, action = rest.partition(".")
    return f".hoodie/timeline/{begin}_{int(completion) + 100000}.{action}"


FOREIGN = [
    timeline(
        f"foreign-timeline-files.{short}",
        table,
        upsert(row(1, "first"), row(1, "bystander", key="b")),
        upsert(row(2, "second")),
        surgery=(
            add(".hoodie/timeline/README.txt", "nothing to do with an instant\n"),
            add(".hoodie/timeline/29990101000000000_29990101000000001.commit.4c0ffee0-0000-4000-8000-000000000000", "{"),
            add(".hoodie/timeline/29990101000000000.commit.requested.tmp", ""),
            add(".hoodie/timeline/29990101000000000.unknownaction", ""),
            add(".hoodie/timeline/sub/29990101000000000_29990101000000001.commit", "{"),
            add(".hoodie/.temp/29990101000000000/a.parquet.marker.CREATE", ""),
            add(".hoodie/.heartbeat/29990101000000000", ""),
            add(".hoodie/.aux/something", "left over"),
        ),
        requirements=("TL-033", "LAY-011"),
        says="Files in the timeline folder that are no instants, markers, heartbeats and temporary files are ignored.",
        if_it_fails="Match the whole file name against the grammar of instants; ignore what does not match.",
        flags=("lost-write",),
    )
    for short, table in BOTH_TYPES
] + [
    timeline(
        "completed-twice",
        COW_TABLE,
        upsert(row(1, "first")),
        upsert(row(2, "second")),
        surgery=(copy(".hoodie/timeline/{1}_*", twice_completed),),
        requirements=("TL-052", "TL-053"),
        says="Two completed files of one instant count once.",
        if_it_fails="Group timeline files by requested time and action before anything else.",
        flags=("double-apply",),
    ),
    timeline(
        "pending-files-of-completed-instants-are-gone",
        MOR_TABLE,
        upsert(row(1, "first"), row(1, "bystander", key="b")),
        upsert(row(2, "second")),
        surgery=(
            lambda folder, _: [f.unlink() for f in sorted((folder / ".hoodie/timeline").glob("*.requested"))] and None,
            lambda folder, _: [f.unlink() for f in sorted((folder / ".hoodie/timeline").glob("*.inflight"))] and None,
        ),
        requirements=("TL-053", "TL-031"),
        says="A completed file alone makes an instant completed; its earlier states need not be there any more.",
        if_it_fails="The state of an instant is the highest of the files found.",
        flags=("lost-write",),
    ),
    timeline(
        "an-instant-of-thirteen-digits",
        COW_TABLE,
        upsert(row(1, "first")),
        surgery=(add(".hoodie/timeline/2026112109150.commit.requested", ""),),
        requirements=("TL-027",),
        says="A file that claims to be an instant, with a begin time of 13 digits, may be an error or be ignored.",
        if_it_fails="Answers are recorded and nobody fails.",
        open=True,
    ),
    timeline(
        "utc-timeline",
        COW_TABLE.having(options={"hoodie.table.timeline.timezone": "UTC"}),
        upsert(row(1, "first")),
        upsert(row(2, "second")),
        producers=(HUDI,),
        checks=(
            Check(
                requirements=("TT-001",),
                says="A table whose timeline is in UTC reads like any other: times are compared as text.",
                if_it_fails="Instants must not be converted between zones.",
                flags=("silent-stale",),
            ),
            Check(
                name="as-of",
                kind="as-of",
                as_of=AsOf(0),
                requirements=("TT-001", "TYP-008"),
                says="Time travel on a table whose timeline is in UTC takes the digits as they are.",
                if_it_fails="Instants must not be converted between zones.",
                flags=("silent-stale",),
            ),
        ),
    ),
]


def completing_in_reverse(folder: Any, instants: Any) -> None:
    """Let the second instant complete after the third, which began later."""
    second, third = (only(folder / ".hoodie/timeline", f"{instants[n]}_*") for n in (1, 2))
    completion = str(int(third.name.partition("_")[2].partition(".")[0]) + 1000)
    second.rename(second.with_name(f"{instants[1]}_{completion}.deltacommit"))


OVERLAP = [
    timeline(
        "overlapping-writers.commit-time",
        MOR_TABLE.having(merge_mode=COMMIT),
        upsert(row(1, "base"), row(1, "bystander", key="b")),
        upsert(row(2, "began first, completed last")),
        upsert(row(3, "began last, completed first")),
        surgery=(completing_in_reverse,),
        requirements=("RDR-014", "MRG-027", "TL-054"),
        says="Of two overlapping delta commits the last one completed wins by the spec, the last one requested in engines.",
        rows=(row(2, "began first, completed last"), row(1, "bystander", key="b")),
        if_it_fails="Answers are recorded and nobody fails.",
        open=True,
    ),
    timeline(
        "overlapping-writers.event-time",
        MOR_TABLE,
        upsert(row(1, "base"), row(1, "bystander", key="b")),
        upsert(row(3, "began first, completed last, greatest ordering value")),
        upsert(row(2, "began last, completed first")),
        surgery=(completing_in_reverse,),
        requirements=("NBC-001", "MRG-030"),
        says="In event-time mode the greatest ordering value wins in whatever order overlapping writers complete.",
        if_it_fails="Compare ordering values; neither requested nor completion time decides.",
        flags=("silent-stale",),
    ),
]

RECIPES = [*PENDING, *AS_OF, *SERVICES, *HISTORY, *FOREIGN, *OVERLAP]
