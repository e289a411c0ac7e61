"""The lock of a table: every decision about the table is made while it is held, and a process that has lost it publishes
nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.crash_points import CrashingStorage, crash_states
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.lock_fixtures import START, VALIDITY, file_system
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_reference import archive, clean, create_table, open_table, rollback, savepoint
from hudi_reference.clock import ManualClock, SystemClock
from hudi_reference.errors import LockLost, LockNotObtained, Misuse, StorageUnavailable, UnfitStorage, WriteConflict
from hudi_reference.ids import SeededIds
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.locks import PROVIDER_KEY, InProcessLock, Lock, lock_of, providers
from hudi_reference.locks.file_system import ExpiringFileLease, FileLease
from hudi_reference.locks.lease import Lease, LeasedLock
from hudi_reference.locks.storage_based import LOCK_PATH, StoredLease
from hudi_reference.locks.timeout import LockTimeout
from hudi_reference.storage import LocalStorage, MemoryStorage, Storage
from hudi_reference.tables import WritableTable

#: The name under which the tests register their own provider.
OURS = "com.example.OurLockProvider"
TIMELINE = ".hoodie/timeline/"


@pytest.fixture(autouse=True)
def skip_other_engines(engine: Client) -> None:
    """No other engine runs in this process."""
    only_in_process(engine)


@dataclass
class RecordingLock:
    """A provider of the tests: an in-process lock that records its calls, in one list with the requests to storage."""

    notes: list[str]
    lock: InProcessLock = field(default_factory=InProcessLock)
    in_process: bool = True

    def acquire(self, owner: str) -> None:
        """Record the outermost acquisition."""
        self.lock.acquire(owner)
        if self.lock.times_held(owner) == 1:
            self.notes.append("acquire")

    def release(self, owner: str) -> None:
        """Record the outermost release."""
        if self.lock.times_held(owner) == 1:
            self.notes.append("release")
        self.lock.release(owner)

    def check(self, owner: str) -> None:
        """Record the check."""
        self.notes.append("check")
        self.lock.check(owner)


@dataclass
class RecordingStorage(CrashingStorage):
    """A storage that records every change."""

    notes: list[str] = field(default_factory=list)

    def _change(self, request: str) -> None:
        self.notes.append(request)
        super()._change(request)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> tuple[WritableTable, list[str]]:
    """A table whose settings name a provider of the tests, and the calls of its lock and storage."""
    notes: list[str] = []
    lock, storage = RecordingLock(notes), RecordingStorage(MemoryStorage(), 1_000_000, notes=notes)
    monkeypatch.setitem(providers.PROVIDERS, OURS, lambda situation: lock)
    table = create_locked_table(storage, {PROVIDER_KEY: OURS})
    notes.clear()
    return table, notes


def create_locked_table(
    storage: Storage, options: dict[str, str] | None = None, clock: Any = None, lock: Lock | None = None
) -> WritableTable:
    """Create a table with one row."""
    spec = Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", False).spec()
    options_of_table = {
        "storage": storage,
        "clock": clock or ManualClock(START),
        "ids": SeededIds(1),
        "options": options,
        "lock": lock,
    }
    create_table("memory:///locked", name="locked", schema=dict(spec.schema), record_key=("id",), **options_of_table)  # type: ignore[arg-type]
    table = open_table("memory:///locked", **options_of_table)  # type: ignore[arg-type]
    table.upsert(as_arrow([row("a", 1, "first")]))
    return table


def read_values(table: WritableTable) -> list[str]:
    """Return the values of a snapshot."""
    return sorted(table.snapshot(columns=["value"]).column("value").to_pylist())


def changes_with_lock_state(notes: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield each change to storage, and whether the lock was held."""
    inside = False
    for note in notes:
        if note in ("acquire", "release"):
            inside = note == "acquire"
        elif note != "check":
            yield note, inside


def is_decision(change: str) -> bool:
    """Return whether a change is a decision about the table: it begins or completes an action, or changes properties or
    history.
    """
    kind, _, path = change.partition(" ")
    name = path.rpartition("/")[2]
    is_state = path.startswith(TIMELINE) and kind == "create" and "history" not in path and not name.endswith(".inflight")
    return is_state or "hoodie.properties" in name or name.startswith(("manifest_", "_version_"))


def every_action(table: WritableTable) -> None:
    """Carry out each write and service once."""
    times = [table.upsert(as_arrow([row("a", n, f"value {n}")])) for n in range(2, 9)]
    table.insert(as_arrow([row("b", 1, "b")]))
    savepoint(table, times[-1])
    table.delete(as_arrow([row("b", 1, "b")]))
    rollback(table, table.timeline.commits[-1].requested)
    clean(table, {"hoodie.clean.commits.retained": "1"})
    archive(table, {"hoodie.keep.max.commits": "4", "hoodie.keep.min.commits": "3", "hoodie.clean.commits.retained": "1"})
    update_properties(table.storage, table.lock or lock_of(table.storage), {"hoodie.table.name": "renamed"}, comment="x")


@pytest.mark.requirements("LOCK-003", "OCC-002", "SVC-003", "TT-007")
def test_the_configured_lock_is_held_for_every_decision(
    noted: tuple[WritableTable, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """OCC-002: actions begin and complete, properties and history change while the one configured lock is held; the built-in
    lock is not used.
    """
    table, notes = noted
    own = lock_of(table.storage)
    monkeypatch.setattr(own, "acquire", lambda owner: pytest.fail("the built-in lock was taken"))
    every_action(table)
    decisions = [(change, inside) for change, inside in changes_with_lock_state(notes) if is_decision(change)]
    assert len(decisions) > 20 and {"requested", "commit", "properties"} <= {
        change.rpartition(".")[2] for change, _ in decisions
    }
    assert [change for change, inside in decisions if not inside] == []
    assert lock_of(table.storage) is own


@pytest.mark.requirements("OCC-010", "TT-007")
def test_check_and_completion_are_adjacent(noted: tuple[WritableTable, list[str]]) -> None:
    """OCC-010: no request lies between the check of the lock and the completed file, and a write takes the lock twice: to begin
    and to complete.
    """
    table, notes = noted
    table.upsert(as_arrow([row("a", 2, "second")]))
    completed = next(n for n, note in enumerate(notes) if note.startswith(f"create {TIMELINE}") and "_" in note)
    assert notes[completed - 1] == "check"
    assert [note for note in notes if note in ("acquire", "release")] == ["acquire", "release"] * 2
    assert notes.index("acquire", notes.index("release")) < completed < len(notes) - 1 - notes[::-1].index("release")


@pytest.mark.requirements("OCC-025")
def test_the_lock_is_free_after_every_write(noted: tuple[WritableTable, list[str]]) -> None:
    """OCC-025: after each write, and after a refused one, another process gets the lock at once."""
    table, _ = noted
    lock = table.lock
    assert isinstance(lock, RecordingLock)

    def is_free() -> bool:
        return lock.lock._owner is None

    for n in range(2, 5):
        table.upsert(as_arrow([row("a", n, f"value {n}")]))
        assert is_free()
    with pytest.raises(Misuse):
        savepoint(table, "20000101000000000")
    assert is_free()


@pytest.mark.requirements("LOCK-003")
def test_an_unknown_provider_is_refused() -> None:
    """LOCK-003: an unknown name or setting is an error when the table is opened, not at the first write."""
    storage = MemoryStorage()
    create_locked_table(storage)
    known = "org.apache.hudi.client.transaction.lock."
    for options in (
        {PROVIDER_KEY: "com.example.Unknown"},
        {PROVIDER_KEY: f"{known}ZookeeperBasedLockProvider"},
        {PROVIDER_KEY: f"{known}FileSystemBasedLockProvider", "hoodie.write.lock.filesystem.expire": "soon"},
        {PROVIDER_KEY: f"{known}StorageBasedLockProvider", "hoodie.write.lock.storage.validity.timeout.secs": "60"},
        {PROVIDER_KEY: f"{known}StorageBasedLockProvider", "hoodie.write.lock.storage.heartbeat.poll.secs": "0"},
    ):
        with pytest.raises(Misuse):
            open_table("memory:///locked", storage=storage, options=options)


@pytest.mark.requirements("LOCK-007", "LOCK-008", "OCC-002")
def test_writers_of_one_process_need_no_service(tmp_path: Path) -> None:
    """LOCK-008: threads open the table separately, without any setting: each write is there, or was refused as a conflict."""
    create_locked_table(LocalStorage(tmp_path), clock=SystemClock())
    done: list[str] = []

    def write(number: int) -> None:
        table = open_table(tmp_path.as_uri())
        for turn in range(3):
            try:
                table.insert(as_arrow([row(f"{number} {turn}", 1, f"{number} {turn}")]))
            except WriteConflict:
                continue
            done.append(f"{number} {turn}")

    threads = [Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    table = open_table(tmp_path.as_uri())
    assert read_values(table) == sorted(["first", *done]) and done
    completions = [instant.completion or "" for instant in table.timeline.commits]
    assert len(set(completions)) == len(completions)


@pytest.mark.requirements("LOCK-002", "TT-007", "TT-010")
def test_a_distributed_lock_waits_for_clock_skew(tmp_path: Path) -> None:
    """TT-007: under the lock of one process a time is drawn within a few milliseconds; under a distributed one after 200."""
    for bench, least, most in ((file_system(tmp_path / "shared"), 400, 5_000), (None, 0, 20)):
        storage = MemoryStorage()
        create_locked_table(storage)
        clock = ManualClock(START + 10_000_000, step=0)
        table = open_table("memory:///locked", storage=storage, clock=clock, lock=None if bench is None else bench.lock(clock))
        before = clock.time
        table.upsert(as_arrow([row("a", 2, "second")]))
        assert least <= clock.time - before < most


Intruder = Callable[[Storage, ManualClock], None]


def _overwritten(storage: Storage, clock: ManualClock) -> None:
    """Another process overwrites the lock against the protocol."""
    storage.put(LOCK_PATH, b'{"expired": false, "validUntil": 99999999999999, "owner": "a intruder"}')


def _taken_over(storage: Storage, clock: ManualClock) -> None:
    """Another process waits until the lease has expired."""
    clock.sleep(VALIDITY + 1_000)
    StoredLease(storage, clock, "another", validity=VALIDITY).take()


def _deleted(storage: Storage, clock: ManualClock) -> None:
    """The lock file is deleted from outside."""
    storage.delete(LOCK_PATH)


@dataclass
class Interrupted(CrashingStorage):
    """A storage on which something happens between requests: each of the `events` before the first request of its kind after
    the event before it.
    """

    events: list[tuple[str, Callable[[], object]]] = field(default_factory=list)

    def _change(self, request: str) -> None:
        self._happens(request)
        super()._change(request)

    def names(self, folder: str) -> tuple[str, ...]:
        """Reading the timeline is a request, too."""
        self._happens(f"names {folder}")
        return super().names(folder)

    def _happens(self, request: str) -> None:
        if self.events and self.events[0][0] in request:
            self.events.pop(0)[1]()


def create_leased_table(intruder: Intruder, *kinds: str) -> tuple[WritableTable, Interrupted]:
    """Return a table whose lock is a lease; the intruder acts at the last of these kinds of requests."""
    storage, clock = Interrupted(MemoryStorage(), 1_000_000), ManualClock(START, step=1)
    lock = LeasedLock(StoredLease(storage, clock, "me", validity=VALIDITY), clock, LockTimeout(wait=1_000, retries=0))
    table = create_locked_table(storage, clock=clock, lock=lock)
    *before, last = kinds
    storage.events = [*((kind, list) for kind in before), (last, lambda: intruder(storage, clock))]
    return table, storage


@pytest.mark.parametrize("intruder", [_overwritten, _taken_over, _deleted])
@pytest.mark.requirements("LOCK-001", "OCC-010")
def test_a_writer_that_lost_the_lock_publishes_nothing(intruder: Intruder) -> None:
    """LOCK-001: a writer whose lease is lost before it publishes gets an error: readers see the old rows, the next write
    succeeds.
    """
    table, storage = create_leased_table(intruder, ".parquet", f"replace {LOCK_PATH}", "names .hoodie/timeline")
    with pytest.raises(LockLost):
        table.upsert(as_arrow([row("a", 2, "second")]))
    assert storage.events == [] and read_values(table) == ["first"]
    assert len([name for name in storage.names(TIMELINE.rstrip("/")) if "_" in name]) == 1
    storage.delete(LOCK_PATH)
    table.upsert(as_arrow([row("a", 3, "third")]))
    assert read_values(table) == ["third"]


@pytest.mark.requirements("LOCK-001")
def test_a_lock_lost_during_publication_is_reported() -> None:
    """LOCK-001: a process stalls between the check and its request: the write is there, and its writer gets an error that a
    concurrent write is possible.
    """
    table, storage = create_leased_table(_taken_over, ".parquet", f"create {TIMELINE}")
    with pytest.raises(LockLost):
        table.upsert(as_arrow([row("a", 2, "second")]))
    assert storage.events == [] and read_values(table) == ["second"]


@dataclass
class StorageWithoutConditions(CrashingStorage):
    """A store without conditional writes, which reports that."""

    def create(self, path: str, data: bytes) -> None:
        """Refuse the lock."""
        if path == LOCK_PATH:
            raise UnfitStorage("the store does not support conditional writes", path=path)
        super().create(path, data)


@pytest.mark.requirements("LOCK-001", "S3-002")
def test_a_store_without_conditional_writes_is_refused() -> None:
    """LOCK-001: on a store without conditional writes there is no lock, and so no write; the table is unchanged."""
    storage = MemoryStorage()
    create_locked_table(storage)
    clock = ManualClock(START + 10_000_000, step=1)
    unfit = StorageWithoutConditions(storage, 1_000_000)
    lock = LeasedLock(StoredLease(unfit, clock, "me"), clock, LockTimeout(wait=0, retries=0))
    table = open_table("memory:///locked", storage=unfit, clock=clock, lock=lock)
    with pytest.raises(UnfitStorage):
        table.upsert(as_arrow([row("a", 2, "second")]))
    assert read_values(table) == ["first"]


@dataclass
class FailingLease:
    """A lease whose service becomes unreachable at some request, and stays so."""

    lease: StoredLease
    after: int = 1_000_000
    name: str = "a service that went away"

    def _asked(self) -> None:
        self.after -= 1
        if self.after < 0:
            raise StorageUnavailable("the lock service does not answer")

    def take(self) -> bool:
        """Acquire, or fail."""
        self._asked()
        return self.lease.take()

    def renew(self) -> None:
        """Renew, or fail."""
        self._asked()
        self.lease.renew()

    def give_back(self) -> None:
        """Release, or fail."""
        self._asked()
        self.lease.give_back()


@pytest.mark.parametrize("after", range(7))
@pytest.mark.requirements("LOCK-001", "OCC-025")
def test_an_unreachable_lock_service_leaves_a_valid_table(after: int) -> None:
    """OCC-025: whenever the service becomes unreachable: the write is there, or its writer got an error that it is not; after
    the lease has expired another write succeeds.
    """
    storage, clock = MemoryStorage(), ManualClock(START, step=1)
    gone = FailingLease(StoredLease(storage, clock, "me", validity=VALIDITY))
    table = create_locked_table(storage, clock=clock, lock=LeasedLock(gone, clock, LockTimeout(wait=0, retries=0)))
    gone.after = after
    try:
        table.upsert(as_arrow([row("a", 2, "second")]))
        expected = "second"
    except StorageUnavailable:
        expected = "first"
    assert read_values(table) == [expected]
    other = LeasedLock(StoredLease(storage, clock, "other", validity=VALIDITY), clock, LockTimeout(retries=1))
    replace(table, lock=other).upsert(as_arrow([row("a", 3, "third")]))
    assert read_values(table) == ["third"]
    assert (expected == "second") == (after >= 5)


def _file(storage: Storage, clock: ManualClock, holder: str) -> Lease:
    return FileLease(storage, holder, path=LOCK_FILE)


def _expiring_file(storage: Storage, clock: ManualClock, holder: str) -> Lease:
    return ExpiringFileLease(storage, clock, holder, path=LOCK_FILE, validity=VALIDITY)


def _stored(storage: Storage, clock: ManualClock, holder: str) -> Lease:
    return StoredLease(storage, clock, holder, validity=VALIDITY)


LOCK_FILE = ".hoodie/lock"


@pytest.mark.parametrize("lease", [_file, _expiring_file, _stored])
@pytest.mark.requirements("LOCK-001", "OCC-025", "OCC-019")
def test_a_lock_of_a_crashed_writer_blocks_until_it_expires(lease: Callable[[Storage, ManualClock, str], Lease]) -> None:
    """OCC-019: a writer crashes between any two of its requests. If it held the lock, the next writer gets an error and changes
    nothing; readers are not affected. When the lease has expired, or a file without expiry is deleted, writes succeed again.
    """
    storage, blocked = MemoryStorage(), 0
    create_locked_table(storage)

    def opened(place: Storage, holder: str, clock: ManualClock) -> WritableTable:
        lock = LeasedLock(lease(place, clock, holder), clock, LockTimeout(wait=1_000, retries=0))
        return open_table("memory:///locked", storage=place, clock=clock, ids=SeededIds(len(holder)), lock=lock)

    def write_and_crash(place: Storage) -> object:
        return opened(place, "crashed", ManualClock(START + 1_000_000, 1)).upsert(as_arrow([row("a", 2, "second")]))

    for state in crash_states(storage, write_and_crash):
        clock = ManualClock(START + 1_001_000, 1)
        table = opened(state.storage, "another", clock)
        (found,) = read_values(table)
        try:
            table.upsert(as_arrow([row("a", 3, "third")]))
        except LockNotObtained:
            blocked += 1
            assert read_values(table) == [found], state
            clock.sleep(VALIDITY + 1_000)
            if lease is _file:
                with pytest.raises(LockNotObtained):
                    table.upsert(as_arrow([row("a", 3, "third")]))
                state.storage.delete(LOCK_FILE)
            table.upsert(as_arrow([row("a", 3, "third")]))
        assert read_values(table) == ["third"], state
    assert blocked > 3
