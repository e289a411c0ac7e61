"""A history that two engines write in turn: each reads what the other archived, adds to it, and merges its files."""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.archived_tables import (
    archive_in_turn,
)

WRITES = ("create", "write.upsert", "service.archive", "copy-on-write", "partition.plain")
READS = ("read.snapshot", "inspect.table", "timeline.history")


@pytest.mark.needs(*WRITES, *READS, writer=(*WRITES, *READS))
@pytest.mark.requirements("LSM-002", "LSM-003", "LSM-010", "LSM-013", "LSM-015", "LSM-018", "LSM-024", "ARC-002", "RDR-009")
def test_engines_archive_one_table_in_turn(writer: Client, reader: Client, new_uri: Callable[[], str]) -> None:
    """ARC-002: one engine archives, another writes, archives and merges, the first reads everything and does the same once
    more.
    """
    archive_in_turn(writer, reader, new_uri())
