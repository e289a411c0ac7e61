"""The time zones of the writers of an ORC file, which the ORC library does not return.

A timestamp of ORC is the local time of its writer. Deployed writers store instants as their local time, and the time zone in
the footer of each stripe. Without the zone such an instant would be read with an offset of some hours.

    stripes, each with a footer after its data | statistics | footer | postscript | its length (1)
"""

import zlib
from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.files.base.orc_footer import LONGEST_BLOCK, read_part, read_postscript
from hudi_reference.files.hfile.varint import protobuf_fields, read_protobuf_varint

#: Names of UTC, in which local time and instant are equal; the first is that of a writer that stores none.
UTC = frozenset({"", "UTC", "GMT", "Z", "Zulu", "Universal", "Etc/UTC", "Etc/GMT", "Etc/Universal", "Etc/Zulu"})


def zones_of(source: pa.NativeFile) -> frozenset[str]:
    """The names of the zones of all stripes. Raises ValueError if the file cannot be parsed."""
    end, postscript = read_postscript(source)
    compression, footer_size = _number(postscript.get(2)), _number(postscript.get(1))
    footer = _plain(read_part(source, end - footer_size, footer_size), compression)
    stripes = [dict(protobuf_fields(_bytes(value))) for tag, value in protobuf_fields(footer) if tag == 3]
    return frozenset(_zone(source, stripe, compression) for stripe in stripes)


def _zone(source: pa.NativeFile, stripe: dict[int, int | bytes], compression: int) -> str:
    start, index, data, size = (_number(stripe.get(tag)) for tag in (1, 2, 3, 4))
    footer = _plain(read_part(source, start + index + data, size), compression)
    return _bytes(dict(protobuf_fields(footer)).get(3, b"")).decode()


def _plain(data: bytes, compression: int) -> bytes:
    """The message in these chunks, uncompressed. Each chunk follows three bytes: its length, and whether it is uncompressed."""
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


def _number(value: int | bytes | None) -> int:
    return value if isinstance(value, int) else 0


def _bytes(value: int | bytes) -> bytes:
    return b"" if isinstance(value, int) else value


def has_clock_times(kind: pa.DataType) -> bool:
    """Whether the type contains timestamps without a zone, which are local times of the writer."""
    if pt.is_timestamp(kind):
        return kind.tz is None
    return any(has_clock_times(kind.field(i).type) for i in range(kind.num_fields))
