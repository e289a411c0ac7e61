"""The postscript of an ORC file, and entries in its footer, which the ORC library cannot write.

    stripes, statistics | footer | postscript | its length (1)

The footer is a protobuf message in chunks. A chunk is three bytes, little-endian, with its length and, in the lowest bit,
whether it is stored uncompressed; then its bytes. Bytes after a protobuf message are part of it, so the entries are appended as
further chunks. The postscript begins with the length of the footer.
"""

from collections.abc import Mapping

import pyarrow as pa

from hudi_reference.files.hfile.varint import protobuf_fields, protobuf_varint, read_protobuf_varint

#: The size of compression blocks in written files; readers refuse larger chunks.
BLOCK_SIZE = 1 << 16
_METADATA, _NAME, _VALUE = (number << 3 | 2 for number in (5, 1, 2))
_FOOTER_LENGTH = 1 << 3
#: The most bytes of a compression block: its length has 23 bits.
LONGEST_BLOCK = 1 << 23
_BLOCK_SIZE_FIELD = 3


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
