"""What a log file holds, block by block: headers, rows, deletes, positions, and what is wrong with each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from hudi_reference.errors import HudiError, UnsupportedSchema
from hudi_reference.files.inspection.records import Records, hfile_records
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey
from hudi_reference.files.log.content import decode_rows, stored_deletes
from hudi_reference.files.log.positions import positions_of
from hudi_reference.files.log.reader import walk_log_file
from hudi_reference.storage import Storage

#: Blocks whose content begins with a version of its own, of four bytes.
VERSIONED = (BlockType.AVRO_DATA, BlockType.CDC_DATA, BlockType.DELETE)
ROWS = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA, BlockType.CDC_DATA)
#: Of a bitmap no more positions than these are unfolded: a few bytes can stand for more than fit into memory.
MOST_POSITIONS = 1000
#: What a block whose header or content cannot be decoded holds, as far as it is known.
_UNDECODED: Any = None


@dataclass(frozen=True)
class Positions:
    """Row numbers in the base file: how many, the `first` of them, the last."""

    count: int
    first: tuple[int, ...]
    last: int | None


@dataclass(frozen=True)
class InspectedBlock:
    """A block with what it holds; None for what its type has not, or what cannot be decoded. `error` says why not."""

    block: Block
    content_version: int | None = None
    rows: "pa.Table | Records | None" = None
    #: Entries as stored: `recordKey`, `partitionPath`, `orderingVal` as None or (wrapper's name, record).
    deletes: tuple[Mapping[str, Any], ...] | None = None
    positions: Positions | None = None
    error: HudiError | None = None

    @property
    def is_corrupt(self) -> bool:
        """Whether these bytes are no block at all."""
        return isinstance(self.block, CorruptBlock)

    @property
    def refusal(self) -> HudiError | None:
        """Why no reader may pass over this block: its place and size are beyond doubt, what is in it is not known."""
        return self.block.error if isinstance(self.block, CorruptBlock) else None


def inspect_log(storage: Storage, path: str) -> Iterator[InspectedBlock]:
    """The blocks of a log file from its first byte to its last; what is wrong with one stands in it. Raises MissingDataFile."""
    return map(inspect_block, walk_log_file(storage, path))


def inspect_block(block: Block) -> InspectedBlock:
    """What one block holds. Rows, deletes and positions are decoded one by one: damage in one does not hide the others."""
    errors: list[HudiError] = []

    def attempt(applies: bool, decode: Callable[[Block], Any]) -> Any:
        if not applies:
            return None
        try:
            return decode(block)
        except HudiError as error:
            errors.append(error)
            return _UNDECODED

    kind = block.kind
    return InspectedBlock(
        block,
        content_version=content_version(block),
        rows=attempt(kind in ROWS, _rows),
        deletes=attempt(kind is BlockType.DELETE, lambda block: tuple(stored_deletes(block))),
        positions=attempt(HeaderKey.RECORD_POSITIONS in block.header, _positions),
        error=errors[0] if errors else None,
    )


def content_version(block: Block) -> int | None:
    """The version that the content begins with, None where there is none or not enough content."""
    if block.kind not in VERSIONED or block.content_length < 4:
        return None
    return int.from_bytes(block.content[:4], "big", signed=True)


def _rows(block: Block) -> "pa.Table | Records":
    """Columns where the schema has them; the records of the metadata table, whose unions are no columns, as they are."""
    try:
        return decode_rows(block)
    except UnsupportedSchema:
        if block.kind is not BlockType.HFILE_DATA:
            raise
        return hfile_records(block)


def _positions(block: Block) -> Positions:
    bitmap = positions_of(block)
    return Positions(len(bitmap), tuple(islice(bitmap, MOST_POSITIONS)), bitmap.max() if bitmap else None)
