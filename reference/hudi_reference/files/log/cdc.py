"""Change-capture blocks: the changed records of a write, spec "Log Format > Change Data Capture Block", as deployed (ER-078).

The content is that of an Avro data block. Its schema depends on the supplemental logging mode of the table:

    OP_KEY_ONLY         op, record_key                  both images are looked up in the file slices
    DATA_BEFORE         op, record_key, before          the image after is looked up in the file slices
    DATA_BEFORE_AFTER   op, ts_ms, before, after        the key is in the images

`op` is `i`, `u` or `d`; `ts_ms` is the instant of the write as text; images are rows of the table without its meta columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pyarrow as pa

from hudi_reference.errors import MalformedLogBlock, Misuse
from hudi_reference.files.log.block import Block
from hudi_reference.files.log.content import decode_rows, encode_rows
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema, without_meta_columns

Row = Mapping[str, Any]


class Mode(StrEnum):
    """Values of `hoodie.table.cdc.supplemental.logging.mode`, in lower case in `hoodie.properties` of some releases."""

    OP_KEY_ONLY = "OP_KEY_ONLY"
    DATA_BEFORE = "DATA_BEFORE"
    DATA_BEFORE_AFTER = "DATA_BEFORE_AFTER"


class Operation(StrEnum):
    """The operation on a record, by the stored letter; the text of the specification has INSERT, UPSERT, DELETE."""

    INSERT = "i"
    UPDATE = "u"
    DELETE = "d"


@implements("BLK-033", "BLK-034", "BLK-035", "BLK-036")
@dataclass(frozen=True)
class Change:
    """One change. Parts that the mode does not log are None; an insert has no image before, a delete none after."""

    operation: Operation
    key: str | None = None
    before: Row | None = None
    after: Row | None = None
    instant: str | None = None

    def __post_init__(self) -> None:
        """An insert has no image before it, a delete none after it. Raises Misuse."""
        if (self.operation is Operation.INSERT and self.before is not None) or (
            self.operation is Operation.DELETE and self.after is not None
        ):
            raise Misuse(
                "an image of a record that did not exist", rule="BLK-035", found=f"{self.operation.name} of {self.key}"
            )


_TEXT = {"type": ["null", "string"], "default": None}
#: In this schema the string comes before null.
_KEY_TEXT = {"type": ["string", "null"]}


@implements("BLK-032", "BLK-034", "BLK-035", "BLK-036")
def cdc_schema(mode: Mode, table_schema: AvroSchema) -> AvroSchema:
    """The Avro schema of change records; images have the columns of `table_schema` without its meta columns."""
    if mode is Mode.OP_KEY_ONLY:
        return {
            "type": "record",
            "name": "Record",
            "fields": [{"name": "op", **_KEY_TEXT}, {"name": "record_key", **_KEY_TEXT}],
        }
    row = without_meta_columns(table_schema)
    before = {"name": "before", "type": ["null", row], "default": None}
    fields = [{"name": "op", **_TEXT}, {"name": "record_key", **_TEXT}, before]
    if mode is Mode.DATA_BEFORE_AFTER:
        after = {"name": "after", "type": ["null", _full_name(row)], "default": None}
        fields = [{"name": "op", **_TEXT}, {"name": "ts_ms", **_TEXT}, before, after]
    space = {"namespace": row["namespace"]} if "namespace" in row else {}
    return {"type": "record", "name": "CDC", **space, "fields": fields}


@implements("BLK-031", "BLK-032", "BLK-033", "BLK-034", "BLK-035", "BLK-036")
def encode_changes(changes: Sequence[Change], mode: Mode, table_schema: AvroSchema, instant: str) -> bytes:
    """The content of a change-capture block of the write `instant`. Raises Misuse for a missing or duplicate key."""
    keys = [change.key for change in changes if change.key is not None]
    if len(set(keys)) < len(keys) or (mode is not Mode.DATA_BEFORE_AFTER and len(keys) < len(changes)):
        raise Misuse("a change-capture block has one change for each key", rule="BLK-034", found=str(sorted(keys))[:200])
    schema = cdc_schema(mode, table_schema)
    rows = [
        {
            "op": change.operation.value,
            "record_key": change.key,
            "ts_ms": instant,
            "before": change.before,
            "after": change.after,
        }
        for change in changes
    ]
    return encode_rows(pa.Table.from_pylist(rows, schema=arrow_schema(schema)), schema)


@implements("BLK-031", "BLK-032", "BLK-033", "BLK-034", "BLK-035", "BLK-036")
def decode_changes(block: Block) -> list[Change]:
    """The changes of a change-capture block, in stored order. Raises MalformedLogBlock and what `decode_rows` raises."""
    return [_change(row, block) for row in decode_rows(block).to_pylist()]


def _change(row: Mapping[str, Any], block: Block) -> Change:
    try:
        return Change(Operation(row["op"]), row.get("record_key"), row.get("before"), row.get("after"), row.get("ts_ms"))
    except (KeyError, ValueError, Misuse) as error:
        raise MalformedLogBlock(
            "not a change record", rule="BLK-033", path=block.path, offset=block.offset,
            expected="the operation i without image before, u, or d without image after", found=str(row)[:200],
        ) from error  # fmt: skip


def _full_name(schema: AvroSchema) -> str:
    return f"{schema['namespace']}.{schema['name']}" if "namespace" in schema else str(schema["name"])
