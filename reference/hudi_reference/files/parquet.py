"""Parquet base files, spec "Base Files"."""

import io
import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hudi_reference.errors import MalformedBaseFile, MissingDataFile, UnsupportedFileFormat
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.storage import Storage

#: Compression of written files; every reader of Parquet knows it and it costs a tenth of gzip's time.
COMPRESSION = "zstd"


@implements("BF-002", "BF-010", "TYP-014")
def read_base_file(storage: Storage, path: str, columns: Sequence[str] | None = None, *, threads: bool = False) -> pa.Table:
    """The rows of a base file in file order: those of `columns` that it has, or all.

    Raises MissingDataFile, MalformedBaseFile, UnsupportedFileFormat.
    """
    name = parse_data_file_name(split_path(path)[1])
    if name is not None and getattr(name, "extension", "parquet") != "parquet":
        raise UnsupportedFileFormat("not a Parquet base file", rule="BF-010", path=path, expected=".parquet", found=str(name))
    try:
        with storage.open(path) as source:
            file = pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
            wanted = None if columns is None else [c for c in columns if file.schema_arrow.get_field_index(c) >= 0]
            return file.read(columns=wanted, use_threads=threads)
    except FileNotFoundError as error:
        raise missing(path) from error
    except (pa.ArrowException, OSError) as error:
        raise MalformedBaseFile(
            "not a whole Parquet file",
            rule="BF-002", path=path, expected="PAR1 at both ends and a footer", found=str(error).splitlines()[0],
            cure="restore the file, or roll the action back that wrote it",
        ) from error  # fmt: skip


def missing(path: str) -> MissingDataFile:
    """The error for a data file that a completed action wrote and that is not in storage."""
    return MissingDataFile(
        "the file of a completed action is missing",
        rule="TL-036", path=path, expected="the file in storage until a clean removes its slice",
        cure="restore the file, or read the table as of an earlier instant",
    )  # fmt: skip


@implements("BF-002", "TYP-003", "LAY-007")
def encode_base_file(rows: pa.Table, schema: AvroSchema) -> bytes:
    """The bytes of a base file with `rows`; `schema` is their Avro schema, meta columns included."""
    keys = pc.min_max(rows.column("_hoodie_record_key")).as_py()
    footer = {"parquet.avro.schema": json.dumps(schema, separators=(",", ":")), "writer.model.name": "avro"}
    if keys["min"] is not None:
        footer |= {"hoodie_min_record_key": keys["min"], "hoodie_max_record_key": keys["max"]}
    out = io.BytesIO()
    with pq.ParquetWriter(out, rows.schema, compression=COMPRESSION, store_schema=False, version="1.0") as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata(footer)
    return out.getvalue()
