"""A metadata table that lacks completed writes is not used: no reader returns older rows because of it.

A metadata table that was copied back from a backup is in this state. Apache Hudi wrote the tables; the last writes are then
removed from their metadata tables.
"""

from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, row
from hudi_conformance.suite.support.tables.clustered_tables import NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import INDEXED, INSERTS, IndexedTable
from hudi_conformance.suite.support.tables.tables_under_services import Json, copy_golden_table, sort_rows
from hudi_conformance.suite.support.tables.written_tables import table_folder

READS = ("read.snapshot", "read.filter", "read.projection", "merge-on-read", "log.avro", "log.delete", "merge.event-time",
         "partition.plain")  # fmt: skip
#: Golden tables with statistics, record index and bloom filters, by both releases; `moved` is the last case of each.
GOLDEN = [f"queries.skipping.record-keys.{kind}.moved{release}" for kind in ("cow", "mor") for release in ("", ".by-hudi-1-2")]
#: All rows, the key and the value that the last write changed, and the key that the one before deleted.
FILTERS: list[list[tuple[str, str, Any]]] = [
    [],
    [("id", "=", "b")],
    [("fare", "=", 7.0)],
    [("fare", ">", 6.5)],
    [("id", "=", "c")],
]


def remove_from_metadata(table: Path, instant: str) -> None:
    """Remove an action from the metadata table of a table: its instant and its log files."""
    metadata = table / ".hoodie" / "metadata"
    found = [*(metadata / ".hoodie" / "timeline").glob(f"{instant}*"), *metadata.glob(f"*/.*_{instant}.log.*")]
    assert len(found) > 3, "the table has no log files of that action"
    for file in found:
        file.unlink()


def read_rows(engine: Client, uri: str) -> list[list[Json]]:
    """For each filter the rows that it selects."""
    queries = (Query(columns=("id", "fare"), where=tuple(where)) for where in FILTERS)
    return [sort_rows(engine.read(uri, query)) for query in queries]


@pytest.mark.needs(*READS)
@pytest.mark.requirements("RDR-018", "MDT-008", "IDX-012")
@pytest.mark.parametrize("golden", GOLDEN)
@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_metadata_table_without_the_last_writes_hides_no_row(engine: Client, tmp_path: Path, golden: str, lost: int) -> None:
    """RDR-018: the metadata table lacks the last writes. Each filter selects the same rows as before, or the engine reports the
    difference.
    """
    uri, times = copy_golden_table(golden, tmp_path)
    expected = read_rows(engine, uri)
    for instant in times[-lost:]:
        remove_from_metadata(table_folder(uri), instant)
    try:
        found = read_rows(engine, uri)
    except (EngineError, Refused):
        return
    assert found == expected, "rows of an earlier state"


@pytest.mark.needs(*READS, "copy-on-write")
@BOTH_TYPES
@pytest.mark.requirements("RDR-018", "MDT-008")
def test_a_key_that_the_metadata_table_lacks_is_found(engine: Client, new_uri: NewUri, type: Type) -> None:
    """RDR-018: the record index lacks the write that inserted a key. A filter on the key finds the row, or is an error."""
    with connect("reference") as writer:
        table = IndexedTable(writer, new_uri(), type, INDEXED).write(*INSERTS, Step("upsert", (row("new", 1, "x"),)))
    query = Query(columns=("id",), where=(("id", "=", "new"),))
    assert {"id": "new"} in engine.read(table.uri, query).to_pylist(), "the row is not found before the damage"
    remove_from_metadata(table.folder, table.times[-1])
    try:
        found = engine.read(table.uri, query).to_pylist()
    except (EngineError, Refused):
        return
    assert {"id": "new"} in found, "the row of the last write is lost"
