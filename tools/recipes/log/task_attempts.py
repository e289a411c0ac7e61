"""Blocks that several attempts of one task wrote, distinguished by their identifiers."""

from typing import Any

from tools.recipes.handmade_actions import data_block, delete_block, deltacommit
from tools.recipes.handmade_tables import BASE_OF_A_AND_B as BASE
from tools.recipes.handmade_tables import COMMIT_TABLE as TABLE
from tools.recipes.handmade_tables import row_of as row
from tools.recipes.recipe import HUDI, REFERENCE, Producer, Recipe, TableEdit, delete, recipe, upsert

from hudi_reference.files.log.block import HeaderKey


def identified(attempt: int, sequence: int) -> dict[int, str]:
    """The header of a block of a task attempt."""
    return {HeaderKey.BLOCK_IDENTIFIER: f"{attempt},{sequence}"}


def attempts(name: str, *edits: TableEdit, **check: Any) -> Recipe:
    """A recipe of this module: a base file with the records a and b, and actions by hand."""
    needs = ("log.avro", "log.delete", "merge.commit-time", *check.pop("needs", ()))
    check = {"requirements": ("LF-044",), "flags": ("double-apply",), "errata": ("ER-071",), **check}
    return recipe("log", f"attempts.{name}", TABLE, BASE, producers=(REFERENCE,), edits=edits, needs=needs, **check)


ONCE = "Of the attempts to write the blocks of one instant, use the one with the most blocks, or the newest of equals."

BY_HAND = [
    attempts(
        "one-was-cut-short",
        deltacommit(
            10,
            11,
            data_block(10, row("a", "log"), row("c", "log"), header=identified(0, 0)),
            delete_block(10, "a", header=identified(0, 1)),
            data_block(10, row("a", "log"), row("c", "log"), header=identified(1, 0)),
        ),
        says="A block that a second attempt wrote again is applied once; records that were deleted after it stay deleted.",
        if_it_fails=ONCE,
        flags=("double-apply", "resurrected-row"),
        rows=(row("b"), row("c", "log")),
    ),
    attempts(
        "in-files-of-their-own",
        deltacommit(
            10,
            11,
            data_block(10, row("a", "log"), header=identified(3, 0)),
            data_block(10, row("a", "log"), row("b", "log"), header=identified(4, 0)),
            delete_block(10, "a", header=identified(4, 1)),
            data_block(10, row("a", "log"), header=identified(5, 0)),
            versions=(1, 2, 3, 4),
        ),
        says="Attempts are distinguished by the identifiers in their blocks, not by their log files.",
        if_it_fails=ONCE,
        flags=("double-apply", "resurrected-row"),
        rows=(row("b", "log"),),
    ),
    attempts(
        "of-equal-length",
        deltacommit(
            10,
            11,
            data_block(10, row("c", "first attempt"), header=identified(9, 0)),
            data_block(10, row("d", "second attempt"), header=identified(10, 0)),
        ),
        says="Of two complete attempts only one is read, here the later one.",
        if_it_fails=ONCE,
        accept=((row("a"), row("b"), row("c", "first attempt")),),
        rows=(row("a"), row("b"), row("d", "second attempt")),
    ),
    attempts(
        "of-each-instant-by-itself",
        deltacommit(
            10,
            11,
            data_block(10, row("a", "first"), row("c", "first"), header=identified(0, 0)),
            data_block(10, row("b", "first"), header=identified(0, 1)),
        ),
        deltacommit(20, 21, data_block(20, row("a", "second"), header=identified(1, 0))),
        errata=(),
        says="All blocks of one attempt are read, and so are the blocks of other instants, whatever their identifiers.",
        if_it_fails="Identifiers distinguish the blocks of one instant only.",
        flags=("lost-write",),
        rows=(row("a", "second"), row("b", "first"), row("c", "first")),
    ),
    attempts(
        "beside-blocks-without-identifier",
        deltacommit(
            10,
            11,
            data_block(10, row("c", "no attempt")),
            data_block(10, row("a", "log"), header=identified(0, 0)),
            delete_block(10, "a", header=identified(0, 1)),
            data_block(10, row("a", "log"), header=identified(1, 0)),
            data_block(10, row("d", "no attempt")),
        ),
        says="Blocks without an attempt identifier are read, in addition to the blocks of the attempt that has one.",
        if_it_fails=ONCE,
        flags=("double-apply", "resurrected-row", "lost-write"),
        rows=(row("b"), row("c", "no attempt"), row("d", "no attempt")),
    ),
]

#: Settings with one block per file and one row per block.
TINY = {"hoodie.logfile.max.size": "1", "hoodie.logfile.data.block.max.size": "1"}
BOTH: tuple[Producer, ...] = (HUDI, REFERENCE)

ROLLED = [
    recipe(
        "log",
        "roll-over.several-versions",
        TABLE,
        upsert(*(row(key) for key in "abcde")),
        upsert(row("a", "log"), row("c", "log"), row("d", "log"), options=TINY),
        delete({"id": "d"}),
        requirements=("LF-002", "LF-004", "LF-005", "RDR-014"),
        says="All log files that one write leaves in a file group, with different versions, are read.",
        if_it_fails="List every version of a log file; versions start at 1 for each instant.",
        flags=("lost-write",),
        producers=BOTH,
        needs=("log.avro", "log.delete", "merge.commit-time"),
    )
]

RECIPES = [*BY_HAND, *ROLLED]
