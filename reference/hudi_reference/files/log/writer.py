"""Writing log blocks and log files, spec "Log Format": one function for each content, and which block goes to which file.

A log file is created once, for one task of one action, and never opened again. What does not fit goes to the next version of
the file; the write token stays.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from hudi_reference.errors import InvalidRows, Misuse
from hudi_reference.files.base.parquet import parquet_of
from hudi_reference.files.log.block import ROLLBACK_COMMAND, BlockType, HeaderKey, encode_block
from hudi_reference.files.log.cdc import Change, Mode, cdc_schema, encode_changes
from hudi_reference.files.log.content import Delete, encode_deletes, encode_hfile_rows, encode_rows
from hudi_reference.files.log.positions import position_headers
from hudi_reference.layout.names import LogFileName
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.required import with_required

Header = dict[HeaderKey, str]
#: What the rows of a data block can be stored as.
BlockFormat = Literal["avro", "parquet", "hfile"]


@dataclass(frozen=True)
class EncodedBlock:
    """The bytes of a log block, and how many rows or deletes they hold."""

    data: bytes
    rows: int = 0
    deletes: int = 0


@implements("LF-035", "LF-038", "LF-040", "LF-042", "LF-044", "LF-045")
@dataclass(frozen=True)
class BlockWriter:
    """Makes the blocks that one action writes for one file group.

    `instant` is the requested time of the action, `schema` the Avro schema of the rows with their meta columns. `base_instant`
    is the instant of the base file that positions count rows of; without it no positions are written. `compacted` are the
    instants whose blocks a log compaction joined, `partial` says that rows have only some columns. `attempt` and the place of
    the block identify blocks of repeated tasks; deployed writers leave this out.
    """

    instant: str
    schema: AvroSchema | None = None
    base_instant: str | None = None
    compacted: Sequence[str] = ()
    partial: bool = False
    attempt: int | None = None

    @implements("LF-008")
    def rows(self, block_format: BlockFormat, rows: pa.Table, positions: Sequence[int] | None = None) -> bytes:
        """A data block in this format. HFile blocks have no positions."""
        match block_format:
            case "avro":
                return self.avro(rows, positions)
            case "parquet":
                return self.parquet(rows, positions)
            case "hfile":
                return self.hfile(rows)

    @implements("BLK-018")
    def avro(self, rows: pa.Table, positions: Sequence[int] | None = None, *, sequence: int = 0) -> bytes:
        """A data block in Avro. `positions` has the row in the base file of each row; rows are stored in its order."""
        order, header = self._placed(positions, sequence, rows.num_rows)
        content = encode_rows(rows if order is None else rows.take(order), self._rows_schema())
        return encode_block(BlockType.AVRO_DATA, header, content)

    @implements("BLK-027", "BLK-028")
    def parquet(self, rows: pa.Table, positions: Sequence[int] | None = None, *, sequence: int = 0) -> bytes:
        """A data block in Parquet; positions as in `avro`."""
        order, header = self._placed(positions, sequence, rows.num_rows)
        content = encode_parquet_rows(rows if order is None else rows.take(order), self._rows_schema())
        return encode_block(BlockType.PARQUET_DATA, header, content)

    @implements("BLK-023")
    def hfile(self, rows: pa.Table, key: str = "_hoodie_record_key", *, sequence: int = 0) -> bytes:
        """A data block in HFile. It has no positions, since its rows are in the order of their keys."""
        return encode_block(BlockType.HFILE_DATA, self._header(sequence), encode_hfile_rows(rows, self._rows_schema(), key))

    @implements("BLK-006")
    def delete(
        self,
        deletes: Sequence[Delete],
        ordering_types: Sequence[pa.DataType],
        positions: Sequence[int] | None = None,
        *,
        sequence: int = 0,
    ) -> bytes:
        """A delete block; `ordering_types` as in `encode_deletes`, positions as in `avro`."""
        order, header = self._placed(positions, sequence, len(deletes))
        chosen = deletes if order is None else [deletes[place] for place in order]
        return encode_block(BlockType.DELETE, header, encode_deletes(chosen, ordering_types))

    @implements("BLK-001", "BLK-002", "BLK-003", "LF-037", "LF-039")
    def rollback(self, target: str) -> bytes:
        """A command block that undoes every earlier block of the instant `target`."""
        header = {**self._header(), HeaderKey.TARGET_INSTANT_TIME: target, HeaderKey.COMMAND_BLOCK_TYPE: ROLLBACK_COMMAND}
        kept = (HeaderKey.INSTANT_TIME, HeaderKey.TARGET_INSTANT_TIME, HeaderKey.COMMAND_BLOCK_TYPE)
        return encode_block(BlockType.COMMAND, {key: header[key] for key in kept}, b"")

    @implements("BLK-031")
    def cdc(self, changes: Sequence[Change], mode: Mode) -> bytes:
        """A change-capture block; it belongs into a file whose name ends in `.cdc`."""
        schema = self._rows_schema()
        header = replace(self, schema=cdc_schema(mode, schema), base_instant=None, partial=False, compacted=())._header()
        return encode_block(BlockType.CDC_DATA, header, encode_changes(changes, mode, schema, self.instant))

    def _rows_schema(self) -> AvroSchema:
        if self.schema is None:
            raise Misuse("a data block needs the schema of its rows", rule="LF-038")
        return self.schema

    def _header(self, sequence: int = 0) -> Header:
        header: Header = {HeaderKey.INSTANT_TIME: self.instant}
        if self.schema is not None:
            header[HeaderKey.SCHEMA] = json.dumps(self.schema, separators=(",", ":"))
        if self.compacted:
            header[HeaderKey.COMPACTED_BLOCK_TIMES] = ",".join(sorted(self.compacted, reverse=True))
        if self.attempt is not None:
            header[HeaderKey.BLOCK_IDENTIFIER] = f"{self.attempt},{sequence}"
        if self.partial:
            header[HeaderKey.IS_PARTIAL] = "true"
        return header

    @implements("LF-041", "LF-042")
    def _placed(self, positions: Sequence[int] | None, sequence: int, count: int) -> tuple[list[int] | None, Header]:
        """The order in which the records are stored, None for the given one, and the header.

        The i-th smallest position belongs to the i-th record, so that two records at one position can have none. Deployed
        writers leave the base file's instant in such a header, and out of it where no record has a position.
        """
        header = self._header(sequence)
        if positions is None or self.base_instant is None:
            return None, header
        if len(positions) != count:
            raise Misuse("a position for each record, or none", rule="LF-042", expected=str(count), found=str(len(positions)))
        if len(set(positions)) == count:
            header |= position_headers(self.base_instant, positions)
        else:
            header[HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] = self.base_instant
        return sorted(range(count), key=positions.__getitem__), header


@implements("BLK-027", "BLK-028")
def encode_parquet_rows(rows: pa.Table, schema: AvroSchema) -> bytes:
    """The content of a Parquet data block: a whole Parquet file and nothing else.

    A column may be null where the header's schema says so: deployed readers refuse a file that allows more. Raises InvalidRows.
    """
    try:
        rows = rows.cast(with_required(rows.schema, schema))
    except pa.ArrowInvalid as error:
        raise InvalidRows("a null in a column that takes none", rule="BLK-028", found=str(error)) from error
    return parquet_of(rows, {"parquet.avro.schema": json.dumps(schema, separators=(",", ":"))})


@implements("LF-005", "LF-006", "S3-004")
def roll_over(
    first: LogFileName, blocks: Iterable[EncodedBlock], threshold: int
) -> Iterator[tuple[LogFileName, list[EncodedBlock]]]:
    """The log files that hold these blocks, in order; `first` names the first of them.

    After a block that takes a file beyond `threshold` bytes the next version is begun, with the same write token. So a file
    may be larger than the threshold by its last block, and no block spans two files.
    """
    name, parts, size = first, list[EncodedBlock](), 0
    for block in blocks:
        parts.append(block)
        size += len(block.data)
        if size > threshold:
            yield name, parts
            name, parts, size = replace(name, version=name.version + 1), [], 0
    if parts:
        yield name, parts
