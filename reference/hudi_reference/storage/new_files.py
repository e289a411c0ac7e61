"""New objects of a local file system: written to a hidden file, which then gets its name."""

import errno
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from hudi_reference.requirement import implements
from hudi_reference.storage.opened_folders import TRIES, OpenedFolders
from hudi_reference.storage.protocol import ObjectExists
from hudi_reference.storage.system_calls import TRY_LOCK, NamingCall, SystemCalls
from hudi_reference.storage.system_faults import outcome_unknown

#: The prefix of files that are about to get their names; no listing shows them.
STAGING = ".staging~"
#: The age in nanoseconds after which a hidden file that no process has locked was left behind.
ABANDONED = 3_600_000_000_000


@dataclass
class NewFiles:
    """Stores new objects.

    The hidden file is in the folder of the object. It is locked and synced. Then it is linked (create) or renamed (overwrite)
    to its name, and the folder is synced. So a reader never sees a partial file, and a change that has returned survives a
    power loss. What crashed writers left in a folder is deleted when the first object is stored in it. The checksum of a file
    that is overwritten is removed first (`remove_checksum`).
    """

    _folders: OpenedFolders
    _calls: SystemCalls
    _syncs: bool
    #: The folders in which hidden files of crashed writers were looked for.
    _swept: set[str] = field(default_factory=set)

    @implements("S3-002", "S3-006")
    def store(self, steps: Sequence[str], data: bytes, publish: NamingCall) -> None:
        """Store an object at the path of these steps; `publish` gives the hidden file its name.

        Raises OSError, OutcomeUnknown, and ObjectExists if `publish` does not replace a file that has the name.
        """
        if not steps:
            raise IsADirectoryError(errno.EISDIR, "the path names no object")
        with self._hidden_file(steps, data) as (folder, hidden, inode):
            self._folders.status(steps, folder)  # raises the error for a link
            remove_checksum(self._calls, steps[-1], folder)
            try:
                publish(hidden, steps[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                if not self._has_inode(steps, folder, inode, error):
                    raise (ObjectExists("/".join(steps)) if isinstance(error, FileExistsError) else error) from error

    def _has_inode(self, steps: Sequence[str], folder: int, inode: int, error: OSError) -> bool:
        """Whether a file has its name although the call that gave it the name failed. Raises OutcomeUnknown."""
        try:
            return self._calls.status(steps[-1], dir_fd=folder).st_ino == inode
        except FileNotFoundError:
            return False
        except OSError:
            raise outcome_unknown("/".join(steps), "the object was stored", error) from error

    @contextmanager
    def _hidden_file(self, steps: Sequence[str], data: bytes) -> Iterator[tuple[int, str, int]]:
        """A new hidden file with these bytes: the opened folder, the name of the file, and its inode.

        After the block the hidden name is gone, and the folder is synced.
        """
        hidden = f"{STAGING}{secrets.token_hex(8)}"
        folder, file = self._create_hidden(steps[:-1], hidden)
        try:
            try:
                status = self._write(file, data)
                self._sweep("/".join(steps[:-1]), folder, status.st_mtime_ns)
                yield folder, hidden, status.st_ino
            finally:
                self._folders.close(file)
                with suppress(OSError):  # not there after a rename; a hidden file that stays is swept later
                    self._calls.remove(hidden, dir_fd=folder)
            self._sync_published(steps, folder)
        finally:
            self._folders.close(folder)

    def _create_hidden(self, folders: Sequence[str], hidden: str) -> tuple[int, int]:
        """Open a folder, and a new file in it. Other processes may remove the folder as long as it is empty."""
        for _ in range(TRIES):
            with suppress(FileNotFoundError):
                folder = self._folders.open(folders, make=True)
                try:
                    return folder, self._calls.create_file(hidden, dir_fd=folder)
                except BaseException:
                    self._folders.close(folder)
                    raise
        raise OSError(errno.EBUSY, "other processes keep removing the folder")

    def _write(self, file: int, data: bytes) -> os.stat_result:
        """Lock, write and sync a new file; its status. The lock shows other processes that the writer is running."""
        self._calls.lock(file, TRY_LOCK)
        rest = memoryview(data)
        while rest:
            rest = rest[self._calls.write(file, rest) :]
        if self._syncs:
            self._calls.sync(file)
        return self._calls.status_of(file)

    def _sync_published(self, steps: Sequence[str], folder: int) -> None:
        if self._syncs:
            try:
                self._calls.sync(folder)
            except OSError as error:
                raise outcome_unknown("/".join(steps), "the object, which is stored, survives a power loss", error) from error

    def _sweep(self, path: str, folder: int, now: int) -> None:
        """Delete the hidden files that crashed writers left in a folder, once for each folder.

        A hidden file was left behind if it is older than `ABANDONED` at the time `now`, by the clock of the file system, and no
        process holds its lock.
        """
        if path in self._swept:
            return
        self._swept.add(path)
        with suppress(OSError):  # another process sweeps too, or the next one will
            for entry in self._calls.entries(folder):
                if not (entry.name.startswith(STAGING) and entry.is_file(follow_symlinks=False)):
                    continue
                if entry.stat(follow_symlinks=False).st_mtime_ns < now - ABANDONED:
                    self._remove_abandoned(entry.name, folder)

    def _remove_abandoned(self, hidden: str, folder: int) -> None:
        with suppress(OSError):
            file = self._calls.open_file(hidden, dir_fd=folder)
            try:
                self._calls.lock(file, TRY_LOCK)
                self._calls.remove(hidden, dir_fd=folder)
            finally:
                self._folders.close(file)


@implements("S3-001")
def remove_checksum(calls: SystemCalls, name: str, folder: int) -> None:
    """Remove the file in which Hadoop's local file system stores the checksums of the file `name`, before that changes.

    Hadoop refuses a file whose checksums are those of earlier content; it does not check a file that has none.
    """
    try:
        calls.remove(f".{name}.crc", dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
            raise
