"""Compaction: merges the log files of file slices into new base files, spec "Table Management > Compaction".

    compaction.requested    the plan: base file and log files of each slice. Log files that complete later belong to a new slice
    compaction.inflight
    base files are stored   with the plan's requested time in their names; readers ignore them
    commit                  the completion: readers use the new slices; the old ones are kept until they are cleaned

The rows are those of a query of the slice, by the same merge, with their commit times. After a crash at any point the table has
the same rows, and the next service executes the plan again, with the same file names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import Misuse, UnsupportedTableFeature, WriteConflict
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.layout.names import BaseFileName, join_path
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table, View
from hudi_reference.records.changes import KEY
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.services.compaction.plan_check import check_operations
from hudi_reference.services.planning.compaction_plan import (
    Operation,
    choose_operations,
    completed_record,
    eligible_operations,
    operations_in,
    plan_record,
    present_slice,
    remove_strays,
    store_planned_file,
)
from hudi_reference.services.planning.plan_execution import (
    Plan,
    PlanExecution,
    carry_out,
    execute_plans,
    groups_in_plans,
    hold_for_planning,
    rolls_back_completed_write,
)
from hudi_reference.settings import number_setting
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.write.column_ids import version_entry, view_for_write
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.concurrency.conflict_resolution import check_schema, concurrent_actions
from hudi_reference.write.placement.rows import with_file_name
from hudi_reference.write.preconditions import check_writable

Options = Mapping[str, str]
STRATEGY_KEY = "hoodie.compact.inline.trigger.strategy"
COMMITS_KEY = "hoodie.compact.inline.max.delta.commits"
SECONDS_KEY = "hoodie.compact.inline.max.delta.seconds"

#: Whether a plan is due, by whether there are enough delta commits and whether enough time has passed.
TRIGGERS: Mapping[str, Callable[[bool, bool], bool]] = {
    "NUM_COMMITS": lambda enough, _: enough,
    "NUM_COMMITS_AFTER_LAST_REQUEST": lambda enough, _: enough,
    "TIME_ELAPSED": lambda _, late: late,
    "NUM_OR_TIME": lambda enough, late: enough or late,
    "NUM_AND_TIME": lambda enough, late: enough and late,
}


@implements("CMP-001", "SVC-006", "SVC-015")
def compact(table: Table, options: Options | None = None) -> str | None:
    """Execute the pending compaction plans, then plan and execute one more.

    Args:
        table: the table.
        options: settings by Hudi's names, as `hoodie.compact.inline.max.delta.commits` and `hoodie.compaction.strategy`.

    Returns:
        The requested time of the last compaction; None if there was no pending plan and no compaction is due.
    """
    return execute_plans(table, "compaction", options, schedule_compaction, execute_compaction)


@implements("SVC-004", "TL-044", "NBC-003")
def schedule_compaction(table: Table, options: Options | None = None) -> str | None:
    """Publish a plan; its requested time. None if there is nothing to compact, or a completed write is being rolled back.

    Writers are not blocked.
    """
    with hold_for_planning(table) as publish:
        operations = plan_compaction(table, options)
        return publish("compaction", plan_record(operations)) if operations else None


@implements("CMP-003", "CMP-004", "SVC-010", "NBC-003")
def plan_compaction(table: Table, options: Options | None = None) -> list[Operation]:
    """The operations of a compaction that would be planned now. Changes nothing.

    File groups in a pending plan of a compaction or clustering are excluded; there are no operations while a completed write is
    being rolled back. Raises Misuse, UnsupportedTableFeature.
    """
    if not table.properties.is_merge_on_read:
        raise Misuse("a copy-on-write table has no logs to compact", rule="CMP-001", expected="MERGE_ON_READ")
    check_writable(table)
    settings = {**table.options, **(options or {})}
    view, zone = table.view(), transitions_of(table).times.zone
    if rolls_back_completed_write(table, view.timeline) or not is_due(view.timeline, settings, table.clock.now(), zone):
        return []
    taken = groups_in_plans(table, view.timeline, ("compaction", "clustering"))
    return choose_operations(eligible_operations(table, view, taken), settings)


def check_trigger(options: Mapping[str, str]) -> None:
    """Raises Misuse and UnsupportedTableFeature for invalid settings."""
    if options.get(STRATEGY_KEY, "NUM_COMMITS") not in TRIGGERS:
        raise UnsupportedTableFeature(
            "an unknown trigger strategy of compaction", rule="CMP-001", path=STRATEGY_KEY,
            expected=" or ".join(TRIGGERS), found=options[STRATEGY_KEY],
        )  # fmt: skip
    number_setting(options, COMMITS_KEY, 1, least=1, rule="CMP-001")
    number_setting(options, SECONDS_KEY, 3600, rule="CMP-001")


def is_due(timeline: Timeline, options: Options, now: int, zone: tzinfo | None) -> bool:
    """Whether a compaction is due by these settings; `now` in milliseconds. Raises Misuse, UnsupportedTableFeature.

    It depends on the number of delta commits that completed after the last compaction was requested, and on the time since
    then. For an explicit call the default is one delta commit; for inline compaction it is five, as for deployed writers.
    """
    check_trigger(options)
    name, after = options.get(STRATEGY_KEY, "NUM_COMMITS"), ""
    for found in timeline.writes:
        is_planned = found.action == "compaction" and name == "NUM_COMMITS_AFTER_LAST_REQUEST"
        if is_planned or (found.state is State.COMPLETED and found.action == "commit"):
            after = found.requested
    deltas = [c for c in timeline.commits if c.action == "deltacommit" and (c.completion or c.requested) > after]
    if not deltas:
        return False
    enough = len(deltas) >= number_setting(options, COMMITS_KEY, 1, least=1, rule="CMP-001")
    since = after or deltas[0].requested
    late = since <= format_time(now - 1000 * number_setting(options, SECONDS_KEY, 3600, rule="CMP-001"), zone)
    return TRIGGERS[name](enough, late)


@implements("CMP-001", "CMP-005", "SVC-005", "SVC-011", "TL-015", "TL-044")
def execute_compaction(table: Table, requested: str) -> str:
    """Execute the plan with that requested time, from the beginning or after an execution that did not complete."""
    check_writable(table)
    return carry_out(CompactionExecution(table, requested))


@dataclass
class CompactionExecution(PlanExecution):
    """One execution of a compaction plan; `stats` are the files that it stored."""

    action = "compaction"
    #: The operation that the commit metadata names.
    operation: ClassVar[str] = "COMPACT"
    stats: list[WriteStat] = field(default_factory=list)
    view: View | None = None

    def check_plan(self, plan: Plan) -> None:
        """Raise UnsafePlan if the files of the plan are not those of its slices."""
        check_operations(self.table, self.action, self.requested, operations_in(plan))

    @implements("CMP-001", "SVC-005")
    def work(self, plan: Plan) -> Plan:
        """Store the new files. Files that other executions of the plan stored are deleted."""
        table, view, operations = self.table, view_for_write(self.table, self.requested), operations_in(plan)
        self.view, compactor = view, self.compactor(view)
        stats = self.merge_all(compactor, operations)
        done = [(stat, one) for stat, one in zip(stats, operations, strict=True) if stat is not None]
        self.stats.extend(stat for stat, _ in done)
        remove_strays(table, self.action, self.requested, self.stats)
        return completed_record(self.operation, done, view.schema, version_entry(view, self.table.properties, self.requested))

    def merge_all(self, compactor: "Compactor", operations: Sequence[Operation]) -> Sequence[WriteStat | None]:
        """Store the new file of each operation; None for one that stores none. Engines may distribute this."""
        return [compactor.merge(number, one) for number, one in enumerate(operations)]

    def compactor(self, view: View) -> "Compactor":
        """Stores the new file of each file group."""
        return Compactor(self.table, view, view.reader(self.table), self.requested)

    @implements("OCC-011")
    def check_completion(self, timeline: Timeline) -> None:
        """Raise WriteConflict if a stored file was deleted, or an earlier request has added columns: execute the plan again."""
        check_stored(self.table, self.stats)
        assert self.view is not None
        table, view = self.table, self.view
        for other in concurrent_actions(table.storage, table.properties, view.timeline, timeline, plans=False):
            if other.instant.requested < self.requested:  # a later request defines the schema of the table
                check_schema(view.schema, self.requested, other)


def check_stored(table: Table, stats: Iterable[WriteStat]) -> None:
    """Raises WriteConflict if a file that is about to be committed was deleted: the execution was reverted."""
    for stat in stats:
        if table.storage.head(stat.path) is None:
            raise WriteConflict(
                "this execution of the plan was reverted by a rollback", rule="TL-050", path=stat.path,
                expected="the file that was stored", remedy="execute the plan again, if it is still pending",
            )  # fmt: skip


@dataclass(frozen=True)
class Compactor:
    """Stores the new files of one compaction: base files."""

    table: Table
    view: View
    reader: SliceReader
    requested: str

    @implements("CMP-001", "CMP-002", "CMP-004", "CMP-006", "MRG-008", "MRG-013", "META-004", "BF-009", "OCC-003")
    def merge(self, number: int, operation: Operation) -> WriteStat | None:
        """Store the next slice of a file group: the rows that a query of the planned slice returns.

        Rows keep commit time and number.
        """
        file_slice, reader = present_slice(self.table, operation), self.reader
        extension = self.table.properties.base_file_extension
        name = BaseFileName(file_slice.file_id, f"{number}-0-0", self.requested, extension)
        merged = reader.read(file_slice, reader.schema.names)
        path = join_path(file_slice.partition, str(name))
        rows, schema = with_file_name(merged, str(name)), with_meta_columns(self.view.schema)
        data = encode_base_file(rows, schema, extension, settings=self.table.options)
        mark_partition(self.table.storage, file_slice.partition, self.requested)
        return WriteStat(
            file_slice.file_id, file_slice.partition, path, previous_instant=file_slice.base_file_instant or "null",
            previous_base_file=file_slice.base_file, writes=merged.num_rows, size=store_planned_file(self.table, path, data),
            **_counts(reader.base_keys(file_slice), reader.keyed(merged), file_slice.base_file),
        )  # fmt: skip


def _counts(before: pa.ChunkedArray, merged: pa.Table, base_file: str | None) -> dict[str, Any]:
    """The numbers of updated, inserted and deleted rows; `before` are the keys of the base file."""
    stayed = pc.fill_null(pc.equal(merged.column("_hoodie_file_name"), base_file or ""), False)
    changed = merged.filter(pc.invert(stayed)).column(KEY)
    updates = len(changed.filter(pc.is_in(changed, value_set=before)))
    stays = merged.num_rows - len(changed)
    return {"updates": updates, "inserts": len(changed) - updates, "deletes": len(before) - stays - updates}
