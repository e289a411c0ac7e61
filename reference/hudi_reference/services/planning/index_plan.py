"""The plan of an index, spec "Table Management > Indexing": which partitions of the metadata table, and from which state.

The base instant is the write that had completed last when the plan was made. The index is built from the state at that time;
actions that complete later add their own entries.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hudi_reference.errors import MalformedMetadata
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.indexes.all import index_of
from hudi_reference.metadata.indexes.index import Index
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.plan_execution import pending_of
from hudi_reference.timeline.active import Timeline

_VERSION = 1


@implements("INX-005", "INX-006", "INX-007", "INX-008", "INX-009", "TL-018")
def plan_record(indexes: Iterable[Index], base: str) -> dict[str, Any]:
    """The plan to build these indexes from the state that the base instant left, as a HoodieIndexPlan."""
    infos: list[dict[str, Any]] = [
        {"version": _VERSION, "metadataPartitionPath": index.partition, "indexUptoInstant": base, "extraMetadata": {}}
        for index in indexes
    ]
    return {"version": _VERSION, "indexPartitionInfos": infos}


@implements("INX-006", "INX-007", "INX-009")
def indexes_in(table: Table, plan: Mapping[str, Any]) -> tuple[Index, ...]:
    """The indexes of a stored plan of any engine. Raises MalformedMetadata, UnsupportedTableFeature."""
    try:
        names = [info["metadataPartitionPath"] for info in plan["indexPartitionInfos"] or ()]
    except (KeyError, TypeError) as error:
        raise MalformedMetadata("the record is not the plan of an index", rule="INX-006", found=str(error)) from error
    if not all(isinstance(name, str) for name in names):
        raise MalformedMetadata("the record is not the plan of an index", rule="INX-006", found=f"indexes named {names}"[:200])
    now = replace(table, properties=read_properties(table.storage))
    return tuple(index_of(now, name) for name in names)


@implements("INX-014", "TL-018")
def completed_record(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a completed indexing: HoodieIndexCommitMetadata."""
    return {"version": _VERSION, "operationType": None, "indexPartitionInfos": plan["indexPartitionInfos"]}


@implements("INX-001", "INX-008")
def base_groups(table: Table, timeline: Timeline, requested: str) -> FileGroups:
    """The file groups as they were when the plan was made: without actions that completed later."""
    return load_file_groups(table.storage, table.properties, timeline.completed_before(requested))


@implements("SVC-012")
def files_to_index(table: Table, timeline: Timeline) -> frozenset[str]:
    """The paths of the files that executions of pending plans will read; cleans keep them."""
    return frozenset(
        path
        for pending in pending_of(timeline, "indexing")
        for found in base_groups(table, timeline, pending.requested).latest_slices
        for path in found.paths
    )
