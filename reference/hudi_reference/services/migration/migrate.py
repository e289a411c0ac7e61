"""Migration of a table from version 6 to version 8, spec "Change Log > version 8".

    1. every instant of the old timeline is written to the new timeline, every archived one to the history
    2. one object is replaced: the properties. Until here it is a table of version 6, from here on one of version 8
    3. the old timeline and the metadata table are deleted: from here on writers of version 8 take the table
    4. the logs of merge-on-read tables are compacted, as the service of version 8 does it

Whoever reads while this goes on, or after it died, finds one whole timeline: the properties say which. A second run begins
anew before step 2, and goes on behind it; until it has, writers of version 8 refuse the table. Writers of version 6 must be
stopped first: they would not notice.

Log files keep their names. Their instant is that of their base file, which completed, so that the rules of version 8 put them
into the same slices, and rows are the same before and after step 4. That step leaves no log of version 6 in a slice in use:
several actions may have appended to one. While a compaction is under way the names mean something else; whatever is pending has
to be finished first.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from hudi_reference.clock import Clock, SystemClock
from hudi_reference.errors import MigrationRefused, TableChanged, UnfinishedMigration, UnsupportedFeature
from hudi_reference.ids import Ids, RandomIds
from hudi_reference.layout.java_properties import dump
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.layout.properties import (
    BACKUP_PATH,
    META_FOLDER,
    PROPERTIES_PATH,
    TableProperties,
    read_properties,
    with_checksum,
)
from hudi_reference.legacy.archived_log import archived_log_files
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.table import Table, check_readable
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.requirement import implements
from hudi_reference.services.compaction.compaction import compact
from hudi_reference.services.default_hooks import STANDARD_HOOKS
from hudi_reference.services.migration.properties import migrated_properties
from hudi_reference.services.migration.timeline import MigratedTimeline, OldFile, migrated_timeline, read_old_files
from hudi_reference.storage import ObjectChanged, ObjectInfo, Storage, storage_of
from hudi_reference.timeline.active import load_timeline
from hudi_reference.timeline.history.history_writer import flush
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.timeline.instants.version_6 import legacy_instants, list_legacy_files, parse_legacy_name
from hudi_reference.write.write_context import check_writable

METADATA_TABLE = f"{META_FOLDER}/metadata"


@dataclass(frozen=True)
class Migration:
    """What a migration does to a table: objects by path, in the order in which it comes to them."""

    created: tuple[str, ...] = ()
    #: Requested times of the actions that go to the history.
    archived: tuple[str, ...] = ()
    #: The properties afterwards that are new or have changed, and those that go.
    properties: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    #: The file groups whose logs are compacted, as paths.
    compacted: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@implements("COMPAT-005", "COMPAT-006")
def migrate(
    uri: str, *, dry_run: bool = False, storage: Storage | None = None, clock: Clock | None = None, ids: Ids | None = None
) -> Migration:
    """Bring the table at `uri` from version 6 to version 8; what was done. With `dry_run` only what would be done.

    A table of version 8 is left as it is, but for what an earlier run has not taken away. Raises MigrationRefused for a table
    with pending actions or with something that is not migrated, TableChanged when somebody writes meanwhile, MalformedTable.
    """
    store = storage_of(uri) if storage is None else storage
    properties = read_properties(store)
    table = Table(store, clock or SystemClock(), ids or RandomIds(), properties, uri, hooks=STANDARD_HOOKS)
    if properties.is_legacy:
        return _migrate(table, dry_run=dry_run)
    rest, groups = _left_behind(store, properties), _with_old_logs(table)
    if not dry_run:
        _delete(store, rest)
        _compact(table, groups)
    return Migration(compacted=groups, removed=rest)


def _migrate(table: Table, *, dry_run: bool) -> Migration:
    storage, properties = table.storage, table.properties
    version = storage.head(PROPERTIES_PATH)
    listed = list_legacy_files(storage)
    _check_migratable(storage, properties, listed)
    old = read_old_files(listed, storage, properties)
    new = migrated_timeline(storage, properties, old, table.ids)
    entries = migrated_properties(properties)
    target = TableProperties(entries)
    earlier = _of_an_earlier_run(storage, target, old, new)
    rest, groups = _old_timeline(storage, properties, listed), _with_logs(table, target)
    if not dry_run:
        _delete(storage, earlier)
        _store(storage, target, new)
        _check_unchanged(storage, listed)
        _switch(storage, entries, version.version if version else "", f"Updated at {format_time(table.clock.now())} UTC")
        _delete(storage, rest)
        _compact(replace(table, properties=target), groups)
    return Migration(
        created=tuple(f"{target.timeline_folder}/{name}" for name in sorted(new.files)),
        archived=tuple(action.instant.requested for action in new.history),
        properties={key: value for key, value in entries.items() if properties.entries.get(key) != value},
        dropped=tuple(key for key in properties.entries if key not in entries),
        compacted=groups,
        removed=rest,
    )


@implements("COMPAT-006")
def _check_migratable(storage: Storage, properties: TableProperties, listed: Iterable[ObjectInfo]) -> None:
    """What has begun under the rules of version 6 is finished under them."""
    check_readable(properties)
    pending = [instant for instant in legacy_instants(listed, properties) if instant.state is not State.COMPLETED]
    if pending:
        raise MigrationRefused(
            "an action is pending", rule="COMPAT-006", path=f"{META_FOLDER}/{pending[0].file_name}",
            expected="completed actions only", found=", ".join(instant.file_name for instant in pending[:5]),
            remedy="with a writer of version 6, run the compaction or clustering, or write once; that rolls back failed writes",
        )  # fmt: skip
    if storage.list(f"{META_FOLDER}/.schema"):
        raise MigrationRefused(
            "the table has a history of its schemas, which is not migrated", rule="COMPAT-006", path=f"{META_FOLDER}/.schema",
            remedy="upgrade the table with Apache Hudi",
        )  # fmt: skip


def _of_an_earlier_run(storage: Storage, target: TableProperties, old: Iterable[OldFile], new: MigratedTimeline) -> list[str]:
    """What lies where the new timeline goes. It was written by a run that died, and is written again.

    Instants that the old timeline has not are nobody's copies: an upgrade by Apache Hudi moves instants one by one, and what it
    has moved when it dies is nowhere else.
    """
    paths = [info.path for info in storage.list(target.timeline_folder)]
    known = {file.instant.requested for file in old} | {action.instant.requested for action in new.history}
    for path in paths:
        instant = parse_instant_name(path.removeprefix(f"{target.timeline_folder}/"))
        if instant is not None and instant.requested not in known:
            raise UnfinishedMigration(
                "an instant of version 8 in a table of version 6, which the old timeline does not have", rule="COMPAT-006",
                path=path, remedy="an upgrade by Apache Hudi was interrupted: finish it with Apache Hudi",
            )  # fmt: skip
    return paths


def _store(storage: Storage, target: TableProperties, new: MigratedTimeline) -> None:
    for name, content in sorted(new.files.items()):
        storage.create(f"{target.timeline_folder}/{name}", content)
    flush(storage, target.history_folder, new.history)


def _switch(storage: Storage, entries: Mapping[str, str], version: str, comment: str) -> None:
    """One request makes it a table of version 8. A backup of the old properties would bring the old version back."""
    storage.delete(BACKUP_PATH)
    try:
        storage.replace(PROPERTIES_PATH, dump(with_checksum(entries), comment), version)
    except ObjectChanged as error:
        raise _changed(PROPERTIES_PATH) from error


def _check_unchanged(storage: Storage, listed: list[ObjectInfo]) -> None:
    """The last look before the switch: writers of version 6 should have been stopped."""
    if (now := list_legacy_files(storage)) != listed:
        raise _changed(min({info.path for info in now} ^ {info.path for info in listed}, default=META_FOLDER))


@implements("COMPAT-006")
def _with_logs(table: Table, target: TableProperties) -> tuple[str, ...]:
    """The file groups to compact; none if this implementation does not write tables of that kind: it reads them as they are."""
    if not target.is_merge_on_read or not _can_be_compacted(replace(table, properties=target)):
        return ()
    return tuple(found.path(found.file_id) for found in table.view().groups.latest_slices if found.log_files)


def _can_be_compacted(table: Table) -> bool:
    try:
        check_writable(table)
        merging_of(table.properties)
    except UnsupportedFeature:
        return False
    return True


def _with_old_logs(table: Table) -> tuple[str, ...]:
    """The same in a table whose migration died before it came to that: some log has the name of its base file's instant, or
    was written by several actions.
    """
    groups = table.view().groups

    def is_old(found: FileSlice, name: str) -> bool:
        parsed = parse_data_file_name(name)
        several = len(groups.committed.get(found.path(name), ())) > 1
        return several or (parsed is not None and parsed.instant == found.base_file_instant)

    old = any(is_old(found, name) for found in groups.latest_slices for name in found.log_files)
    return _with_logs(table, table.properties) if old else ()


def _compact(table: Table, groups: Collection[str]) -> None:
    """All of them, however many there are."""
    if groups:
        compact(table, {"hoodie.compaction.strategy": "UnBoundedCompactionStrategy"})


def _changed(path: str) -> TableChanged:
    return TableChanged(
        "somebody wrote to the table during the migration", rule="COMPAT-006", path=path,
        remedy="stop all writers of version 6, then migrate again: the table is still at version 6",
    )  # fmt: skip


def _old_timeline(storage: Storage, properties: TableProperties, listed: Iterable[ObjectInfo]) -> tuple[str, ...]:
    """What version 8 has no use for, in the order in which it is deleted: the instants last, as they keep writers away."""
    metadata = [info.path for info in storage.list(METADATA_TABLE)]
    instants = [info.path for info in listed if parse_legacy_name(info.path.rpartition("/")[2]) is not None]
    return (*metadata, *archived_log_files(storage, _old_archive(properties)), *instants)


def _old_archive(properties: TableProperties) -> str:
    return f"{META_FOLDER}/{properties.get('hoodie.archivelog.folder')}"


@implements("COMPAT-006")
def _left_behind(storage: Storage, properties: TableProperties) -> tuple[str, ...]:
    """What an earlier run has not yet taken away; nothing where no old instant is left, as these go last.

    Raises UnfinishedMigration for an instant that the timeline of version 8 does not have.
    """
    listed = list_legacy_files(storage)
    instants = legacy_instants(listed, properties)
    if not instants:
        return ()
    timeline = load_timeline(storage, properties)
    known = {instant.identity for instant in (*timeline.completed, *timeline.history)}
    for instant in instants:
        if instant.identity not in known:
            raise _not_migrated(instant)
    return _old_timeline(storage, properties, listed)


def _not_migrated(instant: Instant) -> UnfinishedMigration:
    return UnfinishedMigration(
        "an instant of version 6 that was not migrated", rule="COMPAT-006", path=f"{META_FOLDER}/{instant.file_name}",
        expected="every action on the timeline of version 8", found="an action that only the old timeline has",
        remedy="a writer of version 6 wrote after the migration: what it wrote is not part of the table",
    )  # fmt: skip


def _delete(storage: Storage, paths: Iterable[str]) -> None:
    for path in paths:
        storage.delete(path)
