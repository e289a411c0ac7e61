"""The schema history of a table: the files in `.hoodie/.schema/`, and the versions in commit metadata."""

import re
from collections.abc import Iterable, Mapping

from hudi_reference.errors import MalformedSchema
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.requirement import implements
from hudi_reference.schema.field_ids import FieldIdMapping, SchemaHistory
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import CommitMetadata
from hudi_reference.timeline.instants.instant import Instant

Commits = Mapping[Instant, CommitMetadata]
FOLDER = f"{META_FOLDER}/.schema"
#: The entry of commit metadata that has a version.
LATEST = "latest_schema"
_SAVED = re.compile(r"(\d+)(?:_\d+)?\.schemacommit")


@implements("LF-038")
def field_id_mapping(saved: Iterable[str], commits: Commits) -> FieldIdMapping | None:
    """Matches columns by field id for a query after these writes; None if no statement ever changed the table's schema.

    Raises MalformedSchema.
    """
    history = SchemaHistory.parse([*saved, *carried_versions(commits)], FOLDER)
    if not history.versions or not commits:
        return None
    wanted = history.at(max(instant.requested for instant in commits))
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
        raise malformed(path, str(error)) from error


def malformed(path: str, found: str) -> MalformedSchema:
    """The error of a file or text that is no schema history."""
    return MalformedSchema("not a schema history", rule="LF-038", path=path, found=found)


def carried_versions(commits: Commits) -> list[str]:
    """The versions in the metadata of these writes, oldest first."""
    entries = [commit.record.get("extraMetadata") or {} for commit in commits.values()]
    return [text for extra in entries if (text := extra.get(LATEST))]
