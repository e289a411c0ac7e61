"""The contents of a log file, block by block: headers, rows, deletes, positions, and the errors of each."""

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
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.storage import Storage

#: Blocks whose content begins with a version of four bytes.
VERSIONED = (BlockType.AVRO_DATA, BlockType.CDC_DATA, BlockType.DELETE)
ROWS = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA, BlockType.CDC_DATA)
#: The most positions of a bitmap that are expanded: a few bytes can encode more than fit into memory.
MOST_POSITIONS = 1000
#: The errors of decoding a header or content.
_UNDECODED: Any = None


@dataclass(frozen=True)
class Positions:
    """Row numbers in the base file: their number, the `first` of them, the last."""

    count: int
    first: tuple[int, ...]
    last: int | None


@dataclass(frozen=True)
class InspectedBlock:
    """A block with its contents; None for contents that its type does not have, or that cannot be decoded (`error`)."""

    block: Block
    content_version: int | None = None
    rows: "pa.Table | Records | None" = None
    #: Entries as stored: `recordKey`, `partitionPath`, `orderingVal` as None or (wrapper's name, record).
    deletes: tuple[Mapping[str, Any], ...] | None = None
    positions: Positions | None = None
    error: HudiError | None = None

    @property
    def is_corrupt(self) -> bool:
        """Whether the bytes are not a valid block."""
        return isinstance(self.block, CorruptBlock)

    @property
    def refusal(self) -> HudiError | None:
        """The error for a block that a reader must not skip: its offset and size are certain, but its parts are malformed."""
        return self.block.error if isinstance(self.block, CorruptBlock) else None


def inspect_log(storage: Storage, path: str) -> Iterator[InspectedBlock]:
    """The blocks of a log file from its first byte to its last, with their errors. Raises MissingDataFile."""
    return map(inspect_block, read_log_file(storage, path, for_inspection=True))


def inspect_block(block: Block) -> InspectedBlock:
    """The contents of one block. Rows, deletes and positions are decoded separately, each with its own error."""
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
    """The version at the beginning of the content; None if there is none."""
    if block.kind not in VERSIONED or block.content_length < 4:
        return None
    return int.from_bytes(block.content[:4], "big", signed=True)


def _rows(block: Block) -> "pa.Table | Records":
    """Arrow rows if the schema allows it; else the records as they are, for the metadata table."""
    try:
        return decode_rows(block)
    except UnsupportedSchema:
        if block.kind is not BlockType.HFILE_DATA:
            raise
        return hfile_records(block)


def _positions(block: Block) -> Positions:
    bitmap = positions_of(block)
    return Positions(len(bitmap), tuple(islice(bitmap, MOST_POSITIONS)), bitmap.max() if bitmap else None)
