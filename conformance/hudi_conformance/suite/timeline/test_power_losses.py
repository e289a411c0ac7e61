"""Power losses on a local file system: an action that has returned is on the disk, and no part of another one can be seen.

What was written and not synced may be lost, each change alone, at any system call. Only the system calls of an engine in this
process can be recorded.
"""

import errno
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.power_loss import PowerLoss, RecordedCalls, power_losses
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import Type
from hudi_reference import WritableTable, create_table, open_table, rollback
from hudi_reference.clock import ManualClock
from hudi_reference.errors import StorageFault
from hudi_reference.ids import SeededIds
from hudi_reference.storage import Storage

URI, START, DAY = "memory:///written", 1_790_000_000_000, 86_400_000
Step = Callable[[Storage], object]
FOLDER = type(RecordedCalls().root)
#: The values of the rows by key before the first step, and after each of the steps of `steps_of`.
STATES: tuple[dict[str, str], ...] = (
    {},
    {"a": "x", "b": "y"},
    {"a": "changed", "b": "y"},
    {"a": "changed", "b": "y", "c": "new"},
    {"a": "changed", "b": "y"},
    {"a": "changed", "b": "y", "d": "again"},
)


def reopen_table(storage: Storage, day: int) -> WritableTable:
    """Open the table with a clock of its own."""
    return open_table(URI, storage=storage, clock=ManualClock(START + day * DAY), ids=SeededIds(day))


def create(storage: Storage, type: Type, version: int) -> None:
    """Create the table."""
    spec = Program(type, "EVENT_TIME_ORDERING", True).spec()
    create_table(URI, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
                 table_type=type, ordering=spec.ordering, version=version, storage=storage, clock=ManualClock(START),
                 ids=SeededIds(0))  # fmt: skip


def steps_of(type: Type, version: int) -> list[Step]:
    """Return a program: create and insert, upsert, write a new partition, remove that, write it again."""

    def create_and_insert(storage: Storage) -> None:
        create(storage, type, version)
        reopen_table(storage, 1).insert(as_arrow((row("a", 1, "x"), row("b", 1, "y", "rio"))))

    def remove_partition(storage: Storage) -> None:
        table = reopen_table(storage, 4)
        rollback(table, table.timeline.commits[-1].requested)
        storage.delete("lima/.hoodie_partition_metadata")  # with its last file the folder is removed

    return [
        create_and_insert,
        lambda storage: reopen_table(storage, 2).upsert(as_arrow((row("a", 2, "changed"),))),
        lambda storage: reopen_table(storage, 3).upsert(as_arrow((row("c", 1, "new", "lima"),))),
        remove_partition,
        lambda storage: reopen_table(storage, 5).upsert(as_arrow((row("d", 1, "again", "lima"),))),
    ]


def check_losses(losses: Iterable[PowerLoss]) -> None:
    """Check that the rows after each loss are those of the steps that had returned, or also those of the step that ran."""
    for loss in losses:
        if loss.acknowledged:  # before, the table may not exist
            found = reopen_table(loss.storage, 9).snapshot(["id", "value"]).to_pylist()
            allowed = STATES[loss.acknowledged : loss.acknowledged + 2]
            assert {one["id"]: one["value"] for one in found} in allowed, loss


class ReusedInodes(RecordedCalls):
    """System calls on a file system that gives a new folder the inode of a removed one: all folders have the same."""

    def status_of(self, descriptor: int) -> os.stat_result:
        """The status, with that inode."""
        found = os.fstat(descriptor)
        return os.stat_result((found.st_mode, 1, *found[2:10])) if isinstance(self._opened.get(descriptor), FOLDER) else found


class FailingSync(RecordedCalls):
    """System calls of which one fails: to sync a folder in which a file has got its name, the one of that number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.left = number

    def sync(self, descriptor: int) -> None:
        """Fail or sync."""
        node = self._opened.get(descriptor)
        if isinstance(node, FOLDER) and any(what.startswith(("link", "rename")) for what, _ in node.changes):
            self.left -= 1
            if self.left == 0:
                raise OSError(errno.EIO, "the disk failed")
        super().sync(descriptor)


@BOTH_TYPES
@pytest.mark.needs("write.insert", "write.upsert", "service.rollback", "read.snapshot")
@pytest.mark.requirements("TL-036", "S3-001")
@pytest.mark.versions(8, 9)
def test_actions_that_returned_survive_a_power_loss(engine: Client, tmp_path: Path, type: Type, drawn_version: int) -> None:
    """TL-036: all changes of an action are on the disk before its completed file is, and this one before the action returns,
    also in a partition whose folder was removed and made again.
    """
    only_in_process(engine)
    losses = list(power_losses(tmp_path / "t", steps_of(type, drawn_version), ReusedInodes()))
    assert {loss.acknowledged for loss in losses} == set(range(len(STATES)))
    check_losses(losses)


@pytest.mark.needs("write.insert", "write.upsert", "read.snapshot")
@pytest.mark.requirements("TL-036", "S3-001")
@pytest.mark.versions(8, 9)
def test_a_write_that_cannot_be_synced_does_not_return(engine: Client, tmp_path: Path, drawn_version: int) -> None:
    """TL-036: the disk fails when a folder is synced in which a file has got its name. A write that returns all the same is on
    the disk, whichever of its files that was.
    """
    only_in_process(engine)
    first, second, *_ = steps_of("COPY_ON_WRITE", drawn_version)
    number = 0
    while True:
        calls = FailingSync(number := number + 1)
        with suppress(StorageFault):
            list(power_losses(tmp_path / f"{number}", [first, second], calls))
        if calls.left > 0:
            break
        check_losses(loss for loss in calls.losses if loss.acknowledged == calls.acknowledged)
    assert number > 10
