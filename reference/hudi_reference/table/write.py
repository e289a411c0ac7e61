"""Writing: insert, upsert, delete and bulk insert, spec "Writer Expectations".

A copy-on-write table gets a new base file for every file group that is touched. On merge-on-read changes of known keys go
to log files of their file group. New keys start file groups of their own: with a base file, as deployed writers do (their
index looks for keys in base files), or, on merge-on-read, with a log file where `new_keys_in_logs` is set.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.files.log.block import BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import Delete, encode_deletes, encode_rows
from hudi_reference.layout.names import BaseFileName, LogFileName, join_path
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.changes import IS_DELETED, KEY, Changes, apply
from hudi_reference.records.ordering import default_of, orderings_of, type_of
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, with_meta_columns
from hudi_reference.table.commit import Commit, begin
from hudi_reference.table.file_groups import FileSlice
from hudi_reference.table.rows import PARTITION, Incoming, check_nulls, combine, in_file, prepare, stamp
from hudi_reference.table.slice_reader import SliceReader
from hudi_reference.table.table import Table, View
from hudi_reference.timeline.metadata import WriteStat

#: Rows in one new base file at most.
ROWS_PER_FILE = 1_000_000


@implements("OCC-008", "MRG-006", "LAY-021", "PROP-017")
@dataclass(frozen=True)
class Located:
    """Incoming rows by where they go: those of known keys by slice, and the rest by partition."""

    known: Sequence[tuple[FileSlice, pa.Table]]
    new: Sequence[tuple[str, pa.Table]]


def locate(incoming: Incoming, view: View, reader: SliceReader) -> Located:
    """Look up which file groups of its partition hold each key, deleted keys included.

    A key that was inserted twice may be in several of them: its change goes to each.
    """
    slices: dict[str, list[FileSlice]] = {}
    for found in view.groups.latest_slices:
        slices.setdefault(found.partition, []).append(found)
    known, new = [], []
    for partition, rows in incoming.by_partition():
        unknown = rows
        for found in slices.get(partition, ()):
            keys = pa.array(reader.keys(found), pa.string())
            held = pc.is_in(rows.column(KEY), value_set=keys)
            if pc.any(held, min_count=0).as_py():
                known.append((found, rows.filter(held)))
                unknown = unknown.filter(pc.invert(pc.is_in(unknown.column(KEY), value_set=keys)))
        if unknown.num_rows:
            new.append((partition, unknown))
    return Located(known, new)


@dataclass(frozen=True)
class Writer:
    """What writes the data files of one write, or of one task of it.

    `reader` reads the slices that the write is based on, `schema` is the Avro schema of stored rows. `task` is less than
    `tasks` and keeps the files of one write's tasks apart, `attempt` those of the attempts of one task.
    """

    commit: Commit
    reader: SliceReader
    schema: AvroSchema
    task: int = 0
    tasks: int = 1
    attempt: str = "0-0"

    @property
    def number(self) -> int:
        """The number of the next file: as if each file of the write had a task of its own."""
        return self.task + self.tasks * len(self.commit.stats)

    def token(self) -> str:
        """The write token of the next file."""
        return f"{self.number}-{self.attempt}"

    def change(self, found: FileSlice, changes: pa.Table, *, by_key: bool) -> None:
        """Changes of keys that the slice holds, one for each key; deletes of these keys if `by_key`."""
        change = self.append_log_file if self.commit.properties.is_merge_on_read else self.rewrite_base_file
        change(found, changes, by_key=by_key)

    def add(self, partition: str, rows: pa.Table, *, in_logs: bool = False) -> None:
        """Rows of new keys as a new file group; flagged deletes among them have nothing to delete."""
        new = _without_deletes(rows)
        if not new.num_rows:
            return
        if in_logs and self.commit.properties.is_merge_on_read:
            group = FileSlice(partition, self.commit.ids.file_id(), self.commit.requested)
            self.append_log_file(group, new, by_key=False)
        else:
            self.new_base_file(partition, new)

    @implements("BF-003", "BF-009", "TYP-002", "TL-006", "META-005")
    def new_base_file(self, partition: str, rows: pa.Table) -> None:
        """A new file group with these rows."""
        for start in range(0, rows.num_rows, ROWS_PER_FILE):
            part = rows.slice(start, ROWS_PER_FILE)
            name = BaseFileName(self.commit.ids.file_id(), self.token(), self.commit.requested)
            stamped = stamp(part, self.commit.requested, self.number, str(name))
            self._add_base_file(name, partition, stamped, inserts=part.num_rows)

    @implements("TYP-003", "MRG-012", "META-004", "META-011", "LAY-024")
    def rewrite_base_file(self, found: FileSlice, changes: pa.Table, *, by_key: bool) -> None:
        """The next slice of a file group: its rows with the changes merged in. Rows that stay keep commit time and number."""
        reader = self.reader
        base = reader.read(found, reader.schema.names)
        name = BaseFileName(found.file_id, self.token(), self.commit.requested)
        stamped = stamp(changes, self.commit.requested, self.number, str(name))
        merged = apply(base, Changes([self._as_batch(stamped, by_key)], base.schema), reader.mode, reader.ordering)
        rows = in_file(merged, str(name))
        written = pc.sum(pc.equal(rows.column("_hoodie_commit_time"), self.commit.requested)).as_py() or 0
        counts = {"updates": written, "deletes": base.num_rows - rows.num_rows}
        self._add_base_file(name, found.partition, rows, previous=found, **counts)

    @implements("TYP-015", "TL-008", "LF-003", "LF-004", "BLK-011", "LF-035", "LF-038")
    def append_log_file(self, found: FileSlice, changes: pa.Table, *, by_key: bool) -> None:
        """A log file of the slice's group: one block with rows, then one with deletes."""
        name = LogFileName(found.file_id, self.commit.requested, 1, self.token())
        stamped = stamp(changes, self.commit.requested, self.number, found.file_id)
        rows, deletes = self._split(stamped, by_key)
        data = self._blocks(rows, deletes)
        stat = WriteStat(
            found.file_id, found.partition, join_path(found.partition, str(name)), self.commit.requested,
            writes=rows.num_rows, updates=rows.num_rows, deletes=len(deletes), size=len(data), is_log=True,
        )  # fmt: skip
        self.commit.add_file(str(name), data, stat)

    def _blocks(self, rows: pa.Table, deletes: Sequence[Delete]) -> bytes:
        header = {HeaderKey.INSTANT_TIME: self.commit.requested, HeaderKey.SCHEMA: _json(self.schema)}
        blocks = []
        if rows.num_rows:
            blocks.append(encode_block(BlockType.AVRO_DATA, header, encode_rows(rows, self.schema)))
        if deletes:
            ordering_types = [type_of(rows.schema, field) for field in self._ordering]
            blocks.append(encode_block(BlockType.DELETE, header, encode_deletes(deletes, ordering_types)))
        return b"".join(blocks)

    @property
    def _ordering(self) -> tuple[str, ...]:
        properties = self.commit.properties
        return properties.ordering_fields if properties.merge_mode == "EVENT_TIME_ORDERING" else ()

    def _as_batch(self, rows: pa.Table, by_key: bool) -> pa.Table | list[Delete]:
        return [Delete(key, None, None) for key in rows.column(KEY).to_pylist()] if by_key else rows

    @implements("BLK-009", "BLK-013")
    def _split(self, rows: pa.Table, by_key: bool) -> tuple[pa.Table, list[Delete]]:
        """Rows to store, and deletes: all in a delete by key, else those that are flagged, with their ordering value."""
        if by_key:
            return rows.slice(0, 0), _deletes(rows, ())
        if IS_DELETED not in rows.column_names:
            return rows, []
        flags = pc.fill_null(rows.column(IS_DELETED), False)
        return rows.filter(pc.invert(flags)), _deletes(rows.filter(flags), self._ordering)

    def _add_base_file(
        self, name: BaseFileName, partition: str, rows: pa.Table, *, previous: FileSlice | None = None, **counts: Any
    ) -> None:
        data = encode_base_file(rows, self.schema)
        stat = WriteStat(
            name.file_id, partition, join_path(partition, str(name)),
            previous_instant="null" if previous is None else previous.base_instant,
            previous_base_file=None if previous is None else previous.base_file,
            writes=rows.num_rows, size=len(data), **counts,
        )  # fmt: skip
        self.commit.add_file(str(name), data, stat)


def _deletes(rows: pa.Table, ordering: tuple[str, ...]) -> list[Delete]:
    orderings = orderings_of(rows, ordering)
    if len(ordering) == 1:  # a null must not become the mark of a delete that wins whatever its ordering value
        least = default_of(type_of(rows.schema, ordering[0]))
        orderings = [least if value is None else value for value in orderings]
    columns = (rows.column(KEY).to_pylist(), rows.column(PARTITION).to_pylist(), orderings)
    return [Delete(*delete) for delete in zip(*columns, strict=True)]


def _json(schema: AvroSchema) -> str:
    return json.dumps(schema, separators=(",", ":"))


@implements("TYP-001", "TL-045", "OCC-007")
def write(table: Table, operation: str, rows: pa.Table, *, new_keys_in_logs: bool = False) -> str:
    """One write as one action; the requested time of its instant.

    `operation` is INSERT, BULK_INSERT, UPSERT or DELETE. Raises InvalidRows before anything is written, UnsupportedTableFeature
    for tables that need more than this writer does, InstantExists and WriteConflict when another writer is in the way.
    """
    check_writable(table.properties)
    view = table.view()
    reader = view.reader(table)
    by_key = operation == "DELETE"
    incoming = prepare(rows, table.properties, reader.schema, keys_only=by_key)
    if not by_key:
        check_nulls(_without_deletes(incoming.rows), view.schema)
    if operation in ("INSERT", "BULK_INSERT"):
        located = Located((), list(incoming.by_partition()))
    else:
        incoming = combine(incoming, table.properties)
        located = locate(incoming, view, reader)
    commit = begin(table.storage, table.properties, table.clock, table.ids, operation, view.timeline)
    writer = Writer(commit, reader, with_meta_columns(view.schema))
    for found, changes in located.known:
        writer.change(found, changes, by_key=by_key)
    for partition, new in () if by_key else located.new:
        writer.add(partition, new, in_logs=new_keys_in_logs)
    return commit.complete(view.schema)


def _without_deletes(rows: pa.Table) -> pa.Table:
    """A flagged delete of a key that is not there has nothing to delete."""
    if IS_DELETED not in rows.column_names:
        return rows
    return rows.filter(pc.invert(pc.fill_null(rows.column(IS_DELETED), False)))


#: Properties that ask a writer for more than data files and an instant.
_NEEDS_MORE: Mapping[str, Callable[[TableProperties], bool]] = {
    "hoodie.table.metadata.partitions": lambda p: bool(p.get("hoodie.table.metadata.partitions")),
    "hoodie.table.cdc.enabled": lambda p: p.is_set("hoodie.table.cdc.enabled"),
    "hoodie.populate.meta.fields": lambda p: not p.populates_meta_fields,
    "hoodie.datasource.write.drop.partition.columns": lambda p: p.is_set("hoodie.datasource.write.drop.partition.columns"),
    "hoodie.table.base.file.format": lambda p: p.get("hoodie.table.base.file.format") != "PARQUET",
    "hoodie.bootstrap.base.path": lambda p: p.get("hoodie.bootstrap.base.path") is not None,
}


@implements("OCC-020", "PROP-001")
def check_writable(properties: TableProperties) -> None:
    """Raises UnsupportedTableFeature where a write without an index, change log or format that the table asks for would be lost
    to other readers.
    """
    for key, is_needed in _NEEDS_MORE.items():
        if is_needed(properties):
            raise UnsupportedTableFeature(
                "the table asks its writers for more than this one does", rule="PROP-001",
                path=".hoodie/hoodie.properties", found=f"{key}={properties.get(key)}",
                cure="write with an engine that maintains it; reading is possible",
            )  # fmt: skip
