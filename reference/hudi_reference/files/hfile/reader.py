"""Reading HFiles by ranges: the trailer, then the section that is loaded on opening, then only the blocks that are needed.

    scanned          data blocks, with leaf indexes between them
    not scanned      meta blocks, intermediate indexes
    load on open     root of the data index, meta index, file info
    trailer          4096 bytes

Every number is checked before it is used as an offset or a size, and memory is allocated only in proportion to the stored
bytes.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from hudi_reference.caching import cached_property
from hudi_reference.errors import missing_data_file
from hudi_reference.files.hfile.block import HEADER_SIZE, Block, BlockType, Compression, block_size, decode_block
from hudi_reference.files.hfile.cell import Entry, read_entries, text_of
from hudi_reference.files.hfile.index import IndexEntry, read_data_index, read_inner_index, read_meta_index
from hudi_reference.files.hfile.trailer import SIZE as TRAILER_SIZE
from hudi_reference.files.hfile.trailer import Trailer, decode_file_info, decode_trailer
from hudi_reference.files.hfile.varint import Data, Place
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

#: Reads `length` bytes of the HFile from an offset on, or fewer at its end.
Fetch = Callable[[int, int], Data]
#: Whether a block is wanted, by the least row that it may contain and that of the next block (None: the last block).
MayHold = Callable[[bytes, bytes | None], bool]
#: How many bytes of data blocks a file keeps for further look-ups.
_KEPT_BYTES = 32 << 20
_row_of = attrgetter("row")


def open_hfile(storage: Storage, path: str) -> "HFile":
    """The HFile at `path`: two small reads now, one for each block later.

    Raises MissingDataFile, MalformedBaseFile, UnsupportedFileFormat.
    """
    info = storage.head(path)
    if info is None:
        raise missing_data_file(path)

    def fetch(start: int, length: int) -> bytes:
        try:
            return storage.get(path, start, length)
        except FileNotFoundError as error:
            raise missing_data_file(path) from error

    return _open(fetch, info.size, Place(path))


def hfile_of(data: Data, path: str, start: int = 0) -> "HFile":
    """The HFile in `data`, which is a file, or the content of a log block that begins at `start` in the file at `path`."""
    view = memoryview(data).cast("B")  # an Arrow buffer has signed bytes
    return _open(lambda offset, length: view[offset : offset + length], len(view), Place(path, start))


@implements("BF-002")
def _open(fetch: Fetch, size: int, place: Place) -> "HFile":
    at = size - TRAILER_SIZE
    if at < 0:
        raise place.malformed("too short for an HFile", 0, f"{size} bytes", f"at least {TRAILER_SIZE} bytes")
    trailer = decode_trailer(_fetch_exactly(fetch, at, TRAILER_SIZE, place), at, place)
    loaded = _LoadOnOpen(fetch, trailer, at, place)
    root = loaded.take(BlockType.ROOT_INDEX)
    names = loaded.take(BlockType.ROOT_INDEX)
    if loaded.position != trailer.file_info_offset:
        raise place.malformed("the file info is at another offset", at, str(trailer.file_info_offset), str(loaded.position))
    info = decode_file_info(loaded.take(BlockType.FILE_INFO), place)
    loaded.finish()
    _check_info(info, trailer, place)
    end = trailer.load_on_open_offset
    return HFile(
        trailer=trailer,
        info=info,
        size=size,
        place=place,
        fetch=fetch,
        root=read_data_index(root, trailer.data_index_count, trailer.data_index_levels, end, place),
        metas=read_meta_index(names, trailer.meta_index_count, end, place),
    )


class _LoadOnOpen:
    """The blocks between the load-on-open offset and the trailer, in order."""

    def __init__(self, fetch: Fetch, trailer: Trailer, end: int, place: Place) -> None:
        self.start = self.position = trailer.load_on_open_offset
        self.data = memoryview(_fetch_exactly(fetch, self.start, end - self.start, place))
        self.compression, self.place = Compression(trailer.compression), place

    def take(self, kind: BlockType) -> Block:
        """The next block, which has to be of the given kind."""
        block = decode_block(self.data[self.position - self.start :], self.position, self.place, self.compression, [kind])
        self.position += block.size
        return block

    def finish(self) -> None:
        """Check that no bytes follow the last block."""
        rest = self.start + len(self.data) - self.position
        if rest:
            raise self.place.malformed("bytes between the file info and the trailer", self.position, f"{rest} bytes", "none")


def _fetch_exactly(fetch: Fetch, start: int, length: int, place: Place) -> Data:
    data = fetch(start, length)
    if len(data) != length:
        raise place.malformed("the file ended while it was read", start, f"{len(data)} bytes", f"{length} bytes")
    return data


def _check_info(info: Mapping[str, bytes], trailer: Trailer, place: Place) -> None:
    """Refuse key-values of another version, which have other bytes after their value."""
    version = info.get("KEY_VALUE_VERSION", b"")
    newest = info.get("MAX_MEMSTORE_TS_KEY", bytes(8))
    if version != b"\x00\x00\x00\x01" or any(newest):
        found = f"version {version.hex() or 'missing'}, newest change {newest.hex()}"
        raise place.unsupported(
            "key-values of another kind", trailer.file_info_offset, found, "version 00000001, newest change 0"
        )


@dataclass(frozen=True)
class HFile:
    """An open HFile. Rows are record keys in UTF-8, in the order of their bytes."""

    trailer: Trailer
    info: Mapping[str, bytes]
    #: In bytes.
    size: int
    place: Place
    fetch: Fetch = field(repr=False)
    root: Sequence[IndexEntry] = field(repr=False)
    metas: Mapping[str, IndexEntry] = field(repr=False)

    def schema(self) -> bytes:
        """The text of the Avro schema in the file info. Raises MalformedBaseFile if there is none."""
        if "schema" not in self.info:
            raise self.place.malformed(
                "no schema in the file info", self.trailer.file_info_offset, ", ".join(self.info), "schema"
            )
        return self.info["schema"]

    def meta(self, name: str) -> bytes | None:
        """The content of a meta block; None if there is none of the name."""
        entry = self.metas.get(name)
        return None if entry is None else bytes(self._block(entry, BlockType.META).payload)

    @implements("BLK-026")
    def get(self, *keys: str) -> Iterator[Entry]:
        """The entries of these keys, in the order of the file. Each block that may contain some is read once."""
        rows = sorted({_row(key) for key in keys})

        def may_hold(first: bytes, following: bytes | None) -> bool:
            place = bisect_left(rows, first)
            return place < len(rows) and (following is None or rows[place] < following)

        for leaf, entries in self._looked_up(may_hold):
            place = bisect_left(rows, leaf.row)
            while place < len(rows) and entries and rows[place] <= entries[-1].row:
                yield from _between(entries, rows[place], rows[place] + b"\x00")
                place += 1

    @implements("BLK-026")
    def range(self, start: str, end: str | None = None) -> Iterator[Entry]:
        """The entries from `start` on, and before `end` if given."""
        return self._between(_row(start), None if end is None else _row(end))

    @implements("BLK-026")
    def prefix(self, prefix: str) -> Iterator[Entry]:
        """The entries whose keys begin with `prefix`."""
        start = _row(prefix)
        return self._between(start, start[:-1] + bytes([start[-1] + 1]) if start else None)  # no byte of UTF-8 is ff

    @implements("BLK-025")
    def __iter__(self) -> Iterator[Entry]:
        """All entries. Raises MalformedBaseFile if their number is not that of the trailer."""
        count = 0
        for entry in self._entries(lambda first, following: True):
            count += 1
            yield entry
        if count != self.trailer.entry_count:
            message, at = "the number of entries differs from the trailer", self.size - TRAILER_SIZE
            raise self.place.malformed(message, at, str(count), str(self.trailer.entry_count))

    def blocks(self) -> Iterator[Block]:
        """Every block from the file's start to the trailer."""
        offset, end = 0, self.size - TRAILER_SIZE
        while offset < end:
            head = _fetch_exactly(self.fetch, offset, min(HEADER_SIZE, end - offset), self.place)
            size = block_size(head, offset, self.place)
            block = self._read(offset, min(max(size, HEADER_SIZE), end - offset), list(BlockType))
            yield block
            offset += block.size

    def _between(self, start: bytes, end: bytes | None) -> Iterator[Entry]:
        def may_hold(first: bytes, following: bytes | None) -> bool:
            return (end is None or first < end) and (following is None or following > start)

        return (entry for _, entries in self._looked_up(may_hold) for entry in _between(entries, start, end))

    def _looked_up(self, may_hold: MayHold) -> Iterator[tuple[IndexEntry, Sequence[Entry]]]:
        """The wanted data blocks with their entries. Those of the last blocks are kept, for look-ups of keys beside them."""
        for leaf, following in self._wanted_leaves(may_hold):
            found = self._kept.pop(leaf.offset, None)
            if found is None:
                found = self._decode(leaf, following)
                while self._kept and found[0] + sum(size for size, _ in self._kept.values()) > _KEPT_BYTES:
                    del self._kept[next(iter(self._kept))]
            self._kept[leaf.offset] = found  # the last one is the newest
            yield leaf, found[1]

    @cached_property
    def _kept(self) -> dict[int, tuple[int, Sequence[Entry]]]:
        """The data blocks that were looked up last, by offset: bytes without compression, and entries."""
        return {}

    def _decode(self, leaf: IndexEntry, following: bytes | None) -> tuple[int, Sequence[Entry]]:
        payload = self._block(leaf, BlockType.DATA).payload
        return len(payload), list(self._entries_of(leaf, following, payload))

    def _entries(self, may_hold: MayHold) -> Iterator[Entry]:
        """The entries of the wanted data blocks."""
        for leaf, following in self._wanted_leaves(may_hold):
            yield from self._entries_of(leaf, following, self._block(leaf, BlockType.DATA).payload)

    def _entries_of(self, leaf: IndexEntry, following: bytes | None, payload: Data) -> Iterator[Entry]:
        for entry in read_entries(payload, leaf.offset, self.place):
            self._check_row(entry.row, leaf, following)
            yield entry

    def _wanted_leaves(self, may_hold: MayHold) -> Iterator[tuple[IndexEntry, bytes | None]]:
        """The wanted data blocks, each with the least row of the next one."""
        free = 0
        for leaf, following in self._leaves(self.root, self.trailer.data_index_levels, None, may_hold):
            if leaf.offset < free:
                raise self.place.malformed(
                    "the index refers to an earlier offset", leaf.offset, f"byte {leaf.offset}", f"byte {free} or later"
                )
            free = leaf.offset + leaf.size
            yield leaf, following

    def _leaves(
        self, entries: Sequence[IndexEntry], levels: int, end: bytes | None, may_hold: MayHold
    ) -> Iterator[tuple[IndexEntry, bytes | None]]:
        """The data blocks below these index entries, each with the least row of the next block."""
        for entry, following in zip(entries, (*(after.row for after in entries[1:]), end), strict=False):
            if not may_hold(entry.row, following):
                continue
            if levels == 1:
                yield entry, following
                continue
            kind = BlockType.LEAF_INDEX if levels == 2 else BlockType.INTERMEDIATE_INDEX
            inner = read_inner_index(self._block(entry, kind), self.trailer.load_on_open_offset, self.place)
            for row in (inner[0].row, inner[-1].row):
                self._check_row(row, entry, following)
            yield from self._leaves(inner, levels - 1, following, may_hold)

    def _check_row(self, row: bytes, entry: IndexEntry, following: bytes | None) -> None:
        """Check that a row is within the bounds that the index has for its block: otherwise a look-up would miss a row that a
        scan returns.
        """
        if row < entry.row or (following is not None and row >= following):
            expected = f"from {text_of(entry.row)}" + ("" if following is None else f" to before {text_of(following)}")
            raise self.place.malformed(
                "a row is outside the bounds that the index has for its block", entry.offset, text_of(row), expected
            )

    def _block(self, entry: IndexEntry, kind: BlockType) -> Block:
        block = self._read(entry.offset, entry.size, [kind])
        if block.size != entry.size:
            message = "the size of a block differs from its index entry"
            raise self.place.malformed(message, entry.offset, f"{block.size} bytes", f"{entry.size} bytes")
        return block

    def _read(self, offset: int, size: int, kinds: Collection[BlockType]) -> Block:
        data = memoryview(_fetch_exactly(self.fetch, offset, size, self.place))
        return decode_block(data, offset, self.place, Compression(self.trailer.compression), kinds)


def _between(entries: Sequence[Entry], start: bytes, end: bytes | None) -> Sequence[Entry]:
    """The entries with rows from `start` on, and before `end` if given."""
    last = len(entries) if end is None else bisect_left(entries, end, key=_row_of)
    return entries[bisect_left(entries, start, key=_row_of) : last]


def _row(key: str) -> bytes:
    """A key as stored. No file contains None, or a text that cannot be encoded in UTF-8."""
    return key.encode("utf-8", "surrogatepass")
