"""Partial updates built by hand: forms that `MERGE INTO` of one release does not write."""

from typing import Any

from tools.recipes.handmade_actions import (
    Columns,
    data_block_of,
    delete_block,
    deltacommit,
    log_compaction,
    made_of,
    partial_block,
)
from tools.recipes.log.partial_updates import COMMIT_TABLE, EVENT_TABLE, SAYS_HOW
from tools.recipes.recipe import REFERENCE, Recipe, Row, Table, TableEdit, recipe, upsert

from hudi_reference.files.log.block import BlockType, HeaderKey

COLUMNS: Columns = (("id", "string"), ("ts", "long"), ("name", "string"), ("note", "string"), ("size", "long"))
PLAIN_EVENT = EVENT_TABLE.having(columns=COLUMNS)
PLAIN_COMMIT = COMMIT_TABLE.having(columns=COLUMNS)
FLAGGED: Columns = (*COLUMNS, ("_hoodie_is_deleted", "boolean"))


def row(key: str = "a", ts: int = 5, **more: Any) -> Row:
    """A version of record `key` with all columns."""
    return {"id": key, "ts": ts, "name": "name", "note": "note", "size": 5, **more}


def columns(*names: str) -> Columns:
    """Some of the columns, in the order of the table."""
    return tuple(column for column in FLAGGED if column[0] in names)


NAME = columns("ts", "name")
NOTE = columns("ts", "note")
BOTH = columns("ts", "name", "note")
BASE = upsert(row(), row("b"))
B = row("b")


def partial(name: str, *edits: TableEdit, table: Table = PLAIN_EVENT, **check: Any) -> Recipe:
    """A recipe of this module: a base file with the records a and b, and actions by hand."""
    needs = ("merge.partial-updates", table.merge_feature, *check.pop("needs", ("log.avro",)))
    check = {"requirements": ("LF-046",), "if_it_fails": SAYS_HOW, "flags": ("lost-write",), **check}
    return recipe("log", f"partial.{name}", table, BASE, producers=(REFERENCE,), edits=edits, needs=needs, **check)


def delta(second: int, *blocks: bytes, of: Columns = COLUMNS) -> TableEdit:
    """A delta commit of a table with these columns, which completed a second later."""
    return deltacommit(second, second + 1, *blocks, columns=of)


JOINED = {"id": "a", "ts": 7, "name": "joined", "note": "joined"}
ABSENT = {"name": None, "note": None, "size": None}

RECIPES = [
    partial(
        "commit-time.add-up",
        delta(10, partial_block(NAME, 10, {"id": "a", "ts": 3, "name": "first"})),
        delta(12, partial_block(NOTE, 12, {"id": "a", "ts": 2, "note": None})),
        delta(14, partial_block(columns("size"), 14, {"id": "b", "size": None})),
        table=PLAIN_COMMIT,
        requirements=("LF-045", "LF-046", "MRG-025"),
        says="In commit-time mode partial updates are applied in order; each changes only its columns, and null is a value.",
        rows=(row(ts=2, name="first", note=None), row("b", size=None)),
    ),
    partial(
        "among-whole-rows-in-one-file",
        delta(
            10,
            data_block_of(COLUMNS, 10, row(ts=6, name="whole", note=None)),
            partial_block(NOTE, 10, {"id": "a", "ts": 7, "note": "noted"}, {"id": "b", "ts": 7, "note": "noted"}),
            data_block_of(COLUMNS, 10, row("b", ts=8, name="whole")),
        ),
        requirements=("LF-045", "LF-046", "RDR-014"),
        says="Partial and complete blocks of one file are applied in file order.",
        rows=(row(ts=7, name="whole", note="noted"), row("b", ts=8, name="whole")),
    ),
    partial(
        "flag-is-false",
        delta(10, data_block_of(NAME, 10, {"id": "a", "ts": 6, "name": "whole"}, header={HeaderKey.IS_PARTIAL: "false"})),
        delta(12, data_block_of(columns("id", "ts"), 12, {"id": "b", "ts": 6})),
        requirements=("LF-045",),
        says="If the partial flag is false or missing, columns that a block lacks are null, because its rows are complete.",
        if_it_fails="Only a header whose value is true makes a block partial.",
        rows=({"id": None, "ts": 6, "name": "whole", "note": None, "size": None}, {"id": "b", "ts": 6, **ABSENT}),
    ),
    partial(
        "whole-row-below-a-partial-one",
        delta(10, partial_block(NAME, 10, {"id": "a", "ts": 7, "name": "new"})),
        delta(12, data_block_of(COLUMNS, 12, row(ts=6, name="late", note="late"))),
        requirements=("LF-046", "MRG-028"),
        says="It is open whether a late complete row fills columns that a partial update lacks.",
        flags=("silent-stale",),
        errata=("ER-067",),
        open=True,
        rows=(row(ts=7, name="new"), B),
    ),
    partial(
        "after-a-delete",
        delta(10, delete_block(10, "a")),
        delta(12, partial_block(columns("id", "ts", "name"), 12, {"id": "a", "ts": 7, "name": "new"})),
        requirements=("LF-046",),
        needs=("log.avro", "log.delete"),
        says="A partial update after a delete does not restore the deleted values: columns that it lacks are null.",
        if_it_fails="A delete leaves no previous values; the values of the base file were used.",
        errata=("ER-068",),
        flags=("resurrected-row",),
        rows=({**ABSENT, "id": "a", "ts": 7, "name": "new"}, B),
        accept=((B,),),
    ),
    partial(
        "below-a-tombstone",
        delta(10, delete_block(10, "a", ordering=8)),
        delta(12, partial_block(NAME, 12, {"id": "a", "ts": 7, "name": "late"}, {"id": "b", "ts": 7, "name": "new"})),
        requirements=("LF-046", "MRG-028"),
        needs=("log.avro", "log.delete"),
        says="A partial update with a lower ordering value than an earlier delete does not restore the record.",
        if_it_fails="Compare a partial update with an earlier delete like a complete row.",
        flags=("resurrected-row",),
        rows=(row("b", ts=7, name="new"),),
    ),
    partial(
        "deleted-between-two",
        delta(10, partial_block(NAME, 10, {"id": "a", "ts": 6, "name": "first"})),
        delta(12, delete_block(12, "a", ordering=7)),
        delta(14, data_block_of(COLUMNS, 14, row(ts=8, name="back", note=None))),
        delta(16, partial_block(columns("ts", "size"), 16, {"id": "a", "ts": 9, "size": 9})),
        requirements=("LF-046",),
        needs=("log.avro", "log.delete"),
        says=(
            "The changes of a partial update before a delete are deleted with the row; the next one changes the row "
            "written since."
        ),
        flags=("resurrected-row",),
        rows=(row(ts=9, name="back", note=None, size=9), B),
    ),
    partial(
        "marked-as-deleted",
        delta(
            10,
            partial_block(
                columns("ts", "_hoodie_is_deleted"),
                10,
                {"id": "a", "ts": 6, "_hoodie_is_deleted": True},
                {"id": "b", "ts": 4, "_hoodie_is_deleted": True},
            ),
            of=FLAGGED,
        ),
        table=PLAIN_EVENT.having(columns=FLAGGED),
        requirements=("LF-046", "MRG-028"),
        needs=("log.avro", "delete.flag"),
        says="A partial row that is marked as deleted is a delete with its ordering value.",
        flags=("resurrected-row",),
        rows=({**B, "_hoodie_is_deleted": None},),
    ),
    partial(
        "of-a-key-that-is-nowhere",
        delta(10, partial_block(columns("id", "ts", "name"), 10, {"id": "z", "ts": 6, "name": "new"})),
        says="A partial update of a record that does not exist makes a row whose other columns are null.",
        if_it_fails="No previous values exist; a reader may also drop the row, but must not fail or invent values.",
        errata=("ER-069",),
        flags=("phantom-row",),
        rows=(row(), B, {**ABSENT, "id": "z", "ts": 6, "name": "new"}),
        accept=((row(), B),),
    ),
    partial(
        "without-the-ordering-column",
        delta(10, partial_block(columns("name"), 10, {"id": "a", "name": "new"})),
        requirements=("LF-046", "MRG-028"),
        says="A partial update that lacks the ordering column keeps the stored ordering value and is not late.",
        if_it_fails="Deployed readers use the default value 0 for the missing field and treat the update as late.",
        errata=("ER-070",),
        open=True,
        rows=(row(name="new"), B),
    ),
    partial(
        "in-parquet-blocks",
        delta(10, partial_block(NAME, 10, {"id": "a", "ts": 6, "name": "new"}, kind=BlockType.PARQUET_DATA)),
        delta(12, partial_block(NOTE, 12, {"id": "a", "ts": 7, "note": "noted"}, kind=BlockType.PARQUET_DATA)),
        requirements=("LF-046", "BLK-028"),
        needs=("log.parquet",),
        says="Partial updates in Parquet blocks change only the columns that the blocks hold.",
        rows=(row(ts=7, name="new", note="noted"), B),
    ),
    partial(
        "joined",
        delta(10, partial_block(NAME, 10, {"id": "a", "ts": 6, "name": "first"})),
        delta(12, partial_block(NOTE, 12, {"id": "a", "ts": 7, "note": "second"})),
        log_compaction(20, 21, partial_block(BOTH, 20, JOINED, header=made_of(12, 10)), columns=COLUMNS),
        requirements=("LF-046", "LF-040", "LCP-003"),
        says="A compacted block of partial updates is itself partial and replaces its inputs.",
        if_it_fails=(
            "The compacted block differs from its inputs here, so that applying them in its place changes the answer."
        ),
        flags=("double-apply", "lost-write"),
        table=PLAIN_COMMIT,
        rows=(row(ts=7, name="joined", note="joined"), B),
    ),
]
