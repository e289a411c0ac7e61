"""The state of a table as plain values, for display and for comparison between engines."""

from typing import Any

from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.file_groups import FileGroup, FileGroups, FileSlice
from hudi_reference.requirement import implements
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.instants.instant import Instant


@implements("TL-046", "RDR-007")
def inspect_table(properties: TableProperties, timeline: Timeline, groups: FileGroups) -> dict[str, Any]:
    """Properties, completed and pending instants, and the slices of every file group by partition and file id, oldest first."""
    archived = {instant.identity for instant in timeline.completed}
    history = [instant for instant in timeline.history if instant.identity not in archived]
    partitions: dict[str, dict[str, Any]] = {}
    for group in groups:
        partitions.setdefault(group.partition, {})[group.file_id] = _group(group)
    return {
        "properties": dict(properties.entries),
        "timeline": {
            "completed": [_completed(i, "archived") for i in history] + [_completed(i, "active") for i in timeline.completed],
            "pending": [{"requested": i.requested, "action": i.action, "state": i.state.name} for i in timeline.pending],
        },
        "file_groups": partitions,
    }


def _completed(instant: Instant, where: str) -> dict[str, str | None]:
    return {
        "requested": instant.requested, "completion": instant.completion, "action": instant.action, "where": where,
    }  # fmt: skip


def _group(group: FileGroup) -> dict[str, Any]:
    latest = group.latest
    return {
        "replaced_by": group.replaced_by,
        "slices": [_slice(one) for one in reversed(group.slices)],
        "latest": None if latest is None else _slice(latest),
    }


def _slice(file_slice: FileSlice) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "base_instant": file_slice.base_instant,
        "base_file": file_slice.base_file,
        "log_files": list(file_slice.log_files),
    }
    if file_slice.pending_compaction:
        entry["pending_compaction"] = True
    return entry
