"""Parquet base files, spec "Base Files"."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from hudi_reference.errors import MalformedBaseFile, UnsupportedTableFeature
from hudi_reference.fast_paths import FastPath, use_fast
from hudi_reference.files.base.fast.dictionary_columns import DECODING, read_by_dictionary
from hudi_reference.files.base.footer import BaseFileFooter, from_key_values, key_values
from hudi_reference.files.base.julian_dates import with_gregorian_dates
from hudi_reference.files.base.written_file import StoredRows, WrittenFile
from hudi_reference.limits import COLUMNS, FILE_VALUES
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.storage.system_faults import check_fault

#: The setting for the compression of base files, and the default, which takes a tenth of the time of gzip.
CODEC_KEY, DEFAULT_CODEC = "hoodie.parquet.compression.codec", "zstd"
#: The names in the library, and the level of deployed writers if it is not the library's default.
_CODECS: Mapping[str, tuple[str, int | None]] = {
    "zstd": ("zstd", None),
    "gzip": ("gzip", 6),
    "snappy": ("snappy", None),
    "uncompressed": ("none", None),
}
#: In files of fewer rows than this every column has a dictionary; in larger ones only columns with repeated values.
_FEW_ROWS = 10_000
_SCHEMA = "parquet.avro.schema"


@implements("BF-002", "TYP-014")
def read_parquet(storage: Storage, path: str, columns: Sequence[str] | None, *, threads: bool, known: WrittenFile) -> pa.Table:
    """The rows of a Parquet file in file order; raises FileNotFoundError, MalformedBaseFile."""
    with _reading(storage, path) as source:
        file = parquet_file(source)
        known.check_size(path, source.size())
        known.check_rows(path, file.metadata.num_rows)
        found, expected = rows_of_row_groups(file.metadata), file.metadata.num_rows
        if found != expected:
            raise MalformedBaseFile(
                "the row groups in the footer have another number of rows than the file", rule="BF-002", path=path,
                expected=f"{expected} rows", found=f"{found} rows", remedy="restore the file from another copy of the table",
            )  # fmt: skip
        check_parquet_size(file.metadata, columns, path)
        columns_of_file = file.schema_arrow
        known.check_columns(path, columns_of_file)
        stored = columns_of_file.names
        rows = with_gregorian_dates(_rows(source, file, stored, columns, threads=threads), file.metadata, path)
        known.check_content(path, _content(file, stored, rows))
        return rows


def rows_of_row_groups(footer: pq.FileMetaData) -> int:
    """The number of rows that the library reads; the file is damaged if its footer counts others."""
    return sum(footer.row_group(number).num_rows for number in range(footer.num_row_groups))


def read_parquet_footer(storage: Storage, path: str) -> BaseFileFooter:
    """The footer of a Parquet file. Raises FileNotFoundError, MalformedBaseFile."""
    with parquet_footer(storage, path) as footer:
        return from_key_values(path, footer.metadata or {}, _SCHEMA)


def parquet_file(source: pa.NativeFile) -> pq.ParquetFile:
    """Opens a source.

    Column chunks of bytes in memory are not read into buffers first: that takes a third of the time of a small file.
    """
    return pq.ParquetFile(source, pre_buffer=not isinstance(source, pa.BufferReader), **DECODING)


def check_parquet_size(footer: pq.FileMetaData, columns: Sequence[str] | None, path: str, offset: int | None = None) -> None:
    """Check how many values a file has in these columns (None: in all), before they are decoded. Raises LimitExceeded.

    Any number of equal values is stored in a few bytes.
    """
    COLUMNS.check(footer.num_columns, path, offset)
    if footer.num_rows * footer.num_columns > FILE_VALUES.value:
        names = (footer.schema.column(number).path.partition(".")[0] for number in range(footer.num_columns))
        FILE_VALUES.check(footer.num_rows * sum(columns is None or name in columns for name in names), path, offset)


@contextmanager
def opened_parquet(storage: Storage, path: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file. Raises FileNotFoundError, MalformedBaseFile, also for errors while it is read."""
    with _reading(storage, path) as source:
        yield parquet_file(source)


@contextmanager
def parquet_footer(storage: Storage, path: str) -> Iterator[pq.FileMetaData]:
    """The footer alone, which takes half the time of `opened_parquet`. Raises FileNotFoundError, MalformedBaseFile."""
    with _reading(storage, path) as source:
        yield pq.read_metadata(source)


def read_rows(source: pa.NativeFile, columns: Sequence[str] | None, *, threads: bool = False) -> pa.Table:
    """The rows in file order, with those of `columns` that the file has, or with all columns. Raises what pyarrow raises."""
    file = parquet_file(source)
    return _rows(source, file, file.schema_arrow.names, columns, threads=threads)


def _content(file: pq.ParquetFile, stored: Sequence[str], rows: pa.Table) -> StoredRows:
    """The rows of the file, which has the columns `stored`, for checks; `rows` are those that were read.

    The bounds in the footer would do, but pyarrow ends the process if a footer is damaged.
    """

    def first(names: Sequence[str]) -> pa.Table | pa.RecordBatch | None:
        has_row = rows.num_rows and set(names) <= set(rows.column_names)
        return rows if has_row else next(file.iter_batches(1, columns=list(names), use_threads=False), None)

    return StoredRows(stored, file.metadata.num_rows, first, lambda name: file.read([name]).column(0))


def _rows(
    source: pa.NativeFile, file: pq.ParquetFile, stored: Sequence[str], columns: Sequence[str] | None, *, threads: bool
) -> pa.Table:
    wanted = stored if columns is None else [name for name in columns if name in stored]
    if use_fast(FastPath.PARQUET_ROWS, file.metadata.num_rows):
        return read_by_dictionary(source, file, wanted, threads=threads)
    # Without names the library need not look for their places.
    return file.read(None if wanted == stored else wanted, use_threads=threads)


@contextmanager
def _reading(storage: Storage, path: str) -> Iterator[pa.NativeFile]:
    try:
        with storage.open(path) as source:
            yield source
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        check_fault(path, error)
        raise MalformedBaseFile(
            "not a whole Parquet file",
            rule="BF-002", path=path, expected="PAR1 at both ends and a footer", found=str(error).splitlines()[0],
            remedy="restore the file, or roll back the action that wrote it",
        ) from error  # fmt: skip


@implements("BF-002", "TYP-003", "LAY-007")
def encode_parquet(rows: pa.Table, footer: BaseFileFooter, settings: Mapping[str, str]) -> bytes:
    """The bytes of a Parquet base file; `settings` are those of a writer by Hudi's names."""
    entries = {_SCHEMA: footer.schema, "writer.model.name": "avro", **key_values(footer)}
    return parquet_of(rows, {key: value for key, value in entries.items() if value is not None}, codec_of(settings))


def codec_of(settings: Mapping[str, str]) -> str:
    """The compression of base files that a writer's settings name. Raises UnsupportedTableFeature."""
    codec = settings.get(CODEC_KEY, DEFAULT_CODEC).lower()
    if codec not in _CODECS:
        raise UnsupportedTableFeature("an unknown compression of Parquet files", rule="BF-002", path=CODEC_KEY,
                                      expected=", ".join(_CODECS), found=codec)  # fmt: skip
    return codec


def parquet_of(rows: pa.Table, entries: Mapping[str, str], codec: str = DEFAULT_CODEC) -> bytes:
    """The bytes of a Parquet file with these entries in its footer, without an Arrow schema: readers use Parquet's types.

    In a large file only columns with few distinct values get a dictionary, because one that becomes too large is dropped again.
    Columns with a NaN have no statistics, as those of deployed writers: the bounds leave it out, and Spark, for which it is the
    greatest number, would skip its row.
    """
    out, (compression, level) = io.BytesIO(), _CODECS[codec]
    head, repeated = rows.slice(0, _FEW_ROWS), list[str]()
    for field in rows.schema if rows.num_rows >= _FEW_ROWS else ():
        if not pt.is_nested(field.type) and pc.count_distinct(head.column(field.name)).as_py() < _FEW_ROWS // 2:
            repeated.append(field.name)
    leaves = [leaf for name in rows.column_names for leaf in _leaves(name, rows.column(name))]
    bounded = [name for name, values in leaves if not _has_nan(values)]
    with pq.ParquetWriter(
        out, rows.schema, compression=compression, compression_level=level,
        use_dictionary=rows.num_rows < _FEW_ROWS or repeated,
        write_statistics=len(bounded) == len(leaves) or bounded,
        store_schema=False, version="1.0",
    ) as writer:  # fmt: skip
        writer.write_table(rows)
        writer.add_key_value_metadata(entries)
    return out.getvalue()


def _leaves(name: str, values: pa.ChunkedArray) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """The path and the values of a column, or of the fields of a struct; nothing of lists and maps, which no filter skips."""
    if pt.is_struct(values.type):
        for field, inner in zip(values.type, values.flatten(), strict=True):
            yield from _leaves(f"{name}.{field.name}", inner)
    elif not pt.is_nested(values.type):
        yield name, values


def _has_nan(values: pa.ChunkedArray) -> bool:
    return pt.is_floating(values.type) and bool(pc.any(pc.is_nan(values)).as_py())
