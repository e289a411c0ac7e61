"""Windows of incremental and change queries, many for each table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.recipes.recipe import (
    BOTH,
    COW,
    HUDI,
    MOR,
    REFERENCE,
    Bound,
    Check,
    Recipe,
    Row,
    Step,
    Table,
    TableEdit,
    Window,
    compact,
    delete,
    delete_partition,
    insert,
    insert_overwrite,
    service,
    upsert,
    windows_of,
)
from tools.recipes.rows import SHORT
from tools.recipes.table_edits import TIMELINE, find_file

FEW = (("id", "string"), ("ts", "long"), ("v", "string"))
PARTED = (*FEW, ("p", "string"))
TYPES = (COW, MOR)


def row(key: str, ts: int, v: str, **more: Any) -> Row:
    """A version of record `key`."""
    return {"id": key, "ts": ts, "v": v, **more}


def at(step: int) -> Bound:
    """The completion time of that step."""
    return Bound(step)


def series(
    name: str, table: Table, *steps: Step, windows: Sequence[Window], kind: str = "incremental", says: str, if_it_fails: str,
    requirements: Sequence[str], flags: Sequence[str], **more: Any,
) -> Recipe:  # fmt: skip
    """A recipe with one check of many windows."""
    errata = tuple(more.pop("errata", ("ER-101",)))
    check = Check(
        kind=kind,  # type: ignore[arg-type]
        windows=tuple(windows),
        says=says,
        if_it_fails=if_it_fails,
        requirements=tuple(requirements),
        flags=tuple(flags),
        errata=errata,
        needs=tuple(more.pop("needs", ())),
    )
    return Recipe(name, "queries", table, steps, (check,), **more)


HISTORY: tuple[Step, ...] = (
    upsert(row("a", 1, "first"), row("b", 1, "goes"), row("c", 1, "stays")),
    upsert(row("a", 2, "second"), row("d", 2, "added")),
    delete({"id": "b"}),
    upsert(row("a", 3, "third"), row("d", 1, "late")),
    upsert(row("b", 4, "back")),
)
BY_COMPLETION = (
    "Select the instants that completed after the begin and up to the end; return a row if its "
    "_hoodie_commit_time is the requested time of one of them, in its state at the end of the window."
)
EVERY = [
    series(
        f"incremental.{SHORT[kind]}",
        Table(columns=FEW, type=kind),
        *HISTORY,
        windows=(*windows_of(*range(len(HISTORY))), Window(at(0), at(3)), Window(at(1), at(4)), Window(at(0), at(2))),
        says=(
            "A window returns each record that was written in it once, as of its end, without deletes and without "
            "late rows that lost."
        ),
        if_it_fails=BY_COMPLETION,
        requirements=("TYP-009", "TYP-010", "RDR-005") + (("RDR-007",) if kind == COW else ("MRG-029",)),
        flags=("lost-write", "silent-stale"),
        errata=("ER-101", "ER-102") if kind == MOR else ("ER-101",),
        producers=(HUDI,),
    )
    for kind in TYPES
]


def completes_late(step: int, after: int) -> TableEdit:
    """TableEdit: step `step` completes a millisecond after step `after`."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        file = find_file(folder / TIMELINE, f"{instants[step]}_*")
        completion = find_file(folder / TIMELINE, f"{instants[after]}_*").name[18:35]
        file.rename(file.with_name(f"{instants[step]}_{int(completion) + 1}{file.suffix}"))

    return act


#: The action that is requested first completes last; each writes new file groups.
OVERLAPPING = (
    upsert(row("a", 1, "first", p="n")),
    upsert(row("b", 1, "completes last", p="s")),
    upsert(row("a", 2, "second", p="n")),
    upsert(row("c", 1, "third", p="n")),
)
LATE = [
    series(
        f"incremental.overlapping.{SHORT[kind]}",
        Table(columns=PARTED, partition=("p",), type=kind),
        *OVERLAPPING,
        windows=(*windows_of(0, 2, 3, 1), Window(at(1), at(2))),
        edits=(completes_late(1, 3),),
        says="A write that was requested early and completed late is in the window of its completion, not in an earlier one.",
        if_it_fails=(
            "Select both the instants of a window and the state at its end by completion times, not by requested times."
        ),
        requirements=("TYP-009", "RDR-006", "TL-054"),
        flags=("lost-write", "dirty-read"),
        producers=(REFERENCE,),
    )
    for kind in TYPES
]

ARCHIVING = {
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.clean.automatic": "true",
    "hoodie.cleaner.commits.retained": "1",
    "hoodie.timeline.compaction.batch.size": "3",
}
SERVED = [
    series(
        "incremental.compacted",
        Table(columns=FEW),
        upsert(row("a", 1, "first"), row("b", 1, "first")),
        upsert(row("a", 2, "in a log")),
        compact(),
        upsert(row("b", 2, "after the compaction")),
        windows=(
            Window(at(1), at(2)),
            Window(at(2)),
            Window(at(1)),
            Window(at(0)),
            Window(at(0), at(1)),
            Window(None, at(2)),
            Window(at(0), at(2)),
            Window(at(2), at(3)),
            Window(at(3)),
        ),
        says="A compaction adds no record to a window and removes none.",
        if_it_fails=(
            "Rows that a compaction copied keep their _hoodie_commit_time; use that time, not the time of their file."
        ),
        requirements=("TYP-011", "TYP-009"),
        flags=("double-apply", "lost-write"),
        producers=(HUDI,),
    ),
    series(
        "incremental.clustered",
        Table(columns=PARTED, partition=("p",), type=COW),
        insert(row("a", 1, "first", p="n")),
        insert(row("b", 1, "second", p="n"), row("c", 1, "second", p="s")),
        service("cluster"),
        upsert(row("a", 2, "after the clustering", p="n")),
        windows=(
            Window(at(1), at(2)),
            Window(at(2)),
            Window(at(1)),
            Window(at(0)),
            Window(at(0), at(1)),
            Window(None, at(1)),
            Window(at(0), at(2)),
            Window(at(3)),
        ),
        says="A clustering adds no record to a window and removes none.",
        if_it_fails=(
            "Rows that a clustering copied keep their _hoodie_commit_time; groups that it replaced are still read before it."
        ),
        requirements=("TYP-011", "TYP-009", "RDR-011"),
        flags=("double-apply", "lost-write"),
        producers=(HUDI,),
        needs=("timeline.replaced-groups",),
    ),
    series(
        "incremental.replaced",
        Table(columns=PARTED, partition=("p",), type=COW),
        insert(row("a", 1, "first", p="n"), row("b", 1, "first", p="s"), row("c", 1, "first", p="s")),
        insert_overwrite(row("d", 1, "instead of a", p="n")),
        upsert(row("b", 2, "second", p="s")),
        delete_partition({"p": "s"}),
        windows=windows_of(0, 1, 2, 3),
        says=(
            "Rows that an overwrite or a dropped partition replaced are in the windows that end before it, and in none after."
        ),
        if_it_fails=(
            "A replacecommit hides file groups from its own completion on; its new groups have the rows that it wrote."
        ),
        requirements=("TYP-009", "RDR-011", "TL-039"),
        flags=("resurrected-row", "lost-write"),
        producers=(HUDI,),
        needs=("timeline.replaced-groups",),
    ),
    series(
        "incremental.cleaned",
        Table(columns=FEW, type=COW),
        upsert(row("a", 1, "first"), row("b", 1, "first")),
        upsert(row("a", 2, "second"), row("c", 1, "second")),
        upsert(row("a", 3, "third")),
        service("clean"),
        windows=(
            Window(),
            Window(at(0)),
            Window(at(1)),
            Window(at(2)),
            Window(None, at(2)),
            Window(at(0), at(2)),
            Window(at(0), at(1), error="the files of the window's end were cleaned, and a changed again since"),
            Window(None, at(0), error="the files of the window's end were cleaned, and a changed again since"),
        ),
        says=(
            "After a clean, a window with a retained end is answered; if the end was cleaned, it is an error, because "
            "records are missing."
        ),
        if_it_fails=(
            "A scan of the current table with the filter of the window misses each record that was written again since."
        ),
        requirements=("TYP-009", "CLN-003", "TYP-010"),
        flags=("lost-write",),
        errata=("ER-101", "ER-103"),
        producers=(HUDI,),
    ),
    series(
        "incremental.archived",
        Table(columns=FEW, type=COW, options=ARCHIVING),
        upsert(row("s", 0, "never changed"), row("a", 0, "first")),
        *(upsert(row("a", n, f"commit {n}"), row(f"n{n}", n, "once")) for n in range(1, 9)),
        windows=(
            Window(),
            Window(at(8)),
            Window(at(7)),
            Window(at(3)),
            Window(at(0)),
            Window(at(1), at(8)),
            Window(at(7), at(8)),
            Window(at(2), at(4), error="the files of the window's end were cleaned"),
        ),
        says="A window may begin at an archived instant, because the history has the times of the writes.",
        if_it_fails=(
            "Look up the requested times of rows in the history too; an instant older than the active timeline is completed."
        ),
        requirements=("TYP-009", "LSM-025", "TL-055"),
        flags=("lost-write",),
        errata=("ER-101", "ER-103"),
        producers=(HUDI,),
        needs=("timeline.history",),
    ),
]

MODES = {"both": "DATA_BEFORE_AFTER", "before": "DATA_BEFORE", "keys": "OP_KEY_ONLY"}


def captured(mode: str) -> dict[str, str]:
    """The settings of a table that logs its changes."""
    return {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}


#: One file group, then a second one; an update, a delete, a late row, and a row that is inserted again.
CHANGED = (
    upsert(row("a", 1, "first"), row("b", 1, "goes"), row("c", 1, "stays")),
    upsert(row("a", 2, "second"), row("d", 2, "added")),
    delete({"id": "b"}),
    upsert(row("a", 3, "third"), row("b", 4, "back")),
)
ALL_CHANGES = (Window(), Window(None, at(0)), Window(at(0), at(1)), Window(at(1), at(2)), Window(at(2)), Window(at(0)),
               Window(at(1)), Window(at(3)), Window(at(0), at(2)))  # fmt: skip
IMAGES = (
    "If the mode of the change-capture file leaves out a value, take it from the base files before and after; "
    "without such a file compare the rows of the file group before and after the write."
)
CHANGES = [
    series(
        f"changes.{mode}.{SHORT[kind]}",
        Table(columns=FEW, type=kind, options=captured(setting)),
        *CHANGED,
        windows=ALL_CHANGES,
        kind="cdc",
        says=(
            "A change query returns each change in its window with operation, value before (none for inserts) and "
            "after (none for deletes)."
        ),
        if_it_fails=IMAGES,
        requirements=("TYP-012", "TYP-013") + (("TYP-004", "BLK-033") if kind == COW else ("BLK-035",)),
        flags=("lost-write", "wrong-value"),
        producers=BOTH if kind == COW and mode != "before" else (HUDI,),
        errata=("ER-101", "ER-104"),
    )
    for kind in TYPES
    for mode, setting in MODES.items()
    if kind == COW or mode == "both"
]
CHANGES += [
    series(
        f"changes.late.{SHORT[kind]}",
        Table(columns=(*FEW, ("_hoodie_is_deleted", "boolean")), type=kind, options=captured("DATA_BEFORE_AFTER")),
        upsert(row("a", 10, "first"), row("b", 10, "first")),
        upsert(row("a", 5, "late"), row("b", 5, "late delete", _hoodie_is_deleted=True)),
        upsert(row("a", 11, "newer"), row("b", 12, "newer delete", _hoodie_is_deleted=True)),
        windows=(Window(), Window(at(0)), Window(at(0), at(1)), Window(at(1))),
        kind="cdc",
        says="A late row or delete that loses by the merge mode is not reported as a change.",
        if_it_fails="Report changes of the table's rows: compare merged rows, not incoming rows.",
        requirements=("TYP-012", "MRG-029"),
        flags=("phantom-row",),
        errata=("ER-101", "ER-104", "ER-105"),
        producers=(HUDI,),
        needs=("delete.flag",),
    )
    for kind in TYPES
]
CHANGES += [
    series(
        "changes.replaced",
        Table(columns=PARTED, partition=("p",), type=COW, ordering=(), options=captured("DATA_BEFORE_AFTER")),
        insert(
            row("a", 1, "first", p="n"), row("b", 1, "first", p="n"), row("c", 1, "first", p="s"), row("e", 1, "first", p="s")
        ),
        insert_overwrite(row("b", 2, "instead", p="n"), row("d", 2, "instead", p="n")),
        delete_partition({"p": "s"}),
        windows=(Window(), Window(at(0)), Window(at(0), at(1)), Window(at(1))),
        kind="cdc",
        says=(
            "An overwrite reports the rows of the replaced groups as deletes and its own as inserts; a dropped "
            "partition, its rows as deletes."
        ),
        if_it_fails="Each row of a replaced file group is a delete, not only the first.",
        requirements=("TYP-012", "TYP-013", "TL-039"),
        flags=("lost-write",),
        errata=("ER-104",),
        producers=(HUDI,),
        needs=("timeline.replaced-groups",),
    ),
    series(
        "changes.compacted",
        Table(columns=FEW, options=captured("DATA_BEFORE_AFTER")),
        upsert(row("a", 1, "first"), row("b", 1, "first")),
        upsert(row("a", 2, "second")),
        compact(),
        upsert(row("b", 2, "third"), row("a", 3, "third")),
        delete({"id": "a"}),
        windows=(Window(), Window(at(1), at(2)), Window(at(2), at(3)), Window(at(0)), Window(at(3))),
        kind="cdc",
        says="A compaction is not a change; later changes have the compacted rows as their values before.",
        if_it_fails="The value before is the merged row, whichever slice has it; a compaction is not a change.",
        requirements=("TYP-012", "TYP-011", "BLK-035"),
        flags=("double-apply", "wrong-value"),
        errata=("ER-104",),
        producers=(HUDI,),
    ),
    series(
        "changes.overlapping",
        Table(columns=PARTED, partition=("p",), type=COW, options=captured("DATA_BEFORE_AFTER")),
        *OVERLAPPING,
        windows=(Window(), *(Window(None, at(n)) for n in range(4)), *(Window(at(n)) for n in range(4))),
        kind="cdc",
        edits=(completes_late(1, 3),),
        says="The changes of a write that completed late are in the window that contains its completion.",
        if_it_fails=(
            "Select the changes of a window by completion time, as in incremental queries: by requested time, a "
            "reader of successive windows misses writes that complete late."
        ),
        requirements=("TYP-012", "RDR-006"),
        flags=("lost-write",),
        errata=("ER-104",),
        producers=(REFERENCE,),
    ),
]

RECIPES = [*EVERY, *LATE, *SERVED, *CHANGES]
