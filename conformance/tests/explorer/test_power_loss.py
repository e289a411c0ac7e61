"""Durability: what was acknowledged survives a power loss, and the table is then in a committed state."""

from pathlib import Path

import pytest
from reference_samples import SCHEMA, trip, trips

from hudi_conformance.explorer.power_loss import PowerLoss, RecordedCalls, power_losses
from hudi_reference import clean, compact, create_table, open_table, restore, rollback, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.ids import SeededIds
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.planning.plan_execution import pending_of
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.services.rollback.restore import execute_restore
from hudi_reference.storage import LocalStorage, Storage

DAY = 86_400_000
START = 1_767_225_600_000
RETAIN_ONE = {"hoodie.clean.commits.retained": "1"}
#: Rows by key, after each of three writes.
STATES = [{"1": "a", "2": "b"}, {"1": "new", "2": "b"}, {"1": "new", "2": "newer", "3": "c"}]


def opened(storage: Storage, day: int):
    options = {"hoodie.metadata.enable": "true"} if storage.names(".hoodie/metadata") else {}
    return open_table("memory:///t", storage=storage, clock=ManualClock(START + day * DAY), ids=SeededIds(day), options=options)


def rows(storage: Storage) -> dict[str, str]:
    return {row["id"]: row["name"] for row in opened(storage, 20).snapshot(["id", "name"]).to_pylist()}


def create(kind: str, options: dict[str, str] | None = None):
    def step(storage: Storage) -> None:
        keys = {"record_key": ("id",), "partition": ("p",), "ordering": ("ts",)}
        table = create_table("memory:///t", name="t", schema=SCHEMA, table_type=kind, storage=storage, options=options,
                             clock=ManualClock(START), ids=SeededIds(0), **keys)  # fmt: skip
        table.insert(trips(trip("1", "a", p="x"), trip("2", "b", p="y/z")))

    return step


def update(storage: Storage) -> None:
    opened(storage, 1).upsert(trips(trip("1", "new", 2, p="x")))


def add(storage: Storage) -> None:
    opened(storage, 2).upsert(trips(trip("2", "newer", 2, p="y/z"), trip("3", "c", p="deep/down")))


def check(loss: PowerLoss, allowed: list[dict[str, str]]) -> None:
    """The table is in an allowed state, and the next writer works."""
    assert rows(loss.storage) in allowed, loss
    table = opened(loss.storage, 10)
    for pending in pending_of(table.timeline, "restore"):
        execute_restore(table, pending.requested)
    roll_back_failed(table)
    table.upsert(trips(trip("9", "next", p="x")))
    assert {key: name for key, name in rows(loss.storage).items() if key != "9"} in allowed, loss
    assert rows(loss.storage)["9"] == "next", loss


def is_held(loss: PowerLoss, allowed: list[dict[str, str]]) -> bool:
    try:
        check(loss, allowed)
    except (AssertionError, HudiError):
        return False
    return True


@pytest.mark.parametrize("options", [{}, {"hoodie.metadata.enable": "true"}], ids=["data", "with metadata table"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_acknowledged_writes_survive_a_power_loss(tmp_path: Path, kind: str, options: dict[str, str]) -> None:
    """S3-006, TL-036: whatever a power loss keeps of what was not synced, the table holds every acknowledged write and no part
    of another one, and the next writer works."""
    losses = list(power_losses(tmp_path / "t", [create(kind, options), update, add]))
    for loss in losses:
        if loss.acknowledged:  # before, the table may not exist
            check(loss, STATES[loss.acknowledged - 1 : loss.acknowledged + 1])
    assert {loss.acknowledged for loss in losses} == {0, 1, 2, 3} and len(losses) > 25


SERVICES = {
    "clean": (lambda table: clean(table, RETAIN_ONE), STATES[2:]),
    "rollback": (lambda table: rollback(table, table.timeline.commits[-1].requested), STATES[1:]),
    "restore": (lambda table: restore(table, table.timeline.commits[0].requested), STATES),
    "savepoint": (lambda table: savepoint(table, table.timeline.commits[-1].requested), STATES[2:]),
    "compaction": (lambda table: compact(table, {"hoodie.compact.inline.max.delta.commits": "1"}), STATES[2:]),
    "archive": (lambda table: archive(table, {"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2"}), STATES[2:]),
}


@pytest.mark.parametrize("name", SERVICES)
def test_services_survive_a_power_loss(tmp_path: Path, name: str) -> None:
    """SVC-005: a power loss during a service leaves the rows before it or after it, or, for a restore, those of a write in
    between; after it, the service can be repeated."""
    service, allowed = SERVICES[name]
    storage = LocalStorage(tmp_path / "t")
    for step in (create("MERGE_ON_READ" if name == "compaction" else "COPY_ON_WRITE"), update, add):
        step(storage)
    losses = list(power_losses(tmp_path / "t", [lambda store: service(opened(store, 5))]))
    after = rows(LocalStorage(tmp_path / "t"))
    for loss in losses:
        check(loss, [after] if loss.acknowledged else allowed)
    assert len(losses) > 2


class WithoutFiles(RecordedCalls):
    """A faulty storage: files are not synced."""

    def sync(self, descriptor: int) -> None:
        if isinstance(self._opened.get(descriptor), type(self.root)):
            super().sync(descriptor)


class WithoutFolders(RecordedCalls):
    """A faulty storage: folders are not synced."""

    def sync(self, descriptor: int) -> None:
        if not isinstance(self._opened.get(descriptor), type(self.root)):
            super().sync(descriptor)


class WithoutNewFolders(RecordedCalls):
    """A faulty storage: a folder is synced only if it has files, not for the new folders in it."""

    def sync(self, descriptor: int) -> None:
        node = self._opened.get(descriptor)
        if not (isinstance(node, type(self.root)) and node.changes and node.changes[-1][0].startswith("mkdir")):
            super().sync(descriptor)


class Late(RecordedCalls):
    """A faulty storage: files are synced after they have their names."""

    late: int | None = None

    def sync(self, descriptor: int) -> None:
        if isinstance(self._opened.get(descriptor), type(self.root)):
            super().sync(descriptor)
            if self.late is not None:
                super().sync(self.late)
        else:
            self.late = descriptor


@pytest.mark.parametrize("calls", [WithoutFiles, WithoutFolders, WithoutNewFolders, Late])
def test_each_missing_sync_is_found(tmp_path: Path, calls: type[RecordedCalls]) -> None:
    """A storage that leaves out one kind of sync loses acknowledged writes, or shows partial ones."""
    losses = power_losses(tmp_path / "t", [create("COPY_ON_WRITE"), update], calls())
    assert not all(is_held(loss, STATES[loss.acknowledged - 1 : loss.acknowledged + 1]) for loss in losses if loss.acknowledged)


def test_without_syncing_acknowledged_writes_are_lost(tmp_path: Path) -> None:
    """The setting turns syncing off: no call of fsync is made."""

    class Strict(RecordedCalls):
        def sync(self, descriptor: int) -> None:
            raise AssertionError("fsync was called")

    losses = power_losses(tmp_path / "t", [create("COPY_ON_WRITE")], Strict(), sync=False)
    assert not all(is_held(loss, STATES[:1]) for loss in losses if loss.acknowledged)
