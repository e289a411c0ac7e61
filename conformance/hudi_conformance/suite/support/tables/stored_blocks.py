"""Log blocks as they are stored, parsed from the description of the format alone."""

import gzip
import io
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import table_folder

MAGIC = b"#HUDI#"
DELETE, AVRO, HFILE, PARQUET = 1, 3, 4, 5
#: The stored numbers of block types.
STORED_AS = {"avro": 3, "hfile": 4, "parquet": 5}
INSTANT_TIME, SCHEMA = 0, 2
ROWS = (row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x"))


@dataclass(frozen=True)
class Block:
    """One block as stored: its numbers, its header, its content."""

    kind: int
    version: int
    header: dict[int, str]
    content: bytes


def parse_blocks(data: bytes) -> list[Block]:
    """Parse the blocks of a log file and check every length."""
    blocks, stream = [], io.BytesIO(data)
    while stream.tell() < len(data):
        start = stream.tell()
        assert stream.read(6) == MAGIC
        (length,) = struct.unpack(">q", stream.read(8))
        version, kind = struct.unpack(">ii", stream.read(8))
        header = parse_map(stream)
        (size,) = struct.unpack(">q", stream.read(8))
        content = stream.read(size)
        assert parse_map(stream) == {}, "the footer has entries"
        (trailer,) = struct.unpack(">q", stream.read(8))
        assert length == stream.tell() - start - 14, "the block length is not the size of the block without magic and length"
        assert trailer == length + 6, "the trailing length is not the size of the block without itself"
        blocks.append(Block(kind, version, header, content))
    return blocks


def parse_records(block: Block) -> list[Any]:
    """Decode the records of an Avro block by the schema in its header; check that they fill the content."""
    schema, stream = json.loads(block.header[SCHEMA]), io.BytesIO(block.content)
    _, count = struct.unpack(">ii", stream.read(8))
    records = []
    for _ in range(count):
        (length,) = struct.unpack(">i", stream.read(4))
        records.append(fastavro.schemaless_reader(io.BytesIO(stream.read(length)), schema, None))
    assert stream.tell() == len(block.content)
    return records


def parse_deletes(block: Block) -> list[tuple[str, str]]:
    """Decode key and partition path of the deletes in a block, whose ordering values are whole numbers or absent."""
    values = [
        {"type": "record", "name": f"{kind}_value", "fields": [{"name": "value", "type": kind}]}
        for kind in ("boolean", "int", "long")
    ]
    types = {"recordKey": ["null", "string"], "partitionPath": ["null", "string"], "orderingVal": ["null", *values]}
    entry = {"type": "record", "name": "entry", "fields": [{"name": name, "type": type} for name, type in types.items()]}
    stream = io.BytesIO(block.content[8:])
    found = fastavro.schemaless_reader(stream, {"type": "array", "items": entry}, None)
    assert stream.tell() == len(block.content) - 8
    return [(one["recordKey"], one["partitionPath"]) for one in found]


def parse_map(stream: io.BytesIO) -> dict[int, str]:
    """Parse a header or footer: a count, then for each entry its key, a length and a text."""
    (count,) = struct.unpack(">i", stream.read(4))
    entries = {}
    for _ in range(count):
        key, length = struct.unpack(">ii", stream.read(8))
        entries[key] = stream.read(length).decode()
    return entries


def logs_written(engine: Client, uri: str, step: Step) -> tuple[str, list[Block]]:
    """Write to a merge-on-read table that holds `ROWS`; return the instant and the blocks that the write stored."""
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow(ROWS))
    instant = engine.write(uri, step.operation, as_arrow(step.rows))
    (log,) = log_files(uri)
    return instant, parse_blocks(log.read_bytes())


def log_files(uri: str) -> list[Path]:
    """Return the log files of a table."""
    found = [path for path in table_folder(uri).rglob(".*.log.*") if ".hoodie" not in path.parts and path.suffix != ".crc"]
    return sorted(found)


def hfile_keys(content: bytes) -> list[bytes]:
    """Return the row keys of an HFile in stored order."""
    return [key for key, _ in hfile_entries(content)]


def hfile_entries(content: bytes) -> list[tuple[bytes, bytes]]:
    """Return the row keys and the values of an HFile in stored order, from its data blocks: a header of 33 bytes, then entries.

    Between data blocks there may be leaves of the index.
    """
    found, place = list[tuple[bytes, bytes]](), 0
    while (kind := content[place : place + 8]) in (b"DATABLK*", b"IDXLEAF2"):
        on_disk, _, _, _, _, with_header = struct.unpack(">iiqBii", content[place + 8 : place + 33])
        if kind == b"IDXLEAF2":
            place += 33 + on_disk
            continue
        payload = content[place + 33 : place + with_header]
        entries = io.BytesIO(gzip.decompress(payload) if payload[:2] == b"\x1f\x8b" else payload)
        while head := entries.read(8):
            key_length, value_length = struct.unpack(">ii", head)
            key = entries.read(key_length)
            found.append((key[2 : 2 + int.from_bytes(key[:2], "big")], entries.read(value_length)))
            entries.read(1)  # the version of the entry, always 0
        place += 33 + on_disk
    return found


#: The length of a record in an Avro block, and the number of records in front of the first one.
LENGTH, HEAD = struct.Struct(">i"), 8


def flag_every_second_record(uri: str) -> set[str]:
    """Set the flag for deletes in every second row of the log blocks, and return the keys; the files keep their sizes.

    The flag is the last column of a row: the last byte of its record.
    """
    flagged = set[str]()
    for path in log_files(uri):
        data = bytearray(path.read_bytes())
        for block in (one for one in parse_blocks(bytes(data)) if one.kind == AVRO):
            place, end = (start := data.index(block.content)) + HEAD, start + len(block.content)
            for number, record in enumerate(parse_records(block)):
                place += LENGTH.size + LENGTH.unpack_from(data, place)[0]
                if number % 2:
                    assert record["_hoodie_is_deleted"] is False and data[place - 1] == 0
                    data[place - 1] = 1
                    flagged.add(record["id"])
            assert place == end
        path.write_bytes(data)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    return flagged
