"""Faults of the local file system: each is a typed error, the table stays readable, and a second try works."""

import errno
import fcntl
import io
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from failing_calls import CHANGES, ERRORS, Failing, copies_with_faults
from reference_samples import SCHEMA, trip, trips

from hudi_conformance.cases.schema import fixtures_root
from hudi_reference import clean, cluster, compact, create_table, migrate, open_table, restore, rollback, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.errors import (
    HudiError,
    NameNotStorable,
    OutcomeUnknown,
    StorageFault,
    StorageFull,
    StorageUnavailable,
    UnfinishedMigration,
)
from hudi_reference.files.base_file import read_base_file
from hudi_reference.ids import SeededIds
from hudi_reference.locks.lock import lock_of
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.storage import LocalStorage, MemoryStorage, ObjectExists, Storage
from hudi_reference.storage.system_calls import SystemCalls

pytestmark = pytest.mark.long

OPERATIONS: dict[str, Callable[[LocalStorage], object]] = {
    "get": lambda storage: storage.get("a/x"),
    "open": lambda storage: storage.open("a/x").read(),
    "head": lambda storage: storage.head("a/x"),
    "list": lambda storage: storage.list(),
    "names": lambda storage: storage.names("a"),
    "put": lambda storage: storage.put("a/x", b"new"),
    "put in a new folder": lambda storage: storage.put("b/c/x", b"new"),
    "create": lambda storage: storage.create("b/x", b"new"),
    "replace": lambda storage: storage.replace("a/x", b"new", storage.head("a/x").version),
    "delete": lambda storage: storage.delete("a/x"),
}


@pytest.mark.parametrize("error", ERRORS, ids=[errno.errorcode[number] for number in ERRORS])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_fault_at_any_call_is_typed_and_a_second_try_works(tmp_path: Path, name: str, error: int) -> None:
    """StorageFault: whichever system call of an operation fails, the error is one of the reference with the path, or the
    operation succeeds all the same; then the operation can be repeated. Only OutcomeUnknown leaves a change."""
    for call in count(1):
        folder = tmp_path / f"{call}"
        LocalStorage(folder).put("a/x", b"old")
        calls = Failing(call, error)
        before = {info.path: info.size for info in LocalStorage(folder).list()}
        try:
            OPERATIONS[name](LocalStorage(folder, sync=True, calls=calls))
        except StorageFault as fault:
            assert fault.path is not None and fault.found is not None
            assert errno.errorcode[error] in fault.found
            if not isinstance(fault, OutcomeUnknown):
                assert "nothing was changed" in (fault.remedy or "")
                assert {info.path: info.size for info in LocalStorage(folder).list()} == before, calls.made[-1]
        if len(calls.made) < call:
            break
        with suppress(ObjectExists):
            OPERATIONS[name](LocalStorage(folder))
        assert not list(folder.rglob(".staging~*")) or calls.made[call - 1] == "remove"


def test_the_class_of_a_fault_says_what_is_wrong(tmp_path: Path) -> None:
    """StorageFault: a full disk, a missing permission and a bad name have classes of their own; the name of the operation is in
    the message."""
    found = {}
    for error in ERRORS:
        folder = tmp_path / f"{error}"
        LocalStorage(folder).put("x", b"old")
        with pytest.raises(StorageFault, match="create the file") as fault:
            LocalStorage(folder, calls=Failing(3, error)).create("new", b"y")
        found[errno.errorcode[error]] = type(fault.value).__name__
    assert found == {
        "ENOSPC": "StorageFull", "EDQUOT": "StorageFull", "EACCES": "AccessDenied", "EROFS": "AccessDenied",
        "EIO": "StorageUnavailable", "EMFILE": "StorageUnavailable", "EINTR": "StorageUnavailable",
        "ENAMETOOLONG": "NameNotStorable",
    }  # fmt: skip
    assert issubclass(StorageFull, StorageFault) and issubclass(StorageUnavailable, StorageFault)


@pytest.mark.parametrize("error", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_hard_links_is_named(tmp_path: Path, error: int) -> None:
    """StorageFault: a file is published by a link, without which two writers could both publish it. Nothing is left."""

    class WithoutLinks(SystemCalls):
        def link(self, name: str, new: str, /, *, src_dir_fd: int, dst_dir_fd: int) -> None:
            raise OSError(error, os.strerror(error))

    with pytest.raises(StorageFault, match="hard links"):
        LocalStorage(tmp_path, calls=WithoutLinks()).create("new", b"y")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["", "a" * 300, "x/below", "\ud800"])
def test_a_name_that_cannot_be_stored_is_refused(tmp_path: Path, path: str) -> None:
    """NameNotStorable: an empty name, a name that is too long, a path through a file, and text that is no Unicode."""
    storage = LocalStorage(tmp_path)
    storage.put("x", b"file")
    for act in (storage.put, storage.create):
        with pytest.raises(NameNotStorable):
            act(path, b"")
    with suppress(NameNotStorable):  # the file system may not know the name, or may not look for it
        storage.delete(path)
        assert storage.head(path) is None
    with pytest.raises((FileNotFoundError, NameNotStorable)):
        storage.get(path)


def test_a_new_table_has_the_folder_of_its_timeline(tmp_path: Path) -> None:
    """LAY-017: deployed writers list it before their first write, and fail without it."""
    create_table((tmp_path / "t").as_uri(), name="t", schema=SCHEMA, record_key=("id",))
    assert (tmp_path / "t" / ".hoodie" / "timeline").is_dir()


def test_hidden_files_of_crashed_writers_are_swept(tmp_path: Path) -> None:
    """A writer deletes the hidden files in its folders that are older than an hour and that no process has locked."""
    folder = tmp_path / "a"
    folder.mkdir()
    for name in ("old", "young", "locked"):
        (folder / f".staging~{name}").write_bytes(b"half")
    for name in ("old", "locked"):
        os.utime(folder / f".staging~{name}", (1_000_000_000, 1_000_000_000))
    with (folder / ".staging~locked").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        LocalStorage(tmp_path).put("a/x", b"1")
    assert sorted(path.name for path in folder.iterdir()) == [".staging~locked", ".staging~young", "x"]
    LocalStorage(tmp_path).put("a/x", b"1")
    assert sorted(path.name for path in folder.iterdir()) == [".staging~young", "x"]


# Tables.


def opened(storage: Storage, day: int, **options: str):
    return open_table("memory:///t", storage=storage, clock=ManualClock(1_767_225_600_000 + day * 86_400_000),
                      ids=SeededIds(day), options=options)  # fmt: skip


def rows(folder: Path) -> dict[str, str]:
    return {row["id"]: row["name"] for row in opened(LocalStorage(folder), 20).snapshot(["id", "name"]).to_pylist()}


def made(folder: Path, kind: str) -> None:
    storage = LocalStorage(folder)
    create_table("memory:///t", name="t", schema=SCHEMA, table_type=kind, storage=storage, record_key=("id",), partition=("p",),
                 ordering=("ts",), clock=ManualClock(1_767_225_600_000), ids=SeededIds(0))  # fmt: skip
    for day in range(1, 4):
        opened(storage, day).upsert(trips(trip("1", f"{day}", day, "x"), trip("2", f"{day}", day, "y")))


LATER = trips(trip("1", "later", 9, "x"), trip("3", "new", 9, "z"))
ACTIONS = {
    "upsert": lambda table: table.upsert(LATER),
    "insert_overwrite": lambda table: table.insert_overwrite(LATER),
    "clean": lambda table: clean(table, {"hoodie.clean.commits.retained": "1"}),
    "rollback": lambda table: rollback(table, table.timeline.commits[-1].requested),
    "restore": lambda table: restore(table, table.timeline.commits[0].requested),
    "savepoint": lambda table: savepoint(table, table.timeline.commits[-1].requested),
    "compaction": lambda table: compact(table, {"hoodie.compact.inline.max.delta.commits": "1"}),
    "clustering": lambda table: cluster(table, {}),
    "archive": lambda table: archive(table, {"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2"}),
    "snapshot": lambda table: table.snapshot(),
    "read_optimized": lambda table: table.read_optimized(),
    "as_of": lambda table: table.as_of(table.timeline.commits[1].requested),
    "incremental": lambda table: table.incremental(),
    "changes": lambda table: table.changes(),
}


def check_fault(folder: Path, name: str, calls: Failing, states: list[dict[str, str]]) -> None:
    """A typed error and a readable table; a second try works."""
    failed = None
    try:
        ACTIONS[name](opened(LocalStorage(folder, sync=True, calls=calls), 10))
    except HudiError as error:
        failed = error
    state = rows(folder)
    assert state in states, calls.made[-1]
    if failed is not None and name in ("upsert", "insert_overwrite") and state == states[-1]:
        assert isinstance(failed, OutcomeUnknown), f"{failed} although the write is complete"
    if failed is not None and state != states[-1]:
        table = opened(LocalStorage(folder), 12)
        roll_back_failed(table)
        if name in ("upsert", "insert_overwrite"):
            ACTIONS[name](table)
            assert rows(folder) == states[-1]
    opened(LocalStorage(folder), 14).snapshot()


@pytest.mark.parametrize("name", ACTIONS)
def test_a_fault_at_a_call_of_an_action_leaves_a_readable_table(tmp_path: Path, name: str) -> None:
    """StorageFault: whichever system call of an action fails, the error is typed, the rows are those of before or after it, and
    a second try works. A write that is complete never reports that it failed. `-m long` lets every call fail; else every
    third change and every tenth read do."""
    made(tmp_path / "start", "MERGE_ON_READ" if name == "compaction" else "COPY_ON_WRITE")
    check_every(tmp_path, name, lambda call, kind: call % (3 if kind in CHANGES else 10) == 0)


@pytest.mark.parametrize("name", ACTIONS)
def test_a_fault_at_every_call_of_an_action_leaves_a_readable_table(tmp_path: Path, name: str) -> None:
    """The same for every call, each with another error."""
    made(tmp_path / "start", "MERGE_ON_READ" if name == "compaction" else "COPY_ON_WRITE")
    check_every(tmp_path, name, lambda call, kind: True)


def check_every(tmp_path: Path, name: str, chosen: Callable[[int, str], bool]) -> None:
    shutil.copytree(tmp_path / "start", tmp_path / "whole")
    calls = Failing()
    ACTIONS[name](opened(LocalStorage(tmp_path / "whole", sync=True, calls=calls), 10))
    states = [rows(tmp_path / "start"), rows(tmp_path / "whole")]
    if name == "restore":
        states.insert(1, {"1": "2", "2": "2"})
    tried = 0
    for folder, failing in copies_with_faults(tmp_path / "start", tmp_path, calls.made, chosen):
        check_fault(folder, name, failing, states)
        tried += 1
    assert tried > 3


MIGRATIONS = {"6 to 8": ("v6.mor", 8), "8 to 9": ("upgraded.mor", 9)}


def check_migration(tmp_path: Path, name: str, chosen: Callable[[int, str], bool]) -> None:
    """A fault at a call of a migration is typed; the table is readable, or says how it is repaired; a second try works."""
    source, version = MIGRATIONS[name]
    start, calls = fixtures_root() / "compatibility" / source / "table", Failing()

    def migrated(folder: Path, calls: Failing) -> None:
        migrate("memory:///t", version=version, storage=LocalStorage(folder, calls=calls), clock=ManualClock(1_798_761_600_000))

    shutil.copytree(start, tmp_path / "whole")
    migrated(tmp_path / "whole", calls)
    expected = open_table(str(tmp_path / "whole")).snapshot().num_rows
    tried = 0
    for folder, failing in copies_with_faults(start, tmp_path, calls.made, chosen):
        with suppress(HudiError):
            migrated(folder, failing)
        with suppress(UnfinishedMigration):
            assert open_table(str(folder)).snapshot().num_rows == expected
        migrated(folder, Failing())
        table = open_table(str(folder))
        assert (table.properties.version, table.snapshot().num_rows) == (version, expected), f"call {failing.at}"
        tried += 1
    assert tried > 3


@pytest.mark.parametrize("name", MIGRATIONS)
def test_a_migration_with_a_fault_can_be_repeated(tmp_path: Path, name: str) -> None:
    """COMPAT-005: whichever call of a migration fails, the error is typed, and the next migration completes it. `-m long` lets
    every call fail; else every third change and every twentieth read do.
    """
    check_migration(tmp_path, name, lambda call, kind: call % (3 if kind in CHANGES else 20) == 0)


@pytest.mark.parametrize("name", MIGRATIONS)
def test_a_migration_with_a_fault_at_every_call_can_be_repeated(tmp_path: Path, name: str) -> None:
    """The same for every call, each with another error."""
    check_migration(tmp_path, name, lambda call, kind: True)


class Broken(io.RawIOBase):
    """A file that opens, and cannot be read."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return 1000

    def tell(self) -> int:
        return 1000

    def read(self, size: int = -1) -> bytes:
        raise OSError(errno.EIO, "injected")


@pytest.mark.parametrize("extension", ["parquet", "orc"])
def test_a_base_file_that_cannot_be_read_is_not_called_damaged(extension: str) -> None:
    """StorageUnavailable: an error of the disk below a library is a fault of the storage, not of the file's content."""

    class Disk(MemoryStorage):
        def open(self, path: str) -> pa.NativeFile:
            return pa.PythonFile(Broken(), mode="r")

    with pytest.raises(StorageUnavailable, match="EIO"):
        read_base_file(Disk(), f"a-0_0-0-0_20260101000000000.{extension}")


def test_a_linked_base_path_has_the_lock_of_its_target(tmp_path: Path) -> None:
    """TT-007: threads that open a table through a symbolic link and without it share the lock of the process."""
    (tmp_path / "t").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "t")
    lock = lock_of(LocalStorage(tmp_path / "t"))
    assert lock_of(LocalStorage(tmp_path / "link")) is lock
