"""A folder of the local file system as storage."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from hudi_reference.errors import StorageFault
from hudi_reference.limits import OBJECT_BYTES
from hudi_reference.requirement import implements
from hudi_reference.storage.new_files import STAGING, NewFiles, remove_checksum
from hudi_reference.storage.opened_folders import OpenedFolders
from hudi_reference.storage.protocol import ObjectChanged, ObjectInfo, require_inside_table
from hudi_reference.storage.system_calls import LOCK, SystemCalls
from hudi_reference.storage.system_faults import link_in_table, outcome_unknown, translated

#: The environment variable that turns syncing off with `0`, for tables that need not survive a power loss, as those of tests.
SYNC_VARIABLE = "HUDI_REFERENCE_SYNC"
#: Files of at most this size in bytes are read as a whole when they are opened.
WHOLE = 1 << 16

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True)
class Entry:
    """An entry of a folder, with the status of a file. `path` is relative to the base path, `name` its last step."""

    path: str
    name: str
    kind: Kind
    status: os.stat_result | None = None

    @property
    def info(self) -> ObjectInfo | None:
        """The file as an object."""
        if (found := self.status) is None:
            return None
        version = f"{found.st_ino} {found.st_mtime_ns} {found.st_size}"
        return ObjectInfo(self.path, found.st_size, found.st_mtime_ns // 1_000_000, version)


@implements("S3-001", "S3-002", "S3-006")
class LocalStorage:
    """A folder of the local file system.

    A new object is written to a hidden file, which then gets its name (`NewFiles`). Folders are made and removed with their
    contents.

    The root and the folders above it may be symbolic links. Below the root none is followed, because its target may lie outside
    the table: every operation raises SymbolicLinkInTable for a path that leads through a link, or to one (`OpenedFolders`).

    All methods raise a StorageFault for an error of the file system, and those that change something OutcomeUnknown if the
    change may have happened all the same.

    Args:
        root: the base path.
        sync: whether changes are synced; None is True, unless the environment variable `HUDI_REFERENCE_SYNC` is `0`.
        calls: the system calls; tests replace them.
    """

    def __init__(self, root: Path, *, sync: bool | None = None, calls: SystemCalls | None = None) -> None:
        self.root = Path(os.path.realpath(root))
        self.syncs = os.environ.get(SYNC_VARIABLE, "1") != "0" if sync is None else sync
        self._calls = calls or SystemCalls()
        self._folders = OpenedFolders(str(self.root), self._calls, self.syncs)
        self._new_files = NewFiles(self._folders, self._calls, self.syncs)

    # Reads.

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a range."""
        with translated("read the file", path), self._opened(path) as (file, found):
            length = max(0, found.st_size - start) if length is None else length
            OBJECT_BYTES.check(min(length, found.st_size), path)
            return self._read(file, start, length)

    def open(self, path: str) -> pa.NativeFile:
        """Open the file. It is not mapped into memory: a process that reads beyond the end of a mapped file is ended."""
        with translated("open the file", path), self._opened(path) as (file, found):
            if found.st_size <= WHOLE:
                return pa.BufferReader(self._read(file, 0, found.st_size))
            return pa.OSFile(f"/dev/fd/{file}")

    def head(self, path: str) -> ObjectInfo | None:
        """Stat the file."""
        steps = _steps(path)
        try:
            with translated("stat the file", path), self._folders.opened(steps[:-1]) as folder:
                found = self._folders.status(steps, folder) if steps else None
        except FileNotFoundError:
            return None
        return Entry(path, steps[-1], "file", found).info if found is not None and stat.S_ISREG(found.st_mode) else None

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """Walk the folder."""
        found = []
        for entry in self.entries(prefix, skip=skip):
            if entry.kind == "link":
                raise link_in_table(entry.path)
            if (info := entry.info) is not None and not entry.name.startswith(STAGING):
                found.append(info)
        return sorted(found, key=lambda info: info.path)

    def names(self, folder: str) -> tuple[str, ...]:
        """Read the folder."""
        found = []
        for entry in self._entries(require_inside_table(folder), with_status=False):
            if entry.kind == "link":
                raise link_in_table(entry.path)
            if entry.kind == "folder" or (entry.kind == "file" and not entry.name.startswith(STAGING)):
                found.append(entry.name + "/" * (entry.kind == "folder"))
        return tuple(sorted(found))

    def entries(
        self, folder: str = "", *, skip: str | None = None, unlisted: dict[str, StorageFault] | None = None
    ) -> Iterator[Entry]:
        """Everything below a folder, without the folder `skip`: also hidden files, and links, which are not followed.

        A folder that cannot be listed is added to `unlisted` with its error, if that is given; otherwise the error is raised.
        """
        waiting, skipped = [require_inside_table(folder)], None if skip is None else skip.strip("/")
        while waiting:
            listed = waiting.pop()
            try:
                entries = self._entries(listed, with_status=True)
            except StorageFault as fault:
                if unlisted is None:
                    raise
                unlisted[listed] = fault
                continue
            for entry in entries:
                if entry.path != skipped:
                    yield entry
                    if entry.kind == "folder":
                        waiting.append(entry.path)

    # Changes.

    def put(self, path: str, data: bytes) -> None:
        """Write a hidden file, then rename it."""
        with translated("store the file", path, is_change=True):
            self._new_files.store(_steps(path), data, self._calls.rename)

    def create(self, path: str, data: bytes) -> None:
        """Write a hidden file, then link it to its name."""
        with translated("create the file", path, is_change=True):
            self._new_files.store(_steps(path), data, self._calls.link)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Compare and overwrite under a lock on the folder."""
        try:
            with translated("replace the file", path), self._folders.opened(_steps(path)[:-1]) as folder:
                self._calls.lock(folder, LOCK)
                info = self.head(path)
                if info is None or info.version != version:
                    raise ObjectChanged(path)
                self.put(path, data)
        except FileNotFoundError:
            raise ObjectChanged(path) from None

    def make_folder(self, path: str) -> None:
        """Make an empty folder, and those above it, unless it exists. Deleting the last file in it deletes it."""
        with translated("make the folder", path, is_change=True):
            folder = self._folders.open(_steps(path), make=True)
            try:
                if self.syncs:
                    self._calls.sync(folder)
            finally:
                self._folders.close(folder)

    def delete(self, path: str) -> None:
        """Delete the file and the folders that become empty."""
        steps = _steps(path)
        folders = steps[:-1]
        if not steps:
            return
        with translated("delete the file", path, is_change=True):
            try:
                with self._folders.opened(folders) as folder:
                    found = self._folders.status(steps, folder)
                    if found is not None and stat.S_ISDIR(found.st_mode):
                        return
                    remove_checksum(self._calls, steps[-1], folder)
                    with suppress(FileNotFoundError):
                        self._calls.remove(steps[-1], dir_fd=folder)
            except FileNotFoundError:
                return
        try:
            self._sync_first_existing(self._folders.remove_if_empty(folders))
        except OSError as error:
            raise outcome_unknown(path, "the deletion, which was made, survives a power loss", error) from error

    # Parts of the operations.

    @contextmanager
    @implements("LAY-005")
    def _opened(self, path: str) -> Iterator[tuple[int, os.stat_result]]:
        """The descriptor and the status of a file during a block. Raises FileNotFoundError, also for a folder."""
        steps = _steps(path)
        if not steps:
            raise FileNotFoundError(path)
        with self._folders.opened(steps[:-1]) as folder:
            try:
                file = self._calls.open_file(steps[-1], dir_fd=folder)
            except FileNotFoundError:
                raise FileNotFoundError(path) from None
            except OSError:
                self._folders.status(steps, folder)  # raises the error for a link
                raise
            try:
                found = self._calls.status_of(file)
                if not stat.S_ISREG(found.st_mode):
                    raise FileNotFoundError(path)
                yield file, found
            finally:
                self._folders.close(file)

    def _read(self, file: int, start: int, length: int) -> bytes:
        """`length` bytes from `start` on, fewer at the end of the file."""
        found: list[bytes] = []
        while length > 0 and (part := self._calls.read(file, length, start)):
            found.append(part)
            start, length = start + len(part), length - len(part)
        return found[0] if len(found) == 1 else b"".join(found)

    def _entries(self, folder: str, *, with_status: bool) -> Sequence[Entry]:
        """The entries directly in a folder; none if there is no such folder. Files that are deleted meanwhile are left out."""
        found = []
        try:
            with translated("list the folder", folder or str(self.root)), self._folders.opened(_steps(folder)) as opened:
                for entry in self._calls.entries(opened):
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    kind: Kind = "file" if entry.is_file(follow_symlinks=False) else "other"
                    if entry.is_symlink():
                        kind = "link"
                    elif entry.is_dir(follow_symlinks=False):
                        kind = "folder"
                    with suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False) if with_status and kind == "file" else None
                        found.append(Entry(path, entry.name, kind, status))
        except FileNotFoundError:
            return []
        return found

    def _sync_first_existing(self, folders: Sequence[str]) -> None:
        """Sync a folder; if another process has removed it, the first one above it that exists."""
        for number in range(len(folders), -1, -1) if self.syncs else ():
            with suppress(FileNotFoundError), self._folders.opened(folders[:number]) as folder:
                self._calls.sync(folder)
                break


def _steps(path: str) -> list[str]:
    """The steps of a path inside the table. Raises PathOutsideTable."""
    return [step for step in require_inside_table(path).split("/") if step]
