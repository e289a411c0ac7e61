"""Blocks of each kind, with their content, from which the cases are made."""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tools.corpus import avro_bytes
from tools.corpus.avro_bytes import Schema, canonical_rows, encode_datum, schema_text, stored_schema
from tools.corpus.log.builder import COMMAND, INSTANT, SCHEMA, TARGET, Block, Json, encode_int4, frame_records
from tools.corpus.names import instant_time

#: The schema of the rows of most blocks: the meta columns, a key and a number.
ROW = stored_schema(("id", "string"), ("n", ["null", "long"]))

Entry = tuple[bytes, Json]


def make_row(key: str, n: int | None = 1, second: int = 1) -> dict[str, Any]:
    """A row of schema ROW."""
    return {
        "_hoodie_commit_time": instant_time(second),
        "_hoodie_commit_seqno": f"{instant_time(second)}_0_0",
        "_hoodie_record_key": key,
        "_hoodie_partition_path": "",
        "_hoodie_file_name": "f0000000-0000-4000-8000-000000000001-0",
        "id": key,
        "n": n,
    }


def avro_block(second: int, *rows: Mapping[str, Any], schema: Schema = ROW, shows: Sequence[Json] | None = None) -> Block:
    """An Avro data block. `shows` are the rows in canonical form, needed for types other than texts and numbers."""
    return Block(
        "avro",
        [(INSTANT, instant_time(second)), (SCHEMA, schema_text(schema))],
        frame_records([encode_datum(schema, one) for one in rows]),
        {"content_version": 3, "rows": canonical_rows(schema, rows) if shows is None else list(shows)},
    )


def delete_list(*entries: bytes) -> bytes:
    """The Avro record of a delete block: one array block with all entries (none if there are no entries), and the end mark."""
    return (avro_bytes.encode_long(len(entries)) + b"".join(entries) if entries else b"") + b"\x00"


def raw_delete_block(body: bytes, shows: Sequence[Json], header: Sequence[tuple[int, str]], version: int = 3) -> Block:
    """A delete block of this serialized list."""
    content = encode_int4(version) + encode_int4(len(body)) + body
    return Block("delete", header, content, {"content_version": version, "deletes": list(shows)})


def delete_block(second: int, *entries: Entry) -> Block:
    """A delete block of entries made by `delete`."""
    header = [(INSTANT, instant_time(second)), (SCHEMA, schema_text(ROW))]
    return raw_delete_block(delete_list(*(one for one, _ in entries)), [shows for _, shows in entries], header)


#: Ordering values by their branch of the union: bytes after the branch, and the canonical form.
NATURAL = (b"\x04\x00", {"type": "int", "value": 0})
NO_ORDERING = (b"\x00", None)


def delete_entry(key: str | None, ordering: Entry = NATURAL, partition: str | None = "") -> Entry:
    """One entry of a delete block and its meaning; `ordering` has the bytes of the union and the canonical form."""
    data = avro_bytes.encode_optional_string(key) + avro_bytes.encode_optional_string(partition) + ordering[0]
    return data, {"key": key, "partition": partition, "ordering": ordering[1]}


def rollback_block(second: int, target: int) -> Block:
    """A command block that rolls back an instant."""
    return Block("command", [(INSTANT, instant_time(second)), (TARGET, instant_time(target)), (COMMAND, "0")])


def parquet_bytes(table: pa.Table, **options: Any) -> bytes:
    """A Parquet file."""
    out = io.BytesIO()
    pq.write_table(table, out, compression=options.pop("compression", "none"), **options)
    return out.getvalue()


def raw_parquet_block(second: int, content: bytes, rows: Sequence[Json], schema: Schema = ROW) -> Block:
    """A Parquet data block."""
    return Block("parquet", [(INSTANT, instant_time(second)), (SCHEMA, schema_text(schema))], content, {"rows": list(rows)})


def base64_text(data: bytes) -> str:
    """Standard alphabet, padded, without line breaks."""
    return base64.b64encode(data).decode()
