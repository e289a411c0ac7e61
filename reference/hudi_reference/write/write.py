"""Writing: insert, upsert, delete and bulk insert, spec "Writer Expectations".

A copy-on-write table gets a new base file for every file group that is touched. On merge-on-read changes of known keys go
to log files of their file group. New keys start file groups of their own: with a base file, as deployed writers do (their
index looks for keys in base files), or, on merge-on-read, with a log file where `new_keys_in_logs` is set.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import ConcurrentChange, UnsupportedTableFeature
from hudi_reference.files.base.parquet import codec_of
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.files.log.content import Delete
from hudi_reference.files.log.writer import BlockFormat, BlockWriter, EncodedBlock, roll_over
from hudi_reference.layout.names import BaseFileName, LogFileName, join_path
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table, View
from hudi_reference.records.changes import KEY, Changes
from hudi_reference.records.deletes import deleted, without_deletes
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.records.ordering import default_of, orderings_of, type_of
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, only, with_meta_columns
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import INSERT_OVERWRITE, WriteStat, ids_by_partition
from hudi_reference.write.bucket_index import Placing
from hudi_reference.write.cdc_writer import logging_mode, write_change_log
from hudi_reference.write.commit import Commit, begin
from hudi_reference.write.concurrency.config import Concurrency
from hudi_reference.write.concurrency.update_strategy import meet_clusterings
from hudi_reference.write.rows import FILE_NAME, PARTITION, Incoming, combine, in_file, stamp, stored
from hudi_reference.write.write_context import PARTIAL_UPDATE, Basis, check_format, check_writable, held_by_update

#: Rows in one new base file at most.
ROWS_PER_FILE = 1_000_000
#: Settings by which a writer aims at a size of base files, and what it takes a row to need, in bytes.
_FILE_SIZE, _ROW_SIZE = "hoodie.parquet.max.file.size", "hoodie.copyonwrite.record.size.estimate"


@dataclass(frozen=True)
class LogOptions:
    """How log files are written; sizes in bytes, and deployed defaults."""

    #: A file that is larger than this gets no further block; the next one goes to a file of the next version.
    max_file_size: int = 1 << 30
    #: Rows are cut into blocks of about this size in memory.
    max_block_size: int = 256 << 20
    #: Whether blocks name the rows of the base file that their records change.
    positions: bool = True
    #: What data blocks hold.
    block_format: BlockFormat = "avro"

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> Self:
        """The options among settings of a deployed writer, which has them under these names."""
        return cls(
            int(properties.get("hoodie.logfile.max.size", cls.max_file_size)),
            int(properties.get("hoodie.logfile.data.block.max.size", cls.max_block_size)),
            properties.get("hoodie.write.record.positions", "true") == "true",
            _block_format(properties.get("hoodie.logfile.data.block.format", "avro")),
        )


def _block_format(name: str) -> BlockFormat:
    """The format of data blocks that a deployed writer has under this name. Raises UnsupportedTableFeature."""
    known: dict[str, BlockFormat] = {"avro": "avro", "parquet": "parquet", "hfile": "hfile"}
    if name.lower() not in known:
        raise UnsupportedTableFeature("an unknown format of data blocks", rule="LF-008", expected=", ".join(known), found=name)
    return known[name.lower()]


DEFAULTS = LogOptions()


@implements("OCC-008", "MRG-006", "LAY-021", "PROP-017")
@dataclass(frozen=True)
class Located:
    """Incoming rows by where they go: those of known keys by slice, and the rest by partition."""

    known: Sequence[tuple[FileSlice, pa.Table]]
    new: Sequence[tuple[str, pa.Table]]


def locate(incoming: Incoming, view: View, reader: SliceReader, *, living: bool = False) -> Located:
    """Look up which file groups of its partition hold each key, deleted keys included unless only `living` ones count.

    A key that was inserted twice may be in several of them: its change goes to each.
    """
    slices: dict[str, list[FileSlice]] = {}
    for found in view.groups.latest_slices:
        slices.setdefault(found.partition, []).append(found)
    known, new = [], []
    for partition, rows in incoming.by_partition():
        unknown = np.ones(rows.num_rows, np.bool_)
        for found in slices.get(partition, ()):
            held = _held(rows.column(KEY), reader.living_keys(found) if living else reader.keys(found))
            if held.any():
                known.append((found, rows.filter(pa.array(held))))
                unknown &= ~held
        if unknown.any():
            new.append((partition, rows.filter(pa.array(unknown))))
    return Located(known, new)


def _held(keys: pa.ChunkedArray, stored: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Which of the keys, none of which is there twice, are among the stored ones. These are many: they are only passed by."""
    held = np.zeros(len(keys), np.bool_)
    held[pc.index_in(stored, value_set=keys).drop_null().to_numpy()] = True
    return held


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
    logs: LogOptions = DEFAULTS
    #: The columns that the rows of a partial update hold; None for whole rows.
    held: frozenset[str] | None = None

    @property
    def number(self) -> int:
        """The number of the next file: as if each file of the write had a task of its own."""
        return self.task + self.tasks * len(self.commit.stats)

    @implements("BF-005", "LF-006")
    def token(self) -> str:
        """The write token of the next file."""
        return f"{self.number}-{self.attempt}"

    @implements("BF-010")
    def _base_file_name(self, file_id: str) -> BaseFileName:
        """The name of the next base file, in the table's format."""
        extension = self.commit.properties.base_file_extension
        return BaseFileName(file_id, self.token(), self.commit.requested, extension)

    def change(self, found: FileSlice, changes: pa.Table, *, by_key: bool) -> None:
        """Changes of keys that the slice holds, one for each key; deletes of these keys if `by_key`."""
        change = self.append_log_file if self.commit.properties.is_merge_on_read else self.rewrite_base_file
        change(found, changes, by_key=by_key)

    def add(self, partition: str, rows: pa.Table, *, in_logs: bool = False) -> None:
        """Rows of new keys as a new file group; flagged deletes among them have nothing to delete."""
        new = without_deletes(rows, self.reader.merging.marker)
        if not new.num_rows:
            return
        if in_logs and self.commit.properties.is_merge_on_read:
            group = FileSlice(partition, self.commit.ids.file_id(), self.commit.requested)
            self.append_log_file(group, new, by_key=False)
        else:
            self.new_base_file(partition, new)

    @property
    @implements("TYP-018")
    def rows_per_file(self) -> int:
        """Rows of a new base file, as many as fit into the size that is aimed at."""
        settings = self.commit.options
        size = settings.get(_FILE_SIZE)
        return ROWS_PER_FILE if size is None else max(1, int(size) // int(settings.get(_ROW_SIZE, "1024")))

    @implements("BF-003", "BF-009", "TYP-002", "TL-006", "META-005")
    def new_base_file(self, partition: str, rows: pa.Table) -> None:
        """A new file group with these rows."""
        for start in range(0, rows.num_rows, self.rows_per_file):
            part = rows.slice(start, self.rows_per_file)
            name = self._base_file_name(self.commit.ids.file_id())
            stamped = stamp(part, self.commit.requested, self.number, str(name))
            self._add_base_file(name, partition, stamped, inserts=part.num_rows)

    @implements("TYP-003", "MRG-012", "META-004", "META-006", "META-011", "LAY-024")
    def rewrite_base_file(self, found: FileSlice, changes: pa.Table, *, by_key: bool) -> None:
        """The next slice of a file group: its rows with the changes merged in. Rows that stay keep commit time and number."""
        reader = self.reader
        base = reader.keyed(reader.read(found, reader.schema.names))
        name = self._base_file_name(found.file_id)
        stamped = stamp(changes, self.commit.requested, self.number, str(name))
        held = {} if self.held is None else {0: self.held}
        merged = merge_changes(base, Changes([self._as_batch(stamped, by_key)], base.schema, held), reader.merging)
        rows = in_file(merged, str(name))
        written = pc.sum(pc.equal(rows.column("_hoodie_commit_time"), self.commit.requested)).as_py() or 0
        changes = write_change_log(self.commit, self.schema, name, found.partition, base, rows)
        counts = {"updates": written, "deletes": base.num_rows - rows.num_rows, "changes": changes}
        self._add_base_file(name, found.partition, rows, previous=found, **counts)

    @implements("TYP-015", "TL-008", "LF-003", "LF-004", "LF-005", "BLK-011", "LF-035", "LF-038")
    def append_log_file(self, found: FileSlice, changes: pa.Table, *, by_key: bool) -> None:
        """Log files of the slice's group: blocks with rows, then one with deletes; mostly one file."""
        number, token = self.number, self.token()
        places = self._places(found, changes)
        ordered = changes if places is None else changes.take(pc.index_in(pa.array(places), value_set=changes.column(KEY)))
        stamped = stamp(ordered, self.commit.requested, number, found.file_id)
        rows, deletes = self._split(stamped, by_key)
        blocks = list(self._blocks(rows, deletes, found.base_file_instant, places))
        first = LogFileName(found.file_id, self.commit.requested, 1, token)
        for name, parts in roll_over(first, blocks, self.logs.max_file_size):
            data = b"".join(part.data for part in parts)
            writes = sum(part.rows for part in parts)
            stat = WriteStat(
                found.file_id, found.partition, join_path(found.partition, str(name)),
                writes=writes, updates=writes, deletes=sum(part.deletes for part in parts), size=len(data), is_log=True,
                log_version=name.version, **self._slice_before(found),
            )  # fmt: skip
            self.commit.add_file(str(name), data, stat)

    def _slice_before(self, found: FileSlice) -> dict[str, Any]:
        """What the stat of a log file says of its slice, where deployed readers look for images before changes."""
        if logging_mode(self.commit.properties) is None or found.base_file is None:
            return {"previous_instant": self.commit.requested}
        return {"previous_instant": found.base_instant, "base_file": found.base_file, "earlier_logs": found.log_files}

    @implements("LF-042")
    def _places(self, found: FileSlice, changes: pa.Table) -> dict[str, int] | None:
        """The row of the base file that holds each key, in the order of these rows; None unless every key is in just one."""
        if found.base_file is None or not self.logs.positions:
            return None
        keys = self.reader.base_keys(found)
        rows = np.flatnonzero(pc.is_in(keys, value_set=changes.column(KEY)))
        places = dict(zip(keys.take(pa.array(rows)).to_pylist(), rows.tolist(), strict=True))
        return places if len(rows) == len(places) == changes.num_rows else None

    @implements("LF-042", "BLK-011")
    def _blocks(
        self, rows: pa.Table, deletes: Sequence[Delete], base_instant: str, places: Mapping[str, int] | None
    ) -> Iterator[EncodedBlock]:
        """The blocks of one append, in the order of the file; with positions where the keys' `places` are known."""
        writer = BlockWriter(self.commit.requested, self.schema, base_instant)
        of_rows = writer if self.held is None else replace(writer, schema=only(self.schema, self.held), partial=True)

        def positions(keys: Iterable[str]) -> list[int] | None:
            return None if places is None else [places[key] for key in keys]

        for part in _cut(rows, self.logs.max_block_size):
            columns = part if self.held is None else part.select([name for name in part.column_names if name in self.held])
            kept = stored(columns, self.commit.properties)
            data = of_rows.rows(self.logs.block_format, kept, positions(part.column(KEY).to_pylist()))
            yield EncodedBlock(data, rows=part.num_rows)
        if deletes:
            ordering_types = [type_of(rows.schema, field) for field in self._ordering]
            data = writer.delete(deletes, ordering_types, positions(delete.key for delete in deletes))
            yield EncodedBlock(data, deletes=len(deletes))

    @property
    def _ordering(self) -> tuple[str, ...]:
        return self.reader.merging.ordering_used

    def _as_batch(self, rows: pa.Table, by_key: bool) -> pa.Table | list[Delete]:
        return [Delete(key, None, None) for key in rows.column(KEY).to_pylist()] if by_key else rows

    @implements("BLK-009", "BLK-013")
    def _split(self, rows: pa.Table, by_key: bool) -> tuple[pa.Table, list[Delete]]:
        """Rows to store, and deletes: all in a delete by key, else those that are flagged, with their ordering value."""
        if by_key:
            return rows.slice(0, 0), _deletes(rows, ())
        flags = deleted(rows, self.reader.merging.marker)
        if flags is None:
            return rows, []
        return rows.filter(pc.invert(flags)), _deletes(rows.filter(flags), self._ordering)

    def _add_base_file(
        self, name: BaseFileName, partition: str, rows: pa.Table, *, previous: FileSlice | None = None, **counts: Any
    ) -> None:
        kept = stored(rows, self.commit.properties, FILE_NAME)
        data = encode_base_file(kept, self.schema, name.extension, settings=self.commit.options)
        stat = WriteStat(
            name.file_id, partition, join_path(partition, str(name)),
            previous_instant="null" if previous is None else previous.base_instant,
            previous_base_file=None if previous is None else previous.base_file,
            writes=rows.num_rows, size=len(data), **counts,
        )  # fmt: skip
        self.commit.add_file(str(name), data, stat)


def _cut(rows: pa.Table, size: int) -> Iterator[pa.Table]:
    """The rows in parts of about `size` bytes in memory; none for no rows."""
    step = max(1, rows.num_rows * size // max(1, rows.nbytes))
    return (rows.slice(start, step) for start in range(0, rows.num_rows, step))


def _deletes(rows: pa.Table, ordering: tuple[str, ...]) -> list[Delete]:
    orderings = orderings_of(rows, ordering)
    if len(ordering) == 1:  # a null must not become the mark of a delete that wins whatever its ordering value
        least = default_of(type_of(rows.schema, ordering[0]))
        orderings = [least if value is None else value for value in orderings]
    columns = (rows.column(KEY).to_pylist(), rows.column(PARTITION).to_pylist(), orderings)
    return [Delete(*delete) for delete in zip(*columns, strict=True)]


#: Whether updates move to new file groups. Deployed writers do this for records that change their partition: the name is ours.
MOVES_KEY = "hoodie.write.update.as.delete.and.insert"
#: Services that come before each write of a table. They stand on a floor above, and put themselves in here.
BEFOREHAND: list[Callable[[Table], object]] = []


@implements("TYP-001", "TL-045", "OCC-007")
def write(table: Table, operation: str, rows: pa.Table, *, new_keys_in_logs: bool = False, logs: LogOptions = DEFAULTS) -> str:
    """One write as one action; the requested time of its instant.

    `operation` is INSERT, BULK_INSERT, UPSERT, DELETE, PARTIAL_UPDATE or INSERT_OVERWRITE. Raises InvalidRows before anything
    is written, UnsupportedTableFeature for tables that need more than this writer does, InstantExists and WriteConflict when
    another writer is in the way. A write that lost against another one is begun anew as often as its settings say; each attempt
    is an action of its own, and is based on what there is then.
    """
    return persistently(table, lambda: _attempt(table, operation, rows, new_keys_in_logs, logs))


def persistently(table: Table, attempt: Callable[[], str]) -> str:
    """What the last attempt at a write gives, after the services that come before it.

    These delete files, so that a table that cannot be written here is refused first: raises UnsupportedTableFeature.
    """
    check_writable(table.properties)
    for service in BEFOREHAND:
        service(table)
    for _ in range(Concurrency.of(table.options).retries):
        with suppress(ConcurrentChange):
            return attempt()
    return attempt()


def _attempt(table: Table, operation: str, rows: pa.Table, new_keys_in_logs: bool, logs: LogOptions) -> str:
    chosen = log_options(table, logs)
    basis = Basis.of(table, operation, rows.schema)
    view, reader, by_key = basis.view, basis.reader, operation == "DELETE"
    held = held_by_update(basis, rows.column_names) if operation == PARTIAL_UPDATE else None
    incoming = basis.intake(held).prepare(rows)
    replaced = view.groups.slices_in(incoming.partitions) if operation == INSERT_OVERWRITE else None
    placing = Placing.of(table)
    if placing is not None and held is None:
        located = Located(placing.locate(combine(incoming, reader.merging), view.groups, replaced or ()), ())
    elif operation in ("INSERT", "BULK_INSERT", INSERT_OVERWRITE):
        located = Located((), list(incoming.by_partition()))
    else:
        located = locate(combine(incoming, reader.merging), view, reader, living=held is not None)
    named = "UPSERT" if held is not None else operation
    commit = begun(table, named, view.timeline, [found for found, _ in located.known], replaced)
    writer = Writer(commit, reader, with_meta_columns(view.schema), logs=chosen, held=held)
    moves = operation == "UPSERT" and moves_updates(table)
    for found, changes in located.known:
        if found.base_instant:
            writer.change(found, changes, by_key=by_key or moves)
        elif not by_key:
            writer.append_log_file(replace(found, base_instant=commit.requested), changes, by_key=False)
    moved = [(found.partition, changes) for found, changes in located.known if moves]
    for partition, new in () if by_key or held is not None else (*located.new, *moved):
        writer.add(partition, new, in_logs=new_keys_in_logs)
    return commit.complete(view.schema)


def log_options(table: Table, given: LogOptions = DEFAULTS) -> LogOptions:
    """How a write stores logs: as `given`, else as the settings say. Raises UnsupportedTableFeature for settings, of base files
    too, that ask for what nobody can write into the table.
    """
    chosen = LogOptions.of(table.options) if given is DEFAULTS else given
    check_format(chosen.block_format, table.properties)
    codec_of(table.options)
    return chosen


def begun(
    table: Table, operation: str, seen: Timeline, changed: Iterable[FileSlice], replaced: Sequence[FileSlice] | None = None
) -> Commit:
    """A write that has begun, unless a clustering is planned for slices that it changes, or whose groups it replaces."""
    meet_clusterings(table, seen, [*changed, *(replaced or ())])
    commit = begin(
        table.storage, table.properties, table.clock, table.ids, operation, seen, table.options, table.lock, table.mergers
    )
    if replaced is not None:
        commit.replaced = ids_by_partition(found.group for found in replaced)
    return commit


@implements("OCC-009")
def moves_updates(table: Table) -> bool:
    """Whether an update is stored as a delete in its file group and an insert into a new one.

    Raises UnsupportedTableFeature where the version that is there would still have a say: in log files, which keep it, and
    where the greater ordering value stays.
    """
    if table.options.get(MOVES_KEY) != "true":
        return False
    properties = table.properties
    if properties.is_merge_on_read or properties.merging.mode != "COMMIT_TIME_ORDERING":
        raise UnsupportedTableFeature(
            "updates are moved on copy-on-write tables in commit-time order only", rule="OCC-009", found=f"{MOVES_KEY}=true",
            remedy="leave the setting out",
        )  # fmt: skip
    return True
