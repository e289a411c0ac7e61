"""Writing the metadata table: base files, log files, and the deltacommits that name them, spec "Metadata".

seed        .<file id>_<instant>.log.1_0-0-0: an empty delete block. Every file group starts with one, so that the number of
            groups is known before there are records
base file   <file id>_0-0-0_<instant>.hfile: the records of a new partition, or of a compacted slice
log file    .<file id>_<instant>.log.1_1-0-0: the records that an action adds, then the keys that it removes
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from hudi_reference.files.hfile.writer import base_file_info, encode_hfile
from hudi_reference.files.log.block import BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import Delete, encode_deletes
from hudi_reference.layout.names import BaseFileName, LogFileName, join_path, parse_data_file_name
from hudi_reference.layout.partitions import mark_partition
from hudi_reference.metadata.codec import encode_record
from hudi_reference.metadata.partitions import IndexGroups, file_id
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, without_meta_columns
from hudi_reference.storage import ObjectExists
from hudi_reference.timeline.contents.metadata import WriteStat, write_commit_metadata
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

SEED, _LOG = "0-0-0", "1-0-0"


@dataclass(frozen=True)
class Entries:
    """The records that an action adds to an index, and the keys that it removes."""

    records: Sequence[MetadataRecord] = ()
    removed: Sequence[str] = ()

    def in_groups(self, groups: IndexGroups) -> Mapping[str, "Entries"]:
        """The same by file group, with the keys that are stored."""
        found: dict[str, tuple[list[MetadataRecord], list[str]]] = {}
        for record in self.records:
            group, key = groups.locate(record.key)
            found.setdefault(group, ([], []))[0].append(replace(record, key=key))
        for removed in self.removed:
            group, key = groups.locate(removed)
            found.setdefault(group, ([], []))[1].append(key)
        return {group: Entries(*found[group]) for group in sorted(found)}


@implements("MDT-003", "BF-002")
def encode_base_records(records: Iterable[MetadataRecord], schema: AvroSchema) -> bytes:
    """The bytes of a base file; it may have no records."""
    entries = sorted(encode_record(record, schema) for record in records)
    return encode_hfile(entries, base_file_info(entries, None) | {"schema": _text_of(schema).encode()})


@implements("MDT-003", "BLK-023", "BLK-006")
def encode_log_file(partition: str, instant: str, entries: Entries, schema: AvroSchema) -> bytes:
    """The bytes of a log file: first the added records, then the removed keys."""
    blocks, header = b"", {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: _text_of(schema)}
    if entries.records:
        records = sorted(encode_record(record, schema) for record in entries.records)
        content = encode_hfile(records, {"schema": _text_of(schema).encode()})
        blocks += encode_block(BlockType.HFILE_DATA, header, content)
    if entries.removed:
        deletes = encode_deletes([Delete(key, partition, None) for key in sorted(entries.removed)], ())
        blocks += encode_block(BlockType.DELETE, header, deletes)
    return blocks


def _text_of(schema: AvroSchema) -> str:
    return json.dumps(schema, separators=(",", ":"))


def first_log_file(instant: str) -> bytes:
    """The first log file of a file group."""
    return encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: instant}, encode_deletes((), ()))


@dataclass
class Deltacommit:
    """A deltacommit of the metadata table: files are stored first, then it is recorded.

    The stored files depend on instant and content alone, so that a repetition stores the same files.
    """

    table: MetadataTable
    instant: str
    operation: str = "UPSERT_PREPPED"
    stats: list[WriteStat] = field(default_factory=list)

    def begin(self) -> None:
        """Store the requested and inflight files."""
        profile = (
            b"" if self.operation == "BULK_INSERT" else write_commit_metadata(self.operation, (), None, self._new_sync_marker)
        )
        self._encode_instant(Instant(self.instant, "deltacommit", State.REQUESTED), b"")
        self._encode_instant(Instant(self.instant, "deltacommit", State.INFLIGHT), profile)

    def seeds(self, partition: str, groups: int, part: str | None = None) -> None:
        """Create the file groups of a partition; in a partitioned index those of one partition of the table."""
        for number in range(groups):
            self._store_log(partition, file_id(partition, number, part), SEED, first_log_file(self.instant), Entries())

    def base_files(self, partition: str, groups: IndexGroups, records: Iterable[MetadataRecord]) -> None:
        """Store base files of the file groups that have records."""
        for group, entries in Entries(list(records)).in_groups(groups).items():
            name = BaseFileName(group, SEED, self.instant, "hfile")
            count = {"writes": len(entries.records), "inserts": len(entries.records)}
            self._store(partition, group, str(name), encode_base_records(entries.records, self.table.schema), **count)

    def log_files(self, partition: str, groups: IndexGroups, entries: Entries) -> None:
        """Store log files of the file groups that change."""
        for group, part in entries.in_groups(groups).items():
            self._store_log(partition, group, _LOG, encode_log_file(partition, self.instant, part, self.table.schema), part)

    def complete(self, completion: str) -> None:
        """Complete it: from here on its files are part of the metadata table."""
        content = write_commit_metadata(
            self.operation, self.stats, without_meta_columns(self.table.schema), self._new_sync_marker
        )
        self._encode_instant(Instant(self.instant, "deltacommit", State.COMPLETED, completion), content)

    def _store_log(self, partition: str, group: str, token: str, data: bytes, entries: Entries) -> None:
        name = str(LogFileName(group, self.instant, 1, token))
        count = {"writes": len(entries.records), "updates": len(entries.records), "deletes": len(entries.removed)}
        self._store(partition, group, name, data, is_log=True, previous_instant=self.instant, **count)

    def _store(self, partition: str, group: str, name: str, data: bytes, **counts: object) -> None:
        mark_partition(self.table.storage, partition, self.instant)
        path = join_path(partition, name)
        with suppress(ObjectExists):
            self.table.storage.create(path, data)
        self.stats.append(WriteStat(group, partition, path, size=len(data), **counts))  # type: ignore[arg-type]

    def _encode_instant(self, instant: Instant, content: bytes) -> None:
        with suppress(ObjectExists):
            self.table.storage.create(self.table.path(instant), content)

    @property
    def _new_sync_marker(self) -> bytes:
        return self.table.ids.sync_marker()


@implements("OCC-021")
def remove_deltacommit(table: MetadataTable, instant: str, partitions: Iterable[str]) -> None:
    """Remove the files of an action, if there are any: it is rolled back, or will be applied again.

    The completed file is deleted first, so that readers ignore the deltacommit while its files are deleted.
    """
    folder = table.properties.timeline_folder
    names = [name for name in table.storage.names(folder) if name.startswith(instant)]
    for name in names:
        if name.startswith(f"{instant}_"):
            table.storage.delete(f"{folder}/{name}")
    for partition in partitions if names else ():
        for file in table.files(partition):
            parsed = parse_data_file_name(file)
            if parsed is not None and parsed.instant == instant:
                table.storage.delete(join_path(partition, file))
    for name in names:
        table.storage.delete(f"{folder}/{name}")
