"""The system calls by which `LocalStorage` uses a local file system. There are no others.

Each takes a name inside an opened folder, so that no other process can change the meaning of a path between a check and its
use, and none follows a symbolic link at that name. Tests and the explorer replace this class: they record the calls, make one
of them fail, or lose what was not synced.

The functions below the class translate the errors of the calls into those of the reference, with path and operation.
`OpenedFolders` reaches the folders of a table one by one through opened folders.
"""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from hudi_reference.errors import (
    AccessDenied,
    NameNotStorable,
    OutcomeUnknown,
    StorageFault,
    StorageFull,
    StorageUnavailable,
    SymbolicLinkInTable,
)
from hudi_reference.limits import MORE_MEMORY

_T_co = TypeVar("_T_co", covariant=True)
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
#: Modes of a lock: `LOCK` waits until no other process has it, `TRY_LOCK` raises BlockingIOError.
LOCK, TRY_LOCK = fcntl.LOCK_EX, fcntl.LOCK_EX | fcntl.LOCK_NB
#: How often a step is tried while other processes remove and make the folder.
TRIES = 100
#: The errors of a step to something that is no folder: a file or a symbolic link.
_NO_FOLDER = (errno.ENOTDIR, errno.ELOOP)


class EntryCall(Protocol[_T_co]):
    """A call with the name of an entry; `dir_fd` is the descriptor of the opened folder that has it."""

    def __call__(self, name: str, /, *, dir_fd: int) -> _T_co:
        """Make the call."""


class NamingCall(Protocol):
    """A call that gives a file in a folder another name in that folder; both descriptors are that of the folder."""

    def __call__(self, name: str, new: str, /, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        """Make the call."""


class SystemCalls:
    """The calls of this process. Each raises OSError."""

    #: Opens the folder at an absolute path, also through symbolic links: they lie above the table.
    open_root: Callable[[str], int] = staticmethod(partial(os.open, flags=_FOLDER | os.O_CLOEXEC))
    #: Opens a folder.
    open_folder: EntryCall[int] = staticmethod(partial(os.open, flags=_FOLDER | _FLAGS))
    #: Opens a file for reading; does not wait for the writer of a named pipe.
    open_file: EntryCall[int] = staticmethod(partial(os.open, flags=os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | _FLAGS))
    #: Creates a file that does not exist, for writing.
    create_file: EntryCall[int] = staticmethod(
        partial(os.open, flags=os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, mode=0o644)
    )
    #: Closes a file or folder.
    close: Callable[[int], None] = staticmethod(os.close)
    #: Reads from a file at most so many bytes from an offset on; none at the end.
    read: Callable[[int, int, int], bytes] = staticmethod(os.pread)
    #: Appends bytes to a file; the number of them that were written.
    write: Callable[[int, memoryview], int] = staticmethod(os.write)
    #: Waits until the bytes of a file, or the entries of a folder, are on the disk.
    sync: Callable[[int], None] = staticmethod(os.fsync)
    #: Locks a file or folder until it is closed, in the mode `LOCK` or `TRY_LOCK`.
    lock: Callable[[int, int], None] = staticmethod(fcntl.flock)
    #: The status of an opened file or folder.
    status_of: Callable[[int], os.stat_result] = staticmethod(os.fstat)
    #: The status of an entry, of the link itself if it is one.
    status: EntryCall[os.stat_result] = staticmethod(partial(os.stat, follow_symlinks=False))
    #: Makes the folder at an absolute path.
    make_root: Callable[[str], None] = staticmethod(os.mkdir)
    #: Makes a folder.
    make_folder: EntryCall[None] = staticmethod(os.mkdir)
    #: Removes an empty folder.
    remove_folder: EntryCall[None] = staticmethod(os.rmdir)
    #: Removes the name of a file, or a link.
    remove: EntryCall[None] = staticmethod(os.unlink)
    #: Gives a file a second name. Raises FileExistsError if there is one.
    link: NamingCall = staticmethod(partial(os.link, follow_symlinks=False))
    #: Renames a file, over the file that has the name.
    rename: NamingCall = staticmethod(os.rename)

    def entries(self, folder: int) -> "list[os.DirEntry[str]]":
        """The entries of an opened folder, whose status can be read as long as the folder is open."""
        with os.scandir(folder) as found:
            return list(found)


class _Fault(NamedTuple):
    """The class of an error, and what the user can do."""

    kind: type[StorageFault]
    remedy: str


#: The steps to the folder of all markers, which stays when it is empty: Apache Hudi makes it with the table, and its writers
#: with early conflict detection list it before they store a file.
MARKERS = (".hoodie", ".temp")
_RETRY = "nothing was changed; try again"
_FAULTS = {
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS),
        _Fault(
            AccessDenied,
            "nothing was changed; check owner and permissions; a change needs a writable disk with hard links",
        ),
    ),
    **dict.fromkeys(
        (errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK),
        _Fault(StorageUnavailable, "nothing was changed; use a file system that has hard links"),
    ),
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _Fault(StorageFull, "nothing was changed; free some space, then try again")
    ),
    **dict.fromkeys(
        (errno.EMFILE, errno.ENFILE),
        _Fault(StorageUnavailable, "nothing was changed; raise the limit of open files (ulimit -n)"),
    ),
    errno.ENOMEM: _Fault(StorageUnavailable, f"read fewer columns or partitions, or let the process have more ({MORE_MEMORY})"),
    **dict.fromkeys(
        (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR),
        _Fault(NameNotStorable, "nothing was changed; use another name for the partition or the file"),
    ),
}
#: Errors of the system that libraries report for a file that may be undamaged.
_READ_FAULTS = (errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ESTALE, errno.ENOMEM)
_OTHER = _Fault(StorageUnavailable, _RETRY)


def reason_of(error: OSError | UnicodeEncodeError) -> str:
    """The text of the operating system, as `No space left on device (ENOSPC)`."""
    if isinstance(error, UnicodeEncodeError):
        return str(error)
    number = error.errno or 0
    return f"{os.strerror(number)} ({errno.errorcode.get(number, number)})" if number else str(error)


@contextmanager
def translated(operation: str, path: str, *, is_change: bool = False) -> Iterator[None]:
    """Translate the errors of a block. A missing object stays FileNotFoundError, as the protocol of storage has it.

    In a change a missing file is a fault like others: another process removed it meanwhile.
    """
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        if isinstance(error, FileNotFoundError) and not is_change:
            raise
        raise fault_of(operation, path, error) from error


def fault_of(operation: str, path: str, error: OSError | UnicodeEncodeError) -> StorageFault:
    """The error of the reference for an operation that had no effect."""
    number = errno.EILSEQ if isinstance(error, UnicodeEncodeError) else error.errno
    kind, remedy = _FAULTS.get(number or 0, _OTHER)
    return kind(f"the file system did not {operation}", path=path, found=reason_of(error), remedy=remedy)


def memory_used_up(path: str) -> StorageFault:
    """The error of the reference for a file, or a part of a table, that needs more memory than the process may have."""
    return fault_of("read the file", path, OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))


def check_fault(path: str, error: Exception) -> None:
    """Raise the error of the reference if a library could not read an opened file: then its content need not be damaged."""
    if isinstance(error, MemoryError):
        raise memory_used_up(path) from error
    if isinstance(error, OSError):
        said = re.search(r"\[errno (\d+)\]", str(error), re.IGNORECASE)  # Arrow's ORC reader has the number in the text alone
        number = error.errno or (int(said[1]) if said else 0)
        if number in _READ_FAULTS:
            raise fault_of("read the file", path, OSError(number, os.strerror(number))) from error


def outcome_unknown(path: str, what: str, error: OSError) -> OutcomeUnknown:
    """The error for a change whose effect, or whose place on the disk, is not known."""
    return OutcomeUnknown(
        f"it is unknown whether {what}", rule="S3-006", path=path, expected="an answer", found=reason_of(error),
        remedy="check the timeline before you repeat the write; it may be complete",
    )  # fmt: skip


def link_in_table(path: str) -> SymbolicLinkInTable:
    """The error for the symbolic link at `path`, relative to the base path."""
    return SymbolicLinkInTable(
        "symbolic links inside the table are not followed", rule="LAY-005", path=path,
        expected="folders and ordinary files below the base path", found="a symbolic link",
        remedy="remove the link, or replace it by its target",
    )  # fmt: skip


@dataclass
class OpenedFolders:
    """Opens folders below `root` by the names that lead to them.

    Every path is walked from the opened base path, one step at a time, without following symbolic links. Another process may
    replace a folder by a link at any moment: then the step fails, or the opened folder stays the one that it was. A check of
    the whole path before its use could not promise that.

    With `syncs`, an opened folder that was made for a change stays after a power loss: every folder above it is synced before
    the change, once for each folder, because the process that made it may have crashed before it synced.
    """

    _root: str
    _calls: SystemCalls
    _syncs: bool
    #: The inodes of folders whose entries are known to be on the disk, by path.
    _synced: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def opened(self, steps: Sequence[str]) -> Iterator[int]:
        """The descriptor of a folder during a block. Raises as `open` does."""
        folder = self.open(steps)
        try:
            yield folder
        finally:
            self.close(folder)

    def open(self, steps: Sequence[str], *, make: bool = False) -> int:
        """Open a folder; the caller closes it.

        With `make` missing folders are made. Raises FileNotFoundError, also with `make` if other processes remove the folders
        meanwhile; NotADirectoryError (only with `make`), SymbolicLinkInTable.
        """
        try:
            folder = self._made_root() if make else self._calls.open_root(self._root)
        except NotADirectoryError:
            raise FileNotFoundError(self._root) from None
        for number in range(1, len(steps) + 1):
            try:
                below = self._open_below(folder, steps[:number], make=make)
            finally:
                self.close(folder)
            folder = below
        return folder

    def close(self, descriptor: int) -> None:
        """Close a folder, or a file that was read: there is nothing that could be lost."""
        with suppress(OSError):
            self._calls.close(descriptor)

    def status(self, steps: Sequence[str], at: int) -> os.stat_result | None:
        """The status of the entry to which the steps lead, in its opened folder; None if there is none.

        Raises SymbolicLinkInTable.
        """
        try:
            found = self._calls.status(steps[-1], dir_fd=at)
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(found.st_mode):
            raise link_in_table("/".join(steps))
        return found

    def remove_if_empty(self, steps: Sequence[str]) -> Sequence[str]:
        """Remove a folder and those above it, as far as they are empty; the steps to the first that stays."""
        while steps and tuple(steps) != MARKERS:
            try:
                with self.opened(steps[:-1]) as above:
                    self._calls.remove_folder(steps[-1], dir_fd=above)
            except OSError:
                break
            self._synced.pop("/".join(steps), None)
            steps = steps[:-1]
        return steps

    def _made_root(self) -> int:
        """Open the base path, which is made if it is missing."""
        try:
            root = self._calls.open_root(self._root)
        except (FileNotFoundError, NotADirectoryError):
            self._make_root(self._root)
            root = self._calls.open_root(self._root)
        if self._syncs and "" not in self._synced:
            try:
                self._sync_path(str(Path(self._root).parent))
            except BaseException:
                self.close(root)
                raise
            self._synced[""] = 0
        return root

    def _make_root(self, path: str) -> None:
        """Make the base path and the missing folders above it."""
        above = str(Path(path).parent)
        try:
            self._calls.make_root(path)
        except FileExistsError:
            return
        except FileNotFoundError:
            self._make_root(above)
            with suppress(FileExistsError):
                self._calls.make_root(path)
        if self._syncs:
            self._sync_path(above)

    def _sync_path(self, path: str) -> None:
        """Sync a folder above the table. One that may be traversed but not read was made by others, who have synced it."""
        try:
            folder = self._calls.open_root(path)
        except PermissionError:
            return
        try:
            self._calls.sync(folder)
        finally:
            self.close(folder)

    def _open_below(self, above: int, steps: Sequence[str], *, make: bool) -> int:
        """Open the folder that the last step names in the folder `above`."""
        for _ in range(TRIES):
            try:
                folder = self._calls.open_folder(steps[-1], dir_fd=above)
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):
                    self._calls.make_folder(steps[-1], dir_fd=above)
            except OSError as error:
                if error.errno not in _NO_FOLDER:
                    raise
                found = self.status(steps, above)
                if found is not None and not stat.S_ISDIR(found.st_mode):
                    missing = NotADirectoryError(errno.ENOTDIR, "not a folder") if make else FileNotFoundError(steps[-1])
                    raise missing from None
            else:
                return self._with_synced_entry(folder, above, steps) if make and self._syncs else folder
        raise OSError(errno.EBUSY, "other processes keep removing the folder")

    def _with_synced_entry(self, folder: int, above: int, steps: Sequence[str]) -> int:
        """The opened folder, after its entry in the folder `above` is on the disk."""
        path = "/".join(steps)
        try:
            inode = self._calls.status_of(folder).st_ino
            if self._synced.get(path) != inode:
                self._calls.sync(above)
                self._synced[path] = inode
        except BaseException:
            self.close(folder)
            raise
        return folder
