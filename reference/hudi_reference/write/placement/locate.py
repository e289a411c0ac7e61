"""Where the rows of a write go: the file groups that hold their keys, spec "Writer Expectations".

Without a bucket index the slices of the partition are searched. With one the key determines the file group, and no file is
read: writers under non-blocking control find the same group, under the same id, for a key that is new to all of them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import MalformedTable
from hudi_reference.ids import Ids
from hudi_reference.layout.names import join_path
from hudi_reference.query.file_groups import FileGroups, FileSlice, GroupId
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import View
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.bucket_hash import bucket_file_id, bucket_of_key, bucket_prefix
from hudi_reference.requirement import implements
from hudi_reference.write.placement.rows import Incoming


@dataclass(frozen=True)
class Located:
    """Incoming rows by their destination: rows of known keys by slice, other rows by partition.

    `left` are rows with the keys of records that a slice loses, by slice: they are deleted by key.
    """

    known: Sequence[tuple[FileSlice, pa.Table]]
    new: Sequence[tuple[str, pa.Table]]
    left: Sequence[tuple[FileSlice, pa.Table]] = ()

    def as_deletes(self) -> "Located":
        """The same keys, to be deleted from the slices that hold them."""
        return Located((), (), self.known)

    @implements("OCC-009")
    def as_moves(self) -> "Located":
        """The same rows, stored as deletes in their slices and as inserts into new file groups."""
        return Located((), [*self.new, *((found.partition, rows) for found, rows in self.known)], self.known)

    def changes(self) -> Iterator[tuple[FileSlice, pa.Table, pa.Table]]:
        """Each slice that changes, with the rows to merge into it and the rows with keys to delete."""
        known, left = ({found.group: rows for found, rows in part} for part in (self.known, self.left))
        slices = {found.group: found for found, _ in (*self.known, *self.left)}
        for group, found in slices.items():
            rows = known[group] if group in known else left[group].slice(0, 0)
            yield found, rows, left.get(group, rows.slice(0, 0))


@implements("OCC-008", "MRG-006", "LAY-021", "PROP-017")
def locate(incoming: Incoming, view: View, reader: SliceReader, *, living: bool = False) -> Located:
    """Look up which file groups of its partition hold each key.

    Deleted keys count too, unless `living` is set. A key that was inserted twice may be in several groups: its change goes to
    each of them.
    """
    slices: dict[str, list[FileSlice]] = {}
    for file_slice in view.groups.latest_slices:
        slices.setdefault(file_slice.partition, []).append(file_slice)
    known, new = [], []
    for partition, rows in incoming.by_partition():
        unknown = np.ones(rows.num_rows, np.bool_)
        for file_slice in slices.get(partition, ()):
            stored = reader.current_keys(file_slice) if living else reader.all_keys(file_slice)
            is_stored = np.zeros(rows.num_rows, np.bool_)  # there may be many stored keys: one pass is made over them
            is_stored[pc.index_in(stored, value_set=rows.column(KEY)).drop_null().to_numpy()] = True
            if is_stored.any():
                known.append((file_slice, rows.filter(pa.array(is_stored))))
                unknown &= ~is_stored
        if unknown.any():
            new.append((partition, rows.filter(pa.array(unknown))))
    return Located(known, new)


class Placement(Protocol):
    """A bucket index: the file groups to which keys belong."""

    def foreign_key(self, found: FileSlice, keys: Sequence[str]) -> str | None:
        """The first of the keys that belongs to another file group than a slice. Raises HudiError if that is unknown."""


@dataclass(frozen=True)
class BucketLookup:
    """The bucket index of one table: the number of buckets, and the fields that are hashed.

    With `fixed_ids` the id of a new group follows from the bucket alone; otherwise it is one of `ids`.
    """

    buckets: int
    fields: tuple[str, ...]
    fixed_ids: bool
    ids: Ids

    @implements("NBC-004", "LAY-021", "MRG-007")
    def locate(self, incoming: Incoming, view: View, replaced: Iterable[FileSlice] = ()) -> Located:
        """The rows by the slice of their bucket; the slice of a bucket without a file group has no instant yet.

        The write is going to replace the groups of `replaced`. Raises MalformedTable if a bucket has two file groups.
        """
        used_up = view.groups.replaced | {file_slice.group for file_slice in replaced}
        stays = (file_slice for file_slice in view.groups.latest_slices if file_slice.group not in used_up)
        known: dict[tuple[str, str], FileSlice] = {}
        for found in stays:
            bucket_id = found.partition, bucket_prefix(found.file_id)
            if bucket_id in known:
                raise _misplaced(found, f"one file group of the bucket {bucket_id[1]}", f"also {known[bucket_id].file_id}")
            known[bucket_id] = found
        located = []
        for partition, rows in incoming.by_partition():
            keys = rows.column(KEY).to_pylist()
            buckets = pa.array([bucket_of_key(key, self.fields, self.buckets) for key in keys], pa.int32())
            for bucket in sorted(set(buckets.to_pylist())):
                in_bucket = rows.filter(pc.equal(buckets, bucket))
                new = FileSlice(partition, self._new_id(partition, bucket, used_up), "")
                located.append((known.get((partition, bucket_prefix(new.file_id)), new), in_bucket))
        return Located(located, ())

    def foreign_key(self, found: FileSlice, keys: Sequence[str]) -> str | None:
        """The first of the keys that belongs to another bucket than that of a slice."""
        bucket = int(bucket_prefix(found.file_id))
        return next((key for key in keys if bucket_of_key(key, self.fields, self.buckets) != bucket), None)

    def _new_id(self, partition: str, bucket: int, used_up: Collection[GroupId]) -> str:
        """The id of a new file group of a bucket, which no replaced group had."""
        if not self.fixed_ids:
            return bucket_file_id(bucket, self.ids.file_id())
        ids = (bucket_file_id(bucket, number=number) for number in count())
        return next(file_id for file_id in ids if (partition, file_id) not in used_up)


@implements("LAY-021")
def check_clustered(buckets: Placement, located: Located, groups: FileGroups, reader: SliceReader) -> None:
    """Raise MalformedTable if a clustering stored records in file groups of other buckets: a write would not find them.

    Examined are the slices that the write changes, and if it begins a file group, all slices of the partition.
    """
    begins = {found.partition for found, _ in located.known if not found.base_instant}
    changed = {found.group for found, _ in located.known}
    clusterings = {instant.requested for instant, commit in groups.commits.items() if commit.operation == "CLUSTER"}
    for found in groups.latest_slices if clusterings else ():
        if found.base_instant in clusterings and (found.partition in begins or found.group in changed):
            key = buckets.foreign_key(found, reader.current_keys(found).to_pylist())
            if key is not None:
                raise _misplaced(found, "the keys of one bucket", f"the key {key}, of another bucket")


def _misplaced(found: FileSlice, expected: str, stored: str) -> MalformedTable:
    return MalformedTable(
        "records are not in the file groups of their buckets, so that a write would store them twice", rule="LAY-021",
        path=join_path(found.partition, found.file_id), expected=expected, found=stored,
        remedy="restore the table to a commit before the clustering that moved them, or write all rows again",
    )  # fmt: skip
