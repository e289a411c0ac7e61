"""Log compaction: merges small log blocks of a file slice into one log file, spec "Table Management > Log Compaction".

    logcompaction.requested     the plan: the log files to merge
    logcompaction.inflight
    log files are stored        one for each slice; their blocks list the instants of the merged blocks
    deltacommit                 the completion: readers use the compacted blocks; the merged files stay

Only log files that were requested before every pending write are merged. The compacted block takes the place of the newest
block that it merges, so that no block can come between them, and the order of all changes is kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hudi_reference.errors import Misuse, WriteConflict
from hudi_reference.files.log.block import Block
from hudi_reference.files.log.content import Delete
from hudi_reference.files.log.writer import BlockWriter, EncodedBlock
from hudi_reference.layout.names import LogFileName, join_path, parse_data_file_name
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.query.slice_reader import partial_columns
from hudi_reference.query.table import Table, View
from hudi_reference.records.merge import type_of
from hudi_reference.records.merging.log_block_merge import MergedBlocks, merge_log_blocks
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import with_meta_columns
from hudi_reference.services.compaction.compaction import CompactionExecution, Compactor
from hudi_reference.services.planning.compaction_plan import (
    Operation,
    eligible_operations,
    operations_in,
    plan_record,
    present_slice,
    store_planned_file,
)
from hudi_reference.services.planning.plan_execution import (
    carry_out,
    execute_plans,
    groups_in_plans,
    hold_for_planning,
    pending_of,
    read_plan,
    rolls_back_completed_write,
)
from hudi_reference.services.rollback.rollback import files_of
from hudi_reference.settings import number_setting
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.timeline.history.history import END_OF_TIME
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.placement.rows import stored_rows
from hudi_reference.write.preconditions import check_format, check_indexes_maintained, check_writable
from hudi_reference.write.write_context import LogOptions

#: The number of blocks of a slice from which on they are compacted; at least two.
BLOCKS_KEY = "hoodie.log.compaction.blocks.threshold"
#: The class that deployed planners name as the executor of such a plan.
EXECUTOR = "org.apache.hudi.table.action.compact.LogCompactionExecutionHelper"


@implements("LCP-001", "SVC-006", "TL-016")
def log_compact(table: Table, options: Mapping[str, str] | None = None) -> str | None:
    """Execute the pending log compaction plans, then plan and execute one more.

    A plan whose file groups a later compaction has merged is dropped.

    Args:
        table: the table.
        options: settings by Hudi's names, as `hoodie.log.compaction.blocks.threshold`.

    Returns:
        The requested time of the last log compaction; None if no slice has blocks to compact.
    """
    check_indexes_maintained(table)
    return execute_plans(table, "logcompaction", options, schedule_log_compaction, execute_log_compaction, _resume)


def _resume(table: Table, plan: Instant) -> str | None:
    """Execute a pending plan; None if it was dropped, because a later compaction has merged its file groups."""
    if find_later_compaction(table, table.timeline, plan.requested) is None:
        return execute_log_compaction(table, plan.requested)
    drop_plan(table, plan)
    return None


@implements("SVC-004", "TL-016", "TL-017")
def schedule_log_compaction(table: Table, options: Mapping[str, str] | None = None) -> str | None:
    """Publish a plan; its requested time. None if there is nothing to compact, or a completed write is being rolled back."""
    with hold_for_planning(table) as publish:
        operations = plan_log_compaction(table, options)
        return publish("logcompaction", plan_record(operations, EXECUTOR, keeps_times=True)) if operations else None


@implements("LCP-001", "LCP-005", "SVC-004")
def plan_log_compaction(table: Table, options: Mapping[str, str] | None = None) -> list[Operation]:
    """The operations of a log compaction that would be planned now. Changes nothing.

    File groups in any pending plan are excluded, and slices with blocks of partial updates; there are no operations while a
    completed write is being rolled back. Raises Misuse.
    """
    if not table.properties.is_merge_on_read:
        raise Misuse("a copy-on-write table has no logs to compact", rule="LCP-001", expected="MERGE_ON_READ")
    check_writable(table)
    least = number_setting({**table.options, **(options or {})}, BLOCKS_KEY, 2, least=1, rule="CMP-001")
    view = table.view()
    reader = view.reader(table)
    if reader.merging.merger is not None or rolls_back_completed_write(table, view.timeline):
        return []
    found = []
    for operation in eligible_operations(table, view, groups_in_plans(table, view.timeline)):
        older = _before_pending(operation.file_slice, view.timeline)
        blocks = reader.scanner.blocks(older)
        several = len({block.instant for block in blocks}) > 1 and len(blocks) >= least
        if (
            several
            and all(partial_columns(block) is None for block in blocks)
            and _are_first_blocks(blocks, reader.scanner.blocks(operation.file_slice))
        ):
            found.append(replace(operation, file_slice=older))
    return found


@implements("LCP-005", "NBC-001")
def _before_pending(file_slice: FileSlice, timeline: Timeline) -> FileSlice:
    """The slice with only those log files that were requested before every pending write.

    A pending write may complete with an earlier requested time than the other log files, and then belongs between them.
    """
    writes = (i.requested for i in timeline.pending if ACTIONS[i.action].writes and not ACTIONS[i.action].planned)
    first = min(writes, default=END_OF_TIME)
    logs = [name for name in file_slice.log_files if (parsed := parse_data_file_name(name)) and parsed.instant < first]
    return replace(file_slice, log_files=tuple(logs))


def _are_first_blocks(older: Sequence[Block], found: Sequence[Block]) -> bool:
    """Whether the blocks of the older logs are the first ones of the slice. They are not if they were compacted before."""
    first, every = ([(block.path, block.offset) for block in part] for part in (older, found))
    return every[: len(first)] == first


@implements("LCP-001", "LCP-002", "SVC-005", "TL-016", "TL-017")
def execute_log_compaction(table: Table, requested: str) -> str:
    """Execute the plan with that requested time, from the beginning or after an execution that did not complete.

    Raises WriteConflict, and drops the plan, if a compaction of its file groups was planned later: it has merged the same logs.
    """
    check_writable(table)
    for pending in pending_of(table.timeline, "logcompaction"):
        if pending.requested == requested:
            try:
                _check_not_overtaken(table, table.timeline, requested)
            except WriteConflict:
                drop_plan(table, pending)
                raise
    return carry_out(LogCompactionExecution(table, requested))


class LogCompactionExecution(CompactionExecution):
    """One execution of a log compaction plan; `stats` are the log files that it stored."""

    action = "logcompaction"
    operation = "LOG_COMPACT"

    def compactor(self, view: View) -> "LogCompactor":
        """Stores the compacted log file of each file group."""
        return LogCompactor(self.table, view, view.reader(self.table), self.requested)

    def check_completion(self, timeline: Timeline) -> None:
        """Raise WriteConflict if a stored file was deleted, or a compaction of the same groups was planned later."""
        super().check_completion(timeline)
        _check_not_overtaken(self.table, timeline, self.requested)


def _check_not_overtaken(table: Table, timeline: Timeline, requested: str) -> None:
    other = find_later_compaction(table, timeline, requested)
    if other is not None:
        raise WriteConflict(
            "a compaction of the same file groups was planned later", rule="LCP-001", path=other.file_name,
            expected="no compaction since the plan was made", remedy="plan again, if there are still blocks to compact",
        )  # fmt: skip


@implements("LCP-001", "SVC-004")
def find_later_compaction(table: Table, timeline: Timeline, requested: str) -> Instant | None:
    """A compaction, pending or completed, of the planned file groups that was requested after this plan.

    It has merged the same blocks; compacted blocks that complete after it would be merged again on top of its base file.
    """
    mine = {operation.group for operation in operations_in(read_plan(table, "logcompaction", requested))}
    for other in timeline.writes:
        if other.requested <= requested:
            continue
        if other.action == "compaction":
            theirs = {operation.group for operation in operations_in(read_plan(table, "compaction", other.requested))}
        elif other.action == "commit" and other.completion is not None:
            theirs = {(stat.partition, stat.file_id) for stat in load_commit(table.storage, table.properties, other).stats}
        else:
            continue
        if mine & theirs:
            return other
    return None


def drop_plan(table: Table, pending: Instant) -> None:
    """Drop a plan, with the files that executions of it stored. The log files that it names are unchanged."""
    for path in files_of(table, pending):
        table.storage.delete(path)
    transitions_of(table).remove(pending)


class LogCompactor(Compactor):
    """Stores the new files of one log compaction: compacted log files."""

    @implements("LCP-001")
    def merge(self, number: int, operation: Operation) -> WriteStat | None:
        """Store one log file with the merged content of the planned ones; None if they are empty."""
        file_slice = present_slice(self.table, operation)
        small, changes = self.reader.changes_by_key(file_slice)
        joined = merge_log_blocks(changes, self.reader.merging, file_slice.partition)
        blocks = list(self._blocks(joined, self._writer(small)))
        if not blocks:
            return None
        name = LogFileName(file_slice.file_id, self.requested, 1, f"{number}-0-0")
        path, writes = join_path(file_slice.partition, str(name)), joined.rows.num_rows
        size = store_planned_file(self.table, path, b"".join(block.data for block in blocks))
        return WriteStat(
            file_slice.file_id, file_slice.partition, path, self.requested, writes=writes, updates=writes,
            deletes=sum(block.deletes for block in blocks), size=size, is_log=True,
        )  # fmt: skip

    @implements("LCP-002", "LF-040")
    def _writer(self, small: Iterable[Block]) -> BlockWriter:
        instants = sorted({block.instant for block in small})
        return BlockWriter(self.requested, with_meta_columns(self.view.schema), compacted=instants)

    @implements("LCP-001", "META-004")
    def _blocks(self, joined: MergedBlocks, writer: BlockWriter) -> Iterator[EncodedBlock]:
        """Blocks in merge order. Rows keep commit time and number."""
        if joined.erased:
            yield self._deletes(joined.erased, writer)
        if joined.rows.num_rows:
            block_format = LogOptions.from_properties(self.table.options).block_format
            check_format(block_format, self.table.properties)
            rows = stored_rows(joined.rows.select(self.reader.schema.names), self.table.properties)
            yield EncodedBlock(writer.rows(block_format, rows), rows=rows.num_rows)
        if joined.deletes:
            yield self._deletes(joined.deletes, writer)

    def _deletes(self, deletes: Any, writer: BlockWriter) -> EncodedBlock:
        types = [type_of(self.reader.schema, field) for field in self.table.properties.ordering_fields]
        kept = deletes if types else [Delete(delete.key, delete.partition, None) for delete in deletes]
        return EncodedBlock(writer.delete(kept, types), deletes=len(deletes))
