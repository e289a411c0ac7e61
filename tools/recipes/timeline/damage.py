"""Damaged timelines and histories: reading them gives the correct rows or an error, and never other rows."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.recipes.handmade_actions import HISTORY, Archived, at, compaction, data_block, deltacommit, history, level_file
from tools.recipes.handmade_tables import BASE, BYSTANDER, COMMIT_TABLE, row
from tools.recipes.recipe import Check, Recipe, TableEdit, upsert
from tools.recipes.table_edits import TIMELINE, copy, edit_file, find_file, remove, truncate_file
from tools.recipes.timeline.handmade_histories import ACTIONS, FIRST_ONLY, OTHERWISE, PART, WHOLE, handmade
from tools.recipes.timeline.timeline import COW_TABLE, check_timeline

NOT_ANOTHER = "The damage changed the rows silently: report the file, the rule and the damage."
HOME = HISTORY.as_posix()
SINGLE = f"{at(1)}_{at(1)}_0.parquet"
LATER = f"{at(10)}_{at(20)}_0.parquet"


def archived(
    name: str,
    says: str,
    *edits: TableEdit,
    requirements: tuple[str, ...],
    files: Mapping[str, Sequence[Archived]] | None = None,
    manifests: Mapping[int, Sequence[str]] | None = None,
    version: int | None = 1,
    error: str | None = None,
    told: bool = False,
    **check: Any,
) -> Recipe:
    """A table with two archived log files around a compaction; only the history determines their slices.

    With `error` an error is right, otherwise the rows. `told` adds a check of the timeline.
    """
    files = files or {WHOLE: ACTIONS}
    writes: tuple[TableEdit, ...] = (
        deltacommit(10, 40, data_block(10, row("completed after the compaction"), row("also after", "c"))),
        deltacommit(20, 21, data_block(20, row("completed before the compaction"))),
        compaction(30, 35, row("completed before the compaction"), BYSTANDER),
        deltacommit(50, 51, data_block(50, row("last", "d"))),
        history(manifests or {1: list(files)}, files, version, archived=(1, 10, 20)),
    )
    right = (row("completed after the compaction"), BYSTANDER, row("also after", "c"), row("last", "d"))
    rows = Check(
        requirements=requirements,
        says=says,
        rows=None if error else right,
        error=error,
        if_it_fails=check.pop("if_it_fails", NOT_ANOTHER),
        flags=check.pop("flags", ("silent-guess", "lost-write")),
        **check,
    )
    shows = check_timeline(*requirements, says=says, errata=rows.errata)
    return handmade(
        f"history.{name}",
        COMMIT_TABLE,
        BASE,
        edits=(*writes, *edits),
        needs=("timeline.history", "log.avro", "merge.commit-time"),
        checks=(rows, replace(shows, needs=("timeline.history",))) if told else (rows,),
    )


def change_manifest(change: Callable[[list[dict[str, Any]]], Any]) -> TableEdit:
    """Change the entries of manifest 1."""

    def edited(content: bytes) -> bytes:
        manifest = json.loads(content)
        change(manifest["files"])
        return json.dumps(manifest, indent=1).encode()

    return edit_file(f"{HOME}/manifest_1", edited)


def longer(entries: list[dict[str, Any]]) -> None:
    """State a length that is one byte greater for each file."""
    for entry in entries:
        entry["fileLen"] += 1


def as_folder(pattern: str) -> TableEdit:
    """Replace a file by a folder with a file."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        file = find_file(folder, pattern.format(*instants))
        file.unlink()
        file.mkdir()
        (file / "part").write_bytes(b"no object")

    return act


def as_file(path: str) -> TableEdit:
    """Replace a folder by a file."""

    def act(folder: Path, _: Sequence[str]) -> None:
        target = folder / path
        for file in sorted(target.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        target.rmdir()
        target.write_bytes(b"no folder")

    return act


def swapped(first: str, second: str) -> TableEdit:
    """Exchange the content of two files."""

    def act(folder: Path, instants: Sequence[str]) -> None:
        one, other = (find_file(folder, pattern.format(*instants)) for pattern in (first, second))
        content = one.read_bytes(), other.read_bytes()
        other.write_bytes(content[0])
        one.write_bytes(content[1])

    return act


#: Rows of the history after the upgrade from version 6: batch by batch, the newest batch first.
IN_NO_ORDER = (ACTIONS[1], ACTIONS[2], ACTIONS[0])
BACKWARDS = f"{at(20)}_{at(1)}_0.parquet"
BY_COMPLETION = f"{at(1)}_{at(40)}_0.parquet"

NAMES = [
    archived(
        "name-backwards",
        (
            "A history file whose name has its times in reverse order is read, because the upgrade from version 6 "
            "writes such names."
        ),
        requirements=("LSM-013", "RDR-009"),
        files={BACKWARDS: IN_NO_ORDER},
        errata=("ER-083",),
        told=True,
    ),
    archived(
        "name-by-completion",
        "A history file whose name ends with the largest completion time, as the specification states, is read.",
        requirements=("LSM-013", "LSM-015"),
        files={BY_COMPLETION: ACTIONS},
        errata=("ER-039",),
    ),
    archived(
        "level-of-two-digits",
        "The level of a history file may have several digits.",
        requirements=("LSM-013",),
        files={f"{at(1)}_{at(20)}_10.parquet": ACTIONS},
        told=True,
        if_it_fails="The level was read as one digit. Small batches or a long history make more than ten levels.",
    ),
    archived(
        "late-finisher-in-an-old-file",
        "An action that completed long after its requested time is found in the old history file that has it.",
        requirements=("RDR-009", "LSM-018", "LSM-025"),
        files={f"{at(1)}_{at(10)}_1.parquet": ACTIONS[:2], f"{at(20)}_{at(20)}_0.parquet": ACTIONS[2:]},
        errata=("ER-039",),
        told=True,
        if_it_fails=(
            "Old files were skipped by the second time in their names, which is a requested time and not a completion time."
        ),
    ),
    archived(
        "rows-in-no-order",
        "Rows of a history file may be in any order.",
        requirements=("RDR-009", "LSM-018"),
        files={WHOLE: IN_NO_ORDER},
        errata=("ER-083",),
    ),
]

VERSION_FILE = [
    archived(
        "damaged.version-file-empty",
        "With an empty version file, as an interrupted update leaves it, the newest manifest is read or it is an error.",
        edit_file(f"{HOME}/_version_", lambda _: b""),
        requirements=("LSM-005", "LSM-007"),
        files={WHOLE: ACTIONS, PART: FIRST_ONLY},
        manifests={1: [PART], 2: [WHOLE]},
        version=2,
        or_error=True,
        errata=("ER-005",),
    ),
    archived(
        "damaged.version-file-junk",
        "A version file that is not a number is never treated as an empty history.",
        edit_file(f"{HOME}/_version_", lambda _: b"one"),
        requirements=("LSM-007",),
        or_error=True,
        errata=("ER-005",),
    ),
    archived(
        "damaged.version-file-names-no-manifest",
        "A version file that names a manifest that does not exist is never treated as an empty history.",
        edit_file(f"{HOME}/_version_", lambda _: b"7"),
        requirements=("LSM-007", "LSM-009"),
        or_error=True,
    ),
    archived(
        "damaged.version-file-is-a-folder",
        "A folder in place of the version file is never treated as an empty history.",
        as_folder(f"{HOME}/_version_"),
        requirements=("LSM-007",),
        or_error=True,
        errata=("ER-005",),
    ),
]

MANIFEST = [
    archived(
        "damaged.manifest-cut",
        "A truncated manifest is an error.",
        truncate_file(f"{HOME}/manifest_1", 0.6),
        requirements=("LSM-009", "LSM-010"),
        error="manifest",
    ),
    archived(
        "damaged.manifest-junk",
        "A manifest that is not JSON is an error.",
        edit_file(f"{HOME}/manifest_1", lambda _: b"this is no manifest"),
        requirements=("LSM-009", "LSM-010"),
        error="manifest",
    ),
    archived(
        "damaged.manifest-of-another-shape",
        "A manifest without the names of files is an error.",
        change_manifest(lambda entries: [entry.pop("fileName") for entry in entries]),
        requirements=("LSM-010",),
        error="manifest",
    ),
    archived(
        "damaged.manifest-names-a-foreign-file",
        "A manifest that lists a name that is not the name of a history file is an error, whatever the file contains.",
        change_manifest(lambda entries: [entry.update(fileName="../1.parquet") for entry in entries]),
        requirements=("LSM-010", "LSM-013"),
        error="manifest",
    ),
]

FILES = [
    archived(
        "damaged.file-missing",
        "A history file that the manifest lists and that is missing is an error.",
        remove(f"{HOME}/{LATER}"),
        requirements=("LSM-012",),
        files={SINGLE: FIRST_ONLY, LATER: ACTIONS[1:]},
        error="history-file",
    ),
    archived(
        "damaged.file-cut",
        "A truncated history file is an error.",
        truncate_file(f"{HOME}/{WHOLE}", 0.7),
        requirements=("LSM-003",),
        error="history-file",
    ),
    archived(
        "damaged.file-junk",
        "A history file that is not Parquet is an error.",
        edit_file(f"{HOME}/{WHOLE}", lambda content: b"x" * len(content)),
        requirements=("LSM-003",),
        error="history-file",
    ),
    archived(
        "damaged.file-of-another-length",
        "A history file with another length than in the manifest is not the published file and is an error.",
        edit_file(f"{HOME}/{WHOLE}", lambda _: level_file(*OTHERWISE, (22, 23, "clean"))),
        requirements=("LSM-011",),
        error="history-file",
        errata=("ER-082",),
        flags=("silent-guess", "lost-write"),
    ),
    archived(
        "damaged.length-of-the-manifest-wrong",
        "If only the length in the manifest is wrong, the rows are right or it is an error.",
        change_manifest(longer),
        requirements=("LSM-011",),
        or_error=True,
        errata=("ER-082",),
    ),
    archived(
        "damaged.file-is-a-folder",
        "A folder in place of a history file is an error.",
        as_folder(f"{HOME}/{WHOLE}"),
        requirements=("LSM-012",),
        error="history-file",
    ),
]

FIRST, SECOND = ".hoodie/timeline/{0}_*", ".hoodie/timeline/{1}_*"


def written(name: str, says: str, *edits: TableEdit, requirements: tuple[str, ...], **check: Any) -> Recipe:
    """A copy-on-write table of two commits; its rows are right, and with `or_error` an error is right too."""
    return handmade(
        f"damaged.{name}",
        COW_TABLE,
        upsert(row("first"), BYSTANDER),
        upsert(row("second", ts=2)),
        edits=edits,
        requirements=requirements,
        says=says,
        if_it_fails=check.pop("if_it_fails", NOT_ANOTHER),
        flags=("silent-guess", "lost-write"),
        **check,
    )


def backwards(path: str, instants: Sequence[str]) -> str:
    """The name of a completed file with its two times exchanged."""
    times, _, action = Path(path).name.partition(".")
    requested, completion = times.split("_")
    return f"{TIMELINE}/{completion}_{requested}.{action}"


INSTANTS = [
    written(
        "completed-file-empty",
        "An action whose completed file is empty is not treated as incomplete.",
        edit_file(SECOND, lambda _: b""),
        requirements=("TL-002", "TL-007"),
        or_error=True,
    ),
    written(
        "completed-file-is-a-folder",
        "An action with a folder in place of its completed file is not treated as incomplete.",
        as_folder(SECOND),
        requirements=("TL-046",),
        or_error=True,
    ),
    written(
        "contents-of-two-commits-swapped",
        "Swapped contents of two completed files do not hide the rows of either commit.",
        swapped(FIRST, SECOND),
        requirements=("TL-007", "BF-004"),
        or_error=True,
    ),
    written(
        "times-backwards",
        "A completed file whose completion time is before its requested time does not hide its action.",
        copy(FIRST, backwards),
        requirements=("TL-004",),
        or_error=True,
    ),
    written(
        "timeline-is-a-file",
        "A file in place of the timeline folder is an error, not an empty table.",
        as_file(TIMELINE.as_posix()),
        requirements=("LAY-017",),
        error="timeline",
    ),
    written(
        "pending-files-junk",
        "The contents of requested and inflight files of a completed commit do not affect the rows.",
        edit_file(".hoodie/timeline/{1}.commit.requested", lambda _: b"junk"),
        edit_file(".hoodie/timeline/{1}.inflight", lambda _: b"junk"),
        requirements=("TL-053",),
    ),
]

RECIPES = [*NAMES, *VERSION_FILE, *MANIFEST, *FILES, *INSTANTS]
