"""TODO docstring."""

import io
import struct
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import (
    folder_of,
)

MAGIC = b"#HUDI#"


DELETE, AVRO, PARQUET = 1, 3, 5


INSTANT_TIME, SCHEMA = 0, 2


ROWS = (row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x"))


@dataclass(frozen=True)
class Block:
    """One block as found: its numbers as stored, its header, its content."""

    kind: int
    version: int
    header: dict[int, str]
    content: bytes


def parse_blocks(data: bytes) -> list[Block]:
    """The blocks of a log file, every length checked against the bytes; written from the format's description alone."""
    blocks, stream = [], io.BytesIO(data)
    while stream.tell() < len(data):
        start = stream.tell()
        assert stream.read(6) == MAGIC
        (length,) = struct.unpack(">q", stream.read(8))
        version, kind = struct.unpack(">ii", stream.read(8))
        header = parse_map(stream)
        (size,) = struct.unpack(">q", stream.read(8))
        content = stream.read(size)
        assert parse_map(stream) == {}, "footers are empty"
        (trailer,) = struct.unpack(">q", stream.read(8))
        assert length == stream.tell() - start - 14, "the leading length counts all but magic and itself"
        assert trailer == length + 6, "the trailing length counts the magic, and not itself"
        blocks.append(Block(kind, version, header, content))
    return blocks


def parse_map(stream: io.BytesIO) -> dict[int, str]:
    """A header or footer: a count, then for each entry its key, a length and a text."""
    (count,) = struct.unpack(">i", stream.read(4))
    entries = {}
    for _ in range(count):
        key, length = struct.unpack(">ii", stream.read(8))
        entries[key] = stream.read(length).decode()
    return entries


def logs_written(engine: Client, uri: str, step: Step) -> tuple[str, list[Block]]:
    """The instant of a write to a merge-on-read table that holds `ROWS`, and the blocks that it left."""
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow(ROWS))
    instant = engine.write(uri, step.operation, as_arrow(step.rows))
    logs = [path for path in sorted(folder_of(uri).rglob(".*.log.*")) if ".hoodie" not in path.parts and path.suffix != ".crc"]
    assert len(logs) == 1
    return instant, parse_blocks(logs[0].read_bytes())


def logs(uri: str) -> list[Path]:
    """The log files of a table."""
    found = [path for path in folder_of(uri).rglob(".*.log.*") if ".hoodie" not in path.parts and path.suffix != ".crc"]
    return sorted(found)


#: Numbers of block types, as they are stored.
STORED_AS = {"avro": 3, "hfile": 4, "parquet": 5}
