"""Trailers of HFiles with fields that a reader does not know: protobuf says how long each is, so that readers skip it."""

import json
from pathlib import Path

import pytest

from hudi_conformance.cases.inspection import find_contradiction
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.contract.client import Client

#: The bytes of a trailer, and its first bytes, which the length of the message and the message follow.
SIZE, MAGIC = 4096, b'TRABLK"$'
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


def add_fields(file: bytes, fields: bytes, place: str) -> bytes:
    """Return the HFile with these fields at the begin or at the end of the message in its trailer."""
    body, trailer = file[:-SIZE], file[-SIZE:]
    assert trailer.startswith(MAGIC)
    is_long = trailer[8] >= 0x80
    length, start = (trailer[8] & 0x7F | trailer[9] << 7, 10) if is_long else (trailer[8], 9)
    message = trailer[start : start + length]
    longer = fields + message if place == "begin" else message + fields
    head = MAGIC + varint(len(longer)) + longer
    return body + head + bytes(SIZE - 4 - len(head)) + trailer[-4:]


@pytest.mark.needs("inspect.hfile")
@pytest.mark.requirements("BF-002", "BF-010", "BLK-024")
@pytest.mark.parametrize("place", ["begin", "end"])
@pytest.mark.parametrize("kinds", [*([kind] for kind in UNKNOWN), [*UNKNOWN]], ids=[*UNKNOWN, "all"])
def test_unknown_fields_are_skipped(engine: Client, tmp_path: Path, kinds: list[str], place: str) -> None:
    """BF-002: an HFile whose trailer has a further field, of each type of protobuf, is read as without it."""
    case = fixtures_root() / "hfile" / "worked-example"
    (golden,) = (case / "bytes").iterdir()
    file = tmp_path / golden.name
    file.write_bytes(add_fields(golden.read_bytes(), b"".join(UNKNOWN[kind] for kind in kinds), place))
    expected = json.loads((case / "expected" / "inspect.json").read_text("utf-8"))
    assert find_contradiction(expected, engine.inspect(file.as_uri())) is None
