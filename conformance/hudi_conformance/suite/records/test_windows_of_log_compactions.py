"""Incremental queries beside log compactions that give rows their own commit time, as those of Apache Hudi 1.2.0 do (ER-198).

The reference writes the tables; then the test replaces the commit times in the compacted block.
"""

from collections.abc import Callable
from itertools import pairwise

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import Step, row
from hudi_conformance.suite.support.tables.tables_with_logs import FIRST, LoggedTable, log_file_names
from hudi_conformance.suite.support.tables.written_tables import completion_time, table_folder

#: Without a metadata table, whose listing has the sizes of files.
UNLISTED = {"hoodie.metadata.enable": "false"}


@pytest.mark.needs("read.snapshot", "read.incremental", "read.projection", "merge-on-read", "log.avro", "merge.event-time")
@pytest.mark.needs("partition.plain")
@pytest.mark.requirements("TYP-011", "RDR-006")
@pytest.mark.versions(8)
def test_rows_with_the_time_of_a_log_compaction(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-011: rows to which a log compaction gave its own commit time are not in a window that has only the log compaction. A
    window that ends before it has the rows of its writes.
    """
    uri = new_uri()
    with connect("reference") as writer:
        table = LoggedTable(writer, uri).write(FIRST, options=UNLISTED)
        table.write(Step("upsert", (row("a", 20, "second"),)), Step("upsert", (row("b", 20, "third"),)), options=UNLISTED)
        joined = table.run("log-compaction")
    assert joined is not None
    (path,) = table_folder(uri).glob(f"*/{next(name for name in log_file_names(uri) if f'_{joined}.' in name)}")
    stored = path.read_bytes()
    for instant in table.times[1:]:
        assert b'"' + instant.encode() in stored
        stored = stored.replace(b'"' + instant.encode(), b'"' + joined.encode())  # the length 17 of the text is stored as "
    path.write_bytes(stored)
    table.check_rows("with the commit time of the log compaction", engine)
    times = [completion_time(uri, instant) for instant in (*table.times, joined)]
    found = [
        engine.read(uri, Query("incremental", None, begin, end, columns=("id",))).column("id").to_pylist()
        for begin, end in pairwise(times)
    ]
    assert found == [["a"], ["b"], []]
