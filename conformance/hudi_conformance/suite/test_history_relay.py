"""A history that two engines write in turn: each reads what the other archived, goes on with it, and merges its files."""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.histories import NOT_BY_ITSELF, expected_rows, limits, new_table, shown, step_of, write
from hudi_conformance.suite.programs_of_writes import expect_rows

WRITES = ("create", "write.upsert", "service.archive", "copy-on-write", "partition.plain")
READS = ("read.snapshot", "inspect.table", "timeline.history")
OPTIONS = limits(4, 2, **{"hoodie.timeline.compaction.batch.size": "2"})


def expect_all(engine: Client, uri: str, before: dict[tuple[str, str], str], count: int) -> None:
    """The engine shows every action that completed since the beginning, once and with its times, and the newest rows."""
    found = shown(engine, uri)
    actions = [((i["requested"], i["action"]), i["completion"]) for where in found.values() for i in where]
    assert sorted(actions) == sorted(before.items())
    assert len(found["archived"]) == len(step_of(uri).archived) > 0
    expect_rows(engine, uri, expected_rows(count), f"{engine.name}, after {count} writes")


@pytest.mark.needs(*WRITES, *READS, writer=(*WRITES, *READS))
@pytest.mark.requirements("LSM-002", "LSM-003", "LSM-010", "LSM-013", "LSM-015", "LSM-018", "LSM-024", "ARC-002", "RDR-009")
def test_engines_archive_one_table_in_turn(writer: Client, reader: Client, new_uri: Callable[[], str]) -> None:
    """One engine archives, another writes on, archives and merges, the first reads all and does the same once more."""
    archive_in_turn(writer, reader, new_uri())


def archive_in_turn(writer: Client, reader: Client, uri: str) -> None:
    """Four rounds of writing and archiving by two engines; both see everything after each."""
    count = 0
    new_table(writer, uri)
    completed: dict[tuple[str, str], str] = {}
    for turn, engine in enumerate((writer, reader, writer, reader)):
        write(engine, uri, 8 - 4 * bool(turn), NOT_BY_ITSELF, count)
        count += 8 - 4 * bool(turn)
        completed |= step_of(uri).completed
        contents = {key: one["metadata"] for key, one in step_of(uri).archived.items()}
        engine.service(uri, "archive", options=OPTIONS)
        for other in (reader, writer):
            expect_all(other, uri, completed, count)
        after = step_of(uri)
        assert len(after.completed) == 2
        assert contents.items() <= {key: one["metadata"] for key, one in after.archived.items()}.items()
        assert after.live == {name: len(after.history[name]) for name in after.live}
    assert max(step_of(uri).levels) > 0
