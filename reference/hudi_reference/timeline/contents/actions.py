"""The records in the files of actions, spec "Timeline > Actions".

`states.ACTIONS` defines which record belongs in a file. The record is read with the schema in the file, so that fields of other
releases are kept, also when the record is written again.
"""

import json
from collections.abc import Mapping
from typing import Any

from hudi_reference.errors import MalformedMetadata, Misuse
from hudi_reference.layout.properties import TableProperties
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.avro_container import Record, read_record, schema_of, write_record
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, RAW, Content
from hudi_reference.timeline.instants.version_6 import LegacyInstant


@implements("TL-002", "TL-007", "TL-009", "TL-012", "TL-014", "TL-015", "TL-017", "TL-018", "TL-020", "TL-022", "TL-024")
def read_action(data: bytes, path: str, instant: Instant) -> Record | None:
    """The record in the file of an instant; None for an empty file if the file may be empty.

    Raises MalformedMetadata if the file does not contain the record of this action and state.
    """
    content = ACTIONS[instant.action].contents[instant.state]
    if not data and content.may_be_empty:
        return None
    may_be_json = content.json or isinstance(instant, LegacyInstant)
    if content is RAW or (may_be_json and data.lstrip()[:1] == b"{"):
        return _read_json(data, path, content)
    record = read_record(data, path)
    if record.name not in content.records:
        raise _wrong_record(path, instant, content, record.name)
    return record


def load_action(storage: Storage, properties: TableProperties, instant: Instant) -> Record | None:
    """The record in the file of an instant on the active timeline, see `read_action`. Raises FileNotFoundError."""
    path = f"{properties.timeline_folder}/{instant.file_name}"
    return read_action(storage.get(path), path, instant)


@implements("TL-012", "TL-014", "TL-015", "TL-017", "TL-018", "TL-020", "TL-022", "TL-024", "TL-026")
def write_action(instant: Instant, record: Mapping[str, Any] | None, sync_marker: bytes) -> bytes:
    """The bytes of an instant's file: empty for None, else the record with its own schema, or with the deployed one.

    Raises Misuse for None if readers need a record, for the record of another action, and for unknown fields.
    """
    content = ACTIONS[instant.action].contents[instant.state]
    if record is None:
        if content.needed:
            raise Misuse("this file must not be empty", rule="TL-026", path=instant.file_name, expected=str(content.record))
        return b""
    if isinstance(record, Record):
        if record.name not in content.records:
            raise Misuse("the record belongs to another action", path=instant.file_name, expected=" or ".join(content.records),
                         found=record.name)  # fmt: skip
        return write_record(record.schema, record, sync_marker)
    if content is RAW or not content.records:
        raise Misuse("this file does not contain a record", path=instant.file_name, found=", ".join(record))
    schema = schema_of(content.records[0])
    if unknown := record.keys() - {field["name"] for field in schema["fields"]}:
        raise Misuse("unknown fields", path=instant.file_name, expected=str(schema["name"]), found=", ".join(unknown))
    return write_record(schema, record, sync_marker)


def _read_json(data: bytes, path: str, content: Content) -> Record:
    """A record in JSON: absent fields have their default, unknown fields are kept."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _no_object(path, str(error)[:200]) from error
    if not isinstance(fields, dict):
        raise _no_object(path, type(fields).__name__)
    if content is RAW:
        return Record(fields, {"type": "record", "name": "JSON", "fields": []})
    if not content.records:
        raise _no_object(path, "a record in a file of an action that has none")
    schema = schema_of(content.records[0])
    return Record(_fill_defaults(fields, schema), schema)


def _fill_defaults(value: Any, avro: Any) -> Any:
    """A JSON value with the defaults of a schema; unknown fields of records are kept."""
    kind = next((branch for branch in avro if branch != "null"), None) if isinstance(avro, list) else avro
    match kind, value:
        case {"type": "record", "fields": fields}, dict():
            known = {
                field["name"]: _fill_defaults(value.get(field["name"], field.get("default")), field["type"]) for field in fields
            }
            return value | known
        case {"type": "array", "items": items}, list():
            return [_fill_defaults(item, items) for item in value]
        case {"type": "map", "values": values}, dict():
            return {key: _fill_defaults(item, values) for key, item in value.items()}
    return value


def _no_object(path: str, found: str) -> MalformedMetadata:
    return MalformedMetadata(
        "the file does not contain the metadata of an action",
        rule="TL-002",
        path=path,
        expected="a JSON object, as before version 8",
        found=found,
    )


def _wrong_record(path: str, instant: Instant, content: Content, found: str) -> MalformedMetadata:
    return MalformedMetadata(
        "the file contains the record of another action", rule="TL-002", path=path, found=found,
        expected=" or ".join(content.records) or "an empty file",
        remedy=f"the file of {instant.action} in state {instant.state.name} was overwritten; restore it",
    )  # fmt: skip
