"""Damages of blocks in log files that the deep checks find: instants, deletes, rollbacks of completed writes, whole blocks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import deep_damage_samples as d
import pyarrow as pa
import validated_tables_samples as t

from hudi_reference.files.log.block import Block, BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import Delete, decode_deletes, encode_deletes
from hudi_reference.files.log.positions import encode_positions
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage

_WRONG, _COSMETIC = "wrong-answers", "cosmetic"
_LATER = "20991231000000000"


def _in_deletes(change: Callable[[list[Delete]], list[Delete]]) -> d.Edit:
    """Change the delete block of the last write."""

    def changed(block: Block) -> bytes:
        return encode_block(block.kind, block.header, encode_deletes(change(decode_deletes(block)), [pa.int64()]))  # type: ignore[arg-type]

    return lambda storage: d.rewrite_log(storage, changed, number=-1)


def deletes_at(*positions: int) -> Callable[[Block], bytes]:
    """The only delete of a block once for each of these rows of the base file."""

    def changed(block: Block) -> bytes:
        deletes = encode_deletes(decode_deletes(block) * len(positions), [pa.int64()])
        return encode_block(block.kind, {**block.header, HeaderKey.RECORD_POSITIONS: encode_positions(positions)}, deletes)  # type: ignore[dict-item]

    return changed


def _each(**changes: str) -> Callable[[list[Delete]], list[Delete]]:
    return lambda deletes: [replace(one, **changes) for one in deletes]  # type: ignore[arg-type]


def _roll_back_a_completed_write(storage: Storage) -> None:
    path = d.log_files(storage)[0]
    instant = next(iter(read_log_file(storage, path))).instant
    header = {HeaderKey.INSTANT_TIME: instant, HeaderKey.TARGET_INSTANT_TIME: instant, HeaderKey.COMMAND_BLOCK_TYPE: "0"}
    storage.put(path, storage.get(path) + encode_block(BlockType.COMMAND, header, b""))


def upgraded() -> Storage:
    """A merge-on-read table that began in version 6, whose writers appended to log files of others."""
    storage = d.merge_on_read()
    t.change_properties(storage, {"hoodie.table.initial.version": "6"})
    return storage


def appended() -> Storage:
    """The last write appended its blocks to the log files of the write before it, as writers of version 6 did."""
    storage = t.merge_on_read()
    t.change_properties(storage, {"hoodie.table.initial.version": "6"})
    for earlier, last in zip(t.log_files(storage)[:2], t.log_files(storage)[2:], strict=True):
        storage.put(earlier, storage.get(earlier) + storage.get(last))
        storage.delete(last)
    paths = {split_path(path)[0]: path for path in t.log_files(storage)}

    def change(record: Any) -> None:
        for stat in t.stats_of(record):
            path = paths[stat["partitionPath"]]
            size = len(storage.get(path))
            stat.update(
                path=path, fileSizeInBytes=size, totalWriteBytes=size, logOffset=size // 2, logFiles=[split_path(path)[1]]
            )

    t.change_record(storage, t.completed(storage, "deltacommit"), change)
    return storage


def _name_the_write_before(storage: Storage) -> None:
    """The block that the last write appended has the instant of the write before it."""
    path = t.log_files(storage)[0]
    first, second = read_log_file(storage, path)
    header = {**second.header, HeaderKey.INSTANT_TIME: first.instant}
    storage.put(path, storage.get(path)[: second.offset] + encode_block(second.kind, header, bytes(second.content)))


LOG_DAMAGES: dict[str, tuple[Callable[[], Storage], d.Edit, set[tuple[str, str]]]] = {
    "a block of a later write that never was": (
        d.merge_on_read, lambda s: d.rewrite_log(s, d.with_header(HeaderKey.INSTANT_TIME, _LATER)),
        {("LF-035", _WRONG), ("META-003", _WRONG)},
    ),
    "a block of a later write in a table that was upgraded": (
        upgraded, lambda s: d.rewrite_log(s, d.with_header(HeaderKey.INSTANT_TIME, _LATER)),
        {("LF-035", _WRONG), ("META-003", _WRONG)},
    ),
    "an appended block of the write before it": (appended, _name_the_write_before, {("LF-035", _WRONG), ("META-003", _WRONG)}),
    "no key of a delete": (d.merge_on_read, _in_deletes(_each(key="")), {("BLK-009", _WRONG), ("LF-042", _WRONG)}),
    "the partition of a delete": (d.merge_on_read, _in_deletes(_each(partition="y")), {("BLK-013", _WRONG)}),
    "a rollback of a completed write": (d.merge_on_read, _roll_back_a_completed_write, {("BLK-004", _WRONG)}),
    "a block with another trailer": (d.merge_on_read, lambda s: t.flip(s, d.log_files(s)[0], -1), {("BLK-015", _WRONG)}),
}  # fmt: skip
