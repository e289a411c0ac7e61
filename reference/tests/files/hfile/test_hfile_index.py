"""HFile indexes with several levels: the same as HBase writes, and lookups with few reads."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hfile_samples import DATA, CountingStorage, entries
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.files.hfile.block import BlockType, Compression
from hudi_reference.files.hfile.cell import MADE_UP_SUFFIX, SUFFIX, Entry, separator_key
from hudi_reference.files.hfile.reader import HFile, hfile_of, open_hfile
from hudi_reference.files.hfile.trailer import SIZE
from hudi_reference.files.hfile.writer import Layout, encode_hfile

#: As HBase was told when it wrote the sample of three levels.
LIKE_HBASE = Layout(block_size=128, index_block_size=128, index_entries=2, short_index_keys=True)


def levels_of(found: HFile) -> int:
    """The number of levels in the trailer."""
    return found.trailer.data_index_levels


def test_index_equals_that_of_hbase() -> None:
    """BF-002: from the entries of a file of HBase, each block is written again: order, offsets, sizes, chains, payloads."""
    theirs = hfile_of((DATA / "hbase-three-levels.hfile").read_bytes(), "theirs")
    ours = hfile_of(encode_hfile(theirs, layout=LIKE_HBASE), "ours")
    for mine, other in zip(ours.blocks(), theirs.blocks(), strict=True):
        assert (mine.kind, mine.offset, mine.size, mine.previous) == (other.kind, other.offset, other.size, other.previous)
        assert bytes(mine.payload) == bytes(other.payload)
    assert replace(ours.trailer, comparator=theirs.trailer.comparator) == theirs.trailer


@pytest.mark.parametrize(
    ("size", "count", "levels"), [(1 << 20, 3000, 1), (4000, 3000, 2), (1000, 3000, 2), (400, 3000, 3), (80, 3000, 6)]
)
def test_number_of_levels(size: int, count: int, levels: int) -> None:
    """BF-002: the block size determines the number of levels; every entry is found, and no other one."""
    layout = Layout(Compression.NONE, 300, index_block_size=size, index_entries=4)
    found = hfile_of(encode_hfile(entries(count), layout=layout), "f")
    assert levels_of(found) == levels
    assert list(found) == entries(count)
    assert [e.row for e in found.get("key-000000", "key-001234", f"key-{count - 1:06}", "key-9", "a")] == [
        b"key-000000",
        b"key-001234",
        f"key-{count - 1:06}".encode(),
    ]
    assert len(list(found.prefix("key-0012"))) == 100


def test_position_of_leaf_indexes() -> None:
    """BF-002: each leaf follows its data blocks; intermediate indexes follow the meta blocks."""
    layout = Layout(Compression.NONE, 300, index_block_size=400, index_entries=4)
    found = hfile_of(encode_hfile(entries(3000), metas={"m": b"x"}, layout=layout), "f")
    kinds = [block.kind for block in found.blocks()]
    scanned = kinds[: kinds.index(BlockType.META)]
    assert set(scanned) == {BlockType.DATA, BlockType.LEAF_INDEX}
    assert scanned[-1] is BlockType.LEAF_INDEX
    assert not any(a is b is BlockType.LEAF_INDEX for a, b in pairwise(scanned))
    rest = kinds[len(scanned) :]
    assert rest[0] is BlockType.META
    assert set(rest[1:-3]) == {BlockType.INTERMEDIATE_INDEX}
    assert rest[-3:] == [BlockType.ROOT_INDEX, BlockType.ROOT_INDEX, BlockType.FILE_INFO]


def test_middle_key_of_the_root() -> None:
    """BF-002: 16 bytes: offset and size of the leaf with the middle data block, and the number of the block there."""
    layout = Layout(Compression.NONE, 300, index_block_size=1000, index_entries=4)
    found = hfile_of(encode_hfile(entries(2000), layout=layout), "f")
    root = next(block for block in found.blocks() if block.kind is BlockType.ROOT_INDEX)
    middle = bytes(root.payload[-16:])
    leaves = {block.offset: block for block in found.blocks() if block.kind is BlockType.LEAF_INDEX}
    leaf = leaves[int.from_bytes(middle[:8], "big")]
    assert leaf.size == int.from_bytes(middle[8:12], "big")
    data = [block.offset for block in found.blocks() if block.kind is BlockType.DATA]
    before = sum(1 for offset in data if offset < max((o for o in leaves if o < leaf.offset), default=0))
    assert before + int.from_bytes(middle[12:], "big") == (len(data) - 1) // 2


@pytest.mark.parametrize(
    ("before", "row", "between"),
    [
        (b"key-032361", b"key-032363", b"key-032362"),
        (b"key-064728", b"key-064730", b"key-06473"),
        (b"key-097108", b"key-097110", b"key-09711"),
        (b"hudi-key-000000234-abcdefghij", b"hudi-key-000000235-abcdefghij", b"hudi-key-000000235"),
        (b"a", b"ab", b"ab"),
        (b"", b"x", b"x"),
        (b"a\xff", b"b", b"b"),
    ],
)
def test_shortened_index_keys_equal_those_of_hbase(before: bytes, row: bytes, between: bytes) -> None:
    """BF-002: the first three and the fourth occur in files of Apache Hudi and HBase."""
    assert separator_key(before, row) == len(between).to_bytes(2, "big") + between + MADE_UP_SUFFIX
    assert len(MADE_UP_SUFFIX) == len(SUFFIX)


ROWS = st.sets(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=60)


@bounded(150)
@given(ROWS, st.integers(1, 300), st.integers(20, 300), st.integers(1, 5), st.booleans(), st.sampled_from(Compression))
def test_every_layout_is_read(
    keys: set[str], block: int, index: int, least: int, short: bool, compression: Compression
) -> None:
    """BF-002, BLK-025, BLK-026: entries, lookups of each key, and prefixes, for any levels and index keys."""
    rows = [Entry(key.encode(), key.encode() * 2) for key in sorted(keys, key=str.encode)]
    layout = Layout(compression, block, index_block_size=index, index_entries=least, short_index_keys=short)
    found = hfile_of(encode_hfile(rows, layout=layout), "f")
    assert list(found) == rows
    for key in keys:
        assert list(found.get(key)) == [Entry(key.encode(), key.encode() * 2)]
        assert [e.row for e in found.prefix(key)] == [r.row for r in rows if r.row.startswith(key.encode())]
        assert not list(found.get(key + "\0")) or key + "\0" in keys


def counted(layout: Layout, count: int) -> tuple[CountingStorage, HFile]:
    """An HFile of so many entries in a storage that counts, opened."""
    storage = CountingStorage()
    storage.put("f", encode_hfile(entries(count), layout=layout))
    return storage, open_hfile(storage, "f")


def bytes_read(storage: CountingStorage) -> int:
    """Bytes that were asked for since the last time."""
    total = sum(length or 0 for _, length in storage.reads)
    storage.reads.clear()
    return total


@pytest.mark.parametrize("index", [1 << 20, 2000, 400])
def test_key_lookup_reads_one_block_per_level(index: int) -> None:
    """BLK-026: in a file of 50,000 entries."""
    layout = Layout(Compression.NONE, 4096, index_block_size=index, index_entries=4)
    storage, found = counted(layout, 50_000)
    size = len(storage.get("f"))
    storage.reads.clear()
    levels = levels_of(found)
    for key in ("key-000000", "key-031234", "key-049999", "key-0312345"):
        assert len(list(found.get(key))) == (len(key) == 10)
        assert len(storage.reads) <= levels
        assert bytes_read(storage) <= 4200 + (levels - 1) * (index + 200)
    assert len(list(found.prefix("key-03123"))) == 10
    assert len(storage.reads) <= levels + 1
    assert bytes_read(storage) < size / 50
    assert not list(found.get("a", "z" * 5))
    assert bytes_read(storage) <= 4200 + (levels - 1) * (index + 200)


def test_opening_reads_trailer_and_root() -> None:
    """BLK-026: with several levels, the trailer and a root of some hundred bytes, for any file size."""
    storage, found = counted(Layout(Compression.NONE, 1024, index_block_size=1000, index_entries=4), 50_000)
    assert levels_of(found) >= 3
    assert len(storage.reads) == 2
    assert bytes_read(storage) < SIZE + 2500


def test_many_lookups_read_each_block_once() -> None:
    """BLK-026: a block with several of the keys is read once, in the order of the file."""
    storage, found = counted(Layout(Compression.NONE, 4096, index_block_size=2000, index_entries=4), 50_000)
    storage.reads.clear()
    keys = [f"key-{n:06}" for n in random.Random(1).sample(range(50_000), 2000)]
    assert [e.row.decode() for e in found.get(*keys)] == sorted(keys)
    starts = [start for start, _ in storage.reads]
    assert len(starts) == len(set(starts))
