"""A table: what is asked of it and what is done to it.

read:   properties -> timeline -> file groups -> slices at a read time -> merged rows
write:  rows -> keys -> locate -> files -> completed instant
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from hudi_reference.clock import Clock
from hudi_reference.errors import InvalidQuery, UnsupportedTableFeature
from hudi_reference.files.base_file import read_footer
from hudi_reference.ids import Ids
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy.versions import timeline_of
from hudi_reference.locks import Lock
from hudi_reference.query.cdc import ChangePlan, ChangeQuery
from hudi_reference.query.file_groups import FileGroups, FileSlice, load_file_groups
from hudi_reference.query.incremental import COMMIT_TIME, Changed, changed_in, written_in
from hudi_reference.query.incremental_window import Window
from hudi_reference.query.inspect import inspect_table
from hudi_reference.query.partition_columns import dropped_columns
from hudi_reference.query.predicates import Comparison, chosen
from hudi_reference.query.pruning import pruned
from hudi_reference.query.retention import check_begun, check_retained, check_whole
from hudi_reference.query.schema_history import by_id, saved_versions
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.write_hooks import NO_HOOKS, WriteHooks
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.records.payloads.merger_resolution import defaults_of, merging_of
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import (
    META_COLUMNS,
    AvroSchema,
    arrow_schema,
    parse_schema,
    with_meta_columns,
    without_meta_columns,
)
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.time_parsing import instant_of

#: The schema of a table that was never given one.
EMPTY_SCHEMA: AvroSchema = {"type": "record", "name": "empty", "fields": []}


@dataclass(frozen=True)
class View:
    """The table at one read time: one timeline, one listing, one schema for the whole of a query."""

    timeline: Timeline
    groups: FileGroups
    schema: AvroSchema
    #: The table's schema history as it was saved, where columns are matched by its ids.
    saved: Sequence[str] = ()

    def reader(self, table: "Table") -> SliceReader:
        """The reader of this view's slices."""
        properties = table.properties
        dropped = dropped_columns(properties)
        schema = self.schema if dropped is None else dropped.added_to(self.schema)
        return SliceReader(
            storage=table.storage,
            timeline=self.timeline,
            committed=self.groups.committed,
            written_files=self.groups.written_files,
            schema=arrow_schema(with_meta_columns(schema)),
            merging=merging_of(properties, table.mergers, defaults_of(schema)),
            key_fields=() if properties.populates_meta_fields else properties.record_key,
            dropped=dropped,
            by_id=by_id(self.saved, self.groups) if table.schema_on_read else None,
            allows_partial_blocks=not properties.is_legacy,
        )


@dataclass(frozen=True)
class Table:
    """A table at table version 8, or at version 6 and then for reading only; rows are Arrow tables in and out.

    Get one with `open_table` or `create_table`.
    """

    storage: Storage
    clock: Clock
    ids: Ids
    properties: TableProperties
    uri: str = ""
    #: Threads that read slices.
    parallelism: int = 2
    #: Settings of the writers by Hudi's names, for what is not said with each write.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Whether columns are matched by the ids of the schema history, and not by name.
    schema_on_read: bool = False
    #: What merges the records of a table with a strategy of its own.
    mergers: Sequence[RecordMerger] = ()
    #: The lock that its writers and services share; None is the one that the options name.
    lock: Lock | None = None
    #: What its writes trigger. `WritableTable` lists what the standard hooks do.
    hooks: "WriteHooks[Table]" = NO_HOOKS

    @property
    @implements("LAY-017")
    def timeline(self) -> Timeline:
        """The timeline as storage has it now."""
        return timeline_of(self.storage, self.properties)

    @implements("LAY-001", "RDR-002", "RDR-003", "RDR-005")
    def view(self, as_of: str | None = None, known: View | None = None) -> View:
        """The table now, or as of a requested time. Raises InvalidQuery, and whatever storage holds against it.

        `known` is an earlier view of the table: of its timeline only the files are read that have come since.
        """
        earlier = None if known is None else known.timeline
        timeline = timeline_of(self.storage, self.properties, earlier)
        if as_of is not None:
            check_retained(self.storage, self.properties, timeline, as_of)
            check_begun(timeline, as_of)
        # ER-033: a read time is a requested time, not a completion time.
        whole, timeline = timeline, timeline if as_of is None else _as_of(timeline, as_of)
        groups = load_file_groups(self.storage, self.properties, timeline, None if known is None else known.groups)
        if as_of is not None:
            check_whole(self.storage, self.properties, whole, groups, as_of)
        schema = self._schema(groups)
        if schema is None:  # nothing was written by then: the columns are those of today
            schema = EMPTY_SCHEMA if as_of is None else self.view().schema
        return View(timeline, groups, schema, saved_versions(self.storage, whole) if self.schema_on_read else ())

    def file_groups(self, as_of: str | None = None) -> FileGroups:
        """All file groups with their slices, now or as of a requested time."""
        return self.view(as_of).groups

    @implements("TYP-007", "RDR-001", "RDR-004", "RDR-006")
    def snapshot(self, columns: Sequence[str] | None = None, where: Iterable[Comparison] = ()) -> pa.Table:
        """The latest committed rows, one for each live key, in any order.

        `columns` are the columns of the result; all of them, meta columns first, if None. `where` are comparisons
        `(column, operator, value)` that all must hold.
        """
        return self._read(self.view(), columns, where)

    @implements("TYP-017", "TYP-016")
    def read_optimized(self, columns: Sequence[str] | None = None, where: Iterable[Comparison] = ()) -> pa.Table:
        """The rows of the latest slices' base files, without what the logs say."""
        return self._read(self.view(), columns, where, logs=False)

    @implements("TYP-008", "RDR-011")
    def as_of(self, time: str, columns: Sequence[str] | None = None, where: Iterable[Comparison] = ()) -> pa.Table:
        """The rows as the instants requested at `time` or before left them.

        `time` is 17 or 14 digits, `yyyy-MM-dd`, `yyyy-MM-dd HH:mm:ss` or `yyyy-MM-dd HH:mm:ss.SSS` in the timeline's zone, or
        10 or 13 digits, seconds or milliseconds since 1970.
        Raises InvalidQuery for other texts, for a time before the table's first instant, and while a write requested before
        is still pending: its completion would change the answer.
        """
        return self._read(self.view(instant_of(time, self.properties.zone)), columns, where)

    @implements("RDR-001", "RDR-006")
    def batches(
        self,
        columns: Sequence[str] | None = None,
        where: Iterable[Comparison] = (),
        *,
        as_of: str | None = None,
        logs: bool = True,
    ) -> Iterator[pa.Table]:
        """The rows of `snapshot`, of `as_of` at a time, or of `read_optimized` without `logs`, one slice after the other.

        A slice is read when it is asked for and not kept, so that whoever lets go of each has two at most in memory. All come
        from one view of the table and have one schema; a table without slices gives one table without rows.
        """
        check_readable(self.properties)
        view = self.view() if as_of is None else self.view(instant_of(as_of, self.properties.zone))
        plan = self._plan(view, columns, where, logs=logs)
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
        """The records that were inserted or updated in a window, each once, in the state that the window's end left them in.

        The window are the writes that completed after `begin`, from there on with `include_begin`, and up to `end`; None leaves
        a side open. Bounds are texts as for `as_of`. Records that are deleted at the end of the window are not in it.
        Raises InvalidQuery for bounds the wrong way round, and where files of the window's end were cleaned.
        """
        view, window = self.view(), Window.between(begin, end, include_begin, self.properties.zone)
        changed = changed_in(window, self.storage, self.properties, view.timeline, view.groups)
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

        `op` is i, u or d; `ts_ms` the requested time of the write; the images are structs of the data columns, null where the
        record was not there. The window is that of `incremental`. Without change-capture files changes are worked out from the
        slices. Raises InvalidQuery for bounds the wrong way round, and where files that tell a change were cleaned.
        """
        check_readable(self.properties)
        view, window = self.view(), Window.between(begin, end, include_begin, self.properties.zone)
        query = ChangeQuery(view.reader(self))
        names, comparisons = list(query.schema.names if columns is None else columns), list(where)
        check_columns([*names, *(column for column, _, _ in comparisons)], query.schema)
        plan = ChangePlan(view.timeline, view.groups, self.properties.is_legacy)
        parts = [query(change) for change in plan.changes(window)]
        return chosen(pa.concat_tables([query.schema.empty_table(), *parts]), comparisons).select(names)

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
        changed: Changed | None = None,
    ) -> pa.Table:
        check_readable(self.properties)
        plan = self._plan(view, columns, where, logs=logs, changed=changed)
        parts = self._in_parallel(plan.read, plan.slices)
        return pa.concat_tables(parts).select(plan.names) if parts else plan.no_rows

    def _plan(
        self,
        view: View,
        columns: Sequence[str] | None,
        where: Iterable[Comparison],
        *,
        logs: bool,
        changed: Changed | None = None,
    ) -> "Plan":
        """Which slices a query reads, and how. Raises InvalidQuery."""
        reader = view.reader(self)
        names = list(columns) if columns is not None else reader.schema.names
        comparisons = list(where)
        # Without any column the number of rows would be lost.
        needed = list(dict.fromkeys([*names, *(column for column, _, _ in comparisons)])) or [META_COLUMNS[0]]
        check_columns(needed, reader.schema)
        found = view.groups.latest_slices if changed is None else changed.slices
        slices = [s for s in found if logs or s.base_file is not None]
        if reader.merging.merger is None:  # a merger may give a row another value than its folder has
            slices = pruned(slices, comparisons, self.properties, reader.schema)
        read = SliceQuery(reader, needed, comparisons, logs, None if changed is None else changed.window)
        no_rows = pa.schema([reader.schema.field(name) for name in needed]).empty_table()
        return Plan(read, slices, names, no_rows.select(names))

    def _in_parallel(self, read: "SliceQuery", slices: Sequence[FileSlice]) -> list[pa.Table]:
        if len(slices) < 2 or self.parallelism < 2:
            return [read(found) for found in slices]
        with ThreadPoolExecutor(self.parallelism) as pool:
            return list(pool.map(read, slices))

    @implements("LF-038", "LAY-001")
    def _schema(self, groups: FileGroups) -> AvroSchema | None:
        """The table's schema: of the last commit that carries one, else as given at creation, else of a base file."""
        for instant, commit in reversed(groups.commits.items()):
            if commit.schema is not None:
                return without_meta_columns(parse_schema(commit.schema, instant.file_name))
        text = self.properties.get("hoodie.table.create.schema")
        if text:
            return without_meta_columns(parse_schema(text, "hoodie.table.create.schema"))
        return self._schema_of_a_base_file(groups)

    def _schema_of_a_base_file(self, groups: FileGroups) -> AvroSchema | None:
        for found in groups.latest_slices:
            if found.base_file and (text := read_footer(self.storage, found.path(found.base_file)).schema):
                return without_meta_columns(parse_schema(text, found.base_file))
        return None


@implements("COMPAT-004", "LAY-007")
def check_readable(properties: TableProperties) -> None:
    """Refuse tables whose rows are not where this implementation looks for them."""
    key = "hoodie.bootstrap.base.path"
    if properties.get(key) is not None:
        raise UnsupportedTableFeature(
            "columns of a bootstrapped table may lie outside of its data files", rule="LAY-007",
            path=".hoodie/hoodie.properties", found=f"{key}={properties.get(key)}",
        )  # fmt: skip


@dataclass(frozen=True)
class SliceQuery:
    """Reading and filtering one slice; filters come after the merge and never decide it."""

    reader: SliceReader
    columns: list[str]
    where: list[Comparison]
    logs: bool
    #: Of an incremental query: only rows that were written in it.
    window: Window | None = None

    def __call__(self, found: FileSlice) -> pa.Table:
        """The rows of one slice."""
        times = () if self.window is None else (COMMIT_TIME,)
        rows = self.reader.read(found, list(dict.fromkeys([*self.columns, *times])), logs=self.logs)
        if self.window is not None:
            rows = written_in(rows, self.window, self.reader.timeline)
        return chosen(rows, self.where).select(self.columns)


@dataclass(frozen=True)
class Plan:
    """What a query reads: `names` are the columns of its result, `no_rows` is the result of no slices."""

    read: SliceQuery
    slices: Sequence[FileSlice]
    names: list[str]
    no_rows: pa.Table


def check_columns(names: Iterable[str], schema: pa.Schema) -> None:
    """Raises InvalidQuery for a column that the table lacks."""
    for name in names:
        if name not in schema.names:
            known = [n for n in schema.names if n not in META_COLUMNS]
            raise InvalidQuery("no such column", rule="TYP-007", expected=f"one of {', '.join(known)}", found=name)


@implements("TYP-008", "RDR-006")
def _as_of(timeline: Timeline, time: str) -> Timeline:
    before = timeline.until(time)
    for instant in before.pending:
        if instant.action in ("commit", "deltacommit", "replacecommit"):
            raise InvalidQuery(
                "a write requested before this time is still pending: its completion would change the answer",
                rule="TYP-008", path=instant.file_name, expected=f"a time before {instant.requested}", found=time,
            )  # fmt: skip
    return before
