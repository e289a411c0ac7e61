"""The metadata table as a table: its folder, its timeline, and its records, spec "Metadata".

It is a merge-on-read table below `.hoodie/metadata`: HFiles as base files, log files with HFile blocks and delete blocks. The
entries of an action of the data table are committed there with the same requested time, before the action completes; until then
readers ignore them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from hudi_reference.caching import cached_property
from hudi_reference.clock import Clock
from hudi_reference.errors import damaged_committed_block
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import hfile_of, open_hfile
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock
from hudi_reference.files.log.content import block_schema, decode_deletes
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.ids import Ids
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_reference.layout.properties import META_FOLDER, TableProperties, read_properties
from hudi_reference.layout.properties_writer import write_properties
from hudi_reference.locks import InProcessLock
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.codec import decode_entries
from hudi_reference.metadata.partitions import key_in_part, part_of
from hudi_reference.metadata.record_merge import MergedRecords
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.schema import SCHEMA, SCHEMA_9, VALUE_TYPE, schema_of
from hudi_reference.query.damage_checks import DAMAGE_CHECKS, ReadChecks
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.file_system_view import load_commit, load_file_groups
from hudi_reference.query.log_scanner import apply_log_compactions
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, parse_schema
from hudi_reference.storage import Storage
from hudi_reference.storage.wrapped import FolderStorage
from hudi_reference.timeline.active import Timeline, load_timeline
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.timeline.instants.times import format_time

#: The prefix of the requested times of initializations; a counter follows.
FIRST = "0" * 14


@dataclass(frozen=True)
class MetadataTable:
    """The metadata table of a data table. It is changed only under the lock of the data table."""

    storage: Storage
    properties: TableProperties
    clock: Clock
    ids: Ids
    uri: str = ""
    #: The checks of its readers, as of those of the data table.
    checks: ReadChecks = DAMAGE_CHECKS

    @classmethod
    def for_table(cls, table: Table) -> "MetadataTable | None":
        """The metadata table of a table; None if it has none."""
        storage = FolderStorage(table.storage, METADATA_FOLDER)
        if storage.head(f"{META_FOLDER}/hoodie.properties") is None:
            return None
        return cls(storage, read_properties(storage), table.clock, table.ids, f"{table.uri}/{METADATA_FOLDER}", table.checks)

    @classmethod
    @implements("MDT-002", "LAY-014")
    def create(cls, table: Table) -> "MetadataTable":
        """Create an empty metadata table, of the version of its table."""
        storage = FolderStorage(table.storage, METADATA_FOLDER)
        properties = write_properties(storage, _entries(table), f"Properties saved on {format_time(table.clock.now())} UTC")
        return cls(storage, properties, table.clock, table.ids, f"{table.uri}/{METADATA_FOLDER}")

    @cached_property
    def schema(self) -> AvroSchema:
        """The schema of the records that writers add: never one with fewer fields than that of the last write.

        1.2.0 and hudi-rs store the later schema in tables of version 8 too, and hudi-rs fails on a mixture (ER-269).
        """
        written = None if self.properties.version >= 9 else self.timeline.latest
        if written is None:
            return schema_of(self.properties.version)
        stored = load_commit(self.storage, self.properties, written).schema
        return SCHEMA_9 if stored is None or VALUE_TYPE in stored else SCHEMA  # hudi-rs names no schema

    @property
    def timeline(self) -> Timeline:
        """Its own timeline."""
        return load_timeline(self.storage, self.properties)

    @cached_property
    @implements("MDT-002")
    def as_table(self) -> Table:
        """The metadata table as a `Table`, for its services. It has a lock of its own, as that of the data table is held
        already.

        It has no hooks: its services trigger nothing.
        """
        return Table(self.storage, self.clock, self.ids, self.properties, self.uri, lock=InProcessLock())

    def files(self, partition: str) -> tuple[str, ...]:
        """The names of the data files of a partition."""
        return tuple(name for name, _ in self._data_files(partition))

    @implements("IDX-011")
    def groups(self, partition: str) -> tuple[str, ...]:
        """The ids of the file groups of a partition, by number. Their number was set at its creation."""
        return tuple(sorted({parsed.file_id for _, parsed in self._data_files(partition)}))

    def _data_files(self, partition: str) -> Iterator[tuple[str, BaseFileName | LogFileName]]:
        for name in self.storage.names(partition):
            parsed = parse_data_file_name(name)
            if parsed is not None:
                yield name, parsed

    @implements("MDT-002", "MDT-003", "RDR-018", "OCC-021")
    def records(self, partition: str, data: Timeline) -> dict[str, MetadataRecord]:
        """The records of a partition by key; see `partitions` for the keys of a partitioned record index.

        Entries of actions that are pending on `data`, the timeline of the data table, are ignored.
        """
        pending, timeline = data.pending_times, self.timeline
        instants = (
            replace(instant, state=State.INFLIGHT) if instant.requested in pending else instant for instant in timeline.instants
        )
        shown = replace(timeline, instants=tuple(instants))
        groups = load_file_groups(self.storage, self.properties, shown, checks=self.checks)
        stored = (
            (key_in_part(part_of(found.file_id), key), record)
            for found in groups.latest_slices
            if found.partition == partition
            for key, record in self.records_of_slice(found).items()
        )
        return {key: replace(record, key=key) for key, record in stored}

    @implements("MDT-002", "MRG-008")
    def records_of_slice(self, file_slice: FileSlice) -> dict[str, MetadataRecord]:
        """The records of a slice by key: those of its base file, merged with each log file."""
        records = MergedRecords()
        if file_slice.base_file is not None:
            hfile = open_hfile(self.storage, path := file_slice.path(file_slice.base_file))
            records = MergedRecords(decode_entries(hfile, parse_schema(hfile.schema(), path), path))
        for block in log_blocks(self.storage, file_slice):
            _apply_block(block, records)
        return records.merged()

    def path(self, instant: Instant) -> str:
        """The path of the file of one of its instants."""
        return f"{self.properties.timeline_folder}/{instant.file_name}"


@implements("LF-040", "LCP-003")
def log_blocks(storage: Storage, file_slice: FileSlice) -> list[Block]:
    """The log blocks of a slice in merge order: those of a log compaction in place of its inputs (ER-267).

    Contents are fetched on demand. Raises CorruptCommittedBlock.
    """
    blocks: list[Block] = []
    for name in file_slice.log_files:
        for block in read_log_file(storage, file_slice.path(name)):
            if isinstance(block, CorruptBlock):  # log files of writes that did not complete are not in a slice
                raise damaged_committed_block(block.path, block.offset, block.reason)
            blocks.append(block)
    return apply_log_compactions(blocks)


def _apply_block(block: Block, records: MergedRecords) -> None:
    if block.kind is BlockType.DELETE:
        for delete in decode_deletes(block):
            records.remove(delete.key)
    for new in _records_in(block) if block.kind is BlockType.HFILE_DATA else ():
        records.add(new)


def _records_in(block: Block) -> Iterator[MetadataRecord]:
    schema = block_schema(block)
    entries: Iterable[Entry] = hfile_of(block.content, block.path, block.content_offset)
    return decode_entries(entries, schema, block.path)


@implements("MDT-018")
def _entries(table: Table) -> dict[str, str]:
    """The properties of the metadata table of a table."""
    version = str(table.properties.version)
    return {
        **_PROPERTIES,
        "hoodie.table.name": f"{table.properties.name}_metadata",
        "hoodie.table.version": version,
        "hoodie.table.initial.version": version,
        "hoodie.table.timeline.timezone": table.properties.get("hoodie.table.timeline.timezone") or "LOCAL",
    }


#: The properties of every metadata table.
_PROPERTIES = {
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.base.file.format": "HFILE",
    "hoodie.table.recordkey.fields": "key",
    "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA",
    "hoodie.populate.meta.fields": "false",
    "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
    "hoodie.record.merge.mode": "CUSTOM",
    "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
    "hoodie.timeline.layout.version": "2",
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
    "hoodie.archivelog.folder": "history",
    "hoodie.datasource.write.drop.partition.columns": "false",
}
