"""Avro object container files with one record: the files of actions.

A reader must decode with the schema embedded in the file, because the order of fields differs between releases. A writer embeds
the schema and no codec, which means that the file is not compressed.

The schemas that a writer embeds are data files in `avsc`, one for each record. They are equal to those
of Apache Hudi 1.0.2, including defaults that Avro does not allow (null for an array, in the records of a restore).
"""

import io
import json
import zlib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import fastavro

from hudi_reference.errors import MalformedMetadata, Misuse, UnsupportedSchema
from hudi_reference.limits import ACTION_VALUES, PART_BYTES, LimitExceeded, check_decompressed
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, checked_schema
from hudi_reference.schema.avro_codec import DAMAGE
from hudi_reference.schema.avro_validation import ValueCounts, read_long

#: The namespace of the schemas in `avsc`.
NAMESPACE = "org.apache.hudi.avro.model"
MAGIC = b"Obj\x01"
#: The codecs that are read: none, as in deployed writers, and deflate, which expands a byte to at most 1032 bytes. Other codecs
#: may expand a few bytes to gigabytes.
_CODECS = ("null", "deflate")


class Record(dict[str, Any]):
    """The fields of a record and the schema of its file, with which it can be written again without a loss of fields."""

    def __init__(self, fields: Mapping[str, Any], schema: AvroSchema) -> None:
        super().__init__(fields)
        self.schema = schema
        #: The record's name, without the namespace.
        self.name = str(schema["name"]).rpartition(".")[2]


@cache
@implements("TL-007", "TL-009", "TL-012", "TL-014", "TL-015", "TL-017", "TL-018", "TL-020", "TL-022", "TL-024")
def schema_of(record: str) -> AvroSchema:
    """The schema of a record by its name, e.g. `HoodieCleanerPlan`. Callers must not change it."""
    schema: AvroSchema = json.loads((files(__package__) / "avsc" / f"{record}.avsc").read_text("utf-8"))
    return schema


@implements("TL-002")
def read_record(data: bytes, path: str) -> Record:
    """The record of a container with exactly one record.

    Raises MalformedMetadata if the container is truncated, empty or has more than one record, and UnsupportedSchema for a
    record type that contains itself without end.
    """
    if not data:
        raise _malformed(path, "the file is empty", None)
    if not data.startswith(MAGIC):
        raise _malformed(path, f"the file starts with {data[:4].hex()}", 0)
    try:
        file = io.BytesIO(data)
        reader = fastavro.block_reader(file)
        schema, counts = _parsed(reader.metadata["avro.schema"])
        if reader.codec not in _CODECS:
            raise _malformed(path, f"compression {reader.codec}", None)
        records = list(_records(data, file.tell(), reader.codec, counts, path))
    except (UnsupportedSchema, LimitExceeded) as error:
        error.path = path
        raise
    except (*DAMAGE, RecursionError, zlib.error, fastavro.schema.UnknownType) as error:
        raise _malformed(path, f"{type(error).__name__}: {error}", None) from error
    if len(records) != 1 or not isinstance(records[0], dict):
        raise _malformed(path, "more than one record" if records else "no record", None)
    return Record(records[0], schema)


def _records(data: bytes, place: int, codec: str, counts: ValueCounts, path: str) -> Iterator[Any]:
    """The records of the blocks from `place` on, after the header: at most one in each, and no bytes after it.

    The library would decompress a block whatever its size. Raises what decoding raises, LimitExceeded and MalformedMetadata.
    """
    sync_marker = data[place - 16 : place]
    while place < len(data):
        start = place
        count, place = read_long(data, place)
        size, place = read_long(data, place)
        end = place + size
        if size < 0 or data[end : end + 16] != sync_marker:
            raise _malformed(path, f"a block of {size} bytes without its end", start)
        if count not in (0, 1):
            raise _malformed(path, f"a block of {count} records", start)
        datum = data[place:end] if codec == "null" else _inflate(data[place:end], path, start)
        counts.check(datum, ACTION_VALUES, path)
        body, place = io.BytesIO(datum), end + 16
        if count:
            yield fastavro.schemaless_reader(body, counts.schema)
        if rest := len(datum) - body.tell():
            raise _malformed(path, f"{rest} bytes after the record", start)


def _inflate(stored: bytes, path: str, offset: int) -> bytes:
    """The bytes of a deflate block; not more than the limit are made."""
    found = zlib.decompressobj(wbits=-15).decompress(stored, PART_BYTES.value + 1)
    check_decompressed(len(found), len(stored), path, offset, "TL-002")
    return found


@implements("TL-002")
def write_record(schema: AvroSchema, record: Mapping[str, Any], sync_marker: bytes) -> bytes:
    """A container with one record, not compressed; absent fields get their default.

    Raises Misuse for values that do not fit the schema.
    """
    text = json.dumps(schema, separators=(",", ":"))
    out = io.BytesIO()
    try:
        fastavro.schemaless_writer(out, _parsed(text)[1].schema, record)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise Misuse("the record does not fit its schema", rule="TL-002", found=f"{type(error).__name__}: {error}") from error
    name, stored, datum = b"avro.schema", text.encode(), out.getvalue()
    head = [MAGIC, _long(1), _long(len(name)), name, _long(len(stored)), stored, _long(0), sync_marker]
    return b"".join([*head, _long(1), _long(len(datum)), datum, sync_marker])


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[AvroSchema, ValueCounts]:
    """The checked schema of this text: as it is, and with the weights of its types. Callers must not change it.

    It is cached because the files of a table share few schemas.
    """
    schema, compiled = checked_schema(text)
    return schema, ValueCounts(compiled)


def _long(value: int) -> bytes:
    """A non-negative Avro long: seven bits in each byte, the least significant first."""
    rest = value << 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes((*out, rest))


def _malformed(path: str, found: str, offset: int | None) -> MalformedMetadata:
    return MalformedMetadata(
        "the file does not contain the metadata of an action",
        rule="TL-002",
        path=path,
        offset=offset,
        expected="an Avro object container with one record",
        found=found,
        remedy="restore the file from another copy of the table; it was truncated or overwritten",
    )
