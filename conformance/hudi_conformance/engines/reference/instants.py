"""The inspection of the file of an action by the reference (`schemas/file-inspection.json`)."""

from typing import Any

from hudi_conformance.engines.support.avro_values import canonical_record
from hudi_reference.errors import HudiError, MalformedMetadata, missing_data_file
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.actions import read_action
from hudi_reference.timeline.contents.avro_container import Record
from hudi_reference.timeline.instants.instant import Instant


def instant_record(storage: Storage, path: str, instant: Instant) -> Record | None:
    """The record in the file; None for a file that may be empty and is. Raises for a file that readers must refuse."""
    try:
        return read_action(storage.get(path), path, instant)
    except FileNotFoundError as error:
        raise missing_data_file(path) from error


def instant_file(storage: Storage, path: str, instant: Instant) -> dict[str, Any]:
    """The action, its state, and the record in its file."""
    record = instant_record(storage, path, instant)
    return {
        "format": "instant",
        "requested": instant.requested,
        "completion": instant.completion,
        "action": instant.action,
        "state": instant.state.name,
        "record": None if record is None else record.name,
        "content": None if record is None else content_of(record, path),
    }


def content_of(record: Record, path: str) -> dict[str, Any]:
    """The fields as canonical values. Raises MalformedMetadata for values that their type cannot hold (JSON alone has such)."""
    try:
        return canonical_record(record, record.schema)
    except (HudiError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise MalformedMetadata(
            "the value does not fit its type",
            rule="TL-002",
            path=path,
            expected=record.name,
            found=f"{type(error).__name__}: {error}",
        ) from error
