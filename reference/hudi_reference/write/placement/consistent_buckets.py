"""Consistent hashing: each partition has hashing metadata, which divides the hashes into ranges, one file group each.

    .hoodie/.bucket_index/consistent_hashing_metadata/<partition>/00000000000000.hashing_meta

The first metadata of a partition follows from its path and the number of buckets alone, so that concurrent writers create the
same.
A clustering that splits or merges buckets adds metadata with its own instant; it counts once the clustering has completed.
"""

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from hudi_reference.errors import MalformedMetadata, MalformedTable, UnsupportedTableFeature
from hudi_reference.layout.names import join_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.query.file_groups import FileGroups, FileSlice
from hudi_reference.query.table import Table, View
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.bucket_hash import values_of_key
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectExists, Storage
from hudi_reference.timeline.active import Timeline
from hudi_reference.write.placement.locate import Located
from hudi_reference.write.placement.rows import Incoming

FOLDER = f"{META_FOLDER}/.bucket_index/consistent_hashing_metadata"
FIRST, ENDING = "00000000000000", ".hashing_meta"
_GREATEST = 0x7FFFFFFF
#: The file id of a first range: a UUID of version 3. Random ones, also of ranges after a split, have version 4.
_FIRST_RANGE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-3[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(-[0-9]+)?")


@dataclass(frozen=True)
class Node:
    """A range of hashes, up to and including `value`, and the beginning of the id of its file group."""

    value: int
    prefix: str

    @property
    def file_id(self) -> str:
        """The id of the file group: a bucket has one."""
        return f"{self.prefix}-0"


@implements("LAY-021", "MRG-007")
def hash_of(values: Iterable[str | None]) -> int:
    """The hash of a record by the values of its index fields: xxHash32 of their texts one after the other, without its sign.

    The text of a missing value is `null`.
    """
    texts = ("null" if value is None else value for value in values)
    return xxhash.xxh32_intdigest("".join(texts).encode(), seed=0) & _GREATEST


@implements("LAY-021", "MRG-007")
def first_nodes(partition: str, buckets: int) -> tuple[Node, ...]:
    """The ranges of a partition without metadata: equally long, each with a UUID of its bounds and the partition path."""
    step, nodes, start = -(-_GREATEST // buckets), [], 0
    for number in range(1, buckets + 1):
        end = min(step * number, _GREATEST)
        nodes.append(Node(end, _name_uuid(struct.pack(">qq", start, end) + partition.encode())))
        start = end
    return tuple(nodes)


def _name_uuid(name: bytes) -> str:
    """Java's `UUID.nameUUIDFromBytes`: the MD5 of the name alone, marked as version 3."""
    return str(UUID(bytes=hashlib.md5(name, usedforsecurity=False).digest(), version=3))


def is_first_range(file_id: str) -> bool:
    """Whether a file group is that of a range of the first metadata of a partition."""
    return _FIRST_RANGE.fullmatch(file_id) is not None


def has_first_ranges(groups: FileGroups) -> bool:
    """Whether a file group is that of a first range, also if a clustering that resized the partition has replaced it."""
    clusterings = {instant.requested for instant, commit in groups.commits.items() if commit.operation == "CLUSTER"}
    return any(is_first_range(one.file_id) and one.replaced_by in (None, *clusterings) for one in groups)


def folder_of_ranges(partition: str) -> str:
    """The folder of the hashing metadata of a partition."""
    return f"{FOLDER}/{partition}" if partition else FOLDER


def has_hashing_metadata(storage: Storage) -> bool:
    """Whether a partition of the table has hashing metadata."""
    return bool(storage.names(FOLDER))


@implements("LAY-021", "MRG-007")
def load_nodes(
    storage: Storage, partition: str, timeline: Timeline, *, beside_pending: bool = False
) -> tuple[Node, ...] | None:
    """The ranges of a partition; None if it has no metadata.

    Raises MalformedMetadata, and UnsupportedTableFeature while buckets are being split or merged. If `beside_pending`, and the
    clustering is on the timeline, the ranges before it are returned instead.
    """
    folder = folder_of_ranges(partition)
    instants = sorted(name.removesuffix(ENDING) for name in storage.names(folder) if name.endswith(ENDING))
    done = [one for one in instants if one == FIRST or timeline.completion_of(one) is not None]
    if not done:
        return None
    if instants[-1] != done[-1] and not (beside_pending and instants[-1] in timeline.pending_times):
        raise UnsupportedTableFeature(
            "buckets are being split or merged", rule="LAY-021", path=f"{folder}/{instants[-1]}{ENDING}",
            expected="metadata of a completed clustering", found=f"that of {instants[-1]}",
            remedy="write again when the clustering has completed" if instants[-1] in timeline.pending_times
            else "delete the file if no file group has an id of its ranges; otherwise restore the files of the clustering",
        )  # fmt: skip
    path = f"{folder}/{done[-1]}{ENDING}"
    return _nodes_of(storage.get(path), partition, path)


@implements("LAY-021")
def names_a_range(table: Table, groups: FileGroups) -> bool:
    """Whether the hashing metadata of a partition names one of its file groups. Raises as `load_nodes` does."""
    timeline = table.timeline
    living = sorted({found.group for found in groups.latest_slices})
    return any(
        not ids.isdisjoint(node.file_id for node in load_nodes(table.storage, partition, timeline) or ())
        for partition, ids in ((path, {one for _, one in found}) for path, found in groupby(living, itemgetter(0)))
    )


def _nodes_of(text: bytes, partition: str, path: str) -> tuple[Node, ...]:
    try:
        content = json.loads(text)
        found, owner = content["nodes"], content.get("partitionPath", partition)
        nodes = tuple(sorted((Node(int(one["value"]), one["fileIdPrefix"]) for one in found), key=lambda node: node.value))
        tags = {one.get("tag", "NORMAL") for one in found}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedMetadata("no hashing metadata", rule="LAY-021", path=path, found=str(error)) from error
    if tags != {"NORMAL"}:
        raise UnsupportedTableFeature(
            "ranges of hashes that are being replaced", rule="LAY-021", path=path, expected="NORMAL",
            found=", ".join(sorted(map(str, tags))) or "no range",
        )  # fmt: skip
    if owner != partition:
        raise MalformedMetadata(
            "hashing metadata of another partition", rule="LAY-021", path=path, expected=partition, found=owner
        )
    if any(len({part(node) for node in nodes}) < len(nodes) for part in (attrgetter("value"), attrgetter("prefix"))):
        raise MalformedMetadata(
            "ranges of hashes that cannot be told apart", rule="LAY-021", path=path,
            expected="one upper bound and one file group for each range", found=f"{len(nodes)} ranges",
        )  # fmt: skip
    return nodes


@implements("LAY-021")
def store_first(storage: Storage, partition: str, nodes: Iterable[Node]) -> None:
    """Store the first metadata of a partition; nothing if another writer has stored it, because it stored the same."""
    content: dict[str, Any] = {"version": 0, "partitionPath": partition, "instant": FIRST, "numBuckets": 0, "seqNo": 0}
    listed = [{"value": node.value, "fileIdPrefix": node.prefix, "tag": "NORMAL"} for node in nodes]
    content |= {"numBuckets": len(listed), "nodes": listed}
    with suppress(ObjectExists):
        storage.create(f"{folder_of_ranges(partition)}/{FIRST}{ENDING}", json.dumps(content, indent=2).encode())


@dataclass(frozen=True)
class ConsistentLookup:
    """The consistent hashing of one table: the number of buckets of a new partition, and the fields that are hashed.

    `new` are the ranges of partitions without metadata, by partition; a write stores them before its data files.
    """

    table: Table
    buckets: int
    fields: tuple[str, ...]
    new: dict[str, tuple[Node, ...]] = field(default_factory=dict)

    @implements("LAY-021", "MRG-007")
    def locate(self, incoming: Incoming, view: View, replaced: Iterable[FileSlice] = ()) -> Located:
        """The rows by the slice of their range; the slice of a range without a file group has no instant yet.

        Raises UnsupportedTableFeature if the file group of a range was replaced, or is replaced by the write: it is never read.
        Raises MalformedTable for file groups of a partition without metadata that are not those of its first ranges.
        """
        used_up = view.groups.replaced | {file_slice.group for file_slice in replaced}
        known = {file_slice.group: file_slice for file_slice in view.groups.latest_slices}
        living: dict[str, set[str]] = {}
        for path, file_id in known:
            living.setdefault(path, set()).add(file_id)
        located = []
        for partition, rows in incoming.by_partition():
            nodes = self._nodes(partition, view.timeline)
            if partition in self.new:
                _check_first(partition, nodes, living.get(partition, set()))
            places = self._places(nodes, rows.column(KEY).to_pylist())
            for place in sorted(set(places)):
                new = FileSlice(partition, nodes[place].file_id, "")
                if new.group in used_up:
                    raise _unsupported_replacement(new)
                located.append((known.get(new.group, new), rows.filter(pc.equal(pa.array(places), place))))
        return Located(located, ())

    def foreign_key(self, found: FileSlice, keys: Sequence[str]) -> str | None:
        """The first of the keys that belongs to another file group than that of a slice. Raises as `load_nodes` does."""
        nodes = self._nodes(found.partition, self.table.timeline)
        places = zip(keys, self._places(nodes, keys), strict=True)
        return next((key for key, place in places if nodes[place].file_id != found.file_id), None)

    def _places(self, nodes: Sequence[Node], keys: Sequence[str]) -> list[int]:
        """The number of the range of each key."""
        values = pa.array([node.value for node in nodes], pa.int64()).to_numpy()
        hashes = [hash_of(values_of_key(key, self.fields)) for key in keys]
        places: list[int] = (values.searchsorted(hashes) % len(nodes)).tolist()  # a hash above all ranges is in the first one
        return places

    def _nodes(self, partition: str, timeline: Timeline) -> tuple[Node, ...]:
        found = load_nodes(self.table.storage, partition, timeline)
        if found is None:
            found = self.new[partition] = first_nodes(partition, self.buckets)
        return found

    def store_new(self) -> None:
        """Store the hashing metadata of partitions that have none."""
        stored: Mapping[str, tuple[Node, ...]] = self.new
        for partition, nodes in stored.items():
            store_first(self.table.storage, partition, nodes)


def _check_first(partition: str, nodes: Iterable[Node], living: set[str]) -> None:
    """The metadata of a partition may have been lost: the first ranges replace it only if they are those of its file groups."""
    foreign = living - {node.file_id for node in nodes}
    if foreign:
        raise MalformedTable(
            "the partition has no hashing metadata, and its file groups are not those of the first ranges", rule="LAY-021",
            path=folder_of_ranges(partition), expected="the ranges of its file groups", found=f"no range of {min(foreign)}",
            remedy="restore the hashing metadata, or set the number of buckets with which the partition was first written",
        )  # fmt: skip


def _unsupported_replacement(found: FileSlice) -> UnsupportedTableFeature:
    return UnsupportedTableFeature(
        "the file group of a range of hashes was replaced, so that its rows would never be read", rule="LAY-021",
        path=join_path(found.partition, found.file_id), remedy="upsert and delete rows instead of replacing partitions",
    )  # fmt: skip
