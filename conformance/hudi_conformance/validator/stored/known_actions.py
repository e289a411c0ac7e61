"""What is known of the actions of a table, and archived actions that no file in the manifest has."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hudi_reference.layout.names import split_path
from hudi_reference.timeline.history.manifest import LevelFile, manifest_number
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS

if TYPE_CHECKING:
    from hudi_conformance.validator.stored.table import StoredTable


def knows_all_actions(table: "StoredTable") -> bool:
    """Whether no archived action is known to be missing in what could be read of the history."""
    return table.history.is_whole and not archived_without_entry(table)


def knows_all_writes(table: "StoredTable") -> bool:
    """Whether the metadata of all completed writes can be read, also of archived ones."""
    writes = (one for one in (*table.timeline.commits, *table.history.instants) if one.action in COMMITS)
    known = {one.requested for one in (*table.history.commits, *table.commits)}
    return knows_all_actions(table) and {one.requested for one in writes} <= known


def archived_without_entry(table: "StoredTable") -> Mapping[LevelFile, Sequence[Instant]]:
    """The level files that the manifest lacks, with their actions that are nowhere else.

    A crashed archiver leaves a file whose actions are active. Of the files that an older manifest alone lists, only those count
    of which an action still has data files: what was in the others may have been cleaned.
    """
    found: Mapping[LevelFile, Sequence[Instant]] = table.once("archived without entry", lambda: _archived_without_entry(table))
    return found


def _archived_without_entry(table: "StoredTable") -> dict[LevelFile, list[Instant]]:
    active = {one.identity for one in table.timeline.instants}
    written = {one.name.instant for one in table.data_files.values()}
    unlisted = table.history.unlisted
    others = {file: [one for one in inside if one.identity not in active] for file, inside in unlisted.items()}
    current = table.history.manifest.number if table.history.manifest is not None else 0
    listed, later = listed_from(table, 0), listed_from(table, current + 1)
    return {
        file: inside
        for file, inside in others.items()
        if any(one.requested in written for one in inside) or (inside and (file.name not in listed or file.name in later))
    }


def manifests(table: "StoredTable") -> Iterator[tuple[str, int]]:
    """The manifests in the folder of the history, with their numbers."""
    for path in table.listing.files:
        folder, name = split_path(path)
        if folder == table.history.folder and (number := manifest_number(name)) is not None:
            yield path, number


def listed_from(table: "StoredTable", least: int) -> set[str]:
    """The names in all manifests from a number on, whatever else they contain."""
    paths = (path for path, number in manifests(table) if number >= least)
    texts = (table.storage.get(path).decode("ascii", "replace") for path in paths)
    return {name for text in texts for name in re.findall(r"\d+_\d+_\d+\.parquet", text)}
