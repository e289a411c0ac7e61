"""The plan of compaction and log compaction, spec "Timeline > Actions", "Table Management > Compaction".

A plan names the files of each slice as they are when it is made. Its execution needs nothing else, reads what was committed
then, and derives the names of its files from the plan, so that an execution after a crash stores the same files.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hudi_reference.errors import MalformedMetadata, UnsupportedTableFeature, missing_data_file
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.services.planning.plan_execution import Plan, files_by_instant, planned_slice, stored_by
from hudi_reference.settings import number_setting
from hudi_reference.storage import ObjectExists
from hudi_reference.timeline.contents.metadata import WriteStat

#: Plans of this version name files within their partition, earlier ones by paths.
PLAN_VERSION = 2
_MEGABYTE = 1 << 20
#: The size in megabytes that deployed planners assume for the base file of a slice without one.
_NEW_BASE_FILE = 120


@dataclass(frozen=True)
class Operation:
    """One slice of a plan. `metrics` are numbers and sizes by their deployed names; strategies select by them."""

    file_slice: FileSlice
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def group(self) -> GroupId:
        """The file group."""
        return self.file_slice.partition, self.file_slice.file_id

    @implements("TL-015", "TL-017")
    def to_record(self) -> dict[str, Any]:
        """As a HoodieCompactionOperation."""
        return {
            "baseInstantTime": self.file_slice.base_instant,
            "deltaFilePaths": list(self.file_slice.log_files),
            "dataFilePath": self.file_slice.base_file,
            "fileId": self.file_slice.file_id,
            "partitionPath": self.file_slice.partition,
            "metrics": dict(self.metrics),
            "bootstrapFilePath": None,
        }


@implements("CMP-004", "SVC-004")
def eligible_operations(
    table: Table, view: View, taken: Collection[GroupId], partitions: Collection[str] | None = None
) -> list[Operation]:
    """The latest slice of each file group with log files, except groups in `taken`, which are in pending plans.

    Only these `partitions` are considered; None is all. All files of these slices are committed. Raises MissingDataFile if one
    does not exist.
    """
    sizes = {info.path: info.size for info in table.storage.list(skip=META_FOLDER)}
    found = []
    for slice_ in view.groups.latest_slices:
        if not slice_.log_files or (slice_.partition, slice_.file_id) in taken:
            continue
        if partitions is not None and slice_.partition not in partitions:
            continue
        for name in sorted(slice_.missing):
            raise missing_data_file(slice_.path(name))
        found.append(Operation(slice_, slice_metrics(slice_, sizes)))
    return found


def slice_metrics(file_slice: FileSlice, sizes: Mapping[str, int]) -> dict[str, float]:
    """Numbers and sizes of a slice by their deployed names; `sizes` in bytes by path."""
    logs = sum(sizes[file_slice.path(name)] for name in file_slice.log_files)
    base = 0 if file_slice.base_file is None else sizes[file_slice.path(file_slice.base_file)]
    read = (base + logs) // _MEGABYTE
    written = _NEW_BASE_FILE if file_slice.base_file is None else base // _MEGABYTE
    return {
        "TOTAL_LOG_FILES": float(len(file_slice.log_files)),
        "TOTAL_LOG_FILES_SIZE": float(logs),
        "TOTAL_IO_READ_MB": float(read),
        "TOTAL_IO_WRITE_MB": float(written),
        "TOTAL_IO_MB": float(read + written),
    }


@implements("TL-015", "TL-017")
def plan_record(operations: Iterable[Operation], strategy: str | None = None, *, keeps_times: bool = False) -> dict[str, Any]:
    """The operations as a HoodieCompactionPlan, as deployed planners fill it."""
    return {
        "operations": [operation.to_record() for operation in operations],
        "extraMetadata": {},
        "version": PLAN_VERSION,
        "strategy": strategy and {"compactorClassName": strategy, "strategyParams": {}, "version": 1},
        "preserveHoodieMetadata": keeps_times,
        "missingSchedulePartitions": [],
    }


@implements("TL-015", "TL-017", "TL-029")
def operations_in(plan: Plan) -> tuple[Operation, ...]:
    """The operations of a stored plan of any engine. Raises MalformedMetadata, UnsupportedTableFeature."""
    try:
        return tuple(
            Operation(planned_slice(record, record["baseInstantTime"] or ""), record.get("metrics") or {})
            for record in plan["operations"] or ()
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedMetadata("the record is not a compaction plan", rule="TL-015", found=str(error)) from error


def present_slice(table: Table, operation: Operation) -> FileSlice:
    """The slice of a planned operation, with the names of its files that do not exist any more."""
    found = operation.file_slice
    return replace(found, missing=frozenset(name for name in found.files if table.storage.head(found.path(name)) is None))


@implements("SVC-005", "TL-029")
def store_planned_file(table: Table, path: str, data: bytes) -> int:
    """Store a file of a plan; its size. An earlier execution may have stored the file, with the same rows."""
    try:
        table.storage.create(path, data)
        return len(data)
    except ObjectExists:
        info = table.storage.head(path)
        return len(data) if info is None else info.size


def remove_strays(table: Table, action: str, requested: str, stats: Iterable[WriteStat]) -> None:
    """Delete the files that executions of the plan by other engines stored: readers would read them after the completion."""
    named = {stat.path for stat in stats}
    for path in stored_by(action, files_by_instant(table).get(requested, ())):
        if path not in named:
            table.storage.delete(path)


@implements("TL-015", "TL-017")
def completed_record(
    operation: str, stats: Iterable[tuple[WriteStat, Operation]], schema: AvroSchema, extra: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The metadata of a completed compaction or log compaction, HoodieCommitMetadata; `extra` is stored beside the schema."""
    partitions: dict[str, list[dict[str, Any]]] = {}
    for stat, planned in stats:
        record = {
            **stat.to_record(),
            "totalUpdatedRecordsCompacted": stat.updates,
            "totalLogFilesCompacted": len(planned.file_slice.log_files),
            "totalLogSizeCompacted": int(planned.metrics.get("TOTAL_LOG_FILES_SIZE", 0)),
        }
        partitions.setdefault(stat.partition, []).append(record)
    return {
        "partitionToWriteStats": partitions,
        "compacted": True,
        "extraMetadata": {"schema": json.dumps(schema, separators=(",", ":")), **(extra or {})},
        "version": None,
        "operationType": operation,
    }


@dataclass(frozen=True)
class Strategy:
    """How a strategy selects: by a metric, then up to the I/O budget if it is `bounded`."""

    #: Operations with a smaller metric than the setting `threshold` are left out; the others are sorted, the greatest first.
    metric: str | None = None
    threshold: str = ""
    bounded: bool = True


#: Strategies by the name of the deployed class.
STRATEGIES: Mapping[str, Strategy] = {
    "LogFileSizeBasedCompactionStrategy": Strategy("TOTAL_LOG_FILES_SIZE", "hoodie.compaction.logfile.size.threshold"),
    "LogFileNumBasedCompactionStrategy": Strategy("TOTAL_LOG_FILES", "hoodie.compaction.logfile.num.threshold"),
    "BoundedIOCompactionStrategy": Strategy(),
    "UnBoundedCompactionStrategy": Strategy(bounded=False),
}
_STRATEGY, _PACKAGE = "hoodie.compaction.strategy", "org.apache.hudi.table.action.compact.strategy."


def choose_operations(operations: Sequence[Operation], options: Mapping[str, str]) -> list[Operation]:
    """The operations that the configured strategy selects for one plan. Raises UnsupportedTableFeature."""
    name = options.get(_STRATEGY, "LogFileSizeBasedCompactionStrategy").removeprefix(_PACKAGE)
    if name not in STRATEGIES:
        raise UnsupportedTableFeature(
            "an unknown strategy of compaction", rule="CMP-001", path=_STRATEGY,
            expected=" or ".join(STRATEGIES), found=name,
        )  # fmt: skip
    strategy, found = STRATEGIES[name], list(operations)
    if (metric := strategy.metric) is not None:
        least = number_setting(options, strategy.threshold, 0, rule="CMP-001")
        enough = (operation for operation in found if operation.metrics[metric] >= least)
        found = sorted(enough, key=lambda operation: -operation.metrics[metric])
    return _within_budget(found, options) if strategy.bounded else found


def _within_budget(operations: Iterable[Operation], options: Mapping[str, str]) -> list[Operation]:
    """The first operations up to the I/O budget, including the one that exceeds it."""
    left = float(number_setting(options, "hoodie.compaction.target.io", 512_000, rule="CMP-001"))
    found: list[Operation] = []
    for operation in operations:
        if left <= 0:
            break
        found.append(operation)
        left -= operation.metrics["TOTAL_IO_MB"]
    return found
