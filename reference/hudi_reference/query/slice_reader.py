"""Reading a file slice: its base file, and the log blocks that are merged into it, spec "Reader Expectations"."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import MalformedLogBlock, UnsupportedTableFeature, missing_data_file
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.log.block import Block, BlockType, HeaderKey
from hudi_reference.files.log.content import Delete, decode_deletes, decode_rows
from hudi_reference.files.log.positions import names_base_file, positions_of_all, usable_positions
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.query.damage_checks import DAMAGE_CHECKS, ReadChecks
from hudi_reference.query.file_groups import BOOTSTRAP_OF_METADATA, FileSlice
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.pruning.partition_columns import DroppedColumns
from hudi_reference.query.pruning.partition_pruning import PartitionValues
from hudi_reference.records.changes import KEY, OPERATION, Changes, keys_of
from hudi_reference.records.keys.fields_of_key import KeyFields
from hudi_reference.records.keys.record_keys import record_keys
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS, field_names, parse_schema
from hudi_reference.schema.differences import columns_of, renamed_column
from hudi_reference.schema.evolution import conform
from hudi_reference.schema.field_ids import FieldIdMapping
from hudi_reference.schema.fields import path_of
from hudi_reference.storage import Storage

#: The meta columns with the partition and with the name of the file, in log files the id of the file group.
PARTITION, FILE_NAME = META_COLUMNS[3:5]


@dataclass(frozen=True)
class SliceReader:
    """Reads the slices of one view of a table. `schema` are the stored columns of the table, meta columns first.

    `scanner` finds the log blocks of a slice that are applied.
    """

    storage: Storage
    scanner: LogScanner
    schema: pa.Schema
    merging: Merging
    #: The record key fields of a table without meta columns; empty in other tables.
    key_fields: tuple[str, ...] = ()
    #: Partition columns that no data file has; None if the data files have all columns.
    dropped: DroppedColumns | None = None
    #: Matches columns by the field ids of a schema history; None if columns are matched by name.
    by_id: FieldIdMapping | None = None
    #: Whether records may be matched by record positions.
    by_position: bool = True
    #: Whether blocks may be partial updates; they may not in tables before version 8.
    allows_partial_blocks: bool = True
    #: Whether base files may be of writers before release 0.12; they may not in tables that were created at version 8 or later.
    may_keep_names: bool = True
    #: The ids of all file groups of the table.
    file_ids: frozenset[str] = frozenset()
    #: Whether Arrow may use its own threads; off if several slices are read in parallel.
    threads: bool = False
    #: The values of partition columns by the path of a partition; for tables without meta columns, whose rows do not name it.
    partition_values: PartitionValues | None = None
    #: Fills key and partition fields that partial updates lack; None for tables without meta columns.
    known_fields: KeyFields | None = None
    #: The checks of its base files.
    checks: ReadChecks = DAMAGE_CHECKS

    @implements("RDR-012", "RDR-015", "RDR-016", "RDR-017", "TYP-006", "TYP-017", "MRG-015")
    def read(self, file_slice: FileSlice, columns: Sequence[str], *, logs: bool = True) -> pa.Table:
        """The rows of a slice with these columns, in any order; only the rows of its base file if not `logs`.

        The merge also reads key and ordering columns that are not in `columns`.
        """
        if file_slice.missing:
            self._check_present(file_slice, logs=logs)
        if logs and file_slice.log_files:
            rows = self._merge_slice(file_slice, self.scanner.blocks(file_slice), columns)
        else:
            rows = self._base_rows(file_slice, self._fields(columns))
        return rows if self.dropped is None else self.dropped.filled(rows, file_slice.partition)

    @implements("LF-043")
    def _merge_slice(self, file_slice: FileSlice, blocks: Sequence[Block], columns: Sequence[str]) -> pa.Table:
        """The rows of the base file with the changes of the blocks; without reading keys if positions replace them."""
        names = self.merging.columns({*columns, *self.key_columns}, set(self.schema.names))
        needs_keys = not self.by_position or self.key_fields or self.merging.merger is not None
        # Positions probably identify the base row of every change, and nothing else needs the keys.
        if not needs_keys and all(names_base_file(b, file_slice.base_file_instant) and not partial_columns(b) for b in blocks):
            fields = self._with_operations(self._fields(names - ({KEY} - set(columns))), blocks)
            base = self._base_rows(file_slice, fields)
            changes = self._read_changes(file_slice, blocks, fields, base.num_rows)
            if changes.record_positions is not None:
                return merge_changes(base, changes, self.merging).select(list(columns))
        known = self.known_fields if any(partial_columns(block) for block in blocks) else None
        names |= set() if known is None else {*known.generator.fields} & {*self.schema.names}
        fields = self._with_operations(self._fields(names), blocks)
        base = self.keyed(self._base_rows(file_slice, fields))
        changes = self._read_changes(file_slice, blocks, fields, base.num_rows)
        if known is not None:
            changes = replace(changes, fill=partial(known.filled, partition=file_slice.partition))
        return self._without_virtual_keys(merge_changes(base, changes, self.merging)).select(list(columns))

    @implements("OCC-008", "LAY-021")
    def all_keys(self, file_slice: FileSlice) -> pa.ChunkedArray:
        """The record keys of the slice, including those of deleted records, as an index stores them; with duplicates.

        A block with record positions changes rows of the base file only, so it adds no keys.
        """
        if file_slice.missing:
            self._check_present(file_slice, logs=True)
        stored, instant = self.base_keys(file_slice), file_slice.base_file_instant
        blocks = self.scanner.blocks(file_slice)
        if self.by_position:
            blocks = [block for block in blocks if usable_positions(block, instant, len(stored)) is None]
        return pa.chunked_array([*stored.chunks, *self.logged_keys(blocks).chunks], pa.string())

    def logged_keys(self, blocks: Iterable[Block]) -> pa.ChunkedArray:
        """The record keys of the rows and deletes of blocks; with duplicates."""
        batches = self._decode_batches(blocks, self._fields(set(self.key_columns)))
        return pa.chunked_array([keys_of(batch) for batch in batches], pa.string())

    def current_keys(self, file_slice: FileSlice) -> pa.Array:
        """The record keys of the slice's rows, without those of deleted records."""
        fields = list(self.key_columns)
        return self.keyed(self.read(file_slice, fields)).column(KEY).combine_chunks()

    def base_keys(self, file_slice: FileSlice) -> pa.ChunkedArray:
        """The record keys of the slice's base file, in the order of its rows."""
        if file_slice.missing:
            self._check_present(file_slice, logs=False)
        return self.keyed(self._base_rows(file_slice, self._fields(set(self.key_columns)))).column(KEY)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The key column, and the columns of the table from which keys are made in a table without meta columns."""
        tops = (path_of(self.schema, field)[0] for field in self.key_fields)
        return tuple(dict.fromkeys((KEY, *(top for top in tops if top in self.schema.names))))

    def _without_virtual_keys(self, rows: pa.Table) -> pa.Table:
        """The rows as stored: in a table without meta columns the key column is null."""
        if not self.key_fields:
            return rows
        nulls = pa.nulls(rows.num_rows, pa.string())
        return rows.set_column(rows.column_names.index(KEY), self.schema.field(KEY), nulls)

    def _fields(self, names: Collection[str]) -> pa.Schema:
        """The fields with these names: in the order of a sequence; for a set, in the order of the table."""
        stored = self.schema.names
        ordered = list(names) if isinstance(names, Sequence) else [name for name in stored if name in names]
        return self.schema if ordered == stored else pa.schema([self.schema.field(name) for name in ordered])

    @implements("MRG-014")
    def _with_operations(self, fields: pa.Schema, blocks: Iterable[Block]) -> pa.Schema:
        """The fields, and the operation column if blocks have it and the table does not.

        ER-230: Flink stores the operation of each row, deletes as well, in a column that the table's schema lacks.
        """
        likely = (block for block in blocks if OPERATION in block.header.get(HeaderKey.SCHEMA, ""))
        is_stored = OPERATION not in self.schema.names and any(OPERATION in _columns(block) for block in likely)
        return fields.append(pa.field(OPERATION, pa.string())) if is_stored else fields

    def _check_present(self, file_slice: FileSlice, *, logs: bool) -> None:
        if (path := file_slice.lost_path(logs=logs)) is not None:
            raise missing_data_file(path)

    def _base_rows(self, file_slice: FileSlice, fields: pa.Schema) -> pa.Table:
        if file_slice.base_file is None:
            return fields.empty_table()
        path = file_slice.path(file_slice.base_file)
        check_whole_rows(file_slice)
        committed, timeline = self.scanner.committed, self.scanner.timeline
        known = self.checks.base_file(
            committed.spans.get(path, ()), timeline, may_keep_names=self.may_keep_names, rows=committed.rows.get(path, 0),
            fills_meta_columns=not self.key_fields, columns=columns_of(self._schema_of(file_slice.base_file_instant)),
            partition_values={} if self.partition_values is None else self.partition_values(file_slice.partition),
        )  # fmt: skip
        read = partial(read_base_file, self.storage, path, threads=self.threads, known=known)
        return self.conformed(read, fields, "" if self.by_id is None else file_slice.base_file_instant, path)

    def conformed(self, read: Callable[[Sequence[str]], pa.Table], fields: pa.Schema, instant: str, path: str) -> pa.Table:
        """These columns of a file that the instant wrote, as the table has them.

        `read` returns columns by their names in the file.
        """
        if self.by_id is None:
            return conform(read(fields.names), fields, path)
        rows = read(self.by_id.stored(fields.names, instant))
        return conform(self.by_id.renamed(rows, instant), fields, path)

    @implements("META-008", "META-012")
    def keyed(self, rows: pa.Table) -> pa.Table:
        """The rows with a filled key column; in a table without meta columns, keys are made from the key fields."""
        if not self.key_fields:
            return rows
        return rows.set_column(rows.column_names.index(KEY), self.schema.field(KEY), record_keys(rows, self.key_fields))

    @implements("LCP-001", "MRG-008")
    def changes_by_key(self, file_slice: FileSlice) -> tuple[list[Block], Changes]:
        """The applied blocks of a slice and their changes, with all columns and matched by key: input of a log compaction.

        The changes may have the operation column in addition.
        """
        if file_slice.missing:
            self._check_present(file_slice, logs=True)
        blocks = self.scanner.blocks(file_slice)
        fields = self._with_operations(self.schema, blocks)
        return blocks, replace(self, by_position=False)._read_changes(file_slice, blocks, fields, 0)

    @implements("LF-043", "LF-045")
    def _read_changes(self, file_slice: FileSlice, blocks: Sequence[Block], fields: pa.Schema, base_rows: int) -> Changes:
        """The changes of the blocks; matched by position if every block allows that for a base file of `base_rows` rows."""
        partial_blocks = ((number, block) for number, block in enumerate(blocks) if partial_columns(block) is not None)
        present = {number: self._present_columns(block) for number, block in partial_blocks}
        batches, positions = list(self._decode_batches(blocks, fields)), None
        if self.by_position:
            positions = positions_of_all(blocks, batches, file_slice.base_file_instant, base_rows)
        return Changes(batches, fields, present, positions)

    def _present_columns(self, block: Block) -> frozenset[str]:
        """The columns of a block of partial updates under the table's names. Raises MalformedLogBlock."""
        if not self.allows_partial_blocks:
            raise MalformedLogBlock(
                "a block of some columns in a table that is too old for such blocks", rule="LF-045",
                path=block.path, offset=block.offset, expected="whole rows, or a table of version 8", found="IS_PARTIAL=true",
                remedy="rewrite the file group with the engine that wrote it",
            )  # fmt: skip
        if self.key_fields:
            raise MalformedLogBlock(
                "a block of some columns in a table without meta columns: its records have no keys", rule="LF-045",
                path=block.path, offset=block.offset, expected="whole rows", found="IS_PARTIAL=true",
            )  # fmt: skip
        columns = partial_columns(block) or frozenset()
        return columns if self.by_id is None else self.by_id.present(columns, block.instant)

    @implements("BLK-011", "BLK-030")
    def _decode_batches(self, blocks: Iterable[Block], fields: pa.Schema) -> Iterator[pa.Table | list[Delete]]:
        """The rows of each data block with these fields, and the deletes of each delete block."""
        for block in blocks:
            self._check_columns(block)
            if block.kind is BlockType.DELETE:
                yield decode_deletes(block)
            else:
                checked = [self.schema.field(name) for name in (PARTITION, FILE_NAME) if name not in fields.names]
                wanted = pa.schema([*fields, *checked])
                rows = self.conformed(partial(decode_rows, block), wanted, block.instant, block.path)
                self._check_group(rows, block)
                yield self.keyed(rows.select(fields.names))

    @implements("META-009", "META-010", "LAY-020")
    def _check_group(self, rows: pa.Table, block: Block) -> None:
        """Refuse a block with rows of another partition or file group.

        In log files the column of the file's name has the id of the group, or nothing.
        """
        folder, file_name = split_path(block.path)
        own = parse_data_file_name(file_name)
        for partition in pc.unique(rows.column(PARTITION)).to_pylist():
            if partition and partition != folder:
                raise _foreign_rows(block, "META-009", f"partition {folder!r}", f"partition {partition!r}")
        for name in pc.unique(rows.column(FILE_NAME)).to_pylist():
            if name in self.file_ids and own is not None and name != own.file_id:
                raise _foreign_rows(block, "META-010", f"file group {own.file_id}", f"file group {name}")

    @implements("TL-007")
    def _check_columns(self, block: Block) -> None:
        """Refuse a block with a column that the schema in the metadata of its write lacks, and without one that it has."""
        found, wanted = (columns_of(one) for one in (block.header.get(HeaderKey.SCHEMA), self._schema_of(block.instant)))
        renamed = None if found is None or wanted is None else renamed_column(found, wanted)
        if renamed is not None:
            raise MalformedLogBlock(
                "the block has a column that the schema in the metadata of its write lacks", rule="TL-007", path=block.path,
                offset=block.offset, expected=f"the column {renamed[0]}", found=f"the column {renamed[1]}",
                remedy="restore the completed file of the write, or the log file, from another copy of the table",
            )  # fmt: skip

    def _schema_of(self, requested: str) -> str | None:
        """The schema in the metadata of a write; None if files are not compared with it."""
        return self.scanner.committed.schemas.get(requested) if self.checks.is_on else None


@implements("COMPAT-004", "LAY-007")
def check_whole_rows(file_slice: FileSlice) -> None:
    """Refuse a slice with columns in a file outside of the table. Raises UnsupportedTableFeature."""
    if file_slice.lacks_columns:
        raise UnsupportedTableFeature(
            "the columns of a bootstrapped row are in a file outside of the table", rule="LAY-007",
            path=file_slice.path(file_slice.base_file or ""), found=f"a file of the instant {BOOTSTRAP_OF_METADATA}",
            remedy="cluster or compact the file group with the engine that bootstrapped the table",
        )  # fmt: skip


def _foreign_rows(block: Block, rule: str, expected: str, found: str) -> MalformedLogBlock:
    return MalformedLogBlock(
        "the rows of the block are those of another file", rule=rule, path=block.path, offset=block.offset,
        expected=f"rows of {expected}", found=f"rows of {found}", remedy="restore the file from another copy of the table",
    )  # fmt: skip


@implements("LF-045")
def partial_columns(block: Block) -> frozenset[str] | None:
    """The columns of a block of partial updates; None for a block of whole rows or deletes."""
    if block.kind is BlockType.DELETE or block.header.get(HeaderKey.IS_PARTIAL, "").lower() != "true":
        return None
    return _columns(block)


def _columns(block: Block) -> frozenset[str]:
    """The columns of a data block; of a delete block none."""
    text = block.header.get(HeaderKey.SCHEMA, "")
    return frozenset(field_names(parse_schema(text, block.path))) if block.kind is not BlockType.DELETE else frozenset()
