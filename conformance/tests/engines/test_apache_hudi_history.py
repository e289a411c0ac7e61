"""The history of the reference is loaded by Apache Hudi's own classes, and the reverse; each release is a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import expect_rows
from hudi_conformance.suite.support.tables.archived_tables import (
    NOT_BY_ITSELF,
    archive_in_turn,
    archive_limits,
    expected_rows,
    new_table,
    write_times,
)

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]


@pytest.fixture
def reference() -> Iterator[Client]:
    """The reference in this process."""
    with connect("reference") as client:
        yield client


@pytest.mark.parametrize("first", ["the reference", "Apache Hudi"])
def test_reference_and_apache_hudi_archive_in_turn(hudi: Client, reference: Client, tmp_path: Path, first: str) -> None:
    """Each loads the instants that the other one archived, with both times, writes, archives, and merges the other's files."""
    one, other = (reference, hudi) if first == "the reference" else (hudi, reference)
    archive_in_turn(one, other, (tmp_path / "table").as_uri())


def test_apache_hudi_reads_the_metadata_of_archived_commits(hudi: Client, reference: Client, tmp_path: Path) -> None:
    """An incremental query from the beginning uses the metadata of archived commits, in flushed and in merged files."""
    uri = (tmp_path / "table").as_uri()
    new_table(reference, uri)
    for turn in range(2):
        write_times(reference, uri, 8, NOT_BY_ITSELF, 8 * turn)
        reference.service(uri, "archive", options=archive_limits(4, 2, **{"hoodie.timeline.compaction.batch.size": "2"}))
    query = Query("incremental", begin="20200101000000000", columns=("id", "city", "ts", "value"))
    expect_rows(hudi, uri, expected_rows(16), "incremental from the beginning", query)
