"""Record positions in the headers of log blocks: their base file, and the conditions for using them."""

from collections.abc import Sequence
from typing import Any

from tools.recipes.handmade_actions import at, compaction, data_block, delete_block, deltacommit
from tools.recipes.handmade_tables import COMMIT_TABLE as TABLE
from tools.recipes.handmade_tables import row_of as row
from tools.recipes.recipe import HUDI, REFERENCE, Recipe, Step, TableEdit, bulk_insert, compact, delete, recipe, upsert

from hudi_reference.files.log.block import HeaderKey
from hudi_reference.files.log.positions import position_headers

#: The base file: records a to e in rows 0 to 4, written at second 1.
BASE = upsert(*(row(key) for key in "abcde"))


def at_rows(*positions: int, of: int = 1) -> dict[int, str]:
    """The headers of a block whose records are in these rows of the base file written at second `of`."""
    return {key: text for key, text in position_headers(at(of), positions).items()}  # noqa: C416 the keys as numbers


def positions(name: str, *edits: TableEdit, steps: Sequence[Step] = (BASE,), **check: Any) -> Recipe:
    """A recipe of this module."""
    needs = ("log.avro", "merge.commit-time", *check.pop("needs", ()))
    check = {"requirements": ("LF-043",), "flags": ("lost-write",), **check}
    return recipe("log", f"positions.{name}", TABLE, *steps, producers=(REFERENCE,), edits=edits, needs=needs, **check)


def only_positions(*numbers: int) -> dict[int, str]:
    """Positions without the header that names their base file."""
    return {HeaderKey.RECORD_POSITIONS: at_rows(*numbers)[HeaderKey.RECORD_POSITIONS]}


BY_KEY = "Do not use positions that do not match the base file: merge by record keys."

RECIPES = [
    positions(
        "of-this-base-file",
        deltacommit(
            10,
            11,
            data_block(10, row("b", "log"), row("e", "log"), header=at_rows(1, 4)),
            delete_block(10, "a", "d", header=at_rows(0, 3)),
        ),
        deltacommit(20, 21, data_block(20, row("a", "back"), row("c", "log"), header=at_rows(0, 2))),
        needs=("log.delete",),
        requirements=("LF-041", "LF-042", "LF-043"),
        says="Positions of rows and of deletes, with gaps, select the same rows as the keys.",
        if_it_fails="The i-th lowest position belongs to the i-th record of the block; rows are counted from 0.",
        rows=(row("a", "back"), row("b", "log"), row("c", "log"), row("e", "log")),
    ),
    positions(
        "of-an-older-base-file",
        deltacommit(
            10,
            25,
            data_block(10, row("b", "log"), row("c", "log"), header=at_rows(1, 2)),
            delete_block(10, "a", header=at_rows(0)),
        ),
        compaction(20, 22, row("e"), row("d"), row("c"), row("b"), row("a")),
        needs=("log.delete",),
        says="Positions in a base file that a compaction has replaced are not used for the new base file.",
        if_it_fails="A header names the instant of the base file; if the slice has another one, merge by record keys.",
        flags=("lost-write", "resurrected-row"),
        rows=(row("b", "log"), row("c", "log"), row("d"), row("e")),
    ),
    positions(
        "without-their-base-file",
        deltacommit(10, 11, data_block(10, row("b", "log"), header=only_positions(3))),
        says="Positions without the header that names their base file are not used.",
        if_it_fails=BY_KEY,
        errata=("ER-014",),
        rows=(row("a"), row("b", "log"), row("c"), row("d"), row("e")),
    ),
    positions(
        "fewer-than-records",
        deltacommit(10, 11, data_block(10, row("b", "log"), row("c", "log"), header=at_rows(4))),
        says="A block with fewer positions than records is merged by keys.",
        if_it_fails=BY_KEY,
        errata=("ER-072",),
        rows=(row("a"), row("b", "log"), row("c", "log"), row("d"), row("e")),
    ),
    positions(
        "more-than-records",
        deltacommit(10, 11, delete_block(10, "b", header=at_rows(0, 1, 2))),
        needs=("log.delete",),
        says="A delete block with more positions than entries is merged by keys.",
        if_it_fails=BY_KEY,
        errata=("ER-072",),
        rows=(row("a"), row("c"), row("d"), row("e")),
    ),
    positions(
        "behind-the-last-row",
        deltacommit(10, 11, data_block(10, row("b", "log"), row("c", "log"), header=at_rows(0, 5))),
        says="A block with a position after the last row of the base file is merged by keys.",
        if_it_fails=BY_KEY,
        errata=("ER-072",),
        rows=(row("a"), row("b", "log"), row("c", "log"), row("d"), row("e")),
    ),
    positions(
        "of-some-blocks-only",
        deltacommit(10, 11, data_block(10, row("b", "log"), row("d", "log"), header=at_rows(1, 3))),
        deltacommit(20, 21, delete_block(20, "b"), data_block(20, row("d", "later"), row("n", "new"))),
        deltacommit(30, 31, data_block(30, row("e", "log"), header=at_rows(4))),
        needs=("log.delete",),
        says="A record that one block names by position and another block by key is one record.",
        if_it_fails="Merge all blocks of a slice in one way: by key, if any of them has no positions.",
        flags=("resurrected-row", "lost-write"),
        rows=(row("a"), row("c"), row("d", "later"), row("e", "log"), row("n", "new")),
    ),
    positions(
        "of-one-row-of-two-with-a-key",
        deltacommit(10, 11, data_block(10, row("a", "log"), header=at_rows(2))),
        steps=(bulk_insert(row("a", "first"), row("b"), row("a", "second")),),
        says=(
            "Of two base rows with one key, a merge by position changes the named row; a merge by key changes the "
            "first or both."
        ),
        if_it_fails="The position selects a row; no way of merging returns both rows unchanged.",
        accept=((row("a", "log"), row("b"), row("a", "second")), (row("a", "log"), row("b"), row("a", "log"))),
        rows=(row("a", "first"), row("b"), row("a", "log")),
    ),
    recipe(
        "log",
        "positions.before-and-after-a-compaction",
        TABLE,
        upsert(*(row(key) for key in "edcba")),
        upsert(row("d", "log"), row("b", "log")),
        delete({"id": "e"}),
        compact(),
        upsert(row("c", "log"), row("a", "log")),
        delete({"id": "b"}),
        requirements=("LF-041", "LF-042", "LF-043", "CMP-006"),
        says="Positions refer to the base file that their block names, also after a compaction has moved rows.",
        if_it_fails=BY_KEY,
        flags=("lost-write", "resurrected-row"),
        producers=(HUDI,),
        needs=("log.avro", "log.delete", "merge.commit-time"),
    ),
]
