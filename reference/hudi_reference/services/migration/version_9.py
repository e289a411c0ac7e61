"""Change of a table between version 8 and version 9, spec "Change Log > version 9".

    1. everything is checked: a change that is refused has changed nothing
    2. from 9 to 8: indexes that version 8 does not know are dropped
    3. failed writes are rolled back, pending compactions executed, and all logs compacted by the rules of the old version
    4. from 8 to 9: the definitions of indexes get version V1, in which they are stored
       from 9 to 8: the metadata table gets version 8
    5. the properties are replaced: before it is a table of the old version, afterwards one of the new version
    6. from 8 to 9: the metadata table gets version 9

ER-186: deployed writers change the metadata table first, in both directions and before they check the table. A table that is
refused then has a metadata table that its own readers refuse. Here the version of the metadata table is never higher than that
of its table, and readers of version 9 read a metadata table of version 8, whose files are the same. A second run continues
after a crash. Timeline, data files, entries of the metadata table and the initial version stay as they are.

The compaction is needed where a payload class becomes a mode: the logs would be merged by other rules afterwards. The logs of
former slices, which only time travel reads, are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pyarrow.compute as pc

from hudi_reference.errors import MigrationRefused, TableChanged, UnsupportedFeature
from hudi_reference.layout.metadata_settings import INFLIGHT
from hudi_reference.layout.properties import NEWEST_VERSION, PROPERTIES_PATH, TABLE_VERSION, TableProperties
from hudi_reference.layout.properties_writer import check_entries, update_properties
from hudi_reference.locks import InProcessLock, Lock, hold_lock, new_owner
from hudi_reference.metadata.availability import (
    definition_of,
    index_version,
    read_definitions,
    usable_partitions,
    write_definitions,
)
from hudi_reference.metadata.definitions import V1, IndexDefinition, is_partitioned
from hudi_reference.metadata.indexes.all import index_of
from hudi_reference.metadata.partitions import BuiltIn, Kind
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.query.table import Table
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.record_keys import KeyGenerator, kind_of_generator
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import field_names
from hudi_reference.services.compaction.compaction import compact
from hudi_reference.services.indexing.named_indexes import drop_definitions
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.services.migration.changes import Migration
from hudi_reference.services.migration.version_9_properties import downgraded_entries, upgraded_entries
from hudi_reference.services.planning.plan_execution import groups_in_plans, pending_of
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.services.rollback.rollback import heartbeats_of
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.preconditions import check_writable

#: Target version -> conversion of the properties.
_CONVERSIONS = {NEWEST_VERSION: upgraded_entries, TABLE_VERSION: downgraded_entries}
_WRITES = ("commit", "deltacommit", "replacecommit")
#: Pending actions that a change of the version does not survive.
_UNFINISHED = {"restore": "execute the restore again", "indexing": "build the index, or drop it"}


@implements("COMPAT-008", "COMPAT-010")
def converted_entries(table: Table, properties: TableProperties, version: int) -> dict[str, str]:
    """The entries of a table at another version, given its properties at the version next to it.

    Raises MigrationRefused for a table that cannot have that version.
    """
    if properties.version == version:
        return dict(properties.entries)
    entries = _CONVERSIONS[version](properties, field_names(table.view().schema))
    check_entries(entries)
    _check_keys(table, TableProperties(entries))
    return entries


@implements("COMPAT-009", "META-013")
def _check_keys(table: Table, target: TableProperties) -> None:
    """Raises MigrationRefused for stored record keys that writers of the target version would not find again."""
    if kind_of_generator(target) != "COMPLEX" or len(target.record_key) != 1 or not target.populates_meta_fields:
        return
    generator = KeyGenerator.from_properties(target)
    column = target.record_key[0].partition(".")[0]
    for rows in table.batches([KEY, column]):
        made = generator.keys(rows)
        if rows.num_rows and not pc.all(pc.equal(rows.column(KEY), made)).as_py():
            place = pc.index(pc.equal(rows.column(KEY), made), False).as_py()
            raise MigrationRefused(
                "record keys of the complex key generator with one key field have another form at that version",
                rule="META-013", path=PROPERTIES_PATH, expected=made[place].as_py(), found=rows.column(KEY)[place].as_py(),
                remedy=f"keep the table at its version, or write its rows to a new table of version {target.version}",
            )  # fmt: skip


@dataclass(frozen=True)
class _Work:
    """What has to be done before the version can change."""

    failed: tuple[str, ...]
    #: File groups with logs to compact, as paths.
    groups: tuple[str, ...]

    @classmethod
    def of(cls, table: Table) -> "_Work":
        view = table.view()
        failed = tuple(found.requested for found in view.timeline.pending if found.action in _WRITES)
        if not (table.properties.is_merge_on_read and _has_merger(table)):
            return cls(failed, ())
        taken = groups_in_plans(table, view.timeline, ("clustering",))
        slices = (found for found in view.groups.latest_slices if found.log_files and found.group not in taken)
        return cls(failed, tuple(found.path(found.file_id) for found in slices))


def _has_merger(table: Table) -> bool:
    """Whether this implementation can merge the rows; others can read the logs as they are, as the mode stays CUSTOM."""
    try:
        merging_of(table.properties, table.mergers)
    except UnsupportedFeature:
        return False
    return True


@implements("COMPAT-008", "COMPAT-009", "COMPAT-010")
def plan_change(table: Table, version: int) -> Migration:
    """The changes that make a table of version 8 one of version 9, or the reverse; for a table of that version, those that
    complete an earlier change.

    Raises:
        MigrationRefused: the table cannot have the version.
        UnsupportedFeature: it has logs or failed writes, and this implementation cannot write it.
    """
    metadata = _metadata_table(table)
    is_behind = metadata is not None and metadata.properties.version != version
    plan = Migration(metadata_version=version if is_behind else None)
    if version == table.properties.version:
        return plan
    entries, work = converted_entries(table, table.properties, version), _Work.of(table)
    _check(table, TableProperties(entries), work)
    return replace(
        plan,
        rolled_back=work.failed,
        compacted=work.groups,
        defined_indexes=_definitions_with_versions(table) if version == NEWEST_VERSION else (),
        dropped_indexes=_unknown_indexes(table) if version == TABLE_VERSION else (),
    ).with_properties(table.properties.entries, entries)


def _metadata_table(table: Table) -> MetadataTable | None:
    return MetadataTable.for_table(table) if usable_partitions(table.properties) else None


@implements("COMPAT-009")
def _check(table: Table, target: TableProperties, work: _Work) -> None:
    """Raises MigrationRefused, UnsupportedFeature for a table on which the change could not be completed."""
    timeline = table.timeline
    for found in timeline.pending:
        if found.action in _UNFINISHED:
            raise _pending(found.file_name, _UNFINISHED[found.action])
        if found.action in _WRITES and heartbeats_of(table).is_active(found.requested):
            raise _pending(found.file_name, "stop the writer, or wait until its write has completed")
    if target.merge_mode != table.properties.merge_mode and table.properties.is_merge_on_read:
        if not _has_merger(table):
            merging_of(table.properties, table.mergers)
        for found in pending_of(timeline, "clustering"):
            raise _pending(found.file_name, "execute the clustering: it would merge the logs by the rules of the new version")
    if work.failed or work.groups:
        check_writable(table)


def _pending(name: str, remedy: str) -> MigrationRefused:
    return MigrationRefused("an action is pending", rule="COMPAT-009", path=name, expected="completed actions only", found=name,
                            remedy=remedy)  # fmt: skip


@implements("COMPAT-008", "IDX-022")
def _definitions_with_versions(table: Table) -> tuple[IndexDefinition, ...]:
    """The definitions that the table lacks at version 9: of V1, as the indexes are stored.

    ER-185: definitions of Apache Hudi 1.0 have no version. Statistics may have no definition at all.
    """
    stored = read_definitions(table.storage, table.properties)
    found = [replace(one, version=V1) for one in stored if one.version is None]
    for name in {*_indexes(table)} - {one.partition for one in stored}:
        index = index_of(table, name)
        if index.definition is not None and (made := index.definition(table, table.view().schema, None)) is not None:
            found.append(replace(made, version=V1))
    return tuple(sorted(found, key=lambda one: one.partition))


def _indexes(table: Table) -> tuple[str, ...]:
    return (*usable_partitions(table.properties), *table.properties.fields(INFLIGHT))


@implements("COMPAT-010")
def _unknown_indexes(table: Table) -> tuple[str, ...]:
    """The partitions of the metadata table that version 8 does not know, or with which its writers damage the table.

    ER-189: deployed downgrades keep a partitioned record index, with which writers of version 8 update the row of another
    partition of the table. Secondary indexes need the record index.
    """
    storage, properties = table.storage, table.properties
    found = {one for one in _indexes(table) if index_version(storage, properties, one) != V1}
    if is_partitioned(definition_of(storage, properties, BuiltIn.RECORD_INDEX)):
        found |= {one for one in _indexes(table) if one == BuiltIn.RECORD_INDEX or one.startswith(f"{Kind.SECONDARY}_")}
    return tuple(sorted(found))


def execute_change(table: Table, plan: Migration, version: int) -> None:
    """Execute a plan. Raises TableChanged if a writer was active meanwhile; then the version is the former one."""
    _Change(table, plan, version).run()


@dataclass(frozen=True)
class _Change:
    table: Table
    plan: Migration
    version: int

    def run(self) -> None:
        transitions, owner = transitions_of(self.table), new_owner("change the table version")
        lock = transitions.times.lock
        if self.plan.dropped_indexes:
            with hold_lock(lock, owner):
                self._drop_indexes(
                    MetadataSync.for_table(self.table, transitions.times, owner, dropping=self.plan.dropped_indexes)
                )
        if self.plan.rolled_back:
            roll_back_failed(self.table)
        if self.plan.compacted:
            compact(self.table, {"hoodie.compaction.strategy": "UnBoundedCompactionStrategy"})
        steps = [self._define_indexes, self._change_properties, self._change_metadata_table]
        with hold_lock(lock, owner):
            if self.version != self.table.properties.version:
                self._check_unchanged()
            for step in steps if self.version == NEWEST_VERSION else reversed(steps):
                step(lock, owner)

    @implements("COMPAT-009")
    def _check_unchanged(self) -> None:
        """Raises TableChanged if there are failed writes or logs again."""
        work = _Work.of(self.table)
        if work.failed or work.groups:
            raise TableChanged(
                "a write or its rollback is not finished", rule="COMPAT-009", path=PROPERTIES_PATH,
                expected="no pending write and no log file", found=", ".join((*work.failed, *work.groups)),
                remedy="stop all writers, then run the command again: the table has its former version",
            )  # fmt: skip

    def _drop_indexes(self, sync: MetadataSync) -> None:
        """The lists of usable partitions change first, so that no reader uses an index whose files are deleted."""
        for name in self.plan.dropped_indexes:
            sync.drop_partition(name)
        drop_definitions(sync, self.plan.dropped_indexes)

    def _define_indexes(self, lock: Lock, owner: str) -> None:
        if self.plan.defined_indexes:
            table = self.table
            stored = {one.partition: one for one in read_definitions(table.storage, table.properties)}
            stored |= {one.partition: one for one in self.plan.defined_indexes}
            write_definitions(table.storage, table.properties, table.clock, stored.values(), lock, owner)

    def _change_properties(self, lock: Lock, owner: str) -> None:
        self._update(self.table.storage, lock, self.plan.properties, self.plan.dropped, owner)

    def _change_metadata_table(self, lock: Lock, owner: str) -> None:
        if self.plan.metadata_version is not None and (metadata := MetadataTable.for_table(self.table)) is not None:
            self._update(metadata.storage, InProcessLock(), {"hoodie.table.version": str(self.version)})

    def _update(
        self, storage: Storage, lock: Lock, changes: Mapping[str, str], dropped: Iterable[str] = (), owner: str = ""
    ) -> None:
        comment = f"Updated at {format_time(self.table.clock.now())} UTC"
        update_properties(storage, lock, changes, dropped, comment=comment, owner=owner)
