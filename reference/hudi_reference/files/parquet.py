"""Parquet base files, spec "Base Files"."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_reference.errors import MalformedBaseFile
from hudi_reference.files.footer import BaseFileFooter, from_key_values, key_values
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

#: Compression of written files; every reader of Parquet knows it and it costs a tenth of gzip's time.
COMPRESSION = "zstd"
_SCHEMA = "parquet.avro.schema"


@implements("BF-002", "TYP-014")
def read_parquet(storage: Storage, path: str, columns: Sequence[str] | None, *, threads: bool) -> pa.Table:
    """The rows of a Parquet file in file order; raises FileNotFoundError, MalformedBaseFile."""
    with opened_parquet(storage, path) as file:
        wanted = None if columns is None else [c for c in columns if file.schema_arrow.get_field_index(c) >= 0]
        return file.read(columns=wanted, use_threads=threads)


def read_parquet_footer(storage: Storage, path: str) -> BaseFileFooter:
    """What a Parquet file says of itself; raises FileNotFoundError, MalformedBaseFile."""
    with opened_parquet(storage, path) as file:
        return from_key_values(path, file.metadata.metadata or {}, _SCHEMA)


@contextmanager
def opened_parquet(storage: Storage, path: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file; raises FileNotFoundError, MalformedBaseFile, also for what goes wrong while it is read."""
    try:
        with storage.open(path) as source:
            yield pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise MalformedBaseFile(
            "not a whole Parquet file",
            rule="BF-002", path=path, expected="PAR1 at both ends and a footer", found=str(error).splitlines()[0],
            cure="restore the file, or roll the action back that wrote it",
        ) from error  # fmt: skip


@implements("BF-002", "TYP-003", "LAY-007")
def encode_parquet(rows: pa.Table, footer: BaseFileFooter) -> bytes:
    """The bytes of a Parquet base file; no Arrow schema inside, so that readers go by Parquet's own."""
    entries = {_SCHEMA: footer.schema, "writer.model.name": "avro", **key_values(footer)}
    out = io.BytesIO()
    with pq.ParquetWriter(out, rows.schema, compression=COMPRESSION, store_schema=False, version="1.0") as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata({key: value for key, value in entries.items() if value is not None})
    return out.getvalue()
