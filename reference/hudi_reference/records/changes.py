"""The changes of a file slice: the rows and deletes of its log blocks, in merge order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from hudi_reference.files.log.content import Delete
from hudi_reference.records.deletes import DeleteMarker, deleted
from hudi_reference.records.merge import Version
from hudi_reference.records.merge_tables import Kind
from hudi_reference.records.ordering import orderings_of
from hudi_reference.requirement import implements

#: The identity of a record in a merge: its key, or the number of its row in the base file.
Identity = str | int

KEY = "_hoodie_record_key"


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
    """

    batches: Sequence[pa.Table | Sequence[Delete]]
    schema: pa.Schema
    present_columns: Mapping[int, frozenset[str]] = field(default_factory=dict)
    record_positions: Sequence[Sequence[int]] | None = None

    def __len__(self) -> int:
        return sum(len(batch) for batch in self.batches)

    @cached_property
    def rows(self) -> pa.Table:
        """The rows of all data blocks."""
        return pa.concat_tables([self.schema.empty_table(), *(b for b in self.batches if isinstance(b, pa.Table))])

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
                positions = range(height, height + batch.num_rows)
                yield map(Version, kinds_of(batch, marker), orderings_of(batch, ordering), positions)
                height += batch.num_rows
            else:
                yield map(version_of, batch)

    def identities(self, number: int) -> Iterable[Identity]:
        """For each entry of a block the record that it changes: its key, or its row in the base file."""
        batch = self.batches[number]
        if self.record_positions is not None:
            return self.record_positions[number]
        return batch.column(KEY).to_pylist() if isinstance(batch, pa.Table) else [delete.key for delete in batch]

    def identities_of(self, base: pa.Table) -> Iterable[Identity]:
        """The same for the rows of the base file."""
        return base.column(KEY).to_pylist() if self.record_positions is None else range(base.num_rows)


def keys_of(batch: pa.Table | Sequence[Delete]) -> pa.Array:
    """The record keys of a block's entries."""
    return batch.column(KEY).combine_chunks() if isinstance(batch, pa.Table) else pa.array([d.key for d in batch], pa.string())


@implements("BLK-012")
def version_of(delete: Delete) -> Version:
    """A delete entry as a version of its record."""
    return Version(Kind.KEY_DELETE if delete.ordering is None else Kind.DELETE, delete.ordering, -1)


def kinds_of(rows: pa.Table, marker: DeleteMarker | None = None) -> list[Kind]:
    """For each row whether it is a row, or a delete with the ordering value of the row."""
    flags = deleted(rows, marker)
    if flags is None:
        return [Kind.ROW] * rows.num_rows
    return [Kind.DELETE if flag else Kind.ROW for flag in flags.to_pylist()]
