"""Columns that have statistics since a later write: the files of earlier writes have no statistics of them.

The statistics of a partition are a reason to leave out all of its files. Bounds of the later files alone exclude rows of the
earlier ones.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import SCHEMA, Program, as_arrow, row
from hudi_conformance.suite.support.tables.metadata_tables import PREFIX, values_where
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import open_table
from hudi_reference.metadata.records import PartitionStats
from hudi_reference.metadata.table import MetadataTable

NewUri = Callable[[], str]
STATISTICS: Mapping[str, str] = {
    f"{PREFIX}enable": "true", f"{PREFIX}index.column.stats.enable": "true", f"{PREFIX}index.partition.stats.enable": "true",
}  # fmt: skip
LIST = f"{PREFIX}index.column.stats.column.list"
WRITES = pytest.mark.needs(
    "create", "write.upsert", "write.metadata-table", "read.snapshot", "read.projection", "read.filter", "merge-on-read",
    "log.avro", "merge.event-time", "partition.plain",
)  # fmt: skip
SPEC = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec()
FIRST = as_arrow([row("a", 1, "low"), row("b", 1, "mid"), row("c", 1, "low")])
LATER = as_arrow([row("b", 2, "high")])


def expect_each_row(engine: Client, uri: str) -> None:
    """A filter on each value of the column has its rows."""
    for value, keys in (("low", ["a", "c"]), ("mid", []), ("high", ["b"])):
        assert values_where(engine, uri, ("value", "=", value)) == keys, f"value = {value}"


@WRITES
@pytest.mark.requirements("MDT-010")
def test_a_writer_lists_a_further_column(engine: Client, new_uri: NewUri) -> None:
    """MDT-010: a writer lists a column of which the files before it have no statistics. A filter on the column finds the rows
    of these files (ER-286).
    """
    uri = new_uri()
    engine.create(uri, SPEC)
    engine.write(uri, "upsert", FIRST, options={**STATISTICS, LIST: "ts"})
    engine.write(uri, "upsert", LATER, options={**STATISTICS, LIST: "ts,value"})
    expect_each_row(engine, uri)


@WRITES
@pytest.mark.requirements("MDT-010")
def test_a_column_was_an_enumeration(engine: Client, new_uri: NewUri) -> None:
    """MDT-010: an enumeration has no statistics. A writer for which the column is a text adds those of its own files. A filter
    on the column finds the rows of the earlier files (ER-286).
    """
    uri, enumeration = new_uri(), {"type": "enum", "name": "level", "symbols": ["low", "mid", "high"]}
    fields = [{**one, "type": ["null", enumeration]} if one["name"] == "value" else one for one in SCHEMA["fields"]]
    with connect("reference") as writer:
        writer.create(uri, replace(SPEC, schema={**SCHEMA, "fields": fields}))
        writer.write(uri, "upsert", FIRST, options=STATISTICS)
    engine.write(uri, "upsert", LATER, options=STATISTICS)
    expect_each_row(engine, uri)


@WRITES
@pytest.mark.requirements("MDT-010")
@pytest.mark.leaves_damage("an entry of statistics is missing")
def test_bounds_of_a_partition_cover_files_without_entries(engine: Client, new_uri: NewUri) -> None:
    """MDT-010: another writer has added a column to the definition of the statistics, and no entries of files before it. A
    later write stores bounds of the partition that cover these files, or none of the column (ER-286).
    """
    uri = new_uri()
    with connect("reference") as writer:
        writer.create(uri, SPEC)
        writer.write(uri, "upsert", FIRST, options={**STATISTICS, LIST: "ts"})
    path = table_folder(uri) / ".hoodie" / ".index_defs" / "index.json"
    definitions = json.loads(path.read_text())
    definitions["indexDefinitions"]["column_stats"]["sourceFields"].append("value")
    path.write_text(json.dumps(definitions))
    engine.write(uri, "upsert", LATER, options={**STATISTICS, LIST: "ts,value"})
    table = open_table(uri)
    metadata = MetadataTable.for_table(table)
    assert metadata is not None
    payloads = [one.payload for one in metadata.records("partition_stats", table.timeline).values()]
    for one in (one for one in payloads if isinstance(one, PartitionStats) and one.column == "value"):
        least, greatest = (value and str(value.value) for value in (one.least, one.greatest))
        assert least and greatest and least <= "high" and greatest >= "low", f"{least} to {greatest}"
