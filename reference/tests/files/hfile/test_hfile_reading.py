"""Reading HFiles of Apache Hudi and HBase, lookups with few reads, HFile log blocks."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hfile_samples import DATA, CountingStorage, entries
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import InvalidRows, MalformedLogBlock, MissingDataFile
from hudi_reference.files.hfile.block import BlockType, Compression
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.checksum import ChecksumType
from hudi_reference.files.hfile.reader import HFile, hfile_of, open_hfile
from hudi_reference.files.hfile.records import decode_records
from hudi_reference.files.hfile.writer import Layout, encode_hfile
from hudi_reference.files.log.block import Block, HeaderKey
from hudi_reference.files.log.block import BlockType as LogBlockType
from hudi_reference.files.log.content import decode_rows, encode_hfile_rows, look_up
from hudi_reference.files.log.reader import read_blocks
from hudi_reference.schema.avro import arrow_schema


def sample(name: str) -> HFile:
    """One of the files beside these tests."""
    return hfile_of((DATA / name).read_bytes(), name)


def log_block() -> Block:
    """The HFile block of a metadata table's log file."""
    (block,) = read_blocks(memoryview((DATA / "record-index-1.0.2.log").read_bytes()), "record-index.log")
    return block


def test_a_base_file_of_apache_hudi() -> None:
    """BF-002, BLK-024: the base file of `files` of a new metadata table: one record, its key given back, a bloom filter."""
    found = sample("metadata-files-1.0.2.hfile")
    (record,) = decode_records(found, json.loads(found.info["schema"]), found.place)
    assert (record["key"], record["type"], record["filesystemMetadata"]) == ("__all_partitions__", 1, {})
    assert found.info["minRecordKey"] == found.info["maxRecordKey"] == b"__all_partitions__"
    assert len(found.meta("bloomFilter") or b"") == 431380
    assert {block.checksum for block in found.blocks()} == {ChecksumType.CRC32C}


def test_a_log_block_of_apache_hudi() -> None:
    """BLK-024, BLK-025: keys are plain UTF-8 in the order of their bytes, values records under the header's schema."""
    block = log_block()
    found = hfile_of(block.content, block.path)
    expected = [f"key-{i:04}" for i in range(40)] + ["é", "😀"]
    assert [entry.row.decode() for entry in found] == expected
    records = list(decode_records(found, json.loads(block.header[HeaderKey.SCHEMA]), found.place))
    assert [record["key"] for record in records] == expected
    assert {record["recordIndexMetadata"]["partitionName"] for record in records} == {"chennai", "sao_paulo"}


def test_writing_a_log_block_of_apache_hudi_again() -> None:
    """BF-002, BLK-024: entries, file info and trailer are the same, except for the compressed size."""
    block = log_block()
    theirs = hfile_of(block.content, block.path)
    ours = hfile_of(encode_hfile(theirs, {"schema": theirs.info["schema"]}), "f")
    payloads = [
        [(b.kind, bytes(b.payload)) for b in file.blocks() if b.kind is not BlockType.ROOT_INDEX] for file in (ours, theirs)
    ]
    assert payloads[0] == payloads[1]
    for name in ("data_index_count", "meta_index_count", "entry_count", "total_size", "data_index_size", "comparator"):
        assert getattr(ours.trailer, name) == getattr(theirs.trailer, name)


def test_the_newer_writer_of_apache_hudi() -> None:
    """BF-002: no checksums, bare index keys, another tail."""
    found = sample("native-1.2.0.hfile")
    expected = [Entry(f"key-{i:06}-suffix".encode(), f"value {i}".encode()) for i in range(60)]
    assert list(found) == expected
    assert [entry for i in range(60) for entry in found.get(f"key-{i:06}-suffix")] == expected
    assert (found.meta("bloomFilter"), found.trailer.minor_version, len(found.root)) == (b"no real filter", 0, 6)
    assert {block.checksum for block in found.blocks()} == {ChecksumType.NONE}


def test_index_of_several_levels_with_shortened_keys() -> None:
    """BLK-026: HBase's leaf and intermediate indexes lead to every entry; shortened index keys are not entries."""
    found = sample("hbase-three-levels.hfile")
    expected = [Entry(f"key-{i:04}-suffix".encode(), f"value {i}.0".encode()) for i in range(60)]
    assert found.trailer.data_index_levels == 3
    assert list(found) == expected
    assert [entry for i in range(60) for entry in found.get(f"key-{i:04}-suffix")] == expected
    made_up = found.root[1].row.decode()
    assert made_up == "key-0048"
    assert list(found.get(made_up)) == []
    assert list(found.prefix(made_up)) == [expected[48]]
    assert list(found.prefix("key-004")) == expected[40:50]
    assert list(found.range("key-0005", "key-0048")) == expected[5:48]


def test_lookup_returns_all_equal_rows() -> None:
    """BLK-026: HBase may write a row several times; a lookup returns each, in the order of the file."""
    found = sample("hbase-equal-rows.hfile")
    assert [entry.value.decode() for entry in found] == [f"value {i}.{n}" for i in range(12) for n in range(3)]
    for i in range(12):
        assert [entry.value.decode() for entry in found.get(f"key-{i:04}-suffix")] == [f"value {i}.{n}" for n in range(3)]


KEYS = st.text(alphabet=st.sampled_from("ab\0é\ue000😀"), max_size=4)
LAYOUTS = st.builds(
    Layout,
    st.sampled_from(Compression),
    st.sampled_from([1, 100, 1 << 20]),
    st.sampled_from(ChecksumType),
    st.sampled_from([0, 3]),
)


@given(st.dictionaries(KEYS, st.binary(max_size=40), max_size=30), LAYOUTS, st.lists(KEYS, max_size=5), KEYS, KEYS)
@bounded(60)
def test_lookups_agree_with_a_scan(stored: dict[str, bytes], layout: Layout, keys: list[str], start: str, end: str) -> None:
    """BLK-025, BLK-026: for any layout, keys, prefixes and ranges give the same entries as a scan."""
    everything = sorted(Entry(key.encode(), value) for key, value in stored.items())
    found = hfile_of(encode_hfile(everything, layout=layout), "f")
    assert list(found) == everything
    assert list(found.get(*keys)) == [entry for entry in everything if entry.row.decode() in keys]
    assert list(found.prefix(start)) == [entry for entry in everything if entry.row.decode().startswith(start)]
    assert list(found.range(start, end)) == [entry for entry in everything if start.encode() <= entry.row < end.encode()]
    assert list(found.range(start)) == [entry for entry in everything if start.encode() <= entry.row]


def test_lookup_reads_one_block() -> None:
    """BLK-026: opening reads trailer and indexes, a lookup one block, and one beside it none; the file is never read as a whole."""
    storage = CountingStorage()
    written = encode_hfile(entries(20_000), metas={"bloomFilter": bytes(50_000)}, layout=Layout(Compression.NONE, 4096))
    storage.put("t.hfile", written)
    found = open_hfile(storage, "t.hfile")
    assert len(storage.reads) == 2
    assert sum(length or len(written) for _, length in storage.reads) < len(written) / 40
    storage.reads.clear()
    assert list(found.get("key-012345")) == [Entry(b"key-012345", b"value 12345")]
    assert list(found.get("key-012345x")) == []
    assert list(found.get("a")) == []
    assert len(storage.reads) == 1
    assert all((length or len(written)) < 5000 for _, length in storage.reads)


def test_many_look_ups_read_each_block_once() -> None:
    """BLK-026: keys of one block share its read, whatever their order; a prefix reads only the blocks that it spans."""
    storage = CountingStorage()
    storage.put("t.hfile", encode_hfile(entries(5_000), layout=Layout(Compression.NONE, 4096)))
    found = open_hfile(storage, "t.hfile")
    storage.reads.clear()
    keys = [f"key-{i:06}" for i in (4999, 3, 0, 3, 1, 2500)]
    assert [entry.row.decode() for entry in found.get(*keys)] == sorted(set(keys))
    assert len(storage.reads) == 3
    storage.reads.clear()
    assert sum(1 for _ in found.prefix("key-0001")) == 100
    assert len(storage.reads) <= 3


def test_missing_file() -> None:
    """TL-036: a missing base file of an action is reported as missing."""
    with pytest.raises(MissingDataFile):
        open_hfile(CountingStorage(), "t.hfile")


SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "_hoodie_record_key", "type": ["null", "string"], "default": None},
        {"name": "key", "type": ["null", "string"], "default": None},
        {"name": "n", "type": ["null", "int"], "default": None},
    ],
}


def hfile_block(rows: list[dict[str, Any]], layout: Layout | None = None, key: str = "_hoodie_record_key") -> Block:
    """A log block with these rows."""
    content = encode_hfile_rows(pa.Table.from_pylist(rows, schema=arrow_schema(SCHEMA)), SCHEMA, key, layout)
    header = {HeaderKey.INSTANT_TIME: "1", HeaderKey.SCHEMA: json.dumps(SCHEMA)}
    return Block(LogBlockType.HFILE_DATA, header, content, "f.log", 0, len(content) + 100)


def row(key: str, *, field: str | None, n: int | None = 0) -> dict[str, Any]:
    """A row with a record key and what stands in the field `key`."""
    return {"_hoodie_record_key": key, "key": field, "n": n}


def test_rows_in_a_log_block() -> None:
    """BLK-024, BLK-025: rows come back in the order of their keys' bytes, with a `key` field that held the record key."""
    rows = [row("😀", field="😀", n=3), row("a", field=None, n=None), row("\ue000", field="other", n=2)]
    block = hfile_block(rows)
    assert decode_rows(block).to_pylist() == [rows[1], rows[2], rows[0]]
    (_, _, last) = hfile_of(block.content, "f")
    assert (last.row, last.value.count("😀".encode())) == ("😀".encode(), 1)


def test_the_key_column_of_a_metadata_table() -> None:
    """BLK-024: where the meta columns are empty the field `key` is the record key; it is stored once."""
    rows = [{"_hoodie_record_key": None, "key": key, "n": 1} for key in ("a", "b")]
    block = hfile_block(rows, key="key")
    assert [entry.value for entry in hfile_of(block.content, "f")] == [b"\x00\x02\x00\x02\x02"] * 2
    assert decode_rows(block).to_pylist() == rows


def test_an_empty_text_in_the_field_key_cannot_be_stored() -> None:
    """BLK-024: it would be read as the record key; the writer refuses rather than change a row."""
    with pytest.raises(InvalidRows):
        hfile_block([row("a", field="")])
    with pytest.raises(InvalidRows):
        hfile_block([row("a", field=None), row("a", field=None)])


def test_a_look_up_in_a_log_block() -> None:
    """BLK-026: only the blocks of the HFile that may hold a key are decoded: damage in the others stays unseen."""
    block = hfile_block([row(f"k{i:03}", field=None, n=i) for i in range(200)], Layout(Compression.NONE, 500))
    content = bytearray(block.content)
    content[40] ^= 1
    damaged = Block(block.kind, block.header, bytes(content), "f.log", 0, block.size)
    assert look_up(damaged, ["k150", "k199", "nothing"]).column("n").to_pylist() == [150, 199]
    with pytest.raises(MalformedLogBlock) as raised:
        decode_rows(damaged)
    assert (raised.value.rule, raised.value.path) == ("BLK-024", "f.log")


@pytest.mark.parametrize("value", [b"", b"\x00\x00", b"\x00\x00\x00\x00", b"\x04", b"\x00\x02\x02\xff\x00"])
def test_invalid_values_are_an_error(value: bytes) -> None:
    """BLK-024: a value that is too short, too long, or of another schema is an error."""
    block = hfile_block([])
    content = encode_hfile([Entry(b"k", value)])
    with pytest.raises(MalformedLogBlock):
        decode_rows(Block(block.kind, block.header, content, "f.log", 0, len(content) + 100))


def test_the_content_of_a_mapped_log_file() -> None:
    """BLK-024: bytes that come from Arrow's memory, signed as they are there, are read as any others."""
    data = (DATA / "record-index-1.0.2.log").read_bytes()
    (block,) = read_blocks(memoryview(pa.py_buffer(data)), "f.log")
    assert sum(1 for _ in hfile_of(block.content, block.path)) == 42


def test_samples_stay_small() -> None:
    """The files of Apache Hudi beside these tests take less than 60 kB."""
    assert sum(file.stat().st_size for file in Path(DATA).iterdir()) < 60_000
