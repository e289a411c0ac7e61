"""Reading one file slice: its base file, and the log blocks merged into it, spec "Reader Expectations"."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from hudi_reference.errors import CorruptCommittedBlock, MalformedLogBlock, MalformedLogFile, missing_data_file
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey
from hudi_reference.files.log.content import Delete, count_records, decode_deletes, decode_rows, rollback_target
from hudi_reference.files.log.positions import usable_positions
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.files.log.task_attempts import of_one_attempt
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.query.file_groups import FileSlice, Span
from hudi_reference.query.partition_columns import DroppedColumns
from hudi_reference.records.changes import KEY, Changes, keys_of
from hudi_reference.records.keys.record_keys import record_keys
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import field_names, parse_schema
from hudi_reference.schema.evolution import conform
from hudi_reference.schema.field_ids import ById
from hudi_reference.storage import Storage
from hudi_reference.timeline.active import Timeline


@dataclass(frozen=True)
class SliceReader:
    """What the slices of one query have in common.

    `schema` are the stored columns of the table, meta columns first; `committed` the bytes that completed writes made, by path
    of the file; `named` the paths of all files that each of them made, by its requested time.
    """

    storage: Storage
    timeline: Timeline
    committed: Mapping[str, tuple[Span, ...]]
    schema: pa.Schema
    merging: Merging
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Fields that make up the key in a table whose meta columns are not filled; empty where they are.
    key_fields: tuple[str, ...] = ()
    #: Partition columns that are in no file; None where files have all columns.
    dropped: DroppedColumns | None = None
    #: How columns are matched by the ids of a schema history; None where they are matched by name.
    by_id: ById | None = None
    #: Whether blocks may say by row positions which rows of the base file they change.
    by_position: bool = True
    #: Whether blocks may hold some of the columns; off in tables before version 8.
    takes_partial: bool = True
    #: Whether Arrow may use threads of its own; off where slices are read in parallel.
    threads: bool = False

    @implements("RDR-012", "RDR-015", "RDR-016", "RDR-017", "TYP-006", "TYP-017", "MRG-015")
    def read(self, found: FileSlice, columns: Sequence[str], *, logs: bool = True) -> pa.Table:
        """The rows of a slice with these columns; of its base file alone if not `logs`.

        Key and ordering columns take part in merging whether they are asked for or not.
        """
        rows = self._rows(found, columns, logs=logs)
        return rows if self.dropped is None else self.dropped.filled(rows, found.partition)

    def _rows(self, found: FileSlice, columns: Sequence[str], *, logs: bool) -> pa.Table:
        self._check_present(found, logs=logs)
        if not logs or not found.log_files:
            return self._base_rows(found, self._fields(columns))
        blocks = self.blocks(found)
        if self._may_do_without_keys(found, blocks):
            fields = self._fields(self._merge_columns(columns) - ({KEY} - set(columns)))
            base = self._base_rows(found, fields)
            changes = self._changes(found, blocks, fields, base.num_rows)
            if changes.record_positions is not None:
                return merge_changes(base, changes, self.merging).select(list(columns))
        fields = self._fields(self._merge_columns(columns))
        base = self.keyed(self._base_rows(found, fields))
        merged = merge_changes(base, self._changes(found, blocks, fields, base.num_rows), self.merging)
        return self._without_virtual_keys(merged).select(list(columns))

    @implements("LF-043")
    def _may_do_without_keys(self, found: FileSlice, blocks: Sequence[Block]) -> bool:
        """Whether positions are likely to say for every change which row it meets, and nothing else asks for keys."""
        counted = HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS
        if not self.by_position or self.key_fields or self.merging.merger is not None:
            return False
        return all(block.header.get(counted) == found.base_file_instant and not partial_columns(block) for block in blocks)

    @implements("OCC-008", "LAY-021")
    def keys(self, found: FileSlice) -> pa.ChunkedArray:
        """Every record key of the slice, those of deleted records included: what an index knows of it. A key may come twice.

        A block that says which rows of the base file it changes has no other keys than these rows.
        """
        self._check_present(found, logs=True)
        stored = self.base_keys(found)
        blocks = [block for block in self.blocks(found) if not self._is_placed(block, found, len(stored))]
        batches = self._batches(blocks, self._fields({KEY, *self.key_fields}))
        return pa.chunked_array([*stored.chunks, *(keys_of(batch) for batch in batches)], pa.string())

    def _is_placed(self, block: Block, found: FileSlice, base_rows: int) -> bool:
        counted = HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS
        if not self.by_position or block.header.get(counted) != found.base_file_instant:
            return False
        return usable_positions(block, found.base_file_instant, base_rows, count_records(block)) is not None

    def living_keys(self, found: FileSlice) -> pa.Array:
        """The record keys of the slice's rows, without those of deleted records."""
        fields = list(dict.fromkeys([KEY, *self.key_fields]))
        return self.keyed(self.read(found, fields)).column(KEY).combine_chunks()

    def base_keys(self, found: FileSlice) -> pa.ChunkedArray:
        """The record keys of the slice's base file, in the order of its rows."""
        self._check_present(found, logs=False)
        return self.keyed(self._base_rows(found, self._fields({KEY, *self.key_fields}))).column(KEY)

    def _without_virtual_keys(self, rows: pa.Table) -> pa.Table:
        """What is not stored is not returned: the key column is null again."""
        if not self.key_fields:
            return rows
        nulls = pa.nulls(rows.num_rows, pa.string())
        return rows.set_column(rows.column_names.index(KEY), self.schema.field(KEY), nulls)

    def _merge_columns(self, columns: Sequence[str]) -> set[str]:
        """The columns asked for, and those that have to be there for a right merge."""
        every = set(self.schema.names)
        return self.merging.columns({*columns, KEY, *self.key_fields}, every)

    def _fields(self, names: Iterable[str]) -> pa.Schema:
        """The fields of these names; sequences keep their order, sets come in the order of the table."""
        ordered = names if isinstance(names, Sequence) else [n for n in self.schema.names if n in set(names)]
        return pa.schema([self.schema.field(name) for name in ordered])

    @implements("TL-036", "RDR-012")
    def _check_present(self, found: FileSlice, *, logs: bool) -> None:
        needed = found.missing if logs else found.missing & {found.base_file}
        if needed:
            raise missing_data_file(found.path(min(name for name in needed if name)))

    def _base_rows(self, found: FileSlice, fields: pa.Schema) -> pa.Table:
        if found.base_file is None:
            return fields.empty_table()
        path = found.path(found.base_file)
        rows = read_base_file(self.storage, path, self._stored(fields, found.base_file_instant), threads=self.threads)
        return conform(self._named(rows, found.base_file_instant), fields, path)

    def _stored(self, fields: pa.Schema, instant: str) -> list[str]:
        """What a file that was written by the instant calls these columns."""
        return list(fields.names) if self.by_id is None else self.by_id.stored(fields.names, instant)

    def _named(self, rows: pa.Table, instant: str) -> pa.Table:
        """Rows of a file that was written by the instant under the names of the table's schema."""
        return rows if self.by_id is None else self.by_id.renamed(rows, instant)

    @implements("META-008", "META-012")
    def keyed(self, rows: pa.Table) -> pa.Table:
        """Rows whose key column is filled, for merging, from the key fields if the table leaves its meta columns empty."""
        if not self.key_fields:
            return rows
        return rows.set_column(rows.column_names.index(KEY), self.schema.field(KEY), record_keys(rows, self.key_fields))

    @implements("LCP-001", "MRG-008")
    def changes(self, found: FileSlice) -> tuple[list[Block], Changes]:
        """The blocks of a slice that count, and all that they say, whole and by key: what a log compaction joins."""
        self._check_present(found, logs=True)
        blocks = self.blocks(found)
        return blocks, replace(self, by_position=False)._changes(found, blocks, self.schema, 0)

    @implements("LF-043", "LF-045")
    def _changes(self, found: FileSlice, blocks: Sequence[Block], fields: pa.Schema, base_rows: int) -> Changes:
        """What the logs say, and how it meets the `base_rows` rows of the base file: by position if every block allows it."""
        held = {number: columns for number, block in enumerate(blocks) if (columns := self._held(block)) is not None}
        batches = list(self._batches(blocks, fields))
        places = []
        for block, batch in zip(blocks if self.by_position else (), batches, strict=False):
            place = usable_positions(block, found.base_file_instant, base_rows, len(batch))
            if place is None:
                return Changes(batches, fields, held)
            places.append(place)
        return Changes(batches, fields, held, places if self.by_position else None)

    def _held(self, block: Block) -> frozenset[str] | None:
        columns = partial_columns(block)
        if columns is not None and not self.takes_partial:
            raise MalformedLogBlock(
                "a block of some columns in a table that is too old for such blocks", rule="LF-045",
                path=block.path, offset=block.offset, expected="whole rows, or a table of version 8", found="IS_PARTIAL=true",
                remedy="rewrite the file group with the engine that wrote it",
            )  # fmt: skip
        if columns is not None and self.key_fields:
            raise MalformedLogBlock(
                "a block of some columns in a table without meta columns: its records have no keys", rule="LF-045",
                path=block.path, offset=block.offset, expected="whole rows", found="IS_PARTIAL=true",
            )  # fmt: skip
        return columns if columns is None or self.by_id is None else self.by_id.held(columns, block.instant)

    @implements("BLK-011", "BLK-030")
    def _batches(self, blocks: Iterable[Block], fields: pa.Schema) -> Iterator[pa.Table | list[Delete]]:
        for block in blocks:
            if block.kind is BlockType.DELETE:
                yield decode_deletes(block)
            else:
                rows = self._named(decode_rows(block, self._stored(fields, block.instant)), block.instant)
                yield self.keyed(conform(rows, fields, block.path))

    @implements("LF-036", "BLK-004", "BLK-005", "LF-037", "RDR-013", "RDR-014", "LCP-003")
    def blocks(self, found: FileSlice) -> list[Block]:
        """The data and delete blocks that count, in merge order.

        A rollback command undoes the blocks of its target that were read before it; a block whose instant did not complete
        contributes nothing, nor does one that another attempt of its task wrote again; the joined block of a log compaction
        takes the place of those it was made from.
        """
        queue: list[Block] = []
        for name in found.log_files:
            for block in self._file_blocks(found.path(name)):
                if block.kind is BlockType.COMMAND:
                    target = rollback_target(block)
                    queue = [queued for queued in queue if queued.instant != target]
                elif self._counts(block):
                    queue.append(block)
        return _with_compacted_in_place(of_one_attempt(queue))

    @implements("LF-036", "TYP-008")
    def _counts(self, block: Block) -> bool:
        if block.kind is BlockType.CDC_DATA:
            return False
        if not block.instant:
            raise MalformedLogBlock(
                "a block without the instant that wrote it", rule="LF-035", path=block.path, offset=block.offset,
                expected="the header INSTANT_TIME",
            )  # fmt: skip
        if block.instant > self.timeline.read_time or self._is_of_a_lost_attempt(block):
            return False
        return self.timeline.completion_of(block.instant) is not None

    @implements("LF-006", "TL-005")
    def _is_of_a_lost_attempt(self, block: Block) -> bool:
        """Whether the metadata of the action that wrote the block, and gave the file its name, does not name that file."""
        named = self.named.get(block.instant)
        parsed = parse_data_file_name(split_path(block.path)[1])
        return named is not None and parsed is not None and parsed.instant == block.instant and block.path not in named

    @implements("BLK-016", "BLK-017", "LF-024")
    def _file_blocks(self, path: str) -> Iterator[Block]:
        """The whole blocks of a file.

        Damage between or behind the bytes that completed actions wrote is what a crashed append leaves, and is passed over.
        Damage inside them has taken committed changes, and so has damage in a file of which nobody knows how long it was.
        """
        spans, end = self.committed.get(path, ()), 0
        size = max((after for _, after in spans), default=0)
        for block in read_log_file(self.storage, path):
            end = block.end
            if not isinstance(block, CorruptBlock):
                yield block
            elif not spans or any(block.offset < after and first < block.end for first, after in spans):
                raise CorruptCommittedBlock(
                    "a committed block is damaged", rule="BLK-015", path=path, offset=block.offset,
                    expected="a whole block", found=block.reason, remedy="restore the file from another copy of the table",
                )  # fmt: skip
        if end < size:
            raise MalformedLogFile(
                "the file is shorter than its action wrote it", rule="BLK-016", path=path, offset=end,
                expected=f"{size} bytes", found=f"{end} bytes", remedy="restore the file from another copy of the table",
            )  # fmt: skip


@implements("LF-045")
def partial_columns(block: Block) -> frozenset[str] | None:
    """The columns of a block of partial updates; None for a block of whole rows or deletes."""
    if block.kind is BlockType.DELETE or block.header.get(HeaderKey.IS_PARTIAL, "").lower() != "true":
        return None
    return frozenset(field_names(parse_schema(block.header.get(HeaderKey.SCHEMA, ""), block.path)))


@implements("LF-040", "LCP-003", "LCP-005")
def _with_compacted_in_place(queue: Sequence[Block]) -> list[Block]:
    """The queue with the joined blocks of each log compaction where the newest of their inputs was, and without the inputs.

    Joined blocks without any input in the slice have nothing to say: a compaction has merged the inputs before.
    """
    merged = list(queue)
    for instant, inputs in _inputs_of_joined(queue).items():
        joined = [block for block in queue if block.instant == instant]
        places = [place for place, block in enumerate(merged) if block.instant in inputs]
        end = places[-1] + 1 if places else 0
        before, after = ([b for b in part if b.instant not in inputs | {instant}] for part in (merged[:end], merged[end:]))
        merged = [*before, *(joined if places else ()), *after]
    return merged


def _inputs_of_joined(queue: Sequence[Block]) -> dict[str, set[str]]:
    """The instants whose blocks each log compaction joined, by its own instant, in the order of the queue."""
    found: dict[str, set[str]] = {}
    for block in queue:
        if (times := block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES)) is not None:
            found.setdefault(block.instant, set()).update(times.split(","))
    return found
