"""Base files of any format, spec "Base Files". The format of a file is that of its extension.

Files of one file group may have different formats, so the base file format of the table is not used to read them.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import pyarrow as pa

from hudi_reference.errors import MalformedBaseFile, UnsupportedFileFormat, missing_data_file
from hudi_reference.files.base.footer import BaseFileFooter, footer_of
from hudi_reference.files.base.hfile import encode_hfile_base, read_hfile_base, read_hfile_footer
from hudi_reference.files.base.orc import encode_orc, read_orc, read_orc_footer
from hudi_reference.files.base.parquet import encode_parquet, read_parquet, read_parquet_footer
from hudi_reference.files.base.written_file import UNKNOWN, WrittenFile
from hudi_reference.files.bloom.bloom import FilterType
from hudi_reference.files.magic import END, HEAD, format_of
from hudi_reference.layout.names import BASE_EXTENSIONS, split_path
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.evolution import with_required_columns
from hudi_reference.storage import Storage

_READ = {"parquet": read_parquet, "orc": read_orc, "hfile": read_hfile_base}
_READ_FOOTER = {"parquet": read_parquet_footer, "orc": read_orc_footer, "hfile": read_hfile_footer}
#: Writes a base file, by extension; Lance files can only be named.
ENCODERS = {"parquet": encode_parquet, "orc": encode_orc, "hfile": encode_hfile_base}
Read = TypeVar("Read")


@implements("BF-010", "BF-011")
def read_base_file(
    storage: Storage,
    path: str,
    columns: Sequence[str] | None = None,
    *,
    threads: bool = False,
    known: WrittenFile = UNKNOWN,
) -> pa.Table:
    """The rows of a base file in file order: those of `columns` that it has, or all. The file is checked against `known`.

    Raises MissingDataFile, MalformedBaseFile, UnsupportedFileFormat.
    """
    rows = _by_extension(storage, path, _READ, columns=columns, threads=threads, known=known)
    try:
        rows.validate(full=True)
    except pa.ArrowInvalid as error:
        raise MalformedBaseFile(
            "a column has invalid values", rule="BF-002", path=path, expected="values of its type, texts in UTF-8",
            found=str(error).splitlines()[0], remedy="restore the file, or roll back the action that wrote it",
        ) from error  # fmt: skip
    return rows


@implements("BF-010", "IDX-004")
def read_footer(storage: Storage, path: str) -> BaseFileFooter:
    """The footer of a base file: range of keys, bloom filter, schema. Raises as `read_base_file` does."""
    return _by_extension(storage, path, _READ_FOOTER)


@implements("BF-002", "BF-010", "IDX-004")
def encode_base_file(
    rows: pa.Table,
    schema: AvroSchema,
    extension: str = "parquet",
    bloom: FilterType | None = FilterType.DYNAMIC_V0,
    *,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """The bytes of a base file. Its footer has the range of record keys and, usually, a bloom filter over them.

    Exactly the columns that are nullable in the schema are nullable in the file: Apache Hudi 1.0.2 compares the two.

    Args:
        rows: the rows, meta columns included.
        schema: their Avro schema.
        extension: the format.
        bloom: the kind of the bloom filter; None for none. Engines that look up keys in footers fail without one.
        settings: settings of the writer by Hudi's names, for the compression of Parquet files.

    Raises:
        InvalidRows: a key that the format cannot store, or a null in a column that is not nullable.
        UnsupportedTableFeature: an unknown compression.
    """
    rows = with_required_columns(rows, schema, "BF-002")
    return ENCODERS[extension](rows, footer_of("", rows, schema, bloom), settings)


@implements("BF-012")
def _by_extension(storage: Storage, path: str, how: Mapping[str, Callable[..., Read]], **options: object) -> Read:
    """The result of the function for the file's extension. Raises UnsupportedFileFormat, MissingDataFile, MalformedBaseFile."""
    extension = split_path(path)[1].rpartition(".")[2]
    if extension not in how:
        raise UnsupportedFileFormat("a base file of another format", rule="BF-010", path=path, expected=" or ".join(how),
                                    found=extension)  # fmt: skip
    try:
        return how[extension](storage, path, **options)
    except FileNotFoundError as error:
        raise missing_data_file(path) from error
    except MalformedBaseFile as error:
        found = _format_of(storage, path)
        if found == extension or found not in BASE_EXTENSIONS:
            raise
        raise MalformedBaseFile(
            "the content is of another format than the extension says", rule="BF-010", path=path,
            expected=BASE_EXTENSIONS[extension], found=BASE_EXTENSIONS[found],
            remedy="give the file the extension of its format",
        ) from error  # fmt: skip


def _format_of(storage: Storage, path: str) -> str | None:
    """The format of the content; None if it is unknown."""
    info = storage.head(path)
    return None if info is None else format_of(storage.get(path, 0, HEAD), storage.get(path, max(0, info.size - END), END))
