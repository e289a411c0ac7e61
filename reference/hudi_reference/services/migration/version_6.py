"""Migration of a table from version 6 to version 8, spec "Change Log > version 8".

    1. every instant of the old timeline is written to the new timeline, every archived one to the history
    2. the properties file is replaced: before it is a table of version 6, afterwards one of version 8
    3. the old timeline and the metadata table are deleted: afterwards writers of version 8 accept the table
    4. the log files of merge-on-read tables are compacted, by the service of version 8

Readers find one complete timeline at any time, also after a crash: the properties name it. A second run starts again before
step 2 and continues after it; until it has, writers of version 8 refuse the table. Writers of version 6 must be stopped first,
because they do not detect the migration.

Log files keep their names. Their instant is that of their base file, which is completed, so that the rules of version 8 assign
them to the same slices, and rows are the same before and after step 4. After that step no slice in use has a log file of
version 6, to which several actions may have appended. During a compaction the names have another meaning, so that pending
actions have to be finished first.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from hudi_reference.errors import MigrationRefused, TableChanged, UnfinishedMigration, UnsupportedFeature
from hudi_reference.layout.java_properties import dump
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.layout.properties import BACKUP_PATH, META_FOLDER, PROPERTIES_PATH, TableProperties
from hudi_reference.layout.properties_writer import with_checksum
from hudi_reference.legacy.archived_log import archived_log_files
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.table import Table
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.requirement import implements
from hudi_reference.services.compaction.compaction import compact
from hudi_reference.services.migration.changes import Migration
from hudi_reference.services.migration.version_6_properties import migrate_properties
from hudi_reference.services.migration.version_6_timeline import MigratedTimeline, OldFile, migrate_timeline, read_old_files
from hudi_reference.storage import ObjectChanged, ObjectInfo, Storage
from hudi_reference.timeline.active import load_timeline
from hudi_reference.timeline.history.history_writer import flush
from hudi_reference.timeline.instants.instant import Instant, parse_instant_name
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.timeline.instants.version_6 import legacy_instants, list_legacy_files, parse_legacy_name
from hudi_reference.write.preconditions import check_columns_stored, check_writable

METADATA_TABLE = f"{META_FOLDER}/metadata"


@implements("COMPAT-005", "COMPAT-006")
def migrate_from_version_6(table: Table, *, dry_run: bool) -> Migration:
    """Migrate a table of version 6 to version 8. Raises MigrationRefused, TableChanged, MalformedTable."""
    storage, properties = table.storage, table.properties
    version = storage.head(PROPERTIES_PATH)
    listed = list_legacy_files(storage)
    _check_migratable(table, listed)
    old = read_old_files(listed, storage, properties)
    new = migrate_timeline(storage, properties, old, table.ids)
    entries = migrate_properties(properties)
    target = TableProperties(entries)
    earlier = _files_of_earlier_run(storage, target, old, new)
    rest, groups = _obsolete_files(storage, properties, listed), _groups_with_logs(table, target)
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


def finish_version_6(table: Table, *, dry_run: bool) -> Migration:
    """Remove from a table of version 8 what an interrupted migration has left. Raises UnfinishedMigration, MalformedTable."""
    rest, groups = _remaining_old_files(table.storage, table.properties), _groups_with_old_logs(table)
    if not dry_run:
        _delete(table.storage, rest)
        _compact(table, groups)
    return Migration(compacted=groups, removed=rest)


@implements("COMPAT-006")
def _check_migratable(table: Table, listed: Iterable[ObjectInfo]) -> None:
    """Raises MigrationRefused for pending actions, which must be finished by the rules of version 6, and for schema
    histories."""
    check_columns_stored(table)
    pending = [instant for instant in legacy_instants(listed) if instant.state is not State.COMPLETED]
    if pending:
        raise MigrationRefused(
            "an action is pending", rule="COMPAT-006", path=f"{META_FOLDER}/{pending[0].file_name}",
            expected="completed actions only", found=", ".join(instant.file_name for instant in pending[:5]),
            remedy="with a writer of version 6, run the compaction or clustering, or write once; that rolls back failed writes",
        )  # fmt: skip
    if table.storage.list(f"{META_FOLDER}/.schema"):
        raise MigrationRefused(
            "the table has a history of its schemas, which is not migrated", rule="COMPAT-006", path=f"{META_FOLDER}/.schema",
            remedy="upgrade the table with Apache Hudi",
        )  # fmt: skip


def _files_of_earlier_run(
    storage: Storage, target: TableProperties, old: Iterable[OldFile], new: MigratedTimeline
) -> list[str]:
    """The files of an earlier, interrupted run in the folder of the new timeline; they are written again.

    Raises UnfinishedMigration for instants that the old timeline does not have: an upgrade by Apache Hudi moves instants one by
    one, so that after its interruption these files are the only copies.
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
    """Make it a table of version 8 with one request. The backup is deleted first: it would restore the old properties."""
    storage.delete(BACKUP_PATH)
    try:
        storage.replace(PROPERTIES_PATH, dump(with_checksum(entries), comment), version)
    except ObjectChanged as error:
        raise _table_changed(PROPERTIES_PATH) from error


def _check_unchanged(storage: Storage, listed: list[ObjectInfo]) -> None:
    """Raises TableChanged if a writer of version 6 has written since the timeline was listed."""
    if (now := list_legacy_files(storage)) != listed:
        raise _table_changed(min({info.path for info in now} ^ {info.path for info in listed}, default=META_FOLDER))


@implements("COMPAT-006")
def _groups_with_logs(table: Table, target: TableProperties) -> tuple[str, ...]:
    """The file groups to compact; none if this implementation cannot write the table, as it can read the files as they are."""
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


def _groups_with_old_logs(table: Table) -> tuple[str, ...]:
    """The file groups to compact after an interrupted migration: those of tables with log files of version 6.

    Such a log file has the instant of its base file, or was written by several actions.
    """
    groups = table.view().groups
    spans = groups.committed_files().spans

    def is_old(file_slice: FileSlice, name: str) -> bool:
        parsed = parse_data_file_name(name)
        several = len(spans.get(file_slice.path(name), ())) > 1
        return several or (parsed is not None and parsed.instant == file_slice.base_file_instant)

    old = any(is_old(found, name) for found in groups.latest_slices for name in found.log_files)
    return _groups_with_logs(table, table.properties) if old else ()


def _compact(table: Table, groups: Collection[str]) -> None:
    """Compact all file groups with log files, without an I/O budget."""
    if groups:
        compact(table, {"hoodie.compaction.strategy": "UnBoundedCompactionStrategy"})


def _table_changed(path: str) -> TableChanged:
    return TableChanged(
        "a writer changed the table during the migration", rule="COMPAT-006", path=path,
        remedy="stop all writers of version 6, then migrate again: the table is still at version 6",
    )  # fmt: skip


def _obsolete_files(storage: Storage, properties: TableProperties, listed: Iterable[ObjectInfo]) -> tuple[str, ...]:
    """The files that version 8 does not use, in the order of their deletion. Instants are last, as writers refuse the table."""
    metadata = [info.path for info in storage.list(METADATA_TABLE)]
    instants = [info.path for info in listed if parse_legacy_name(info.path.rpartition("/")[2]) is not None]
    return (*metadata, *archived_log_files(storage, _old_archive(properties)), *instants)


def _old_archive(properties: TableProperties) -> str:
    return f"{META_FOLDER}/{properties.get('hoodie.archivelog.folder')}"


@implements("COMPAT-006")
def _remaining_old_files(storage: Storage, properties: TableProperties) -> tuple[str, ...]:
    """The files that an earlier run has not deleted yet; none without old instants, which are deleted last.

    Raises UnfinishedMigration for an instant that the timeline of version 8 does not have.
    """
    listed = list_legacy_files(storage)
    instants = legacy_instants(listed)
    if not instants:
        return ()
    timeline = load_timeline(storage, properties)
    known = {instant.identity for instant in (*timeline.completed, *timeline.history)}
    for instant in instants:
        if instant.identity not in known:
            raise _unfinished_migration(instant)
    return _obsolete_files(storage, properties, listed)


def _unfinished_migration(instant: Instant) -> UnfinishedMigration:
    return UnfinishedMigration(
        "an instant of version 6 that was not migrated", rule="COMPAT-006", path=f"{META_FOLDER}/{instant.file_name}",
        expected="every action on the timeline of version 8", found="an action that only the old timeline has",
        remedy="a writer of version 6 wrote after the migration: what it wrote is not part of the table",
    )  # fmt: skip


def _delete(storage: Storage, paths: Iterable[str]) -> None:
    for path in paths:
        storage.delete(path)
