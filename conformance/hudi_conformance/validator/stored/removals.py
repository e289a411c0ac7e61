"""The files that actions of the table removed, or are about to remove."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_reference.layout.names import join_path
from hudi_reference.timeline.instants.instant import Instant


@dataclass
class Removals:
    """Removed files and partitions by the instant that removed them.

    Attributes:
        cleaned: paths that completed cleans deleted.
        partitions: partitions that completed cleans deleted as a whole.
        rolled_back: paths that completed rollbacks and restores deleted.
        targets: the requested times of the writes that they rolled back.
        planned: paths that pending cleans and rollbacks are about to delete.
        pending_targets: the requested times of the writes that pending rollbacks and restores are about to roll back.
    """

    cleaned: dict[str, Instant] = field(default_factory=dict)
    partitions: dict[str, Instant] = field(default_factory=dict)
    rolled_back: dict[str, Instant] = field(default_factory=dict)
    targets: dict[str, Instant] = field(default_factory=dict)
    planned: dict[str, Instant] = field(default_factory=dict)
    pending_targets: set[str] = field(default_factory=set)

    def explains(self, path: str) -> bool:
        """Whether a clean deleted the file, or a pending action is about to delete it."""
        return path in self.cleaned or path in self.planned or path.rpartition("/")[0] in self.partitions

    def add(self, instant: Instant, record: Mapping[str, Any] | None, plan: Mapping[str, Any] | None = None) -> None:
        """Add what an action removed; for a pending one, or one whose record cannot be read, what its plan removes."""
        if record is None:
            self.planned.update(dict.fromkeys(_planned(instant.action, plan or {}), instant))
            self.pending_targets.update(_targets(plan or {}))
        elif instant.action == "clean":
            self._add_clean(instant, record)
        elif instant.action == "rollback":
            self._add_rollback(instant, record)
        elif instant.action == "restore":
            for rollbacks in (record.get("hoodieRestoreMetadata") or {}).values():
                for rollback in rollbacks or ():
                    self._add_rollback(instant, rollback or {})

    def _add_clean(self, instant: Instant, record: Mapping[str, Any]) -> None:
        for partition, done in (record.get("partitionMetadata") or {}).items():
            for key in ("deletePathPatterns", "successDeleteFiles"):
                self.cleaned.update(dict.fromkeys(_paths(partition, done.get(key)), instant))
            if done.get("isPartitionDeleted"):
                self.partitions[partition] = instant

    def _add_rollback(self, instant: Instant, record: Mapping[str, Any]) -> None:
        self.targets.update(dict.fromkeys(record.get("commitsRollback") or (), instant))
        for partition, done in (record.get("partitionMetadata") or {}).items():
            self.rolled_back.update(dict.fromkeys(_paths(partition, done.get("successDeleteFiles")), instant))


def _targets(plan: Mapping[str, Any]) -> Iterator[str]:
    """The requested times of the writes that a plan of a rollback or restore names."""
    for one in (plan.get("instantToRollback"), *(plan.get("instantsToRollback") or ())):
        if one:
            yield str(one["commitTime"])


def _paths(partition: str, names: Any) -> Iterator[str]:
    """Paths below the base path. Deployed writers store names, paths or URIs, perhaps of a former place of the table."""
    return (join_path(partition, str(name).rpartition("/")[2]) for name in names or ())


def _planned(action: str, plan: Mapping[str, Any]) -> Iterator[str]:
    if action == "clean":
        for partition, infos in (plan.get("filePathsToBeDeletedPerPartition") or {}).items():
            yield from _paths(partition, [info["filePath"] for info in infos])
        for partition, names in (plan.get("filesToBeDeletedPerPartition") or {}).items():
            yield from _paths(partition, names)
    if action == "rollback":
        for request in plan.get("RollbackRequests") or ():
            partition = request["partitionPath"]
            yield from _paths(partition, request.get("filesToBeDeleted"))
            yield from _paths(partition, request.get("logBlocksToBeDeleted"))
