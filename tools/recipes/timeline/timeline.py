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
from tools.recipes.table_edits import add, back_to_requested, copy, erase_instant, only, uncommit

COW_TABLE = Table(columns=COLUMNS, type=COW)
MOR_TABLE = Table(columns=COLUMNS, type=MOR)
COW_PARTED = Table(columns=PARTED, type=COW, partition=("p",))
MOR_PARTED = Table(columns=PARTED, type=MOR, partition=("p",))
BOTH_TYPES = (("cow", COW_TABLE), ("mor", MOR_TABLE))

BYSTANDER = row(1, "bystander", key="b")
BASE, COMMITTED, FIRST = (upsert(row(1, name), BYSTANDER) for name in ("base", "committed", "first"))

NOT_DONE = (
    "Files of an instant that is not completed were read: take the list of files from completed instants, never from "
    "the folder alone."
)
SLICES = "Print the file slices (inspect) and compare base instant and log files with the timeline."


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


def before_replacement(step: int, says: str, name: str = "as-of-before") -> Check:
    """A check of time travel to before file groups were replaced."""
    return as_of(
        step,
        name,
        requirements=("RDR-011", "TYP-008"),
        says=says,
        if_it_fails="Replaced groups are hidden from the replacing instant on, not for ever.",
        flags=("lost-write",),
    )


def timeline(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A recipe of this area."""
    return recipe("timeline", name, table, *steps, **more)


def not_completed(name: str, table: Table, *steps: Step, **more: Any) -> Recipe:
    """A table whose second step is still pending, by an edit: it must have no effect."""
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
            says=f"The files of an instant that is {words} contribute nothing.",
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
            says="An instant that is still inflight counts for nothing although a later one has completed.",
            if_it_fails="Everything up to the latest completed instant was taken for completed.",
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
            ("mor", MOR_TABLE, "LF-036", "A delete whose instant did not complete removes nothing."),
            (
                "cow",
                COW_TABLE,
                "RDR-012",
                "A base file without a row, written by a delete that did not complete, removes nothing.",
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
        says="A committed log counts although an uncommitted base file is between it and its own base file.",
        if_it_fails="A base file of a pending instant opened a slice and took the log with it; leave it out before slicing.",
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
    """Time travel to each instant in its exact form, and to the other forms of a time."""
    asked = "The filter is: requested times, compared as text, no later than the one asked for."
    checks = [
        as_of(
            step,
            f"step-{step + 1}",
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
            says="Time travel to a time before the first commit is refused, or shows no rows.",
            if_it_fails="Instants after the read time took part.",
            flags=("dirty-read",),
            or_error=True,
            errata=("ER-137",),
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
        *(
            Check(
                name=name,
                kind="as-of",
                as_of=form,
                requirements=("TYP-008",),
                says=says,
                if_it_fails="Which texts a time may have is not in the spec; answers are recorded and no engine fails.",
                open=True,
            )
            for name, form, says in (
                (
                    "date-and-time",
                    AsOf(1, "text"),
                    "A time written as yyyy-MM-dd HH:mm:ss.SSS means the instant of the same digits.",
                ),
                (
                    "date",
                    AsOf(0, "date"),
                    "A bare date means its midnight, before all commits of that day: as before the first commit.",
                ),
            )
        ),
    )


def two_times(rule_of_the_action: str) -> Check:
    """A check of the completed instants of a table without services."""
    return shown(
        "TL-031",
        "TL-004",
        rule_of_the_action,
        "LAY-017",
        says="A completed instant is known by requested time, completion time and action, all from its file's name.",
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
        edits=(copy(".hoodie/timeline/{1}_*", twice_completed),),
        requirements=("TL-052", "TL-053"),
        says="Two completed files of one instant count once.",
        if_it_fails="Group timeline files by requested time and action before anything else.",
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
        says="A completed file alone makes an instant completed; its earlier states need not be there any more.",
        if_it_fails="The state of an instant is the highest of the files found.",
        flags=("lost-write",),
    ),
    timeline(
        "an-instant-of-thirteen-digits",
        COW_TABLE,
        upsert(row(1, "first")),
        edits=(add(".hoodie/timeline/2026112109150.commit.requested", ""),),
        requirements=("TL-027",),
        says="A file that claims to be an instant, with a begin time of 13 digits, may be an error or be ignored.",
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
                says="A table whose timeline is in UTC reads like any other: times are compared as text.",
                if_it_fails="Instants must not be converted between zones.",
                flags=("silent-stale",),
            ),
            as_of(
                0,
                "as-of",
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
        BASE,
        upsert(row(2, "began first, completed last")),
        upsert(row(3, "began last, completed first")),
        edits=(completing_in_reverse,),
        requirements=("RDR-014", "MRG-027", "TL-054"),
        says="Of two overlapping delta commits the last one completed wins by the spec, the last one requested in engines.",
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
        says="In event-time mode the greatest ordering value wins in whatever order overlapping writers complete.",
        if_it_fails="Compare ordering values; neither requested nor completion time decides.",
        flags=("silent-stale",),
    ),
]

RECIPES = [*PENDING, *AS_OF, *FOREIGN, *OVERLAP]
