"""The envelope of an HFile block.

    field                          width   value
    magic                          8       see BlockType
    on-disk size                   4       stored payload and checksums
    uncompressed size              4       payload after decompression
    previous block of the type     8       its offset, -1 if there is none
    checksum type                  1       see ChecksumType
    bytes per checksum             4       16384
    data size with header          4       33 and the stored payload
    payload                        -       compressed or not, for all blocks of a file alike
    checksums                      4 each  one for each chunk of header and stored payload

All integers are big-endian. There are no gaps between blocks.
"""

import struct
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, IntEnum

from hudi_reference.files.hfile.checksum import ChecksumType, checksums
from hudi_reference.files.hfile.varint import Data, Place
from hudi_reference.limits import check_decompressed
from hudi_reference.requirement import implements

_HEADER = struct.Struct(">8siiqBii")
HEADER_SIZE = _HEADER.size
BYTES_PER_CHECKSUM = 16384
NO_BLOCK = -1
#: The best ratio of deflate. A block that declares a better one is malformed, and no memory is allocated for it.
_BEST_RATIO = 1032


class BlockType(Enum):
    """The magics of the blocks that Apache Hudi writes."""

    DATA = b"DATABLK*"
    LEAF_INDEX = b"IDXLEAF2"
    META = b"METABLKc"
    INTERMEDIATE_INDEX = b"IDXINTE2"
    ROOT_INDEX = b"IDXROOT2"
    FILE_INFO = b"FILEINF2"


#: Blocks of HBase that no release of Apache Hudi writes.
_FOREIGN = frozenset({b"DATABLKE", b"BLMFBLK2", b"BLMFMET2", b"DFBLMET2", b"IDXBLK)+"})


class Compression(IntEnum):
    """The codecs that are read and written, by the number in the trailer."""

    GZ = 1
    NONE = 2


@dataclass(frozen=True)
class Block:
    """One block. `offset` and `size` in bytes from the HFile's start; `payload` decompressed."""

    kind: BlockType
    payload: Data
    offset: int
    size: int
    previous: int
    checksum: ChecksumType


@dataclass(frozen=True)
class _Header:
    """The fields of the table above, as stored."""

    magic: bytes
    on_disk: int
    uncompressed: int
    previous: int
    checksum: int
    chunk: int
    data_with_header: int


@implements("BF-002")
def encode_block(kind: BlockType, payload: bytes, previous: int, compression: Compression, checksum: ChecksumType) -> bytes:
    """The bytes of one block; always the same for the same input."""
    stored = payload if compression is Compression.NONE else _gzip(payload)
    data_size = HEADER_SIZE + len(stored)
    on_disk = len(stored) + checksum_size(data_size)
    head = _HEADER.pack(kind.value, on_disk, len(payload), previous, checksum, BYTES_PER_CHECKSUM, data_size)
    return head + stored + checksums(checksum, head + stored, BYTES_PER_CHECKSUM)


@implements("BF-002")
def decode_block(data: Data, at: int, place: Place, compression: Compression, kinds: Collection[BlockType]) -> Block:
    """Decode the block at the beginning of `data`, which is at offset `at` of the HFile.

    Raises MalformedBaseFile, also for a block that is not of one of `kinds`, and UnsupportedFileFormat.
    """
    kind = _kind(bytes(data[:8]), at, place, kinds)
    header = _header(data, at, place)
    size = HEADER_SIZE + header.on_disk
    checked, sums = data[: header.data_with_header], data[header.data_with_header : size]
    if header.checksum not in ChecksumType.__members__.values():
        raise place.unsupported("an unknown type of checksum", at + 24, str(header.checksum), "0, 1 or 2")
    checksum = ChecksumType(header.checksum)
    # ER-222: a writer that computes no checksums stores zeros for them.
    if checksum is not ChecksumType.NONE and any(sums) and (right := checksums(checksum, checked, header.chunk)) != sums:
        raise place.malformed(f"a {kind.name} block fails its {checksum.name} check", at, _short(bytes(sums)), _short(right))
    payload = _inflate(checked[HEADER_SIZE:], header.uncompressed, compression, at, place)
    return Block(kind, payload, at, size, header.previous, checksum)


def block_size(data: Data, at: int, place: Place) -> int:
    """The size on disk of the block whose first bytes these are."""
    if len(data) < HEADER_SIZE:
        raise place.malformed("truncated inside a block header", at, f"{len(data)} bytes", f"{HEADER_SIZE} bytes")
    return HEADER_SIZE + int(_Header(*_HEADER.unpack_from(data)).on_disk)


def _header(data: Data, at: int, place: Place) -> _Header:
    size = block_size(data, at, place)
    header = _Header(*_HEADER.unpack_from(data))
    if not HEADER_SIZE <= size <= len(data):
        raise place.malformed("a block extends beyond its section", at, f"{size} bytes", f"up to {len(data)} bytes")
    if header.chunk < 1 or not HEADER_SIZE <= header.data_with_header <= size or header.uncompressed < 0:
        found = f"{header.uncompressed} bytes uncompressed, {header.data_with_header} stored, checked each {header.chunk}"
        raise place.malformed("impossible sizes in a block header", at, found)
    sums = size - header.data_with_header
    if sums != checksum_size(header.data_with_header, header.chunk):
        expected = f"{checksum_size(header.data_with_header, header.chunk)} bytes"
        raise place.malformed("space for another number of checksums", at, f"{sums} bytes", expected)
    return header


def _kind(magic: bytes, at: int, place: Place, kinds: Collection[BlockType]) -> BlockType:
    expected = " or ".join(repr(kind.value.decode()) for kind in kinds)
    if magic in _FOREIGN:
        raise place.unsupported("a block that Apache Hudi does not write", at, repr(magic.decode()), expected)
    for kind in kinds:
        if magic == kind.value:
            return kind
    raise place.malformed("no block, or a block of another type, at this place", at, repr(magic), expected)


def _inflate(stored: Data, size: int, compression: Compression, at: int, place: Place) -> Data:
    """The payload, which has to have `size` bytes; not more than that is decompressed."""
    if compression is Compression.NONE:
        if len(stored) != size:
            raise place.malformed("an uncompressed block with two different sizes", at, f"{len(stored)} bytes", f"{size} bytes")
        return stored
    if size > _BEST_RATIO * len(stored):
        raise place.malformed(
            "an impossible compression ratio", at, f"{size} bytes in {len(stored)}", f"at most {_BEST_RATIO} bytes in one"
        )
    check_decompressed(size, len(stored), place.path, place.start + at, "BF-002")
    try:
        return _gunzip(stored, size)
    except (zlib.error, ValueError) as error:
        raise place.malformed(
            "a block is not a single gzip member of the declared size", at, str(error), f"{size} bytes"
        ) from error


def _gunzip(stored: Data, size: int) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    payload = inflater.decompress(stored, size + 1)
    if len(payload) != size or not inflater.eof or inflater.unused_data:
        more = "more" if len(payload) > size else f"{len(payload)} bytes"
        raise ValueError(f"{more}{'' if inflater.eof else ', no end'}, {len(inflater.unused_data)} bytes after it")
    return payload


def _gzip(payload: bytes) -> bytes:
    """One gzip member without name and time, like that of Java."""
    deflater = zlib.compressobj(wbits=-15)
    body = deflater.compress(payload) + deflater.flush()
    return b"\x1f\x8b\x08" + bytes(7) + body + struct.pack("<II", zlib.crc32(payload), len(payload) & 0xFFFFFFFF)


def checksum_size(size: int, chunk: int = BYTES_PER_CHECKSUM) -> int:
    """The number of bytes of the checksums of `size` bytes."""
    return 4 * -(-size // chunk)


def _short(data: bytes) -> str:
    return data[:16].hex(" ", 4) + (" ..." if len(data) > 16 else "")
