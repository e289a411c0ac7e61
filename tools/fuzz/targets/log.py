"""Log files: framing, and the content of each kind of block."""

import json
import struct
from collections.abc import Iterator, Sequence
from itertools import islice

import pyarrow as pa
from tools.fuzz.structure_aware.log import counted_content, sized_content, split_log_file
from tools.fuzz.structure_aware.parts import base64_text, line_and_rest
from tools.fuzz.targets.oracle import Limits, require
from tools.fuzz.targets.seed_files import golden_contents
from tools.fuzz.targets.target import Target

from hudi_reference.errors import HudiError
from hudi_reference.files.inspection.envelope import envelope
from hudi_reference.files.inspection.log import inspect_block
from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey, encode_block
from hudi_reference.files.log.content import (
    decode_deletes,
    decode_rows,
    encode_deletes,
    encode_rows,
    look_up,
    rollback_target,
)
from hudi_reference.files.log.fast.decode_columns import decode_avro_columns
from hudi_reference.files.log.positions import encode_positions, positions_of
from hudi_reference.files.log.reader import read_blocks
from hudi_reference.schema.avro import AvroSchema, parse_schema
from hudi_reference.schema.avro_codec import to_avro

_VERSIONS = tuple(version.to_bytes(4, "big") for version in (1, 2, 3))
PATH = "x/.f-0_20260101000000000.log.1_0-0-0"
#: The content of a block may be compressed by a factor of up to 1,032.
COMPRESSED = Limits(20_000)


def log_files() -> list[bytes]:
    """Log files of the golden tables, and one with a block of each kind."""
    return [*every_kind(), *golden_contents("*.log.*", most=80)]


def log(data: bytes) -> None:
    """Framing and the content of every block, by the reader and by the inspection, which shows each field."""
    walked = list(read_blocks(memoryview(data), PATH, for_inspection=True))
    covers(walked, len(data))
    read_alike(walked, data)
    for block in walked:
        names_rule_and_path(inspect_block(block).error)
        fields = envelope(memoryview(data), block.offset, block.end)
        require(all(block.offset <= field.offset <= field.end <= len(data) for field in fields), "a field outside the file")
        for ask in (target, found_by_key, positions):
            try:
                ask(block)
            except HudiError as error:
                names_rule_and_path(error)


def covers(blocks: Sequence[Block], size: int) -> None:
    """Property: the blocks follow one another without gaps, from the first byte to the last."""
    ends = [0, *(block.end for block in blocks)]
    require([block.offset for block in blocks] == ends[:-1], "blocks do not follow one another")
    require(ends[-1] == size and all(block.size > 0 for block in blocks), f"blocks up to byte {ends[-1]} of {size}")


def read_alike(walked: Sequence[Block], data: bytes) -> None:
    """Property: the reader finds the same blocks as the inspection, up to the first refused block, and refuses that one."""
    refused = next((n for n, block in enumerate(walked) if isinstance(block, CorruptBlock) and block.error), len(walked))
    blocks = read_blocks(memoryview(data), PATH)
    found = list(islice(blocks, refused))
    require([_place(block) for block in found] == [_place(block) for block in walked[:refused]], "the two walks differ")
    if refused < len(walked):
        try:
            next(blocks)
        except HudiError as error:
            names_rule_and_path(error)
        else:
            require(False, "what the walk for inspection calls refused is read")


def _place(block: Block) -> tuple[object, ...]:
    return (block.kind, block.offset, block.size, dict(block.header), bytes(block.content))


def names_rule_and_path(error: HudiError | None) -> None:
    """Property of every error."""
    require(error is None or (error.rule and error.path is not None), f"an error without rule or path: {error!r}")


def found_by_key(block: Block) -> None:
    """Look up the rows of an HFile block by key."""
    if block.kind is BlockType.HFILE_DATA:
        look_up(block, ["", "a", "1"])


def target(block: Block) -> None:
    """The instant that a command block rolls back."""
    if block.kind is BlockType.COMMAND:
        rollback_target(block)


def positions(block: Block) -> None:
    """Record positions. Property: encoding and decoding return the same positions."""
    found = positions_of(block)
    if len(found) <= 1 << 12:
        again = block_of(block.kind, b"", RECORD_POSITIONS=encode_positions(found))
        require(positions_of(again) == found, "positions change when they are encoded again")


def block_of(kind: BlockType, body: bytes, **header: str) -> Block:
    """A single block, as a reader returns it."""
    named = {HeaderKey.INSTANT_TIME: "1"} | {HeaderKey[name]: text for name, text in header.items()}
    (block,) = read_blocks(memoryview(encode_block(kind, named, body)), PATH)
    return block


def avro_block(data: bytes) -> Block:
    """A block with the schema from the first line and the content from the remaining bytes."""
    schema, _, body = data.partition(b"\n")
    return block_of(BlockType.AVRO_DATA, body, SCHEMA=schema.decode("utf-8", "replace"))


def avro(data: bytes) -> None:
    """Decoding by rows and by columns. Properties: both return the same rows; encoding and decoding return the same rows."""
    block = avro_block(data)
    plain = decoded(block)
    schema = parse_schema(block.header[HeaderKey.SCHEMA], PATH)
    count = int.from_bytes(bytes(block.content[4:8]), "big")
    if block.content[:4] in _VERSIONS and 0 < count <= len(block.content):
        same_by_columns(decode_avro_columns(block.content[8:], schema, count), plain)
    if not isinstance(plain, HudiError):
        require(same(decode_rows(avro_again(plain, schema)), plain), "rows change when they are encoded again")
    else:
        raise plain


def decoded(block: Block) -> pa.Table | HudiError:
    """The rows, or the error."""
    try:
        return decode_rows(block)
    except HudiError as error:
        return error


def same_by_columns(columns: pa.Table | None, plain: pa.Table | HudiError) -> None:
    """Property: the plain path returns the same rows as the fast path; the fast path may refuse any block."""
    if columns is None:
        return
    require(isinstance(plain, pa.Table), f"rows by columns, an error row by row: {plain!r}")
    require(same(columns, plain), f"other rows by columns: {to_avro(columns)!r:.400} and {to_avro(plain)!r:.400}")


def same(left: pa.Table, right: pa.Table) -> bool:
    """Whether two tables are equal; NaN equals NaN. Stored values are compared, because some years have no Python value."""
    return left.schema.equals(right.schema) and (left.equals(right) or repr(to_avro(left)) == repr(to_avro(right)))


def avro_again(found: pa.Table, schema: AvroSchema) -> Block:
    """The rows, encoded as a block."""
    return block_of(BlockType.AVRO_DATA, encode_rows(found, schema), SCHEMA=json.dumps(schema))


def delete_block(data: bytes) -> None:
    """The content of a delete block. Property: encoding and decoding return the same deletes, if the ordering has a type."""
    found = decode_deletes(block_of(BlockType.DELETE, data))
    if all(entry.ordering is None for entry in found):
        again = block_of(BlockType.DELETE, encode_deletes(found, ()))
        require(decode_deletes(again) == found, "deletes change when they are encoded again")


def bitmap(data: bytes) -> None:
    """Record positions from the text of their header."""
    positions(block_of(BlockType.AVRO_DATA, b"", RECORD_POSITIONS=data.decode("latin-1")))


def blocks_of_seeds(*kinds: BlockType) -> Iterator[Block]:
    """Blocks of these kinds in the golden log files."""
    for data in golden_contents("*.log.*", longest=1 << 14, most=200):
        try:
            yield from (block for block in read_blocks(memoryview(data), PATH) if block.kind in kinds)
        except HudiError:
            continue


def avro_seeds() -> list[bytes]:
    """Schema and content of Avro blocks, and rows of every logical type."""
    found = [
        b.header.get(HeaderKey.SCHEMA, "").encode() + b"\n" + bytes(b.content) for b in blocks_of_seeds(BlockType.AVRO_DATA)
    ]
    return [*TYPED, *dict.fromkeys(found)]


def _typed(kind: object, *bodies: bytes) -> bytes:
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": kind}]}
    framed = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    return json.dumps(schema).encode() + b"\n" + (3).to_bytes(4, "big") + len(bodies).to_bytes(4, "big") + framed


#: One column of each type, with one or two values.
TYPED = (
    _typed({"type": "int", "logicalType": "date"}, b"\x02", b"\x80\x01"),
    _typed({"type": "int", "logicalType": "time-millis"}, b"\x02"),
    _typed({"type": "long", "logicalType": "time-micros"}, b"\x02"),
    _typed({"type": "long", "logicalType": "timestamp-millis"}, b"\x02", b"\x01"),
    _typed(["null", {"type": "long", "logicalType": "timestamp-micros"}], b"\x00", b"\x02\x80\x80\x80\x02"),
    _typed({"type": "long", "logicalType": "local-timestamp-millis"}, b"\x02"),
    _typed({"type": "string", "logicalType": "uuid"}, b"\x02a"),
    _typed({"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}, b"\x04\x01\x00"),
    _typed({"type": "fixed", "name": "d", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2}, b"\0\0\0\0\1"),
    _typed({"type": "fixed", "name": "f", "size": 3}, b"abc"),
    _typed({"type": "enum", "name": "e", "symbols": ["A", "B"]}, b"\x00", b"\x02"),
    _typed({"type": "map", "values": ["null", "string"]}, b"\x02\x02k\x02\x02v\x00", b"\x01\x0c\x02k\x02\x02v\x00"),
    _typed({"type": "array", "items": {"type": "map", "values": "int"}}, b"\x02\x02\x02k\x02\x00\x00"),
    _typed({"type": "record", "name": "n", "fields": [{"name": "b", "type": ["double", "null"]}]}, b"\x02", b"\0" * 9),
    _typed("float", b"\0\0\xc0\x7f"),
    _typed("boolean", b"\x01", b"\x00"),
    _typed("bytes", b"\x02\xff"),
    _typed("null", b""),
)


def delete_seeds() -> list[bytes]:
    """Contents of delete blocks: those of golden tables, and one of each form."""
    found = dict.fromkeys(bytes(b.content) for b in blocks_of_seeds(BlockType.DELETE))
    return [*KRYO, *found]


def _kryo(version: int, body: bytes) -> bytes:
    return struct.pack(">ii", version, len(body)) + body


def _name(text: str) -> bytes:
    """An ASCII text of Kryo: the top bit marks its last character."""
    return text[:-1].encode() + bytes([ord(text[-1]) | 0x80])


_MODEL = "org.apache.hudi.common.model."
_KEY = b"\x01\x01" + _name(_MODEL + "HoodieKey") + b"\x01\x01" + _name("p1") + b"\x01" + _name("k1")
#: One key, and one record with an ordering value of the type long, as tables before version 6 stored them.
KRYO = (
    _kryo(1, b"\x01\x00" + _name(f"[L{_MODEL}HoodieKey;") + b"\x01\x02" + _KEY),
    _kryo(
        2,
        b"\x01\x00" + _name(f"[L{_MODEL}DeleteRecord;") + b"\x01\x02"
        + b"\x01\x01" + _name(_MODEL + "DeleteRecord") + b"\x01" + _KEY.replace(b"\x01\x01", b"\x01\x02", 1) + b"\x09\x02",
    ),
)  # fmt: skip


def position_seeds() -> list[bytes]:
    """Header texts of positions: those of golden tables, and one for each kind of bitmap container."""
    kinds = BlockType.AVRO_DATA, BlockType.DELETE, BlockType.PARQUET_DATA
    texts = [b.header.get(HeaderKey.RECORD_POSITIONS, "") for b in blocks_of_seeds(*kinds)]
    made = [encode_positions(p) for p in ([], [0], [1, 2**40], range(100, 9000), range(0, 60000, 3), [2**63, 2**64 - 1])]
    return [*(text.encode() for text in dict.fromkeys([*made, *texts]) if text)]


def every_kind() -> list[bytes]:
    """One small file with a block of each kind."""
    header = {HeaderKey.INSTANT_TIME: "20260101000000000"}
    kinds = [kind for kind in BlockType if kind is not BlockType.CORRUPT]
    return [b"".join(encode_block(kind, header, bytes(8)) for kind in kinds)]


TARGETS = (
    Target("log", "a log file: framing, rows, deletes, commands, positions", log, log_files, split_log_file, COMPRESSED),
    Target("avro-block", "schema and content of an Avro block, row by row and by columns", avro, avro_seeds,
           line_and_rest(counted_content)),
    Target("delete-block", "the content of a delete block", delete_block, delete_seeds, sized_content),
    Target("positions", "the header of record positions", bitmap, position_seeds, base64_text),
)  # fmt: skip
