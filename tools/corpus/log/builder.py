"""Log files built byte by byte, with the expected inspection.

    field            width   value
    magic            6       #HUDI#
    block length     8       from the version through the trailer: size of the block - 14
    version          4       1
    type             4       0 command, 1 delete, 2 never written, 3 Avro, 4 HFile, 5 Parquet, 6 change capture
    header           -       4: number of entries, then for each 4: key, 4: length, text in UTF-8
    content length   8
    content          -
    footer           -       a map like the header
    trailer          8       block length + 6

All integers are big-endian.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from tools.corpus.names import FILE_ID, instant_time

Json = Any
MAGIC = b"#HUDI#"
TYPES = {"command": 0, "delete": 1, "avro": 3, "hfile": 4, "parquet": 5, "cdc": 6}
INSTANT, TARGET, SCHEMA, COMMAND, COMPACTED, POSITIONS, IDENTIFIER, PARTIAL, BASE_INSTANT = range(9)
NAMES = (
    "INSTANT_TIME",
    "TARGET_INSTANT_TIME",
    "SCHEMA",
    "COMMAND_BLOCK_TYPE",
    "COMPACTED_BLOCK_TIMES",
    "RECORD_POSITIONS",
    "BLOCK_IDENTIFIER",
    "IS_PARTIAL",
    "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS",
)


def log_file_name(second: int = 0, version: int = 1, token: str = "0-1-2", suffix: str = "") -> str:
    """The name of a log file."""
    return f".{FILE_ID}_{instant_time(second)}.log.{version}_{token}{suffix}"


def encode_int4(value: int) -> bytes:
    """Four bytes."""
    return struct.pack(">i", value)


def encode_int8(value: int) -> bytes:
    """Eight bytes."""
    return struct.pack(">q", value)


def frame_records(data: Sequence[bytes], version: int = 3) -> bytes:
    """The content of an Avro data block: content version, count, and each record with its length before it."""
    return encode_int4(version) + encode_int4(len(data)) + b"".join(encode_int4(len(one)) + one for one in data)


@dataclass(frozen=True)
class Block:
    """One block. `header` and `footer` are (key, text) as stored; `shows` is the inspection of the content."""

    kind: str
    header: Sequence[tuple[int, str]]
    content: bytes = b""
    shows: Mapping[str, Json] = field(default_factory=dict)
    footer: Sequence[tuple[int, str]] = ()
    version: int = 1

    def with_changes(self, **changes: Any) -> Self:
        """The same block with other fields."""
        return replace(self, **changes)

    def fields(self) -> list[tuple[str, bytes]]:
        """The parts of the block by name, in order."""
        body = [
            ("version", encode_int4(self.version)),
            ("type", encode_int4(TYPES[self.kind])),
            *_map("header", self.header),
            ("content-length", encode_int8(len(self.content))),
            ("content", self.content),
            *_map("footer", self.footer),
        ]
        length = sum(len(part) for _, part in body) + 8
        return [("magic", MAGIC), ("length", encode_int8(length)), *body, ("trailer", encode_int8(length + 6))]

    @property
    def data(self) -> bytes:
        """The bytes of the block."""
        return b"".join(part for _, part in self.fields())

    def position_of_part(self, name: str) -> tuple[int, int]:
        """Offset (from the block's start) and width of a part."""
        offset = 0
        for part, content in self.fields():
            if part == name:
                return offset, len(content)
            offset += len(content)
        raise KeyError(name)

    def inspection(self, offset: int) -> Json:
        """The inspection of the block at `offset`."""
        envelope = {"offset": offset, "length": len(self.data), "type": self.kind, "version": self.version}
        header = {_name(key): text for key, text in self.header}
        return {**envelope, "header": header, "footer": {str(k): t for k, t in self.footer}, **self.shows}


def _map(what: str, entries: Sequence[tuple[int, str]]) -> Iterator[tuple[str, bytes]]:
    yield f"{what}-count", encode_int4(len(entries))
    for number, (key, text) in enumerate(entries):
        yield f"{what}-{number}-key", encode_int4(key)
        yield f"{what}-{number}-length", encode_int4(len(text.encode()))
        yield f"{what}-{number}-text", text.encode()


def _name(key: int) -> str:
    return NAMES[key] if 0 <= key < len(NAMES) else str(key)


Part = Block | bytes


def join_bytes(*parts: Part) -> bytes:
    """The bytes of a file of whole blocks and of other bytes."""
    return b"".join(part if isinstance(part, bytes) else part.data for part in parts)


def expected_inspection(*parts: Part) -> Json:
    """The inspection of such a file: whole blocks, and one corrupt block for other bytes up to the next magic."""
    blocks, offset, data = [], 0, join_bytes(*parts)
    for part in parts:
        if isinstance(part, bytes):
            blocks += [corrupt_block(start, end - start) for start, end in _stretches(data, offset, offset + len(part))]
            offset += len(part)
        else:
            blocks.append(part.inspection(offset))
            offset += len(part.data)
    return {"format": "log", "blocks": blocks}


def corrupt_block(offset: int, length: int) -> Json:
    """The corrupt block for bytes that are not part of a whole block."""
    return {"offset": offset, "length": length, "type": "corrupt"}


def without_corrupt(found: Json) -> Json:
    """The same inspection by a reader that skips stray bytes silently."""
    return {**found, "blocks": [block for block in found["blocks"] if block["type"] != "corrupt"]}


def without_content(found: Json) -> Json:
    """The same inspection without the content of the blocks."""
    kept = ("offset", "length", "type")
    return {**found, "blocks": [{key: block[key] for key in kept} for block in found["blocks"]]}


def _stretches(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of data[start:end] that begin with a magic, including accidental ones."""
    while start < end:
        following = data.find(MAGIC, start + 1)
        until = end if following < 0 else min(following, end)
        yield start, until
        start = until
