"""Avro records that are no columns: those of the metadata table, with unions of a dozen wrappers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hudi_reference.files.hfile.cell import Entry, text_of
from hudi_reference.files.hfile.place import Place
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.hfile.records import KEY_FIELD
from hudi_reference.files.log.block import Block, HeaderKey
from hudi_reference.schema.avro import AvroSchema, parse_schema
from hudi_reference.schema.datum import DAMAGE, codec_schema, decode_datum

#: The record of the metadata table, by its full name.
METADATA_RECORD = "org.apache.hudi.avro.model.HoodieMetadataRecord"


@dataclass(frozen=True)
class Records:
    """Decoded records under a schema; where a union has several records, a value is a pair (record's full name, record)."""

    schema: AvroSchema
    values: tuple[Mapping[str, Any], ...]

    def __len__(self) -> int:
        return len(self.values)


def hfile_records(block: Block) -> Records:
    """The records of an HFile block. Raises MalformedBaseFile, MalformedSchema."""
    schema = parse_schema(block.header[HeaderKey.SCHEMA], block.path)
    hfile = hfile_of(block.content, block.path, block.content_offset)
    return Records(schema, tuple(named_records(hfile, schema, hfile.place)))


def named_records(entries: Iterable[Entry], schema: AvroSchema, place: Place) -> Iterator[dict[str, Any]]:
    """The values of HFile entries as records that name the branches of their unions. Raises MalformedBaseFile."""
    parsed = codec_schema(schema)
    for entry in entries:
        try:
            record: dict[str, Any] = decode_datum(
                entry.value, parsed, return_record_name=True, return_record_name_override=True
            )
            if record.get(KEY_FIELD) == "":
                record[KEY_FIELD] = entry.row.decode()
        except DAMAGE as error:
            found = f"key {text_of(entry.row)}: {type(error).__name__}: {error}"
            raise place.malformed("a value is no record of the schema", 0, found) from error
        yield record


def is_metadata_schema(schema: AvroSchema) -> bool:
    """Whether records of this schema are those of a metadata table."""
    return f"{schema.get('namespace', '')}.{schema['name']}" == METADATA_RECORD
