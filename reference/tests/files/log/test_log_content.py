"""Content of log blocks, byte by byte: deletes, rows and commands, worked examples and damage."""

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
    block_with,
    blocks_of,
)
from parquet_samples import parquet_of_missing_rows
from reference_samples import bounded

from hudi_reference.errors import (
    HudiError,
    MalformedLogBlock,
    MalformedSchema,
    UnsupportedFileFormat,
    UnsupportedSchema,
)
from hudi_reference.files.log.block import Block, BlockType, HeaderKey, encode_block
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
from hudi_reference.schema.avro import arrow_schema


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


def test_zero_of_an_int_column_is_stored_as_long() -> None:
    """ER-052: the ordering value 0 of an int column is stored as Long 0, since Integer 0 means a delete that always wins."""
    assert encode_deletes([Delete("k", None, 0)], [pa.int32()]).hex().endswith("0600" + "00")
    assert encode_deletes([Delete("k", None, None)], [pa.int32()]).hex().endswith("0400" + "00")


def test_several_ordering_values_keep_their_types() -> None:
    """BLK-037: a list is never "no ordering", so the 0 of an int column is Integer 0 in it; (1, 5) has the bytes of Apache Hudi."""
    kinds = [pa.int32(), pa.int64()]
    for values, stored in (((0, 5), "04 00 06 0a"), ((1, 5), "04 02 06 0a"), ((-1, 0), "04 01 06 00")):
        encoded = encode_deletes([Delete("k", None, values)], kinds).hex()
        assert encoded.endswith(("18 02 04" + stored + "00 00").replace(" ", ""))


def test_deletes_in_several_avro_blocks() -> None:
    """BLK-009: an Avro array may have several blocks, also with negative counts and byte sizes."""
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
def test_invalid_schema_header_is_an_error(header: dict[int, str], error: type[HudiError]) -> None:
    """LF-038: a data block is decoded by the schema in its header only."""
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
    """BLK-027, BLK-028: nothing before or after it; a cut one is an error, and one whose footer counts rows that it does not have."""
    out = io.BytesIO()
    pq.write_table(pa.table({"k": ["a"], "n": pa.array([7], pa.int32())}), out)
    assert decode_rows(block_with(BlockType.PARQUET_DATA, out.getvalue())).to_pylist() == [{"k": "a", "n": 7}]
    garbled = parquet_of_missing_rows().replace(b"id", b"\x8fd")
    for content in (out.getvalue()[:-1], b"", b"PAR1PAR1", parquet_of_missing_rows(), garbled):
        with pytest.raises(MalformedLogBlock) as raised:
            decode_rows(block_with(BlockType.PARQUET_DATA, content))
        assert raised.value.rule == "BLK-028"


@bounded(200)
@given(st.lists(st.tuples(st.text(max_size=5), st.none() | st.integers(-(2**31), 2**31 - 1)), max_size=8))
def test_rows_equal_those_of_fastavro(rows: list[tuple[str, int | None]]) -> None:
    """BLK-022: every record is one Avro value under the header's schema, as fastavro decodes it."""
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
def test_fast_code_decodes_the_same_deletes(entries: list[tuple[str, str]]) -> None:
    """BLK-009: the fast code decodes the most common lists like the plain code, and leaves other lists to it."""
    content = encode_deletes([Delete(key, partition, None) for key, partition in entries], [])[8:]
    short = entries and all(len(text.encode()) < 64 for entry in entries for text in entry)
    assert decode_simple_deletes(memoryview(content)) == (entries if short else None)


@given(st.binary(max_size=40), st.integers(0, 40))
def test_fast_code_decodes_damaged_deletes_like_the_plain_code(damage: bytes, at: int) -> None:
    """BLK-009: if the fast code returns entries of damaged bytes, the plain code returns the same."""
    content = bytearray(encode_deletes([Delete("key", "p", None), Delete("k2", "", None)], []))
    content[8 + at : 8 + at + len(damage)] = damage
    content[4:8] = (len(content) - 8).to_bytes(4, "big")
    found = decode_simple_deletes(memoryview(bytes(content))[8:])
    if found is not None:
        stored = stored_deletes(Block(BlockType.DELETE, {}, bytes(content)))
        assert found == [(entry["recordKey"], entry["partitionPath"]) for entry in stored]
