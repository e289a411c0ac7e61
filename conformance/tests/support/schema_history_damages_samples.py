"""Damages of the schema history of a table whose column `fare` a statement renamed to `price`."""

import json
from collections.abc import Callable
from typing import Any

import validated_tables_samples as t
from damages_samples import Damage

from hudi_reference.layout.names import split_path
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.storage import Storage

FOLDER = ".hoodie/.schema"
_BEFORE, _AFTER = {"id": 5, "city": 6, "fare": 7}, {"id": 5, "city": 6, "price": 7}


def renamed() -> Storage:
    """Two writes, and a third one after a statement that renamed a column; only the metadata and the history say so."""
    storage = t.copy_on_write()
    first, last = (t.completed(storage, "commit", number) for number in (0, -1))
    versions = [_version(first, _BEFORE), _version(last, _AFTER)]

    def change(record: Any) -> None:
        extra = record["extraMetadata"]
        extra |= {"schema": extra["schema"].replace('"fare"', '"price"'), "latest_schema": json.dumps(versions[1])}

    t.change_record(storage, last, change)
    storage.put(
        f"{FOLDER}/{split_path(last)[1].replace('.commit', '.schemacommit')}", json.dumps({"schemas": versions}).encode()
    )
    return storage


def _version(commit: str, ids: dict[str, int]) -> dict[str, Any]:
    known = {**{name: number for number, name in enumerate(META_COLUMNS)}, **ids}
    fields = [{"id": number, "name": name, "optional": True, "type": "string"} for name, number in known.items()]
    instant = int(split_path(commit)[1].partition("_")[0])
    return {"max_column_id": 7, "version_id": instant, "type": "record", "fields": fields}


def _carried(change: Callable[[Any], object]) -> Callable[[Storage], None]:
    """Change the version in the metadata of the last write."""

    def edit(storage: Storage) -> None:
        def of_record(record: Any) -> None:
            version = json.loads(record["extraMetadata"]["latest_schema"])
            change(version)
            record["extraMetadata"]["latest_schema"] = json.dumps(version)

        t.change_record(storage, t.completed(storage, "commit"), of_record)

    return edit


def _saved(text: str) -> Callable[[Storage], None]:
    return lambda storage: storage.put(t.paths(storage, FOLDER)[0], text.encode())


def _lose_the_last_version(storage: Storage) -> None:
    path = t.paths(storage, FOLDER)[0]
    saved = json.loads(storage.get(path))
    storage.put(path, json.dumps({"schemas": saved["schemas"][:1]}).encode())


def _cut_version(storage: Storage) -> None:
    t.change_record(storage, t.completed(storage, "commit"),
                    lambda record: record["extraMetadata"].update(latest_schema='{"fields": ['))  # fmt: skip


def _repeat_an_id(storage: Storage) -> None:
    """Two fields of the first version have one id."""
    path = t.paths(storage, FOLDER)[0]
    saved = json.loads(storage.get(path))
    saved["schemas"][0]["fields"][-1]["id"] = 6
    storage.put(path, json.dumps(saved).encode())


def _in_last_saved(change: Callable[[Any], object]) -> Callable[[Storage], None]:
    """Change the last version in the folder, as the metadata of the last write does not have it."""

    def edit(storage: Storage) -> None:
        path = t.paths(storage, FOLDER)[0]
        saved = json.loads(storage.get(path))
        change(saved["schemas"][-1])
        storage.put(path, json.dumps(saved).encode())

    return edit


SCHEMA_HISTORY_DAMAGES = (
    Damage("another type than in the metadata of the write", "schema-history.saved", "LF-038", renamed,
           _in_last_saved(lambda version: version["fields"][-1].update(type="long")), says="'type': 'long'"),
    Damage("a smaller greatest id than in the metadata of the write", "schema-history.saved", "LF-038", renamed,
           _in_last_saved(lambda version: version.update(max_column_id=2)), says="7 in version"),
    Damage("a field less than in the metadata of the write", "schema-history.saved", "LF-038", renamed,
           _in_last_saved(lambda version: version["fields"].pop()), says="None"),
    Damage("two columns of an earlier version with one id", "schema-history.saved", "LF-038", renamed, _repeat_an_id,
           says="several fields with the id 6 in version"),
    Damage("a file that is cut", "schema-history.saved", "LF-038", renamed, _saved('{"schemas": ['),
           says="all versions of the schema, as JSON"),
    Damage("the file is lost", "schema-history.saved", "LF-038", renamed,
           lambda storage: storage.delete(t.paths(storage, FOLDER)[0]), says="versions none"),
    Damage("the last version is lost", "schema-history.saved", "LF-038", renamed, _lose_the_last_version,
           says="that of the last write"),
    Damage("another name", "schema-history.carried", "LF-038", renamed,
           _carried(lambda version: version["fields"][-1].update(name="cost")), says="the columns of the schema beside it, with price"),
    Damage("a column is missing", "schema-history.carried", "LF-038", renamed,
           _carried(lambda version: version["fields"].pop()), says="the columns of the schema beside it, with price"),
    Damage("two columns with one id", "schema-history.carried", "LF-038", renamed,
           _carried(lambda version: version["fields"][-1].update(id=6)), says="several fields with the id 6"),
    Damage("ids beyond the last one", "schema-history.carried", "LF-038", renamed,
           _carried(lambda version: version.update(max_column_id=6)), says="ids up to max_column_id=7"),
    Damage("a version that is cut", "schema-history.carried", "LF-038", renamed, _cut_version, says="JSONDecodeError"),
)  # fmt: skip
