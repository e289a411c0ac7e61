"""Tables with consistent hashing, and log files with the instants of their slices in their names, as deployed writers name them."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import validated_tables_samples as t

from hudi_reference.clock import ManualClock
from hudi_reference.ids import RandomIds
from hudi_reference.layout.names import join_path, split_path
from hudi_reference.storage import MemoryStorage, Storage
from hudi_reference.write.placement.consistent_buckets import FIRST, FOLDER, folder_of_ranges

RANGES = {
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
}


def _new(ordering: Sequence[str], partition: Sequence[str] = ("city",), buckets: int = 1) -> Any:
    return t.create_table(
        "memory:///sample", name="sample", schema=t.SCHEMA, record_key=["id"], partition=partition, ordering=ordering,
        table_type="MERGE_ON_READ", storage=MemoryStorage(), clock=ManualClock(t.START), ids=RandomIds(),
        options={**RANGES, "hoodie.bucket.index.num.buckets": str(buckets)},
    )  # fmt: skip


def written(ordering: Sequence[str]) -> Storage:
    """An insert and two updates of one row, with consistent hashing."""
    table = _new(ordering)
    table.upsert(t.rows(1))
    for fare in (1, 2):
        table.upsert(t.rows(1, fare=fare))
    return table.storage  # type: ignore[no-any-return]


def of_ranges() -> Storage:
    """Rows in each of four ranges of a partition."""
    table = _new((), buckets=4)
    table.upsert(t.rows(*range(0, 40, 2)))
    return table.storage  # type: ignore[no-any-return]


def resized(partition: str = "south") -> Storage:
    """The partition south has a range with a random id, as after a split, and north has its first range.

    With "" the table is not partitioned, and has the range with a random id alone.
    """
    table = _new((), ("city",) if partition else ())
    node = {"value": 2**31 - 1, "fileIdPrefix": str(UUID(int=7, version=4)), "tag": "NORMAL"}
    content = {"version": 0, "partitionPath": partition, "instant": FIRST, "numBuckets": 1, "seqNo": 0, "nodes": [node]}
    table.storage.put(f"{folder_of_ranges(partition)}/{FIRST}.hashing_meta", json.dumps(content).encode())
    table.upsert(t.rows(1, 2))
    return table.storage  # type: ignore[no-any-return]


def lose_metadata(storage: Storage, folder: str = "") -> None:
    """Delete the hashing metadata of all partitions, or of one."""
    for info in tuple(storage.list(f"{FOLDER}/{folder}")):
        storage.delete(info.path)


def name_another_group(storage: Storage) -> None:
    """The second range of a partition is that of another file group."""
    path = t.paths(storage, ".hashing_meta")[0]
    content = json.loads(storage.get(path))
    content["nodes"][1]["fileIdPrefix"] = str(UUID(int=9, version=4))
    storage.put(path, json.dumps(content).encode())


def rename_in(storage: Storage, completed: str, old: str, new: str) -> None:
    """Rename the log file of a write, in its metadata too."""

    def change(record: object) -> None:
        (stat,) = t.stats_of(record)
        assert stat["path"] == old
        stat["path"] = new
        names = {split_path(old)[1]: split_path(new)[1]}
        stat["logFiles"] = [names.get(one, one) for one in stat.get("logFiles") or ()]

    t.move(storage, old, new)
    t.change_record(storage, completed, change)


def named_by_slice(storage: Storage, token: str) -> None:
    """Give the log files of the updates the instant of the insert, and the last one this write token."""
    updates = t.log_files(storage)[-2:]
    instant = t.completed(storage, "deltacommit", 0).rpartition("/")[2].partition("_")[0]
    for number, (path, write_token) in enumerate(zip(updates, ("8-2-3", token), strict=True), start=1):
        folder, name = split_path(path)
        renamed = join_path(folder, f"{name.partition('_')[0]}_{instant}.log.1_{write_token}")
        rename_in(storage, t.completed(storage, "deltacommit", number), path, renamed)
