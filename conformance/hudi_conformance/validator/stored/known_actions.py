"""What is known of the actions of a table, and archived actions that no file in the manifest has."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hudi_conformance.validator.stored.file_views import DataFile
from hudi_conformance.validator.stored.history import StoredHistory
from hudi_conformance.validator.stored.listing import Listing
from hudi_reference.caching import cached_property
from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.history.manifest import LevelFile, manifest_number
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS


@dataclass(frozen=True)
class KnownActions:
    """The actions of the active timeline and of the history together. `described` are the writes with readable metadata."""

    storage: Storage
    listing: Listing
    timeline: Timeline
    history: StoredHistory
    data_files: Mapping[str, DataFile]
    described: frozenset[str]

    @property
    def are_all(self) -> bool:
        """Whether no archived action is known to be missing in what could be read of the history."""
        return self.history.is_whole and not self.archived_without_entry

    @property
    def have_all_writes(self) -> bool:
        """Whether the metadata of all completed writes can be read, also of archived ones."""
        writes = (one for one in (*self.timeline.commits, *self.history.instants) if one.action in COMMITS)
        return self.are_all and {one.requested for one in writes} <= self.described

    @cached_property
    def archived_without_entry(self) -> Mapping[LevelFile, Sequence[Instant]]:
        """The level files that the manifest lacks, with their actions that are nowhere else.

        A crashed archiver leaves a file whose actions are active. Of the files that an older manifest alone lists, only those
        count of which an action still has data files: what was in the others may have been cleaned.
        """
        active = {one.identity for one in self.timeline.instants}
        written = {one.name.instant for one in self.data_files.values()}
        unlisted = self.history.unlisted
        others = {file: [one for one in inside if one.identity not in active] for file, inside in unlisted.items()}
        current = self.history.manifest.number if self.history.manifest is not None else 0
        listed, later = self.listed_from(0), self.listed_from(current + 1)
        return {
            file: inside
            for file, inside in others.items()
            if any(one.requested in written for one in inside) or (inside and (file.name not in listed or file.name in later))
        }

    def manifests(self) -> Iterator[tuple[str, int]]:
        """The manifests in the folder of the history, with their numbers."""
        for path in self.listing.files:
            folder, name = split_path(path)
            if folder == self.history.folder and (number := manifest_number(name)) is not None:
                yield path, number

    def listed_from(self, least: int) -> set[str]:
        """The names in all manifests from a number on, whatever else they contain."""
        paths = (path for path, number in self.manifests() if number >= least)
        texts = (self.storage.get(path).decode("ascii", "replace") for path in paths)
        return {name for text in texts for name in re.findall(r"\d+_\d+_\d+\.parquet", text)}
