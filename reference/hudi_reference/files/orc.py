"""ORC base files, spec "Base Files"."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyarrow import orc

from hudi_reference.errors import MalformedBaseFile
from hudi_reference.files.footer import BaseFileFooter, from_key_values
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

_SCHEMA = "orc.avro.schema"


@implements("BF-002")
def read_orc(storage: Storage, path: str, columns: Sequence[str] | None, *, threads: bool) -> pa.Table:
    """The rows of an ORC file in file order; raises FileNotFoundError, MalformedBaseFile."""
    with _opened(storage, path) as file:
        present = file.schema.names
        wanted = present if columns is None else [name for name in columns if name in present]
        return file.read(columns=wanted).select(wanted)


def read_orc_footer(storage: Storage, path: str) -> BaseFileFooter:
    """What an ORC file says of itself; raises FileNotFoundError, MalformedBaseFile."""
    with _opened(storage, path) as file:
        return from_key_values(path, dict(file.metadata or {}), _SCHEMA)


@contextmanager
def _opened(storage: Storage, path: str) -> Iterator[orc.ORCFile]:
    try:
        with storage.open(path) as source:
            yield orc.ORCFile(source)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise MalformedBaseFile(
            "not a whole ORC file",
            rule="BF-002", path=path, expected="ORC at its beginning and a footer", found=str(error).splitlines()[0],
            cure="restore the file, or roll the action back that wrote it",
        ) from error  # fmt: skip


@implements("BF-002")
def encode_orc(rows: pa.Table, footer: BaseFileFooter) -> bytes:
    """The bytes of an ORC base file."""
    out = io.BytesIO()
    orc.write_table(rows, out, compression="zstd")
    return out.getvalue()
