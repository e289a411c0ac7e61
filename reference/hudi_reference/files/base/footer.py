"""The footer of base files in every format: least and greatest record key, bloom filter over the keys, Avro schema."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.files.bloom.bloom import BloomFilter, FilterType, decode_filter, make_file_filter
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema

RECORD_KEY = "_hoodie_record_key"

#: Keys of the footers of Parquet and ORC files. HFiles have other names: see `base.hfile`.
MIN_KEY = "hoodie_min_record_key"
MAX_KEY = "hoodie_max_record_key"
FILTER = "org.apache.hudi.bloomfilter"
#: Absent for a filter of fixed size.
FILTER_TYPE = "hoodie_bloom_filter_type_code"


@dataclass(frozen=True)
class BaseFileFooter:
    """The footer of the base file at `path`; None for entries that it does not have."""

    path: str
    min_key: str | None = None
    max_key: str | None = None
    type_code: str | None = None
    filter_text: str | None = None
    #: Avro, as JSON.
    schema: str | None = None

    @implements("IDX-004", "IDX-005")
    def bloom_filter(self) -> BloomFilter | None:
        """The filter over the file's keys. Raises MalformedBloomFilter, UnsupportedBloomFilter."""
        if self.filter_text is None:
            return None
        return decode_filter(self.type_code or FilterType.SIMPLE, self.filter_text, self.path)


@implements("IDX-004")
def footer_of(path: str, rows: pa.Table, schema: AvroSchema, bloom: FilterType | None) -> BaseFileFooter:
    """The footer of a new base file with these rows; without keys if the table has no meta columns.

    Raises InvalidRows for an empty record key.
    """
    column = rows.column(RECORD_KEY)
    text = json.dumps(schema, separators=(",", ":"))
    if column.null_count:
        return BaseFileFooter(path, schema=text)
    least, greatest = (end.as_py() for end in pc.min_max(column).values())
    if bloom is None:
        return BaseFileFooter(path, least, greatest, schema=text)
    keys = pa.concat_arrays(column.chunks or [pa.array([], pa.string())])
    # ER-076: each base file has a bloom filter; deployed writers fail without one.
    return BaseFileFooter(path, least, greatest, bloom, make_file_filter(keys, bloom).encode(), text)


def key_values(footer: BaseFileFooter) -> dict[str, str]:
    """The entries of a Parquet or ORC footer, without its schema."""
    # ER-075: Parquet and ORC footers omit the kind of a filter of fixed size.
    type_code = None if footer.type_code == FilterType.SIMPLE else footer.type_code
    entries = {MIN_KEY: footer.min_key, MAX_KEY: footer.max_key, FILTER: footer.filter_text, FILTER_TYPE: type_code}
    return {key: value for key, value in entries.items() if value is not None}


def from_key_values(path: str, entries: Mapping[bytes, bytes], schema: str) -> BaseFileFooter:
    """The footer of a Parquet or ORC file; `schema` is the key of its Avro schema."""

    def text(key: str) -> str | None:
        value = entries.get(key.encode())
        return None if value is None else value.decode("utf-8", "backslashreplace")

    return BaseFileFooter(path, text(MIN_KEY), text(MAX_KEY), text(FILTER_TYPE), text(FILTER), text(schema))
