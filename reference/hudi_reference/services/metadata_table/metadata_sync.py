"""Synchronization of the metadata table with its data table, spec "Metadata", "Writer Expectations".

    the lock of the table is acquired
      conflict check
      deltacommit of the metadata table, with the requested time of the action      what the action adds and removes
      the action completes                                                          from here on both count
    the lock is released

This applies to every action that changes files, of writers and services. The lists of partitions are read under the lock, so
that an index that is being built gets its entries too.

Writers with `hoodie.metadata.enable=true` create a missing metadata table; writers with `false` delete it, because it would be
out of date after their write. Without the setting an existing metadata table is maintained. In the same way a writer drops a
single index if the setting that enables it is `false` (`layout.metadata_settings`).

Only the lists in the properties say which partitions exist. A folder of another partition may be left from an index that was
dropped: no file in it is read, compacted or cleaned, and it is deleted when the index is created again. A listed partition
without file groups, as interrupted writers left them, is created again.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from hudi_reference.layout.metadata_settings import ENABLE, INFLIGHT, USABLE, is_disabled, partitions_to_drop
from hudi_reference.layout.names import join_path, parse_data_file_name
from hudi_reference.layout.properties import read_properties
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.metadata.availability import METADATA_FOLDER, read_definitions, usable_partitions, write_definitions
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.indexes.all import index_of, indexes_wanted
from hudi_reference.metadata.indexes.index import Change, Index
from hudi_reference.metadata.keys import partition_identifier
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.partitions import BuiltIn, part_of
from hudi_reference.metadata.records import FileList, MetadataRecord
from hudi_reference.metadata.statistics.columns import has_other_columns
from hudi_reference.metadata.table import FIRST, MetadataTable
from hudi_reference.metadata.writer import SEED, Deltacommit, Entries, remove_deltacommit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.metadata_table.metadata_services import maintain
from hudi_reference.services.planning.plan_execution import Plan, path_in, pending_of
from hudi_reference.settings import boolean_setting
from hudi_reference.storage.wrapped import StorageWithPendingObject
from hudi_reference.timeline.contents.actions import read_action
from hudi_reference.timeline.contents.metadata import commit_metadata_of
from hudi_reference.timeline.instant_generator import Times, latest_time
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.write.preconditions import check_maintained


@implements("MDT-001", "OCC-020", "OCC-021")
def update_metadata_table(table: Table, instant: Instant, content: bytes, times: Times, owner: str) -> None:
    """Bring the metadata table up to date with an action that is about to complete with that content.

    `owner` holds the lock of the table. Nothing happens if there is no metadata table and the settings do not ask for one.
    """
    now = replace(table, properties=read_properties(table.storage))
    if now.properties.get(USABLE) or boolean_setting(table.options, ENABLE):
        sync = MetadataSync.with_present_properties(now, times, owner)
        if is_disabled(table.options):
            sync.drop()
        else:
            sync.apply(instant, content)


@dataclass
class MetadataSync:
    """Changes the metadata table while `owner` holds the lock of the table. `table` has the present properties."""

    table: Table
    times: Times
    owner: str
    usable: tuple[str, ...] = ()
    building: tuple[str, ...] = ()
    metadata: MetadataTable | None = field(default=None)

    @classmethod
    def for_table(cls, table: Table, times: Times, owner: str, *, dropping: Collection[str] | None = None) -> "MetadataSync":
        """For a table. Raises UnsupportedTableFeature for a table with indexes that are not maintained.

        To drop indexes they need not be maintained: then `dropping` are their partitions.
        """
        now = replace(table, properties=read_properties(table.storage))
        return cls.with_present_properties(now, times, owner, is_kept=dropping is None)

    @classmethod
    def with_present_properties(cls, table: Table, times: Times, owner: str, *, is_kept: bool = True) -> "MetadataSync":
        """For a table with its present properties; with `is_kept` its indexes must be maintained. Raises as `of` does."""
        usable, building = usable_partitions(table.properties), table.properties.fields(INFLIGHT)
        if is_kept:
            check_maintained(table, (*usable, *building))
        return cls(table, times, owner, usable, building, MetadataTable.for_table(table) if usable else None)

    @implements("MDT-001", "MDT-004", "OCC-021", "INX-011")
    def apply(self, instant: Instant, content: bytes) -> None:
        """Add the changes of an action to every index that is usable or being built."""
        metadata = self.ready()
        completed = Instant(instant.requested, ACTIONS[instant.action].completes_as, State.COMPLETED, instant.requested)
        record: Plan = read_action(content, completed.file_name, completed) or {}
        if instant.action == "restore":
            self.rebuild()
        elif instant.action == "rollback":
            self.remove_entries(record)
        elif instant.action == "clean":
            self._commit(metadata, self._change(instant, content, deleted=_cleaned_paths(record)))
        elif ACTIONS[instant.action].writes:
            self._commit(metadata, self._change(instant, content, record=record))

    def ready(self) -> MetadataTable:
        """The metadata table with all indexes of the writer's settings; missing ones are created."""
        for name in partitions_to_drop(self.table.options, (*self.usable, *self.building)):
            self.drop_partition(name)
        metadata = self.metadata
        if metadata is None:
            metadata = self.make(self.usable)
        for name in self.usable:
            if not metadata.groups(name):
                self._initialise(metadata, index_of(self.table, name))
        for index in indexes_wanted(self.table, self.table.options):
            if index.partition not in (*self.usable, *self.building):
                self._initialise(metadata, index)
        self._renew_statistics(metadata)
        maintain(metadata, self.table, self.usable)
        return metadata

    def _renew_statistics(self, metadata: MetadataTable) -> None:
        """Make the statistics anew if the settings of the writer list other columns than they have."""
        if BuiltIn.COLUMN_STATS in self.usable and has_other_columns(self.table):
            for name in (one.value for one in (BuiltIn.COLUMN_STATS, BuiltIn.PARTITION_STATS) if one in self.usable):
                self.drop_partition(name)
                self._initialise(metadata, index_of(self.table, name))

    def make(self, partitions: Iterable[str]) -> MetadataTable:
        """Create the metadata table again, with the listing of files and these partitions."""
        self.drop()
        metadata = self.metadata = MetadataTable.create(self.table)
        for name in dict.fromkeys((BuiltIn.FILES.value, *partitions)):
            self._initialise(metadata, index_of(self.table, name))
        return metadata

    @implements("PROP-012")
    def drop(self) -> None:
        """Delete the metadata table. The properties are changed first, so that it is not used any more."""
        self.store_lists((), ())
        for info in self.table.storage.list(METADATA_FOLDER):
            self.table.storage.delete(info.path)
        self.metadata = None

    @implements("PROP-012", "PROP-013")
    def drop_partition(self, partition: str) -> None:
        """Drop one index. The properties are changed first, so that it is not used any more."""
        self.store_lists(set(self.usable) - {partition}, set(self.building) - {partition})
        for info in self.table.storage.list(f"{METADATA_FOLDER}/{partition}/"):
            self.table.storage.delete(info.path)

    def rebuild(self) -> None:
        """Create the usable partitions again; pending builds are dropped."""
        self.make(self.usable)

    @implements("MDT-001", "IDX-009")
    def _initialise(self, metadata: MetadataTable, index: Index) -> None:
        """Create a partition with all entries of the present table."""
        partition, view = index.partition, self.table.view()
        delete_partition_files(metadata, partition)
        if index.definition is not None:
            self.define(index.definition(self.table, view.schema, None), is_new=True)
        table = self.table
        made = [i.requested for i in metadata.timeline.instants if i.requested.startswith(FIRST)]
        commit = Deltacommit(metadata, f"{int(max(made, default='-1')) + 1:017}", "BULK_INSERT")
        commit.begin()
        records = list(index.whole(table, view))
        for part, count in index.count_by_part(record.key for record in records).items():
            commit.seeds(partition, index.groups(table.options, count), part)
        commit.base_files(partition, index.file_groups(metadata.groups(partition)), records)
        self.complete(metadata, commit)
        self.store_lists((*self.usable, partition), self.building)

    def _commit(self, metadata: MetadataTable, change: Change) -> None:
        partitions = (*self.usable, *self.building)
        remove_deltacommit(metadata, change.instant, partitions)
        commit = Deltacommit(metadata, change.instant)
        commit.begin()
        for name in partitions:
            if metadata.groups(name) or name in self.usable:  # others belong to failed builds
                index = index_of(self.table, name)
                self._add_entries(commit, index, index.change(change))
                if index.definition is not None and change.commit is not None:
                    self.define(index.definition(change.before, change.schema, change.earlier_schema))
        self.complete(metadata, commit)

    @implements("IDX-009", "IDX-011")
    def _add_entries(self, commit: Deltacommit, index: Index, entries: Entries) -> None:
        """Add entries to an index. Partitions of the table that are new in a partitioned index get their file groups."""
        name, metadata = index.partition, commit.table
        if index.is_partitioned:
            known = index.file_groups(metadata.groups(name)).by_part
            keys = (*(record.key for record in entries.records), *entries.removed)
            for part, count in index.count_by_part(keys).items():
                if part not in known:
                    commit.seeds(name, index.groups(self.table.options, count), part)
        commit.log_files(name, index.file_groups(metadata.groups(name)), entries)

    def complete(self, metadata: MetadataTable, commit: Deltacommit) -> None:
        """Complete a deltacommit, with a time later than all known times."""
        known = max(latest_time(metadata.timeline), latest_time(self.table.timeline))
        with self.times.drawn(known, self.owner) as time:
            commit.complete(time)

    def _change(self, instant: Instant, content: bytes, *, record: Plan | None = None, deleted: tuple[str, ...] = ()) -> Change:
        """The change of the table by an action: the table before it, and after it as if the action were completed."""
        action = ACTIONS[instant.action].completes_as
        completed = Instant(instant.requested, action, State.COMPLETED, LATER)
        path = f"{self.table.properties.timeline_folder}/{completed.file_name}"
        after = replace(self.table, storage=StorageWithPendingObject(self.table.storage, "", path, content))
        commit = None if record is None else commit_metadata_of(record, path)
        return Change(instant.requested, self.table, after, commit, deleted, self._find)

    def _find(self, partition: str, keys: Collection[str]) -> dict[str, MetadataRecord]:
        """The records of these keys, before the action."""
        assert self.metadata is not None
        return IndexSnapshot(self.metadata, self.metadata.timeline, self.usable).get(partition, keys)

    @implements("PROP-014", "LAY-016")
    def define(self, definition: IndexDefinition | None, *, is_new: bool = False) -> None:
        """Store the definition of an index, if it is not stored yet. That of a new index replaces that of an earlier one."""
        if definition is None:
            return
        known = {one.partition: one for one in read_definitions(self.table.storage, self.table.properties)}
        old = known.get(definition.partition)
        wanted = definition
        if old is not None:
            new = replace(definition, version=definition.version or old.version, others=old.others)
            wanted = new if is_new else replace(old, columns=definition.columns)
        if wanted != old:
            known[definition.partition] = wanted
            table, owner = self.table, self.owner
            properties = write_definitions(table.storage, table.properties, table.clock, known.values(), self.times.lock, owner)
            self.table = replace(self.table, properties=properties)

    @implements("TL-019", "MDT-008", "IDX-010")
    def remove_entries(self, record: Plan) -> None:
        """Remove the entries of the targets of a rollback. If a base file may contain some, the metadata table is rebuilt."""
        assert self.metadata is not None
        metadata, deleted = self.metadata, _rolled_back_files(record)
        made = [i.requested for i in pending_of(self.table.timeline, "indexing")]
        for partition in (*self.usable, *self.building):
            made += [n.rpartition("_")[2].removesuffix(".hfile") for n in metadata.files(partition) if n.endswith(".hfile")]
        for target in record.get("commitsRollback") or ():
            completion = metadata.timeline.completion_of(target)
            is_merged = completion is not None and completion < max(made, default="")
            if is_merged or self._has_created_groups(metadata, target):
                return self.rebuild()  # readers do not use the table from its first step on
            remove_deltacommit(metadata, target, (*self.usable, *self.building))
        listed = metadata.records(BuiltIn.FILES, self.table.timeline)
        for partition, names in deleted.items():
            known = listed.get(partition_identifier(partition))
            if known is not None and isinstance(known.payload, FileList) and names & known.payload.files.keys():
                return self.rebuild()
        return None

    def _has_created_groups(self, metadata: MetadataTable, target: str) -> bool:
        """Whether an action has created file groups of a partitioned index, to which later actions may have added entries."""
        seeds = (name for name in metadata.files(BuiltIn.RECORD_INDEX) if name.endswith(f"_{target}.log.1_{SEED}"))
        return any((parsed := parse_data_file_name(name)) and part_of(parsed.file_id) is not None for name in seeds)

    @implements("PROP-012", "S3-005")
    def store_lists(self, usable: Iterable[str], building: Iterable[str]) -> None:
        """Store in the table's properties which partitions are usable, and which are being built."""
        self.usable, self.building = tuple(sorted(set(usable))), tuple(sorted(set(building)))
        lists = {USABLE: ",".join(self.usable), INFLIGHT: ",".join(self.building)}
        comment, storage = f"Updated at {format_time(self.table.clock.now())} UTC", self.table.storage
        changed = update_properties(storage, self.times.lock, lists, comment=comment, owner=self.owner)
        self.table = replace(self.table, properties=changed)


#: A time later than every instant.
LATER = "9" * 17


def delete_partition_files(metadata: MetadataTable, partition: str) -> None:
    """Delete the files of a partition that is not in use."""
    for name in metadata.files(partition):
        metadata.storage.delete(join_path(partition, name))


def _cleaned_paths(record: Plan) -> tuple[str, ...]:
    """The paths of the files that a clean has deleted."""
    partitions: Mapping[str, Plan] = record.get("partitionMetadata") or {}
    return tuple(path_in(name, file) for name, one in partitions.items() for file in one.get("successDeleteFiles") or ())


def _rolled_back_files(record: Plan) -> dict[str, set[str]]:
    """The names of the files that a rollback has deleted, by partition."""
    partitions: Mapping[str, Plan] = record.get("partitionMetadata") or {}
    return {name: {file.rpartition("/")[2] for file in one.get("successDeleteFiles") or ()} for name, one in partitions.items()}
