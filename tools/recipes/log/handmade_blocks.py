"""Log files built by hand: blocks, versions and overlapping actions that a single writer does not produce."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.recipes.handmade_actions import (
    COLUMNS,
    STORED,
    Group,
    at,
    compaction,
    data_block,
    data_block_of,
    delete_block,
    deltacommit,
    history,
    joined_block,
    log_compaction,
)
from tools.recipes.handmade_tables import BASE, BYSTANDER, COMMIT_TABLE, row
from tools.recipes.recipe import MOR, REFERENCE, Check, Recipe, Step, Table, TableEdit, as_of, read_optimized, recipe, upsert
from tools.recipes.table_edits import add, edit_file, int_at

from hudi_reference.files.log.block import HeaderKey

EVENT_TABLE = Table(columns=COLUMNS, type=MOR)
LOG = f".*_{at(10)}.log.1_*"
BY_HEADER = "The instant in the header of a block decides whether the block is read, not the instant in the file name."
NEWEST_INPUT = "Sort the compacted block at the position of its newest input, not at its own instant."
NOT_ASCII = json.dumps({**STORED, "doc": "später, позже, 後で"}, ensure_ascii=False)


def log_recipe(
    name: str, *edits: TableEdit, table: Table = COMMIT_TABLE, steps: Sequence[Step] = (BASE,), **check: Any
) -> Recipe:
    """A recipe of this module: a base file with the records a and b, and actions by hand."""
    needs = tuple(check.pop("needs", ("log.avro", table.merge_feature)))
    return recipe("log", name, table, *steps, producers=(REFERENCE,), edits=edits, needs=needs, **check)


def behind_committed_bytes(second: int, block: bytes) -> TableEdit:
    """Bytes appended to the log file of an action after it completed."""

    def act(folder: Path, _: Sequence[str]) -> None:
        with (folder / Group.of(folder).log_name(second)).open("ab") as file:
            file.write(block)

    return act


def appended_twice(first: bytes, damage: bytes, second: bytes) -> TableEdit:
    """One log file to which the actions of seconds 10 and 20 appended, with damage between their blocks."""

    def act(folder: Path, _: Sequence[str]) -> None:
        group = Group.of(folder)
        name = group.log_name(10)
        (folder / name).write_bytes(first + damage + second)
        group.act("deltacommit", 10, 11, [group.stat(name, size=len(first))])
        group.act("deltacommit", 20, 21, [group.stat(name, offset=len(first + damage))])

    return act


def in_one_file(folder: Path, instants: Sequence[str]) -> None:
    """Append the log file of step 2 to that of step 1, as releases before version 8 did."""
    group = Group.of(folder)
    first, second = group.log_name(3), group.log_name(5)
    size = (folder / first).stat().st_size
    with (folder / first).open("ab") as file:
        file.write((folder / second).read_bytes())
    (folder / second).unlink()
    group.act("deltacommit", 3, 4, [group.stat(first, size=size)])
    group.act("deltacommit", 5, 6, [group.stat(first, offset=size)])


def with_footer(block: bytes) -> bytes:
    """The same block with one entry in its footer and adjusted lengths."""
    entry = int_at(0) + int_at(4) + b"note"
    footer = int_at(1) + entry
    length = int.from_bytes(block[6:14], "big") + len(entry)
    trailer = (length + 6).to_bytes(8, "big")
    return block[:6] + length.to_bytes(8, "big") + block[14:-12] + footer + trailer


BLOCKS = [
    log_recipe(
        "blocks.of-a-pending-instant-in-a-committed-file",
        deltacommit(10, 11, data_block(10, row("committed"))),
        deltacommit(20, None, data_block(20, row("also pending", "z"))),
        behind_committed_bytes(10, data_block(20, row("not committed"), row("not committed", "c"))),
        requirements=("LF-036",),
        says="A block of a pending instant is ignored, also in a log file of a completed instant.",
        if_it_fails=BY_HEADER,
        flags=("dirty-read",),
        rows=(row("committed"), BYSTANDER),
    ),
    log_recipe(
        "blocks.of-an-unknown-instant-in-a-committed-file",
        deltacommit(10, 11, data_block(10, row("committed"))),
        behind_committed_bytes(10, delete_block(12, "a", "b")),
        deltacommit(20, 21, data_block(20, row("later", "c"))),
        requirements=("LF-036",),
        needs=("log.avro", "log.delete", "merge.commit-time"),
        says=(
            "A delete block of an instant that is not on the timeline deletes nothing, also in a log file of a "
            "completed instant."
        ),
        if_it_fails=BY_HEADER,
        flags=("dirty-read", "lost-write"),
        rows=(row("committed"), BYSTANDER, row("later", "c")),
    ),
    log_recipe(
        "blocks.with-a-footer",
        deltacommit(10, 11, with_footer(data_block(10, row("first"))), data_block(10, row("added", "c"))),
        deltacommit(20, 21, data_block(20, row("second"))),
        requirements=("LF-022",),
        says="A block with a footer entry is read, and so is the block after it.",
        if_it_fails="The footer is a map like the header: a count, followed by that many entries.",
        flags=("lost-write",),
        rows=(row("second"), BYSTANDER, row("added", "c")),
    ),
    log_recipe(
        "blocks.with-a-schema-that-is-not-ascii",
        deltacommit(10, 11, data_block(10, row("first"), header={HeaderKey.SCHEMA: NOT_ASCII})),
        requirements=("LF-017", "LF-018"),
        says="Header texts are UTF-8; a schema with non-ASCII characters is read completely.",
        if_it_fails="The length of a header text counts bytes, not characters.",
        flags=("lost-write",),
        rows=(row("first"), BYSTANDER),
    ),
    log_recipe(
        "blocks.damage-between-two-committed-appends",
        appended_twice(
            data_block(10, row("first"), row("only in the first", "c")),
            data_block(15, row("of a crashed append"))[:-60],
            data_block(20, row("second"), row("only in the second", "d")),
        ),
        requirements=("BLK-017", "BLK-016", "S3-004"),
        says="The committed blocks before and after the truncated block of a crashed append are both read.",
        if_it_fails="After a corrupt block search for the next #HUDI#; do not stop, and do not reject the file.",
        flags=("lost-write",),
        rows=(row("second"), BYSTANDER, row("only in the first", "c"), row("only in the second", "d")),
    ),
    log_recipe(
        "blocks.versions-nine-to-eleven",
        deltacommit(
            10,
            11,
            data_block(10, row("version 9"), row("version 9", "c")),
            data_block(10, row("version 10"), row("version 10", "c")),
            data_block(10, row("version 11")),
            versions=(9, 10, 11),
        ),
        requirements=("LF-005",),
        says="Log files of one instant are applied in the order of their version numbers: 9, 10, 11.",
        if_it_fails="Versions were compared as text, in which 10 comes before 9.",
        flags=("silent-stale",),
        rows=(row("version 11"), BYSTANDER, row("version 10", "c")),
    ),
    log_recipe(
        "blocks.delete-and-insert-in-turn",
        deltacommit(
            10,
            11,
            delete_block(10, "a", "b"),
            data_block(10, row("back again")),
            delete_block(10, "c"),
            data_block(10, row("new", "c"), row("goes", "d")),
            delete_block(10, "d"),
        ),
        requirements=("RDR-014",),
        needs=("log.avro", "log.delete", "merge.commit-time"),
        says="Data and delete blocks of one file are applied in file order.",
        if_it_fails="All data blocks were applied first, or all delete blocks first.",
        flags=("lost-write", "resurrected-row"),
        rows=(row("back again"), row("new", "c")),
    ),
]

BLOCKS += [
    log_recipe(
        "blocks.of-the-reserved-type",
        deltacommit(10, 11, data_block(10, row("first"))),
        edit_file(LOG, lambda content: content[:18] + int_at(2) + content[22:]),
        requirements=("BLK-014",),
        says="A committed block of the type that is reserved for corrupt blocks is an error, because no writer writes it.",
        if_it_fails="A block of type 2 was skipped, and with it the records of its action.",
        flags=("lost-write",),
        error="log-block-type",
    ),
]

BLOCKS += [
    log_recipe(
        "blocks.each-with-its-own-schema",
        deltacommit(
            10,
            11,
            data_block_of((("name", "string"), ("id", "string"), ("ts", "int")), 10, row("first"), row("first", "c", 7)),
            data_block_of((("ts", "long"), ("id", "string")), 10, {"id": "d", "ts": 8}),
        ),
        deltacommit(20, 21, data_block(20, row("second", ts=9))),
        requirements=("LF-038",),
        says=(
            "Each block is decoded with its own schema, also if fields have another order or a narrower type, or are missing."
        ),
        if_it_fails="A block was decoded with the schema of another block, or of the table.",
        flags=("lost-write",),
        rows=(row("second", ts=9), BYSTANDER, row("first", "c", 7), {"id": "d", "ts": 8, "name": None}),
    ),
]

#: Three small blocks; only they have the record `small`, which shows whether a reader applies them besides the compacted one.
SMALL = tuple(
    deltacommit(second, second + 1, data_block(second, row(f"small {second}"), row("small", f"in {second}")))
    for second in (10, 12, 14)
)


def joined(name: str, *edits: TableEdit, **check: Any) -> Recipe:
    """A recipe with the three small blocks and the actions after them."""
    return log_recipe(f"joined.{name}", *SMALL, *edits, **check)


JOINED = [
    joined(
        "inputs-are-not-applied-again",
        log_compaction(20, 21, joined_block(20, row("joined"), of=(10, 12, 14))),
        requirements=("LCP-003", "LF-040"),
        says=(
            "Blocks that the header of a compacted block lists are not applied again, neither the first nor the last of them."
        ),
        if_it_fails="Only the input blocks have some of the records here, so that applying them too changes the answer.",
        flags=("double-apply",),
        rows=(row("joined"), BYSTANDER),
    ),
    joined(
        "others-still-count",
        log_compaction(20, 21, joined_block(20, row("joined"), of=(10, 14))),
        requirements=("LF-040",),
        says="A block between the compacted ones that the header does not list is still applied.",
        if_it_fails="The instants in the header are a list, not the ends of a range.",
        flags=("lost-write",),
        rows=(row("joined"), BYSTANDER, row("small", "in 12")),
    ),
    joined(
        "a-delta-began-before-and-completed-after",
        deltacommit(16, 30, data_block(16, row("completed last"))),
        log_compaction(20, 21, joined_block(20, row("joined"), row("joined", "c"), of=(10, 12, 14))),
        requirements=("LCP-005",),
        says="A deltacommit that began before a log compaction and completed after it wins over the compacted block.",
        if_it_fails=NEWEST_INPUT,
        flags=("silent-stale",),
        rows=(row("completed last"), BYSTANDER, row("joined", "c")),
    ),
    joined(
        "a-delete-began-before-and-completed-after",
        deltacommit(16, 30, delete_block(16, "a")),
        log_compaction(20, 21, joined_block(20, row("joined"), row("joined", "c"), of=(10, 12, 14))),
        requirements=("LCP-005",),
        needs=("log.avro", "log.delete", "merge.commit-time"),
        says="A delete that began before a log compaction and completed after it removes records of the compacted block.",
        if_it_fails=NEWEST_INPUT,
        flags=("resurrected-row",),
        rows=(BYSTANDER, row("joined", "c")),
    ),
    joined(
        "twice",
        log_compaction(20, 21, joined_block(20, row("joined"), row("small", "in 20"), of=(10, 12, 14))),
        deltacommit(22, 23, data_block(22, row("small 22"), row("small", "in 22"))),
        deltacommit(24, 40, data_block(24, row("completed last"))),
        log_compaction(30, 31, joined_block(30, row("joined again"), row("joined again", "c"), of=(20, 22))),
        requirements=("LCP-003", "LCP-005"),
        says="A compacted block that was compacted again is no longer applied, and neither are its inputs.",
        if_it_fails="Blocks that the header of a compacted block lists stay replaced when that block is replaced itself.",
        flags=("double-apply",),
        rows=(row("completed last"), BYSTANDER, row("joined again", "c")),
    ),
    joined(
        "while-the-log-compaction-is-pending",
        log_compaction(20, None, joined_block(20, row("joined"), of=(10, 12, 14))),
        requirements=("LF-036", "LCP-004"),
        says="The compacted block of a log compaction that did not complete replaces no block.",
        if_it_fails="The block of a pending instant was applied in place of the blocks that its header lists.",
        flags=("lost-write",),
        rows=(row("small 14"), BYSTANDER, *(row("small", f"in {second}") for second in (10, 12, 14))),
    ),
]

#: An action that began before the compaction of second 30 and completed after it; one that began later and completed
#: before it.
OVERLAPPING = (
    deltacommit(10, 40, data_block(10, row("completed after the compaction"), row("also after", "c"))),
    deltacommit(20, 21, data_block(20, row("completed before the compaction"))),
    compaction(30, 35, row("completed before the compaction"), BYSTANDER),
)

SLICES = [
    log_recipe(
        "slices.a-log-began-before-a-compaction-and-completed-after",
        *OVERLAPPING,
        checks=(
            Check(
                requirements=("NBC-002", "RDR-015"),
                says=(
                    "A log file that completes after a compaction was requested belongs to the new slice; one that "
                    "completed before does not."
                ),
                if_it_fails="Compare the completion time of the log file with the requested time of the compaction.",
                flags=("lost-write", "double-apply"),
                rows=(row("completed after the compaction"), BYSTANDER, row("also after", "c")),
            ),
            read_optimized(
                requirements=("CMP-005", "TYP-017", "LAY-023"),
                says="A read-optimized query reads only the base file of the compaction.",
                if_it_fails="Base files are selected by their requested times; log files are not read.",
                flags=("dirty-read",),
                rows=(row("completed before the compaction"), BYSTANDER),
            ),
        ),
    ),
    log_recipe(
        "slices.a-delete-completed-before-a-compaction",
        deltacommit(20, 21, delete_block(20, "a")),
        deltacommit(10, 22, data_block(10, row("written back"))),
        compaction(30, 35, row("written back"), BYSTANDER),
        requirements=("RDR-015",),
        needs=("log.avro", "log.delete", "merge.commit-time"),
        says="A delete that completed before a compaction is not applied again to the base file of the compaction.",
        if_it_fails="Log files that completed before the base file was requested are already merged in it.",
        flags=("double-apply", "lost-write"),
        rows=(row("written back"), BYSTANDER),
    ),
    log_recipe(
        "slices.a-pending-compaction-between-two-logs",
        deltacommit(10, 11, data_block(10, row("before the plan"), row("before", "c"))),
        compaction(20, None, row("not committed"), row("not committed", "d")),
        deltacommit(30, 31, data_block(30, row("after the plan"))),
        requirements=("CMP-003", "RDR-012"),
        needs=("log.avro", "merge.commit-time", "timeline.pending-compaction"),
        says="While a compaction is pending, log files from before and after its instant are applied to the old base file.",
        if_it_fails="The pending compaction's base file was read, or its slice hid the logs before it.",
        flags=("dirty-read", "lost-write"),
        rows=(row("after the plan"), BYSTANDER, row("before", "c")),
    ),
    log_recipe(
        "slices.log-files-in-the-metadata-folder",
        deltacommit(10, 11, data_block(10, row("log"))),
        add(
            f".hoodie/metadata/files/.0a1b2c3d-0000-4000-8000-000000000000-0_{at(10)}.log.1_0-0-0",
            data_block(10, row("no row of the table", "m")),
        ),
        requirements=("LAY-012", "LAY-011"),
        says="A file below .hoodie with the name of a data file has no rows of the table.",
        if_it_fails="The folder .hoodie was listed like a partition.",
        flags=("dirty-read",),
        rows=(row("log"), BYSTANDER),
    ),
    log_recipe(
        "slices.completed-twice",
        deltacommit(10, 11, data_block(10, row("first"))),
        deltacommit(12, 13, data_block(12, row("second"))),
        lambda folder, _: Group.of(folder).act("deltacommit", 10, 21, [Group.of(folder).stat(Group.of(folder).log_name(10))]),
        compaction(20, 22, row("second"), BYSTANDER),
        requirements=("TL-052",),
        says=(
            "An action with two completed files is completed at the earlier time, so that its log file is merged in "
            "the base file."
        ),
        if_it_fails="Of two completed files of one action the first one is valid: completed is final.",
        flags=("double-apply",),
        rows=(row("second"), BYSTANDER),
    ),
]

APPENDED = [
    log_recipe(
        "appended.by-two-actions",
        in_one_file,
        steps=(BASE, upsert(row("first append"), row("first", "b")), upsert(row("second append"))),
        checks=(
            Check(
                requirements=("LF-001", "RDR-014"),
                says="The blocks of both actions are read from a log file to which two actions appended.",
                if_it_fails=(
                    "Continue after the first block; the file name has only the instant of the first action that "
                    "wrote to the file."
                ),
                flags=("silent-stale",),
            ),
            as_of(
                1,
                "as-of-the-first",
                requirements=("TYP-008",),
                says=(
                    "Time travel to the first of two actions that appended to one log file leaves out the block of the second."
                ),
                if_it_fails=BY_HEADER,
                flags=("dirty-read",),
            ),
        ),
    ),
    log_recipe(
        "appended.by-two-archived-actions",
        in_one_file,
        history(
            {1: [f"{at(1)}_{at(5)}_0.parquet"]},
            {f"{at(1)}_{at(5)}_0.parquet": [(1, 2, "deltacommit"), (3, 4, "deltacommit"), (5, 6, "deltacommit")]},
            1,
            archived=(1, 3, 5),
        ),
        steps=(BASE, upsert(row("first append"), row("first", "b")), upsert(row("second append")), upsert(row("active", "c"))),
        checks=(
            as_of(
                1,
                "as-of-the-first",
                requirements=("TYP-008",),
                says=(
                    "Time travel to the first of two actions that appended to one log file leaves out the block of the second, "
                    "also if both are archived, so that the history says that the second is completed."
                ),
                needs=("timeline.history",),
                if_it_fails=BY_HEADER,
                flags=("dirty-read",),
            ),
        ),
    ),
    log_recipe(
        "appended.version-two-of-an-older-instant",
        deltacommit(
            10,
            11,
            data_block(10, row("first instant")),
            data_block(10, row("of version 2"), row("only here", "c")),
            versions=(1, 2),
        ),
        deltacommit(20, 21, data_block(20, row("second instant"))),
        requirements=("LF-005",),
        says="Version numbers order the log files of one instant; they do not order log files of different instants.",
        if_it_fails="Log files were ordered by version first and by instant second.",
        flags=("silent-stale",),
        rows=(row("second instant"), BYSTANDER, row("only here", "c")),
    ),
]

RECIPES = [*APPENDED, *BLOCKS, *JOINED, *SLICES]
