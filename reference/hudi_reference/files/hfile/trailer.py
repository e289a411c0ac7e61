"""The last 4096 bytes of an HFile, and its file info: the two parts that are protobuf messages.

offset   content
0        TRABLK"$
8        length of the message, message: see Trailer
-        zeros
4092     minor version: 3 by HBase, 0 by the newer writer of Apache Hudi
4093     major version, 3 bytes: 3
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from hudi_reference.files.hfile.block import Block, Compression
from hudi_reference.files.hfile.varint import BYTES, VARINT, Data, Place, protobuf_fields, protobuf_varint, read_protobuf_varint

MAGIC = b'TRABLK"$'
SIZE = 4096
MAJOR_VERSION = 3
MINOR_VERSION = 3
#: The offset of the first and last data block in a file without data blocks.
NO_OFFSET = 2**64 - 1
COMPARATOR = "org.apache.hudi.io.storage.HoodieHBaseKVComparator"
#: More levels than any index has: each level multiplies the number of blocks by the entries of one.
_MOST_LEVELS = 16
_FILE_INFO_MAGIC = b"PBUF"


def _number(tag: int) -> Any:
    return field(default=0, metadata={"tag": tag})


@dataclass(frozen=True)
class Trailer:
    """The fields of the message, in the order of their numbers. Offsets are from the HFile's start, sizes are uncompressed."""

    file_info_offset: int = _number(1)
    load_on_open_offset: int = _number(2)
    #: Of all blocks of the data index. The newer writer of Apache Hudi stores the size of the data.
    data_index_size: int = _number(3)
    #: Absent in files of the newer writer of Apache Hudi.
    total_size: int = _number(4)
    data_index_count: int = _number(5)
    meta_index_count: int = _number(6)
    entry_count: int = _number(7)
    data_index_levels: int = _number(8)
    first_data_block: int = _number(9)
    last_data_block: int = _number(10)
    compression: int = _number(12)
    comparator: bytes = field(default=b"", metadata={"tag": 11})
    encryption_key: bytes = field(default=b"", metadata={"tag": 13})
    minor_version: int = MINOR_VERSION


_FIELDS: dict[int, Any] = {f.metadata["tag"]: f for f in fields(Trailer) if f.metadata}


def encode_trailer(trailer: Trailer) -> bytes:
    """The 4096 bytes. They have no encryption key, because HBase fails on one even if it is empty."""
    message = b"".join(_encode_field(tag, getattr(trailer, _FIELDS[tag].name)) for tag in sorted(_FIELDS) if tag != 13)
    head = MAGIC + protobuf_varint(len(message)) + message
    return head + bytes(SIZE - 4 - len(head)) + bytes([trailer.minor_version]) + MAJOR_VERSION.to_bytes(3, "big")


def decode_trailer(data: Data, at: int, place: Place) -> Trailer:
    """Decode the trailer at offset `at`. Raises MalformedBaseFile, UnsupportedFileFormat."""
    if data[: len(MAGIC)] != MAGIC:
        raise place.malformed(
            "no trailer at the end: the file is truncated, or not an HFile", at, repr(bytes(data[:8])), repr(MAGIC)
        )
    major = int.from_bytes(data[-3:], "big")
    if major != MAJOR_VERSION:
        raise place.unsupported("another major version", at + SIZE - 3, str(major), str(MAJOR_VERSION))
    values: dict[str, Any] = {"minor_version": data[-4]}
    try:
        for tag, value in protobuf_fields(_message(data[: SIZE - 4], MAGIC)):
            if tag in _FIELDS:
                values[_FIELDS[tag].name] = _of_type(tag, value)
    except ValueError as error:
        raise place.malformed("the trailer cannot be decoded", at, str(error)) from error
    return _checked(Trailer(**values), at, place)


def _message(data: Data, magic: bytes) -> Data:
    """The message after the magic and its own length. Raises ValueError."""
    if data[: len(magic)] != magic:
        raise ValueError(f"it begins with {bytes(data[: len(magic)])!r}")
    length, start = read_protobuf_varint(data, len(magic))
    if length > len(data) - start:
        raise ValueError(f"a message of {length} bytes in {len(data) - start}")
    return data[start : start + length]


def _of_type(tag: int, value: int | bytes) -> int | bytes:
    if type(value) is not type(_FIELDS[tag].default):
        raise ValueError(f"field {tag} has another type")
    return value


def _checked(trailer: Trailer, at: int, place: Place) -> Trailer:
    if trailer.encryption_key:
        raise place.unsupported("an encrypted file", at, f"a key of {len(trailer.encryption_key)} bytes", "no encryption")
    if trailer.compression not in Compression.__members__.values():
        raise place.unsupported("another compression", at, f"codec {trailer.compression}", "1 (GZ) or 2 (NONE)")
    if not 0 <= trailer.load_on_open_offset <= trailer.file_info_offset <= at:
        found = f"load on open {trailer.load_on_open_offset}, file info {trailer.file_info_offset}"
        raise place.malformed("sections at wrong offsets", at, found, f"load on open, file info, {at}: ascending")
    if not 1 <= trailer.data_index_levels <= _MOST_LEVELS:
        raise place.malformed("an index with too many levels", at, str(trailer.data_index_levels), f"1 to {_MOST_LEVELS}")
    return trailer


def encode_file_info(info: Mapping[str, bytes]) -> bytes:
    """The payload of the file info block; entries are sorted by key, as in HBase."""
    pairs = ((key.encode(), value) for key, value in info.items())
    entries = (_encode_field(1, key) + _encode_field(2, value) for key, value in sorted(pairs))
    message = b"".join(_encode_field(1, entry) for entry in entries)
    return _FILE_INFO_MAGIC + protobuf_varint(len(message)) + message


def decode_file_info(block: Block, place: Place) -> dict[str, bytes]:
    """The entries by key. Raises MalformedBaseFile."""
    try:
        entries = protobuf_fields(_message(block.payload, _FILE_INFO_MAGIC))
        pairs = (dict(protobuf_fields(_bytes(entry))) for tag, entry in entries if tag == 1)
        return {_bytes(pair.get(1, b"")).decode(): _bytes(pair.get(2, b"")) for pair in pairs}
    except ValueError as error:
        raise place.malformed("the file info cannot be decoded", block.offset, str(error), "PBUF and a message") from error


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number in place of bytes")  # noqa: TRY004 - a stored value of another type is not a type error
    return value


def _encode_field(tag: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return protobuf_varint(tag << 3 | VARINT) + protobuf_varint(value)
    return protobuf_varint(tag << 3 | BYTES) + protobuf_varint(len(value)) + value
