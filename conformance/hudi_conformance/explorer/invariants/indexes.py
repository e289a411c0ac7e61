"""Invariants 36 and 37: the metadata table says what the table itself says, and who builds an index keeps nobody waiting.

What an index has to hold is worked out from data files and rows alone.
"""

from collections.abc import Mapping

from hudi_conformance.explorer.invariants.snapshot_view import SnapshotView
from hudi_conformance.explorer.invariants.step_context import StepContext
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.metadata.availability import METADATA_FOLDER, usable_partitions
from hudi_reference.metadata.records import FileList, RecordLocation
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.services.planning.clean_plan import planned_files


def listing_is_that_of_storage(m: StepContext) -> str | None:
    """36. Files that lie there and are committed. Those that a clean is about to delete may be gone before it completes."""
    if "files" not in usable_partitions(m.snapshot.table.properties):
        return None
    timeline = m.snapshot.timeline
    there = {path for path, writer in m.snapshot.data_files.items() if timeline.completion_of(writer) is not None}
    listed = listed_files(m.snapshot)
    if lacking := sorted(there - listed):
        return f"the metadata table lacks {lacking[0]}"
    to_delete = {path for _, plan in m.now.plans("clean") for path in planned_files(plan)}
    if gone := sorted(listed - there - to_delete):
        return f"the metadata table lists {gone[0]}, which is not there or not committed"
    return None


def listed_files(snapshot: SnapshotView) -> set[str]:
    """The paths that the metadata table lists."""
    metadata = MetadataTable.of(snapshot.table)
    found = {} if metadata is None else metadata.records("files", snapshot.timeline)
    return {
        f"{partition}/{name}".removeprefix("./")
        for partition, record in found.items()
        if isinstance(record.payload, FileList)
        for name, info in record.payload.files.items()
        if not info.is_deleted
    }


def concerns_indexes(m: StepContext) -> bool:
    """Something that counts has changed: an action completed, an index is offered or not any more, a base file was stored."""
    return m.event == "completed" or m.step.path == PROPERTIES_PATH or m.step.path.endswith(".hfile")


def indexes_are_complete(m: StepContext) -> str | None:
    """37. Each key leads to the file group of its row, wherever the index is offered; nobody waits while it is built."""
    if m.step.path.endswith(".hfile"):
        is_built = m.doing.kind == "indexing" and m.step.path.startswith(f"{METADATA_FOLDER}/record_index/")
        waits = is_built and m.before.state.holder is not None and m.before.state.holder == m.step.process
        return f"{m.step.process} stores {m.step.path} while it holds the lock of the table" if waits else None
    if "record_index" not in usable_partitions(m.snapshot.table.properties):
        return None
    stored, right = located_keys(m.snapshot), keys_of_rows(m.snapshot)
    wrong = sorted(key for key in stored.keys() | right.keys() if stored.get(key) != right.get(key))
    return f"the record index says {stored.get(wrong[0])} of {wrong[0]!r}, it is {right.get(wrong[0])}" if wrong else None


def located_keys(snapshot: SnapshotView) -> Mapping[str, tuple[str, str]]:
    """Partition and file group of each key, as the index says."""
    metadata = MetadataTable.of(snapshot.table)
    found = {} if metadata is None else metadata.records("record_index", snapshot.timeline)
    return {
        key: (record.payload.partition, record.payload.location.file_id)
        for key, record in found.items()
        if isinstance(record.payload, RecordLocation)
    }


def keys_of_rows(snapshot: SnapshotView) -> Mapping[str, tuple[str, str]]:
    """The same from the rows themselves, which say in what file they are; of rows in logs that is the file group."""
    rows = snapshot.table.snapshot(["_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]).to_pylist()
    return {row["_hoodie_record_key"]: (row["_hoodie_partition_path"], _group(row["_hoodie_file_name"])) for row in rows}


def _group(name: str) -> str:
    parsed = parse_data_file_name(split_path(name)[1])
    return name if parsed is None else parsed.file_id
