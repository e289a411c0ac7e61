"""Clustering: moves rows to new file groups of the configured size and order, spec "Table Management > Re-writing", RFC-19.

    clustering.requested    the plan: groups of file slices, and the layout of the rows of each group
    clustering.inflight
    base files are stored   new file groups, with the plan's requested time in their names; readers ignore them
    replacecommit           the completion: readers use the new groups; the old ones are kept until they are cleaned

The rows are those of a query of the slices, with their keys, commit times and numbers. The names of the new groups follow from
the plan and from their rows, so that every execution of the plan stores the same files. If an old group was changed since the
plan was made, the new groups would lack the change: the clustering aborts, and its plan is withdrawn.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pyarrow as pa

from hudi_reference.errors import ConcurrentChange, WriteConflict
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.layout.names import BaseFileName, join_path
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.query.file_groups import GroupId
from hudi_reference.query.file_system_view import load_commit
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, with_meta_columns
from hudi_reference.services.clustering.order import sort_rows
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.clustering.plan_record import (
    LAYOUT_KEY,
    TARGET_KEY,
    ClusteringPlan,
    InputGroup,
    parse_clustering_plan,
)
from hudi_reference.services.compaction.compaction import check_stored
from hudi_reference.services.planning.compaction_plan import remove_strays, store_planned_file
from hudi_reference.services.planning.plan_execution import (
    Plan,
    PlanExecution,
    carry_out,
    execute_plans,
    pending_of,
    rollback_target,
)
from hudi_reference.services.planning.unsafe_plan import unsafe_plan
from hudi_reference.services.rollback.rollback import execute_rollback, withdraw_clustering
from hudi_reference.settings import number_setting
from hudi_reference.storage import ObjectExists
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import WriteStat, commit_record, ids_by_partition
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.transitions import check_not_rolled_back
from hudi_reference.write.column_ids import version_entry, view_for_write
from hudi_reference.write.concurrency.conflict_resolution import ConflictChecker, WriteKind, check_schema, concurrent_actions
from hudi_reference.write.concurrency.markers import mark_file, remove_markers
from hudi_reference.write.placement.bucket_layout import check_not_bucketed
from hudi_reference.write.placement.rows import with_file_name
from hudi_reference.write.preconditions import check_writable

Options = Mapping[str, str]
#: The smallest remainder, as a fraction of the target size, that is stored in a file of its own.
_REMAINDER = 0.1
_PARALLELISM_KEY, _PARALLELISM = "hoodie.clustering.max.parallelism", 15


@implements("CLU-001", "SVC-006", "SVC-015")
def cluster(table: Table, options: Options | None = None) -> str | None:
    """Execute the pending clustering plans, then plan and execute one more.

    A plan whose file groups a writer has changed is withdrawn.

    Args:
        table: the table.
        options: settings by Hudi's names, as `hoodie.clustering.plan.strategy.sort.columns`.

    Returns:
        The requested time of the last clustering; None if there is nothing to cluster, or it is not due.
    """
    finish_withdrawals(table)
    return execute_plans(table, "clustering", options, schedule_clustering, execute_clustering, _resume)


def _resume(table: Table, plan: Instant) -> str | None:
    """Execute a pending plan; None if it was withdrawn, because a writer has changed a file group."""
    try:
        return execute_clustering(table, plan.requested)
    except ConcurrentChange:
        return None


def finish_withdrawals(table: Table) -> None:
    """Execute pending withdrawals of plans."""
    for requested, _ in pending_withdrawals(table):
        execute_rollback(table, requested)


@implements("SVC-009")
def pending_withdrawals(table: Table) -> tuple[tuple[str, str], ...]:
    """The requested times of each pending withdrawal and of its plan: a rollback of a clustering that is pending, or removed
    already.
    """
    timeline = table.timeline
    clusterings = frozenset(pending_of(timeline, "clustering"))
    others = {found.requested for found in timeline.writes if found not in clusterings}
    targets = ((found.requested, rollback_target(table, found.requested)) for found in pending_of(timeline, "rollback"))
    return tuple((time, target) for time, (target, action) in targets if action == "clustering" and target not in others)


@implements("CLU-035", "CLU-039", "SVC-005", "SVC-009", "TL-029")
def execute_clustering(table: Table, requested: str, execution: "ClusteringExecution | None" = None) -> str:
    """Execute the plan with that requested time, from the beginning or after an execution that did not complete.

    `execution` does the work; None does it in this process.

    Raises:
        ConcurrentChange: one of its file groups was changed since it was planned. The plan is withdrawn.
        WriteConflict: another process completed the plan or reverted this execution.
    """
    check_writable(table)
    execution = execution or ClusteringExecution(table, requested)
    try:
        carry_out(execution)
    except ConcurrentChange:
        withdraw_clustering(table, requested)
        execution.delete_unused_files()
        raise
    except WriteConflict:
        execution.delete_unused_files()
        raise
    if execution.stats:
        remove_markers(table.storage, requested)
    return requested


@dataclass
class ClusteringExecution(PlanExecution):
    """One execution of a clustering plan: the base timeline and schema, the groups of the plan, and the stored files."""

    action = "clustering"
    stats: list[WriteStat] = field(default_factory=list)
    groups: tuple[InputGroup, ...] = ()
    base_timeline: Timeline | None = None
    schema: AvroSchema | None = None

    @implements("CLU-007", "LAY-021")
    def check_plan(self, plan: Plan) -> None:
        """Raise UnsafePlan if the plan names a file group twice: its rows would be stored twice.

        Raises UnsupportedTableFeature for a table with a bucket index, whose plans other engines make.
        """
        check_not_bucketed(self.table, self.table.view().groups)
        groups = Counter((one.partition, one.file_id) for group in parse_clustering_plan(plan).groups for one in group.slices)
        for (partition, file_id), times in groups.items():
            if times > 1:
                raise unsafe_plan(
                    self.table, self.action, self.requested, "the plan of the clustering would change rows", rule="CLU-007",
                    expected="each file group once", found=f"{join_path(partition, file_id)} {times} times",
                )  # fmt: skip

    @implements("CLU-007", "CLU-036")
    def work(self, record: Plan) -> Plan:
        """Store the new file groups. They depend on the plan and the table alone."""
        self._check_planned()
        plan, view = parse_clustering_plan(record), view_for_write(self.table, self.requested)
        self.groups, self.base_timeline, self.schema = plan.groups, view.timeline, view.schema
        check_unchanged(view, plan.groups)
        rewriting = Rewriting(self.table, view, plan, self.requested)
        self.rewrite_all(rewriting)
        return completed_record(
            self.stats, plan.groups, view.schema, version_entry(view, self.table.properties, self.requested)
        )

    def rewrite_all(self, rewriting: "Rewriting") -> None:
        """Store the files of all groups of the plan, and add their stats. Engines may distribute this."""
        for outputs in rewriting.outputs():
            for stat, data in outputs:
                self.stats.append(self._store(stat, data))

    def store_group(self, rewriting: "Rewriting", place: int, group: InputGroup) -> list[WriteStat]:
        """Rewrite and store one group of the plan; the stats of its files."""
        return [self._store(stat, data) for stat, data in rewriting.rewrite(place, group)]

    @implements("TL-050")
    def _check_planned(self) -> None:
        """Raises WriteConflict if the plan was withdrawn just before the inflight file was created; deletes that file then."""
        storage, folder = self.table.storage, self.table.properties.timeline_folder
        plan, begun = (Instant(self.requested, "clustering", state).file_name for state in (State.REQUESTED, State.INFLIGHT))
        if storage.head(f"{folder}/{plan}") is None:
            storage.delete(f"{folder}/{begun}")
            raise WriteConflict("the plan was withdrawn", rule="TL-050", path=plan, remedy="plan another clustering")

    @implements("CLU-035", "OCC-027")
    def _store(self, stat: WriteStat, data: bytes) -> WriteStat:
        """Store a file after its marker. An earlier execution of the plan may have stored both."""
        mark_partition(self.table.storage, stat.partition, self.requested)
        with suppress(ObjectExists):
            mark_file(self.table.storage, self.requested, stat.path.rpartition("/")[2], stat)
        store_planned_file(self.table, stat.path, data)
        return stat

    @implements("SVC-009", "OCC-016")
    def check_completion(self, timeline: Timeline) -> None:
        """Check that the clustering may complete, then delete the files of other executions.

        Raises ConcurrentChange if a file group of the plan was changed since the rows were read. The lock is held, so that no
        other execution completes the plan with the deleted files.
        """
        assert self.base_timeline is not None and self.schema is not None
        storage, properties = self.table.storage, self.table.properties
        mine = {identity: WriteKind.CLUSTERS for group in self.groups for identity in group.members}
        checker = ConflictChecker(None, self.base_timeline)
        for other in concurrent_actions(storage, properties, base=self.base_timeline, now=timeline, plans=False):
            checker.check(mine, other)
            check_schema(self.schema, self.requested, other)
        check_stored(self.table, self.stats)
        remove_strays(self.table, self.action, self.requested, self.stats)

    def delete_unused_files(self) -> None:
        """Delete the files of this execution that no action names: the plan was withdrawn, or completed with other files."""
        storage, properties, now = self.table.storage, self.table.properties, self.table.timeline
        done = [found for found in now.commits if found.requested == self.requested]
        if not done and (self._may_complete(now) or now.completion_of(self.requested) is not None):
            return
        named = load_commit(storage, properties, done[0]).paths if done else frozenset()
        for stat in self.stats:
            if stat.path not in named:
                storage.delete(stat.path)

    def _may_complete(self, now: Timeline) -> bool:
        """Whether the plan is pending and is not being withdrawn."""
        try:
            check_not_rolled_back(self.table.storage, self.table.properties, now, self.requested)
        except WriteConflict:
            return False
        return any(found.requested == self.requested for found in pending_of(now, "clustering"))


@implements("SVC-009")
def check_unchanged(view: View, groups: Sequence[InputGroup]) -> None:
    """Raises ConcurrentChange unless a query reads just the planned files of each file group."""
    for planned in (found for group in groups for found in group.slices):
        identity: GroupId = (planned.partition, planned.file_id)
        group = view.groups.groups.get(identity)
        present = None if group is None else group.latest
        if present is None or set(present.files) != set(planned.files):
            raise ConcurrentChange(
                "a file group has changed since its clustering was planned", rule="SVC-009", path=planned.partition,
                expected=", ".join(sorted(planned.files)),
                found="a replaced file group" if present is None else ", ".join(sorted(present.files)),
                remedy="plan another clustering; this plan was withdrawn",
            )  # fmt: skip


@dataclass(frozen=True)
class Rewriting:
    """Makes the new file groups of a plan."""

    table: Table
    view: View
    plan: ClusteringPlan
    requested: str

    @implements("CLU-036")
    def outputs(self) -> Iterator[list[tuple[WriteStat, bytes]]]:
        """The files of each group of the plan, in its order. Groups are rewritten in parallel, up to the configured limit."""
        groups = list(enumerate(self.plan.groups))
        most = number_setting(self.table.options, _PARALLELISM_KEY, _PARALLELISM, least=1, rule="CMP-001")
        at_once = min(len(groups), most) if self.table.parallelism > 1 else 1
        if at_once < 2:
            yield from (self.rewrite(*group) for group in groups)
            return
        with ThreadPoolExecutor(at_once) as pool:
            for start in range(0, len(groups), at_once):
                yield from pool.map(lambda group: self.rewrite(*group), groups[start : start + at_once])

    @implements("CLU-001", "CLU-007", "CLU-008", "CLU-037", "CLU-038", "TL-011", "META-004")
    def rewrite(self, place: int, group: InputGroup) -> list[tuple[WriteStat, bytes]]:
        """The files of one group of the plan: the rows of all its slices, sorted, and split at the target size."""
        reader = self.view.reader(self.table)
        slices = [self.view.groups.groups[identity].latest for identity in group.members]
        parts = [reader.read(found, reader.schema.names) for found in slices if found is not None]
        rows = sort_rows(pa.concat_tables(parts), self.plan.sort_columns, self.plan.parameters.get(LAYOUT_KEY, "LINEAR"))
        if not rows.num_rows:
            return []
        encode = partial(self._output, place, group, rows)
        whole = encode(0, 0, rows.num_rows)
        step = self.rows_per_file(group, rows.num_rows, whole[0].size)
        if step >= rows.num_rows:
            return [whole]
        return [encode(count, start, start + step) for count, start in enumerate(range(0, rows.num_rows, step))]

    @implements("CLU-009", "CLU-030", "CLU-038")
    def rows_per_file(self, group: InputGroup, rows: int, size: int) -> int:
        """The number of rows of each file; `size` are the bytes of one file with all rows.

        Files have the target size, or slightly more to avoid a small last file. A plan without a target size names the number
        of files.
        """
        if TARGET_KEY not in self.plan.parameters:
            return ceil(rows / group.outputs)
        share = size / self.plan.target_size
        return max(ceil(rows / max(1, ceil(share - _REMAINDER))), int(rows / share))

    @implements("CLU-001", "BF-003", "BF-009")
    def _output(
        self, place: int, group: InputGroup, rows: pa.Table, count: int, start: int, stop: int
    ) -> tuple[WriteStat, bytes]:
        """The base file of a new file group with these rows, and its stat.

        The id is derived from the slices and the range of rows.
        """
        part = rows.slice(start, stop - start)
        named = "/".join((self.requested, *(file_id for _, file_id in group.members), str(start), str(start + part.num_rows)))
        extension = self.table.properties.base_file_extension
        name = BaseFileName(f"{uuid5(NAMESPACE_OID, named)}-{count}", f"{place}-0-0", self.requested, extension)
        rows, schema = with_file_name(part, str(name)), with_meta_columns(self.view.schema)
        data = encode_base_file(rows, schema, extension, settings=self.table.options)
        path = join_path(group.partition, str(name))
        count_of = {"writes": part.num_rows, "inserts": part.num_rows, "size": len(data)}
        return WriteStat(name.file_id, group.partition, path, **count_of), data


@implements("CLU-039", "CLU-040", "CLU-041", "TL-009", "TL-010")
def completed_record(
    stats: Sequence[WriteStat], groups: Sequence[InputGroup], schema: AvroSchema, extra: Mapping[str, str]
) -> dict[str, Any]:
    """The metadata of a completed clustering, HoodieReplaceCommitMetadata; `extra` is stored beside the schema."""
    replaced = ids_by_partition(identity for group in groups for identity in group.members)
    record = commit_record("CLUSTER", stats, schema, replaced)
    return {**record, "extraMetadata": {**record["extraMetadata"], **extra}}
