"""Avro records with unions of several records, which have no Arrow columns: those of the metadata table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.hfile.records import decode_records
from hudi_reference.files.log.block import Block
from hudi_reference.files.log.content import block_schema
from hudi_reference.schema.avro import AvroSchema

#: The record of the metadata table, by its full name.
METADATA_RECORD = "org.apache.hudi.avro.model.HoodieMetadataRecord"


@dataclass(frozen=True)
class Records:
    """Decoded records under a schema. A value of a union of records is a pair: full name of the record, record."""

    schema: AvroSchema
    values: tuple[Mapping[str, Any], ...]

    def __len__(self) -> int:
        return len(self.values)


def hfile_records(block: Block) -> Records:
    """The records of an HFile block. Raises MalformedLogBlock, MalformedBaseFile, MalformedSchema."""
    schema = block_schema(block)
    hfile = hfile_of(block.content, block.path, block.content_offset)
    return Records(schema, tuple(decode_records(hfile, schema, hfile.place, named=True)))


def is_metadata_schema(schema: AvroSchema) -> bool:
    """Whether records of this schema are those of a metadata table."""
    return f"{schema.get('namespace', '')}.{schema['name']}" == METADATA_RECORD
