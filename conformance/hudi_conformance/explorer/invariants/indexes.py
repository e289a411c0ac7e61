"""Invariants 36 and 37: the metadata table agrees with storage, and an index is built without holding the table lock.

The expected content of an index is computed from data files and rows only.
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
    """36. The listing contains the committed files in storage. Files of a pending clean may already be deleted."""
    if "files" not in usable_partitions(m.snapshot.table.properties):
        return None
    timeline = m.snapshot.timeline
    there = {path for path, writer in m.snapshot.data_files.items() if timeline.completion_of(writer) is not None}
    listed = m.snapshot.cached_result(listed_files)
    if lacking := sorted(there - listed):
        return f"the metadata table lacks {lacking[0]}"
    to_delete = {path for _, plan in m.now.plans("clean") for path in planned_files(plan)}
    if gone := sorted(listed - there - to_delete):
        return f"the metadata table lists {gone[0]}, which does not exist or is not committed"
    return None


def listed_files(snapshot: SnapshotView) -> set[str]:
    """The paths that the metadata table lists."""
    metadata = MetadataTable.for_table(snapshot.table)
    found = {} if metadata is None else metadata.records("files", snapshot.timeline)
    return {
        f"{partition}/{name}".removeprefix("./")
        for partition, record in found.items()
        if isinstance(record.payload, FileList)
        for name, info in record.payload.files.items()
        if not info.is_deleted
    }


def concerns_indexes(m: StepContext) -> bool:
    """Whether a step matters for indexes: an action completed, a list of usable indexes changed, or an HFile was stored."""
    return m.event == "completed" or m.step.path == PROPERTIES_PATH or m.step.path.endswith(".hfile")


def indexes_are_complete(m: StepContext) -> str | None:
    """37. Each key leads to the file group of its row if the index is usable; the lock is free while the index is built."""
    if m.step.path.endswith(".hfile"):
        is_built = m.doing.kind == "indexing" and m.step.path.startswith(f"{METADATA_FOLDER}/record_index/")
        waits = is_built and m.before.state.holder is not None and m.before.state.holder == m.step.process
        return f"{m.step.process} stores {m.step.path} while it holds the lock of the table" if waits else None
    if "record_index" not in usable_partitions(m.snapshot.table.properties):
        return None
    stored, right = m.snapshot.cached_result(located_keys), m.snapshot.cached_result(keys_of_rows)
    wrong = sorted(key for key in stored.keys() | right.keys() if stored.get(key) != right.get(key))
    return (
        f"the record index locates {wrong[0]!r} in {stored.get(wrong[0])}, expected is {right.get(wrong[0])}" if wrong else None
    )


def located_keys(snapshot: SnapshotView) -> Mapping[str, tuple[str, str]]:
    """Partition and file group of each key in the index."""
    metadata = MetadataTable.for_table(snapshot.table)
    found = {} if metadata is None else metadata.records("record_index", snapshot.timeline)
    return {
        key: (record.payload.partition, record.payload.location.file_id)
        for key, record in found.items()
        if isinstance(record.payload, RecordLocation)
    }


def keys_of_rows(snapshot: SnapshotView) -> Mapping[str, tuple[str, str]]:
    """Partition and file group of each key from the meta columns of the rows."""
    rows = snapshot.table.snapshot(["_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]).to_pylist()
    return {row["_hoodie_record_key"]: (row["_hoodie_partition_path"], _group(row["_hoodie_file_name"])) for row in rows}


def _group(name: str) -> str:
    parsed = parse_data_file_name(split_path(name)[1])
    return name if parsed is None else parsed.file_id
