"""The archived actions as found on storage, file by file; a damaged file does not hide the others."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hudi_conformance.validator.stored.listing import Listing
from hudi_reference.caching import cached_property
from hudi_reference.errors import HudiError, MalformedHistory
from hudi_reference.files.log.block import CorruptBlock
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy.archived_log import archived_log_files, read_archived_log
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.timeline.contents.metadata import CommitMetadata, commit_metadata_of
from hudi_reference.timeline.history.archived import metadata_of
from hudi_reference.timeline.history.history import END_OF_TIME, START_OF_TIME, ArchivedAction, History, read_level_file
from hudi_reference.timeline.history.manifest import LevelFile, Manifest, load_manifest, parse_level_file_name
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS


@dataclass(frozen=True)
class StoredHistory:
    """The history of a table.

    Attributes:
        folder: its folder below the base path.
        manifest: the valid manifest; None if it cannot be read.
        actions: the actions of each level file that can be read, in stored order.
        instants: the archived actions, by requested time.
        errors: what cannot be read, in the order of the files.
    """

    folder: str
    manifest: Manifest | None
    actions: Mapping[LevelFile, Sequence[ArchivedAction]]
    instants: tuple[Instant, ...]
    errors: tuple[HudiError, ...] = ()
    #: The metadata of the archived actions that can be decoded.
    metadata: Mapping[Instant, Mapping[str, Any]] = field(default_factory=dict)
    #: Archives of version 6 that end within a block, or have none: the offset, and what is wrong.
    cut: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    #: The actions of each level file that the manifest does not list, as far as they are in no other one.
    unlisted: Mapping[LevelFile, Sequence[Instant]] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing."""
        return not self.errors and not self.cut

    def may_have(self, requested: str, active: Sequence[Instant]) -> bool:
        """Whether an action may be in a part that cannot be read. Without an active action the timeline was lost."""
        if self.errors or requested in self.unlisted_times or not active:
            return True
        return not self.is_whole and all(requested < instant.requested for instant in active)

    @cached_property
    def unlisted_times(self) -> frozenset[str]:
        """The requested times of the actions that only level files without an entry in the manifest have."""
        return frozenset(instant.requested for lost in self.unlisted.values() for instant in lost)

    @cached_property
    def commits(self) -> Mapping[Instant, CommitMetadata]:
        """The metadata of the archived writes, as far as it can be decoded."""
        found = {}
        for instant, record in self.metadata.items():
            if instant.action in COMMITS:
                with suppress(HudiError):
                    found[instant] = commit_metadata_of(record, self.folder)
        return found

    @property
    def removing(self) -> Iterator[tuple[Instant, Mapping[str, Any]]]:
        """The archived cleans and rollbacks with their metadata."""
        return ((i, record) for i, record in self.metadata.items() if i.action in ("clean", "rollback", "restore"))


def load_history(storage: Storage, properties: TableProperties, listing: Listing) -> StoredHistory:
    """Read the history of a table."""
    folder = properties.history_folder
    if not any(path.startswith(f"{folder}/") for path in listing.files):
        return StoredHistory(folder, Manifest(), {}, ())
    if properties.is_legacy:
        return _archived_log(storage, folder)
    try:
        manifest = load_manifest(storage, folder)
    except HudiError as error:
        return StoredHistory(folder, None, {}, (), (error,))
    actions, errors = {}, list[HudiError]()
    for file in manifest.files:
        try:
            actions[file] = read_level_file(storage, folder, file, ("metadata", "plan"))
        except HudiError as error:
            errors.append(error)
        except FileNotFoundError:
            errors.append(_missing(folder, file))
    instants = {action.instant.identity: action.instant for found in actions.values() for action in found}
    found = tuple(instants[one] for one in sorted(instants))
    unlisted = {
        file: tuple(instant for instant in inside if instant.identity not in instants)
        for file, inside in _unlisted(storage, folder, listing, manifest)
    }
    return StoredHistory(folder, manifest, actions, found, tuple(errors), _metadata(folder, actions), unlisted=unlisted)


def _unlisted(storage: Storage, folder: str, listing: Listing, manifest: Manifest) -> Iterator[tuple[LevelFile, list[Instant]]]:
    """The level files that the manifest does not list, with the actions of those that can be read."""
    listed = {file.name for file in manifest.files}
    for path, info in listing.files.items():
        parent, name = split_path(path)
        parts = parse_level_file_name(name) if parent == folder and name not in listed else None
        if parts is not None:
            file, actions = LevelFile(name, info.size, *parts), list[ArchivedAction]()
            with suppress(HudiError, FileNotFoundError):
                actions = list(read_level_file(storage, folder, file, ()))
            yield file, [one.instant for one in actions]


def _metadata(folder: str, actions: Mapping[LevelFile, Sequence[ArchivedAction]]) -> dict[Instant, Mapping[str, Any]]:
    found: dict[Instant, Mapping[str, Any]] = {}
    for file, inside in actions.items():
        for action in inside:
            with suppress(HudiError):
                record = metadata_of(action, f"{folder}/{file.name}")
                if record is not None:
                    found[action.instant] = record
    return found


def _archived_log(storage: Storage, folder: str) -> StoredHistory:
    try:
        archived = read_archived_log(storage, folder)
        metadata = {found.instant: found.metadata for found in archived if found.metadata is not None}
        instants = tuple(found.instant for found in archived)
        return StoredHistory(folder, Manifest(), {}, instants, (), metadata, dict(_cut_archives(storage, folder)))
    except HudiError as error:
        return StoredHistory(folder, None, {}, (), (error,))


def _cut_archives(storage: Storage, folder: str) -> Iterator[tuple[str, tuple[int, str]]]:
    for path in archived_log_files(storage, folder):
        *_, last = (None, *read_log_file(storage, path, for_inspection=True))
        if last is None:
            yield path, (0, "no block")
        elif isinstance(last, CorruptBlock):
            yield path, (last.offset, last.reason)


def _missing(folder: str, file: LevelFile) -> MalformedHistory:
    return MalformedHistory(
        "a file of the manifest is missing", rule="LSM-012", path=f"{folder}/{file.name}", expected=f"{file.length} bytes",
        found="no file", remedy="restore the file from another copy of the table; it has the completion times of its actions",
    )  # fmt: skip


class KnownHistory(History):
    """A history of instants that are in memory."""

    def __init__(self, instants: tuple[Instant, ...]) -> None:
        """`instants` are by requested time."""
        super().__init__(MemoryStorage(), "none")
        self._known = instants
        self._completed = {i.requested: i.completion or i.requested for i in instants if i.action in COMMITS}

    def instants(self, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> tuple[Instant, ...]:
        """The actions requested from `begin` to `end`, both included, by requested time."""
        return tuple(instant for instant in self._known if begin <= instant.requested <= end)

    def completed(self, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> tuple[Instant, ...]:
        """The actions completed from `begin` to `end`, both included, by completion time."""
        done = [instant for instant in self._known if begin <= (instant.completion or instant.requested) <= end]
        return tuple(sorted(done, key=lambda instant: instant.completion or instant.requested))

    def completion_of(self, requested: str, *, everywhere: bool = False) -> str | None:
        """Completion time of the archived write with that requested time; None if there is none."""
        return self._completed.get(requested)
