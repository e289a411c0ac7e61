"""The inspection of files of the timeline history by the reference (`schemas/file-inspection.json`)."""

from pathlib import Path
from typing import Any

from hudi_conformance.engines.support.avro_values import canonical_record
from hudi_reference.errors import MalformedHistory, missing_data_file
from hudi_reference.files.inspection.file_type import locate
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.avro_container import Record
from hudi_reference.timeline.history.archived import metadata_of, plan_of
from hudi_reference.timeline.history.history import ArchivedAction, instants_of
from hudi_reference.timeline.history.history_writer import read_rows
from hudi_reference.timeline.history.manifest import LevelFile, manifest_number, parse_level_file_name, read_manifest
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, State

Json = dict[str, Any]


def is_history_file(name: str) -> bool:
    """Whether a name is that of a manifest or of a level file."""
    return manifest_number(name) is not None or parse_level_file_name(name) is not None


def place_of(uri: str) -> tuple[Storage, str, str]:
    """The storage of a history, its folder there, and the name of the file at `uri`."""
    folder, _, name = (uri if "://" in uri else str(Path(uri).absolute())).rpartition("/")
    return (*locate(folder), name)


def history_file(storage: Storage, folder: str, name: str) -> Json:
    """A manifest or level file of a folder. Raises MalformedHistory, MalformedMetadata, MissingDataFile."""
    try:
        number = manifest_number(name)
        return _level_file(storage, folder, name) if number is None else _manifest(storage, folder, number)
    except FileNotFoundError as error:
        raise missing_data_file(name) from error


def _manifest(storage: Storage, folder: str, number: int) -> Json:
    files = read_manifest(storage, folder, number).files
    return {"format": "manifest", "files": [{"name": file.name, "length": str(file.length)} for file in files]}


def level_file_at(storage: Storage, folder: str, name: str) -> LevelFile:
    """The level file as a manifest with its actual length would list it. Raises FileNotFoundError."""
    info, parts = storage.head(f"{folder}/{name}"), parse_level_file_name(name)
    if info is None or parts is None:
        raise FileNotFoundError(name)
    return LevelFile(name, info.size, *parts)


def _level_file(storage: Storage, folder: str, name: str) -> Json:
    file = level_file_at(storage, folder, name)
    rows = read_rows(storage, folder, file)
    list(instants_of(rows.select(["instantTime", "completionTime", "action"]), name))
    return {
        "format": "history-file",
        "minimum": file.minimum,
        "maximum": file.maximum,
        "level": file.level,
        "instants": [_action(row, name) for row in rows.to_pylist()],
    }


def _action(row: Json, name: str) -> Json:
    if row["action"] not in ACTIONS:
        raise MalformedHistory("an unknown action", rule="LSM-019", path=name, found=repr(row["action"]))
    instant = Instant(row["instantTime"], row["action"], State.COMPLETED, row["completionTime"])
    action = ArchivedAction(instant, row["metadata"], row["plan"])
    path = f"{name}: {instant.file_name}" if instant.completion else f"{name}: {instant.requested}"
    return {
        "requested": instant.requested,
        "completion": instant.completion,
        "action": instant.action,
        "metadata": _record(metadata_of(action, path)),
        "plan": _record(plan_of(action, path)),
        "version": row["version"],
    }


def _record(record: Record | None) -> Json | None:
    return None if record is None else canonical_record(record, record.schema)
