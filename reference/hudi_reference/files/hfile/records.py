"""Avro records as the values of an HFile.

The key is the record key in UTF-8, not an Avro string (ER-042). A field named `key` is emptied before a record is stored,
because it equals the key of the entry, and the reader restores it. Apache Hudi does this in the metadata table, where that
field is the record key. It also does it in every other table that has a column of this name, which loses the values of the
column.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from hudi_reference.errors import InvalidRows
from hudi_reference.files.hfile.cell import Entry, text_of
from hudi_reference.files.hfile.varint import Place
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema
from hudi_reference.schema.avro_codec import DAMAGE, codec_schema, decode_datum, encode_datum

#: The field that is emptied; no other one, whatever the table's record key is.
KEY_FIELD = "key"


@implements("BLK-024")
def decode_records(
    entries: Iterable[Entry], schema: AvroSchema, place: Place, *, named: bool = False
) -> Iterator[dict[str, Any]]:
    """The records that are the values; `named` as in `decode_datum`. Raises MalformedBaseFile."""
    parsed = codec_schema(schema)
    for entry in entries:
        try:
            record: dict[str, Any] = decode_datum(entry.value, parsed, named=named)
            if record.get(KEY_FIELD) == "":
                record[KEY_FIELD] = entry.row.decode()
        except DAMAGE as error:
            found = f"key {text_of(entry.row)}: {type(error).__name__}: {error}"
            raise place.malformed("a value is not a record of the schema", 0, found) from error
        yield record


@implements("BLK-024", "BLK-025")
def encode_records(records: Iterable[tuple[str, dict[str, Any]]], schema: AvroSchema) -> list[Entry]:
    """Records with their keys as the entries of an HFile, in its order.

    Raises InvalidRows for a record that a reader would not return as it is.
    """
    parsed = codec_schema(schema)
    return sorted(Entry(key.encode(), encode_datum(_without_key(key, record), parsed)) for key, record in records)


def _without_key(key: str, record: dict[str, Any]) -> dict[str, Any]:
    if record.get(KEY_FIELD) == key:  # ER-258: the Java client of 1.2.0 reads the record key, whatever is stored
        return {**record, KEY_FIELD: ""}
    if record.get(KEY_FIELD) == "":
        message = f"an empty text in the field {KEY_FIELD}, which stands for the record key in an HFile"
        raise InvalidRows(message, rule="BLK-024", found=f"record key {key!r}", remedy="write Avro or Parquet blocks")
    return record
