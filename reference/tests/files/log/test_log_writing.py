"""Writing blocks of every type with every header, change-capture blocks, and which block goes to which file."""

import io
import json
import struct
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded

from hudi_reference.errors import HudiError, MalformedLogBlock, Misuse
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey, encode_block
from hudi_reference.files.log.cdc import Change, Mode, Operation, cdc_schema, decode_changes, encode_changes
from hudi_reference.files.log.content import Delete, decode_deletes, decode_rows, encode_rows, rollback_target
from hudi_reference.files.log.positions import positions_of
from hudi_reference.files.log.reader import read_blocks
from hudi_reference.files.log.writer import BlockWriter, EncodedBlock, roll_over
from hudi_reference.layout.names import LogFileName
from hudi_reference.schema.avro import META_COLUMNS, arrow_schema, with_meta_columns

T0, T1, T2 = "20250101000000000", "20250101000000001", "20250101000000002"
TABLE: dict[str, Any] = {
    "type": "record", "name": "row", "namespace": "trips",
    "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": ["null", "int"], "default": None}],
}  # fmt: skip
STORED = with_meta_columns(TABLE)
WRITER = BlockWriter(T1, STORED, base_instant=T0)


def rows_of(*rows: tuple[str, int | None]) -> pa.Table:
    """Stored rows, of whose meta columns only the key is filled."""
    given = [{"_hoodie_record_key": key, "id": key, "n": n} for key, n in rows]
    return pa.Table.from_pylist(given, schema=arrow_schema(STORED))


def only_block(data: bytes) -> Block:
    """The one block that these bytes are."""
    (block,) = read_blocks(memoryview(data), "f.log")
    assert not isinstance(block, CorruptBlock)
    return block


@pytest.mark.parametrize(
    ("content", "kind"),
    [("avro", BlockType.AVRO_DATA), ("parquet", BlockType.PARQUET_DATA), ("hfile", BlockType.HFILE_DATA)],
)
def test_the_same_rows_in_each_content(content: str, kind: BlockType) -> None:
    """LF-008, LF-020, BLK-018, BLK-023, BLK-027, BLK-030: the type says how the content is read, the rows are the same."""
    rows = rows_of(("a", 1), ("b", None), ("ü", -3))
    block = only_block(getattr(WRITER, content)(rows))
    assert block.kind is kind
    assert set(block.header) == {HeaderKey.INSTANT_TIME, HeaderKey.SCHEMA}
    assert json.loads(block.header[HeaderKey.SCHEMA]) == STORED
    assert decode_rows(block).to_pylist() == rows.to_pylist()


def test_parquet_content_opens_anywhere() -> None:
    """BLK-028: the content is a whole Parquet file, which says under which Avro schema it was written."""
    block = only_block(WRITER.parquet(rows_of(("a", 1))))
    file = pq.ParquetFile(io.BytesIO(block.content))
    assert (bytes(block.content[:4]), bytes(block.content[-4:])) == (b"PAR1", b"PAR1")
    assert json.loads(file.schema_arrow.metadata[b"parquet.avro.schema"]) == STORED


@pytest.mark.parametrize("content", ["avro", "parquet"])
def test_rows_are_stored_in_the_order_of_their_positions(content: str) -> None:
    """LF-041, LF-042: the i-th smallest position is that of the i-th row; another header names the base file."""
    block = only_block(getattr(WRITER, content)(rows_of(("a", 1), ("b", 2), ("c", 3)), [70_000, 2, 0]))
    assert list(positions_of(block)) == [0, 2, 70_000]
    assert decode_rows(block).column("id").to_pylist() == ["c", "b", "a"]
    assert block.header[HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] == T0


def test_positions_that_cannot_be_told_apart_are_left_out() -> None:
    """LF-042: two rows at one position, or no base file, give no positions; a wrong number of them is the caller's mistake."""
    rows = rows_of(("a", 1), ("b", 2))
    twice = only_block(WRITER.avro(rows, [4, 4])).header
    assert HeaderKey.RECORD_POSITIONS not in twice
    assert twice[HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] == T0
    for block in (BlockWriter(T1, STORED).avro(rows, [0, 1]), WRITER.avro(rows), WRITER.hfile(rows)):
        assert set(only_block(block).header) == {HeaderKey.INSTANT_TIME, HeaderKey.SCHEMA}
    with pytest.raises(Misuse):
        WRITER.avro(rows, [0])


def test_deletes_are_stored_in_the_order_of_their_positions() -> None:
    """BLK-006, LF-042: delete blocks take positions like data blocks, and carry the schema of the rows."""
    block = only_block(WRITER.delete([Delete("a", "p", 5), Delete("b", None, None)], [pa.int64()], [9, 3]))
    assert decode_deletes(block) == [Delete("b", None, None), Delete("a", "p", 5)]
    assert list(positions_of(block)) == [3, 9]
    assert only_block(BlockWriter(T1).delete([], [])).header == {HeaderKey.INSTANT_TIME: T1}


def test_every_other_header() -> None:
    """LF-040, LF-044, LF-045: joined instants newest first, attempt and sequence, the flag of partial rows only where true."""
    writer = BlockWriter(T2, STORED, compacted=(T0, T1), partial=True, attempt=3)
    header = only_block(writer.avro(rows_of(("a", 1)), sequence=7)).header
    assert header[HeaderKey.COMPACTED_BLOCK_TIMES] == f"{T1},{T0}"
    assert header[HeaderKey.BLOCK_IDENTIFIER] == "3,7"
    assert header[HeaderKey.IS_PARTIAL] == "true"
    with pytest.raises(Misuse):
        BlockWriter(T1).avro(rows_of(("a", 1)))


def test_a_rollback_says_everything_in_its_header() -> None:
    """BLK-001 to BLK-003, LF-037, LF-039: three headers, no content."""
    block = only_block(WRITER.rollback(T2))
    assert (block.kind, block.header, block.content_length) == (BlockType.COMMAND, {0: T1, 1: T2, 3: "0"}, 0)
    assert rollback_target(block) == T2


CHANGES = [
    Change(Operation.INSERT, "a", None, {"id": "a", "n": 1}),
    Change(Operation.UPDATE, "b", {"id": "b", "n": None}, {"id": "b", "n": 2}),
    Change(Operation.DELETE, "c", {"id": "c", "n": 3}, None),
]


def cdc_rows(mode: Mode) -> list[dict[str, Any]]:
    """The records of a change-capture block as another library decodes them."""
    block = only_block(WRITER.cdc(CHANGES, mode))
    assert block.kind is BlockType.CDC_DATA
    assert set(block.header) == {HeaderKey.INSTANT_TIME, HeaderKey.SCHEMA}
    schema = fastavro.parse_schema(json.loads(block.header[HeaderKey.SCHEMA]))
    version, count = struct.unpack_from(">ii", block.content)
    assert (version, count) == (3, 3)
    data, found = block.content[8:], []
    while data:
        (length,) = struct.unpack_from(">i", data)
        found.append(fastavro.schemaless_reader(io.BytesIO(data[4 : 4 + length]), schema))
        data = data[4 + length :]
    return found


def test_change_capture_in_each_mode() -> None:
    """BLK-031 to BLK-036: type 6, the content of an Avro block, operation and the parts that the mode logs, no meta columns."""
    letters, keys = ["i", "u", "d"], ["a", "b", "c"]
    assert cdc_rows(Mode.OP_KEY_ONLY) == [{"op": op, "record_key": key} for op, key in zip(letters, keys, strict=True)]
    befores = [None, {"id": "b", "n": None}, {"id": "c", "n": 3}]
    assert [(row["op"], row["record_key"], row["before"]) for row in cdc_rows(Mode.DATA_BEFORE)] == list(
        zip(letters, keys, befores, strict=True)
    )
    afters = [{"id": "a", "n": 1}, {"id": "b", "n": 2}, None]
    assert [list(row.values()) for row in cdc_rows(Mode.DATA_BEFORE_AFTER)] == [
        [op, T1, before, after] for op, before, after in zip(letters, befores, afters, strict=True)
    ]


def test_changes_come_back() -> None:
    """BLK-033 to BLK-036: what the mode logs is read again, the rest is None."""
    found = {mode: decode_changes(only_block(WRITER.cdc(CHANGES, mode))) for mode in Mode}
    assert found[Mode.OP_KEY_ONLY] == [Change(c.operation, c.key) for c in CHANGES]
    assert found[Mode.DATA_BEFORE] == [Change(c.operation, c.key, c.before) for c in CHANGES]
    assert found[Mode.DATA_BEFORE_AFTER] == [Change(c.operation, None, c.before, c.after, T1) for c in CHANGES]


def test_the_schemas_of_change_capture() -> None:
    """BLK-032: the record is called CDC in the table's namespace; with keys alone it is Record, its strings before null."""
    assert cdc_schema(Mode.OP_KEY_ONLY, STORED) == {
        "type": "record", "name": "Record",
        "fields": [{"name": "op", "type": ["string", "null"]}, {"name": "record_key", "type": ["string", "null"]}],
    }  # fmt: skip
    both = cdc_schema(Mode.DATA_BEFORE_AFTER, STORED)
    assert (both["name"], both["namespace"]) == ("CDC", "trips")
    assert [field["name"] for field in both["fields"]] == ["op", "ts_ms", "before", "after"]
    assert [field["name"] for field in both["fields"][2]["type"][1]["fields"]] == ["id", "n"]
    assert not {*META_COLUMNS} & {field["name"] for field in both["fields"][2]["type"][1]["fields"]}


@pytest.mark.parametrize(
    "row", [{"op": "x"}, {"op": None}, {"op": "i", "before": {"id": "a"}}, {"op": "d", "after": {"id": "a"}}]
)
def test_a_record_that_is_no_change_is_an_error(row: dict[str, Any]) -> None:
    """BLK-033: another letter, or an image of a row that was not there."""
    schema = cdc_schema(Mode.DATA_BEFORE_AFTER, TABLE)
    content = encode_rows(pa.Table.from_pylist([row], schema=arrow_schema(schema)), schema)
    block = encode_block(BlockType.CDC_DATA, {HeaderKey.INSTANT_TIME: T1, HeaderKey.SCHEMA: json.dumps(schema)}, content)
    with pytest.raises(MalformedLogBlock) as raised:
        decode_changes(only_block(block))
    assert raised.value.rule == "BLK-033"


def test_changes_have_one_key_each() -> None:
    """BLK-034: a key that is missing or comes twice is the caller's mistake; so is an image of a row that was not there."""
    with pytest.raises(Misuse):
        encode_changes([CHANGES[0], CHANGES[0]], Mode.DATA_BEFORE_AFTER, TABLE, T1)
    with pytest.raises(Misuse):
        encode_changes([Change(Operation.DELETE)], Mode.OP_KEY_ONLY, TABLE, T1)
    with pytest.raises(Misuse):
        Change(Operation.INSERT, "a", before={"id": "a"})


FIRST = LogFileName("f", T1, 1, "0-1-2")


def test_a_file_is_left_once_it_is_beyond_the_limit() -> None:
    """LF-005, LF-006: the limit is looked at after each append; the next file has the next version and the same token."""
    a, b, c, d, e = (EncodedBlock(text * size) for text, size in ((b"a", 10), (b"b", 10), (b"c", 30), (b"d", 1), (b"e", 25)))
    files = list(roll_over(FIRST, [a, b, c, d, e], 20))
    assert files == [(FIRST, [a, b, c]), (LogFileName("f", T1, 2, "0-1-2"), [d, e])]
    assert list(roll_over(FIRST, [], 20)) == []


@bounded(100)
@given(st.lists(st.integers(0, 40).map(lambda n: encode_block(BlockType.AVRO_DATA, {HeaderKey.INSTANT_TIME: "x" * n}, b""))),
       st.integers(0, 300))  # fmt: skip
def test_rolled_over_files_hold_every_block_in_order(blocks: list[bytes], threshold: int) -> None:
    """LF-005, S3-004: no block spans two files, none is lost, and without its last block each file is within the limit."""
    rolled = roll_over(FIRST, map(EncodedBlock, blocks), threshold)
    files = [(name, b"".join(part.data for part in parts)) for name, parts in rolled]
    assert [name.version for name, _ in files] == list(range(1, len(files) + 1))
    assert b"".join(data for _, data in files) == b"".join(blocks)
    for _, data in files:
        found = list(read_blocks(memoryview(data), "f.log"))
        assert not any(isinstance(block, CorruptBlock) for block in found)
        assert found[-1].offset <= threshold
    assert all(len(data) > threshold for _, data in files[:-1])


def test_version_0_has_no_place_for_headers() -> None:
    """LF-032, LF-033: a caller that gives them gets an error."""
    with pytest.raises(Misuse):
        encode_block(BlockType.COMMAND, {HeaderKey.INSTANT_TIME: T1}, b"", version=0)
    with pytest.raises(HudiError):
        encode_block(BlockType.COMMAND, {}, b"", footer={HeaderKey.INSTANT_TIME: T1}, version=0)
