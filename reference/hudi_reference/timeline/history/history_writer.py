"""Writing the timeline history, spec "LSM Timeline": a log-structured merge tree of Parquet files.

    flush           writes archived actions to a file of level 0
    merge_levels    merges a batch of files of one level into one file of the next level
    retire          deletes manifests that were superseded some time ago, and the files that only they list

Each change writes its files first, then a new manifest, and finally the version file. A crash in between leaves files that no
reader uses. Published files are never changed.
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

#: The number of files of one level that are merged into one file of the next.
BATCH_SIZE = 10
#: The largest total size of the inputs of one merge, in bytes.
MERGED_SIZE = 1 << 30
#: How many manifests are kept for running readers; one more is kept for each level that was just merged.
KEPT_MANIFESTS = 3

_TEXT = ["null", {"type": "string", "avro.java.string": "String"}]
#: ER-087: the record of a level file as deployed. The specification has five fields and no `version`.
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
#: Columns with statistics in the footer; statistics of the others would repeat whole contents.
_SHORT = ["instantTime", "completionTime", "action", "version"]


@implements("LSM-002", "LSM-003", "LSM-017", "LSM-018", "LSM-019", "LSM-020", "LSM-021", "LSM-022")
def rows_of(actions: Iterable[ArchivedAction]) -> pa.Table:
    """The rows of a level file, by requested time.

    `metadata` are the bytes of the completed file and `plan` those of the plan, both unchanged; null if absent.
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
    """The bytes of a level file: one row group, compressed with gzip, with the footer of deployed writers.

    Arrow names the Parquet message `schema`, deployed writers use the name of the record; readers ignore it.
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
    """The bytes of a manifest: every live file with its length, formatted as deployed writers do."""
    entries = [f'{{\n    "fileName" : {json.dumps(file.name)},\n    "fileLen" : {file.length}\n  }}' for file in files]
    return f'{{\n  "files" : [ {", ".join(entries)} ]\n}}'.encode()


@dataclass(frozen=True)
class _Seen:
    """The manifest and the version file at the start of a change; the change is published only if the version file is the
    same.
    """

    manifest: Manifest
    version_file: ObjectInfo | None


def _read_state(storage: Storage, folder: str) -> _Seen:
    info = storage.head(f"{folder}/{VERSION_FILE}")
    return _Seen(load_manifest(storage, folder), info)


@implements("LSM-004", "LSM-007", "LSM-008", "LSM-009", "S3-003")
def _publish(storage: Storage, folder: str, seen: _Seen, files: Sequence[LevelFile]) -> None:
    """Publish these as the live files: create a manifest with a new number, then replace the version file conditionally.

    Raises HistoryChanged, without a change of the history, if another process published meanwhile.
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
            expected=f"manifest_{seen.manifest.number} as the valid one", remedy="archive again; no action was lost",
        ) from error  # fmt: skip


@implements("LSM-013", "LSM-014", "LSM-015")
def _store(storage: Storage, folder: str, rows: pa.Table, level: int) -> LevelFile:
    """Write a file that no manifest lists yet. An existing file of that name is the remainder of a crashed process."""
    minimum, maximum = (str(time) for time in pc.min_max(rows.column("instantTime")).as_py().values())
    data = encode_level_file(rows)
    file = LevelFile(f"{minimum}_{maximum}_{level}.parquet", len(data), minimum, maximum, level)
    storage.put(f"{folder}/{file.name}", data)
    return file


@implements("LSM-001", "LSM-002", "LSM-016", "ARC-002")
def flush(storage: Storage, folder: str, actions: Iterable[ArchivedAction]) -> LevelFile | None:
    """Add completed actions to the history in `folder` as a file of level 0; None if it has all of them already.

    Raises HistoryChanged, MalformedHistory.
    """
    actions = list(actions)
    if not actions:
        return None
    seen = _read_state(storage, folder)
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
    """Merge the oldest files of each level that has a full batch, from level 0 upwards.

    The next level is considered only after a merge. Returns the number of merged levels. Raises HistoryChanged,
    MalformedHistory.
    """
    level = 0
    while _merge_level(storage, folder, level, batch_size, merged_size):
        level += 1
    return level


def _merge_level(storage: Storage, folder: str, level: int, batch_size: int, merged_size: int) -> bool:
    seen = _read_state(storage, folder)
    files = sorted((file for file in seen.manifest.files if file.level == level), key=lambda file: file.name)
    chosen = _batch(files, batch_size, merged_size) if len(files) >= batch_size else []
    if len(chosen) < 2:
        return False
    file = _store(storage, folder, _merge_parts([read_rows(storage, folder, file) for file in chosen]), level + 1)
    _publish(storage, folder, seen, [*(old for old in seen.manifest.files if old not in chosen), file])
    return True


def _batch(files: Iterable[LevelFile], batch_size: int, merged_size: int) -> list[LevelFile]:
    """The oldest files that fit into one merge. A file that alone exceeds the size is not merged."""
    chosen: list[LevelFile] = []
    for file in files:
        if not chosen and file.length > merged_size:
            continue
        if len(chosen) == batch_size or sum(f.length for f in chosen) + file.length > merged_size:
            break
        chosen.append(file)
    return chosen


@implements("LSM-022", "LSM-024")
def _merge_parts(parts: Sequence[pa.Table]) -> pa.Table:
    """The rows of several files by requested time; of an action in several files, the first one, as readers do."""
    rows = pa.concat_tables(parts)
    actions = zip(rows.column("instantTime").to_pylist(), rows.column("action").to_pylist(), strict=True)
    first: dict[tuple[str, str], int] = {}
    for place, action in enumerate(actions):
        first.setdefault(action, place)
    return rows.take(pa.array([first[action] for action in sorted(first)], pa.int64()))


def read_rows(storage: Storage, folder: str, file: LevelFile) -> pa.Table:
    """All columns of a file, in stored order; absent columns are null, an absent version is 1.

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


#: The accepted Arrow types of each column type.
_TYPES = {
    pa.string(): (pa.string(), pa.large_string()),
    pa.binary(): (pa.binary(), pa.large_binary()),
    pa.int32(): (pa.int32(),),
}


@implements("LSM-006")
def retire(storage: Storage, folder: str, merged: int = 0) -> None:
    """Delete superseded manifests except the newest ones, then the files that no remaining manifest lists.

    `merged` is the number of levels that were just merged. A reader of a remaining manifest finds all its files.
    """
    names = storage.names(folder)
    numbers = sorted(number for name in names if (number := manifest_number(name)) is not None)
    current = load_manifest(storage, folder)
    # ER-093: three manifests are kept, and one for each level that was just merged.
    kept = {current.number, *numbers[-(KEPT_MANIFESTS + merged) :]}
    for number in numbers:
        if number not in kept:
            storage.delete(f"{folder}/manifest_{number}")
    live = {file.name for file in current.files}
    for number in kept.intersection(numbers):
        live |= _files_in_manifest(storage, folder, number)
    for name in names:
        if parse_level_file_name(name) is not None and name not in live:
            storage.delete(f"{folder}/{name}")


def _files_in_manifest(storage: Storage, folder: str, number: int) -> set[str]:
    """The files of a manifest that is not the valid one; () if it is malformed after a crash."""
    try:
        return {file.name for file in read_manifest(storage, folder, number).files}
    except MalformedHistory:
        return set()
