"""Actions that tests write to the timeline of a table by hand."""

import io
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import fastavro

from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference.timeline.contents.actions import write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

Json = dict[str, Any]
SYNC_MARKER = bytes(range(16))


def timeline_folder(uri: str) -> Path:
    """Return the folder of the active timeline."""
    return table_folder(uri) / ".hoodie" / "timeline"


def add_milliseconds(time: str, milliseconds: int) -> str:
    """Return an instant time that is later by this many milliseconds."""
    moment = datetime.strptime(time, "%Y%m%d%H%M%S%f") + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y%m%d%H%M%S%f")[:17]


def put_action(
    uri: str, requested: str, action: str, files: Mapping[State, Json | None], completion: str | None = None
) -> list[bytes]:
    """Write an action to the timeline in the given states; return what its files hold."""
    contents = []
    for state, record in files.items():
        instant = Instant(requested, action, state, completion if state is State.COMPLETED else None)
        data = b"" if record is None else write_action(instant, record, SYNC_MARKER)
        (timeline_folder(uri) / instant.file_name).write_bytes(data)
        contents.append(data)
    return contents


def edit_plan(uri: str, name: str, change: Callable[[Json], None]) -> None:
    """Change the plan in that file of the timeline."""
    path = timeline_folder(uri) / name
    reader = fastavro.reader(io.BytesIO(path.read_bytes()))
    (plan,) = reader
    assert isinstance(plan, dict) and reader.writer_schema is not None
    change(plan)
    changed = io.BytesIO()
    fastavro.writer(changed, reader.writer_schema, [plan])
    path.write_bytes(changed.getvalue())
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def clean_plan(retained: str) -> Json:
    """Return the plan of a clean that keeps what is needed from an instant on."""
    return {
        "earliestInstantToRetain": {"timestamp": retained, "action": "commit", "state": "COMPLETED"},
        "lastCompletedCommitTimestamp": retained,
        "policy": "KEEP_LATEST_COMMITS",
        "filesToBeDeletedPerPartition": {},
        "version": 2,
        "filePathsToBeDeletedPerPartition": {},
        "partitionsToBeDeleted": [],
        "extraMetadata": {},
    }


def clean_result(requested: str, retained: str) -> Json:
    """Return the completion metadata of a clean that deleted nothing."""
    return {
        "startCleanTime": requested,
        "timeTakenInMillis": 1,
        "totalFilesDeleted": 0,
        "earliestCommitToRetain": retained,
        "lastCompletedCommitTimestamp": retained,
        "partitionMetadata": {},
        "version": 2,
        "bootstrapPartitionMetadata": {},
        "extraMetadata": {},
    }
