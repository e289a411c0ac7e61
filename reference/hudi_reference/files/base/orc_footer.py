"""Entries in the footer of an ORC file, which the ORC library cannot write.

    stripes, statistics | footer | postscript | its length (1)

The footer is a protobuf message in chunks. A chunk is three bytes, little-endian, with its length and, in the lowest bit,
whether it is stored uncompressed; then its bytes. Bytes after a protobuf message are part of it, so the entries are appended as
further chunks. The postscript begins with the length of the footer.
"""

from collections.abc import Mapping

from hudi_reference.files.hfile.varint import protobuf_varint, read_protobuf_varint

#: The size of compression blocks in written files; readers refuse larger chunks.
BLOCK_SIZE = 1 << 16
_METADATA, _NAME, _VALUE = (number << 3 | 2 for number in (5, 1, 2))
_FOOTER_LENGTH = 1 << 3


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
