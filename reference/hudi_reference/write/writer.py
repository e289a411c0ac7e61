"""Writing the data files of one write: base files of new and rewritten file groups, and log files.

A copy-on-write table gets a new base file for every file group that is changed. On merge-on-read, changes of known keys go to
log files of their file group.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.files.base_file import encode_base_file
from hudi_reference.files.log.content import Delete
from hudi_reference.files.log.writer import BlockWriter, EncodedBlock, roll_over
from hudi_reference.layout.names import BaseFileName, LogFileName, join_path
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.changes import KEY, Changes, delete_flags, without_deletes
from hudi_reference.records.merge import orderings_of, type_of, without_nulls
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, select_fields
from hudi_reference.settings import number_setting
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.cdc_writer import write_change_log
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.config import Concurrency
from hudi_reference.write.placement.rows import FILE_NAME, PARTITION, fill_meta_columns, stored_rows, with_file_name
from hudi_reference.write.write_context import DEFAULTS, LogOptions, logging_mode

#: Rows in one new base file at most.
ROWS_PER_FILE = 1_000_000
#: The settings with the target size of base files, and with the estimated size of a row, in bytes.
_FILE_SIZE, _ROW_SIZE = "hoodie.parquet.max.file.size", "hoodie.copyonwrite.record.size.estimate"


@implements("TYP-018")
def rows_per_file(options: Mapping[str, str]) -> int:
    """The number of rows of a new base file: as many as fit into the target size of the settings. Raises Misuse."""
    size = number_setting(options, _FILE_SIZE, 0, least=1 if _FILE_SIZE in options else 0)
    each = number_setting(options, _ROW_SIZE, 1024, least=1)
    return max(1, size // each) if size else ROWS_PER_FILE


@dataclass(frozen=True)
class Writer:
    """Writes the data files of one write, or of one task of it.

    `reader` reads the slices that the write is based on, `schema` is the Avro schema of stored rows. The names of files contain
    the number of the `task` (of `tasks`) and its `attempt`, so that no two attempts store files of the same name.
    """

    commit: Commit
    reader: SliceReader
    schema: AvroSchema
    task: int = 0
    tasks: int = 1
    attempt: str = "0-0"
    logs: LogOptions = DEFAULTS
    #: The columns that the rows of a partial update store; None for whole rows.
    partial_columns: frozenset[str] | None = None

    @property
    def number(self) -> int:
        """The number of the next file, which is unique within the write."""
        return self.task + self.tasks * len(self.commit.stats)

    @implements("BF-005", "LF-006")
    def token(self) -> str:
        """The write token of the next file."""
        return f"{self.number}-{self.attempt}"

    @implements("BF-010")
    def _base_file_name(self, file_id: str) -> BaseFileName:
        """The name of the next base file, in the table's format."""
        extension = self.commit.table.properties.base_file_extension
        return BaseFileName(file_id, self.token(), self.commit.requested, extension)

    def change(self, file_slice: FileSlice, changes: pa.Table, removed: pa.Table | None = None) -> None:
        """Store changes of keys that the slice holds, one for each key; rows with keys of `removed` are deleted by key."""
        change = self.append_log_file if self.commit.table.properties.is_merge_on_read else self.rewrite_base_file
        change(file_slice, changes, changes.slice(0, 0) if removed is None else removed)

    def add(self, partition: str, rows: pa.Table, *, in_logs: bool = False) -> None:
        """Store rows of new keys in a new file group. Rows that are flagged as deletes are dropped: no record has their key."""
        new = without_deletes(rows, self.reader.merging.marker)
        if not new.num_rows:
            return
        if in_logs and self.commit.table.properties.is_merge_on_read:
            group = FileSlice(partition, self.commit.table.ids.file_id(), self.commit.requested)
            self.append_log_file(group, new, new.slice(0, 0))
        else:
            self.new_base_file(partition, new)

    @implements("LAY-021", "MRG-007", "TL-039")
    def create_group(self, file_slice: FileSlice, rows: pa.Table) -> None:
        """Store rows in a new file group of a given id, that of a bucket. Rows that are flagged as deletes are dropped.

        ER-213: a write that replaces file groups stores base files. Compactions of Apache Hudi 1.2.0 skip its log blocks.
        """
        in_logs = Concurrency.from_options(self.commit.table.options).begins_buckets_in_logs
        if in_logs and self.commit.replaced is None:
            return self.append_log_file(file_slice, rows, rows.slice(0, 0))
        new = without_deletes(rows, self.reader.merging.marker)
        if new.num_rows:
            self._store_new(self._base_file_name(file_slice.file_id), file_slice.partition, new)
        return None

    def _store_new(self, name: BaseFileName, partition: str, rows: pa.Table) -> None:
        """Store rows in the first base file of a file group."""
        stamped = fill_meta_columns(rows, self.commit.requested, self.number, str(name))
        self._add_base_file(name, partition, stamped, inserts=rows.num_rows)

    @implements("BF-003", "BF-009", "TYP-002", "TL-006", "META-005")
    def new_base_file(self, partition: str, rows: pa.Table) -> None:
        """Store these rows in new file groups, one base file each."""
        most = rows_per_file(self.commit.table.options)
        for start in range(0, rows.num_rows, most):
            part = rows.slice(start, most)
            self._store_new(self._base_file_name(self.commit.table.ids.file_id()), partition, part)

    @implements("TYP-003", "MRG-012", "META-004", "META-006", "META-011", "LAY-024")
    def rewrite_base_file(self, file_slice: FileSlice, changes: pa.Table, removed: pa.Table) -> None:
        """Store the next slice of a file group: its rows merged with changes. Unchanged rows keep commit time and number."""
        reader = self.reader
        base = reader.keyed(reader.read(file_slice, reader.schema.names))
        name = self._base_file_name(file_slice.file_id)
        stamped = fill_meta_columns(changes, self.commit.requested, self.number, str(name))
        partial = {} if self.partial_columns is None else {0: self.partial_columns}
        deletes = [Delete(key, None, None) for key in removed.column(KEY).to_pylist()]
        merged = merge_changes(base, Changes([stamped, deletes], base.schema, partial), reader.merging)
        rows = with_file_name(merged, str(name))
        written = pc.sum(pc.equal(rows.column("_hoodie_commit_time"), self.commit.requested)).as_py() or 0
        changes = write_change_log(self.commit, self.schema, name, file_slice.partition, base, rows)
        held = base.column(KEY)
        touched = held.filter(pc.is_in(held, value_set=_chunks(stamped.column(KEY), removed.column(KEY))))
        kept = base.num_rows - len(touched) + (pc.sum(pc.is_in(rows.column(KEY), value_set=touched)).as_py() or 0)
        new = rows.num_rows - kept  # in a bucket
        counts = {"inserts": new, "updates": written - new, "deletes": base.num_rows - kept, "changes": changes}
        self._add_base_file(name, file_slice.partition, rows, previous=file_slice, **counts)

    @implements("TYP-015", "TL-008", "LF-003", "LF-004", "LF-005", "BLK-011", "LF-035", "LF-038")
    def append_log_file(self, file_slice: FileSlice, changes: pa.Table, removed: pa.Table) -> None:
        """Store log files of the slice's group: data blocks, then a delete block. Usually this is one file."""
        number, token = self.number, self.token()
        places = self._row_positions(file_slice, _chunks(changes.column(KEY), removed.column(KEY)))
        # ER-026: rows in log blocks have the file id as _hoodie_file_name.
        stamped = fill_meta_columns(_sort_by_position(changes, places), self.commit.requested, number, file_slice.file_id)
        rows, deletes = self._split_deletes(stamped)
        deletes += _deletes(_sort_by_position(removed, places), ())
        blocks = list(self._blocks(rows, deletes, file_slice.base_file_instant, places))
        # ER-045: versions count files of one write. ER-049: a log file is created once and never appended to.
        first = LogFileName(file_slice.file_id, self.commit.requested, 1, token)
        for name, parts in roll_over(first, blocks, self.logs.max_file_size):
            data = b"".join(part.data for part in parts)
            writes = sum(part.rows for part in parts)
            stat = WriteStat(
                file_slice.file_id, file_slice.partition, join_path(file_slice.partition, str(name)),
                writes=writes, updates=writes, deletes=sum(part.deletes for part in parts), size=len(data), is_log=True,
                log_version=name.version, **self._slice_before(file_slice),
            )  # fmt: skip
            self.commit.add_file(str(name), data, stat)

    def _slice_before(self, file_slice: FileSlice) -> dict[str, Any]:
        """The fields of a log file's stat that describe its slice.

        With CDC, deployed readers find images before changes by them.
        """
        if logging_mode(self.commit.table.properties) is None or file_slice.base_file is None:
            return {"previous_instant": self.commit.requested}
        return {
            "previous_instant": file_slice.base_instant,
            "base_file": file_slice.base_file,
            "earlier_logs": file_slice.log_files,
        }

    @implements("LF-042")
    def _row_positions(self, file_slice: FileSlice, changed: pa.ChunkedArray) -> dict[str, int] | None:
        """The row number in the base file of each key, in file order; None unless every key is in exactly one row."""
        if file_slice.base_file is None or not self.logs.positions:
            return None
        keys = self.reader.base_keys(file_slice)
        rows = np.flatnonzero(pc.is_in(keys, value_set=changed))
        places = dict(zip(keys.take(pa.array(rows)).to_pylist(), rows.tolist(), strict=True))
        return places if len(rows) == len(places) == len(changed) else None

    @implements("LF-042", "BLK-011")
    def _blocks(
        self, rows: pa.Table, deletes: Sequence[Delete], base_instant: str, places: Mapping[str, int] | None
    ) -> Iterator[EncodedBlock]:
        """The blocks of one append, in file order; with positions if the `places` of the keys are known."""
        writer = BlockWriter(self.commit.requested, self.schema, base_instant)
        partial = self.partial_columns
        of_rows = writer if partial is None else replace(writer, schema=select_fields(self.schema, partial), partial=True)

        step = max(1, rows.num_rows * self.logs.max_block_size // max(1, rows.nbytes))
        for start in range(0, rows.num_rows, step):
            part = rows.slice(start, step)
            columns = part if partial is None else part.select([name for name in part.column_names if name in partial])
            kept = stored_rows(columns, self.commit.table.properties)
            rows_changed = None if places is None else [places[key] for key in part.column(KEY).to_pylist()]
            yield EncodedBlock(of_rows.rows(self.logs.block_format, kept, rows_changed), rows=part.num_rows)
        if deletes:
            ordering_types = [type_of(rows.schema, field) for field in self._ordering]
            rows_changed = None if places is None else [places[delete.key] for delete in deletes]
            yield EncodedBlock(writer.delete(deletes, ordering_types, rows_changed), deletes=len(deletes))

    @property
    def _ordering(self) -> tuple[str, ...]:
        return self.reader.merging.ordering_used

    @implements("BLK-009", "BLK-013")
    def _split_deletes(self, rows: pa.Table) -> tuple[pa.Table, list[Delete]]:
        """The rows to store, and the deletes with ordering value of the flagged rows."""
        flags = delete_flags(rows, self.reader.merging.marker)
        if flags is None:
            return rows, []
        return rows.filter(pc.invert(flags)), _deletes(rows.filter(flags), self._ordering)

    def _add_base_file(
        self, name: BaseFileName, partition: str, rows: pa.Table, *, previous: FileSlice | None = None, **counts: Any
    ) -> None:
        kept = stored_rows(rows, self.commit.table.properties, FILE_NAME)
        data = encode_base_file(kept, self.schema, name.extension, settings=self.commit.table.options)
        stat = WriteStat(
            name.file_id, partition, join_path(partition, str(name)),
            previous_instant="null" if previous is None else previous.base_instant,
            previous_base_file=None if previous is None else previous.base_file,
            writes=rows.num_rows, size=len(data), **counts,
        )  # fmt: skip
        self.commit.add_file(str(name), data, stat)


def _chunks(*columns: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string())


def _sort_by_position(rows: pa.Table, places: Mapping[str, int] | None) -> pa.Table:
    """The rows in the order of the base file, if the places of their keys are known."""
    if places is None:
        return rows
    return rows.take(pc.index_in(pa.array(places, pa.string()), value_set=rows.column(KEY)).drop_null())


def _deletes(rows: pa.Table, ordering: tuple[str, ...]) -> list[Delete]:
    kinds = [type_of(rows.schema, field) for field in ordering]
    orderings = [without_nulls(value, kinds) for value in orderings_of(rows, ordering)]
    columns = (rows.column(KEY).to_pylist(), rows.column(PARTITION).to_pylist(), orderings)
    return [Delete(*delete) for delete in zip(*columns, strict=True)]
