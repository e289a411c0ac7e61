"""Queries of tables of version 6 whose answers depend on its timeline, which has no completion times."""

import os
import shutil
from collections.abc import Callable

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.older_tables import golden_table
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: Windows of golden tables, begin exclusive and end inclusive, and the keys of the rows that were written in each.
WINDOWS = (
    ("v6.cow", "20261122012703532", None, "ad"),
    ("v6.cow", "20261122012718871", None, "a"),
    ("v6.cow", "20261122012703532", "20261122012718871", "d"),
    ("v6.cow", "20261122012732262", None, ""),
    ("v6.mor", "20261122012740558", None, "ac"),
    ("v6.cow.archived", "20261122013030429", None, "a"),
    ("v6.cow.archived", "20261122013033749", None, ""),
)


@pytest.mark.needs("table-version.6", "read.incremental")
@pytest.mark.requirements("COMPAT-003", "TYP-009")
@pytest.mark.parametrize(("name", "begin", "end", "keys"), WINDOWS)
@pytest.mark.parametrize("modified", [0, 4_000_000_000], ids=["old-files", "new-files"])
def test_windows_of_version_6_are_requested_times(
    engine: Client, new_uri: Callable[[], str], name: str, begin: str, end: str | None, keys: str, modified: int
) -> None:
    """TYP-009: a table of version 6 stores no completion times, so that an incremental query selects writes by their requested
    times. The modification times of files say nothing: a copy of a table has other ones.
    """
    uri = new_uri()
    shutil.copytree(golden_table(name), table_folder(uri))
    for file in table_folder(uri).rglob("*"):
        os.utime(file, (modified, modified))
    found = engine.read(uri, Query("incremental", begin=begin, end=end))
    assert sorted(found.column("id").to_pylist()) == list(keys)


@pytest.mark.needs("table-version.6", "read.snapshot", "merge-on-read", "log.avro", "log.delete", "merge.custom")
@pytest.mark.requirements("COMPAT-003", "MRG-018")
def test_the_payload_class_decides_at_version_6(engine: Client, new_uri: Callable[[], str]) -> None:
    """COMPAT-003: releases before 1.0 store the strategy id of event-time ordering in every table. The payload class decides.

    No value of the table is null, so that the class of partial updates fills none.
    """
    uri = new_uri()
    shutil.copytree(golden_table("v6.mor"), table_folder(uri))
    file = table_folder(uri) / ".hoodie" / "hoodie.properties"
    text = file.read_text()
    assert "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5" in text
    file.write_text(text.replace("DefaultHoodieRecordPayload", "PartialUpdateAvroPayload"))
    (file.parent / ".hoodie.properties.crc").unlink(missing_ok=True)
    found = engine.read(uri, Query(columns=("id", "name")))
    assert sorted(zip(*(found.column(name).to_pylist() for name in ("id", "name")), strict=True)) == [("a", "a4"), ("c", "c2")]
