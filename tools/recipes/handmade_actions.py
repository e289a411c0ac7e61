"""Actions that are built by hand on a table of one file group, with the times, files and blocks that a case needs.

Steps of a recipe complete in the first seconds of a minute. Actions by hand are identified by the seconds at which they were
requested and completed, from 10 on. Rows have the columns `COLUMNS`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tools.recipes.column_types import avro_record
from tools.recipes.recipe import Row, TableEdit
from tools.recipes.table_edits import TIMELINE

from hudi_reference.files.base_file import encode_base_file
from hudi_reference.files.log.block import BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import Delete, encode_deletes, encode_rows
from hudi_reference.schema.avro import AvroSchema, arrow_schema, with_meta_columns
from hudi_reference.timeline.contents.avro_container import write_record
from hudi_reference.timeline.contents.metadata import COMMIT_METADATA_SCHEMA, WriteStat, write_commit_metadata

Columns = tuple[tuple[str, Any], ...]

COLUMNS: Columns = (("id", "string"), ("ts", "long"), ("name", "string"))
SCHEMA = avro_record("handmade", COLUMNS)
STORED = with_meta_columns(SCHEMA)
SYNC_MARKER = b"made by hand ...."[:16]
HISTORY = TIMELINE / "history"


def at(second: int) -> str:
    """The instant at a second of the minute in which the tables of the reference are written."""
    return f"202601010000{second:02}000"


def stored(instant: str, rows: Sequence[Row], schema: AvroSchema = STORED) -> pa.Table:
    """Rows with filled meta columns and the columns of `schema`."""
    filled = [
        {
            "_hoodie_commit_time": instant,
            "_hoodie_commit_seqno": f"{instant}_0_{number}",
            "_hoodie_record_key": row["id"],
            "_hoodie_partition_path": "",
            "_hoodie_file_name": "",
            **row,
        }
        for number, row in enumerate(rows)
    ]
    return pa.Table.from_pylist(filled, schema=arrow_schema(schema))


def data_block(second: int, *rows: Row, header: Mapping[int, str] | None = None) -> bytes:
    """A data block of the action requested at that second; `header` has further entries besides instant and schema."""
    entries = {HeaderKey.INSTANT_TIME: at(second), HeaderKey.SCHEMA: json.dumps(STORED), **(header or {})}
    return encode_block(BlockType.AVRO_DATA, entries, encode_rows(stored(at(second), rows), STORED))  # type: ignore[arg-type]


def data_block_of(columns: Columns, second: int, *rows: Row, header: Mapping[int, str] | None = None) -> bytes:
    """A data block with a schema of these data columns."""
    schema = with_meta_columns(avro_record("handmade", columns))
    entries = {HeaderKey.INSTANT_TIME: at(second), HeaderKey.SCHEMA: json.dumps(schema), **(header or {})}
    content = encode_rows(stored(at(second), rows, schema), schema)
    return encode_block(BlockType.AVRO_DATA, entries, content)  # type: ignore[arg-type]


def partial_block(
    columns: Columns,
    second: int,
    *rows: Row,
    kind: BlockType = BlockType.AVRO_DATA,
    header: Mapping[int, str] | None = None,
) -> bytes:
    """A block of partial updates with these data columns; the rows also have the key, `id`."""
    schema = with_meta_columns(avro_record("handmade", columns))
    table = stored(at(second), rows, schema)
    flag = {HeaderKey.IS_PARTIAL: "true"}
    entries: dict[Any, str] = {HeaderKey.INSTANT_TIME: at(second), HeaderKey.SCHEMA: json.dumps(schema)}
    content = encode_rows(table, schema) if kind is BlockType.AVRO_DATA else _parquet(table)
    return encode_block(kind, {**entries, **flag, **(header or {})}, content)


def _parquet(table: pa.Table) -> bytes:
    out = BytesIO()
    pq.write_table(table, out, store_schema=False)
    return out.getvalue()


def joined_block(second: int, *rows: Row, of: Sequence[int]) -> bytes:
    """The data block of a log compaction of the blocks of the actions `of`."""
    return data_block(second, *rows, header=made_of(*of))


def delete_block(second: int, *keys: str, ordering: int | None = None, header: Mapping[int, str] | None = None) -> bytes:
    """A delete block of keys, all with the same ordering value or all without."""
    entries = {HeaderKey.INSTANT_TIME: at(second), HeaderKey.SCHEMA: json.dumps(STORED), **(header or {})}
    content = encode_deletes([Delete(key, "", ordering) for key in keys], [pa.int64()])
    return encode_block(BlockType.DELETE, entries, content)  # type: ignore[arg-type]


#: The operation in the metadata of services.
_OPERATIONS = {"compaction": "COMPACT", "logcompaction": "LOG_COMPACT"}


@dataclass(frozen=True)
class Group:
    """The one file group of a table."""

    folder: Path
    file_id: str

    @classmethod
    def of(cls, folder: Path) -> "Group":
        """The group of the oldest base file at the base path."""
        return cls(folder, min(folder.glob("*.parquet"), key=lambda file: file.stem.split("_")[2]).name.partition("_")[0])

    def log_name(self, second: int, version: int = 1) -> str:
        """The name of a log file that the action of that second wrote."""
        return f".{self.file_id}_{at(second)}.log.{version}_0-0-0"

    def base_name(self, second: int, extension: str = "parquet") -> str:
        """The name of a base file that the action of that second wrote."""
        return f"{self.file_id}_0-0-0_{at(second)}.{extension}"

    def stat(self, name: str, *, offset: int = 0, size: int | None = None) -> WriteStat:
        """The write stat of a file that an action wrote or appended to; `size` is that of the whole file."""
        length = (self.folder / name).stat().st_size if size is None else size
        return WriteStat(self.file_id, "", name, writes=1, updates=1, size=length, is_log=".log." in name, log_offset=offset)

    def act(
        self,
        action: str,
        requested: int,
        completed: int | None,
        stats: Sequence[WriteStat],
        *,
        completes_as: str = "",
        plan: bytes = b"",
        columns: Columns = COLUMNS,
    ) -> None:
        """The state files of an action; it is inflight if `completed` is None."""
        states = {f"{at(requested)}.{action}.requested": plan, f"{at(requested)}.{action}.inflight": b""}
        if completed is not None:
            metadata = write_commit_metadata(
                _OPERATIONS.get(action, "UPSERT"), stats, avro_record("handmade", columns), SYNC_MARKER
            )
            states[f"{at(requested)}_{at(completed)}.{completes_as or action}"] = metadata
        for name, content in states.items():
            (self.folder / TIMELINE / name).write_bytes(content)


def deltacommit(
    requested: int, completed: int | None, *blocks: bytes, versions: Sequence[int] = (), columns: Columns = COLUMNS
) -> TableEdit:
    """A delta commit with one log file of all `blocks`, or with one log file for each block if `versions` are given.

    `columns` are the data columns of the table.
    """
    return _logging("deltacommit", requested, completed, blocks, versions, columns)


def log_compaction(requested: int, completed: int | None, block: bytes, *, columns: Columns = COLUMNS) -> TableEdit:
    """A log compaction, which is a deltacommit when it has completed."""
    return _logging("logcompaction", requested, completed, (block,), (), columns)


def made_of(*seconds: int) -> dict[int, str]:
    """The header of a compacted block, of the blocks of the actions of these seconds."""
    return {HeaderKey.COMPACTED_BLOCK_TIMES: ",".join(map(at, seconds))}


def _logging(
    action: str,
    requested: int,
    completed: int | None,
    blocks: Sequence[bytes],
    versions: Sequence[int],
    columns: Columns = COLUMNS,
) -> TableEdit:
    def act(folder: Path, _: Sequence[str]) -> None:
        group = Group.of(folder)
        contents = dict(zip(versions, blocks, strict=True)) if versions else {1: b"".join(blocks)}
        names = [group.log_name(requested, version) for version in contents]
        for name, content in zip(names, contents.values(), strict=True):
            (folder / name).write_bytes(content)
        plan = _plan(group, requested) if action == "logcompaction" else b""
        stats = [group.stat(name) for name in names]
        group.act(action, requested, completed, stats, completes_as="deltacommit", plan=plan, columns=columns)

    return act


def compaction(requested: int, completed: int | None, *rows: Row, extension: str = "parquet") -> TableEdit:
    """A compaction whose base file holds `rows`, in the format of `extension`."""

    def act(folder: Path, _: Sequence[str]) -> None:
        group = Group.of(folder)
        name = group.base_name(requested, extension)
        (folder / name).write_bytes(encode_base_file(stored(at(requested), rows), STORED, extension))
        group.act("compaction", requested, completed, [group.stat(name)], completes_as="commit", plan=_plan(group, requested))

    return act


def replacement(requested: int, completed: int, *rows: Row) -> TableEdit:
    """A replacecommit of every file group at the base path by one new group with `rows`."""

    def act(folder: Path, _: Sequence[str]) -> None:
        replaced = sorted({file.name.partition("_")[0] for file in folder.glob("*.parquet")})
        new = Group(folder, "0a1b2c3d-0000-4000-8000-000000000000-0")
        name = new.base_name(requested)
        (folder / name).write_bytes(encode_base_file(stored(at(requested), rows), STORED))
        new.act("replacecommit", requested, completed, [])
        record = {
            "partitionToWriteStats": {"": [new.stat(name).to_record()]},
            "compacted": False,
            "extraMetadata": {"schema": json.dumps(SCHEMA)},
            "version": 1,
            "operationType": "INSERT_OVERWRITE",
            "partitionToReplaceFileIds": {"": replaced},
        }
        content = write_record(_REPLACE_SCHEMA, record, SYNC_MARKER)
        (folder / TIMELINE / f"{at(requested)}_{at(completed)}.replacecommit").write_bytes(content)

    return act


_FILE_IDS = {"type": "map", "values": {"type": "array", "items": "string"}}
_REPLACE_SCHEMA = {
    **COMMIT_METADATA_SCHEMA,
    "name": "HoodieReplaceCommitMetadata",
    "fields": [*COMMIT_METADATA_SCHEMA["fields"], {"name": "partitionToReplaceFileIds", "type": ["null", _FILE_IDS]}],
}
_PLAN_SCHEMA = {
    "type": "record",
    "name": "HoodieCompactionPlan",
    "namespace": "org.apache.hudi.avro.model",
    "fields": [
        {
            "name": "operations",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "HoodieCompactionOperation",
                    "fields": [
                        {"name": "baseInstantTime", "type": ["null", "string"]},
                        {"name": "deltaFilePaths", "type": ["null", {"type": "array", "items": "string"}], "default": None},
                        *({"name": n, "type": ["null", "string"]} for n in ("dataFilePath", "fileId", "partitionPath")),
                    ],
                },
            },
        },
        {"name": "version", "type": "int"},
    ],
}


def _plan(group: Group, requested: int) -> bytes:
    """A plan to compact the files whose writes had completed when the action was requested."""
    base = min(group.folder.glob("*.parquet"), key=lambda file: file.stem.split("_")[2]).name
    names = (file.name.partition(".")[0] for file in (group.folder / TIMELINE).glob("*_*.*commit"))
    times = (name.split("_") for name in names)
    completed = {write for write, completion in times if completion < at(requested)}
    logs = (file.name for file in group.folder.glob(".*.log.*") if file.name.split("_")[1].split(".")[0] in completed)
    operation = {
        "baseInstantTime": base.removesuffix(".parquet").split("_")[2],
        "deltaFilePaths": sorted(logs),
        "dataFilePath": base,
        "fileId": group.file_id,
        "partitionPath": "",
    }
    return write_record(_PLAN_SCHEMA, {"operations": [operation], "version": 2}, SYNC_MARKER)


#: Requested and completion second of an action, and the name of the completed action.
Archived = tuple[int, int, str]


def level_file(*actions: Archived) -> bytes:
    """A file of the history with these actions."""
    rows = [
        {
            "instantTime": at(requested),
            "completionTime": at(completed),
            "action": action,
            "metadata": None,
            "plan": None,
            "version": 1,
        }
        for requested, completed, action in actions
    ]
    kinds: dict[str, Any] = {"instantTime": pa.string(), "completionTime": pa.string(), "action": pa.string()}
    fields = [pa.field(n, k) for n, k in (kinds | {"metadata": pa.binary(), "plan": pa.binary()}).items()]
    out = BytesIO()
    schema = pa.schema([*fields, pa.field("version", pa.int32(), nullable=False)])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), out, store_schema=False)
    return out.getvalue()


def history(
    manifests: Mapping[int, Sequence[str]],
    files: Mapping[str, Sequence[Archived]],
    version: int | None,
    *,
    archived: Sequence[int],
) -> TableEdit:
    """A history of level files and manifests by number; the actions at `archived` are removed from the active timeline."""

    def act(folder: Path, _: Sequence[str]) -> None:
        home = folder / HISTORY
        home.mkdir()
        for name, actions in files.items():
            (home / name).write_bytes(level_file(*actions))
        for number, names in manifests.items():
            entries = [{"fileName": name, "fileLen": (home / name).stat().st_size} for name in names]
            (home / f"manifest_{number}").write_text(json.dumps({"files": entries}, indent=1))
        if version is not None:
            (home / "_version_").write_text(str(version))
        for second in archived:
            for file in (folder / TIMELINE).glob(f"{at(second)}*"):
                file.unlink()

    return act
