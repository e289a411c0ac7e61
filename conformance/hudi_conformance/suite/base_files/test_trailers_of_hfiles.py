"""Trailers of HFiles: the fields that writers store, and fields that a reader does not know, which it skips."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.cases.inspection import find_contradiction
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.tables.clustered_tables import NewUri
from hudi_conformance.suite.support.tables.metadata_tables import COMPACTED_AFTER, INSERTS, KEEPS, LISTED, IndexedTable
from hudi_conformance.suite.support.tables.stored_blocks import hfile_entries

#: The bytes of a trailer, and its first bytes, which the length of the message and the message follow.
SIZE, MAGIC = 4096, b'TRABLK"$'
#: The numbers of fields.
ENTRIES, ENCRYPTION_KEY = 7, 13
#: Fields of each wire type with numbers that no release uses: the number and the type, then the value.
UNKNOWN = {
    "number": bytes([40 << 3 & 0x7F | 0x80, 40 >> 4]) + b"\x96\x01",
    "eight bytes": bytes([40 << 3 & 0x7F | 0x80 | 1, 40 >> 4]) + bytes(range(8)),
    "bytes": bytes([40 << 3 & 0x7F | 0x80 | 2, 40 >> 4]) + b"\x05hello",
    "four bytes": bytes([40 << 3 & 0x7F | 0x80 | 5, 40 >> 4]) + b"\x08\x00\x10\xff",
}


def varint(number: int) -> bytes:
    """Return a protobuf number below 1 << 14."""
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80, number >> 7])


def message_of(trailer: bytes) -> bytes:
    """Return the message in a trailer."""
    assert trailer.startswith(MAGIC)
    length, start = (trailer[8] & 0x7F | trailer[9] << 7, 10) if trailer[8] >= 0x80 else (trailer[8], 9)
    return trailer[start : start + length]


def fields_of(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field of a message that has numbers and bytes only."""
    at = 0

    def number() -> int:
        nonlocal at
        found = shift = 0
        while True:
            byte, at = message[at], at + 1
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return found

    while at < len(message):
        key = number()
        value: Any = number()
        if key & 7:
            at, value = at + value, message[at : at + value]
        yield key >> 3, value


def add_fields(file: bytes, fields: bytes, place: str) -> bytes:
    """Return the HFile with these fields at the begin or at the end of the message in its trailer."""
    body, trailer = file[:-SIZE], file[-SIZE:]
    message = message_of(trailer)
    longer = fields + message if place == "begin" else message + fields
    head = MAGIC + varint(len(longer)) + longer
    return body + head + bytes(SIZE - 4 - len(head)) + trailer[-4:]


@pytest.mark.needs("inspect.hfile")
@pytest.mark.requirements("BF-002", "BF-010", "BLK-024")
@pytest.mark.parametrize("place", ["begin", "end"])
@pytest.mark.parametrize("kinds", [*([kind] for kind in UNKNOWN), [*UNKNOWN]], ids=[*UNKNOWN, "all"])
def test_unknown_fields_are_skipped(engine: Client, tmp_path: Path, kinds: list[str], place: str) -> None:
    """BF-002: an HFile whose trailer has a further field, of each type of protobuf, is read as without it."""
    case = fixtures_root() / "hfile" / "layout.several-blocks"
    (golden,) = (case / "bytes").iterdir()
    file = tmp_path / golden.name
    file.write_bytes(add_fields(golden.read_bytes(), b"".join(UNKNOWN[kind] for kind in kinds), place))
    expected = json.loads((case / "expected" / "inspect.json").read_text("utf-8"))
    assert find_contradiction(expected, engine.inspect(file.as_uri())) is None


#: Last fields that no message can have: their value would end after the message, or their type is none of protobuf's.
CUT = {
    "bytes beyond the message": bytes([40 << 3 & 0x7F | 0x80 | 2, 40 >> 4]) + b"\x06hello",
    "seven of eight bytes": bytes([40 << 3 & 0x7F | 0x80 | 1, 40 >> 4]) + bytes(range(7)),
    "three of four bytes": bytes([40 << 3 & 0x7F | 0x80 | 5, 40 >> 4]) + b"\x08\x00\x10",
    "a number without its end": bytes([40 << 3 & 0x7F | 0x80, 40 >> 4]) + b"\x96",
    "an unknown type": bytes([40 << 3 & 0x7F | 0x80 | 6, 40 >> 4]) + b"\x08\x00\x10\xff",
}


@pytest.mark.needs("inspect.hfile")
@pytest.mark.requirements("BF-002")
@pytest.mark.parametrize("kind", CUT)
def test_a_trailer_that_is_no_message_is_refused(engine: Client, tmp_path: Path, kind: str) -> None:
    """BF-002: the trailer of an HFile is a protobuf message. If its last field ends after the message, or has an unknown type,
    the bytes are damaged: the file is an error, also if the fields before are those of a valid file.
    """
    case = fixtures_root() / "hfile" / "layout.several-blocks"
    (golden,) = (case / "bytes").iterdir()
    file = tmp_path / golden.name
    file.write_bytes(golden.read_bytes())
    expected = json.loads((case / "expected" / "inspect.json").read_text("utf-8"))
    assert find_contradiction(expected, engine.inspect(file.as_uri())) is None
    file.write_bytes(add_fields(golden.read_bytes(), CUT[kind], "end"))
    with pytest.raises(ContractError):
        engine.inspect(file.as_uri())


@KEEPS
@pytest.mark.requirements("BF-002")
def test_trailers_have_no_key_of_encryption(engine: Client, new_uri: NewUri) -> None:
    """BF-002: stock libraries open the HFiles of a metadata table. Their trailers name no key of encryption, because HBase
    fails on one, even if it is empty, and as many entries as the file has.
    """
    table = IndexedTable(engine, new_uri(), "COPY_ON_WRITE", LISTED).write(*INSERTS, options={COMPACTED_AFTER: "1"})
    files = [table.folder / ".hoodie" / "metadata" / path for path in table.metadata_files("*/*.hfile")]
    assert files
    for content in (path.read_bytes() for path in files):
        fields = dict(fields_of(message_of(content[-SIZE:])))
        assert ENCRYPTION_KEY not in fields
        assert fields[ENTRIES] == len(hfile_entries(content))
