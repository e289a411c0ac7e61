"""Queries beside writers: a query reads one state of the table, whatever completes meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Thread
from typing import Any

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.programs.write_programs import Step, as_arrow, row
from hudi_conformance.suite.support.tables.written_tables import INSERT, write_table
from hudi_reference import open_table
from hudi_reference.storage import Storage, storage_of

UPDATE = Step("upsert", (row("a", 2, "y"), row("b", 2, "y"), row("c", 2, "y", "rio")))
#: More than the requests of the reference to storage in one query.
MOST_REQUESTS = 60
#: Partitions of a table that a query reads one after the other, and how many states and queries of it there are at most.
PARTITIONS, STATES, QUERIES = 12, 60, 40
#: A slow query finds the files of its state.
KEEP_FILES = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}


@dataclass
class InterruptedStorage:
    """A storage that runs an action before the n-th of its requests."""

    inner: Storage
    turn: int
    happen: Callable[[], object]
    asked: int = 0

    def __getattr__(self, name: str) -> Any:
        known = getattr(self.inner, name)

        def ask(*arguments: Any, **more: Any) -> Any:
            self.asked += 1
            if self.asked == self.turn:
                self.happen()
            return known(*arguments, **more)

        return ask


def read_rows(table: Any) -> list[tuple[Any, ...]]:
    """Return key and value of each row, sorted."""
    found = table.snapshot(["id", "value"])
    return sorted(zip(*(found.column(name).to_pylist() for name in ("id", "value")), strict=True))


@pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.needs("create", "write.insert", "write.upsert", "copy-on-write", "merge-on-read", "partition.plain", "log.avro")
@pytest.mark.requirements("RDR-002", "RDR-005")
def test_a_query_sees_the_table_before_a_write_or_after_it(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """RDR-002: a write to every partition completes at each position of a query in turn: the query never mixes the two states.

    The reference reads, because its requests to storage can be interrupted; the engine writes.
    """
    turn, seen = 0, set()
    while True:
        turn += 1
        uri = new_uri()
        write_table(engine, uri, INSERT, type=type)
        before = read_rows(open_table(uri))
        storage = InterruptedStorage(storage_of(uri), turn, partial(engine.write, uri, "upsert", as_arrow(UPDATE.rows)))
        found = read_rows(replace(open_table(uri, storage=storage), parallelism=1))
        if storage.asked < turn:
            break
        after = read_rows(open_table(uri))
        assert before != after
        assert found in (before, after), f"at request {turn}"
        seen.add(found == after)
        assert turn < MOST_REQUESTS
    assert seen == {True, False}


def state(number: int) -> Step:
    """Return a write that sets the value in every partition to this number."""
    return Step("upsert", tuple(row(f"{place}", number, f"{number}", f"p{place}") for place in range(PARTITIONS)))


@pytest.mark.parametrize("type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.needs(
    "read.snapshot", "read.projection", "copy-on-write", "merge-on-read", "merge.event-time", "partition.plain", "log.avro"
)
@pytest.mark.each_version
@pytest.mark.requirements("RDR-002")
def test_queries_beside_a_writer_have_one_state(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """RDR-002: while the reference writes one state after the other, each to every partition, each query of the engine has the
    same value in all rows, and never an older one than the query before it.
    """
    uri, done = new_uri(), Event()
    with connect("reference") as writer:
        writer.table_version = engine.table_version
        write_table(writer, uri, state(0), type=type)

        def write_states() -> None:
            for number in range(1, STATES):
                if done.is_set():
                    return
                writer.write(uri, "upsert", as_arrow(state(number).rows), options=KEEP_FILES)

        thread = Thread(target=write_states)
        thread.start()
        seen = [0]
        try:
            for _ in range(QUERIES):
                values = engine.read(uri, Query(columns=("id", "value"))).column("value").to_pylist()
                assert len(values) == PARTITIONS
                assert len(set(values)) == 1, f"one query has the states {sorted(set(values), key=int)}"
                seen.append(int(values[0]))
                if seen[-1] > 8:
                    break
        finally:
            done.set()
            thread.join()
    assert seen == sorted(seen)
