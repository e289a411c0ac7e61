"""The files of a file slice: failed attempts, base files of several formats, meta columns as stored."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.recipes.handmade_actions import COLUMNS, Group, at, compaction, data_block, delete_block, deltacommit
from tools.recipes.handmade_tables import BASE_OF_A_AND_B as BASE
from tools.recipes.handmade_tables import COMMIT_TABLE as TABLE
from tools.recipes.handmade_tables import row_of as row
from tools.recipes.recipe import BOTH, REFERENCE, Check, Recipe, TableEdit, as_of, delete, recipe, upsert


def slices(name: str, *edits: TableEdit, **more: Any) -> Recipe:
    """A recipe of this module: a base file with the records a and b, and actions by hand."""
    needs = ("log.avro", "merge.commit-time", *more.pop("needs", ()))
    return recipe("log", f"slices.{name}", TABLE, BASE, producers=(REFERENCE,), edits=edits, needs=needs, **more)


def log_of_failed_attempt(second: int, version: int, *blocks: bytes) -> TableEdit:
    """A log file of another attempt of the action of that second, which the metadata of the action does not list."""

    def act(folder: Path, _: Sequence[str]) -> None:
        name = Group.of(folder).log_name(second, version)
        (folder / f"{name.removesuffix('0-0-0')}0-0-9").write_bytes(b"".join(blocks))

    return act


#: Stored meta columns of a row: none of these texts follows from the file or from other columns.
AS_STORED = {
    "_hoodie_commit_time": at(10),
    "_hoodie_commit_seqno": f"{at(10)}_7_77",
    "_hoodie_record_key": "a",
    "_hoodie_file_name": "a name that is stored",
}

RECIPES = [
    slices(
        "a-lost-attempt-beside-the-one-that-won",
        deltacommit(10, 11, data_block(10, row("a", "won"))),
        log_of_failed_attempt(10, 1, data_block(10, row("a", "lost"), row("c", "lost"))),
        requirements=("LF-006", "TL-005"),
        says="A log file of a failed attempt is not read if another attempt of the same action succeeded.",
        if_it_fails="The metadata of the action decides which of two files is read, not the write token.",
        flags=("dirty-read",),
        errata=("ER-022",),
        rows=(row("a", "won"), row("b")),
    ),
    slices(
        "a-lost-attempt-that-had-rolled-over",
        deltacommit(10, 11, data_block(10, row("a", "won"))),
        log_of_failed_attempt(10, 2, data_block(10, row("a", "lost"), row("c", "lost"))),
        deltacommit(20, 21, delete_block(20, "b")),
        needs=("log.delete",),
        requirements=("LF-006", "TL-005"),
        says=(
            "A second log file of a failed attempt is not read, although the successful attempt has no file of that version."
        ),
        if_it_fails="A block is read if the metadata of its action names its file.",
        flags=("dirty-read",),
        errata=("ER-022",),
        rows=(row("a", "won"),),
    ),
    slices(
        "base-files-of-two-formats",
        deltacommit(10, 11, data_block(10, row("a", "log"))),
        compaction(20, 22, row("a", "log"), row("b"), extension="orc"),
        deltacommit(30, 31, data_block(30, row("b", "later"))),
        checks=(
            Check(
                requirements=("BF-010", "BF-011"),
                says="A file group with a Parquet base file and a newer ORC base file is read by the format of each file.",
                if_it_fails="The extension of a base file determines its format, not the table or the group's first file.",
                flags=("lost-write",),
                rows=(row("a", "log"), row("b", "later")),
            ),
            as_of(
                0,
                "as-of-the-first",
                requirements=("BF-010", "BF-011", "TYP-008"),
                says="Time travel in a file group with base files of two formats reads the earlier one, in Parquet.",
                if_it_fails="The extension of a base file determines its format, not the table or the group's newest file.",
                flags=("lost-write",),
                rows=(row("a"), row("b")),
            ),
        ),
    ),
    slices(
        "meta-columns-as-stored",
        deltacommit(10, 11, data_block(10, row("a", "log", **AS_STORED))),
        requirements=("META-002", "META-006"),
        says="Meta columns are returned as stored with the row, not computed from file and block.",
        if_it_fails="File name, sequence number and commit time are columns like others; read them and do not compute them.",
        flags=("silent-stale",),
        columns=("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_file_name", "name"),
        where=(("name", "=", "log"),),
        rows=({**AS_STORED, "name": "log"},),
    ),
    slices(
        "keys-as-stored",
        deltacommit(10, 11, data_block(10, row("A", "written differently", _hoodie_record_key="a"))),
        deltacommit(20, 21, data_block(20, row("b", "another record", _hoodie_record_key="B"))),
        requirements=("META-008",),
        says="Records are identified by their stored keys, also if the key column is written differently.",
        if_it_fails="The reader computed the keys from the key column; use the stored keys.",
        flags=("lost-write", "phantom-row"),
        rows=(row("A", "written differently"), row("b"), row("b", "another record")),
    ),
    recipe(
        "log",
        "slices.one-key-in-two-partitions",
        TABLE.having(columns=(*COLUMNS, ("city", "string")), partition=("city",)),
        upsert(row("a", city="oslo"), row("b", city="oslo"), row("a", city="rio"), row("b", city="rio")),
        delete({"id": "a", "city": "rio"}),
        requirements=("BLK-013", "LAY-021"),
        says="A delete removes the record of its partition; the record with the same key in another partition stays.",
        if_it_fails="Deletes were matched by key across partitions.",
        flags=("lost-write",),
        producers=BOTH,
        needs=("log.delete", "merge.commit-time"),
    ),
]
