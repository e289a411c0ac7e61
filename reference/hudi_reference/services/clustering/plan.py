"""Planning a clustering: which file groups are rewritten together, spec "Table Management > Re-writing" and RFC-19.

partitions   the partitions that the filter selects
slices       the latest slice of each file group that is small enough and in no pending plan
groups       the groups of the strategy, up to the limit of one plan
requested    the plan, published under the lock of the table
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hudi_reference.errors import missing_data_file
from hudi_reference.files.base.column_ranges import Range, column_ranges
from hudi_reference.files.base_file import read_footer
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.services.clustering.groups import Candidate, Row, group_slices, limit_groups, strategy_of
from hudi_reference.services.clustering.order import sort_rows
from hudi_reference.services.clustering.partitions import partitions_to_cluster
from hudi_reference.services.clustering.plan_record import PARAMETERS, ClusteringPlan, InputGroup, plan_record
from hudi_reference.services.clustering.settings import ClusteringSettings
from hudi_reference.services.planning.compaction_plan import slice_metrics
from hudi_reference.services.planning.plan_execution import (
    groups_in_plans,
    hold_for_planning,
    rolls_back_completed_write,
)
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.times import format_time
from hudi_reference.write.commit import transitions_of
from hudi_reference.write.placement.bucket_layout import check_not_bucketed
from hudi_reference.write.preconditions import check_writable

Options = Mapping[str, str]


@implements("CLU-006", "SVC-004", "TL-012")
def schedule_clustering(
    table: Table, options: Options | None = None, *, extra_metadata: Mapping[str, str] | None = None
) -> str | None:
    """Publish a plan; its requested time. None if there is nothing to cluster, or a completed write is being rolled back.

    Writers are not blocked. `options` are settings by Hudi's names: see `settings`. `extra_metadata` is stored in the plan.
    """
    with hold_for_planning(table) as publish:
        plan = plan_clustering(table, options, extra_metadata=extra_metadata)
        return publish("clustering", plan_record(table, plan)) if plan.groups else None


@implements("CLU-004", "CLU-012", "CLU-031", "CLU-032")
def plan_clustering(
    table: Table, options: Options | None = None, *, extra_metadata: Mapping[str, str] | None = None
) -> ClusteringPlan:
    """The plan of a clustering that would be made now. Changes nothing.

    It has no groups if none is due, or a completed write is being rolled back. Raises Misuse, UnsupportedTableFeature,
    MissingDataFile.
    """
    check_writable(table)
    given = {**table.options, **(options or {})}
    settings, view = ClusteringSettings.from_options(given), table.view()
    check_not_bucketed(table, view.groups)
    # A plan that cannot be executed would stay, and writers would wait for it.
    sort_rows(view.reader(table).schema.empty_table(), settings.sort_columns)
    sizes = {info.path: info.size for info in table.storage.list(skip=META_FOLDER)}
    planner = Planner(table, view, settings, sizes)
    may_plan = is_due(view, settings) and not rolls_back_completed_write(table, view.timeline)
    groups = planner.groups() if may_plan else ()
    return ClusteringPlan(
        tuple(groups), {key: given[key] for key in PARAMETERS if key in given}, settings.execution, dict(extra_metadata or {})
    )


def is_due(view: View, settings: ClusteringSettings) -> bool:
    """Whether enough commits have completed since the last clustering was planned; the clustering itself does not count."""
    done = {commit.requested for commit, found in view.groups.commits.items() if found.operation == "CLUSTER"}
    planned = {pending.requested for pending in view.timeline.pending if pending.action == "clustering"}
    last = max(done | planned, default="")
    since = [c for c in view.timeline.commits if c.requested not in done and (c.completion or c.requested) > last]
    return len(since) >= settings.commits_needed


@dataclass(frozen=True)
class Planner:
    """Makes the groups of a plan, from the table as it is, the settings, and the sizes of the files by path."""

    table: Table
    view: View
    settings: ClusteringSettings
    sizes: Mapping[str, int]

    @implements("CLU-010", "CLU-023", "CLU-028")
    def groups(self) -> Sequence[InputGroup]:
        """The groups of all partitions, up to the limit of one plan."""
        partitions: dict[str, list[Candidate]] = {}
        for candidate in self.candidates():
            partitions.setdefault(candidate.file_slice.partition, []).append(candidate)
        strategy, known = strategy_of(self.settings), FooterStatistics(self.table.storage)
        everywhere = {found.partition for found in self.view.groups.latest_slices}
        chosen = partitions_to_cluster(everywhere, self.settings, strategy.mode or self.settings.mode, self._hour())
        found = [group for p in chosen for group in group_slices(partitions.get(p, ()), strategy, self.settings, known)]
        return [self._input_group(row, outputs) for row, outputs in limit_groups(found, self.settings.most_groups)]

    @implements("CLU-004", "CLU-011", "CLU-012", "CLU-013")
    def candidates(self) -> list[Candidate]:
        """The latest slices that may be clustered: no large ones, and none in a pending plan of another service.

        A slice may have log files: the plan names them, and its execution merges them.
        """
        taken = groups_in_plans(self.table, self.view.timeline)
        most = min(self.settings.small_file_limit - 1, self.settings.target_size)
        found = []
        for slice_ in self.view.groups.latest_slices:
            # ER-130: file groups with log files can be clustered.
            base = 0 if slice_.base_file is None else self.sizes.get(slice_.path(slice_.base_file), 0)
            if base > most or (slice_.partition, slice_.file_id) in taken:
                continue
            for name in sorted(slice_.missing):
                raise missing_data_file(slice_.path(name))
            found.append(Candidate(slice_, base if slice_.base_file else self.settings.new_file_size))
        return found

    def _input_group(self, row: Row, outputs: int) -> InputGroup:
        metrics: dict[str, float] = {}
        for candidate in row:
            for name, value in slice_metrics(candidate.file_slice, self.sizes).items():
                metrics[name] = metrics.get(name, 0.0) + value
        return InputGroup(tuple(candidate.file_slice for candidate in row), outputs, metrics)

    def _hour(self) -> int:
        """The hour of the day in the table's time zone."""
        return int(format_time(self.table.clock.now(), transitions_of(self.table).times.zone)[8:10])


@dataclass(frozen=True)
class FooterStatistics:
    """The ranges in the footers of base files. Ranges of slices with log files are unknown, as logs may add any value."""

    storage: Storage

    def values(self, file_slice: FileSlice, columns: Sequence[str]) -> Sequence[Range]:
        """The ranges of the values of these columns."""
        if file_slice.base_file is None or file_slice.log_files:
            return [None] * len(columns)
        return column_ranges(self.storage, file_slice.path(file_slice.base_file), columns)

    def keys(self, file_slice: FileSlice) -> Range:
        """The range of the record keys."""
        if file_slice.base_file is None:
            return None
        footer = read_footer(self.storage, file_slice.path(file_slice.base_file))
        return None if footer.min_key is None or footer.max_key is None else (footer.min_key, footer.max_key)
