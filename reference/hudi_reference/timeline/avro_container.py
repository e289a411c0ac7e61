"""Avro object container files with one record: the content of an action's file.

A reader must decode with the schema embedded in the file, since field order differs between releases.
"""

import io
import json
import zlib
from collections.abc import Mapping
from itertools import islice
from typing import Any

import fastavro

from hudi_reference.errors import MalformedMetadata
from hudi_reference.requirement import implements
from hudi_reference.schema.datum import DAMAGE
from hudi_reference.schema.soundness import check_soundness

MAGIC = b"Obj\x01"
#: What deployed writers use, and deflate, which makes 1032 bytes of one at best; others make gigabytes of a few bytes.
_CODECS = ("null", "deflate")


@implements("TL-002")
def read_record(data: bytes, path: str) -> dict[str, Any]:
    """The one record of a container; raises MalformedMetadata when it is cut, empty, or holds anything else.

    Raises UnsupportedSchema for a record type without end.
    """
    if not data:
        raise _malformed(path, "the file is empty", None)
    if not data.startswith(MAGIC):
        raise _malformed(path, f"the file starts with {data[:4].hex()}", 0)
    try:
        reader = fastavro.reader(io.BytesIO(data))
        check_soundness(reader.writer_schema, path)
        if reader.codec not in _CODECS:
            raise _malformed(path, f"compression {reader.codec}", None)
        records = list(islice(reader, 2))
    except (*DAMAGE, RecursionError, zlib.error, fastavro.schema.UnknownType) as error:
        raise _malformed(path, f"{type(error).__name__}: {error}", None) from error
    if len(records) != 1 or not isinstance(records[0], dict):
        raise _malformed(path, "more than one record" if records else "no record", None)
    return dict(records[0])


def write_record(schema: Mapping[str, Any], record: Mapping[str, Any], sync_marker: bytes) -> bytes:
    """A container with one record, not compressed."""
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), [record], sync_marker=sync_marker)
    return out.getvalue()


def _malformed(path: str, found: str, offset: int | None) -> MalformedMetadata:
    return MalformedMetadata(
        "not the metadata of an action",
        rule="TL-002",
        path=path,
        offset=offset,
        expected="an Avro object container with one record",
        found=found,
        cure="restore the file from another copy of the table; it was cut or overwritten",
    )
