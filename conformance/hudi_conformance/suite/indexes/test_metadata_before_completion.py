"""The metadata table is updated before a write completes, and its entries have no effect until then."""

from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Refused
from hudi_conformance.suite.support.tables.metadata_tables import completion_times
from hudi_conformance.suite.support.tables.tables_under_services import Json, copy_golden_table, sort_rows
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: A table with a metadata table, written by Apache Hudi in two commits.
GOLDEN = "layout.with-metadata-table"
READS = ("read.snapshot", "merge-on-read", "log.avro", "merge.event-time", "partition.plain")


def read_rows(engine: Client, uri: str, query: Query) -> list[Json]:
    """Return the rows of a query, in an order that does not depend on files."""
    return sort_rows(engine.read(uri, query))


@pytest.mark.needs(*READS, "read.as-of")
@pytest.mark.requirements("OCC-021", "RDR-018")
def test_metadata_entries_of_a_crashed_write_have_no_effect(engine: Client, tmp_path: Path) -> None:
    """OCC-021: the writer crashed between the commit of the metadata table and its own, so that only the latter is missing. The
    rows are those of the write before.
    """
    uri, _ = copy_golden_table(GOLDEN, tmp_path)
    first, last = sorted(completion_times(table_folder(uri)))
    before, after = read_rows(engine, uri, Query("as-of", as_of=first)), read_rows(engine, uri, Query())
    assert before != after
    assert completion_times(table_folder(uri) / ".hoodie" / "metadata")[last] < completion_times(table_folder(uri))[last]
    for path in (table_folder(uri) / ".hoodie" / "timeline").glob(f"*{last}_*"):
        path.unlink()
    assert read_rows(engine, uri, Query()) == before


@pytest.mark.needs(*READS, "write.upsert")
@pytest.mark.requirements("OCC-020", "PROP-001")
def test_metadata_is_up_to_date_before_a_write_completes(engine: Client, tmp_path: Path) -> None:
    """OCC-020: the write has completed on the timeline of the metadata table before it does on that of the table. An engine
    that cannot do that refuses to write; then nothing has changed.
    """
    uri, _ = copy_golden_table(GOLDEN, tmp_path)
    rows = engine.read(uri, Query())
    files = {path: path.read_bytes() for path in table_folder(uri).rglob("*") if path.is_file()}
    try:
        instant = engine.write(uri, "upsert", rows.slice(0, 1))
    except Refused:
        assert {path: path.read_bytes() for path in table_folder(uri).rglob("*") if path.is_file()} == files
        return
    data, metadata = (completion_times(folder) for folder in (table_folder(uri), table_folder(uri) / ".hoodie" / "metadata"))
    assert metadata.get(instant, "never") < data[instant]
    assert read_rows(engine, uri, Query()) == sort_rows(rows)
