"""Damaged HFiles raise a typed error that names the place, or give the same entries, in bounded time and memory."""

import struct
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hfile_samples import DATA, WORKED, entries
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import HudiError, MalformedBaseFile, UnsupportedFileFormat
from hudi_reference.files.hfile.block import BlockType, Compression, encode_block
from hudi_reference.files.hfile.cell import Entry, encode_entry, encode_key
from hudi_reference.files.hfile.checksum import ChecksumType
from hudi_reference.files.hfile.index import IndexEntry, encode_index
from hudi_reference.files.hfile.reader import HFile, hfile_of
from hudi_reference.files.hfile.trailer import NO_OFFSET, Trailer, encode_file_info, encode_trailer
from hudi_reference.files.hfile.varint import hadoop_varint
from hudi_reference.files.hfile.writer import Layout, encode_hfile
from hudi_reference.storage import MemoryStorage

UNCHECKED = Layout(Compression.NONE, 60, ChecksumType.NONE)
CHECKED = Layout(Compression.GZ, 60)


def everything(data: bytes) -> list[Entry]:
    """All answers of a file: entries, lookups, meta blocks, and the inspection of its blocks."""
    found = hfile_of(data, "f.hfile", 100)
    rows = list(found)
    for key in ("", "a", "key-000003", "z"):
        list(found.get(key))
        list(found.prefix(key))
    for name in found.metas:
        found.meta(name)
    list(found.blocks())
    return rows


def complains(data: bytes) -> HudiError:
    """The error of a file that must be refused."""
    with pytest.raises((MalformedBaseFile, UnsupportedFileFormat)) as raised:
        everything(data)
    assert (raised.value.path, raised.value.rule) == ("f.hfile", "BF-002")
    assert raised.value.offset is not None
    assert 100 <= raised.value.offset <= 100 + len(data)
    return raised.value


@pytest.mark.parametrize("layout", [UNCHECKED, CHECKED])
def test_truncated_files_are_an_error(layout: Layout) -> None:
    """BF-002: a file without its end or its beginning is not an HFile."""
    whole = encode_hfile(entries(6), metas={"m": b"x"}, layout=layout)
    for end in range(0, len(whole), 7):
        complains(whole[:end])
    for start in range(1, len(whole), 7):
        complains(whole[start:])


def test_every_flipped_bit_of_a_checked_file_is_an_error_or_changes_nothing() -> None:
    """BF-002: checksums detect each change of a block; the trailer has none, but no change of it gives other entries."""
    for offset in range(WORKED.index(b"TRABLK") + 170):
        for bit in (0x01, 0x80):
            damaged = bytearray(WORKED)
            damaged[offset] ^= bit
            with suppress(HudiError):
                assert everything(bytes(damaged)) == [Entry(b"a", b"1"), Entry(b"b", b"2")]
                assert offset >= WORKED.index(b"TRABLK")


@pytest.mark.parametrize("name", ["native-1.2.0.hfile", "hbase-three-levels.hfile", "metadata-files-1.0.2.hfile"])
def test_damaged_files_of_apache_hudi_raise_typed_errors(name: str) -> None:
    """BF-002: for any changed byte only errors of the reference are raised."""
    whole = (DATA / name).read_bytes()
    for offset in range(0, len(whole) - 3800, 11):
        damaged = bytearray(whole)
        damaged[offset] ^= 0x55
        with suppress(HudiError):
            everything(bytes(damaged))


@given(st.data())
@bounded(200)
def test_files_without_checksums_raise_typed_errors(data: st.DataObject) -> None:
    """BF-002: without checksums, any change of lengths, offsets and counts gives a typed error or entries."""
    whole = bytearray(encode_hfile(entries(5), metas={"m": b"x"}, layout=UNCHECKED))
    end = len(whole) - 3980
    for _ in range(data.draw(st.integers(1, 4))):
        offset = data.draw(st.integers(0, end))
        new = data.draw(
            st.binary(min_size=1, max_size=8) | st.sampled_from([b"\xff" * 4, b"\x7f\xff\xff\xff", bytes(4), bytes(8)])
        )
        whole[offset : offset + len(new)] = new
    with suppress(HudiError):
        everything(bytes(whole))


def block(kind: BlockType, payload: bytes) -> bytes:
    """A block as the files below have them: neither compressed nor checked."""
    return encode_block(kind, payload, -1, Compression.NONE, ChecksumType.NONE)


INFO = {"KEY_VALUE_VERSION": b"\x00\x00\x00\x01", "MAX_MEMSTORE_TS_KEY": bytes(8)}


def file_of(scanned: bytes, root: bytes, info: bytes | None = None, **trailer: Any) -> bytes:
    """A file built by hand from valid blocks and the given trailer."""
    start = len(scanned)
    roots = block(BlockType.ROOT_INDEX, root) + block(BlockType.ROOT_INDEX, b"")
    described = Trailer(
        file_info_offset=start + len(roots), load_on_open_offset=start, data_index_levels=1, compression=Compression.NONE,
        first_data_block=NO_OFFSET, last_data_block=NO_OFFSET,
    )  # fmt: skip
    described = replace(described, **trailer)
    return (
        scanned
        + roots
        + block(BlockType.FILE_INFO, encode_file_info(INFO) if info is None else info)
        + encode_trailer(described)
    )


def data_block(*rows: bytes) -> bytes:
    """A data block with these rows."""
    return block(BlockType.DATA, b"".join(encode_entry(row, b"v") for row in rows))


def inner(*children: IndexEntry) -> bytes:
    """The payload of a leaf or intermediate index."""
    parts = [struct.pack(">qi", child.offset, child.size) + encode_key(child.row) for child in children]
    ends = [sum(map(len, parts[:i])) for i in range(len(parts) + 1)]
    return struct.pack(f">{len(ends) + 1}i", len(parts), *ends) + b"".join(parts)


def test_handmade_file_without_damage_is_read() -> None:
    """BF-002: the same construction without damage is valid."""
    first, second = data_block(b"a", b"b"), data_block(b"c")
    root = encode_index([IndexEntry(b"a", 0, len(first)), IndexEntry(b"bb", len(first), len(second))], rows=True)
    found = everything(file_of(first + second, root, data_index_count=2, entry_count=3))
    assert [entry.row for entry in found] == [b"a", b"b", b"c"]


def two_blocks(first: IndexEntry | None = None, second: IndexEntry | None = None, **trailer: Any) -> bytes:
    """Two data blocks, a b and c, under the given index entries."""
    blocks = data_block(b"a", b"b"), data_block(b"c")
    sizes = [len(each) for each in blocks]
    children = [first or IndexEntry(b"a", 0, sizes[0]), second or IndexEntry(b"c", sizes[0], sizes[1])]
    return file_of(b"".join(blocks), encode_index(children, rows=True), **{"data_index_count": 2, "entry_count": 3} | trailer)


def test_the_entry_of_an_empty_block_is_not_counted() -> None:
    """BF-002: hudi-rs begins the partitions of a metadata table with such files (ER-268): no entries, one empty data block."""
    empty = data_block()
    root = struct.pack(">qi", 0, len(empty)) + b"\x00"
    opened = hfile_of(file_of(empty, root, first_data_block=0, last_data_block=0), "f")
    assert [*opened, *opened.get("", "a"), *opened.prefix("")] == []
    assert next(iter(opened.blocks())).kind == BlockType.DATA


SIZE, NEXT = len(data_block(b"a", b"b")), len(data_block(b"c"))


@pytest.mark.parametrize(
    ("made", "about"),
    [
        (lambda: two_blocks(entry_count=4), "number of entries"),
        (lambda: two_blocks(entry_count=2**63), "number of entries"),
        (lambda: two_blocks(data_index_count=1), "after the data index"),
        (lambda: two_blocks(data_index_count=0), "after the data index"),
        (lambda: file_of(data_block(), struct.pack(">qi", 0, 37) + b"\x00" * 2), "after the data index"),
        (lambda: two_blocks(data_index_count=3), "entry is truncated"),
        (lambda: two_blocks(data_index_count=2**32 - 1), "too short for its entries"),
        (lambda: two_blocks(meta_index_count=1), "too short for its entries"),
        (lambda: two_blocks(second=IndexEntry(b"c", 0, SIZE)), "no block can be"),
        (lambda: two_blocks(second=IndexEntry(b"c", 2**62, 100)), "no block can be"),
        (lambda: two_blocks(second=IndexEntry(b"c", -1, 100)), "no block can be"),
        (lambda: two_blocks(second=IndexEntry(b"c", SIZE, 5)), "no block can be"),
        (lambda: two_blocks(second=IndexEntry(b"c", SIZE, 2**31 - 1)), "no block can be"),
        (lambda: two_blocks(second=IndexEntry(b"c", SIZE, 40)), "beyond its section"),
        (lambda: two_blocks(second=IndexEntry(b"c", SIZE + 1, NEXT - 1)), "block of another type"),
        (lambda: two_blocks(first=IndexEntry(b"a", 0, SIZE - 1)), "beyond its section"),
        (lambda: two_blocks(second=IndexEntry(b"d", SIZE, NEXT)), "outside the bounds"),
        (lambda: two_blocks(second=IndexEntry(b"b", SIZE, NEXT)), "outside the bounds"),
        (lambda: two_blocks(second=IndexEntry(b"a", SIZE, NEXT)), "index do not ascend"),
        (lambda: two_blocks(data_index_levels=0), "levels"),
        (lambda: two_blocks(data_index_levels=2), "block of another type"),
        (lambda: two_blocks(data_index_levels=2**40), "levels"),
        (lambda: two_blocks(load_on_open_offset=2**63), "sections"),
        (lambda: two_blocks(load_on_open_offset=0), "block of another type"),
        (lambda: two_blocks(file_info_offset=2**63), "sections"),
        (lambda: two_blocks(compression=0), "another compression"),
        (lambda: two_blocks(compression=7), "another compression"),
        (lambda: two_blocks()[:-1] + b"\x02", "major version"),
        (lambda: file_of(b"", b"\x00" * 12 + b"\x01x", data_index_count=1), "index key in a form"),
        (lambda: file_of(b"", b"\x00" * 12 + hadoop_varint(2**40) + b"x", data_index_count=1), "extends beyond"),
        (lambda: file_of(b"", b"\x00" * 12 + b"\x80" + b"x", data_index_count=1), "entry is truncated"),
        (lambda: file_of(b"", b"", b""), "file info"),
        (lambda: file_of(b"", b"", b"PBUF\x05\x0a\x7f"), "file info"),
        (lambda: file_of(b"", b"", b"PBUF\x02\x08\x01"), "file info"),
        (lambda: file_of(b"", b"", encode_file_info({**INFO, "KEY_VALUE_VERSION": b"\x00\x00\x00\x02"})), "another kind"),
        (lambda: file_of(b"", b"", encode_file_info({**INFO, "MAX_MEMSTORE_TS_KEY": b"\x01"})), "another kind"),
        (lambda: one_payload(encode_entry(b"b", b"") + encode_entry(b"a", b"")), "do not ascend"),
        (lambda: one_payload(encode_entry(b"b", b"")[:-1]), "key-value"),
        (lambda: one_payload(encode_entry(b"b", b"") + b"\x00"), "is truncated"),
        (lambda: one_payload(struct.pack(">iiH", 13, 2**31 - 1, 1) + bytes(30)), "beyond its block"),
        (lambda: one_payload(struct.pack(">iiH", 13, -1, 1) + bytes(30)), "impossible"),
        (lambda: one_payload(struct.pack(">iiH", 14, 1, 1) + bytes(30)), "impossible"),
        (lambda: one_payload(struct.pack(">iiH", 12 + 40000, 1, 40000) + bytes(40100)), "impossible"),
        (lambda: one_payload(encode_entry(b"b", b"")[:-2] + b"\x08\x00"), "not a Put"),
        (lambda: one_payload(encode_entry(b"b", b"")[:-1] + b"\x01"), "not a Put"),
    ],
)  # fmt: skip
def test_inconsistent_files_are_refused(made: Callable[[], bytes], about: str) -> None:
    """BF-002: each offset is checked before it is used, and the error names the inconsistency."""
    assert about in complains(made()).message


def one_payload(payload: bytes) -> bytes:
    """A file with this one data block."""
    scanned = block(BlockType.DATA, payload)
    return file_of(scanned, encode_index([IndexEntry(b"", 0, len(scanned))], rows=True), data_index_count=1, entry_count=1)


@pytest.mark.parametrize(
    ("field", "value", "about"),
    [
        ((0, "8s"), b"DATABLKE", "does not write"),
        ((0, "8s"), b"\xff" * 8, "block of another type"),
        ((8, ">i"), -1, "beyond its section"),
        ((8, ">i"), -34, "beyond its section"),
        ((8, ">i"), 2**31 - 1, "beyond its section"),
        ((12, ">i"), -1, "impossible"),
        ((12, ">i"), 2**31 - 1, "two different sizes"),
        ((24, "B"), 3, "unknown type"),
        ((25, ">i"), 0, "impossible"),
        ((25, ">i"), -1, "impossible"),
        ((25, ">i"), 1, "number of checksums"),
        ((29, ">i"), 32, "impossible"),
        ((29, ">i"), 2**31 - 1, "impossible"),
        ((29, ">i"), 60, "number of checksums"),
    ],
)
def test_each_field_of_a_block_header(field: tuple[int, str], value: Any, about: str) -> None:
    """BF-002: magic, sizes, type of checksum and its chunks, each with invalid values."""
    whole = bytearray(encode_hfile([Entry(b"a", bytes(30))], layout=UNCHECKED))
    struct.pack_into(field[1], whole, field[0], value)
    assert about in complains(bytes(whole)).message


@pytest.mark.parametrize("kind", [ChecksumType.CRC32, ChecksumType.CRC32C])
def test_checksums_that_are_zero_are_not_verified(kind: ChecksumType) -> None:
    """ER-222: hudi-rs names a type of checksum and stores zeros; any other number is compared with the content."""
    whole = bytearray(encode_hfile([Entry(b"a", bytes(30))], layout=UNCHECKED))
    whole[24] = kind
    assert everything(bytes(whole)) == [Entry(b"a", bytes(30))]
    (size,) = struct.unpack_from(">i", whole, 29)
    whole[size + 3] = 1
    assert f"{kind.name} check" in complains(bytes(whole)).message


def test_an_encrypted_file_is_refused() -> None:
    """BF-002: an encrypted file is valid and cannot be read; an empty key has no meaning and is ignored."""
    whole = encode_hfile([Entry(b"a", b"1")])
    at = len(whole) - 4096
    length = whole[at + 8]
    for key, refused in ((b"\x6a\x01k", True), (b"\x6a\x00", False)):
        changed = bytearray(whole)
        changed[at + 8] = length + len(key)
        changed[at + 9 + length : at + 9 + length + len(key)] = key
        if refused:
            assert "encrypted" in complains(bytes(changed)).message
        else:
            assert everything(bytes(changed)) == [Entry(b"a", b"1")]


@pytest.mark.parametrize("depth", [2, 3, 16])
def test_circular_index_is_refused(depth: int) -> None:
    """BF-002: levels are counted; an index block in place of a data block, or of itself, ends the search."""
    size = 33 + len(inner(IndexEntry(b"", 0, 0))) + 4
    loop = block(BlockType.INTERMEDIATE_INDEX, inner(IndexEntry(b"", 0, size)))
    assert len(loop) == size
    root = encode_index([IndexEntry(b"", 0, size)], rows=True)
    assert "block of another type" in complains(file_of(loop, root, data_index_count=1, data_index_levels=depth)).message


def test_leaves_with_the_same_data_are_refused() -> None:
    """BF-002: two leaves of an index must not have the same data block; no scan returns an entry twice."""
    data = data_block(b"a")
    leaf = block(BlockType.LEAF_INDEX, inner(IndexEntry(b"a", 0, len(data))))
    other = block(BlockType.LEAF_INDEX, inner(IndexEntry(b"b", 0, len(data))))
    children = [IndexEntry(b"a", len(data), len(leaf)), IndexEntry(b"b", len(data) + len(leaf), len(other))]
    made = file_of(
        data + leaf + other, encode_index(children, rows=True), data_index_count=2, data_index_levels=2, entry_count=1
    )
    assert "earlier offset" in complains(made).message


@pytest.mark.parametrize(
    "payload", [b"", struct.pack(">i", 0), struct.pack(">ii", 0, 0), struct.pack(">iii", 1, 0, 5) + bytes(5),
                struct.pack(">i", -1) + bytes(40), struct.pack(">iii", 1, 4, 30) + bytes(30), struct.pack(">iii", 1, 0, 29) + bytes(30)]
)  # fmt: skip
def test_leaf_index_with_inconsistent_offsets_is_refused(payload: bytes) -> None:
    """BF-002: the entries must fill the block."""
    leaf = block(BlockType.LEAF_INDEX, payload)
    root = encode_index([IndexEntry(b"a", 0, len(leaf))], rows=True)
    complains(file_of(leaf, root, data_index_count=1, data_index_levels=2))


def gzipped(payload: bytes, claimed: int) -> bytes:
    """A file whose one data block inflates to `payload` and claims to have another size."""
    whole = bytearray(encode_hfile([Entry(b"a", payload)]))
    struct.pack_into(">i", whole, 12, claimed)
    return bytes(whole[:24]) + b"\x00" + bytes(whole[25:])


@pytest.mark.parametrize("claimed", [0, 1, 1000, 2**31 - 1])
def test_decompression_is_bounded_by_the_stored_size(claimed: int) -> None:
    """BF-002: no more bytes are decompressed than the block states, and sizes beyond deflate's factor are refused."""
    bomb = gzipped(bytes(30_000_000), claimed)
    tracemalloc.start()
    complains(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize("member", [b"\x1f\x8b", b"no gzip", zlib.compress(bytes(22)), b"\x1f\x8b\x08\xe0" + bytes(6)])
def test_invalid_gzip_payloads_are_an_error(member: bytes) -> None:
    """BF-002: errors of zlib are not raised; truncated, other and repeated members are reported with the offset of the block."""
    size = 33 + len(member) + 4
    head = struct.pack(">8siiqBii", b"DATABLK*", len(member) + 4, 22, -1, 0, 16384, 33 + len(member))
    whole = head + member + bytes(4)
    start = len(whole)
    rest = [(BlockType.ROOT_INDEX, encode_index([IndexEntry(b"", 0, size)], rows=True)), (BlockType.ROOT_INDEX, b"")]
    for kind, payload in rest:
        whole += encode_block(kind, payload, -1, Compression.GZ, ChecksumType.NONE)
    trailer = Trailer(
        file_info_offset=len(whole), load_on_open_offset=start, data_index_count=1, entry_count=1, data_index_levels=1,
        compression=Compression.GZ,
    )  # fmt: skip
    whole += encode_block(BlockType.FILE_INFO, encode_file_info(INFO), -1, Compression.GZ, ChecksumType.NONE)
    error = complains(whole + encode_trailer(trailer))
    assert "gzip" in error.message
    assert error.offset == 100


def test_second_gzip_member_is_refused() -> None:
    """BF-002: a payload is exactly one gzip member."""
    whole = encode_hfile([Entry(b"a", b"1")])
    (on_disk, size) = struct.unpack_from(">ii", whole, 8)
    stored = whole[33 : 33 + on_disk - 4]
    grown = struct.pack(">8siiqBii", b"DATABLK*", 2 * len(stored) + 4, size, -1, 0, 16384, 33 + 2 * len(stored))
    with pytest.raises(MalformedBaseFile, match="gzip member"):
        list(blocks_only(grown + stored + stored + bytes(4)))


def blocks_only(scanned: bytes) -> list[Any]:
    """A walk over these blocks alone, in front of a file that is whole."""
    rest = hfile_of(encode_hfile([]), "f")
    data = scanned + encode_hfile([])
    return list(
        HFile(
            rest.trailer, rest.info, len(data), rest.place, lambda start, length: data[start : start + length], [], {}
        ).blocks()
    )


def test_a_file_that_shrinks_while_it_is_read() -> None:
    """S3-002: fewer bytes than before are an error of that read."""
    from hudi_reference.files.hfile.reader import open_hfile

    class Shrinking(MemoryStorage):
        """Gives one byte less than asked for, from the third read on."""

        reads = 0

        def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
            self.reads += 1
            data = super().get(path, start, length)
            return data[:-1] if self.reads > 2 else data

    storage = Shrinking()
    storage.put("t.hfile", encode_hfile(entries(3)))
    with pytest.raises(MalformedBaseFile, match="ended while"):
        list(open_hfile(storage, "t.hfile"))
