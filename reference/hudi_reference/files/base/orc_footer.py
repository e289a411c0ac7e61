"""The postscript of an ORC file, and entries in its footer, which the ORC library cannot write.

    stripes, statistics | footer | postscript | its length (1)

The footer is a protobuf message in chunks. A chunk is three bytes, little-endian, with its length and, in the lowest bit,
whether it is stored uncompressed; then its bytes. Bytes after a protobuf message are part of it, so the entries are appended as
further chunks. The postscript begins with the length of the footer.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa

from hudi_reference.files.hfile.varint import protobuf_fields, protobuf_varint, read_protobuf_varint

#: The size of compression blocks in written files; readers refuse larger chunks.
BLOCK_SIZE = 1 << 16
_METADATA, _NAME, _VALUE = (number << 3 | 2 for number in (5, 1, 2))
_FOOTER_LENGTH = 1 << 3
#: The most bytes of a compression block: its length has 23 bits.
LONGEST_BLOCK = 1 << 23
_BLOCK_SIZE_FIELD = 3
#: Fields of the footer, and of the statistics of a column.
STRIPES, _STATISTICS, _VALUES = 3, 7, 1


def read_postscript(source: pa.NativeFile) -> tuple[int, dict[int, int | bytes]]:
    """The offset of the postscript, which is the end of the footer, and its fields by their numbers.

    Raises ValueError if it cannot be parsed, and if blocks are longer than blocks can be: the ORC library reserves the memory
    for one when it opens the file, and ends the process if there is not so much.
    """
    length = read_part(source, source.size() - 1, 1)[0]
    start = source.size() - 1 - length
    fields = dict(protobuf_fields(read_part(source, start, length)))
    size = fields.get(_BLOCK_SIZE_FIELD, 0)
    if not isinstance(size, int) or size > LONGEST_BLOCK:
        raise ValueError(f"compression blocks of {size!r} bytes; the most is {LONGEST_BLOCK}")
    return start, fields


def read_footer(source: pa.NativeFile) -> tuple[bytes, int]:
    """The message in the footer, and the number of the compression. Raises ValueError if it cannot be parsed."""
    stored, compression = _stored_footer(source)
    return uncompressed(stored, compression), compression


def _stored_footer(source: pa.NativeFile) -> tuple[bytes, int]:
    """The footer as stored, and the number of the compression."""
    end, postscript = read_postscript(source)
    compression, size = number(postscript.get(2)), number(postscript.get(1))
    return read_part(source, end - size, size), compression


def values_of(source: pa.NativeFile) -> int:
    """How many values all columns have, with the elements of lists and maps, by the statistics. Raises ValueError.

    0 for a file whose compression this module does not know; the ORC library knows LZ4, too.
    """
    stored, compression = _stored_footer(source)
    if compression not in (0, *_INFLATE):
        return 0
    footer = uncompressed(stored, compression)
    return sum(number(dict(protobuf_fields(one)).get(_VALUES)) for one in messages(footer, _STATISTICS))


def messages(message: bytes, tag: int) -> Iterator[bytes]:
    """The values of the fields with this number that are messages or texts. Raises ValueError."""
    return (value for found, value in protobuf_fields(message) if found == tag and isinstance(value, bytes))


def number(value: int | bytes | None) -> int:
    """The value of a field that is a number; 0 if it is missing."""
    return value if isinstance(value, int) else 0


def uncompressed(data: bytes, compression: int) -> bytes:
    """The message in these chunks; `compression` is the number in the postscript. Raises ValueError."""
    if compression == 0:
        return data
    position, parts = 0, []
    while position < len(data):
        head = int.from_bytes(data[position : position + 3], "little")
        chunk = data[position + 3 : position + 3 + (head >> 1)]
        if head >> 1 > len(chunk) or (compression not in _INFLATE and not head & 1):
            raise ValueError(f"a chunk of {head >> 1} bytes, {len(chunk)} are there, compression {compression}")
        parts.append(chunk if head & 1 else _INFLATE[compression](chunk))
        position += 3 + len(chunk)
    return b"".join(parts)


def _unzlib(chunk: bytes) -> bytes:
    return zlib.decompressobj(wbits=-15).decompress(chunk, LONGEST_BLOCK)


def _unsnappy(chunk: bytes) -> bytes:
    size, _ = read_protobuf_varint(chunk, 0)
    return bytes(pa.Codec("snappy").decompress(chunk, min(size, LONGEST_BLOCK), asbytes=True))


def _unzstd(chunk: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(chunk), "zstd") as stream:
        return bytes(stream.read(LONGEST_BLOCK))


#: By the number of the compression in the postscript.
_INFLATE: dict[int, Callable[[bytes], bytes]] = {1: _unzlib, 2: _unsnappy, 5: _unzstd}


def read_part(source: pa.NativeFile, start: int, size: int) -> bytes:
    """Bytes of the file. Raises ValueError if they are not inside of it."""
    if start < 0 or size < 0 or start + size > source.size():
        raise ValueError(f"{size} bytes at byte {start} of {source.size()}")
    return bytes(source.read_at(size, start))


def with_entries(data: bytes, entries: Mapping[str, str]) -> bytes:
    """The bytes of a compressed ORC file with these entries in its footer."""
    start = len(data) - 1 - data[-1]
    postscript = data[start:-1]
    assert postscript[0] == _FOOTER_LENGTH, "a postscript begins with the length of the footer"
    length, rest = read_protobuf_varint(postscript, 1)
    message = b"".join(_entry(name.encode(), value.encode()) for name, value in entries.items())
    chunks = b"".join(_chunk(message[at : at + BLOCK_SIZE]) for at in range(0, len(message), BLOCK_SIZE))
    longer = bytes([_FOOTER_LENGTH]) + protobuf_varint(length + len(chunks)) + postscript[rest:]
    return data[:start] + chunks + longer + bytes([len(longer)])


def _entry(name: bytes, value: bytes) -> bytes:
    return _field(_METADATA, _field(_NAME, name) + _field(_VALUE, value))


def _field(tag: int, content: bytes) -> bytes:
    return bytes([tag]) + protobuf_varint(len(content)) + content


def _chunk(content: bytes) -> bytes:
    return (len(content) << 1 | 1).to_bytes(3, "little") + content
