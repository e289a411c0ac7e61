"""Global indexes: a record key is in one partition of the table only.

    hoodie.index.type              where keys are looked up                            a row with another partition path
    RECORD_INDEX                   the index `record_index` of the metadata table      changes the record where it is
    GLOBAL_SIMPLE, GLOBAL_BLOOM    the keys of all file slices                         moves the record to that partition

The settings `hoodie.*.index.update.partition.path` choose the other behaviour. A writer with RECORD_INDEX of a table without
a record index works as with GLOBAL_SIMPLE, as deployed writers do.

A record moves as a delete by key in the file group that holds it, and an insert in the other partition. The row that is
inserted is the merge of both versions: a late row in event-time order does not move the record.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.layout.metadata_settings import USABLE, partitions_to_drop
from hudi_reference.layout.properties import TableProperties, read_properties
from hudi_reference.query.file_groups import FileSlice, GroupId
from hudi_reference.query.key_search import possible_keys
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table, View
from hudi_reference.records.changes import KEY, Changes
from hudi_reference.records.keys.record_keys import KeyGenerator
from hudi_reference.records.merging.merge_slice import merge_changes
from hudi_reference.requirement import implements
from hudi_reference.settings import boolean_setting
from hudi_reference.write.concurrency.config import IndexType, index_type
from hudi_reference.write.placement.locate import Located
from hudi_reference.write.placement.rows import PARTITION, Incoming

#: The types of global indexes: the setting that says whether records move between partitions, and its default.
_MOVES: Mapping[IndexType, tuple[str, bool]] = {
    IndexType.RECORD_INDEX: ("hoodie.record.index.update.partition.path", False),
    IndexType.GLOBAL_RECORD_LEVEL_INDEX: ("hoodie.record.index.update.partition.path", False),
    IndexType.GLOBAL_SIMPLE: ("hoodie.simple.index.update.partition.path", True),
    IndexType.GLOBAL_BLOOM: ("hoodie.bloom.index.update.partition.path", True),
}
_BY_RECORD_INDEX = (IndexType.RECORD_INDEX, IndexType.GLOBAL_RECORD_LEVEL_INDEX)
_RECORD_INDEX = "record_index"
#: The file groups that hold record keys; None if the slices have to be searched.
Find = Callable[[Collection[str]], Mapping[str, GroupId] | None]


def _find_by_record_index(table: Table, view: View, keys: Collection[str]) -> Mapping[str, GroupId] | None:
    """The file groups of keys by the record index; None if it describes another state than the view."""
    indexes = table.open_indexes(table, view.timeline, view.groups.commits)
    return None if indexes is None else indexes.groups_of(keys)


def has_record_index(table: Table) -> bool:
    """Whether the table, with its present properties, has a record index that the writer does not disable."""
    return _RECORD_INDEX in table.properties.fields(USABLE) and not partitions_to_drop(table.options, (_RECORD_INDEX,))


def is_global(options: Mapping[str, str]) -> bool:
    """Whether the settings of a writer name a global index. Raises Misuse for an unknown type of index."""
    return index_type(options) in _MOVES


def _uses_record_index(table: Table) -> bool:
    """Whether the settings name the record index, and the table has one."""
    return index_type(table.options) in _BY_RECORD_INDEX and has_record_index(table)


@implements("OCC-009")
def moves_records(table: Table) -> bool:
    """Whether a row with the path of another partition moves its record there; False without a global index."""
    kind = index_type(table.options)
    if kind is None or kind not in _MOVES:
        return False
    setting, default = _MOVES[kind if kind not in _BY_RECORD_INDEX or has_record_index(table) else IndexType.GLOBAL_SIMPLE]
    return boolean_setting(table.options, setting, default=default)


@dataclass(frozen=True)
class GlobalLookup:
    """The look-up of keys in the whole table, as the settings of a writer ask for it."""

    view: View
    reader: SliceReader
    #: Makes the partition paths of rows.
    properties: TableProperties
    #: Whether a row with the path of another partition moves its record there.
    moves: bool
    find: Find | None

    @classmethod
    def for_write(cls, table: Table, view: View, reader: SliceReader, properties: TableProperties) -> "GlobalLookup | None":
        """The look-up for a write that is based on this view; None if the settings name no global index."""
        if not is_global(table.options):
            return None
        now = table
        if index_type(table.options) in _BY_RECORD_INDEX:
            now = replace(table, properties=read_properties(table.storage))  # the index may be newer than the table object
        find = partial(_find_by_record_index, now, view) if _uses_record_index(now) else None
        return cls(view, reader, properties, moves_records(now), find)

    @implements("OCC-008", "MRG-006", "LAY-021", "IDX-010", "META-009")
    def locate(self, incoming: Incoming, *, only_change: bool = False) -> Located:
        """The rows, one for each key, by the file slices that hold their keys now, whatever their partition paths are.

        With `only_change` no record moves: the rows are keys, or some columns of records.
        """
        found = [
            self._divide(file_slice, _with_keys(incoming.rows, keys), only_change)
            for file_slice, keys in self._held(incoming.rows.column(KEY).to_pylist())
            if len(keys)
        ]
        known = {key for one in found for rows in (one.changes, one.leaving) for key in rows.column(KEY).to_pylist()}
        unknown = incoming.rows.filter(pc.invert(pc.is_in(incoming.rows.column(KEY), value_set=pa.array(known, pa.string()))))
        return Located(
            [(one.file_slice, one.changes) for one in found if one.changes.num_rows],
            list(Incoming(pa.concat_tables([unknown, *_records_that_move(found)])).by_partition()),
            [(one.file_slice, one.leaving) for one in found if one.leaving.num_rows],
        )

    def _held(self, keys: Collection[str]) -> Iterator[tuple[FileSlice, pa.Array]]:
        """The slices with those of the keys that they hold."""
        found = None if self.find is None else self.find(keys)
        known, by_group = found or {}, dict[GroupId, list[str]]()
        for key, group in known.items():
            by_group.setdefault(group, []).append(key)
        others = pa.array([key for key in keys if key not in known], pa.string())
        for one in self.view.groups.latest_slices:
            held = pa.array(by_group.get(one.group, ()), pa.string())
            wanted = others
            if found is not None:
                # ER-202, ER-207: a key that a log file has deleted may have a row, and no entry in the record index.
                wanted = possible_keys(self.reader, one, others) if self.properties.is_merge_on_read else others.slice(0, 0)
            if len(wanted):
                stored = self.reader.current_keys(one)
                held = pa.concat_arrays([held, stored.filter(pc.is_in(stored, value_set=wanted)).unique()])
            yield one, held

    def _divide(self, file_slice: FileSlice, rows: pa.Table, only_change: bool) -> "_Division":
        """Divide the rows whose keys a slice holds."""
        changes, leaving, moved = rows, rows.slice(0, 0), rows.slice(0, 0)
        elsewhere = pc.not_equal(rows.column(PARTITION), file_slice.partition)
        if not only_change and pc.any(elsewhere).as_py():
            here, leaving, moved = self._of_other_partitions(file_slice, rows.filter(elsewhere))
            changes = pa.concat_tables([rows.filter(pc.invert(elsewhere)), here])
        return _Division(file_slice, _in_partition(changes, file_slice.partition), leaving, moved)

    @implements("OCC-009", "MRG-005")
    def _of_other_partitions(self, file_slice: FileSlice, rows: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
        """Of rows with the path of another partition: those that change the slice, those that leave it, and these merged.

        A row that changes the slice has the partition columns of the stored record.
        """
        reader = self.reader
        stored = _with_keys(reader.keyed(reader.read(file_slice, reader.schema.names)), rows.column(KEY))
        # ER-167: the partition columns of a record say in which partition it is.
        kept = _with_columns_of(stored, rows, self.properties.partition_fields)
        if not self.moves:
            return kept, rows.slice(0, 0), rows.slice(0, 0)
        merged = merge_changes(stored, Changes([rows], stored.schema), reader.merging)
        merged = merged.set_column(
            merged.column_names.index(PARTITION),
            merged.schema.field(PARTITION),
            KeyGenerator.from_properties(self.properties).paths(merged),
        )
        moved = merged.filter(pc.not_equal(merged.column(PARTITION), file_slice.partition))
        leaves = pc.is_in(kept.column(KEY), value_set=moved.column(KEY).combine_chunks())
        return kept.filter(pc.invert(leaves)), _in_partition(kept.filter(leaves), file_slice.partition), moved


@dataclass(frozen=True)
class _Division:
    """Rows whose keys a file slice holds: changes of the slice, and records that move to another partition."""

    file_slice: FileSlice
    changes: pa.Table
    #: Rows with the keys of the records that move.
    leaving: pa.Table
    #: The records that move, merged with their rows.
    moved: pa.Table


def _records_that_move(divisions: Sequence[_Division]) -> Iterator[pa.Table]:
    """The records to be inserted. A key that is in several slices moves once, or stays in one of them."""
    placed = {key for one in divisions for key in one.changes.column(KEY).to_pylist()}
    for one in divisions:
        keys = one.moved.column(KEY).to_pylist()
        yield one.moved.filter(pa.array([key not in placed for key in keys], pa.bool_()))
        placed.update(keys)


def _with_keys(rows: pa.Table, keys: pa.ChunkedArray | pa.Array) -> pa.Table:
    values = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    return rows.filter(pc.is_in(rows.column(KEY), value_set=values))


def _in_partition(rows: pa.Table, partition: str) -> pa.Table:
    place = rows.column_names.index(PARTITION)
    return rows.set_column(place, rows.schema.field(place), pa.repeat(pa.scalar(partition), rows.num_rows))


def _with_columns_of(stored: pa.Table, rows: pa.Table, names: Collection[str]) -> pa.Table:
    """The rows with the values that the stored records of their keys have in some columns."""
    places = pc.index_in(rows.column(KEY), value_set=stored.column(KEY).combine_chunks())
    for name in names:
        if name in rows.column_names:
            rows = rows.set_column(rows.column_names.index(name), rows.schema.field(name), stored.column(name).take(places))
    return rows
