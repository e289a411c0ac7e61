"""The timeline: completed actions, pending actions, and files that are not part of the timeline."""

from typing import Any

from tools.recipes.recipe import (
    COMMIT,
    COW,
    HUDI,
    MOR,
    REFERENCE,
    UNDECIDED,
    AsOf,
    Check,
    Recipe,
    Step,
    Table,
    as_of,
    delete,
    invisible,
    recipe,
    upsert,
)
from tools.recipes.rows import COLUMNS, PARTED, row
from tools.recipes.table_edits import add, back_to_requested, copy, erase_instant, find_file, uncommit

COW_TABLE = Table(columns=COLUMNS, type=COW)
MOR_TABLE = Table(columns=COLUMNS, type=MOR)
COW_PARTED = Table(columns=PARTED, type=COW, partition=("p",))
MOR_PARTED = Table(columns=PARTED, type=MOR, partition=("p",))
BOTH_TYPES = (("cow", COW_TABLE), ("mor", MOR_TABLE))

BYSTANDER = row(1, "bystander", key="b")
BASE, COMMITTED, FIRST = (upsert(row(1, name), BYSTANDER) for name in ("base", "committed", "first"))

NOT_DONE = "Files of an instant that is not completed were read: select files by completed instants, never by the folder alone."
SLICES = "Print the file slices (inspect) and compare base instant and log files with the timeline."


def check_timeline(*requirements: str, says: str, **more: Any) -> Check:
    """A check of the timeline that `inspect` shows."""
    return Check(
        name="timeline",
        requirements=requirements,
        says=says,
        timeline=True,
        if_it_fails="Compare the listing of .hoodie/timeline with the table of file names, action by action.",
        **more,
    )


def before_replacement(step: int, says: str, name: str = "as-of-before") -> Check:
    """A time-travel check as of a time before file groups were replaced."""
    return as_of(
        step,
        name,
        requirements=("RDR-011", "TYP-008"),
        says=says,
        if_it_fails="Replaced file groups are hidden from the replacing instant on, and not before.",
        flags=("lost-write",),
    )


def timeline(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of this area."""
    return recipe("timeline", name, table, *steps, **more)


def not_completed(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A table whose second step is set to pending by an edit: it must have no effect."""
    about = {"edits": (uncommit(1),), "if_it_fails": NOT_DONE, "flags": ("dirty-read",), **more}
    return timeline(name, table, *steps, **about)


PENDING = [
    *(
        not_completed(
            f"pending.{state}.{short}",
            table,
            COMMITTED,
            invisible(upsert(row(2, "not committed"), row(2, "not committed either", key="c"))),
            edits=(edits,),
            requirements=("TL-033", "TL-034", "RDR-008"),
            says=f"The files of an instant that is {words} are not read.",
        )
        for state, words, edits in (
            ("inflight", "inflight", uncommit(1)),
            ("requested", "only requested", back_to_requested(1)),
            ("unknown-to-the-timeline", "unknown to the timeline", erase_instant(1)),
        )
        for short, table in BOTH_TYPES
    ),
    *(
        not_completed(
            f"pending.before-a-completed-one.{short}",
            table,
            upsert(row(1, "north", p="n"), row(1, "south", key="b", p="s")),
            invisible(upsert(row(2, "not committed", p="n"))),
            upsert(row(3, "south again", key="b", p="s")),
            requirements=("TL-033", "RDR-008", "TL-030"),
            says="The files of an inflight instant are not read, although a later instant has completed.",
            if_it_fails="Everything up to the latest completed instant was treated as completed.",
        )
        for short, table in (("cow", COW_PARTED), ("mor", MOR_PARTED))
    ),
    *(
        not_completed(
            f"pending.delete.{short}",
            table,
            COMMITTED,
            invisible(delete({"id": "a"})),
            requirements=("TL-033", "RDR-008", rule),
            says=says,
            flags=("lost-write", "dirty-read"),
        )
        for short, table, rule, says in (
            ("mor", MOR_TABLE, "LF-036", "A delete whose instant did not complete removes no row."),
            (
                "cow",
                COW_TABLE,
                "RDR-012",
                "A base file without a row, written by a delete that did not complete, does not remove the row.",
            ),
        )
    ),
    not_completed(
        "pending.base-file-before-a-committed-log",
        MOR_TABLE,
        BASE,
        invisible(upsert(row(2, "makes a new base file, not committed", key="z"))),
        upsert(row(3, "in a log behind the uncommitted base file")),
        producers=(HUDI,),
        requirements=("RDR-012", "RDR-013", "RDR-008"),
        says="A committed log file is read, although an uncommitted base file is between it and its own base file.",
        if_it_fails=(
            "A base file of a pending instant began a slice that took the log file; remove it before building slices."
        ),
        flags=("lost-write",),
    ),
    not_completed(
        "pending.first-instant",
        COW_TABLE,
        upsert(row(1, "committed"), columns=COLUMNS),
        invisible(upsert(row(2, "not committed"))),
        requirements=("RDR-003", "RDR-005"),
        says="The read time is that of the latest completed action, not of the latest instant on the timeline.",
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
    """Time-travel checks as of each instant, in the exact form and in the other forms of a time."""
    asked = "Select instants whose requested time, compared as text, is not after the read time."
    checks = [
        as_of(
            step,
            f"step-{step + 1}",
            requirements=("TYP-008", "RDR-005", "LAY-024"),
            says=f"Time travel to the requested time of commit {step + 1} returns the snapshot of that time.",
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
            says="Time travel to before the first commit is refused or returns no rows.",
            if_it_fails="Files of instants after the read time were read.",
            flags=("dirty-read",),
            or_error=True,
            errata=("ER-137",),
        ),
        Check(
            name="fourteen-digits",
            kind="as-of",
            as_of=AsOf(2, "14"),
            requirements=("TYP-008",),
            says="A read time of 14 digits is compared as text: it is before the instants of its own second.",
            if_it_fails=asked + " A time of 14 digits is not extended.",
            flags=("dirty-read",),
        ),
        *(
            Check(
                name=name,
                kind="as-of",
                as_of=form,
                requirements=("TYP-008",),
                says=says,
                if_it_fails=(
                    "The specification does not state the forms of a read time; answers are recorded and no engine fails."
                ),
                open=True,
            )
            for name, form, says in (
                (
                    "date-and-time",
                    AsOf(1, "text"),
                    "It is open whether a read time of the form yyyy-MM-dd HH:mm:ss.SSS is the instant with the same digits.",
                ),
                (
                    "date",
                    AsOf(0, "date"),
                    "It is open whether a read time that is only a date is its midnight, before all commits of that day.",
                ),
            )
        ),
    )


def two_times(rule_of_the_action: str) -> Check:
    """A check of the completed instants of a table without services."""
    return check_timeline(
        "TL-031",
        "TL-004",
        rule_of_the_action,
        "LAY-017",
        says="Requested time, completion time and action of a completed instant are all in its file name.",
    )


AS_OF = [
    timeline("as-of.cow", COW_TABLE, *AS_OF_STEPS, checks=(*as_of_checks(), two_times("TL-006"))),
    timeline("as-of.mor", MOR_TABLE, *AS_OF_STEPS, checks=(*as_of_checks(), two_times("TL-008"))),
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
        FIRST,
        upsert(row(2, "second")),
        edits=(
            add(".hoodie/timeline/README.txt", "nothing to do with an instant\n"),
            add(".hoodie/timeline/29990101000000000_29990101000000001.commit.4c0ffee0-0000-4000-8000-000000000000", "{"),
            add(".hoodie/timeline/29990101000000000.commit.requested.tmp", ""),
            add(".hoodie/timeline/29990101000000000.unknownaction", ""),
            add(".hoodie/timeline/sub/29990101000000000_29990101000000001.commit", "{"),
            add(".hoodie/.temp/29990101000000000/a.parquet.marker.CREATE", ""),
            add(".hoodie/.heartbeat/29990101000000000", ""),
            add(".hoodie/.aux/something", "left over"),
        ),
        requirements=("TL-033", "TL-037", "LAY-011"),
        says="Files in the timeline folder that are not instants, markers, heartbeats and temporary files are ignored.",
        if_it_fails="Match the whole file name with the grammar of instants; ignore files that do not match.",
        flags=("lost-write",),
    )
    for short, table in BOTH_TYPES
] + [
    timeline(
        "completed-twice",
        COW_TABLE,
        upsert(row(1, "first")),
        upsert(row(2, "second")),
        edits=(copy(".hoodie/timeline/{1}_*", twice_completed),),
        requirements=("TL-052", "TL-053"),
        says="An instant with two completed files counts once.",
        if_it_fails="Group timeline files by requested time and action before any other step.",
        flags=("double-apply",),
    ),
    timeline(
        "completed-files-alone",
        MOR_TABLE,
        FIRST,
        upsert(row(2, "second")),
        edits=(
            lambda folder, _: [f.unlink() for f in sorted((folder / ".hoodie/timeline").glob("*.requested"))] and None,
            lambda folder, _: [f.unlink() for f in sorted((folder / ".hoodie/timeline").glob("*.inflight"))] and None,
        ),
        requirements=("TL-053", "TL-031"),
        says="An instant with only a completed file is completed; the files of its earlier states may be missing.",
        if_it_fails="The state of an instant is the highest state of its files.",
        flags=("lost-write",),
    ),
    timeline(
        "an-instant-of-thirteen-digits",
        COW_TABLE,
        upsert(row(1, "first")),
        edits=(add(".hoodie/timeline/2026112109150.commit.requested", ""),),
        requirements=("TL-027",),
        says="It is open whether a timeline file with a requested time of 13 digits is ignored or an error.",
        **UNDECIDED,
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
                says="A table with a UTC timeline is read like any other: times are compared as text.",
                if_it_fails="Instants must not be converted between zones.",
                flags=("silent-stale",),
            ),
            as_of(
                0,
                "as-of",
                requirements=("TT-001", "TYP-008"),
                says="Time travel on a table with a UTC timeline compares the digits unchanged.",
                if_it_fails="Instants must not be converted between zones.",
                flags=("silent-stale",),
            ),
        ),
    ),
]


def completing_in_reverse(folder: Any, instants: Any) -> None:
    """Change the names so that the second instant completes after the third one, which began later."""
    second, third = (find_file(folder / ".hoodie/timeline", f"{instants[n]}_*") for n in (1, 2))
    completion = str(int(third.name.partition("_")[2].partition(".")[0]) + 1000)
    second.rename(second.with_name(f"{instants[1]}_{completion}.deltacommit"))


OVERLAP = [
    timeline(
        "overlapping-writers.commit-time",
        MOR_TABLE.having(merge_mode=COMMIT),
        BASE,
        upsert(row(2, "began first, completed last")),
        upsert(row(3, "began last, completed first")),
        edits=(completing_in_reverse,),
        requirements=("RDR-014", "MRG-027", "TL-054"),
        says=(
            "It is open which of two overlapping deltacommits wins: by the specification the last completed, in "
            "engines the last requested."
        ),
        rows=(row(2, "began first, completed last"), row(1, "bystander", key="b")),
        **UNDECIDED,
    ),
    timeline(
        "overlapping-writers.event-time",
        MOR_TABLE,
        BASE,
        upsert(row(3, "began first, completed last, greatest ordering value")),
        upsert(row(2, "began last, completed first")),
        edits=(completing_in_reverse,),
        requirements=("NBC-001", "MRG-030"),
        says="In event-time mode the greatest ordering value wins, in whatever order overlapping writers complete.",
        if_it_fails="Compare ordering values; neither the requested time nor the completion time decides.",
        flags=("silent-stale",),
    ),
]

RECIPES = [*PENDING, *AS_OF, *FOREIGN, *OVERLAP]
