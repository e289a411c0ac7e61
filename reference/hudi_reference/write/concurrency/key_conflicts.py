"""The record keys that an action wrote, to find writers that put a new key into different file groups, spec "Writer
Expectations > 3.4".

This check is optional, and deployed writers omit it, because it reads the files of other writers while the lock is held.
"""

from collections.abc import Iterable, Iterator

import pyarrow.compute as pc

from hudi_reference.errors import ConcurrentChange
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock
from hudi_reference.files.log.content import decode_deletes, decode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.query.incremental import COMMIT_TIME
from hudi_reference.records.changes import KEY
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.contents.metadata import WriteStat

#: A partition, and a record key in it.
Key = tuple[str, str]


@implements("OCC-017")
def check_keys(storage: Storage, mine: frozenset[Key], stats: Iterable[WriteStat], instant: str, path: str) -> None:
    """Raises ConcurrentChange if the action of that instant wrote one of these keys. `path` is the file that names it."""
    if shared := mine & keys_written(storage, stats, instant):
        partition, key = min(shared)
        raise ConcurrentChange(
            "a concurrent action wrote a record of the same key", rule="OCC-017", path=path,
            expected="keys that no concurrent action wrote", found=f"{key!r} in partition {partition!r}",
            remedy="write again on the new state",
        )  # fmt: skip


@implements("OCC-017")
def keys_written(storage: Storage, stats: Iterable[WriteStat], instant: str) -> frozenset[Key]:
    """The keys of the records that an action inserted, updated or deleted; in a base file those of rows with its time."""
    return frozenset((stat.partition, key) for stat in stats for key in _keys_in(storage, stat, instant))


def _keys_in(storage: Storage, stat: WriteStat, instant: str) -> Iterator[str]:
    if stat.is_log:
        for block in read_log_file(storage, stat.path):
            if not isinstance(block, CorruptBlock) and block.instant == instant:
                yield from _keys_of(block)
    elif stat.path:
        rows = read_base_file(storage, stat.path, [KEY, COMMIT_TIME])
        yield from rows.filter(pc.equal(rows.column(COMMIT_TIME), instant)).column(KEY).to_pylist()


def _keys_of(block: Block) -> Iterator[str]:
    if block.kind is BlockType.DELETE:
        yield from (delete.key for delete in decode_deletes(block))
    elif block.kind not in (BlockType.COMMAND, BlockType.CDC_DATA):
        yield from decode_rows(block, [KEY]).column(KEY).to_pylist()
