"""Avro object container files with one record: the files of actions.

A reader must decode with the schema embedded in the file, because the order of fields differs between releases. A writer embeds
the schema and no codec, which means that the file is not compressed.
"""

import io
import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import fastavro

from hudi_reference.errors import MalformedMetadata, Misuse, UnsupportedSchema
from hudi_reference.limits import LimitExceeded
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, check_schema
from hudi_reference.schema.avro_codec import DAMAGE

MAGIC = b"Obj\x01"
#: The codecs that are read: none, as in deployed writers, and deflate, which expands a byte to at most 1032 bytes. Other codecs
#: may expand a few bytes to gigabytes.
_CODECS = ("null", "deflate")


class Record(dict[str, Any]):
    """The fields of a record and the schema of its file, with which it can be written again without a loss of fields."""

    def __init__(self, fields: Mapping[str, Any], schema: AvroSchema) -> None:
        super().__init__(fields)
        self.schema = schema

    @property
    def name(self) -> str:
        """The record's name, without the namespace."""
        return str(self.schema["name"]).rpartition(".")[2]


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
        reader = fastavro.block_reader(io.BytesIO(data))
        schema = _parsed(reader.metadata["avro.schema"])
        if reader.codec not in _CODECS:
            raise _malformed(path, f"compression {reader.codec}", None)
        records = [record for block in reader for record in _records(block, path)]
    except (UnsupportedSchema, LimitExceeded) as error:
        error.path = path
        raise
    except (*DAMAGE, RecursionError, zlib.error, fastavro.schema.UnknownType) as error:
        raise _malformed(path, f"{type(error).__name__}: {error}", None) from error
    if len(records) != 1 or not isinstance(records[0], dict):
        raise _malformed(path, "more than one record" if records else "no record", None)
    return Record(records[0], schema)


def _records(block: Any, path: str) -> list[Any]:
    """The records of a block: at most one, and no bytes after it."""
    if block.num_records not in (0, 1):
        raise _malformed(path, f"a block of {block.num_records} records", block.offset)
    records = list(block)
    if rest := len(block.bytes_.read()):
        raise _malformed(path, f"{rest} bytes after the record", block.offset)
    return records


@implements("TL-002")
def write_record(schema: AvroSchema, record: Mapping[str, Any], sync_marker: bytes) -> bytes:
    """A container with one record, not compressed; absent fields get their default.

    Raises Misuse for values that do not fit the schema.
    """
    text = json.dumps(schema, separators=(",", ":"))
    out = io.BytesIO()
    try:
        fastavro.schemaless_writer(out, _compiled(text), record)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise Misuse("the record does not fit its schema", rule="TL-002", found=f"{type(error).__name__}: {error}") from error
    name, stored, datum = b"avro.schema", text.encode(), out.getvalue()
    head = [MAGIC, _long(1), _long(len(name)), name, _long(len(stored)), stored, _long(0), sync_marker]
    return b"".join([*head, _long(1), _long(len(datum)), datum, sync_marker])


@lru_cache(maxsize=64)
def _parsed(schema: str) -> AvroSchema:
    """The checked schema of this text, cached because the files of a table share few schemas. Callers must not change it."""
    check_schema(fastavro.parse_schema(json.loads(schema)), "")
    parsed: AvroSchema = json.loads(schema)
    return parsed


@lru_cache(maxsize=64)
def _compiled(schema: str) -> Any:
    """The schema of this text in the form in which the Avro library encodes."""
    return fastavro.parse_schema(json.loads(schema))


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
