"""Blocks of each kind, with their content, from which the cases are made."""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tools.corpus import avro_bytes
from tools.corpus.avro_bytes import Schema, datum, plain, schema_text, stored
from tools.corpus.log.builder import COMMAND, INSTANT, SCHEMA, TARGET, Block, Json, at, framed, int4

#: The schema of the rows of most blocks: the meta columns, a key and a number.
ROW = stored(("id", "string"), ("n", ["null", "long"]))

Entry = tuple[bytes, Json]


def row(key: str, n: int | None = 1, second: int = 1) -> dict[str, Any]:
    """A row of schema ROW."""
    return {
        "_hoodie_commit_time": at(second),
        "_hoodie_commit_seqno": f"{at(second)}_0_0",
        "_hoodie_record_key": key,
        "_hoodie_partition_path": "",
        "_hoodie_file_name": "f0000000-0000-4000-8000-000000000001-0",
        "id": key,
        "n": n,
    }


def avro(second: int, *rows: Mapping[str, Any], schema: Schema = ROW, shows: Sequence[Json] | None = None) -> Block:
    """An Avro data block. `shows` are the rows in canonical form, needed for types other than texts and numbers."""
    return Block(
        "avro",
        [(INSTANT, at(second)), (SCHEMA, schema_text(schema))],
        framed([datum(schema, one) for one in rows]),
        {"content_version": 3, "rows": plain(schema, rows) if shows is None else list(shows)},
    )


def delete_list(*entries: bytes) -> bytes:
    """The Avro record of a delete block: one array block with all entries (none if there are no entries), and the end mark."""
    return (avro_bytes.long(len(entries)) + b"".join(entries) if entries else b"") + b"\x00"


def delete_of(body: bytes, shows: Sequence[Json], header: Sequence[tuple[int, str]], version: int = 3) -> Block:
    """A delete block of this serialized list."""
    content = int4(version) + int4(len(body)) + body
    return Block("delete", header, content, {"content_version": version, "deletes": list(shows)})


def deletes(second: int, *entries: Entry) -> Block:
    """A delete block of entries made by `delete`."""
    header = [(INSTANT, at(second)), (SCHEMA, schema_text(ROW))]
    return delete_of(delete_list(*(one for one, _ in entries)), [shows for _, shows in entries], header)


#: Ordering values by their branch of the union: bytes after the branch, and the canonical form.
NATURAL = (b"\x04\x00", {"type": "int", "value": 0})
NO_ORDERING = (b"\x00", None)


def delete(key: str | None, ordering: Entry = NATURAL, partition: str | None = "") -> Entry:
    """One entry of a delete block and its meaning; `ordering` has the bytes of the union and the canonical form."""
    data = avro_bytes.optional(key) + avro_bytes.optional(partition) + ordering[0]
    return data, {"key": key, "partition": partition, "ordering": ordering[1]}


def rollback(second: int, target: int) -> Block:
    """A command block that rolls back an instant."""
    return Block("command", [(INSTANT, at(second)), (TARGET, at(target)), (COMMAND, "0")])


def parquet_bytes(table: pa.Table, **options: Any) -> bytes:
    """A Parquet file."""
    out = io.BytesIO()
    pq.write_table(table, out, compression=options.pop("compression", "none"), **options)
    return out.getvalue()


def parquet(second: int, content: bytes, rows: Sequence[Json], schema: Schema = ROW) -> Block:
    """A Parquet data block."""
    return Block("parquet", [(INSTANT, at(second)), (SCHEMA, schema_text(schema))], content, {"rows": list(rows)})


def base64_text(data: bytes) -> str:
    """Standard alphabet, padded, without line breaks."""
    return base64.b64encode(data).decode()
