"""Reading log files: format versions, inspection, and the number of bytes that are read."""

import io
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_block_samples import KN_JSON, NO_DELETES, ROLLBACK, T1, TWO_DELETES, TWO_ROWS, avro_block, with_int, with_length
from reference_samples import bounded

from hudi_reference.errors import HudiError, MalformedLogBlock, MalformedLogFile, MissingDataFile, UnsupportedFileFormat
from hudi_reference.files.log.block import WINDOW, Block, BlockType, CorruptBlock, HeaderKey, encode_block
from hudi_reference.files.log.content import decode_deletes, decode_rows, rollback_target
from hudi_reference.files.log.reader import read_blocks, read_log_file
from hudi_reference.storage import LocalStorage, MemoryStorage, Storage, storage_of

A, B, C = NO_DELETES, avro_block(TWO_ROWS), ROLLBACK
#: A delete block of version 0, by hand: magic, length 53, version 0, type 1, content length 37, content.
OLD = (
    bytes.fromhex("23 48 55 44 49 23  00 00 00 00 00 00 00 35  00 00 00 00  00 00 00 01  00 00 00 00 00 00 00 25") + TWO_DELETES
)


def walked(data: bytes) -> list[Block]:
    """The blocks of a file as an inspection shows them."""
    return list(read_blocks(memoryview(data), "f.log", for_inspection=True))


def read(data: bytes) -> list[Block]:
    """The blocks of a file as a query reads them."""
    return list(read_blocks(memoryview(data), "f.log"))


def shape(blocks: list[Block]) -> list[tuple[str, int, int]]:
    """Kind, offset and end."""
    return [(block.kind.name, block.offset, block.end) for block in blocks]


def test_a_block_of_version_0_is_magic_lengths_type_and_content() -> None:
    """LF-027 to LF-034: no header, no footer, no trailer; the next block begins right behind the content."""
    found = read(OLD + A + OLD)
    end = len(OLD)
    assert shape(found) == [("DELETE", 0, end), ("DELETE", end, end + 80), ("DELETE", end + 80, 2 * end + 80)]
    assert [block.version for block in found] == [0, 1, 0]
    assert (found[0].header, found[0].footer, found[0].instant) == ({}, {}, "")
    assert [delete.key for delete in decode_deletes(found[2])] == ["k1", "k2"]
    assert encode_block(BlockType.DELETE, {}, TWO_DELETES, version=0) == OLD


def test_version_0_tells_the_type_and_lacks_what_headers_say() -> None:
    """LF-031, LF-032: each type is taken for what it is; rows without a schema and commands without a target are errors."""
    rows, command = (encode_block(kind, {}, content, version=0) for kind, content in
                     ((BlockType.AVRO_DATA, TWO_ROWS), (BlockType.COMMAND, b"")))  # fmt: skip
    found = read(rows + command)
    assert [block.kind for block in found] == [BlockType.AVRO_DATA, BlockType.COMMAND]
    for decode, block in ((decode_rows, found[0]), (rollback_target, found[1])):
        with pytest.raises(MalformedLogBlock) as raised:
            decode(block)
        assert raised.value.rule == "LF-018"


@pytest.mark.parametrize("length", [15, 0, 52, 54, 2**40, -1])
def test_content_length_of_version_0(length: int) -> None:
    """LF-030, LF-034: without a trailer the content length must agree; otherwise the block is corrupt, and its neighbours are
    not."""
    found = read(C + with_length(OLD, length) + A)
    assert shape(found) == [("COMMAND", 0, 105), ("CORRUPT", 105, 105 + len(OLD)), ("DELETE", 105 + len(OLD), 185 + len(OLD))]


def test_magic_counts_in_both_versions() -> None:
    """LF-028: a block without it is none."""
    for block in (OLD, A):
        assert shape(read(C + b"#HUDJ#" + block[6:] + A))[1] == ("CORRUPT", 105, 105 + len(block))


@pytest.mark.parametrize("version", [2, 3, 9, 2**31 - 1, -1, -(2**31)])
def test_other_versions_are_refused_by_number(version: int) -> None:
    """LF-014, LF-027: their blocks cannot be decoded; an inspection shows the blocks around them."""
    data = B + with_int(A, 14, version) + C
    with pytest.raises(UnsupportedFileFormat) as raised:
        read(data)
    assert (raised.value.rule, raised.value.found, raised.value.offset) == ("LF-027", f"version {version}", len(B))
    assert [kind for kind, _, _ in shape(walked(data))] == ["AVRO_DATA", "CORRUPT", "COMMAND"]


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (with_int(A, 14, 5), UnsupportedFileFormat),
        (with_int(A, 18, 2), UnsupportedFileFormat),
        (with_int(A, 18, 7), UnsupportedFileFormat),
        (with_int(A, 22, 2**31 - 1), MalformedLogBlock),
        (with_int(A, 68, 1), MalformedLogBlock),
        (A.replace(T1.encode(), b"\xff" * 17), MalformedLogBlock),
        (b"PAR1PAR1" + A[8:], MalformedLogFile),
    ],
)
def test_inspection_continues_after_an_error(broken: bytes, error: type[HudiError]) -> None:
    """BLK-015: the block has the error that a query raises, with a description."""
    before = b"" if error is MalformedLogFile else B
    found = walked(before + broken + C)
    corrupt = found[len(before) > 0]
    assert isinstance(corrupt, CorruptBlock)
    assert isinstance(corrupt.error, error)
    assert (corrupt.offset, corrupt.end) == (len(before), len(before) + 80)
    assert corrupt.reason
    assert found[-1].kind is BlockType.COMMAND
    with pytest.raises(error):
        read(before + broken + C)


@bounded(200)
@given(st.lists(st.sampled_from([A, B, C, OLD, A[:40], B[:-3], b"#HUDI#", b"#HUDI#" * 3, b"\0" * 9, with_int(A, 18, 7),
                                 with_length(B, 2**40), with_length(OLD, 9)]), max_size=6), st.binary(max_size=9))  # fmt: skip
def test_blocks_cover_the_file(parts: list[bytes], junk: bytes) -> None:
    """BLK-015, BLK-017, LF-025: blocks follow one another without gaps; each whole block is found unless damage before it
    contains it."""
    data = b"".join(parts) + junk
    found = walked(data)
    assert [block.offset for block in found] == [0, *(block.end for block in found)][: len(found)]
    assert (found[-1].end if found else 0) == len(data)
    whole = {A: "DELETE", B: "AVRO_DATA", C: "COMMAND", OLD: "DELETE"}
    starts, place = {}, 0
    for part in parts:
        starts[place] = whole.get(part)
        place += len(part)
    shown = {block.offset: block.kind.name for block in found}
    assert all(shown[place] == kind for place, kind in starts.items() if kind is not None)


def test_a_footer_is_kept() -> None:
    """LF-022, LF-033: footers of deployed writers are empty; what another one writes there is not lost."""
    footer = {HeaderKey.SCHEMA: "ü"}
    (block,) = read(encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: T1}, TWO_DELETES, footer))
    assert (block.header, block.footer) == ({0: T1}, {2: "ü"})
    assert bytes(block.content) == TWO_DELETES
    assert block.content_length == len(TWO_DELETES)


def test_adjacent_magics() -> None:
    """BLK-017: the search for the next block finds adjacent magics, and magics at the border of a window."""
    for filler in (WINDOW - 7, WINDOW - 6, WINDOW - 3, WINDOW - 1, WINDOW, 2 * WINDOW + 1):
        junk = b"#HUDI#" + struct.pack(">q", 7) + b"\1" * filler
        assert shape(read(A + junk + C)) == [
            ("DELETE", 0, 80), ("CORRUPT", 80, 80 + len(junk)), ("COMMAND", 80 + len(junk), 185 + len(junk))
        ]  # fmt: skip


class Counted(MemoryStorage):
    """A storage that says how many bytes of its objects were read."""

    def open(self, path: str) -> pa.NativeFile:
        """The object as a file that counts."""
        self.file = CountedFile(self.get(path))
        return pa.PythonFile(self.file, mode="r")


class CountedFile:
    """Bytes as a file of Python."""

    closed = False

    def __init__(self, data: bytes) -> None:
        self.data, self.place, self.read_bytes, self.reads = data, 0, 0, 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move."""
        self.place = offset + (0, self.place, len(self.data))[whence]
        return self.place

    def tell(self) -> int:
        """Where."""
        return self.place

    def read(self, size: int = -1) -> bytes:
        """Read and count."""
        found = self.data[self.place : None if size < 0 else self.place + size]
        self.place += len(found)
        self.read_bytes += len(found)
        self.reads += 1
        return found

    def close(self) -> None:
        """Nothing is open."""


def big_block(size: int) -> bytes:
    """A data block with a content of so many bytes."""
    return encode_block(BlockType.PARQUET_DATA, {HeaderKey.INSTANT_TIME: T1, HeaderKey.SCHEMA: KN_JSON}, bytes(size))


def test_framing_alone_does_not_fetch_contents() -> None:
    """LF-019, BLK-026: blocks are found by their lengths; only a content that is asked for is fetched, and then it alone."""
    storage = Counted()
    storage.put("f.log", big_block(40 * WINDOW) + A + big_block(20 * WINDOW) + B)
    found = list(read_log_file(storage, "f.log"))
    assert [block.kind.name for block in found] == ["PARQUET_DATA", "DELETE", "PARQUET_DATA", "AVRO_DATA"]
    assert storage.file.read_bytes <= 4 * WINDOW
    before = storage.file.read_bytes
    assert len(found[2].content) == 20 * WINDOW
    assert storage.file.read_bytes == before + 20 * WINDOW
    assert decode_rows(found[3]).num_rows == 2


def test_projection_of_a_parquet_block() -> None:
    """BLK-029: in a store without memory mapping only the selected columns and the footer of a wide block are read."""
    columns = {f"c{place}": pa.array(range(place, place + 300_000), pa.int64()) for place in range(10)}
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="none", use_dictionary=False)
    storage = Counted()
    storage.put("f.log", A + encode_block(BlockType.PARQUET_DATA, {HeaderKey.INSTANT_TIME: T1}, out.getvalue()) + A)
    block = list(read_log_file(storage, "f.log"))[1]
    before = storage.file.read_bytes
    found = decode_rows(block, ["c7", "absent"])
    assert storage.file.read_bytes - before < len(out.getvalue()) // 5
    assert found.equals(pa.table({"c7": columns["c7"]}))
    assert decode_rows(block).equals(pa.table(columns))
    assert decode_rows(block, ["absent"]).num_rows == 300_000


def test_a_small_file_is_fetched_at_once() -> None:
    """S3-004: blocks of a file that fits into a window cost one request together."""
    storage = Counted()
    storage.put("f.log", (A + B + C) * 50)
    assert sum(len(block.content) for block in read_log_file(storage, "f.log")) > 0
    assert storage.file.reads == 1


@pytest.mark.s3
def test_an_object_store_is_read_by_ranges(s3_bucket: str) -> None:
    """LF-019: the same blocks come from an object store, in any order of asking."""
    storage = storage_of(f"{s3_bucket}/{uuid4()}")
    data = B + big_block(3 * WINDOW) + A
    storage.put("f.log", data)
    found = list(read_log_file(storage, "f.log"))
    assert shape(found) == shape(read(data))
    assert len(found[1].content) == 3 * WINDOW
    assert decode_rows(found[0]).num_rows == 2


@pytest.mark.parametrize("make", [LocalStorage, lambda folder: MemoryStorage()])
def test_a_missing_file_is_named(make: type[LocalStorage], tmp_path: Path) -> None:
    """TL-036: reading and inspecting say which file is not there."""
    storage: Storage = make(tmp_path)
    for for_inspection in (False, True):
        blocks: Iterator[Block] = read_log_file(storage, "p/f.log", for_inspection=for_inspection)
        with pytest.raises(MissingDataFile) as raised:
            next(blocks)
        assert raised.value.path == "p/f.log"


def test_a_file_that_shrinks_while_it_is_read_is_an_error() -> None:
    """S3-004: bytes that were there when the walk began are missed, never made up."""
    storage = Counted()
    storage.put("f.log", big_block(4 * WINDOW))
    (block,) = read_log_file(storage, "f.log")
    storage.file.data = storage.file.data[: 2 * WINDOW]
    with pytest.raises(MalformedLogFile) as raised:
        len(block.content)
    assert raised.value.path == "f.log"


READS_A_FILE_OF_2_GB = """
import sys
from pathlib import Path
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.storage import LocalStorage
def anonymous():
    return max(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon"))
folder, name = Path(sys.argv[1]), sys.argv[2]
before = anonymous()
count = total = most = 0
for block in read_log_file(LocalStorage(folder), name):
    count, total = count + 1, total + len(block.content)
    bytes(block.content[: 1 << 20])
    most = max(most, anonymous() - before)
print(count, total, most)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells how much memory is anonymous")
def test_a_file_of_2_gigabytes_is_walked_in_bounded_memory(tmp_path: Path) -> None:
    """LF-019: however large the file, what the process holds of its own stays below the size of two blocks."""
    block = big_block(64 << 20)
    with (tmp_path / "f.log").open("wb") as file:
        for _ in range(33):
            file.seek(len(block) - 64, 1)  # a hole: the content of zeros takes no room
            file.write(block[-64:])
        for place in range(33):
            file.seek(place * len(block))
            file.write(block[:4096])
    assert (tmp_path / "f.log").stat().st_size > 2 * 2**30
    command = [sys.executable, "-c", READS_A_FILE_OF_2_GB, str(tmp_path), "f.log"]
    count, total, most = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert (count, total) == (33, 33 * (64 << 20))
    assert most < 128 << 10  # kilobytes
