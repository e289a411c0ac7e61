"""Log compactions of the metadata table, as Apache Hudi makes them; the reference makes none there."""

from reference_samples import new_table, trip, trips

from hudi_reference import open_table
from hudi_reference.files.log.block import Block, HeaderKey, encode_block
from hudi_reference.files.log.reader import read_blocks
from hudi_reference.layout.names import LogFileName
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.partitions import file_id
from hudi_reference.metadata.records import FileInfo, FileList, MetadataRecord
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.metadata.writer import Deltacommit, Entries, encode_log_file
from hudi_reference.timeline.contents.metadata import WriteStat

LISTED = {"hoodie.metadata.enable": "true"}
#: The requested times of two writes, of the one that follows, and of a log compaction that is planned during the latter.
FIRST, SECOND, LATER, COMPACTION = (f"2099010100000000{number}" for number in range(1, 5))


def listing(**sizes: int | None) -> MetadataRecord:
    """The files of the partition x with their sizes, None for a deleted file."""
    return MetadataRecord("x", FileList({name: FileInfo(size or 0, is_deleted=size is None) for name, size in sizes.items()}))


def store(metadata: MetadataTable, instant: str, completion: str, record: MetadataRecord, compacted: str | None = None) -> None:
    """Complete a deltacommit with one record, or a log compaction that has merged the blocks of these instants."""
    data = encode_log_file("files", instant, Entries([record]), metadata.schema)
    (block,) = read_blocks(memoryview(data), "")
    assert isinstance(block, Block)
    if compacted is not None:
        data = encode_block(block.kind, {**block.header, HeaderKey.COMPACTED_BLOCK_TIMES: compacted}, bytes(block.content))
    group = file_id("files", 0)
    path = f"files/{LogFileName(group, instant, 1, '0-0-0')}"
    metadata.storage.put(path, data)
    action = Deltacommit(metadata, instant)
    action.begin()
    action.stats.append(WriteStat(group, "files", path, size=len(data), is_log=True, previous_instant=instant))  # type: ignore[arg-type]
    action.complete(completion)


def test_compacted_entries_do_not_hide_later_ones() -> None:
    """LCP-003: a compacted block takes the place of its inputs.

    Apache Hudi plans the log compaction while a write is under way, so that the block has a later instant than entries that it
    does not contain.
    """
    table = new_table(partition=("p",), options=LISTED)
    table.insert(trips(trip("a", p="x")))
    table = open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids, options=LISTED)
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    store(metadata, FIRST, "20990101000001001", listing(f=1, g=1))
    store(metadata, SECOND, "20990101000001002", listing(h=1))
    store(metadata, COMPACTION, "20990101000001003", listing(f=1, g=1, h=1), compacted=f"{SECOND},{FIRST}")
    store(metadata, LATER, "20990101000001004", listing(f=None, k=1))
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    read = metadata.records("files", table.timeline)["x"]
    found = IndexSnapshot(metadata, metadata.timeline, ("files",)).get("files", ["x"])["x"]
    for record in (read, found):
        assert isinstance(record.payload, FileList)
        assert {"g", "h", "k"} <= set(record.payload.files)
        assert "f" not in record.payload.files
