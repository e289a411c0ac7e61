"""Filters on a table of which a compaction is planned: base files of the former slices and later log files have its rows.

The engine under test writes and reads.
"""

from collections.abc import Callable, Mapping

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_with_logs import DUE

STATISTICS: Mapping[str, str] = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
}


@pytest.mark.needs("create", "write.upsert", "service.compaction", "read.snapshot", "read.projection", "read.filter")
@pytest.mark.needs("merge-on-read", "merge.event-time", "partition.plain")
@pytest.mark.requirements("MDT-010", "CMP-003")
def test_a_write_after_the_plan_of_a_compaction_keeps_the_bounds(engine: Client, new_uri: Callable[[], str]) -> None:
    """MDT-010: the statistics of a partition cover the base file whose compaction is planned, after a later write too. Each
    comparison finds its row before the compaction is executed, and after it (ER-282).
    """
    uri, values = new_uri(), {key: 10 * number for number, key in enumerate("abcdef", 1)}
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())

    def upsert(**changes: int) -> None:
        values.update(changes)
        rows = as_arrow([row(key, value, f"at {value}", "oslo") for key, value in changes.items()])
        engine.write(uri, "upsert", rows, options=STATISTICS)

    def expect_each_row(when: str) -> None:
        for key, value in values.items():
            found = engine.read(uri, Query(columns=("id",), where=(("ts", "=", value),))).column("id").to_pylist()
            assert found == [key], f"ts = {value} {when}"

    upsert(**values)
    upsert(b=21)
    planned = engine.service(uri, "compaction", phase="schedule", options={**DUE, **STATISTICS})
    assert planned is not None
    upsert(c=31)
    expect_each_row("before the compaction")
    engine.service(uri, "compaction", phase="execute", instant=planned, options={**DUE, **STATISTICS})
    expect_each_row("after the compaction")
