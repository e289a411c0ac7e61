"""Writing HFiles like the HBase-based writer of Apache Hudi, so that both of its readers can read them.

The same entries always give the same bytes: the file contains no time of creation.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hudi_reference.errors import InvalidRows, Misuse
from hudi_reference.files.hfile.block import (
    BYTES_PER_CHECKSUM,
    HEADER_SIZE,
    NO_BLOCK,
    BlockType,
    Compression,
    checksum_size,
    encode_block,
)
from hudi_reference.files.hfile.cell import LONGEST_ROW, Entry, encode_entry, encode_key, separator_key, text_of
from hudi_reference.files.hfile.checksum import ChecksumType
from hudi_reference.files.hfile.index import IndexEntry, encode_index
from hudi_reference.files.hfile.index_writer import IndexWriter
from hudi_reference.files.hfile.trailer import (
    COMPARATOR,
    MINOR_VERSION,
    NO_OFFSET,
    SIZE,
    Trailer,
    encode_file_info,
    encode_trailer,
)
from hudi_reference.requirement import implements

_LONGEST_BLOCK = 2**31 - 1 - BYTES_PER_CHECKSUM


@dataclass(frozen=True)
class Layout:
    """How an HFile is written. Sizes of blocks are in bytes of payload.

    Readers accept any `minor_version`: 3 by HBase, 0 by newer releases of Apache Hudi.
    """

    compression: Compression = Compression.GZ
    block_size: int = 1 << 20
    checksum: ChecksumType = ChecksumType.CRC32C
    minor_version: int = MINOR_VERSION
    #: From this size on the index gets further levels, unless it has fewer entries than `index_entries`.
    index_block_size: int = 128 << 10
    index_entries: int = 16
    #: Whether the index has a shorter key than the first row of a block, if there is one.
    short_index_keys: bool = False


@implements("BF-002", "BLK-025")
def encode_hfile(
    entries: Iterable[Entry],
    info: Mapping[str, bytes] | None = None,
    metas: Mapping[str, bytes] | None = None,
    layout: Layout | None = None,
) -> bytes:
    """The bytes of an HFile with these entries, further file info and meta blocks by name.

    Raises InvalidRows for rows that do not ascend, are duplicates, or are too long; Misuse for file info that the writer sets
    itself.
    """
    writer = _Writer(layout or Layout())
    for payload, first in _payloads(entries, writer):
        writer.data(payload, first)
    writer.index.finish_leaves()
    for name, content in sorted((name.encode(), content) for name, content in (metas or {}).items()):
        writer.metas.append(IndexEntry(name, *writer.add(BlockType.META, content)))
    return writer.finish(info or {})


def base_file_info(entries: Iterable[Entry], bloom_type: str | None = "DYNAMIC_V0") -> dict[str, bytes]:
    """The file info of base files, which contents of log blocks do not have: least and greatest key, kind of the filter."""
    rows = [entry.row for entry in entries] or [b""]
    kind = {} if bloom_type is None else {"bloomFilterTypeCode": bloom_type.encode()}
    return {"minRecordKey": min(rows), "maxRecordKey": max(rows), **kind}


def _payloads(entries: Iterable[Entry], writer: "_Writer") -> Iterator[tuple[bytes, bytes]]:
    """The payload of each data block, and its key in the index.

    A block ends when it has its size, or when the next entry would be shorter than the checksums of the block: the native
    reader of Apache Hudi ends a block too early by that many bytes, and misses entries that begin after that point.
    """
    parts: list[bytes] = []
    size, first = 0, b""
    for row, value in entries:
        before = writer.last
        writer.count(row, value)
        part = encode_entry(row, value)
        if parts and (size >= writer.layout.block_size or len(part) <= _hidden_bytes(size + len(part))):
            yield b"".join(parts), first
            parts, size = [], 0
        first = first if parts else writer.index_key(before, row)
        parts.append(part)
        size += len(part)
    if parts:
        yield b"".join(parts), first


def _hidden_bytes(payload: int) -> int:
    """The number of bytes at the end of a block of this payload in which the native reader finds no entry."""
    stored = HEADER_SIZE + payload
    return checksum_size(stored + checksum_size(stored))


@dataclass
class _Writer:
    """The file written so far, and the fields of its trailer."""

    layout: Layout
    out: bytearray = field(default_factory=bytearray)
    index: IndexWriter = field(init=False)
    #: Offsets of the first and the last data block.
    data_blocks: tuple[int, int] = (NO_OFFSET, NO_OFFSET)
    metas: list[IndexEntry] = field(default_factory=list)
    #: Offset of the newest block of each type.
    newest: dict[BlockType, int] = field(default_factory=dict)
    #: Bytes of headers and payloads, of those blocks that HBase counts.
    total: int = SIZE
    entries: int = 0
    key_bytes: int = 0
    value_bytes: int = 0
    last: bytes | None = None

    def __post_init__(self) -> None:
        self.index = IndexWriter(self.add, self.layout.index_block_size, self.layout.index_entries)

    def index_key(self, before: bytes | None, row: bytes) -> bytes:
        """The key in the index of a block that begins with `row`, after a block that ends with `before`."""
        return encode_key(row) if before is None or not self.layout.short_index_keys else separator_key(before, row)

    def count(self, row: bytes, value: bytes) -> None:
        """Count an entry. Raises InvalidRows if it must not follow the one before."""
        if self.last is not None and row <= self.last:
            what = "comes twice" if row == self.last else "is not in the order of the bytes"
            message = f"a key of an HFile {what}"
            raise InvalidRows(message, rule="BLK-025", expected=f"after {text_of(self.last)}", found=text_of(row))
        if len(row) > LONGEST_ROW or len(value) > _LONGEST_BLOCK - LONGEST_ROW:
            found = f"key {len(row)}, value {len(value)} bytes"
            raise InvalidRows("too long for an HFile", rule="BLK-024", expected=f"keys up to {LONGEST_ROW} bytes", found=found)
        self.last = row
        self.entries += 1
        self.key_bytes += len(encode_key(row))
        self.value_bytes += len(value)

    def data(self, payload: bytes, key: bytes) -> None:
        """A data block."""
        offset, size = self.add(BlockType.DATA, payload)
        first, _ = self.data_blocks
        self.data_blocks = (offset if first == NO_OFFSET else first, offset)
        self.index.data_block(IndexEntry(key, offset, size))

    def add(self, kind: BlockType, payload: bytes, *, counted: bool | None = None) -> tuple[int, int]:
        """Write a block of any kind; returns its offset and size. Like HBase, counts all bytes except those of upper index
        levels.
        """
        offset = len(self.out)
        counted = kind is not BlockType.INTERMEDIATE_INDEX if counted is None else counted
        previous = self.newest.get(kind, NO_BLOCK)
        self.out += encode_block(kind, payload, previous, self.layout.compression, self.layout.checksum)
        self.newest[kind] = offset
        self.total += HEADER_SIZE + len(payload) if counted else 0
        return offset, len(self.out) - offset

    def finish(self, info: Mapping[str, bytes]) -> bytes:
        """Write both indexes, the file info and the trailer."""
        root, count = self.index.root()
        load_on_open, _ = self.add(BlockType.ROOT_INDEX, root, counted=False)
        self.add(BlockType.ROOT_INDEX, encode_index(self.metas, rows=False))
        file_info, _ = self.add(BlockType.FILE_INFO, encode_file_info(self._info(info)))
        first, last = self.data_blocks
        trailer = Trailer(
            file_info_offset=file_info,
            load_on_open_offset=load_on_open,
            data_index_size=self.index.size,
            total_size=self.total,
            data_index_count=count,
            meta_index_count=len(self.metas),
            entry_count=self.entries,
            data_index_levels=self.index.levels,
            first_data_block=first,
            last_data_block=last,
            compression=self.layout.compression,
            comparator=COMPARATOR.encode(),
            minor_version=self.layout.minor_version,
        )
        return bytes(self.out) + encode_trailer(trailer)

    def _info(self, further: Mapping[str, bytes]) -> dict[str, bytes]:
        entries = self.entries or 1
        own = {
            "KEY_VALUE_VERSION": (1).to_bytes(4, "big"),
            "MAX_MEMSTORE_TS_KEY": bytes(8),
            "hfile.AVG_KEY_LEN": (self.key_bytes // entries).to_bytes(4, "big"),
            "hfile.AVG_VALUE_LEN": (self.value_bytes // entries).to_bytes(4, "big"),
            "hfile.CREATE_TIME_TS": bytes(8),
        }
        if self.last is not None:
            own["hfile.LASTKEY"] = encode_key(self.last)
        if taken := {key for key in further if key in own or key.startswith("hfile.")}:
            raise Misuse("file info that the writer sets itself", rule="BF-002", found=", ".join(sorted(taken)))
        return own | dict(further)
