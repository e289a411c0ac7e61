"""The schema history of a table: the files in `.hoodie/.schema/`, and the versions in commit metadata."""

import json
import re
from collections.abc import Iterable, Mapping

from hudi_reference.errors import MalformedSchema
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.field_ids import FieldIdMapping, SchemaHistory
from hudi_reference.schema.id_versions import next_version
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
        raise _malformed(path, str(error)) from error


def _malformed(path: str, found: str) -> MalformedSchema:
    return MalformedSchema("not a schema history", rule="LF-038", path=path, found=found)


def carried_versions(commits: Commits) -> list[str]:
    """The versions in the metadata of these writes, oldest first."""
    entries = [commit.record.get("extraMetadata") or {} for commit in commits.values()]
    return [text for extra in entries if (text := extra.get(LATEST))]


@implements("LF-038")
def version_entry(last: str, before: AvroSchema, after: AvroSchema, requested: str) -> dict[str, str]:
    """The version that a write adds to its metadata, after the last one that another write has.

    The next statement that changes the schema takes the ids from the last write. Without them it would number all fields again,
    so that fields of older files get the ids of others.

    Args:
        last: the version of the last write on the active timeline that has one.
        before, after: the schema of the table before and after this write.
        requested: the requested time of this write.

    Raises:
        MalformedSchema: the last version lacks what the next one needs.
    """
    try:
        version = next_version(json.loads(last), before, after, requested)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _malformed(LATEST, f"{type(error).__name__}: {error}") from error
    return {LATEST: json.dumps(version, separators=(",", ":"), ensure_ascii=False)}


def store_version(storage: Storage, timeline: Timeline, entry: Mapping[str, str], requested: str) -> None:
    """Store the history with the version of a write, if the write made it, before the write completes."""
    made = json.loads(entry[LATEST]) if entry else {}
    if made.get("version_id") != int(requested):
        return
    older = [version for text in read_schema_versions(storage, timeline) for version in json.loads(text)["schemas"]]
    content = json.dumps({"schemas": [made, *older]}, separators=(",", ":"), ensure_ascii=False)
    storage.create(f"{FOLDER}/{requested}_{requested}.schemacommit", content.encode())
