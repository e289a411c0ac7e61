"""Writers in one process that get their instants in the same millisecond; and several rows of one key in one input."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Conflict
from hudi_conformance.engines.registry import connect, find
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Row, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.written_tables import completed_files

WRITES = ("create", "write.upsert", "read.snapshot", "read.projection")
#: How far the timeline is ahead of the clock when all writers request a time: all wait, and continue at the same time.
AHEAD = timedelta(milliseconds=300)
ROUNDS = 4
#: The number of writers, each in a different partition; with so many, some of them nearly always request a time in the same
#: millisecond.
CITIES = ("bern", "lima", "nice", "oslo", "rio", "rome")


def set_ahead(uri: str) -> None:
    """Make the newest instant complete slightly in the future."""
    newest = completed_files(uri)[-1]
    requested, rest = newest.name.split("_")
    completion, action = rest.split(".")
    ahead = (datetime.strptime(completion, "%Y%m%d%H%M%S%f") + AHEAD).strftime("%Y%m%d%H%M%S%f")[:17]
    newest.rename(newest.with_name(f"{requested}_{ahead}.{action}"))


@pytest.mark.needs(*WRITES, "merge-on-read", "partition.plain")
@pytest.mark.requirements("S3-002", "TL-034")
def test_simultaneous_writes_never_share_an_instant(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-034: each of several simultaneous writers gets a unique instant, or a conflict error; no write is lost."""
    if find(engine.name).factory is None:
        pytest.skip("the engine runs in another process, where writers cannot be started at the same time")
    uri, start = new_uri(), Barrier(len(CITIES))
    program = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    first = tuple(row("a", 1, "first", city) for city in CITIES)
    engine.write(uri, "upsert", as_arrow(first))
    expected = {r["city"]: r for r in first}

    def write(client: Client, change: Row) -> str | None:
        start.wait()
        try:
            return client.write(uri, "upsert", as_arrow([change]))
        except Conflict:
            return None

    clients = [connect(engine.name) for _ in CITIES]
    with ThreadPoolExecutor(len(CITIES)) as pool:
        for number in range(2, 2 + ROUNDS):
            set_ahead(uri)
            changes = [row("a", number, f"write {number}", city) for city in CITIES]
            instants = list(pool.map(write, clients, changes))
            succeeded = [(instant, change) for instant, change in zip(instants, changes, strict=True) if instant]
            assert succeeded, "no writer succeeded"
            assert len({instant for instant, _ in succeeded}) == len(succeeded)
            expected |= {change["city"]: change for _, change in succeeded}
            expect_rows(engine, uri, list(expected.values()), f"after round {number}: {instants}")
    for client in clients:
        client.close()


@pytest.mark.needs(*WRITES, "partition.none")
@BOTH_TYPES
@pytest.mark.parametrize(
    ("mode", "kept"),
    [
        pytest.param("EVENT_TIME_ORDERING", "greatest", marks=pytest.mark.needs("merge.event-time")),
        pytest.param("COMMIT_TIME_ORDERING", "last", marks=pytest.mark.needs("merge.commit-time")),
    ],
)
@pytest.mark.requirements("MRG-011", "MRG-026")
def test_one_input_gives_one_row_of_a_key(engine: Client, new_uri: Callable[[], str], type: str, mode: str, kept: str) -> None:
    """MRG-026: of several rows of one key in one input, the greatest ordering value wins in event-time mode, the last row in
    commit-time mode.
    """
    uri = new_uri()
    program = Program(type, mode, False)  # type: ignore[arg-type]
    engine.create(uri, program.spec())
    for number in (1, 2):
        batch = (row("a", 10 * number, "first"), row("a", 10 * number + 5, "greatest"), row("a", 10 * number + 1, "last"))
        step = Step("upsert", (*batch, row("b", number, "bystander")))
        engine.write(uri, step.operation, as_arrow(step.rows))
        stays = next(r for r in batch if r["value"] == kept)
        expect_rows(engine, uri, [stays, row("b", number, "bystander")], f"after write {number}")
