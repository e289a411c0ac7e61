"""Statistics of partitions beside writes that began before another action and complete after it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest

from hudi_reference import compact, create_table, open_table
from hudi_reference.locks import InProcessLock
from hudi_reference.metadata.indexes.index import Change
from hudi_reference.metadata.keys import partition_stats_key
from hudi_reference.metadata.records import PartitionStats
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.storage import MemoryStorage

FIELDS = {"id": pa.string(), "ts": pa.int64(), "p": pa.string(), "value": pa.string()}
SCHEMA = {
    "type": "record",
    "name": "t",
    "fields": [{"name": n, "type": ["null", "long" if n == "ts" else "string"], "default": None} for n in FIELDS],
}
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
}
NON_BLOCKING = {
    **INDEXED,
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
}
#: Writers whose new keys go to file groups of their own.
OPTIMISTIC = {
    **INDEXED,
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.parquet.small.file.limit": "0",
}


@dataclass
class Delayed:
    """A lock that runs an action once, before the write of its owner completes."""

    action: Callable[[], object]
    lock: InProcessLock
    in_process: bool = True

    def acquire(self, owner: str) -> None:
        """Run the action if the write is about to complete; then acquire the lock."""
        if owner.startswith("complete "):
            action, self.action = self.action, int
            action()
        self.lock.acquire(owner)

    def release(self, owner: str) -> None:
        """Release the lock."""
        self.lock.release(owner)

    def check(self, owner: str) -> None:
        """Check the lock."""
        self.lock.check(owner)


def rows(*values: tuple[str, int, str, str]) -> pa.Table:
    """Rows of key, ordering value, partition and value."""
    return pa.Table.from_pylist([dict(zip(FIELDS, one, strict=True)) for one in values], schema=pa.schema(FIELDS))


@dataclass
class Written:
    """A table in memory with two writes in the partition `x`."""

    storage: MemoryStorage
    options: dict[str, str]

    @classmethod
    def new(cls, kind: Any, version: Any, options: dict[str, str]) -> "Written":
        """The table, which has a base file or two log files."""
        table = cls(MemoryStorage(), options)
        create_table("memory:", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",), table_type=kind,
                     version=version, storage=table.storage, options=options)  # fmt: skip
        table.upsert(("a", 1, "x", "old"), ("b", 1, "x", "old"))
        table.upsert(("a", 2, "x", "mid"), ("b", 2, "x", "mid"))
        return table

    @property
    def opened(self) -> Any:
        return open_table("memory:", storage=self.storage, options=self.options)

    def upsert(self, *values: tuple[str, int, str, str]) -> None:
        """Write rows."""
        self.opened.upsert(rows(*values))

    def upsert_slowly(self, meanwhile: Callable[[], object], *values: tuple[str, int, str, str]) -> None:
        """Write rows; before the write completes, do something else."""
        replace(self.opened, lock=Delayed(meanwhile, InProcessLock(timeout=5))).upsert(rows(*values))

    def compact(self) -> None:
        """Compact every file slice with logs."""
        compact(self.opened, {"hoodie.compact.inline.max.delta.commits": "1"})

    def keys_with(self, value: str) -> list[str]:
        """The keys of the rows with that value, read with a filter."""
        found = open_table("memory:", storage=self.storage).snapshot(["id"], where=[("value", "=", value)])
        return sorted(found.column("id").to_pylist())

    def statistics(self) -> PartitionStats:
        """The stored statistics of the column `value` in the partition `x`."""
        metadata = MetadataTable.for_table(self.opened)
        assert metadata is not None
        payload = metadata.records("partition_stats", self.opened.timeline)[partition_stats_key("value", "x")].payload
        assert isinstance(payload, PartitionStats)
        return payload


def late_write_beside_a_compaction(version: Any) -> Written:
    """A non-blocking write whose file group is compacted meanwhile."""
    table = Written.new("MERGE_ON_READ", version, NON_BLOCKING)
    table.upsert_slowly(table.compact, ("b", 5, "x", "zz"))
    return table


def late_write_beside_a_writer(version: Any) -> Written:
    """A write of a new key, while another writer writes another new key."""
    table = Written.new("COPY_ON_WRITE", version, OPTIMISTIC)
    table.upsert_slowly(lambda: table.upsert(("d", 1, "x", "nn")), ("c", 1, "x", "zz"))
    return table


LATE_WRITES = {"compaction": late_write_beside_a_compaction, "writer": late_write_beside_a_writer}
both_versions = pytest.mark.parametrize("version", [8, 9])
late_writes = pytest.mark.parametrize("beside", LATE_WRITES)


@both_versions
@late_writes
def test_statistics_contain_the_values_of_a_late_write(beside: str, version: Any) -> None:
    """MDT-010: the entry of an action that completed in between does not replace that of the write, and every reader finds it."""
    table = LATE_WRITES[beside](version)
    found = table.statistics()
    assert (found.least and found.least.value, found.greatest and found.greatest.value) == ("mid", "zz")
    assert table.keys_with("zz") == [{"compaction": "b", "writer": "c"}[beside]]
    table.upsert(("b", 7, "x", "nn"))
    assert "b" in table.keys_with("nn")


@both_versions
@late_writes
def test_a_reader_distrusts_statistics_beside_a_late_write(monkeypatch: pytest.MonkeyPatch, beside: str, version: Any) -> None:
    """MDT-010: statistics as deployed writers store them lack the values of a late write; a filter finds its row all the same."""
    monkeypatch.setattr(Change, "replaces_entries", True)
    table = LATE_WRITES[beside](version)
    greatest = table.statistics().greatest
    assert greatest is not None and str(greatest.value) < "zz", "the deployed entry contains the late value"
    assert table.keys_with("zz") == [{"compaction": "b", "writer": "c"}[beside]]


@both_versions
def test_statistics_become_tight_again(version: Any) -> None:
    """MDT-011: after the late write the next action in the partition stores statistics that replace those before them."""
    table = late_write_beside_a_compaction(version)
    table.compact()
    found = table.statistics()
    assert found.is_tight
    assert (found.least and found.least.value, found.greatest and found.greatest.value) == ("mid", "zz")
