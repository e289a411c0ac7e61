"""The metadata table is updated before a write completes, and its entries have no effect until then."""

from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Refused
from hudi_conformance.suite.support.tables.metadata_tables import completions
from hudi_conformance.suite.support.tables.tables_under_services import Json, golden, ordered
from hudi_conformance.suite.support.tables.written_tables import folder_of

#: A table with a metadata table, written by Apache Hudi in two commits.
GOLDEN = "layout.with-metadata-table"
READS = ("read.snapshot", "merge-on-read", "log.avro", "merge.event-time", "partition.plain")


def rows_of(engine: Client, uri: str, query: Query) -> list[Json]:
    """Return the rows of a query, in an order that does not depend on files."""
    return ordered(engine.read(uri, query))


@pytest.mark.needs(*READS, "read.as-of")
@pytest.mark.requirements("OCC-021", "RDR-018")
def test_metadata_entries_of_a_crashed_write_have_no_effect(engine: Client, tmp_path: Path) -> None:
    """OCC-021: the writer crashed between the commit of the metadata table and its own, so that only the latter is missing. The
    rows are those of the write before.
    """
    uri, _ = golden(GOLDEN, tmp_path)
    first, last = sorted(completions(folder_of(uri)))
    before, after = rows_of(engine, uri, Query("as-of", as_of=first)), rows_of(engine, uri, Query())
    assert before != after
    assert completions(folder_of(uri) / ".hoodie" / "metadata")[last] < completions(folder_of(uri))[last]
    for path in (folder_of(uri) / ".hoodie" / "timeline").glob(f"*{last}_*"):
        path.unlink()
    assert rows_of(engine, uri, Query()) == before


@pytest.mark.needs(*READS, "write.upsert")
@pytest.mark.requirements("OCC-020", "PROP-001")
def test_metadata_is_up_to_date_before_a_write_completes(engine: Client, tmp_path: Path) -> None:
    """OCC-020: the write has completed on the timeline of the metadata table before it does on that of the table. An engine
    that cannot do that refuses to write; then nothing has changed.
    """
    uri, _ = golden(GOLDEN, tmp_path)
    rows = engine.read(uri, Query())
    files = {path: path.read_bytes() for path in folder_of(uri).rglob("*") if path.is_file()}
    try:
        instant = engine.write(uri, "upsert", rows.slice(0, 1))
    except Refused:
        assert {path: path.read_bytes() for path in folder_of(uri).rglob("*") if path.is_file()} == files
        return
    data, metadata = (completions(folder) for folder in (folder_of(uri), folder_of(uri) / ".hoodie" / "metadata"))
    assert metadata.get(instant, "never") < data[instant]
    assert rows_of(engine, uri, Query()) == ordered(rows)
