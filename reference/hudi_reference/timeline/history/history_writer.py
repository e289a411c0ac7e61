"""Writing the timeline history, spec "LSM Timeline": a log-structured merge tree of Parquet files.

    flush           actions that leave the active timeline -> a file of level 0
    merge_levels    as many files of one level as the batch size says -> one file of the next level
    retire          manifests that were superseded some time ago, and the files that only they list

Each change writes its files first, then a new manifest, then switches the version file to it: a process that dies in between
leaves files that nobody reads. Nothing that was published is ever changed.
"""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hudi_reference.errors import HistoryChanged, MalformedHistory
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectChanged, ObjectExists, ObjectInfo, Storage
from hudi_reference.timeline.history.history import ArchivedAction, History, opened_level_file
from hudi_reference.timeline.history.manifest import (
    VERSION_FILE,
    LevelFile,
    Manifest,
    load_manifest,
    manifest_number,
    parse_level_file_name,
    read_manifest,
)

#: Files of one level that are merged into one of the next.
BATCH_SIZE = 10
#: The inputs of one merge are together not larger than this, in bytes.
MERGED_SIZE = 1 << 30
#: Superseded manifests stay for running readers: this many manifests, and one more for each level that was just merged.
KEPT_MANIFESTS = 3

_TEXT = ["null", {"type": "string", "avro.java.string": "String"}]
#: The record of a history file, as deployed. The text has five fields and no `version` (ER-087).
AVRO_SCHEMA = {
    "type": "record",
    "name": "HoodieLSMTimelineInstant",
    "namespace": "org.apache.hudi.avro.model",
    "fields": [
        *({"name": name, "type": _TEXT, "default": None} for name in ("instantTime", "completionTime", "action")),
        *({"name": name, "type": ["null", "bytes"], "default": None} for name in ("metadata", "plan")),
        {"name": "version", "type": "int", "default": 1},
    ],
}
COLUMNS = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in ("instantTime", "completionTime", "action")),
        *(pa.field(name, pa.binary()) for name in ("metadata", "plan")),
        pa.field("version", pa.int32(), nullable=False),
    ]
)
RECORD_VERSION = 1
#: Columns of which the footer tells the least and the greatest value; it would repeat whole contents of the others.
_SHORT = ["instantTime", "completionTime", "action", "version"]


@implements("LSM-002", "LSM-003", "LSM-017", "LSM-018", "LSM-019", "LSM-020", "LSM-021", "LSM-022")
def rows_of(actions: Iterable[ArchivedAction]) -> pa.Table:
    """The rows of a history file, by requested time.

    `metadata` are the bytes of the completed file and `plan` those of the plan, both unchanged; null where there are none.
    """
    rows = [
        {
            "instantTime": action.instant.requested,
            "completionTime": action.instant.completion,
            "action": action.instant.action,
            "metadata": action.metadata or None,
            "plan": action.plan or None,
            "version": RECORD_VERSION,
        }
        for action in sorted(actions, key=lambda action: action.instant.requested)
    ]
    return pa.Table.from_pylist(rows, schema=COLUMNS)


@implements("LSM-003")
def encode_level_file(rows: pa.Table) -> bytes:
    """The bytes of a history file: one row group, compressed with gzip, with the footer that deployed writers put there.

    Arrow calls the Parquet message `schema`, deployed writers by the record's name; no reader looks at it.
    """
    out = io.BytesIO()
    footer = {"parquet.avro.schema": json.dumps(AVRO_SCHEMA, separators=(",", ":")), "writer.model.name": "avro"}
    options: dict[str, Any] = {"write_statistics": _SHORT, "use_dictionary": ["action", "version"]}
    with pq.ParquetWriter(out, COLUMNS, compression="gzip", store_schema=False, version="1.0", **options) as writer:
        writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        writer.add_key_value_metadata(footer)
    return out.getvalue()


@implements("LSM-010", "LSM-011")
def encode_manifest(files: Iterable[LevelFile]) -> bytes:
    """The bytes of a manifest: every live file with its length, laid out as deployed writers do it."""
    entries = [f'{{\n    "fileName" : {json.dumps(file.name)},\n    "fileLen" : {file.length}\n  }}' for file in files]
    return f'{{\n  "files" : [ {", ".join(entries)} ]\n}}'.encode()


@dataclass(frozen=True)
class _Seen:
    """The history as it was when a change began: the next version must follow this one."""

    manifest: Manifest
    version_file: ObjectInfo | None


def _look(storage: Storage, folder: str) -> _Seen:
    info = storage.head(f"{folder}/{VERSION_FILE}")
    return _Seen(load_manifest(storage, folder), info)


@implements("LSM-004", "LSM-007", "LSM-008", "LSM-009", "S3-003")
def _publish(storage: Storage, folder: str, seen: _Seen, files: Sequence[LevelFile]) -> None:
    """Make these the live files: a manifest with a new number, then the version file, replaced in one step.

    Raises HistoryChanged if another process published meanwhile; the history is then as that one left it.
    """
    taken = [number for name in storage.names(folder) if (number := manifest_number(name)) is not None]
    number = max([seen.manifest.number, *taken]) + 1
    path, version = f"{folder}/manifest_{number}", f"{folder}/{VERSION_FILE}"
    try:
        storage.create(path, encode_manifest(files))
        if seen.version_file is None:
            storage.create(version, str(number).encode())
        else:
            storage.replace(version, str(number).encode(), seen.version_file.version)
    except (ObjectExists, ObjectChanged) as error:
        if error.args != (path,):
            storage.delete(path)
        raise HistoryChanged(
            "another process changed the history meanwhile", rule="LSM-008", path=str(error),
            expected=f"manifest_{seen.manifest.number} to be valid still", remedy="archive again: nothing was lost",
        ) from error  # fmt: skip


@implements("LSM-013", "LSM-014", "LSM-015")
def _store(storage: Storage, folder: str, rows: pa.Table, level: int) -> LevelFile:
    """Write a file that no manifest lists yet; one of that name which is there was left by a process that died."""
    minimum, maximum = (str(time) for time in pc.min_max(rows.column("instantTime")).as_py().values())
    data = encode_level_file(rows)
    file = LevelFile(f"{minimum}_{maximum}_{level}.parquet", len(data), minimum, maximum, level)
    storage.put(f"{folder}/{file.name}", data)
    return file


@implements("LSM-001", "LSM-002", "LSM-016", "ARC-002")
def flush(storage: Storage, folder: str, actions: Iterable[ArchivedAction]) -> LevelFile | None:
    """Add completed actions to the history in `folder` as a file of level 0; None if all of them are there already.

    Raises HistoryChanged, MalformedHistory.
    """
    actions = list(actions)
    if not actions:
        return None
    seen = _look(storage, folder)
    times = [action.instant.requested for action in actions]
    there = {instant.identity for instant in History(storage, folder).instants(min(times), max(times))}
    new = [action for action in actions if action.instant.identity not in there]
    if not new:
        return None
    file = _store(storage, folder, rows_of(new), level=0)
    _publish(storage, folder, seen, [*seen.manifest.files, file])
    return file


@implements("LSM-023", "LSM-024", "ARC-010")
def merge_levels(storage: Storage, folder: str, batch_size: int = BATCH_SIZE, merged_size: int = MERGED_SIZE) -> int:
    """Merge the oldest files of each level that has collected a batch, from level 0 upwards; how many levels were merged.

    One file is made of one level, and the next level is looked at only then. Raises HistoryChanged, MalformedHistory.
    """
    level = 0
    while _merge_level(storage, folder, level, batch_size, merged_size):
        level += 1
    return level


def _merge_level(storage: Storage, folder: str, level: int, batch_size: int, merged_size: int) -> bool:
    seen = _look(storage, folder)
    files = sorted((file for file in seen.manifest.files if file.level == level), key=lambda file: file.name)
    chosen = _batch(files, batch_size, merged_size) if len(files) >= batch_size else []
    if len(chosen) < 2:
        return False
    file = _store(storage, folder, _merged([read_rows(storage, folder, file) for file in chosen]), level + 1)
    _publish(storage, folder, seen, [*(old for old in seen.manifest.files if old not in chosen), file])
    return True


def _batch(files: Iterable[LevelFile], batch_size: int, merged_size: int) -> list[LevelFile]:
    """The oldest files, as many as one merge takes; a file that is too large by itself stays what it is."""
    chosen: list[LevelFile] = []
    for file in files:
        if not chosen and file.length > merged_size:
            continue
        if len(chosen) == batch_size or sum(f.length for f in chosen) + file.length > merged_size:
            break
        chosen.append(file)
    return chosen


@implements("LSM-022", "LSM-024")
def _merged(parts: Sequence[pa.Table]) -> pa.Table:
    """The rows of several files by requested time; of an action that is in two of them, the one that readers meet first."""
    rows = pa.concat_tables(parts)
    actions = zip(rows.column("instantTime").to_pylist(), rows.column("action").to_pylist(), strict=True)
    first: dict[tuple[str, str], int] = {}
    for place, action in enumerate(actions):
        first.setdefault(action, place)
    return rows.take(pa.array([first[action] for action in sorted(first)], pa.int64()))


def read_rows(storage: Storage, folder: str, file: LevelFile) -> pa.Table:
    """All columns of a file, in stored order; those that another writer left out are null, the version is 1.

    Raises MalformedHistory, and FileNotFoundError with the file's name.
    """
    with opened_level_file(storage, folder, file) as parquet:
        found = parquet.read(use_threads=False)
    columns = [_column(found, field, f"{folder}/{file.name}") for field in COLUMNS]
    return pa.Table.from_arrays(columns, schema=COLUMNS)


@implements("LSM-017", "LSM-018", "LSM-019", "LSM-020", "LSM-021")
def _column(found: pa.Table, field: pa.Field, path: str) -> pa.Array | pa.ChunkedArray:
    if field.name not in found.column_names:
        return pa.array([RECORD_VERSION if field.name == "version" else None] * found.num_rows, field.type)
    column = found.column(field.name)
    if column.type not in _TYPES[field.type]:
        raise MalformedHistory(
            f"the column {field.name} has another type", rule="LSM-017", path=path, expected=str(field.type),
            found=str(column.type),
        )  # fmt: skip
    return column.cast(field.type)


#: What Arrow calls the types of the columns, by the one used here.
_TYPES = {
    pa.string(): (pa.string(), pa.large_string()),
    pa.binary(): (pa.binary(), pa.large_binary()),
    pa.int32(): (pa.int32(),),
}


@implements("LSM-006")
def retire(storage: Storage, folder: str, merged: int = 0) -> None:
    """Delete manifests that were superseded long enough ago, then the files that no manifest lists any more.

    `merged` levels were just merged. A reader that began with a manifest which is kept finds all its files.
    """
    names = storage.names(folder)
    numbers = sorted(number for name in names if (number := manifest_number(name)) is not None)
    current = load_manifest(storage, folder)
    kept = {current.number, *numbers[-(KEPT_MANIFESTS + merged) :]}
    for number in numbers:
        if number not in kept:
            storage.delete(f"{folder}/manifest_{number}")
    live = {file.name for file in current.files}
    for number in kept.intersection(numbers):
        live |= _listed(storage, folder, number)
    for name in names:
        if parse_level_file_name(name) is not None and name not in live:
            storage.delete(f"{folder}/{name}")


def _listed(storage: Storage, folder: str, number: int) -> set[str]:
    """The files of a manifest that is not the valid one, and may be what another process left half written."""
    try:
        return {file.name for file in read_manifest(storage, folder, number).files}
    except MalformedHistory:
        return set()
