"""Delete blocks of tables before version 6: bytes of Apache Hudi's own serialization, and damaged copies."""

import json
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import HudiError, MalformedLogBlock, UnsupportedFileFormat
from hudi_reference.files.log.block import Block, BlockType
from hudi_reference.files.log.content import Delete, decode_deletes, stored_deletes

#: How these bytes were made: data/kryo/README.md.
FOLDER = Path(__file__).parents[2] / "data" / "kryo"
MEANING: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "meaning.json").read_text())
#: The type of an ordering value, and what it is in Python, by wrapper.
WRAPPERS: dict[str, tuple[str, Any]] = {
    "IntWrapper": ("int", int), "LongWrapper": ("long", str), "DoubleWrapper": ("double", str), "FloatWrapper": ("float", str),
    "BooleanWrapper": ("boolean", bool), "StringWrapper": ("string", str), "DecimalWrapper": ("decimal", str),
    "TimestampMicrosWrapper": ("timestamp-micros", str),
}  # fmt: skip


def block_of(data: bytes, version: int) -> Block:
    """A delete block with these serialized entries."""
    return Block(BlockType.DELETE, {0: "20200101000000"}, struct.pack(">ii", version, len(data)) + data, "f.log")


def version_of(name: str) -> int:
    """Version 1 holds keys, version 2 records."""
    return 1 if name.startswith("keys") else 2


def shown(entry: dict[str, Any]) -> dict[str, Any]:
    """A stored entry in the words of meaning.json."""
    ordering = None
    if entry["orderingVal"] is not None:
        name, record = entry["orderingVal"]
        kind, form = WRAPPERS[name.rpartition(".")[2]]
        ordering = {"type": kind, "value": form(record["value"])}
    return {"key": entry["recordKey"], "partition": entry["partitionPath"], "ordering": ordering}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.bin") if path.stem != "records.dates"))
def test_deletes_serialized_by_apache_hudi(name: str) -> None:
    """BLK-010: keys, partitions and ordering values of every type, as recorded by the Java program that wrote them."""
    found = stored_deletes(block_of((FOLDER / f"{name}.bin").read_bytes(), version_of(name)))
    assert [shown(entry) for entry in found] == MEANING[name.removesuffix("-of-0.12")]


def test_ordering_values_mean_what_they_mean_in_newer_blocks() -> None:
    """BLK-009, BLK-012: null and Integer 0 are no ordering value, everything else is one."""
    found = decode_deletes(block_of((FOLDER / "records.several.bin").read_bytes(), 2))
    assert found[:2] == [Delete("k1", "p=1", None), Delete("k2", "p=1", 7)]
    assert decode_deletes(block_of((FOLDER / "keys.several.bin").read_bytes(), 1))[2] == Delete("k3", None, None)
    decimals = decode_deletes(block_of((FOLDER / "records.decimals.bin").read_bytes(), 2))
    assert decimals[1].ordering == Decimal("-123456789012345678901234567890.5")


def test_a_date_is_refused() -> None:
    """BLK-010: Kryo stores midnight in the writer's time zone, which is not stored; the error names the class."""
    with pytest.raises(UnsupportedFileFormat) as raised:
        decode_deletes(block_of((FOLDER / "records.dates.bin").read_bytes(), 2))
    assert "java.sql.Date" in str(raised.value.found)


@pytest.mark.parametrize("version", [-1, 0, 4, 2**31 - 1])
def test_an_unknown_content_version_is_refused(version: int) -> None:
    """BLK-007: the refusal names the version."""
    with pytest.raises(UnsupportedFileFormat) as raised:
        decode_deletes(block_of(b"\x01\x00", version))
    assert raised.value.found == f"content version {version}"


def test_content_must_match_its_version() -> None:
    """BLK-010: version 1 has keys, version 2 has records."""
    for name in ("keys.several", "records.several"):
        with pytest.raises(MalformedLogBlock):
            decode_deletes(block_of((FOLDER / f"{name}.bin").read_bytes(), 3 - version_of(name)))


NONE = (FOLDER / "keys.none.bin").read_bytes()
CLASS = b"\x01\x01org.apache.hudi.common.model.HoodieKe\xf9"


@pytest.mark.parametrize(
    "tail",
    [
        b"",
        b"\x00",
        b"\x01\x00",
        b"\x01\xff\xff\xff\xff\x0f",
        b"\x01\xff\xff\xff\xff\xff\x01",
        b"\x01\x02",
        b"\x01\x02\x00",
        b"\x01\x02" + CLASS + b"\x00",
        b"\x01\x02" + CLASS + b"\x02",
        b"\x01\x02" + CLASS + b"\x03",
        b"\x01\x02" + CLASS + b"\x01\x00\x00",
        b"\x01\x02" + CLASS + b"\x01\x00\x02",
        b"\x01\x02" + CLASS + b"\x01\x00\x01\xff\xff\xff\xff\x7f",
        b"\x01\x02" + CLASS + b"\x01\x00\x01\x83\xff\xff",
        b"\x01\x02" + CLASS + b"\x01\x00\x01\x82\xed\xa0\x80",
        b"\x01\x02\x01\x07",
        b"\x01\x02\x01\x01java.lang.Runtim\xe5\x01",
        b"\x01\x01\x00",
    ],
)
def test_damage_is_an_error(tail: bytes) -> None:
    """BLK-010: invalid counts, references, lengths, characters and classes; no class is loaded by name."""
    with pytest.raises(MalformedLogBlock) as raised:
        decode_deletes(block_of(NONE[:-2] + tail, 1))
    assert raised.value.path == "f.log"


@pytest.mark.parametrize("name", ["keys.several", "records.decimals", "records.longs", "keys.not-ascii"])
def test_every_prefix_is_an_error(name: str) -> None:
    """BLK-010: a truncated array never gives fewer deletes."""
    data = (FOLDER / f"{name}.bin").read_bytes()
    for length in range(len(data)):
        with pytest.raises(MalformedLogBlock):
            decode_deletes(block_of(data[:length], version_of(name)))


@bounded(400)
@given(st.sampled_from(sorted(MEANING)), st.integers(0, 400), st.binary(min_size=1, max_size=6))
def test_any_bytes_are_deletes_or_a_typed_error(name: str, place: int, patch: bytes) -> None:
    """BLK-010: after any overwrite the result is a list of deletes not longer than the data, or a typed error."""
    data = bytearray((FOLDER / f"{name}.bin").read_bytes())
    data[place : place + len(patch)] = patch
    try:
        found = decode_deletes(block_of(bytes(data), version_of(name)))
    except HudiError:
        return
    assert len(found) <= len(data)
    assert all(isinstance(delete.key, str) for delete in found)
