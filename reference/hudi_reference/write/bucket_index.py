"""Lookup in a table with a bucket index: the key determines the file group of its partition, no file is read.

Writers under non-blocking control find the same group for a key that is new to all of them, under the same id.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import count

import pyarrow as pa

from hudi_reference.ids import Ids
from hudi_reference.query.file_groups import FileGroups, FileSlice, GroupId
from hudi_reference.query.table import Table
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.bucket_hash import bucket_file_id, bucket_of_key, bucket_prefix
from hudi_reference.requirement import implements
from hudi_reference.write.concurrency.config import Concurrency, Mode
from hudi_reference.write.locate import Located
from hudi_reference.write.rows import Incoming


@dataclass(frozen=True)
class BucketLookup:
    """The bucket index of one table: the number of buckets, and the fields that are hashed.

    With `fixed_ids` the id of a new group follows from the bucket alone; otherwise it is one of `ids`.
    """

    buckets: int
    fields: tuple[str, ...]
    fixed_ids: bool
    ids: Ids

    @classmethod
    def of(cls, table: Table) -> "BucketLookup | None":
        """The bucket index in the settings of the table's writers; None if there is none."""
        settings = Concurrency.of(table.options)
        if settings.index is None:
            return None
        fields = settings.index.fields or tuple(table.properties.record_key)
        return cls(settings.index.buckets, fields, settings.mode is Mode.NON_BLOCKING, table.ids)

    @implements("NBC-004", "LAY-021", "MRG-007")
    def locate(self, incoming: Incoming, groups: FileGroups, replaced: Iterable[FileSlice] = ()) -> Located:
        """The rows by the slice of their bucket; the slice of a bucket without a file group has no instant yet.

        The write is going to replace the groups of `replaced`.
        """
        used_up = groups.replaced | {file_slice.group for file_slice in replaced}
        stays = (file_slice for file_slice in groups.latest_slices if file_slice.group not in used_up)
        known = {(file_slice.partition, bucket_prefix(file_slice.file_id)): file_slice for file_slice in stays}
        located = []
        for partition, rows in incoming.by_partition():
            keys = rows.column(KEY).to_pylist()
            buckets = pa.array([bucket_of_key(key, self.fields, self.buckets) for key in keys], pa.int32())
            for bucket in sorted(set(buckets.to_pylist())):
                in_bucket = rows.filter(pa.compute.equal(buckets, bucket))
                new = FileSlice(partition, self._new_id(partition, bucket, used_up), "")
                located.append((known.get((partition, bucket_prefix(new.file_id)), new), in_bucket))
        return Located(located, ())

    def _new_id(self, partition: str, bucket: int, used_up: Collection[GroupId]) -> str:
        """The id of a new file group of a bucket, which no replaced group had."""
        if not self.fixed_ids:
            return bucket_file_id(bucket, self.ids.file_id())
        ids = (bucket_file_id(bucket, number=number) for number in count())
        return next(file_id for file_id in ids if (partition, file_id) not in used_up)
