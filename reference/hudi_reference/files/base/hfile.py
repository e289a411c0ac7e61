"""HFile base files, spec "Base Files": rows as Avro records by their record keys, with the schema in the file info."""

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa

from hudi_reference.errors import InvalidRows
from hudi_reference.files.base.footer import RECORD_KEY, BaseFileFooter
from hudi_reference.files.base.written_file import StoredRows, WrittenFile
from hudi_reference.files.hfile.reader import HFile, hfile_of, open_hfile
from hudi_reference.files.hfile.records import decode_records, encode_records
from hudi_reference.files.hfile.writer import base_file_info, encode_hfile
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import arrow_schema, parse_schema
from hudi_reference.schema.avro_codec import DAMAGE, from_avro, to_avro
from hudi_reference.storage import Storage

#: Keys of the file info, and the name of a meta block, for the entries of `BaseFileFooter`.
_SCHEMA, _MIN_KEY, _MAX_KEY, _FILTER_TYPE, _FILTER = (
    "schema",
    "minRecordKey",
    "maxRecordKey",
    "bloomFilterTypeCode",
    "bloomFilter",
)


@implements("BF-002", "BLK-024")
def read_hfile_base(
    storage: Storage, path: str, columns: Sequence[str] | None, *, threads: bool, known: WrittenFile
) -> pa.Table:
    """The rows of an HFile in the order of their keys; raises FileNotFoundError, MalformedBaseFile, UnsupportedFileFormat."""
    data = storage.get(path)
    hfile = hfile_of(data, path)
    known.check_size(path, len(data))
    at, schema = hfile.trailer.file_info_offset, parse_schema(hfile.schema(), path)
    stored = arrow_schema(schema, path)
    known.check_columns(path, stored)
    try:
        rows = from_avro(list(decode_records(hfile, schema, hfile.place)), stored)
    except (*DAMAGE, pa.ArrowException) as error:
        raise hfile.place.malformed("the values are not rows of the schema", at, f"{type(error).__name__}: {error}") from error
    known.check_rows(path, rows.num_rows)
    known.check_content(path, StoredRows(rows.column_names, rows.num_rows, rows.select, rows.column))
    return rows if columns is None else rows.select([name for name in columns if name in rows.column_names])


def read_hfile_footer(storage: Storage, path: str) -> BaseFileFooter:
    """The footer of an HFile. Raises MissingDataFile, MalformedBaseFile, UnsupportedFileFormat."""
    hfile = open_hfile(storage, path)
    bloom = hfile.meta(_FILTER)
    least, greatest, kind, schema = (_text(hfile, key) for key in (_MIN_KEY, _MAX_KEY, _FILTER_TYPE, _SCHEMA))
    text = None if bloom is None else bloom.decode("utf-8", "backslashreplace")
    return BaseFileFooter(path, least or None, greatest or None, kind, text, schema)


def _text(hfile: HFile, key: str) -> str | None:
    value = hfile.info.get(key)
    return None if value is None else value.decode("utf-8", "backslashreplace")


@implements("BF-002", "BLK-024", "BLK-025")
def encode_hfile_base(rows: pa.Table, footer: BaseFileFooter, _: Mapping[str, str]) -> bytes:
    """The bytes of an HFile base file: the rows sorted by their keys.

    Raises InvalidRows for a missing, duplicate or too long key, and for a row that a reader would not return as it is.
    """
    keys = rows.column(RECORD_KEY)
    if keys.null_count:
        raise InvalidRows("an HFile cannot store rows without a key", rule="BLK-024", expected=f"a value in {RECORD_KEY}")
    schema = json.loads(footer.schema or "null")
    entries = encode_records(zip(keys.to_pylist(), to_avro(rows), strict=True), schema)
    info = base_file_info(entries, footer.type_code) | {_SCHEMA: (footer.schema or "").encode()}
    metas = {} if footer.filter_text is None else {_FILTER: footer.filter_text.encode()}
    return encode_hfile(entries, info, metas)
