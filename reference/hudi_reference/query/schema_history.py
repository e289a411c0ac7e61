"""The schema history of a table: the files in `.hoodie/.schema/`, and the versions in commit metadata."""

import re
from collections.abc import Iterable

from hudi_reference.errors import MalformedSchema
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.requirement import implements
from hudi_reference.schema.field_ids import FieldIdMapping, SchemaHistory
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline

FOLDER = f"{META_FOLDER}/.schema"
_SAVED = re.compile(r"(\d+)(?:_\d+)?\.schemacommit")


@implements("LF-038")
def field_id_mapping(saved: Iterable[str], groups: FileGroups) -> FieldIdMapping | None:
    """Matches columns by field id for a query of these file groups; None if no statement ever changed the table's schema.

    Raises MalformedSchema.
    """
    carried = [text for commit in groups.commits.values() if (text := _schema_in_commit(commit.record)) is not None]
    history = SchemaHistory.parse([*saved, *carried], FOLDER)
    if not history.versions or not groups.commits:
        return None
    wanted = history.at(max(instant.requested for instant in groups.commits))
    return None if wanted is None else FieldIdMapping(history, wanted)


def read_schema_versions(storage: Storage, timeline: Timeline) -> list[str]:
    """The newest schema file of a completed action, as JSON text, or an empty list.

    It contains all versions up to its own. Older files are removed, so time travel queries use it too. Raises MalformedSchema.
    """
    found = {}
    for info in storage.list(FOLDER):
        match = _SAVED.fullmatch(info.path.rpartition("/")[2])
        if match is not None and timeline.completion_of(match[1]) is not None:
            found[match[1]] = info.path
    return [_text(storage, found[max(found)])] if found else []


def _text(storage: Storage, path: str) -> str:
    try:
        return storage.get(path).decode()
    except UnicodeDecodeError as error:
        raise MalformedSchema("not a schema history", rule="LF-038", path=path, found=str(error)) from error


def _schema_in_commit(record: object) -> str | None:
    """The schema version in the metadata of a commit."""
    extra = record.get("extraMetadata") if isinstance(record, dict) else None
    return (extra or {}).get("latest_schema") or None
