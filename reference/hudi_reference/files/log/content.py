"""The content of log blocks: rows (Avro, Parquet or HFile) and deletes, spec "Log Format > Block types".

The content has a version of its own, 3 in all blocks of version 8 tables, beside the version in the envelope of the block.
"""

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_reference.errors import MalformedBaseFile, MalformedLogBlock, Misuse, UnsupportedFileFormat
from hudi_reference.fast_paths import FastPath, use_fast
from hudi_reference.files.base.parquet import check_parquet_size, rows_of_row_groups
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import HFile, hfile_of
from hudi_reference.files.hfile.records import decode_records, encode_records
from hudi_reference.files.hfile.writer import Layout, encode_hfile
from hudi_reference.files.log.block import Block, BlockType, HeaderKey
from hudi_reference.files.log.deletes import DELETE_LIST, NAMESPACE, Ordering, unwrap, wrap
from hudi_reference.files.log.fast.decode_columns import decode_avro_columns
from hudi_reference.files.log.fast.decode_deletes import decode_simple_deletes
from hudi_reference.files.log.fast.encode_columns import encode_avro_columns
from hudi_reference.files.log.kryo_deletes import UnknownClass, read_deletes
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema, parse_schema
from hudi_reference.schema.avro_codec import DAMAGE, codec_schema, decode_datum, encode_datum, from_avro, to_avro
from hudi_reference.storage.system_faults import check_fault

CONTENT_VERSION = 3
#: Values that are decoded to Python objects at a time: these take more memory than Arrow columns.
_VALUES_AT_ONCE = 200_000


@dataclass(frozen=True)
class Delete:
    """One entry of a delete block. A delete without an ordering value (None) wins over every earlier version."""

    key: str
    partition: str | None
    ordering: Ordering | None


@implements("LF-008", "LF-020", "LF-038", "BLK-018", "BLK-027", "BLK-030")
def decode_rows(block: Block, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of a data block under the schema of its header.

    Args:
        block: a data or change-capture block.
        columns: the columns that the caller needs, None for all. Other columns are left out if that saves work.

    Raises:
        MalformedLogBlock: the content cannot be decoded.
        Misuse: the block is of another type.
    """
    if block.kind is BlockType.PARQUET_DATA:
        return _decode_parquet(block, columns)
    if block.kind is BlockType.HFILE_DATA:
        return _decode_hfile(block, iter)
    if block.kind not in (BlockType.AVRO_DATA, BlockType.CDC_DATA):
        raise Misuse("a block without rows", rule="LF-020", path=block.path, offset=block.offset, found=block.kind.name)
    schema = block_schema(block)
    count, rows = _avro_count(block), None
    if use_fast(FastPath.DECODE_ROWS, count):  # None for damaged and unusual contents, which the plain code decodes
        rows = decode_avro_columns(block.content[8:], schema, count, columns)
    return _decode_avro(block, schema, count) if rows is None else rows


@implements("BLK-019", "BLK-020", "BLK-021", "BLK-022", "TYP-019")
def _decode_avro(block: Block, schema: AvroSchema, count: int) -> pa.Table:
    parsed, columns = codec_schema(schema, "none"), arrow_schema(schema, block.path)
    at_once = max(1, _VALUES_AT_ONCE // max(1, len(columns)))
    # ER-040: four bytes before each record, not eight.
    framed = _length_prefixed(block.content[8:], count)
    pieces = [from_avro([], columns)]
    try:
        while data := list(islice(framed, at_once)):
            pieces.append(from_avro([decode_datum(datum, parsed) for datum in data], columns))
        return pa.concat_tables(pieces[1:] or pieces)
    except (*DAMAGE, pa.ArrowException) as error:
        raise _malformed(block, "BLK-022", f"{type(error).__name__}: {error}") from error


@implements("BLK-020")
def count_records(block: Block) -> int:
    """The number of records of a data or delete block, if possible without decoding them. Raises what decoding raises."""
    match block.kind:
        case BlockType.AVRO_DATA:
            return _avro_count(block)
        case BlockType.PARQUET_DATA:
            return int(_decode_parquet(block, ()).num_rows)
        case BlockType.HFILE_DATA:
            return int(decode_rows(block).num_rows)
        case _:
            return len(decode_deletes(block))


def _avro_count(block: Block) -> int:
    version, count = _version_and_length(block)
    if not 1 <= version <= CONTENT_VERSION:
        raise _malformed(block, "BLK-019", f"content version {version}")
    if not 0 <= count <= (len(block.content) - 8) // 4:
        raise _malformed(block, "BLK-020", f"{count} records in {len(block.content)} bytes")
    return count


def plain_records(block: Block) -> list[dict[str, Any]]:
    """The records of an Avro block as plain values, for blocks whose records are not rows of a table.

    Raises MalformedLogBlock.
    """
    schema = codec_schema(block_schema(block), "none")
    try:
        return [dict(decode_datum(datum, schema)) for datum in _length_prefixed(block.content[8:], _avro_count(block))]
    except DAMAGE as error:
        raise _malformed(block, "BLK-022", f"{type(error).__name__}: {error}") from error


def _length_prefixed(data: memoryview | bytes, count: int) -> Iterator[memoryview | bytes]:
    """The `count` byte strings that make up `data`, each after its length of four bytes."""
    position = 0
    for _ in range(count):
        (length,) = struct.unpack_from(">i", data, position)
        position += 4
        if not 0 <= length <= len(data) - position:
            raise ValueError(f"a record of {length} bytes at byte {position}, {len(data) - position} are left")
        yield data[position : position + length]
        position += length
    if position != len(data):
        raise ValueError(f"{len(data) - position} bytes after the last record")


@implements("BLK-028", "BLK-029")
def _decode_parquet(block: Block, columns: Sequence[str] | None) -> pa.Table:
    try:
        # ER-041: a bare Parquet file, without version and count.
        file = pq.ParquetFile(block.open_content(), coerce_int96_timestamp_unit="us")
        if (found := rows_of_row_groups(file.metadata)) != file.metadata.num_rows:
            raise _malformed(block, "BLK-028", f"{found} rows in the row groups of a file of {file.metadata.num_rows} rows")
        check_parquet_size(file.metadata, columns, block.path, block.offset)
        chosen = None if columns is None else [name for name in columns if file.schema_arrow.get_field_index(name) >= 0]
        rows = file.read(columns=chosen, use_threads=False)
        rows.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        check_fault(block.path, error)
        raise _malformed(block, "BLK-028", str(error)) from error
    return rows


@implements("BLK-026")
def look_up(block: Block, keys: Iterable[str]) -> pa.Table:
    """The rows with these record keys in an HFile block; data blocks without any of the keys are not decoded."""
    return _decode_hfile(block, lambda hfile: hfile.get(*keys))


@implements("BLK-023", "BLK-024")
def _decode_hfile(block: Block, choose: Callable[[HFile], Iterable[Entry]]) -> pa.Table:
    schema = block_schema(block)
    columns = arrow_schema(schema, block.path)
    try:
        hfile = hfile_of(block.content, block.path, block.content_offset)
        return from_avro(list(decode_records(choose(hfile), schema, hfile.place)), columns)
    except MalformedBaseFile as error:
        raise _malformed(block, "BLK-024", f"{error.message}: {error.found}, at byte {error.offset}") from error
    except (*DAMAGE, pa.ArrowException) as error:
        raise _malformed(block, "BLK-024", f"{type(error).__name__}: {error}") from error


@implements("BLK-023", "BLK-024", "BLK-025")
def encode_hfile_rows(
    rows: pa.Table, schema: AvroSchema, key: str = "_hoodie_record_key", layout: Layout | None = None
) -> bytes:
    """The content of an HFile data block; `key` is the column of the record keys.

    Raises InvalidRows for a duplicate key.
    """
    records = zip(rows.column(key).to_pylist(), to_avro(rows), strict=True)
    info = {"schema": json.dumps(schema, separators=(",", ":")).encode()}
    return encode_hfile(encode_records(records, schema), info, layout=layout)


@implements("BLK-018", "BLK-019", "BLK-020")
def encode_rows(rows: pa.Table, schema: AvroSchema) -> bytes:
    """The content of an Avro data block."""
    head = struct.pack(">ii", CONTENT_VERSION, rows.num_rows)
    records = encode_avro_columns(rows, schema) if use_fast(FastPath.ENCODE_ROWS, rows.num_rows) else None
    return head + (_encode_avro(rows, schema) if records is None else records)


@implements("BLK-020", "BLK-021", "BLK-022")
def _encode_avro(rows: pa.Table, schema: AvroSchema) -> bytes:
    parsed = codec_schema(schema)
    parts = []
    for row in to_avro(rows):
        datum = encode_datum(row, parsed)
        parts += [struct.pack(">i", len(datum)), datum]
    return b"".join(parts)


@implements("BLK-006", "BLK-009")
def decode_deletes(block: Block) -> list[Delete]:
    """The entries of a delete block. Raises what `stored_deletes` raises."""
    content, simple = block.content, None
    is_avro = content[:8] == struct.pack(">ii", CONTENT_VERSION, len(content) - 8)
    if is_avro and use_fast(FastPath.DECODE_DELETES, len(content)):
        simple = decode_simple_deletes(content[8:])
    if simple is not None:
        return [Delete(key, partition, None) for key, partition in simple]
    return [Delete(e["recordKey"], e["partitionPath"], unwrap(e["orderingVal"])) for e in stored_deletes(block)]


@implements("BLK-006", "BLK-007", "BLK-008", "BLK-009", "BLK-010")
def stored_deletes(block: Block) -> list[dict[str, Any]]:
    """The entries of a delete block as stored; an ordering value is None, or the name of its wrapper with the wrapper record.

    Raises MalformedLogBlock, and UnsupportedFileFormat for content versions that are not known.
    """
    version, length = _version_and_length(block)
    if version not in _DELETE_FORMS:
        raise UnsupportedFileFormat(
            "a delete block of an unknown content version", rule="BLK-007", path=block.path, offset=block.offset,
            expected=f"content version 1 to {CONTENT_VERSION}", found=f"content version {version}",
        )  # fmt: skip
    body = block.content[8:]
    if length != len(body):
        raise _malformed(block, "BLK-008", f"a length of {length} before {len(body)} bytes")
    try:
        return _DELETE_FORMS[version](body)
    except DAMAGE as error:
        raise _malformed(block, "BLK-009", f"{type(error).__name__}: {error}") from error
    except UnknownClass as error:
        raise UnsupportedFileFormat(
            "a delete block with an ordering value of an unknown type", rule="BLK-010", path=block.path, offset=block.offset,
            expected="a text, number, boolean, decimal or timestamp", found=str(error),
        ) from error  # fmt: skip


@implements("BLK-009")
def _avro_deletes(data: memoryview) -> list[dict[str, Any]]:
    record = decode_datum(data, DELETE_LIST, named=True)
    entries: list[dict[str, Any]] = record["deleteRecordList"]
    return entries


@implements("BLK-010")
def _kryo_deletes(data: memoryview, *, with_ordering: bool) -> list[dict[str, Any]]:
    return [
        {
            "recordKey": entry.key,
            "partitionPath": entry.partition,
            "orderingVal": entry.wrapper and (f"{NAMESPACE}.{entry.wrapper}", {"value": entry.value}),
        }
        for entry in read_deletes(bytes(data), with_ordering=with_ordering)
    ]


#: How the entries are serialized, by content version (ER-017): keys in Kryo, records in Kryo, records in Avro.
_DELETE_FORMS: dict[int, Callable[[memoryview], list[dict[str, Any]]]] = {
    1: partial(_kryo_deletes, with_ordering=False),
    2: partial(_kryo_deletes, with_ordering=True),
    3: _avro_deletes,
}


@implements("BLK-006", "BLK-007", "BLK-008", "BLK-009", "BLK-010")
def encode_deletes(deletes: Sequence[Delete], ordering_types: Sequence[pa.DataType]) -> bytes:
    """The content of a delete block; `ordering_types` are those of the table's ordering columns."""
    entries = [
        {"recordKey": d.key, "partitionPath": d.partition, "orderingVal": wrap(d.ordering, ordering_types)} for d in deletes
    ]
    content = encode_datum({"deleteRecordList": entries}, DELETE_LIST)
    return struct.pack(">ii", CONTENT_VERSION, len(content)) + content


@implements("BLK-001", "BLK-002", "BLK-003", "LF-037", "LF-039")
def rollback_target(block: Block) -> str:
    """The instant whose blocks a rollback command removes. Raises MalformedLogBlock for other commands."""
    command = _header(block, HeaderKey.COMMAND_BLOCK_TYPE)
    # ER-043: one command, stored as the text 0, undoes all blocks of its target.
    if command != "0":
        raise _malformed(block, "LF-039", f"command {command!r}")
    return _header(block, HeaderKey.TARGET_INSTANT_TIME)


def block_schema(block: Block) -> AvroSchema:
    """The schema in the header of a block. Raises MalformedLogBlock if it has none, MalformedSchema."""
    return parse_schema(_header(block, HeaderKey.SCHEMA), block.path)


def _header(block: Block, key: HeaderKey) -> str:
    value = block.header.get(key)
    if value is None:
        raise _malformed(block, "LF-018", f"no header {key.name}")
    return value


def _version_and_length(block: Block) -> tuple[int, int]:
    if len(block.content) < 8:
        raise _malformed(block, "BLK-007", f"{len(block.content)} bytes of content")
    first, second = struct.unpack_from(">ii", block.content)
    return int(first), int(second)


def _malformed(block: Block, rule: str, found: str) -> MalformedLogBlock:
    return MalformedLogBlock(
        f"the content of the {block.kind.name} block cannot be decoded",
        rule=rule, path=block.path, offset=block.offset, found=found,
        remedy="restore the file from another copy of the table",
    )  # fmt: skip
