"""Damages of the headers of log blocks, of command blocks, and of the columns of files; and the sound tables beside them."""

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t
from consistent_hashing_samples import named_by_slice, written
from damages_samples import Damage

from hudi_reference.files.log.block import Block, BlockType, HeaderKey, encode_block
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage

_BLOCKS = "log-files.blocks"
_FAILED = "20260921141328000"


def _resize(storage: Storage, action: str, path: str) -> None:
    """The last write has the size of a file."""

    def change(record: Any) -> None:
        for stat in t.stats_of(record):
            if stat["path"] == path:
                stat["fileSizeInBytes"] = stat["totalWriteBytes"] = len(storage.get(path))

    t.change_record(storage, t.completed(storage, action), change)


def _encoded(block: Block) -> bytes:
    return encode_block(block.kind, block.header, bytes(block.content))


def _in_block(change: Callable[[Block], bytes]) -> Callable[[Storage], None]:
    """Change the block of the last log file, which has its size in the metadata."""

    def edit(storage: Storage) -> None:
        path = t.log_files(storage)[-1]
        (block,) = read_log_file(storage, path)
        storage.put(path, change(block))
        _resize(storage, "deltacommit", path)

    return edit


def _without(key: HeaderKey) -> Callable[[Storage], None]:
    def change(block: Block) -> bytes:
        header = {one: text for one, text in block.header.items() if one != key}
        return encode_block(block.kind, header, bytes(block.content))

    return _in_block(change)


def _with(key: HeaderKey, text: str) -> Callable[[Storage], None]:
    return _in_block(lambda block: encode_block(block.kind, {**block.header, key: text}, bytes(block.content)))


def _command(kind: str, target: str | None = _FAILED) -> Callable[[Storage], None]:
    """A command that rolls a failed write back comes before the block of the write."""

    def change(block: Block) -> bytes:
        header = {HeaderKey.INSTANT_TIME: block.instant, HeaderKey.COMMAND_BLOCK_TYPE: kind}
        if target is not None:
            header[HeaderKey.TARGET_INSTANT_TIME] = target
        return encode_block(BlockType.COMMAND, header, b"") + _encoded(block)

    return _in_block(change)


def rolled_back_in_a_log_file() -> Storage:
    """A log file with a command block, which writers of version 6 stored; the blocks before it are in another file."""
    storage = t.merge_on_read()
    t.change_properties(storage, {"hoodie.table.initial.version": "6"})
    _command("0")(storage)
    return storage


def with_orc_files() -> Storage:
    """Base files in the format ORC."""
    return t.changed("COPY_ON_WRITE", **{"hoodie.table.base.file.format": "ORC"})


def with_partition_metadata_in_orc() -> Storage:
    """A partition metadata file in the format of base files, as hoodie.partition.metafile.use.base.format asks for it."""
    storage = t.copy_on_write()
    t.move(storage, "north/.hoodie_partition_metadata", "north/.hoodie_partition_metadata.orc")
    return storage


def _schema_of(record: Any, kind: str) -> str:
    schema = json.loads(record["extraMetadata"]["schema"])
    next(one for one in schema["fields"] if one["name"] == "fare")["type"] = ["null", kind]
    return json.dumps(schema)


def _written_with_another_type(storage: Storage) -> None:
    """The first write stored bytes in a column of numbers, and says so in its schema."""
    action = t.completed(storage, "commit", 0)
    path = t.base_files(storage)[0]
    rows, out = pq.read_table(io.BytesIO(storage.get(path))), io.BytesIO()
    pq.write_table(rows.set_column(rows.column_names.index("fare"), "fare", pa.array([b"x"] * len(rows))), out)
    storage.put(path, out.getvalue())

    def change(record: Any) -> None:
        record["extraMetadata"]["schema"] = _schema_of(record, "bytes")
        for stat in t.stats_of(record):
            if stat["path"] == path:
                stat["fileSizeInBytes"] = len(out.getvalue())

    t.change_record(storage, action, change)


def _without_any_schema(storage: Storage) -> None:
    """Neither the table nor a write says which columns there are."""
    t.change_properties(storage, {"hoodie.table.create.schema": None})
    for number in range(3):
        t.change_record(storage, t.completed(storage, "commit", number), lambda record: record["extraMetadata"].clear())


def _name_no_data_file(storage: Storage) -> None:
    """The metadata of the last write has a path that is not that of a data file."""

    def change(record: Any) -> None:
        stat = t.stats_of(record)[0]
        stat["path"] = f"{split_path(stat['path'])[0]}/part-1.parquet"

    t.change_record(storage, t.completed(storage, "commit"), change)


BLOCK_DAMAGES = (
    Damage("a block without an instant", _BLOCKS, "LF-035", t.merge_on_read, _without(HeaderKey.INSTANT_TIME)),
    Damage("a block of version 0, which has no header", _BLOCKS, "LF-035", t.merge_on_read,
           _in_block(lambda block: encode_block(block.kind, {}, b"", version=0) + _encoded(block)), ("LF-038",)),
    Damage("a block without a schema", _BLOCKS, "LF-038", t.merge_on_read, _without(HeaderKey.SCHEMA)),
    Damage("a block with half a schema", _BLOCKS, "LF-038", t.merge_on_read, _with(HeaderKey.SCHEMA, "{")),
    Damage("a block with half an identifier", _BLOCKS, "LF-044", t.merge_on_read, _with(HeaderKey.BLOCK_IDENTIFIER, "1")),
    Damage("a command of an unknown kind", _BLOCKS, "LF-039", t.merge_on_read, _command("7")),
    Damage("a command without a target", _BLOCKS, "LF-037", t.merge_on_read, _command("0", None)),
    Damage("log files named by their slice", "log-files.names", "LF-004", lambda: written(()),
           lambda s: named_by_slice(s, "9-2-3"), severity="cosmetic"),
    Damage("another type with the schema of its write", "base-files.footers", "LF-038", t.copy_on_write,
           _written_with_another_type, says="of a type that can become int64"),
    Damage("no schema anywhere", "actions.schemas", "LF-038", t.copy_on_write, _without_any_schema, severity="cosmetic"),
    Damage("a file in place of the timeline of an empty table", "layout.timeline-folder", "LAY-017", t.empty,
           lambda s: s.put(t.TIMELINE, b"x"), severity="data-lost"),
    Damage("a path of no data file", "actions.own-files", "BF-003", t.copy_on_write, _name_no_data_file, ("TL-007",)),
)  # fmt: skip

#: Sound tables with other blocks and files.
SOUND_BLOCKS = {
    "a command block": rolled_back_in_a_log_file,
    "base files in ORC": with_orc_files,
    "partition metadata in ORC": with_partition_metadata_in_orc,
}
