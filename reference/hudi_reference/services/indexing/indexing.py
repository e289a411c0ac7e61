"""Indexing: builds an index while writers and services continue, spec "Table Management > Indexing".

    indexing.requested      the plan. Under the same lock the file groups of the index are created, and the partition is listed
                            as being built: every action that completes later adds its entries, as log files
    indexing.inflight
    base files are stored   the entries of the table as it was when the plan was made; without the lock
    indexing                the completion, if all later actions have added their entries; otherwise the build is removed
    the partition is listed as usable

Writers do not wait for the indexer, nor the indexer for writers: log files and base file of a group may be stored in any order.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from hudi_reference.errors import ConcurrentChange, Misuse
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.layout.properties import read_properties
from hudi_reference.locks import hold_lock, new_owner
from hudi_reference.metadata.availability import METADATA_FOLDER, usable_partitions
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.indexes.all import indexes_wanted
from hudi_reference.metadata.indexes.files import FILES
from hudi_reference.metadata.indexes.index import Index
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Deltacommit, remove_deltacommit
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.services.indexing.named_indexes import (
    Using,
    check_definition,
    definition_in,
    definition_of,
    drop_definitions,
    drop_index,
    in_table,
    store_definition,
)
from hudi_reference.services.metadata_table.metadata_checks import check_possible
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync, delete_partition_files
from hudi_reference.services.planning.index_plan import base_groups, completed_record, indexes_in, plan_record
from hudi_reference.services.planning.plan_execution import (
    Plan,
    PlanExecution,
    carry_out,
    execute_plans,
    hold_for_planning,
    pending_of,
    read_plan,
)
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import COMMITS
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.preconditions import check_indexes_maintained, check_writable

Options = Mapping[str, str]
#: The setting that names an index to drop.
DROP_KEY = "hoodie.metadata.index.drop"


@implements("INX-001", "SVC-012")
def index(table: Table, options: Options | None = None) -> str | None:
    """Execute the pending plans, then plan and build the indexes that the options ask for.

    Args:
        table: the table.
        options: settings by Hudi's names, as `hoodie.metadata.record.index.enable`; they come before those of the table. With
            `hoodie.metadata.index.drop` the index of that name is dropped, and nothing is built.

    Returns:
        The requested time of the last plan; None if all these indexes exist, or the table has no rows yet.

    Raises:
        ConcurrentChange: a writer did not maintain an index that was being built. The index is dropped. It is planned again if
            only an earlier build was interrupted.
    """
    check_indexes_maintained(table)
    if dropped := (options or {}).get(DROP_KEY):
        drop_index(table, dropped)
        return None
    if read_properties(table.storage).fields(INFLIGHT):
        for done in (found for found in table.timeline.completed if found.action == "indexing"):
            publish_indexes(table, done.requested)  # a crash left the index unpublished
    table = replace(table, options={**table.options, **(options or {})})  # the build evaluates functions in their time zone
    was_pending = bool(pending_of(table.timeline, "indexing"))
    try:
        return execute_plans(table, "indexing", options, schedule_indexing, execute_indexing)
    except ConcurrentChange:  # an interrupted build was removed; it is planned again if it is wanted
        if not was_pending or not indexes_to_build(table, options):
            raise
    return execute_plans(table, "indexing", options, schedule_indexing, execute_indexing)


@implements("IDX-021", "IDX-032", "IDX-034")
def create_index(
    table: Table,
    name: str,
    column: str,
    *,
    using: Using = "secondary_index",
    function: str = "identity",
    options: Options | None = None,
) -> str:
    """Create and build a secondary index, or an expression index of the kind `using`, as `CREATE INDEX` does.

    Args:
        table: the table.
        name: the name of the index.
        column: the column, or the dotted path of a field of a struct column for a secondary index.
        using: how the index is stored.
        function: the function of the column that an expression index is over.
        options: the options of the function, and of bloom filters.

    Returns:
        The requested time of the action.

    Raises:
        Misuse: there is an index of this name, no such column, or the table has no rows yet.
        UnsupportedTableFeature: a function or column that cannot be indexed; a secondary index needs a record index.
        ConcurrentChange: as for `index`. The definition is removed again.
    """
    check_indexes_maintained(table)
    definition = definition_of(name, column, using, function, options)
    properties = read_properties(table.storage)
    if definition.partition in (*properties.fields(USABLE), *properties.fields(INFLIGHT)):
        raise Misuse("there is an index of this name", rule="IDX-021", expected="another name", found=name)
    requested = schedule_indexing(table, None, definition)
    if requested is None:
        raise Misuse("nothing to build an index from", rule="IDX-021", expected="rows, and no pending plan", found=name)
    return execute_indexing(table, requested)


def indexes_to_build(table: Table, options: Options | None = None) -> tuple[str, ...]:
    """The partitions of the metadata table that `index` would build by a new plan. Changes nothing.

    Raises UnsupportedTableFeature, Misuse.
    """
    check_writable(table)
    usable = usable_partitions(read_properties(table.storage))
    wanted = [one.partition for one in indexes_wanted(table, options or {})]
    definition = definition_in(options or {})
    if definition is not None:
        check_definition(table, definition, (*usable, *wanted))
        wanted.append(definition.partition)
    return tuple(name for name in wanted if name not in usable)


@implements("INX-002", "INX-003", "INX-004", "INX-008", "INX-011", "SVC-004")
def schedule_indexing(table: Table, options: Options | None = None, definition: IndexDefinition | None = None) -> str | None:
    """Publish a plan; its requested time. All actions that complete after it add their entries to the index.

    `definition` is that of an index that a user names; the options may describe one too.
    None if there is nothing to build, or a plan is pending. A missing listing of files is built at once.
    """
    check_writable(table)
    owner, times = new_owner("plan an index"), transitions_of(table).times
    definition = definition or definition_in(options or {})
    definition = definition and in_table(definition, table)
    size = _Size.of(table, {**table.options, **(options or {})}, definition)  # read before the lock is taken
    with hold_for_planning(table, owner) as publish:
        timeline, sync = table.timeline, MetadataSync.for_table(table, times, owner)
        wanted = [one for one in indexes_wanted(table, options or {}) if one.partition not in sync.usable]
        if definition is not None and definition.partition not in sync.usable:
            wanted.append(check_definition(table, definition, (*sync.usable, *(one.partition for one in wanted))))
        if pending_of(timeline, "indexing") or timeline.latest is None or wanted in ([], [FILES]):
            return None
        check_possible(table, wanted)
        metadata = sync.metadata or sync.make(())
        wanted = [one for one in wanted if one is not FILES]
        requested = publish("indexing", plan_record(wanted, timeline.latest.requested))
        commit = Deltacommit(metadata, requested, "BULK_INSERT")
        for one in wanted:
            delete_partition_files(metadata, one.partition)
            for part, count in size.count_by_part(one).items():
                commit.seeds(one.partition, one.groups(size.settings, count), part)
        if definition is not None and definition.partition not in sync.usable:
            store_definition(sync, definition)
        for one in wanted:
            if one.definition is not None:
                sync.define(one.definition(replace(sync.table, options=size.settings), size.schema, None), is_new=True)
        # ER-159: writers follow hoodie.table.metadata.partitions.inflight, whichever engine set it.
        sync.store_lists(sync.usable, [one.partition for one in wanted])
        return requested


@dataclass(frozen=True)
class _Size:
    """What the file groups and the definitions of new indexes depend on, with the settings of their creation."""

    settings: Options
    schema: AvroSchema
    #: About the number of rows in each partition of the table.
    rows: Mapping[str, int]

    @classmethod
    def of(cls, table: Table, settings: Options, definition: IndexDefinition | None) -> Self:
        """Of a table that gets indexes; the rows are counted if one of these is an index by key.

        Rows are those of base files, and the keys of slices without one.
        """
        wanted = {one.partition for one in indexes_wanted(table, settings)}
        view, counted = table.view(), BuiltIn.RECORD_INDEX in wanted or definition is not None
        reader = view.reader(table)
        written = {stat.path: stat.writes for commit in view.groups.commits.values() for stat in commit.stats}
        rows = Counter[str]()
        for found in view.groups.latest_slices if counted else ():
            count = written.get(found.path(found.base_file or ""))
            rows[found.partition] += len(reader.current_keys(found)) if count is None else count
        return cls(settings, view.schema, rows)

    def count_by_part(self, index: Index) -> Mapping[str | None, int]:
        """The number of entries that the index will have, by the partition of the table whose file groups hold them."""
        whole: Mapping[str | None, int] = {None: sum(self.rows.values())}
        return dict(self.rows.items()) if index.is_partitioned else whole


@implements("INX-010", "INX-012", "INX-013", "INX-014", "INX-015", "SVC-012")
def execute_indexing(table: Table, requested: str) -> str:
    """Build the indexes of the plan with that requested time, from the beginning or after a build that did not complete.

    Raises ConcurrentChange as `index` does.
    """
    try:
        carry_out(IndexingExecution(table, requested))
    except ConcurrentChange:
        abandon_build(table, requested)
        raise
    publish_indexes(table, requested)
    return requested


class IndexingExecution(PlanExecution):
    """One execution of the plan of an index."""

    action = "indexing"

    def check_plan(self, plan: Plan) -> None:
        """Raise an error if the plan names an index that cannot be built."""
        indexes_in(self.table, plan)

    @implements("INX-001", "INX-010", "INX-015")
    def work(self, plan: Plan) -> Plan:
        """Store the base files. The lock is held only while they are recorded."""
        table, view = replace(self.table, properties=read_properties(self.table.storage)), self.table.view()
        metadata = self._create_file_groups(indexes_in(self.table, plan))
        then = replace(view, timeline=view.timeline.completed_before(self.requested),
                       groups=base_groups(table, view.timeline, self.requested))  # fmt: skip
        transitions, owner = transitions_of(table), new_owner(f"record {self.requested}")
        commit = Deltacommit(metadata, self.requested, "BULK_INSERT")
        for one in indexes_in(self.table, plan):
            groups = one.file_groups(metadata.groups(one.partition))
            for part, ids in groups.by_part.items():
                commit.seeds(one.partition, len(ids), part)
            commit.base_files(one.partition, groups, one.whole(table, then))
        with hold_lock(transitions.times.lock, owner):
            commit.begin()  # not before: deployed writers roll back what they find pending in the metadata table
            MetadataSync.for_table(table, transitions.times, owner).complete(metadata, commit)
        return completed_record(plan)

    @implements("INX-012", "INX-013")
    def check_completion(self, timeline: Timeline) -> None:
        """Raises ConcurrentChange if an action that completed since the plan was made has not added its entries."""
        wanted = indexes_in(self.table, read_plan(self.table, "indexing", self.requested))
        metadata = self._create_file_groups(wanted)
        kept = {instant.requested: instant for instant in metadata.timeline.commits}
        for done in timeline.completed_between(self.requested):
            if done.action not in COMMITS and done.action != "clean":
                continue
            if done.requested not in kept:
                raise _index_incomplete(done.file_name, "an action without a deltacommit of the metadata table")
            if done.action in COMMITS and done in timeline.instants:
                self._check_entries(metadata, kept[done.requested], done, wanted)

    def _check_entries(self, metadata: MetadataTable, kept: Instant, done: Instant, wanted: tuple[Index, ...]) -> None:
        """Raises ConcurrentChange if a write that changes an index has stored nothing in it."""
        commit = load_commit(self.table.storage, self.table.properties, done)
        stored = {stat.partition for stat in load_commit(metadata.storage, metadata.properties, kept).stats}
        for one in wanted:
            if one.concerned(commit) and one.partition not in stored:
                raise _index_incomplete(done.file_name, f"a write without entries in {one.partition}")

    @implements("INX-011", "INX-013")
    def _create_file_groups(self, wanted: tuple[Index, ...]) -> MetadataTable:
        """The metadata table, in which the file groups of this plan were created, so that writers add to them.

        Raises ConcurrentChange if they were not created, or were removed.
        """
        metadata, listed = MetadataTable.for_table(self.table), read_properties(self.table.storage).fields(INFLIGHT)
        if metadata is None:
            raise _index_incomplete(METADATA_FOLDER, "no metadata table")
        for one in wanted:
            names = metadata.files(one.partition)
            seeds = [name for name in names if (found := parse_data_file_name(name)) and found.instant == self.requested]
            if one.partition not in listed or not seeds:
                raise _index_incomplete(one.partition, "a partition of the metadata table that is not being built")
        return metadata


def _index_incomplete(path: str, found: str) -> ConcurrentChange:
    return ConcurrentChange(
        "the index would lack changes of the table", rule="INX-012", path=path, expected="its entries in the index",
        found=found,
        remedy="make sure that all writers maintain the metadata table, and plan the index again; this build was removed",
    )  # fmt: skip


@implements("INX-013")
def abandon_build(table: Table, requested: str) -> None:
    """Remove a build that cannot be completed: its partitions, its entries in the properties, and its plan."""
    transitions, owner = transitions_of(table), new_owner(f"give up {requested}")
    with hold_lock(transitions.times.lock, owner):
        names = [one.partition for one in indexes_in(table, read_plan(table, "indexing", requested))]
        sync = MetadataSync.for_table(table, transitions.times, owner)
        sync.store_lists(sync.usable, set(sync.building) - set(names))
        drop_definitions(sync, set(names) - set(sync.usable))
        if sync.metadata is not None:
            remove_deltacommit(sync.metadata, requested, names)
            for name in set(names) - set(sync.usable):
                delete_partition_files(sync.metadata, name)
        for pending in pending_of(table.timeline, "indexing"):
            if pending.requested == requested:
                transitions.remove(pending)


@implements("INX-014", "PROP-012")
def publish_indexes(table: Table, requested: str) -> None:
    """Publish the indexes of a completed plan in the table's properties; nothing if they are published."""
    transitions, owner = transitions_of(table), new_owner(f"offer {requested}")
    with hold_lock(transitions.times.lock, owner):
        names = {one.partition for one in indexes_in(table, read_plan(table, "indexing", requested))}
        sync = MetadataSync.for_table(table, transitions.times, owner)
        if built := names & set(sync.building):
            sync.store_lists((*sync.usable, *built), set(sync.building) - built)
