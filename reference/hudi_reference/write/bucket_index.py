"""Placing of rows in a table with a bucket index: the key says which file group of its partition holds it, no file is read.

Writers that do not block one another find the same group for a key that is new to all of them, under the same id.
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
from hudi_reference.write.concurrency.config import BucketIndex, Concurrency, Mode
from hudi_reference.write.rows import Incoming


@dataclass(frozen=True)
class Placing:
    """Where the rows of one table go. `fixed` are ids that follow from the bucket alone, else new groups get one of `ids`."""

    index: BucketIndex
    fields: tuple[str, ...]
    fixed: bool
    ids: Ids

    @classmethod
    def of(cls, table: Table) -> "Placing | None":
        """As the settings of the table's writers have it; None without a bucket index."""
        settings = Concurrency.of(table.options)
        if settings.index is None:
            return None
        fields = settings.index.fields or tuple(table.properties.record_key)
        return cls(settings.index, fields, settings.mode is Mode.NON_BLOCKING, table.ids)

    @implements("NBC-004", "LAY-021", "MRG-007")
    def locate(
        self, incoming: Incoming, groups: FileGroups, replaced: Iterable[FileSlice] = ()
    ) -> list[tuple[FileSlice, pa.Table]]:
        """The rows by the slice of their bucket; the slice of a bucket without a file group has no instant yet.

        The groups of `replaced` are about to be replaced.
        """
        used_up = groups.used_up | {found.group for found in replaced}
        stays = (found for found in groups.latest_slices if found.group not in used_up)
        known = {(found.partition, bucket_prefix(found.file_id)): found for found in stays}
        located = []
        for partition, rows in incoming.by_partition():
            keys = rows.column(KEY).to_pylist()
            buckets = pa.array([bucket_of_key(key, self.fields, self.index.buckets) for key in keys], pa.int32())
            for bucket in sorted(set(buckets.to_pylist())):
                chosen = rows.filter(pa.compute.equal(buckets, bucket))
                new = FileSlice(partition, self._new_id(partition, bucket, used_up), "")
                located.append((known.get((partition, bucket_prefix(new.file_id)), new), chosen))
        return located

    def _new_id(self, partition: str, bucket: int, used_up: Collection[GroupId]) -> str:
        """The id of a new file group of a bucket, which no replaced group had."""
        if not self.fixed:
            return bucket_file_id(bucket, self.ids.file_id())
        ids = (bucket_file_id(bucket, number=number) for number in count())
        return next(file_id for file_id in ids if (partition, file_id) not in used_up)
