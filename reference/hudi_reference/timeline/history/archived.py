"""Completion metadata and plans of archived actions.

The history stores the bytes of the action's files, which are Avro containers. ER-038: the specification has metadata as JSON,
and one release wrote records without a container when it upgraded a table, also plans (ER-083); both can be read.
"""

import io
import json

import fastavro

from hudi_reference.errors import MalformedMetadata
from hudi_reference.requirement import implements
from hudi_reference.schema.avro_codec import DAMAGE
from hudi_reference.timeline.contents.actions import read_action
from hudi_reference.timeline.contents.avro_container import MAGIC, Record, read_record, schema_of
from hudi_reference.timeline.contents.metadata import CommitMetadata, commit_metadata_of
from hudi_reference.timeline.history.history import END_OF_TIME, START_OF_TIME, ArchivedAction, History
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, Content, State
from hudi_reference.timeline.instants.version_6 import read_json_record


@implements("LSM-020")
def archived_commits(history: History, begin: str = START_OF_TIME, end: str = END_OF_TIME) -> dict[Instant, CommitMetadata]:
    """The archived writes requested from `begin` to `end`, both included, whose metadata was kept. Raises MalformedMetadata."""
    found: dict[Instant, CommitMetadata] = {}
    for action in history.actions(begin, end, plan=False):
        path = f"instant {action.instant.requested} in the history"
        if ACTIONS[action.instant.action].writes and (record := metadata_of(action, path)) is not None:
            found[action.instant] = commit_metadata_of(record, path)
    return found


@implements("LSM-020")
def metadata_of(action: ArchivedAction, path: str) -> Record | None:
    """The completion metadata of an archived action, or None. Raises MalformedMetadata with `path`."""
    data = action.metadata
    if data is None:
        return None
    if data.startswith(MAGIC):
        return read_action(data, path, action.instant)
    if data.lstrip()[:1] == b"{":
        return _as_json(ACTIONS[action.instant.action].contents[action.instant.state], data, path)
    return _decode_without_schema(ACTIONS[action.instant.action].contents[action.instant.state].records[0], data, path)


@implements("LSM-021")
def plan_of(action: ArchivedAction, path: str) -> Record | None:
    """The plan of an archived action, or None. Raises MalformedMetadata.

    In the place of a plan a replacecommit has the profile of its inflight file (ER-088), which an upgrade leaves as JSON.
    """
    data = action.plan
    if data is None:
        return None
    if ACTIONS[action.instant.action].writes and data.lstrip()[:1] == b"{":
        return _as_json(ACTIONS[action.instant.action].contents[State.INFLIGHT], data, path)
    kinds = [one for one in ACTIONS.values() if one.planned and one.completes_as == action.instant.action]
    if not data or data.startswith(MAGIC) or not kinds:
        return read_record(data, path)
    return _decode_without_schema(kinds[0].contents[State.REQUESTED].records[0], data, path)


def _as_json(content: Content, data: bytes, path: str) -> Record:
    schema = schema_of(content.records[0])
    fields = read_json_record(data, path, "LSM-020")
    known = {field["name"]: fields.get(field["name"], field.get("default")) for field in schema["fields"]}
    return Record(known, schema)


def _decode_without_schema(name: str, data: bytes, path: str) -> Record:
    """A record of that name without its schema; the deployed schema must decode all bytes."""
    schema = schema_of(name)
    stream = io.BytesIO(data)
    try:
        record = fastavro.schemaless_reader(stream, fastavro.parse_schema(json.loads(json.dumps(schema))), None)
    except (*DAMAGE, RecursionError) as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}") from error
    if stream.tell() != len(data) or not isinstance(record, dict):
        raise _unreadable(path, f"{len(data) - stream.tell()} bytes after the record")
    return Record(record, schema)


def _unreadable(path: str, found: str) -> MalformedMetadata:
    return MalformedMetadata(
        "the history does not contain the metadata of the action", rule="LSM-020", path=path,
        expected="a record under the deployed schema, an Avro container, or a JSON object", found=found,
    )  # fmt: skip
