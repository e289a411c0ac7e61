"""Tables with the operation of each row in a column that only the files have, as Flink writes them with `changelog.enabled`."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.stored_blocks import log_files
from hudi_reference import create_table, open_table
from hudi_reference.files.log.block import HeaderKey, encode_block
from hudi_reference.files.log.content import block_schema, decode_rows, encode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.storage import LocalStorage

pytestmark = pytest.mark.needs("read.snapshot", "merge-on-read", "log.avro", "partition.none", "merge.event-time")
FIELD = {"name": "_hoodie_operation", "type": ["null", "string"], "default": None}
#: What happened to each row after the first write, which inserted all of them.
CHANGES = {"a": "D", "b": "U", "c": "-U"}


def store_operations(path: Path, operations: Mapping[str, str]) -> None:
    """Give each row in the only block of a log file the operation of its key, in a column after the meta columns."""
    (block,) = read_log_file(LocalStorage(path.parent), path.name)
    rows, schema, place = decode_rows(block), dict(block_schema(block)), len(META_COLUMNS)
    schema["fields"] = [*schema["fields"][:place], FIELD, *schema["fields"][place:]]
    stored = pa.array([operations[key] for key in rows.column("_hoodie_record_key").to_pylist()], pa.string())
    content = encode_rows(rows.add_column(place, "_hoodie_operation", stored), schema)
    header = {HeaderKey(key): text for key, text in block.header.items()} | {HeaderKey.SCHEMA: json.dumps(schema)}
    path.write_bytes(encode_block(block.kind, header, content))


def write_with_operations(uri: str) -> None:
    """Write a table with the reference, and give those of its rows operations that are changed in a log file."""
    spec = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", False).spec()
    create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, ordering=spec.ordering,
                 table_type=spec.type)  # fmt: skip
    table = open_table(uri)
    table.upsert(as_arrow([row(key, 1, "first") for key in "abcd"]))
    table.upsert(as_arrow([row(key, 2, "second") for key in CHANGES]))
    store_operations(log_files(uri)[0], CHANGES)


@pytest.mark.requirements("MRG-014", "RDR-014")
def test_operations_that_only_the_files_have(engine: Client, new_uri: Callable[[], str]) -> None:
    """MRG-014: a row with the operation D deletes the row of its key, also if the schema in the metadata of the writes lacks
    the column of the operation; so does a row with -U, the image before a change.
    """
    write_with_operations(uri := new_uri())
    expect_values(engine, uri, {"b": "second", "d": "first"})


@pytest.mark.needs("service.log-compaction")
@pytest.mark.requirements("LCP-001", "MRG-014")
def test_a_log_compaction_keeps_deletes_by_operation(engine: Client, new_uri: Callable[[], str]) -> None:
    """LCP-001: the rows of a table are the same after a log compaction of blocks whose rows are deletes by their operation."""
    write_with_operations(uri := new_uri())
    (first,) = log_files(uri)
    open_table(uri).upsert(as_arrow([row("b", 3, "third"), row("d", 3, "third")]))
    (second,) = (path for path in log_files(uri) if path != first)
    store_operations(second, {"b": "U", "d": "U"})
    assert engine.service(uri, "log-compaction", options={"hoodie.log.compaction.blocks.threshold": "2"}) is not None
    expect_values(engine, uri, {"b": "third", "d": "third"})


def expect_values(engine: Client, uri: str, values: Mapping[str, str]) -> None:
    """A query of the table has these values by key."""
    found = engine.read(uri, Query(columns=("id", "value")))
    assert dict(zip(found.column("id").to_pylist(), found.column("value").to_pylist(), strict=True)) == values
