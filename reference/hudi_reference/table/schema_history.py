"""The schema history of a table, as its storage has it: files of `.hoodie/.schema/`, and what commits carry."""

import re

from hudi_reference.errors import MalformedSchema
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.requirement import implements
from hudi_reference.schema.by_id import ById, SchemaHistory
from hudi_reference.storage import Storage
from hudi_reference.table.file_groups import FileGroups
from hudi_reference.timeline.active import Timeline

FOLDER = f"{META_FOLDER}/.schema"
_SAVED = re.compile(r"(\d+)(?:_\d+)?\.schemacommit")


@implements("LF-038")
def by_id(storage: Storage, timeline: Timeline, groups: FileGroups) -> ById | None:
    """How a query of this view matches columns by id; None for a table whose schema was never changed by a statement.

    Versions of actions that did not complete do not count. Raises MalformedSchema.
    """
    texts = [_text(storage, path) for path in _saved(storage, timeline)]
    texts += [text for commit in groups.commits.values() if (text := _carried(commit.record)) is not None]
    history = SchemaHistory.parse(texts, FOLDER)
    if not history.versions or not groups.commits:
        return None
    wanted = history.at(max(instant.requested for instant in groups.commits))
    return None if wanted is None else ById(history, wanted)


def _saved(storage: Storage, timeline: Timeline) -> list[str]:
    """The newest file whose action completed: it holds all versions up to its own."""
    found = {}
    for info in storage.list(FOLDER):
        match = _SAVED.fullmatch(info.path.rpartition("/")[2])
        if match is not None and timeline.completion_of(match[1]) is not None and match[1] <= timeline.read_time:
            found[match[1]] = info.path
    return [found[max(found)]] if found else []


def _text(storage: Storage, path: str) -> str:
    try:
        return storage.get(path).decode()
    except UnicodeDecodeError as error:
        raise MalformedSchema("not a schema history", rule="LF-038", path=path, found=str(error)) from error


def _carried(record: object) -> str | None:
    """The version that a commit's metadata holds."""
    extra = record.get("extraMetadata") if isinstance(record, dict) else None
    return (extra or {}).get("latest_schema") or None
