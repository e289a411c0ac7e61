"""Log blocks: bytes computed by hand, and damage; committed changes are never dropped silently."""

import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_block_samples import (
    KN_SCHEMA,
    NO_DELETES,
    ROLLBACK,
    T1,
    T2,
    TWO_DELETES,
    TWO_ROWS,
    avro_block,
    blocks_of,
    with_int,
    with_length,
)
from reference_samples import bounded

from hudi_reference.errors import (
    HudiError,
    MalformedLogBlock,
    MalformedLogFile,
    UnsupportedFileFormat,
)
from hudi_reference.files.log.block import BlockType, CorruptBlock, HeaderKey, encode_block, encode_map
from hudi_reference.files.log.content import (
    decode_deletes,
    decode_rows,
    encode_rows,
    rollback_target,
)
from hudi_reference.schema.avro import arrow_schema

A, B, C = NO_DELETES, avro_block(TWO_ROWS), ROLLBACK


def shape(data: bytes) -> list[tuple[str, int, int]]:
    """Kind, offset and end of what a reader finds."""
    return [(block.kind.name, block.offset, block.end) for block in blocks_of(data)]


def test_blocks_follow_one_another_without_gaps() -> None:
    """LF-009, LF-012: offsets and sizes of three blocks."""
    assert shape(A + B + C) == [("DELETE", 0, 80), ("AVRO_DATA", 80, 80 + len(B)), ("COMMAND", 80 + len(B), len(A + B + C))]
    assert blocks_of(b"") == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (A + B[:40] + C, [("DELETE", 0, 80), ("CORRUPT", 80, 120), ("COMMAND", 120, 225)]),
        (A + B[:40], [("DELETE", 0, 80), ("CORRUPT", 80, 120)]),
        (A + b"#HUDI#", [("DELETE", 0, 80), ("CORRUPT", 80, 86)]),
        (A + b"#HU", [("DELETE", 0, 80), ("CORRUPT", 80, 83)]),
        (A + b"12345678" + C, [("DELETE", 0, 80), ("CORRUPT", 80, 88), ("COMMAND", 88, 193)]),
        (A + b"12345678", [("DELETE", 0, 80), ("CORRUPT", 80, 88)]),
        (A + (b"#HUDI#" + bytes(7)) * 2 + C, [("DELETE", 0, 80), ("CORRUPT", 80, 93), ("CORRUPT", 93, 106), ("COMMAND", 106, 211)]),
        (b"123", [("CORRUPT", 0, 3)]),
    ],
)  # fmt: skip
def test_damage_is_one_corrupt_block_up_to_the_next_magic(data: bytes, expected: list[tuple[str, int, int]]) -> None:
    """BLK-015, BLK-016, BLK-017, LF-025: whole blocks before and after damage are found, the damage is reported in its place."""
    assert shape(data) == expected
    assert all(block.reason for block in blocks_of(data) if isinstance(block, CorruptBlock))


def test_a_file_that_does_not_begin_with_a_block_is_no_log_file() -> None:
    """LF-012: bad magic at the very start is an error with the bytes that were found."""
    with pytest.raises(MalformedLogFile) as raised:
        blocks_of(b"PAR1PAR1" + A)
    assert (raised.value.rule, raised.value.path, raised.value.offset) == ("LF-012", "f.log", 0)


def test_the_magic_inside_a_whole_block_is_content() -> None:
    """LF-012: block ends follow from lengths and not from a search for magics."""
    row = {"k": ROLLBACK.decode("latin-1"), "n": 1}
    content = encode_rows(pa.Table.from_pylist([row], schema=arrow_schema(KN_SCHEMA)), KN_SCHEMA)
    inner = encode_block(BlockType.PARQUET_DATA, {HeaderKey.INSTANT_TIME: T1}, A + B)
    found = blocks_of(avro_block(content) + inner + C)
    assert [block.kind.name for block in found] == ["AVRO_DATA", "PARQUET_DATA", "COMMAND"]
    assert decode_rows(found[0]).to_pylist() == [row]


@pytest.mark.parametrize("length", [-1, 0, 31, 2**31, 2**40, 2**63 - 1, -(2**63), 65, 67])
def test_a_wrong_block_length_is_a_corrupt_block(length: int) -> None:
    """LF-024, LF-025: negative, huge and slightly wrong lengths; nothing of that size is allocated, the next block is found."""
    assert shape(B + with_length(A, length) + C)[0] == ("AVRO_DATA", 0, len(B))
    assert shape(B + with_length(A, length) + C)[1:] == [
        ("CORRUPT", len(B), len(B) + 80),
        ("COMMAND", len(B) + 80, len(B) + 185),
    ]


@pytest.mark.parametrize(
    ("offset", "value", "error", "rule"),
    [
        (14, 0, MalformedLogBlock, "LF-010"),
        (14, 2, UnsupportedFileFormat, "LF-027"),
        (14, -1, UnsupportedFileFormat, "LF-027"),
        (18, 7, UnsupportedFileFormat, "LF-015"),
        (18, 2, UnsupportedFileFormat, "LF-015"),
        (18, -1, UnsupportedFileFormat, "LF-015"),
        (22, -1, MalformedLogBlock, "LF-010"),
        (22, 2**31 - 1, MalformedLogBlock, "LF-010"),
        (22, 0, MalformedLogBlock, "LF-010"),
        (22, 2, MalformedLogBlock, "LF-010"),
        (30, -1, MalformedLogBlock, "LF-010"),
        (30, 2**31 - 1, MalformedLogBlock, "LF-010"),
        (30, 16, MalformedLogBlock, "LF-010"),
        (51, 1, MalformedLogBlock, "LF-010"),
        (55, 8, MalformedLogBlock, "LF-010"),
        (55, 10, MalformedLogBlock, "LF-010"),
        (68, 1, MalformedLogBlock, "LF-010"),
        (68, -1, MalformedLogBlock, "LF-010"),
    ],
)
def test_a_whole_envelope_with_wrong_parts_is_an_error(offset: int, value: int, error: type[HudiError], rule: str) -> None:
    """LF-010, LF-015, LF-027: unknown versions and types, counts and lengths that do not add up; the place is named."""
    with pytest.raises(error) as raised:
        blocks_of(B + with_int(A, offset, value))
    assert (raised.value.rule, raised.value.path, raised.value.offset) == (rule, "f.log", len(B))


def test_headers_are_maps() -> None:
    """LF-017, LF-018, LF-034: order does not matter, of a repeated key the last counts, unknown keys are kept."""
    header = struct.pack(">i", 3) + encode_map({HeaderKey.INSTANT_TIME: T1})[4:] + struct.pack(">ii", 42, 1) + b"x"
    header += encode_map({HeaderKey.INSTANT_TIME: T2})[4:]
    body = struct.pack(">ii", 1, 1) + header + struct.pack(">q", 0) + struct.pack(">i", 0)
    data = b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)
    (block,) = blocks_of(data)
    assert block.header == {0: T2, 42: "x"}


def test_header_values_must_be_utf_8() -> None:
    """LF-018: header values are UTF-8."""
    with pytest.raises(MalformedLogBlock):
        blocks_of(A.replace(T1.encode(), b"\xff" * 17))


def test_a_footer_with_entries_is_read() -> None:
    """ER-011: deployed footers are empty; one that is not is a map like the header, and passed over."""
    body = struct.pack(">ii", 1, 0) + encode_map({}) + struct.pack(">q", 0) + encode_map({HeaderKey.INSTANT_TIME: "x"})
    data = b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)
    assert shape(data + A) == [("COMMAND", 0, len(data)), ("DELETE", len(data), len(data) + 80)]


def test_truncated_file_gives_whole_blocks_and_one_corrupt_block() -> None:
    """BLK-015: a file cut at any byte gives its whole blocks, then one corrupt block for the rest."""
    data = B + A
    for length in range(len(data)):
        found = shape(data[:length])
        whole = [block for block in shape(data) if block[2] <= length]
        end = whole[-1][2] if whole else 0
        assert found == whole + ([("CORRUPT", end, length)] if end < length else [])


def decoded(data: bytes) -> list[Any]:
    """Everything that a reader returns for the bytes of a file."""
    decoders = {BlockType.AVRO_DATA: lambda b: decode_rows(b).to_pylist(), BlockType.DELETE: decode_deletes,
                BlockType.COMMAND: rollback_target}  # fmt: skip
    return [
        (block.offset, "corrupt")
        if isinstance(block, CorruptBlock)
        else (block.offset, block.kind, dict(block.header), decoders.get(block.kind, lambda b: bytes(b.content))(block))
        for block in blocks_of(data)
    ]


def test_every_changed_byte_is_an_error_a_corrupt_block_or_another_value() -> None:
    """BLK-015, LF-010: for any flipped byte only typed errors are raised, and block offsets stay correct."""
    deletes = encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: T1}, TWO_DELETES)
    data = B + deletes + ROLLBACK
    starts = [0, len(B), len(B) + len(deletes)]
    for place in range(len(data)):
        for mask in (0x01, 0x80, 0xFF):
            changed = bytearray(data)
            changed[place] ^= mask
            try:
                found = decoded(bytes(changed))
            except HudiError:
                continue
            assert [block[0] for block in found] == starts
            touched = max(number for number, start in enumerate(starts) if start <= place)
            assert [block for number, block in enumerate(found) if number != touched] == [
                block for number, block in enumerate(decoded(data)) if number != touched
            ]


@bounded(300)
@given(st.binary(max_size=200), st.booleans())
def test_bytes_after_a_block_do_not_change_it(junk: bytes, another: bool) -> None:
    """LF-025: the first block does not depend on the following bytes."""
    data = B + junk + (A if another else b"")
    try:
        first = blocks_of(data)[0]
    except HudiError:
        assert b"#HUDI#" in junk
        return
    assert (first.kind, first.end) == (BlockType.AVRO_DATA, len(B))
    ends = [0, *(block.end for block in blocks_of(data))]
    assert [block.offset for block in blocks_of(data)] == ends[:-1]
    assert ends[-1] == len(data)
