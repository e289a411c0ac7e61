"""Field ids of columns in writes and services, for tables whose schema a statement has changed (`schema history`).

The next statement that changes the schema takes the ids from the last write. Without them it would number all fields again, so
that fields of older files get the ids of others.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.plan import schema_of
from hudi_reference.query.table import Table, View
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.id_versions import next_version
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.schema_history import (
    FOLDER,
    LATEST,
    Commits,
    carried_versions,
    field_id_mapping,
    malformed,
    read_schema_versions,
)


@implements("LF-038")
def view_for_write(table: Table, requested: str | None = None) -> View:
    """The table as a write sees it: columns have the ids of the schema history, if a write on the active timeline has them.

    `requested` is the time of a planned action: files of that time must have the names that columns had then.
    """
    view = table.view()
    if not carried_versions(view.groups.commits):
        return view
    known = _commits_before(view, requested)
    by_id = field_id_mapping(read_schema_versions(table.storage, view.timeline), known)
    return replace(view, schema=schema_of(known, table.properties) or view.schema, by_id=by_id)


@implements("LF-038")
def version_entry(view: View, properties: TableProperties, requested: str) -> dict[str, str]:
    """What a write of that requested time, or the execution of a plan, adds to its metadata: the version of the schema.

    Args:
        view: the table as the write sees it.
        properties: the properties of the table.
        requested: the requested time of the write.

    Returns:
        Nothing if no earlier write on the active timeline has a version.

    Raises:
        MalformedSchema: the last version lacks what the next one needs.
    """
    commits = _commits_before(view, requested)
    versions = carried_versions(commits)
    if not versions:
        return {}
    return entry_after(versions[-1], schema_of(commits, properties) or view.schema, view.schema, requested)


def _commits_before(view: View, requested: str | None) -> Commits:
    """The completed writes that were requested earlier; all for None."""
    return {one: commit for one, commit in view.groups.commits.items() if requested is None or one.requested < requested}


def entry_after(last: str, before: AvroSchema, after: AvroSchema, requested: str) -> dict[str, str]:
    """The entry of a write in which the schema became `after`. `last` is the version of the last write that has one.

    Raises:
        MalformedSchema: the last version lacks what the next one needs.
    """
    try:
        version = next_version(json.loads(last), before, after, requested)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise malformed(LATEST, f"{type(error).__name__}: {error}") from error
    return {LATEST: json.dumps(version, separators=(",", ":"), ensure_ascii=False)}


def store_version(storage: Storage, timeline: Timeline, entry: Mapping[str, str], requested: str) -> None:
    """Store the history with the version of a write, if the write made it, before the write completes."""
    made = json.loads(entry[LATEST]) if entry else {}
    if made.get("version_id") != int(requested):
        return
    older = [version for text in read_schema_versions(storage, timeline) for version in json.loads(text)["schemas"]]
    content = json.dumps({"schemas": [made, *older]}, separators=(",", ":"), ensure_ascii=False)
    storage.create(f"{FOLDER}/{requested}_{requested}.schemacommit", content.encode())
