"""HFiles by their bytes: the worked example, guarantees and refusals of the writer, checksums and numbers."""

import gzip
import struct
import zlib

import pytest
from hfile_samples import WORKED, entries

from hudi_reference.errors import InvalidRows, Misuse
from hudi_reference.files.hfile import varint
from hudi_reference.files.hfile.block import BlockType, Compression
from hudi_reference.files.hfile.cell import OVERHEAD, Entry, read_entries
from hudi_reference.files.hfile.checksum import ChecksumType, crc32c
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.hfile.writer import Layout, base_file_info, encode_hfile

AB = [Entry(b"a", b"1"), Entry(b"b", b"2")]
PLAIN = Layout(Compression.NONE)


def test_the_worked_example() -> None:
    """BF-002, BLK-024: every byte of a small HFile equals that of the HBase-based writer."""
    assert encode_hfile(AB, metas={"m": b"hi"}, layout=PLAIN).hex() == WORKED.hex()
    found = hfile_of(WORKED, "f.hfile")
    assert list(found) == AB
    assert (found.meta("m"), found.meta("n"), found.trailer.entry_count) == (b"hi", None, 2)


def test_the_same_entries_give_the_same_bytes() -> None:
    """BF-002: a file has no time and no random data, also inside gzip members."""
    written = encode_hfile(entries(100), {"schema": b"{}"}, {"m": b"hi"})
    assert written == encode_hfile(entries(100), {"schema": b"{}"}, {"m": b"hi"})
    (stored,) = struct.unpack_from(">i", written, 29)
    assert written[33:43] == b"\x1f\x8b\x08" + bytes(7)
    assert len(gzip.decompress(written[33:stored])) == struct.unpack_from(">i", written, 12)[0]


@pytest.mark.parametrize("minor", [0, 3])
def test_minor_version_names_the_writer(minor: int) -> None:
    """BF-002: the last four bytes are the minor and the major version; readers accept both minor versions."""
    written = encode_hfile(AB, layout=Layout(minor_version=minor))
    assert written[-4:] == bytes([minor, 0, 0, 3])
    assert list(hfile_of(written, "f")) == AB


@pytest.mark.parametrize("kind", list(ChecksumType))
def test_size_of_checksums(kind: ChecksumType) -> None:
    """BF-002: four bytes for each 16384 bytes of header and payload; zeros without checksums."""
    written = encode_hfile([Entry(b"k", bytes(40_000))], layout=Layout(Compression.NONE, checksum=kind))
    on_disk, _ = struct.unpack_from(">ii", written, 8)
    (stored,) = struct.unpack_from(">i", written, 29)
    sums = written[stored : 33 + on_disk]
    head = written[:16384]
    first = {ChecksumType.NONE: 0, ChecksumType.CRC32: zlib.crc32(head), ChecksumType.CRC32C: crc32c(head)}[kind]
    assert len(sums) == 4 * 3
    assert int.from_bytes(sums[:4], "big") == first
    assert list(hfile_of(written, "f")) == [Entry(b"k", bytes(40_000))]


def test_blocks_of_a_type_are_chained() -> None:
    """BF-002: each block names the previous one of its type; the meta index names the data index; the first block names none."""
    found = list(hfile_of(encode_hfile(entries(50), metas={"b": b"2", "a": b"1"}, layout=Layout(block_size=400)), "f").blocks())
    data = [block for block in found if block.kind is BlockType.DATA]
    metas = [block for block in found if block.kind is BlockType.META]
    roots = [block for block in found if block.kind is BlockType.ROOT_INDEX]
    assert len(data) > 3
    for chain in (data, metas, roots):
        assert [block.previous for block in chain] == [-1, *(block.offset for block in chain[:-1])]
    assert [block.payload for block in metas] == [b"1", b"2"]
    assert [block.kind for block in found[-3:]] == [BlockType.ROOT_INDEX, BlockType.ROOT_INDEX, BlockType.FILE_INFO]


def test_a_file_without_entries() -> None:
    """BF-002: no data block, offset -1 in the trailer, no last key; it is read as no rows."""
    found = hfile_of(encode_hfile([], base_file_info([])), "f")
    assert (list(found), list(found.get("a")), list(found.prefix("")), list(found.root)) == ([], [], [], [])
    assert found.trailer.first_data_block == found.trailer.last_data_block == 2**64 - 1
    assert "hfile.LASTKEY" not in found.info
    assert (found.info["minRecordKey"], found.info["maxRecordKey"]) == (b"", b"")


def test_file_info_of_a_base_file() -> None:
    """BF-002: seven entries of every file, sorted by name, and the four additional ones of base files."""
    found = hfile_of(encode_hfile(AB, {"schema": b"{}"} | base_file_info(AB)), "f")
    assert list(found.info) == sorted(found.info)
    assert {key: found.info[key] for key in ("schema", "minRecordKey", "maxRecordKey", "bloomFilterTypeCode")} == {
        "schema": b"{}", "minRecordKey": b"a", "maxRecordKey": b"b", "bloomFilterTypeCode": b"DYNAMIC_V0"
    }  # fmt: skip
    assert len(found.info) == 10


@pytest.mark.parametrize("taken", ["KEY_VALUE_VERSION", "hfile.LASTKEY", "hfile.ANYTHING"])
def test_reserved_file_info_is_refused(taken: str) -> None:
    """BF-002: a caller cannot set entries that the writer computes."""
    with pytest.raises(Misuse):
        encode_hfile(AB, {taken: b""})


@pytest.mark.parametrize("rows", [[b"b", b"a"], [b"a", b"a"], ["😀".encode(), "\ue000".encode()], [b"x" * 32768]])
def test_entries_out_of_order_are_refused(rows: list[bytes]) -> None:
    """BLK-025: rows ascend by bytes (not by UTF-16 units), without duplicates, with at most 32767 bytes."""
    with pytest.raises(InvalidRows):
        encode_hfile(Entry(row, b"") for row in rows)


@pytest.mark.parametrize("length", [1, 125, 126, 127, 128, 255, 256, 32767])
def test_index_keys_of_every_length(length: int) -> None:
    """BF-002: lengths of index keys are Hadoop's numbers, which differ from protobuf's from 128 on."""
    written = [Entry(bytes([65 + i]) * length, b"v") for i in range(3)]
    found = hfile_of(encode_hfile(written, layout=Layout(block_size=1)), "f")
    assert [entry.row for entry in found.root] == [entry.row for entry in written]
    assert list(found) == written


@pytest.mark.parametrize(
    ("number", "hadoop", "protobuf"),
    [
        (0, "00", "00"),
        (127, "7f", "7f"),
        (128, "8f80", "8001"),
        (131, "8f83", "8301"),
        (300, "8e012c", "ac02"),
        (70000, "8d011170", "f0a204"),
    ],
)
def test_numbers_of_both_kinds(number: int, hadoop: str, protobuf: str) -> None:
    """BF-002: the index holds Hadoop's numbers, trailer and file info protobuf's."""
    assert (varint.hadoop_varint(number).hex(), varint.protobuf_varint(number).hex()) == (hadoop, protobuf)
    assert varint.read_hadoop_varint(bytes.fromhex("ff" + hadoop), 1) == (number, 1 + len(hadoop) // 2)
    assert varint.read_protobuf_varint(bytes.fromhex("00" + protobuf), 1) == (number, 1 + len(protobuf) // 2)


@pytest.mark.parametrize("data", ["", "80", "8f", "8e01", "90", "ff"])
def test_invalid_lengths_are_refused(data: str) -> None:
    """BF-002: truncated and negative numbers."""
    with pytest.raises(ValueError, match="length"):
        varint.read_hadoop_varint(bytes.fromhex(data), 0)


@pytest.mark.parametrize("data", ["", "80", "ff" * 9, "ff" * 9 + "02", "ff" * 11])
def test_protobuf_numbers_end_within_64_bits(data: str) -> None:
    """BF-002: cut numbers, and those of more than 64 bits, are errors."""
    with pytest.raises(ValueError, match="64 bits"):
        varint.read_protobuf_varint(bytes.fromhex(data), 0)


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43), (bytes(range(32)), 0x46DD794E)],
)
def test_crc32c_of_known_data(data: bytes, expected: int) -> None:
    """BF-002: the polynomial is Castagnoli's, by the vectors of RFC 3720."""
    assert crc32c(data) == crc32c(memoryview(data)) == expected


@pytest.mark.parametrize("compression", list(Compression))
@pytest.mark.parametrize("value", [0, 1, 20, 100])
def test_no_entry_begins_in_the_last_bytes_of_a_block(compression: Compression, value: int) -> None:
    """BF-002: Apache Hudi's native reader misses entries that begin in the last bytes of a block, as many as its checksums
    have."""
    big = [Entry(f"a{i}".encode(), bytes(100_000)) for i in range(3)]
    small = [Entry(f"b{i:05}".encode(), b"v" * value) for i in range(12_000)]
    found = hfile_of(encode_hfile(big + small, layout=Layout(compression)), "f")
    assert sum(1 for _ in found) == 12_003
    for block in found.blocks():
        if block.kind is BlockType.DATA:
            *_, last = read_entries(block.payload, block.offset, found.place)
            stored = 33 + len(block.payload)
            stored += 4 * -(-stored // 16384)
            assert OVERHEAD + len(last.row) + len(last.value) > 4 * -(-stored // 16384)
