"""A table as found on storage: each part is read once and without raising an error for damage.

A part that cannot be read is recorded with its error, and the validation goes on with the rest. Nothing here decides whether
something is wrong; the checks do.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from hudi_conformance.validator.stored.file_views import DataFile, Views
from hudi_conformance.validator.stored.history import KnownHistory, StoredHistory, load_history
from hudi_conformance.validator.stored.known_actions import KnownActions
from hudi_conformance.validator.stored.listing import Listing, is_in, list_everything
from hudi_conformance.validator.stored.opened import Opened
from hudi_conformance.validator.stored.read_only import ReadOnlyStorage
from hudi_conformance.validator.stored.removals import Removals
from hudi_conformance.validator.stored.scope import Scope
from hudi_conformance.validator.stored.stored_properties import StoredProperties
from hudi_reference.caching import cached_property
from hudi_reference.clock import Clock, SystemClock
from hudi_reference.errors import HudiError, MalformedTable
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.table import FIRST
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.storage import Storage, storage_of
from hudi_reference.storage.uris import no_table
from hudi_reference.storage.wrapped import FolderStorage
from hudi_reference.timeline.active import Timeline, oldest_write
from hudi_reference.timeline.contents.actions import read_action
from hudi_reference.timeline.contents.avro_container import Record
from hudi_reference.timeline.contents.metadata import CommitMetadata, commit_metadata_of
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import ACTIONS, COMMITS, EXTENSIONS, State
from hudi_reference.timeline.instants.version_6 import completion_of, parse_legacy_name, read_json_record
from hudi_reference.write.placement.consistent_buckets import FOLDER as HASHING_FOLDER


@dataclass(frozen=True)
class StateFile:
    """A file of the timeline folder with the form of an instant. `error` is set if its name violates a rule."""

    path: str
    size: int
    modified: int
    instant: Instant
    error: HudiError | None = None


@dataclass(frozen=True)
class Content:
    """The record in a state file: None if the file is empty, or if it cannot be decoded (`error`)."""

    record: Record | None = None
    error: HudiError | None = None


@dataclass(frozen=True)
class StoredTable:
    """A table at rest. `now` is the time of the validation in milliseconds, from which ages are computed."""

    storage: Storage
    uri: str
    listing: Listing
    now: int
    scope: Scope = field(default_factory=Scope)
    #: The properties of the table whose metadata table it is; None of other tables.
    outer: Mapping[str, str] | None = None
    #: The results of `once`.
    _computed: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was read is read again in another process, because parts of it belong to this one."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"_computed": {}}

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """The result of a function that several parts of a check need; it is called at the first time."""
        if name not in self._computed:
            self._computed[name] = compute()
        return self._computed[name]

    @cached_property
    def stored_properties(self) -> StoredProperties:
        """The files of properties as stored."""
        return StoredProperties(self.storage, self.listing, self.outer)

    @property
    def entries(self) -> Mapping[str, str]:
        """The entries of the properties file that counts."""
        return self.stored_properties.entries

    @cached_property
    def properties(self) -> TableProperties:
        """The properties with which the table is examined: invalid values are left out, and an unknown version is replaced."""
        return self.stored_properties.usable

    @property
    def version(self) -> int | None:
        """The table version as stored; None if there is none."""
        return self.stored_properties.version

    @property
    def is_metadata_table(self) -> bool:
        """Whether this is the metadata table of another table."""
        return self.outer is not None or self.entries.get("hoodie.table.keygenerator.type") == "HOODIE_TABLE_METADATA"

    @cached_property
    def has_consistent_hashing(self) -> bool:
        """Whether the table has a bucket index with consistent hashing."""
        return any(path.startswith(f"{HASHING_FOLDER}/") for path in self.listing.files)

    # Timeline.

    @cached_property
    def repeated_initializations(self) -> frozenset[str]:
        """The requested times under which partitions of the metadata table were made several times.

        ER-210: a writer that drops a partition and makes it again takes the first time once more.
        """
        archived = {action.instant for actions in self.history.actions.values() for action in actions}
        known = Counter(one.requested for one in archived | {*self.timeline.completed} if one.requested.startswith(FIRST))
        return frozenset(time for time, count in known.items() if count > 1 and self.is_metadata_table)

    @cached_property
    def state_files(self) -> tuple[StateFile, ...]:
        """The files of instants on the active timeline, in order of their names, also those with a wrong name."""
        folder = f"{self.properties.timeline_folder}/"
        found = []
        for path, info in self.listing.files.items():
            name = path.removeprefix(folder)
            if path.startswith(folder) and "/" not in name:
                instant, error = self._instant(name, path)
                if instant is not None:
                    found.append(StateFile(path, info.size, info.modified, instant, error))
        return tuple(found)

    def _instant(self, name: str, path: str) -> tuple[Instant | None, HudiError | None]:
        if self.properties.is_legacy:
            legacy = parse_legacy_name(name)
            if legacy is not None and legacy.state is State.COMPLETED:
                legacy = replace(legacy, completion=completion_of(legacy.requested, self.listing.files[path], self.properties))
            return legacy, None
        try:
            return parse_instant_name(name), None
        except HudiError as error:
            error.path = path
            return _probable_instant(name), error

    @cached_property
    def timeline(self) -> Timeline:
        """The active timeline: one instant for each action, in its highest state."""
        highest: dict[tuple[str, str], Instant] = {}
        for file in self.state_files:
            known = highest.get(file.instant.identity)
            earlier = (
                known is not None
                and known.state is file.instant.state
                and (known.completion or "") <= (file.instant.completion or "")
            )
            if known is None or (known.state <= file.instant.state and not earlier):
                highest[file.instant.identity] = file.instant
        instants = tuple(highest[identity] for identity in sorted(highest))
        return Timeline(instants, KnownHistory(self.history.instants), oldest_write(instants))

    @cached_property
    def history(self) -> StoredHistory:
        """The archived actions."""
        return load_history(self.storage, self.properties, self.listing)

    @cached_property
    def contents(self) -> Mapping[Instant, Content]:
        """The content of each state file of the active timeline."""
        return {file.instant: self._content(file) for file in self.state_files}

    def _content(self, file: StateFile) -> Content:
        if file.instant.state not in ACTIONS[file.instant.action].contents:
            return Content()
        try:
            data = self.storage.get(file.path)
            if self.properties.is_legacy and file.instant.state is State.COMPLETED and file.instant.action in COMMITS:
                read_json_record(data, file.path)  # readers of version 6 know no other form of commit metadata
            return Content(read_action(data, file.path, file.instant))
        except HudiError as error:
            return Content(error=error)
        except FileNotFoundError:
            return Content(error=MalformedTable("the file disappeared meanwhile", rule="TL-046", path=file.path))

    @cached_property
    def commits(self) -> Mapping[Instant, CommitMetadata]:
        """The metadata of the completed writes of the active timeline that can be decoded, by requested time."""
        found = {}
        for instant in self.timeline.instants:
            if instant.state is State.COMPLETED and instant.action in COMMITS:
                record = self.contents[instant].record
                if record is not None:
                    try:
                        found[instant] = commit_metadata_of(record, self.path_of(instant))
                    except HudiError as error:
                        self.unreadable_commits[instant] = error
        return found

    @cached_property
    def unreadable_commits(self) -> dict[Instant, HudiError]:
        """Completed writes whose record is not commit metadata; filled by `commits`."""
        return {}

    def path_of(self, instant: Instant) -> str:
        """The path of the file of an instant."""
        return f"{self.properties.timeline_folder}/{instant.file_name}"

    def place_of(self, instant: Instant) -> str:
        """The path of the file of an instant on the active timeline; the folder of the history for an archived one."""
        return self.path_of(instant) if instant in self.contents else self.history.folder

    # Data files.

    @cached_property
    def data_files(self) -> Mapping[str, DataFile]:
        """The data files of the partitions in scope, by path."""
        found = {}
        for path, info in self.listing.files.items():
            if path.startswith(f"{META_FOLDER}/"):
                continue
            partition, name = split_path(path)
            parsed = parse_data_file_name(name) if self.scope.wants(partition) else None
            if parsed is not None:
                found[path] = DataFile(path, info.size, info.modified, parsed)
        return found

    def has_partition(self, partition: str) -> bool:
        """Whether a file is in the folder of this partition, or a completed write of the active timeline names one in it."""
        named = (path for commit in self.commits.values() for path in commit.paths)
        return any(split_path(path)[0] == partition for path in (*self.listing.files, *named) if not is_in(path, META_FOLDER))

    def name_of(self, path: str) -> BaseFileName | LogFileName | None:
        """The parts of the name of a file, which is on storage or not; None if it is not one of a data file."""
        file = self.data_files.get(path)
        return parse_data_file_name(split_path(path)[1]) if file is None else file.name

    @cached_property
    def _views(self) -> Views:
        return Views(self.storage, self.properties, self.data_files, self.scope.wants, self._has_readable_plan)

    @cached_property
    def groups(self) -> FileGroups:
        """The file groups in scope as a query sees them, by the part of the timeline that can be read."""
        return self._views.of_readers(self.timeline, self.commits)

    @cached_property
    def owned(self) -> FileGroups:
        """The file groups in scope with only the files that a completed write stored; see `file_views`."""
        active = {instant.requested for instant in self.timeline.instants}
        if not self.history.instants and all(file.name.instant in active for file in self.data_files.values()):
            return self.groups  # readers need no assumption, so that both views are the same
        return self._views.strict(self.timeline, self.history.instants, {**self.history.commits, **self.commits})

    @cached_property
    def named_files(self) -> frozenset[str]:
        """The paths of all files that completed writes name, also files that are gone."""
        return frozenset(path for commit in self.owned.commits.values() for path in commit.paths)

    def plan_of(self, instant: Instant) -> Record | None:
        """The plan in the requested file of a service; None if it is empty, missing or cannot be read."""
        return self._plans.get((instant.requested, instant.action))

    @cached_property
    def _plans(self) -> Mapping[tuple[str, str], Record]:
        """The records in requested files, by requested time and action; instants of version 6 are of a class of their own."""
        found = ((instant, content.record) for instant, content in self.contents.items() if instant.state is State.REQUESTED)
        return {(instant.requested, instant.action): record for instant, record in found if record is not None}

    def _has_readable_plan(self, instant: Instant) -> bool:
        return self.plan_of(instant) is not None

    @cached_property
    def removals(self) -> Removals:
        """The files that completed actions removed, and that pending ones are about to remove."""
        found = Removals()
        for instant, record in self.history.removing:
            found.add(instant, record)
        for instant in self.timeline.instants:
            is_done = instant.state is State.COMPLETED
            content = self.contents[instant].record if is_done else None
            plan = self.plan_of(instant) if content is None else None
            if instant.action in ("clean", "rollback", "restore"):
                found.add(instant, content, plan)
        return found

    @cached_property
    def known_actions(self) -> KnownActions:
        """What is known of the actions of the table."""
        described = frozenset(one.requested for one in (*self.history.commits, *self.commits))
        return KnownActions(self.storage, self.listing, self.timeline, self.history, self.data_files, described)

    @cached_property
    def opened(self) -> Opened:
        """The table as the reference reads it."""
        archived = frozenset(instant.requested for instant in self.history.instants) if self.known_actions.are_all else None
        return Opened(self.storage, self.uri, self.properties, self.timeline, self.groups, archived, self.history.commits)

    # The metadata table.

    @cached_property
    def metadata_table(self) -> "StoredTable | None":
        """The metadata table, as a table with the partitions in use; None if there is none, or if no reader may use it.

        Also None if a folder of it cannot be listed, which is a finding.

        A partition that is being built again lacks the files that the timeline names from before it was dropped.
        """
        partitions = self.properties.fields(USABLE)
        listing = self.listing.below(METADATA_FOLDER)
        if not listing.files or not partitions or not self.listing.knows_metadata_table:
            return None
        scope = Scope(partitions, self.scope.sample, self.scope.rules)
        return StoredTable(
            FolderStorage(self.storage, METADATA_FOLDER), f"{self.uri}/{METADATA_FOLDER}", listing, self.now, scope,
            outer=self.entries,
        )  # fmt: skip


def _probable_instant(name: str) -> Instant | None:
    """The instant that a wrong name most likely stands for, so that its files are not taken for those of no action."""
    times, _, extension = name.partition(".")
    requested, _, completion = times.partition("_")
    action, state = EXTENSIONS[extension]
    return Instant(requested, action, state, (completion or requested) if state is State.COMPLETED else None)


def load_table(
    uri: str, *, scope: Scope | None = None, clock: Clock | None = None, storage: Storage | None = None
) -> StoredTable:
    """The table at `uri`, of which only the listing is read now.

    Args:
        uri: folder or URI of the table.
        scope: the partitions and the number of file groups that are examined; None for all.
        clock: None is the clock of this machine.
        storage: None is the storage that the URI names.

    Raises:
        TableNotFound: there is nothing below `.hoodie`.
    """
    store = storage_of(uri) if storage is None else storage
    listing = list_everything(store)
    if not listing.unlisted and not any(path.startswith(f"{META_FOLDER}/") for path in listing.files):
        raise no_table(uri)
    wanted = replace(scope or Scope(), unlisted=tuple(one for one in listing.unlisted if not is_in(one, META_FOLDER)))
    return StoredTable(ReadOnlyStorage(store), uri, listing, (clock or SystemClock()).now(), wanted)
