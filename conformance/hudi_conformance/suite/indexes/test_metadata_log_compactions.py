"""Log compactions of the metadata table, which Apache Hudi makes with `hoodie.metadata.log.compaction.enable`.

It plans one while a write is under way, with a later requested time than that write. The reference makes none there: it writes
the table, the test stores the log compaction, and the engine under test reads and writes on.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.actions_by_hand import SYNC_MARKER, add_milliseconds
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Row, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    COMPACTED_AFTER,
    EVERY_INDEX,
    INSERTS,
    WRITES,
    IndexedTable,
    completion_times,
    values_where,
)
from hudi_reference import open_table
from hudi_reference.files.log.block import Block, HeaderKey, encode_block
from hudi_reference.files.log.reader import read_blocks, read_log_file
from hudi_reference.layout.names import LogFileName
from hudi_reference.metadata.partitions import IndexGroups
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Deltacommit, Entries, encode_log_file
from hudi_reference.services.compaction.log_compaction import EXECUTOR
from hudi_reference.services.planning.compaction_plan import eligible_operations, plan_record
from hudi_reference.timeline.contents.actions import write_action
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

READS = ("read.snapshot", "read.filter", "read.projection", "partition.plain", "merge.event-time")
#: Writers whose rows move to the partition that a write names.
MOVING: Mapping[str, str] = {
    **EVERY_INDEX, "hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true",
}  # fmt: skip
BOTH_VERSIONS = pytest.mark.parametrize("version", [
    pytest.param(8, marks=pytest.mark.versions(8)),
    pytest.param(9, marks=(pytest.mark.needs("table-version.9"), pytest.mark.versions(9))),
])  # fmt: skip
#: A change of a row, and a move of another one to a partition in which values were greater.
UPDATE = Step("upsert", (row("a", 31, "m"),))
MOVE: tuple[Row, ...] = (row("d", 40, "zz", "rio"),)
FOUND = {("id", "d"): ["d"], ("value", "zz"): ["d"], ("ts", 40): ["d"], ("value", "m"): ["a"], ("ts", 31): ["a"]}


class CompactedIndexes(IndexedTable):
    """A table whose last write moves a row, while a log compaction merges the entries of the writes before it."""

    def __init__(self, writer: Client, uri: str, type: Type, version: int) -> None:
        super().__init__(writer, uri, type, MOVING, version)
        self.write(*INSERTS, UPDATE)
        metadata = self._metadata()
        merged = {partition: self.records(partition) for partition in self.listed_partitions()}
        inputs = {partition: self._times_of_blocks(metadata, partition) for partition in merged}
        inner = metadata.as_table
        plan = plan_record(eligible_operations(inner, inner.view(), ()), EXECUTOR, keeps_times=True)
        self.write(Step("upsert", MOVE))
        self.model.apply("delete", (row("d", 0, ""),), self.times[-1])  # of the row in its former partition
        for partition, records in merged.items():
            assert self.records(partition) != records or partition == "bloom_filters"
        self._store(plan, merged, inputs)

    def _metadata(self) -> MetadataTable:
        found = MetadataTable.for_table(open_table(self.uri))
        assert found is not None
        return found

    @staticmethod
    def _times_of_blocks(metadata: MetadataTable, partition: str) -> str:
        """The instants of the blocks in the log files, as a compacted block lists them."""
        paths = [f"{partition}/{name}" for name in metadata.files(partition) if ".log." in name]
        blocks = [block for path in paths for block in read_log_file(metadata.storage, path)]
        return ",".join(sorted({block.header[HeaderKey.INSTANT_TIME] for block in blocks}))

    def _store(
        self, plan: Mapping[str, Any], merged: Mapping[str, Mapping[str, MetadataRecord]], inputs: Mapping[str, str]
    ) -> None:
        """Store the log compaction: requested after the last write, and completed before it."""
        metadata = self._metadata()
        action = Deltacommit(metadata, instant := add_milliseconds(self.times[-1], 1), "LOG_COMPACT")
        requested, inflight = (Instant(instant, "logcompaction", state) for state in (State.REQUESTED, State.INFLIGHT))
        metadata.storage.put(metadata.path(requested), write_action(requested, plan, SYNC_MARKER))
        metadata.storage.put(metadata.path(inflight), b"")
        for partition, records in merged.items():
            groups = IndexGroups.from_ids(metadata.groups(partition))
            for group, entries in Entries(list(records.values())).in_groups(groups).items():
                (block,) = read_blocks(memoryview(encode_log_file(partition, instant, entries, metadata.schema)), "")
                assert isinstance(block, Block)
                header = {HeaderKey(key): value for key, value in block.header.items()}
                header[HeaderKey.COMPACTED_BLOCK_TIMES] = inputs[partition]
                path = f"{partition}/{LogFileName(group, instant, 1, '0-0-0')}"
                metadata.storage.put(path, data := encode_block(block.kind, header, bytes(block.content)))
                stat = WriteStat(group, partition, path, size=len(data), is_log=True, previous_instant=instant)
                action.stats.append(stat)
        last = completion_times(self.folder / ".hoodie" / "metadata")[self.times[-1]]
        action.complete(add_milliseconds(last, -1))


@pytest.fixture
def compacted(new_uri: NewUri, type: Type, version: int) -> CompactedIndexes:
    """The table, written by the reference."""
    with connect("reference") as writer:
        return CompactedIndexes(writer, new_uri(), type, version)


def check_filters(engine: Client, uri: str) -> None:
    """Check that filters find the rows of the last writes, through whichever index."""
    for (column, value), keys in FOUND.items():
        assert values_where(engine, uri, (column, "=", value)) == keys, f"{column} = {value!r}"


@pytest.mark.needs(*READS)
@BOTH_TYPES
@BOTH_VERSIONS
@pytest.mark.requirements("LCP-003", "LF-040", "MDT-010", "IDX-010")
def test_compacted_entries_do_not_hide_later_ones(engine: Client, compacted: CompactedIndexes) -> None:
    """LCP-003: the compacted block takes the place of its inputs, so that entries of the write that was under way count: the
    place of the row that moved, and the bounds of the partition that it moved to.
    """
    compacted.check_rows("with the log compaction", engine)
    check_filters(engine, compacted.uri)


@pytest.mark.needs(*WRITES, "write.global-index", "read.filter", "read.projection")
@BOTH_TYPES
@BOTH_VERSIONS
@pytest.mark.requirements("LCP-003", "LF-040", "MDT-004", "MDT-010", "IDX-010")
def test_a_compaction_stores_entries_after_compacted_blocks(engine: Client, compacted: CompactedIndexes) -> None:
    """LCP-003: the engine writes on, and compacts the metadata table: its base files have the entries of the write that was
    under way.
    """
    compacted.engine, compacted.settings = engine, {**MOVING, COMPACTED_AFTER: "1"}
    for number in range(2):
        compacted.write(Step("upsert", (row("n", number, "new"),)))
    assert compacted.metadata_files("record_index/*.hfile")
    compacted.check("after the writes")
    check_filters(engine, compacted.uri)
