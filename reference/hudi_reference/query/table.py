"""A table and its queries: properties -> timeline -> file groups -> slices at a read time -> merged rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from typing import Any, TypeVar, cast

import pyarrow as pa

from hudi_reference.clock import Clock
from hudi_reference.errors import ActionRemoved
from hudi_reference.files.base_file import read_footer
from hudi_reference.garbage_collection import collector_paused
from hudi_reference.ids import Ids
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy.versions import load_legacy_timeline
from hudi_reference.locks import Lock
from hudi_reference.query.cdc import ChangePlan, ChangeQuery
from hudi_reference.query.damage_checks import DAMAGE_CHECKS, ReadChecks
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.incremental import IncrementalPlan, Window, plan_incremental
from hudi_reference.query.inspect import inspect_table
from hudi_reference.query.key_search import may_have_keys
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.plan import Plan, QueryListing, SliceQuery, check_columns, schema_of, use_threads
from hudi_reference.query.pruning.partition_columns import DROP_KEY, dropped_columns
from hudi_reference.query.pruning.partition_pruning import partition_values, prune_partitions
from hudi_reference.query.pruning.predicates import Comparison, columns_compared, matching_rows
from hudi_reference.query.pruning.table_indexes import Filter, OpenIndexes, TableIndexes, no_indexes
from hudi_reference.query.retention import (
    check_begun,
    check_not_cleaned,
    check_retained,
    check_whole,
    deleted_files,
    timeline_as_of,
)
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.write_hooks import NO_HOOKS, WriteHooks
from hudi_reference.records.keys.fields_of_key import known_fields
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.records.payloads.merger_resolution import merging_of
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import (
    META_COLUMNS,
    AvroSchema,
    arrow_schema,
    parse_schema,
    with_meta_columns,
    without_meta_columns,
)
from hudi_reference.schema.field_ids import FieldIdMapping
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.instants.time_parsing import instant_of
from hudi_reference.timeline.schema_history import field_id_mapping, read_schema_versions

#: The schema of a table without a schema and without rows.
EMPTY_SCHEMA: AvroSchema = {"type": "record", "name": "empty", "fields": []}
#: How often a view is loaded again because an action was archived after the timeline was listed.
_REPETITIONS = 3
_Load = TypeVar("_Load", bound=Callable[..., Any])


def _repeated_beside_archiving(load: _Load) -> _Load:
    """Load a view again from a new listing of the timeline if the file of an action was removed since the last one."""

    @wraps(load)
    def repeated(*args: Any, **named: Any) -> Any:
        for _ in range(_REPETITIONS):
            with suppress(ActionRemoved):
                return load(*args, **named)
        return load(*args, **named)

    return cast(_Load, repeated)


@dataclass(frozen=True)
class View:
    """The table at one read time: the timeline, file groups and schema that a whole query uses."""

    timeline: Timeline
    groups: FileGroups
    schema: AvroSchema
    #: Matches columns by the field ids of the schema history; None if columns are matched by name.
    by_id: FieldIdMapping | None = None
    #: The indexes that a query may use; None if there are none.
    indexes: TableIndexes | None = None

    def reader(self, table: "Table") -> SliceReader:
        """The reader of this view's slices."""
        properties = table.properties
        dropped = dropped_columns(properties) if properties.is_set(DROP_KEY) else None
        schema = self.schema if dropped is None else dropped.added_to(self.schema)
        columns = arrow_schema(with_meta_columns(schema))
        has_keys = properties.populates_meta_fields
        fills_fields = has_keys and properties.is_merge_on_read
        values = partition_values(properties, columns) if fills_fields or not has_keys else None
        return SliceReader(
            storage=table.storage,
            scanner=LogScanner(table.storage, self.timeline, self.groups.committed_files(), table.checks, properties.is_legacy),
            schema=columns,
            merging=merging_of(properties, table.mergers, schema),
            key_fields=() if has_keys else properties.record_key,
            dropped=dropped,
            by_id=self.by_id,
            allows_partial_blocks=not properties.is_legacy,
            may_keep_names=not properties.was_created_at_version_8,
            file_ids=frozenset(file_id for _, file_id in self.groups.groups),
            partition_values=None if has_keys else values,
            known_fields=known_fields(properties, values) if fills_fields else None,
            checks=table.checks,
        )

    def change_plan(self, table: "Table") -> ChangePlan:
        """The plan of a query of the changes in this view. What cleans deleted is read once for each write."""
        deleted = cache(partial(deleted_files, table.storage, table.properties, self.timeline))
        return ChangePlan(self.timeline, self.groups, table.properties.is_legacy, deleted)


@dataclass(frozen=True)
class Table:
    """A table of version 8 or 9, or of version 6 for reading only. Rows are Arrow tables.

    Get one with `open_table` or `create_table`.
    """

    storage: Storage
    clock: Clock
    ids: Ids
    properties: TableProperties
    uri: str = ""
    #: Threads that read slices.
    parallelism: int = 2
    #: Settings of writers by Hudi's names, used unless a write is given others.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Whether columns are matched by the field ids of the schema history, not by name.
    schema_on_read: bool = False
    #: Mergers for a table with a custom merge strategy.
    mergers: Sequence[RecordMerger] = ()
    #: The lock that writers and services share; None is the lock that the options name.
    lock: Lock | None = None
    #: What its writes trigger. `WritableTable` lists what the standard hooks do.
    hooks: "WriteHooks[Table]" = NO_HOOKS
    #: Opens the indexes that its queries use.
    open_indexes: "OpenIndexes[Table]" = no_indexes
    #: The checks that its files fit together.
    checks: ReadChecks = DAMAGE_CHECKS

    @property
    @implements("LAY-017")
    def timeline(self) -> Timeline:
        """The timeline as storage has it now."""
        return timeline_of(self.storage, self.properties)

    @implements("LF-038", "LAY-001", "RDR-002", "RDR-003", "RDR-005")
    @collector_paused()
    @_repeated_beside_archiving
    def view(self, as_of: str | None = None, known: View | None = None, *, where: Sequence[Comparison] | None = None) -> View:
        """The table now, or as of a requested time. Raises InvalidQuery, and the errors of malformed tables.

        Args:
            as_of: the requested time; None for the present state.
            known: an earlier view of the table: only files that are new since then are read.
            where: the filter of a query that is the only use of the view: the view may lack partitions without matching rows,
                and files are listed through the metadata table. None for all partitions, from a listing of storage.
        """
        earlier = None if known is None else known.timeline
        timeline = timeline_of(self.storage, self.properties, earlier)
        if as_of is not None:
            check_retained(self.storage, self.properties, timeline, as_of)
            check_begun(timeline, as_of)
        # ER-033: a read time is a requested time, not a completion time.
        whole, timeline = timeline, timeline if as_of is None else timeline_as_of(timeline, as_of)
        # Without a filter and without a metadata table, one listing of storage has all that is needed.
        is_needed = where or self.properties.get(USABLE)
        listing = None if where is None or not is_needed else self._listing(whole, () if as_of else where)
        before = None if known is None else known.groups
        groups = load_file_groups(self.storage, self.properties, timeline, before, listing, self.checks)
        if as_of is not None:
            check_whole(self.storage, self.properties, whole, groups, as_of)
        schema = schema_of(groups.commits, self.properties) or self._schema_of_a_base_file(groups)
        if schema is None:  # no write had completed then: the columns are the present ones
            schema = EMPTY_SCHEMA if as_of is None else self.view().schema
        by_id = field_id_mapping(read_schema_versions(self.storage, whole), groups.commits) if self.schema_on_read else None
        return View(timeline, groups, schema, by_id, None if listing is None else listing.indexes)

    def _listing(self, timeline: Timeline, where: Sequence[Comparison]) -> QueryListing:
        """The listing of the partitions that a filter needs."""
        return QueryListing(self.storage, self.properties, self.mergers, where, partial(self.open_indexes, self, timeline))

    def file_groups(self, as_of: str | None = None) -> FileGroups:
        """All file groups with their slices, now or as of a requested time."""
        return self.view(as_of).groups

    @implements("TYP-007", "RDR-001", "RDR-004", "RDR-006")
    def snapshot(self, columns: Sequence[str] | None = None, where: Iterable[Comparison] = ()) -> pa.Table:
        """The latest committed rows, one for each key, in any order.

        Args:
            columns: the columns of the result; None for all, meta columns first.
            where: comparisons `(column, operator, value)`, all of which hold for every row of the result. `place.city` is the
                field `city` of the struct `place`.

        Raises:
            InvalidQuery: an unknown column or operator, or a value that cannot be compared with the column.
        """
        comparisons = list(where)
        return self._read(self.view(where=comparisons), columns, comparisons)

    @implements("TYP-017", "TYP-016")
    def read_optimized(self, columns: Sequence[str] | None = None, where: Iterable[Comparison] = ()) -> pa.Table:
        """The rows of the base files of the latest slices, without the changes in log files."""
        comparisons = list(where)
        return self._read(self.view(where=comparisons), columns, comparisons, logs=False)

    @implements("TYP-008", "RDR-011")
    def as_of(self, time: str, columns: Sequence[str] | None = None, where: Iterable[Comparison] = ()) -> pa.Table:
        """The rows after the instants that were requested at `time` or before.

        `time` is 17 or 14 digits, `yyyy-MM-dd`, `yyyy-MM-dd HH:mm:ss` or `yyyy-MM-dd HH:mm:ss.SSS` in the timeline's zone, or
        10 or 13 digits, seconds or milliseconds since 1970.
        Raises InvalidQuery for other texts, for a time before the table's first instant, and while a write requested before
        is still pending: its completion would change the answer.
        """
        comparisons = list(where)
        view = self.view(instant_of(time, self.properties.zone), where=comparisons)
        return self._read(view, columns, comparisons, is_latest=False)

    @implements("RDR-001", "RDR-006")
    def batches(
        self,
        columns: Sequence[str] | None = None,
        where: Iterable[Comparison] = (),
        *,
        as_of: str | None = None,
        logs: bool = True,
    ) -> Iterator[pa.Table]:
        """The rows of `snapshot`, of `as_of` at a time, or of `read_optimized` without `logs`, as one table for each slice.

        A slice is read when the caller asks for it and is not kept, so a caller that drops each table has two at most in
        memory. All tables are from one view and have one schema; a table without slices gives one table without rows.
        """
        comparisons = list(where)
        view = self.view(None if as_of is None else instant_of(as_of, self.properties.zone), where=comparisons)
        plan = self.plan(view, columns, comparisons, logs=logs, is_latest=as_of is None)
        read = replace(plan.read, reader=replace(plan.read.reader, threads=self.parallelism > 1))
        return (read(found).select(plan.names) for found in plan.slices) if plan.slices else iter([plan.no_rows])

    @implements("TYP-009", "TYP-010", "RDR-004")
    def incremental(
        self,
        begin: str | None = None,
        end: str | None = None,
        columns: Sequence[str] | None = None,
        where: Iterable[Comparison] = (),
        *,
        include_begin: bool = False,
    ) -> pa.Table:
        """The records that were inserted or updated in a window, each once, in their state at the window's end.

        The window contains the writes that completed after `begin`, or from `begin` on with `include_begin`, up to `end`; None
        is an open side. Bounds are texts as for `as_of`. Records that are deleted at the window's end are not returned.
        Raises InvalidQuery if the window ends before it begins, and if files of the state at its end were cleaned.
        """
        view, window = self.view(where=()), Window.between(begin, end, include_begin, self.properties.zone)
        changed = plan_incremental(window, self.storage, self.properties, view.timeline, view.groups)
        return self._read(replace(view, timeline=changed.timeline, groups=changed.groups), columns, where, changed=changed)

    @implements("TYP-012", "RDR-002", "RDR-004")
    def changes(
        self,
        begin: str | None = None,
        end: str | None = None,
        columns: Sequence[str] | None = None,
        where: Iterable[Comparison] = (),
        *,
        include_begin: bool = False,
    ) -> pa.Table:
        """Every change of a record in a window, in the order in which writes completed: `op`, `ts_ms`, `before`, `after`.

        `op` is i, u or d; `ts_ms` is the requested time of the write; the images are structs of the data columns, null if the
        record did not exist. The window is that of `incremental`. Without change-capture files the slices before and after each
        write are compared. Raises InvalidQuery if the window ends before it begins, and if files of a change were cleaned.
        """
        view, window = self.view(where=()), Window.between(begin, end, include_begin, self.properties.zone)
        query = ChangeQuery(view.reader(self))
        names, comparisons = list(query.schema.names if columns is None else columns), list(where)
        check_columns(names, query.schema)
        columns_compared(comparisons, query.schema)  # refused before the changes are read
        parts = [query(change) for change in view.change_plan(self).changes(window)]
        return matching_rows(pa.concat_tables([query.schema.empty_table(), *parts]), comparisons).select(names)

    def inspect(self) -> dict[str, Any]:
        """Properties, timeline and file groups as plain values, in the shape of the contract's `inspect`."""
        view = self.view()
        return inspect_table(self.properties, view.timeline, view.groups)

    @implements("MRG-015", "LAY-003", "RDR-002")
    def _read(
        self,
        view: View,
        columns: Sequence[str] | None,
        where: Iterable[Comparison],
        *,
        logs: bool = True,
        is_latest: bool = True,
        changed: IncrementalPlan | None = None,
    ) -> pa.Table:
        plan = self.plan(view, columns, where, logs=logs, is_latest=is_latest, changed=changed)
        if self.parallelism < 2 or not use_threads(self.storage, plan.slices, plan.read.reader.scanner.committed.spans):
            parts = [plan.read(found) for found in plan.slices]
        else:
            with ThreadPoolExecutor(self.parallelism) as pool:
                parts = list(pool.map(plan.read, plan.slices))
        return pa.concat_tables(parts).select(plan.names) if parts else plan.no_rows

    @collector_paused()
    def plan(
        self,
        view: View,
        columns: Sequence[str] | None,
        where: Iterable[Comparison],
        *,
        logs: bool,
        is_latest: bool = True,
        changed: IncrementalPlan | None = None,
    ) -> Plan:
        """The slices of a view that a query reads, and how it reads each. Raises InvalidQuery.

        Args:
            view: the table at the read time.
            columns, where: as for `snapshot`.
            logs: whether log files are read; without them the rows are those of base files.
            is_latest: whether the view is the present state, which alone the indexes of records describe.
            changed: the slices and window of an incremental query; None for all latest slices.
        """
        reader = view.reader(self)
        names, comparisons = list(reader.schema.names if columns is None else columns), list(where)
        # A table without columns would have no number of rows.
        needed = list(dict.fromkeys([*names, *columns_compared(comparisons, reader.schema)])) or [META_COLUMNS[0]]
        check_columns(names, reader.schema)
        found = view.groups.latest_slices if changed is None else changed.slices
        slices = [s for s in found if logs or s.base_file is not None or s.missing]
        computes = reader.merging.merger is not None
        if comparisons and not computes:  # a merger may change the value of a partition column
            slices = prune_partitions(slices, comparisons, self.properties, reader.schema)
        if comparisons and changed is None and view.indexes is not None and reader.by_id is None:
            indexed = comparisons if reader.dropped is None else reader.dropped.other_comparisons(comparisons)
            asked = Filter(indexed, reader.schema, logs=logs, computes_values=computes, is_latest=is_latest,
                           may_have=partial(may_have_keys, reader))  # fmt: skip
            slices = list(view.indexes.matching(slices, asked))
        if not is_latest and any(found.missing for found in slices):
            check_not_cleaned(self.storage, self.properties, self.timeline, view.timeline, slices, logs=logs)
        read = SliceQuery(reader, needed, comparisons, logs, None if changed is None else changed.window)
        no_rows = pa.schema([reader.schema.field(name) for name in needed]).empty_table()
        return Plan(read, slices, names, no_rows.select(names))

    def _schema_of_a_base_file(self, groups: FileGroups) -> AvroSchema | None:
        for found in groups.latest_slices:
            if found.base_file and (text := read_footer(self.storage, found.path(found.base_file)).schema):
                return without_meta_columns(parse_schema(text, found.base_file))
        return None


@implements("COMPAT-001", "COMPAT-003")
def timeline_of(storage: Storage, properties: TableProperties, known: Timeline | None = None) -> Timeline:
    """The timeline as storage has it now, by the rules of the table's version; `known` is the timeline as loaded earlier."""
    return load_legacy_timeline(storage, properties) if properties.is_legacy else load_timeline(storage, properties, known)
