"""The changes of a file slice: the rows and deletes of its log blocks, in merge order.

A row may be a delete, spec "Record Merger > Deletes": by a flag, by the delete marker of the table, or by the operation column.
Such a delete has the ordering value of the row. Each of the three marks is sufficient.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.files.log.content import Delete
from hudi_reference.records.merge import Version, orderings_of
from hudi_reference.records.merge_tables import Kind
from hudi_reference.requirement import implements

#: The identity of a record in a merge: its key, or the number of its row in the base file.
Identity = str | int

KEY = "_hoodie_record_key"
IS_DELETED = "_hoodie_is_deleted"
OPERATION = "_hoodie_operation"
#: Operations that remove a row: a delete, and the image before an update.
REMOVING = ("D", "-U")


@dataclass(frozen=True)
class DeleteMarker:
    """A column, and the value that marks a row as deleted: the value's text must be equal to `value`.

    Case counts unless `ignore_case`.
    """

    column: str
    value: str
    ignore_case: bool = False


def delete_columns(marker: DeleteMarker | None) -> tuple[str, ...]:
    """The columns that mark deletes, if the table has them."""
    return (IS_DELETED, OPERATION, *((marker.column,) if marker else ()))


@implements("MRG-001", "MRG-014")
def delete_flags(rows: pa.Table, marker: DeleteMarker | None = None) -> pa.ChunkedArray | None:
    """For each row whether it is a delete, never null; None if the table has no column that marks deletes."""
    names, flags = rows.column_names, []
    if IS_DELETED in names and pt.is_boolean(rows.schema.field(IS_DELETED).type):
        flags.append(pc.fill_null(rows.column(IS_DELETED), False))
    if OPERATION in names:
        # ER-127: D and -U are deletes, as from release 1.1 on.
        flags.append(pc.is_in(rows.column(OPERATION), value_set=pa.array(REMOVING)))
    if marker is not None and marker.column in names:
        column = rows.column(marker.column)
        marked = [value for value in pc.unique(column).to_pylist() if value is not None and _is_marker(value, marker)]
        flags.append(pc.is_in(column, value_set=pa.array(marked, column.type)))
    return reduce(pc.or_, flags) if flags else None


def _is_marker(value: Any, marker: DeleteMarker) -> bool:
    text = _text(value)
    return text.lower() == marker.value.lower() if marker.ignore_case else text == marker.value


def _text(value: Any) -> str:
    """A value as text, like Java's `toString`, for the types of delete markers: texts, booleans, integers."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def without_deletes(rows: pa.Table, marker: DeleteMarker | None = None) -> pa.Table:
    """The rows that are not deletes."""
    flags = delete_flags(rows, marker)
    return rows if flags is None else rows.filter(pc.invert(flags))


@implements("LF-001", "BLK-011", "RDR-014")
@dataclass(frozen=True)
class Changes:
    """Versions of records in merge order: the contents of data blocks and delete blocks.

    Attributes:
        batches: for each block its rows, with the columns of `schema`, or its deletes.
        schema: the columns of all rows.
        present_columns: the columns that a block of partial updates has, by the number of the block; blocks of whole rows are
            not in it.
        record_positions: for each block the row of the base file that each entry changes; None if records are matched by key.
        fill: fills key and partition fields of rows that lack columns; None if nothing is known of them.
    """

    batches: Sequence[pa.Table | Sequence[Delete]]
    schema: pa.Schema
    present_columns: Mapping[int, frozenset[str]] = field(default_factory=dict)
    record_positions: Sequence[Sequence[int]] | None = None
    fill: Callable[[pa.Table], pa.Table] | None = None

    def __len__(self) -> int:
        return sum(len(batch) for batch in self.batches)

    @property
    def rows(self) -> pa.Table:
        """The rows of all data blocks."""
        return pa.concat_tables([self.schema.empty_table(), *(b for b in self.batches if isinstance(b, pa.Table))])

    @implements("LF-046")
    def filled(self, rows: pa.Table, lacks: Sequence[bool]) -> pa.Table:
        """The merged rows, in any order; those that lack columns, because no version has them, with filled fields."""
        if self.fill is None or not any(lacks):
            return rows
        mask = pa.array(lacks, pa.bool_())
        return pa.concat_tables([rows.filter(pc.invert(mask)), self.fill(rows.filter(mask))])

    def versions(self, ordering: tuple[str, ...], marker: DeleteMarker | None = None) -> Iterator[tuple[Identity, Version]]:
        """Records and their versions, in merge order.

        The position of a version is that of its row in `rows`, or -1 for a delete entry.
        """
        for number, versions in enumerate(self.by_batch(ordering, marker)):
            yield from zip(self.identities(number), versions, strict=True)

    def by_batch(self, ordering: tuple[str, ...], marker: DeleteMarker | None = None) -> Iterator[Iterable[Version]]:
        """The versions of each block."""
        height = 0
        for batch in self.batches:
            if isinstance(batch, pa.Table):
                flags, positions = delete_flags(batch, marker), range(height, height + batch.num_rows)
                deletes = [False] * batch.num_rows if flags is None else flags.to_pylist()
                kinds = [Kind.DELETE if is_delete else Kind.ROW for is_delete in deletes]
                yield map(Version, kinds, orderings_of(batch, ordering), positions)
                height += batch.num_rows
            else:
                yield map(version_of, batch)

    def identities(self, number: int) -> Iterable[Identity]:
        """For each entry of a block the record that it changes: its key, or its row in the base file."""
        batch = self.batches[number]
        if self.record_positions is not None:
            return self.record_positions[number]
        return batch.column(KEY).to_pylist() if isinstance(batch, pa.Table) else [delete.key for delete in batch]

    def identities_of(self, base: pa.Table) -> Iterable[Identity | None]:
        """The same for the rows of the base file; None for rows that no entry changes.

        A key may occur several times in the base file, because inserts do not look up keys. Entries that name no position
        change the first of these rows.
        """
        return _first_occurrences(base.column(KEY).to_pylist()) if self.record_positions is None else range(base.num_rows)


@implements("RDR-016")
def _first_occurrences(keys: Iterable[str]) -> Iterator[str | None]:
    """The keys; None for those that came before. ER-216: changes are merged into the first row of a key, not into each."""
    seen: set[str] = set()
    for key in keys:
        yield None if key in seen else key
        seen.add(key)


def keys_of(batch: pa.Table | Sequence[Delete]) -> pa.Array:
    """The record keys of a block's entries."""
    return batch.column(KEY).combine_chunks() if isinstance(batch, pa.Table) else pa.array([d.key for d in batch], pa.string())


@implements("BLK-012")
def version_of(delete: Delete) -> Version:
    """A delete entry as a version of its record."""
    return Version(Kind.KEY_DELETE if delete.ordering is None else Kind.DELETE, delete.ordering, -1)
