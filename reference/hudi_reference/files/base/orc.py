"""ORC base files, spec "Base Files"."""

import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.types as pt
from pyarrow import orc

from hudi_reference.errors import MalformedBaseFile, UnsupportedFileFormat
from hudi_reference.files.base.footer import BaseFileFooter, from_key_values, key_values
from hudi_reference.files.base.orc_footer import BLOCK_SIZE, read_postscript, values_of, with_entries
from hudi_reference.files.base.orc_process import memory_is_bounded, read_in_process
from hudi_reference.files.base.orc_zones import UTC, has_clock_times, zones_of
from hudi_reference.files.base.written_file import StoredRows, WrittenFile
from hudi_reference.limits import COLUMNS, FILE_VALUES
from hudi_reference.requirement import implements
from hudi_reference.schema.evolution import conform
from hudi_reference.storage import Storage
from hudi_reference.storage.system_faults import check_fault

_SCHEMA = "orc.avro.schema"


@implements("BF-002", "TYP-014")
def read_orc(storage: Storage, path: str, columns: Sequence[str] | None, *, threads: bool, known: WrittenFile) -> pa.Table:
    """The rows of an ORC file in file order; raises FileNotFoundError, MalformedBaseFile."""
    with opened_orc(storage, path) as (file, source):
        known.check_size(path, source.size())
        known.check_rows(path, file.nrows)
        known.check_columns(path, file.schema)
        present = file.schema.names
        wanted = present if columns is None else [name for name in columns if name in present]
        if any(has_clock_times(file.schema.field(name).type) for name in wanted):
            _check_zone(source, path)
        COLUMNS.check(len(present), path)
        has_lists = any(_has_lists(file.schema.field(name).type) for name in wanted)
        FILE_VALUES.check(max(file.nrows * len(wanted), values_of(source) if has_lists else 0), path)
        known.check_content(path, _content(file, source, path))
        return _rows(file, source, path, wanted)


def _content(file: orc.ORCFile, source: pa.NativeFile, path: str) -> StoredRows:
    """The rows of the file for checks."""
    return StoredRows(
        file.schema.names,
        file.nrows,
        first=lambda names: _rows(file, source, path, list(names), stripe=0),
        column=lambda name: _rows(file, source, path, [name]).column(0),
    )


def _rows(file: orc.ORCFile, source: pa.NativeFile, path: str, columns: list[str], stripe: int | None = None) -> pa.Table:
    """The columns of all rows, or at least of those of one stripe."""
    if memory_is_bounded() and any(_has_lists(file.schema.field(name).type) for name in columns):
        source.seek(0)
        return read_in_process(source.read(), columns, path).select(columns)
    return (file.read(columns=columns) if stripe is None else file.read_stripe(stripe, columns=columns)).select(columns)


def _has_lists(kind: pa.DataType) -> bool:
    """Whether a row may have any number of values of a type. The ORC library ends the process if their memory is used up."""
    return pt.is_list(kind) or pt.is_map(kind) or (pt.is_struct(kind) and any(_has_lists(field.type) for field in kind))


def _check_zone(source: pa.NativeFile, path: str) -> None:
    """Refuse timestamps whose time zone is not UTC, which would be read with an offset of some hours."""
    other = zones_of(source) - UTC
    if other:
        raise UnsupportedFileFormat(
            "timestamps in ORC from a writer whose time zone is not UTC", rule="BF-002", path=path, expected="UTC",
            found=", ".join(sorted(other)), remedy="read the other columns, or rewrite the file with a writer in UTC",
        )  # fmt: skip


def read_orc_footer(storage: Storage, path: str) -> BaseFileFooter:
    """The footer of an ORC file. Raises FileNotFoundError, MalformedBaseFile."""
    with opened_orc(storage, path) as (file, _):
        return from_key_values(path, dict(file.metadata or {}), _SCHEMA)


@contextmanager
def opened_orc(storage: Storage, path: str) -> Iterator[tuple[orc.ORCFile, pa.NativeFile]]:
    """An ORC file and its bytes. Raises FileNotFoundError, MalformedBaseFile, also for errors while it is read."""
    try:
        with storage.open(path) as source:
            read_postscript(source)
            yield orc.ORCFile(source), source
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError, zlib.error) as error:  # KeyError: a column that occurs twice
        check_fault(path, error)
        raise MalformedBaseFile(
            "not a whole ORC file",
            rule="BF-002", path=path, expected="ORC at its beginning and a footer", found=(str(error).splitlines() or ["?"])[0],
            remedy="restore the file, or roll back the action that wrote it",
        ) from error  # fmt: skip


@implements("BF-002", "TYP-003")
def encode_orc(rows: pa.Table, footer: BaseFileFooter, _: Mapping[str, str]) -> bytes:
    """The bytes of an ORC base file."""
    entries = {_SCHEMA: footer.schema, **key_values(footer)}
    out = io.BytesIO()
    stored = pa.schema([pa.field(field.name, _stored(field.type)) for field in rows.schema])
    orc.write_table(conform(rows, stored, footer.path), out, compression="zstd", compression_block_size=BLOCK_SIZE)
    return with_entries(out.getvalue(), {key: value for key, value in entries.items() if value is not None})


def _stored(kind: pa.DataType) -> pa.DataType:
    """The type of a stored column. Timestamps are stored in UTC without a zone, like those of deployed writers."""
    if pt.is_struct(kind):
        return pa.struct([pa.field(field.name, _stored(field.type)) for field in kind])
    if pt.is_map(kind):
        return pa.map_(kind.key_type, _stored(kind.item_type))
    if pt.is_list(kind):
        return pa.list_(pa.field("element", _stored(kind.value_type)))
    if pt.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    if pt.is_time(kind):  # ORC has no such type, so the number is stored
        return pa.int32() if pt.is_time32(kind) else pa.int64()
    return pa.binary() if pt.is_fixed_size_binary(kind) else kind
