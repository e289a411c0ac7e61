"""What a Parquet or ORC base file holds: rows, the entries of its footer, and how it is cut into parts."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from hudi_reference.errors import MalformedBaseFile
from hudi_reference.files.inspection.kind import WORDS, KnownFile
from hudi_reference.files.missing import missing
from hudi_reference.files.orc import read_orc
from hudi_reference.files.parquet import read_parquet

BLOOM_FILTER = "org.apache.hudi.bloomfilter"
BLOOM_TYPE = "hoodie_bloom_filter_type_code"
MIN_KEY, MAX_KEY = "hoodie_min_record_key", "hoodie_max_record_key"
#: The entries of a footer that are Apache Hudi's, without the filter itself.
FOOTER_KEYS = (MIN_KEY, MAX_KEY, BLOOM_TYPE)


@dataclass(frozen=True)
class Part:
    """A row group of Parquet or a stripe of ORC. `size` in bytes, uncompressed; None where the format does not say."""

    rows: int
    size: int | None


@dataclass(frozen=True)
class InspectedBase:
    """A base file without its rows: `footer` as text by key, `compression` as the library names it."""

    file: KnownFile
    schema: pa.Schema
    footer: Mapping[str, str]
    writer: str
    compression: str
    parts: tuple[Part, ...]

    @property
    def row_count(self) -> int:
        """How many rows the footer promises."""
        return sum(part.rows for part in self.parts)

    def rows(self) -> pa.Table:
        """All rows in stored order, whatever the file's name says. Raises MissingDataFile, MalformedBaseFile."""
        read = read_parquet if self.file.format == "parquet" else read_orc
        try:
            return read(self.file.storage, self.file.path, None, threads=False)
        except FileNotFoundError as error:
            raise missing(self.file.path) from error


def inspect_base(file: KnownFile) -> InspectedBase:
    """The footer of a base file. Raises MissingDataFile, MalformedBaseFile."""
    try:
        with file.storage.open(file.path) as source:
            return _parquet(file, source) if file.format == "parquet" else _orc(file, source)
    except FileNotFoundError as error:
        raise missing(file.path) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _malformed(file, error) from error


def _parquet(file: KnownFile, source: pa.NativeFile) -> InspectedBase:
    found = pq.ParquetFile(source)
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
    """Raise for a footer whose columns cannot be: asked for such a column, the library ends the process; read, it complains."""
    for group in range(found.metadata.num_row_groups):
        next(found.iter_batches(batch_size=1, row_groups=[group]), None)


def _orc(file: KnownFile, source: pa.NativeFile) -> InspectedBase:
    found = orc.ORCFile(source)
    first = found.schema.names[:1]
    parts = tuple(Part(found.read_stripe(i, columns=first).num_rows, None) for i in range(found.nstripes))
    writer = f"{found.writer} {found.software_version}".strip()
    return InspectedBase(file, found.schema, _texts(found.metadata), writer, str(found.compression), parts)


def _texts(footer: Mapping[bytes, bytes] | None) -> dict[str, str]:
    return {_text(key): _text(value) for key, value in (footer or {}).items()}


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


def _malformed(file: KnownFile, error: Exception) -> MalformedBaseFile:
    magics = {"parquet": "PAR1 at both ends and a footer", "orc": "ORC at both ends and a footer"}
    return MalformedBaseFile(
        f"not a whole {WORDS[file.format].partition(' ')[2]}",
        rule="BF-002", path=file.path, expected=magics[file.format], found=str(error).splitlines()[0],
        cure="restore the file, or roll the action back that wrote it",
    )  # fmt: skip
