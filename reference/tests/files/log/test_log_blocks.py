"""Log blocks against bytes computed by hand, and against damage: nothing committed is ever dropped silently."""

import io
import struct
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_block_samples import (
    KN_JSON,
    KN_SCHEMA,
    NO_DELETES,
    ROLLBACK,
    T1,
    T2,
    TWO_DELETES,
    TWO_ROWS,
    avro_block,
    with_int,
    with_length,
)
from reference_samples import bounded

from hudi_reference.errors import (
    HudiError,
    MalformedLogBlock,
    MalformedLogFile,
    MalformedSchema,
    UnsupportedFileFormat,
    UnsupportedSchema,
)
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey, encode_block, encode_map
from hudi_reference.files.log.content import (
    Delete,
    decode_deletes,
    decode_rows,
    encode_deletes,
    encode_rows,
    rollback_target,
    stored_deletes,
)
from hudi_reference.files.log.fast.decode_deletes import decode_simple_deletes
from hudi_reference.files.log.reader import read_blocks
from hudi_reference.schema.avro import arrow_schema


def blocks_of(data: bytes) -> list[Block]:
    """The blocks of a file with these bytes."""
    return list(read_blocks(memoryview(data), "f.log"))


def block_with(kind: BlockType, content: bytes, header: dict[int, str] | None = None) -> Block:
    """A block with this content, for a decoder."""
    return Block(kind, {0: T1, 2: KN_JSON} if header is None else header, content, "f.log", 0, len(content))


def test_the_rollback_block_of_the_worked_example() -> None:
    """LF-010 to LF-026, BLK-001: a command block has the bytes of deployed writers."""
    header = {HeaderKey.INSTANT_TIME: T2, HeaderKey.TARGET_INSTANT_TIME: T1, HeaderKey.COMMAND_BLOCK_TYPE: "0"}
    assert encode_block(BlockType.COMMAND, header, b"") == ROLLBACK
    (block,) = blocks_of(ROLLBACK)
    assert (block.kind, block.header, bytes(block.content)) == (BlockType.COMMAND, {0: T2, 1: T1, 3: "0"}, b"")
    assert (block.offset, block.size, block.instant) == (0, 105, T2)
    assert rollback_target(block) == T1


def test_the_empty_delete_block_of_the_worked_example() -> None:
    """BLK-006: a delete block without schema and without entries is normal: it seeds file groups of a metadata table."""
    content = encode_deletes([], [])
    assert encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: T1}, content) == NO_DELETES
    (block,) = blocks_of(NO_DELETES)
    assert decode_deletes(block) == []


def test_the_deletes_of_the_worked_example() -> None:
    """BLK-009, BLK-012: Integer 0 is a delete without ordering value, Long is an ordering value; key and partition are kept."""
    found = decode_deletes(block_with(BlockType.DELETE, TWO_DELETES))
    assert found == [Delete("k1", "p=1", None), Delete("k2", "p=1", 1_700_000_000_000)]
    assert encode_deletes(found, [pa.int64()]) == TWO_DELETES


def test_the_rows_of_the_worked_example() -> None:
    """BLK-019 to BLK-022: version 3, a count, and each record behind its length of four bytes."""
    rows = decode_rows(block_with(BlockType.AVRO_DATA, TWO_ROWS))
    assert rows.to_pylist() == [{"k": "a", "n": 7}, {"k": "b", "n": None}]
    assert encode_rows(rows, KN_SCHEMA) == TWO_ROWS
    whole = avro_block(TWO_ROWS)
    assert len(whole) == 14 + 4 + 4 + (4 + 8 + 17 + 8 + len(KN_JSON)) + 8 + 23 + 4 + 8
    assert struct.unpack_from(">q", whole, 6) == (len(whole) - 14,)
    assert struct.unpack_from(">q", whole, len(whole) - 8) == (len(whole) - 8,)


@pytest.mark.parametrize(
    ("branch", "ordering", "kind"),
    [
        ("02 01", True, pa.bool_()),
        ("04 0a", 5, pa.int32()),
        ("06 0a", 5, pa.int64()),
        ("06 00", 0, pa.int64()),
        ("08 00 00 c0 3f", 1.5, pa.float32()),
        ("0a 00 00 00 00 00 00 f8 3f", 1.5, pa.float64()),
        ("0c 02 01", b"\x01", pa.binary()),
        ("0e 04 61 62", "ab", pa.string()),
        ("10 f2 b9 02", 20089, pa.date32()),
        ("12 0e 05 54 3d f7 29 c0 00", Decimal("1.5"), pa.decimal128(10, 2)),
        ("12 0e fa ab c2 08 d6 40 00", Decimal("-1.5"), pa.decimal128(10, 2)),
        ("06 80 80 e3 a0 b7 a6 95 06", 1_735_689_600_000_000, pa.timestamp("us", "UTC")),
    ],
)
def test_ordering_values_of_deletes_by_their_bytes(branch: str, ordering: Any, kind: pa.DataType) -> None:
    """BLK-009, ER-017: the wrapper of a column's type is the number of its branch, then the value alone."""
    datum = bytes.fromhex("02 02 02 6b 00" + branch + "00")
    content = struct.pack(">ii", 3, len(datum)) + datum
    assert decode_deletes(block_with(BlockType.DELETE, content)) == [Delete("k", None, ordering)]
    assert encode_deletes([Delete("k", None, ordering)], [kind]) == content


@pytest.mark.parametrize(
    ("branch", "ordering"),
    [
        ("00", None),
        ("04 00", None),
        ("14 0a", 5),
        ("16 80 80 e3 a0 b7 a6 95 06", 1_735_689_600_000_000),
        ("18 00", ()),
        ("18 02 04 04 0a 0e 02 78 00", (5, "x")),
        ("18 02 06 00 04 00 06 00 00", (None, 0, 0)),
    ],
)
def test_ordering_values_that_only_others_write(branch: str, ordering: Any) -> None:
    """BLK-009: null, times, timestamps of Flink, and lists of newer releases are read."""
    datum = bytes.fromhex("02 02 02 6b 00" + branch + "00")
    found = decode_deletes(block_with(BlockType.DELETE, struct.pack(">ii", 3, len(datum)) + datum))
    assert found == [Delete("k", None, ordering)]


def test_a_zero_of_an_int_column_is_not_the_mark_of_no_ordering() -> None:
    """ER-052: the ordering value 0 of an int column is stored as Long 0, since Integer 0 means a delete that always wins."""
    assert encode_deletes([Delete("k", None, 0)], [pa.int32()]).hex().endswith("0600" + "00")
    assert encode_deletes([Delete("k", None, None)], [pa.int32()]).hex().endswith("0400" + "00")
    assert (
        encode_deletes([Delete("k", None, (0, None))], [pa.int32(), pa.string()])
        .hex()
        .endswith("18" + "0204" + "0600" + "00" + "00" + "00")
    )


def test_an_array_of_deletes_may_come_in_any_blocking() -> None:
    """BLK-009: Avro arrays may be cut into blocks, also with negative counts and byte sizes."""
    one, other = bytes.fromhex("02 02 61 00 04 00"), bytes.fromhex("02 02 62 00 06 0a")
    datum = b"\x02" + one + b"\x01" + bytes([len(other) * 2]) + other + b"\x00"
    found = decode_deletes(block_with(BlockType.DELETE, struct.pack(">ii", 3, len(datum)) + datum))
    assert found == [Delete("a", None, None), Delete("b", None, 5)]


ONE_DELETE = bytes.fromhex("02 02 02 6b 00 04 00 00")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x00\x00\x03",
        struct.pack(">ii", 3, 7) + ONE_DELETE,
        struct.pack(">ii", 3, -1) + ONE_DELETE,
        struct.pack(">ii", 3, 9) + ONE_DELETE,
        struct.pack(">ii", 3, 7) + ONE_DELETE[:7],
        struct.pack(">ii", 3, 9) + ONE_DELETE + b"\x00",
        struct.pack(">ii", 3, 8) + bytes.fromhex("02 02 02 6b 00 1a 00 00"),
        struct.pack(">ii", 3, 8) + bytes.fromhex("02 02 02 ff 00 04 00 00"),
        struct.pack(">ii", 3, 8) + bytes.fromhex("02 02 7f 6b 00 04 00 00"),
        struct.pack(">ii", 3, 8) + bytes.fromhex("02 02 01 6b 00 04 00 00"),
        struct.pack(">ii", 3, 10) + bytes.fromhex("fe ff ff ff ff ff ff ff ff 01"),
    ],
)
def test_damaged_deletes_are_an_error(content: bytes) -> None:
    """BLK-008, BLK-009: wrong lengths, unknown branches, invalid text, counts without entries: never fewer deletes."""
    with pytest.raises((MalformedLogBlock, UnsupportedFileFormat)) as raised:
        decode_deletes(block_with(BlockType.DELETE, content))
    assert raised.value.path == "f.log"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        TWO_ROWS[:7],
        TWO_ROWS[:-1],
        TWO_ROWS + b"\x00",
        struct.pack(">ii", 3, 3) + TWO_ROWS[8:],
        struct.pack(">ii", 3, 1) + TWO_ROWS[8:],
        struct.pack(">ii", 3, -1) + TWO_ROWS[8:],
        struct.pack(">ii", 3, 2**31 - 1) + TWO_ROWS[8:],
        struct.pack(">ii", 4, 2) + TWO_ROWS[8:],
        struct.pack(">ii", 0, 2) + TWO_ROWS[8:],
        struct.pack(">iii", 3, 1, -5) + b"\x02\x61\x00",
        struct.pack(">iii", 3, 1, 2**31 - 1) + b"\x02\x61\x00",
        struct.pack(">iii", 3, 1, 4) + b"\x02\x61\x00\x00",
        struct.pack(">iii", 3, 1, 3) + b"\x04\x61\x00",
        struct.pack(">iii", 3, 1, 3) + b"\x02\xff\x00",
        struct.pack(">iii", 3, 1, 3) + b"\x02\x61\x06",
        struct.pack(">iii", 3, 1, 3) + b"\x01\x61\x00",
    ],
)
def test_damaged_rows_are_an_error(content: bytes) -> None:
    """BLK-019 to BLK-022: lengths and counts that do not add up, records with bytes left over: never other or fewer rows."""
    with pytest.raises(MalformedLogBlock) as raised:
        decode_rows(block_with(BlockType.AVRO_DATA, content))
    assert raised.value.path == "f.log"


DECIMAL = '{"type":"bytes","logicalType":"decimal","precision":%d,"scale":0}'


@pytest.mark.parametrize(
    ("header", "error"),
    [
        ({0: T1}, MalformedLogBlock),
        ({2: ""}, MalformedSchema),
        ({2: "{"}, MalformedSchema),
        ({2: "5"}, MalformedSchema),
        ({2: '"string"'}, MalformedSchema),
        ({2: '{"type":"record","name":"r"}'}, MalformedSchema),
        ({2: '{"type":"record","name":"r","fields":[{"name":"k","type":"nothing"}]}'}, MalformedSchema),
        ({2: "[" * 50_000}, MalformedSchema),
        ({2: '{"type":"record","name":"r","fields":5}'}, MalformedSchema),
        ({2: '{"type":"record","name":"r","fields":[{"name":"k","type":"int"},{"name":"k","type":"int"}]}'}, MalformedSchema),
        ({2: KN_JSON.replace('"string"', DECIMAL % 39)}, UnsupportedSchema),
        ({2: KN_JSON.replace('"string"', DECIMAL % 0)}, UnsupportedSchema),
        ({2: KN_JSON.replace('"string"', '["string","int"]')}, UnsupportedSchema),
        ({2: KN_JSON.replace('"string"', '["null","r"]')}, UnsupportedSchema),
        ({2: KN_JSON.replace('"string"', '{"type":"array","items":"null"}')}, UnsupportedSchema),
    ],
)
def test_a_schema_header_that_is_none_is_an_error(header: dict[int, str], error: type[HudiError]) -> None:
    """LF-038: a data block is decoded by the schema in its header, and by no other."""
    with pytest.raises(error):
        decode_rows(block_with(BlockType.AVRO_DATA, TWO_ROWS, header))


@pytest.mark.parametrize("command", ["1", "", "rollback", None])
def test_unknown_commands_are_errors(command: str | None) -> None:
    """LF-039: there is one command; the effect of another one is not known."""
    header = {0: T2, 1: T1} | ({} if command is None else {3: command})
    with pytest.raises(MalformedLogBlock):
        rollback_target(block_with(BlockType.COMMAND, b"", header))
    with pytest.raises(MalformedLogBlock):
        rollback_target(block_with(BlockType.COMMAND, b"", {0: T2, 3: "0"}))


def test_parquet_content_is_a_whole_parquet_file() -> None:
    """BLK-027, BLK-028: nothing before or after it; a cut one is an error."""
    out = io.BytesIO()
    pq.write_table(pa.table({"k": ["a"], "n": pa.array([7], pa.int32())}), out)
    assert decode_rows(block_with(BlockType.PARQUET_DATA, out.getvalue())).to_pylist() == [{"k": "a", "n": 7}]
    for content in (out.getvalue()[:-1], b"", b"PAR1PAR1"):
        with pytest.raises(MalformedLogBlock) as raised:
            decode_rows(block_with(BlockType.PARQUET_DATA, content))
        assert raised.value.rule == "BLK-028"


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
    """LF-012: block ends come from lengths, not from looking for magics."""
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


def test_a_header_that_is_no_text_is_an_error() -> None:
    """LF-018: header values are UTF-8."""
    with pytest.raises(MalformedLogBlock):
        blocks_of(A.replace(T1.encode(), b"\xff" * 17))


def test_a_footer_with_entries_is_read() -> None:
    """ER-011: deployed footers are empty; one that is not is a map like the header, and passed over."""
    body = struct.pack(">ii", 1, 0) + encode_map({}) + struct.pack(">q", 0) + encode_map({HeaderKey.INSTANT_TIME: "x"})
    data = b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)
    assert shape(data + A) == [("COMMAND", 0, len(data)), ("DELETE", len(data), len(data) + 80)]


def test_of_every_prefix_the_first_block_is_whole_or_reported() -> None:
    """BLK-015: cut at any byte, a file gives its whole blocks, then one corrupt block for the rest; nothing is dropped silently."""
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
    """BLK-015, LF-010: whichever byte is flipped in whichever way, only our own errors come out, and block starts stay right."""
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
def test_any_bytes_behind_a_block_leave_it_as_it_is(junk: bytes, another: bool) -> None:
    """LF-025: the first block does not depend on what follows it, whatever that is."""
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


@bounded(200)
@given(st.lists(st.tuples(st.text(max_size=5), st.none() | st.integers(-(2**31), 2**31 - 1)), max_size=8))
def test_rows_are_what_another_library_says(rows: list[tuple[str, int | None]]) -> None:
    """BLK-022: every record behind its length is one Avro datum under the header's schema, as fastavro alone decodes it."""
    table = pa.Table.from_pylist([{"k": k, "n": n} for k, n in rows], schema=arrow_schema(KN_SCHEMA))
    content = encode_rows(table, KN_SCHEMA)
    assert struct.unpack_from(">ii", content) == (3, len(rows))
    position, found = 8, []
    while position < len(content):
        (length,) = struct.unpack_from(">i", content, position)
        datum = fastavro.schemaless_reader(io.BytesIO(content[position + 4 : position + 4 + length]), KN_SCHEMA)
        found.append((datum["k"], datum["n"]))
        position += 4 + length
    assert found == rows
    assert decode_rows(block_with(BlockType.AVRO_DATA, content)).to_pylist() == table.to_pylist()


@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=20)), max_size=80))
def test_deletes_without_ordering_values_are_read_alike(entries: list[tuple[str, str]]) -> None:
    """BLK-009: lists of the commonest form are read by the fast code as by the plain code; it leaves other lists to the plain code."""
    content = encode_deletes([Delete(key, partition, None) for key, partition in entries], [])[8:]
    short = entries and all(len(text.encode()) < 64 for entry in entries for text in entry)
    assert decode_simple_deletes(memoryview(content)) == (entries if short else None)


@given(st.binary(max_size=40), st.integers(0, 40))
def test_damaged_deletes_are_never_read_otherwise(damage: bytes, at: int) -> None:
    """BLK-009: entries that the fast code reads in damaged bytes are those that the plain code reads."""
    content = bytearray(encode_deletes([Delete("key", "p", None), Delete("k2", "", None)], []))
    content[8 + at : 8 + at + len(damage)] = damage
    content[4:8] = (len(content) - 8).to_bytes(4, "big")
    found = decode_simple_deletes(memoryview(bytes(content))[8:])
    if found is not None:
        stored = stored_deletes(Block(BlockType.DELETE, {}, bytes(content)))
        assert found == [(entry["recordKey"], entry["partitionPath"]) for entry in stored]
