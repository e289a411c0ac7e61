"""The plan of a clustering as it is stored: HoodieRequestedReplaceMetadata, spec "Table Management > Re-writing" and RFC-19.

    clusteringPlan
      inputGroups            slices of one partition that are rewritten together
        slices               base file and log files of each, with their full paths; file id and partition
        numOutputFileGroups  into how many new file groups
        metrics              numbers for information
      strategy               the executor, and its parameters: sort columns, target size
      version                1

An execution needs nothing else. The schema of the draft (clusteringGroups of file ids, targetFileSize, sortColumns) was never
deployed; these fields replace it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_reference.errors import MalformedMetadata, UnsupportedTableFeature
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.plan_execution import Plan, location_in_plan, planned_slice
from hudi_reference.settings import number_setting

#: The only version of plans, groups and slices.
PLAN_VERSION = 1
#: The executor in deployed engines. The plan names it; the reference uses the parameters alone.
EXECUTION = "org.apache.hudi.client.clustering.run.strategy.SparkSortAndSizeExecutionStrategy"
SORT_COLUMNS_KEY = "hoodie.clustering.plan.strategy.sort.columns"
TARGET_KEY = "hoodie.clustering.plan.strategy.target.file.max.bytes"
#: The layout: LINEAR, ZORDER or HILBERT.
LAYOUT_KEY = "hoodie.layout.optimize.strategy"
#: Settings that a plan stores, so that its execution does not depend on the settings of the executing process.
PARAMETERS = (SORT_COLUMNS_KEY, TARGET_KEY, LAYOUT_KEY)
DEFAULT_TARGET = 1 << 30


@implements("CLU-005", "CLU-028")
@dataclass(frozen=True)
class InputGroup:
    """Slices of one partition that are rewritten together, into `outputs` file groups."""

    slices: tuple[FileSlice, ...]
    outputs: int
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def partition(self) -> str:
        """The partition of all the slices."""
        return self.slices[0].partition

    @property
    def members(self) -> tuple[GroupId, ...]:
        """The file groups."""
        return tuple((found.partition, found.file_id) for found in self.slices)


@dataclass(frozen=True)
class ClusteringPlan:
    """A plan: groups, `parameters` by Hudi's names, and `extra` metadata for information."""

    groups: tuple[InputGroup, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    strategy: str = EXECUTION
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    @implements("CLU-002", "CLU-031")
    def sort_columns(self) -> tuple[str, ...]:
        """The sort columns in order; none if rows may be in any order."""
        return sort_columns_of(self.parameters)

    @property
    @implements("CLU-030")
    def target_size(self) -> int:
        """The target size of an output in bytes. Raises Misuse."""
        return number_setting(self.parameters, TARGET_KEY, DEFAULT_TARGET, least=1, rule="CMP-001")


def sort_columns_of(options: Mapping[str, str]) -> tuple[str, ...]:
    """The sort columns among settings."""
    return tuple(name.strip() for name in options.get(SORT_COLUMNS_KEY, "").split(",") if name.strip())


@implements("TL-012", "CLU-006", "CLU-024", "CLU-025", "CLU-026", "CLU-027", "CLU-029", "CLU-032", "CLU-033")
def plan_record(table: Table, plan: ClusteringPlan) -> dict[str, Any]:
    """The plan as a HoodieRequestedReplaceMetadata, as deployed planners fill it."""
    return {
        # ER-129: the record of deployed planners, with inputGroups; the plan of RFC-19 has clusteringGroups.
        "operationType": "CLUSTER",
        "clusteringPlan": {
            "inputGroups": [_group_record(table, group) for group in plan.groups],
            "strategy": {"strategyClassName": plan.strategy, "strategyParams": dict(plan.parameters), "version": PLAN_VERSION},
            "extraMetadata": dict(plan.extra),
            "version": PLAN_VERSION,
            "preserveHoodieMetadata": True,
            "missingSchedulePartitions": [],
        },
        "extraMetadata": dict(plan.extra),
        "version": PLAN_VERSION,
    }


def _group_record(table: Table, group: InputGroup) -> dict[str, Any]:
    return {
        "slices": [_slice_record(table, found) for found in group.slices],
        "metrics": dict(group.metrics),
        "numOutputFileGroups": group.outputs,
        "extraMetadata": None,
        "version": PLAN_VERSION,
    }


def _slice_record(table: Table, file_slice: FileSlice) -> dict[str, Any]:
    return {
        "dataFilePath": "" if file_slice.base_file is None else location_in_plan(table, file_slice.path(file_slice.base_file)),
        "deltaFilePaths": [location_in_plan(table, file_slice.path(name)) for name in file_slice.log_files],
        "fileId": file_slice.file_id,
        "partitionPath": file_slice.partition,
        "bootstrapFilePath": "",
        "version": PLAN_VERSION,
    }


@implements("TL-012", "TL-029", "CLU-024", "CLU-025", "CLU-026", "CLU-027", "CLU-033", "CLU-034")
def parse_clustering_plan(record: Plan) -> ClusteringPlan:
    """A stored plan of any engine. Raises MalformedMetadata, and UnsupportedTableFeature for a plan of another version.

    A record may have no groups. Metrics are kept, but not used.
    """
    plan = record.get("clusteringPlan")
    if plan is None:
        raise MalformedMetadata("the record contains no clustering plan", rule="CLU-024", found=", ".join(record))
    version = plan.get("version")
    if version not in (None, PLAN_VERSION):
        raise UnsupportedTableFeature(
            "a clustering plan of an unknown version",
            rule="CLU-033",
            expected=str(PLAN_VERSION),
            found=str(version),
        )
    try:
        strategy = plan.get("strategy") or {}
        return ClusteringPlan(
            tuple(map(_group, plan["inputGroups"] or ())), strategy.get("strategyParams") or {},
            strategy.get("strategyClassName") or EXECUTION, plan.get("extraMetadata") or {},
        )  # fmt: skip
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedMetadata("the record is not a clustering plan", rule="CLU-024", found=str(error)) from error


def _group(record: Mapping[str, Any]) -> InputGroup:
    slices = tuple(map(planned_slice, record["slices"] or ()))
    if not slices or len({found.partition for found in slices}) > 1:
        raise MalformedMetadata(
            "a clustering group with slices of several partitions, or none", rule="CLU-028", expected="slices of one partition",
            found=", ".join(sorted({found.partition or "the table's folder" for found in slices})) or "no slices",
        )  # fmt: skip
    return InputGroup(slices, record.get("numOutputFileGroups") or 1, record.get("metrics") or {})
