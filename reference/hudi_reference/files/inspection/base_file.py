"""The contents of a Parquet or ORC base file: rows, entries of its footer, row groups or stripes."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_reference.errors import missing_data_file
from hudi_reference.files.base.footer import FILTER_TYPE, MAX_KEY, MIN_KEY
from hudi_reference.files.base.orc import opened_orc, read_orc
from hudi_reference.files.base.parquet import opened_parquet, read_parquet
from hudi_reference.files.base.written_file import UNKNOWN
from hudi_reference.files.inspection.file_type import KnownFile

#: The entries of a footer that Apache Hudi writes, without the filter itself.
FOOTER_KEYS = (MIN_KEY, MAX_KEY, FILTER_TYPE)


@dataclass(frozen=True)
class Part:
    """A row group of Parquet or a stripe of ORC. `size` in bytes, uncompressed; None if the format does not have it."""

    rows: int
    size: int | None


@dataclass(frozen=True)
class InspectedBase:
    """A base file without its rows: `footer` as text by key, `compression` by the name in the library."""

    file: KnownFile
    schema: pa.Schema
    footer: Mapping[str, str]
    writer: str
    compression: str
    parts: tuple[Part, ...]

    @property
    def row_count(self) -> int:
        """The number of rows by the footer."""
        return sum(part.rows for part in self.parts)

    def rows(self) -> pa.Table:
        """All rows in stored order, independent of the file's name. Raises MissingDataFile, MalformedBaseFile."""
        read = read_parquet if self.file.format == "parquet" else read_orc
        try:
            return read(self.file.storage, self.file.path, None, threads=False, known=UNKNOWN)
        except FileNotFoundError as error:
            raise missing_data_file(self.file.path) from error


def inspect_base(file: KnownFile) -> InspectedBase:
    """The footer of a base file. Raises MissingDataFile, MalformedBaseFile."""
    try:
        return _parquet(file) if file.format == "parquet" else _orc(file)
    except FileNotFoundError as error:
        raise missing_data_file(file.path) from error


def _parquet(file: KnownFile) -> InspectedBase:
    with opened_parquet(file.storage, file.path) as found:
        footer = found.metadata
        _check_columns(found)
        groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
        codecs = sorted({group.column(i).compression for group in groups for i in range(group.num_columns)})
        return InspectedBase(
            file,
            found.schema_arrow,
            _texts(footer.metadata),
            footer.created_by,
            ", ".join(codecs),
            tuple(Part(group.num_rows, group.total_byte_size) for group in groups),
        )


def _check_columns(found: pq.ParquetFile) -> None:
    """Raise an error for a footer with impossible columns, on which the library would crash if they were not read first."""
    for group in range(found.metadata.num_row_groups):
        next(found.iter_batches(batch_size=1, row_groups=[group]), None)


def _orc(file: KnownFile) -> InspectedBase:
    with opened_orc(file.storage, file.path) as (found, _):
        first = [field.name for field in found.schema if not pa.types.is_nested(field.type)][:1]
        parts = tuple(Part(found.read_stripe(i, columns=first).num_rows, None) for i in range(found.nstripes))
        writer = f"{found.writer} {found.software_version}".strip()
        return InspectedBase(file, found.schema, _texts(found.metadata), writer, str(found.compression), parts)


def _texts(footer: Mapping[bytes, bytes] | None) -> dict[str, str]:
    return {_text(key): _text(value) for key, value in (footer or {}).items()}


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")
