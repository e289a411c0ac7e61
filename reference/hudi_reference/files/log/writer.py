"""Writing log blocks and log files, spec "Log Format": one function for each content, and which block goes to which file.

A log file is created once, for one task of one action, and never opened again. What does not fit goes to the next version of
the file; the write token stays.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from hudi_reference.errors import Misuse
from hudi_reference.files.base.parquet import parquet_of
from hudi_reference.files.log.block import ROLLBACK_COMMAND, BlockType, HeaderKey, encode_block
from hudi_reference.files.log.cdc import Change, Mode, cdc_schema, encode_changes
from hudi_reference.files.log.content import Delete, encode_deletes, encode_hfile_rows, encode_rows
from hudi_reference.files.log.positions import position_headers
from hudi_reference.layout.names import LogFileName
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.evolution import with_required_columns

Header = dict[HeaderKey, str]
#: The formats in which the rows of a data block can be stored.
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

    Attributes:
        instant: the requested time of the action.
        schema: the Avro schema of the rows with their meta columns.
        base_instant: the instant of the base file whose rows positions refer to; without it no positions are written.
        compacted: the instants whose blocks a log compaction merged.
        partial: whether the rows have only some columns.
        attempt: the number of the task attempt, for the block identifier; deployed writers omit it.
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
        """A data block in Avro, whose rows are stored in the order of `positions`: for each row its row in the base file."""
        order, header = self._storage_order(positions, sequence, rows.num_rows)
        content = encode_rows(rows if order is None else rows.take(order), self._rows_schema())
        return encode_block(BlockType.AVRO_DATA, header, content)

    @implements("BLK-027", "BLK-028")
    def parquet(self, rows: pa.Table, positions: Sequence[int] | None = None, *, sequence: int = 0) -> bytes:
        """A data block in Parquet; positions as in `avro`."""
        order, header = self._storage_order(positions, sequence, rows.num_rows)
        content = encode_parquet_rows(rows if order is None else rows.take(order), self._rows_schema())
        return encode_block(BlockType.PARQUET_DATA, header, content)

    @implements("BLK-023")
    def hfile(self, rows: pa.Table, key: str = "_hoodie_record_key", *, sequence: int = 0) -> bytes:
        """A data block in HFile. It has no positions, because its rows are stored in the order of their keys."""
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
        order, header = self._storage_order(positions, sequence, len(deletes))
        chosen = deletes if order is None else [deletes[place] for place in order]
        return encode_block(BlockType.DELETE, header, encode_deletes(chosen, ordering_types))

    @implements("BLK-001", "BLK-002", "BLK-003", "LF-037", "LF-039")
    def rollback(self, target: str) -> bytes:
        """A rollback command: removes every earlier block of the instant `target`."""
        header = {**self._header(), HeaderKey.TARGET_INSTANT_TIME: target, HeaderKey.COMMAND_BLOCK_TYPE: ROLLBACK_COMMAND}
        kept = (HeaderKey.INSTANT_TIME, HeaderKey.TARGET_INSTANT_TIME, HeaderKey.COMMAND_BLOCK_TYPE)
        return encode_block(BlockType.COMMAND, {key: header[key] for key in kept}, b"")

    @implements("BLK-031")
    def cdc(self, changes: Sequence[Change], mode: Mode) -> bytes:
        """A change-capture block, to be stored in a file whose name ends in `.cdc`."""
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
    def _storage_order(self, positions: Sequence[int] | None, sequence: int, count: int) -> tuple[list[int] | None, Header]:
        """The order in which the records are stored, None for the given order, and the header.

        The i-th smallest position belongs to the i-th record, so positions are omitted if two records have the same one. Like
        deployed writers, the header then still has the instant of the base file; without any positions it does not.
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
    """The content of a Parquet data block, which is a Parquet file. Raises InvalidRows.

    Exactly the columns that are nullable in the schema of the header are nullable in the file, as deployed readers require.
    """
    rows = with_required_columns(rows, schema, "BLK-028")
    return parquet_of(rows, {"parquet.avro.schema": json.dumps(schema, separators=(",", ":"))})


@implements("LF-005", "LF-006", "S3-004")
def roll_over(
    first: LogFileName, blocks: Iterable[EncodedBlock], threshold: int
) -> Iterator[tuple[LogFileName, list[EncodedBlock]]]:
    """Distribute blocks over log files, in order; `first` names the first file.

    After a block that makes a file larger than `threshold` bytes, a file with the next version and the same write token
    follows. So a file may exceed the threshold by its last block, and no block spans two files.
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
