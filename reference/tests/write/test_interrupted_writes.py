"""Writers with a concurrent writer or a crash: a conflict, or the table before or after the write."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from reference_samples import (
    START,
    TABLE_TYPES,
    keys,
    names,
    new_table,
    reopened,
    trip,
    trips,
)
from refused_calls import TIMELINE, sample

from hudi_reference import WritableTable, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import (
    InstantExists,
    WriteConflict,
)
from hudi_reference.ids import SeededIds
from hudi_reference.storage import MemoryStorage, Storage


@dataclass
class Meddling:
    """A storage that does something right before the n-th object is created, put or replaced."""

    inner: Storage
    turn: int
    meddle: Callable[[], object]
    count: int = field(default=0)

    def _mutation(self) -> None:
        self.count += 1
        if self.count == self.turn:
            self.meddle()

    def create(self, path: str, data: bytes) -> None:
        """Meddle, then create."""
        self._mutation()
        self.inner.create(path, data)

    def put(self, path: str, data: bytes) -> None:
        """Meddle, then put."""
        self._mutation()
        self.inner.put(path, data)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Meddle, then replace."""
        self._mutation()
        self.inner.replace(path, data, version)

    def delete(self, path: str) -> None:
        """Meddle, then delete."""
        self._mutation()
        self.inner.delete(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_the_second_writer_with_one_instant_gets_a_conflict(table_type: str) -> None:
    """S3-002: both clocks show the same time; the creation of the file decides, and the other writer has changed nothing and
    may retry.
    """
    storage = MemoryStorage()
    new_table(storage, table_type=table_type)

    def writer(store: Storage, seed: int) -> WritableTable:
        return open_table("x:", storage=store, clock=ManualClock(START + 10**6), ids=SeededIds(seed))

    second = writer(Meddling(storage, 1, lambda: writer(storage, 1).insert(trips(trip("1", "first")))), 2)
    with pytest.raises(InstantExists) as raised:
        second.insert(trips(trip("2", "second")))
    assert isinstance(raised.value, WriteConflict)
    assert raised.value.rule == "S3-002"
    assert (raised.value.path or "").startswith(f"{TIMELINE}/2026")
    assert names(second) == {"1": "first"}
    second.insert(trips(trip("2", "second")))
    assert names(second) == {"1": "first", "2": "second"}


def test_a_write_that_was_rolled_back_meanwhile_does_not_complete() -> None:
    """TL-051: a clean treated the writer as expired and removed its instant; completing it would publish a part of a write."""
    storage = MemoryStorage()
    table = new_table(storage)

    def roll_back() -> None:
        for info in storage.list(TIMELINE):
            storage.delete(info.path)

    table = open_table("x:", storage=Meddling(storage, 4, roll_back), clock=ManualClock(START), ids=SeededIds(2))
    with pytest.raises(WriteConflict) as raised:
        table.insert(trips(trip("1", "a")))
    assert raised.value.rule == "TL-051"
    assert reopened(table).timeline.instants == ()


class Crash(Exception):
    """The process is gone."""


def crash() -> None:
    """Stop here."""
    raise Crash


def writes() -> dict[str, Callable[[WritableTable], object]]:
    """One write of each kind."""
    return {
        "insert": lambda table: table.insert(trips(trip("8", "i", 1, "x"), trip("9", "j", 1, "y"))),
        "upsert": lambda table: table.upsert(trips(trip("1", "u", 3, "x"), trip("9", "j", 1, "y"))),
        "delete": lambda table: table.delete(keys("1", "2", p=["x", "x"])),
    }


@pytest.mark.parametrize("operation", ["insert", "upsert", "delete"])
@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_crash_at_any_step_leaves_the_table_before_or_after(table_type: str, operation: str) -> None:
    """TL-036, S3-006: whichever mutation of storage was the last, readers see all of a write or nothing, and the next write works."""
    write = writes()[operation]
    finished = sample(table_type)
    before, last = names(finished), finished.timeline.completed[-1]
    write(finished)
    after = names(finished)
    assert before != after
    turn, completed = 0, False
    while not completed:
        turn += 1
        table = sample(table_type)
        crashing = open_table(
            "x:", storage=Meddling(table.storage, turn, crash), clock=ManualClock(START + 10**7), ids=SeededIds(3)
        )
        try:
            write(crashing)
            completed = True
        except Crash:
            left = names(reopened(table))
            assert left == (after if table.timeline.completed[-1] != last else before)
            reopened(table).upsert(trips(trip("2", "next", 5, "x")))
            assert names(reopened(table)) == {**left, "2": "next"}
    assert names(reopened(table)) == after
    assert turn > 4
