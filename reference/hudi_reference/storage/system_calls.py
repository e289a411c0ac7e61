"""The system calls by which `LocalStorage` uses a local file system. There are no others.

Each takes a name inside an opened folder, so that no other process can change the meaning of a path between a check and its
use, and none follows a symbolic link at that name. Tests and the explorer replace this class: they record the calls, make one
of them fail, or lose what was not synced.
"""

import fcntl
import os
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

_T_co = TypeVar("_T_co", covariant=True)
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
#: Modes of a lock: `LOCK` waits until no other process has it, `TRY_LOCK` raises BlockingIOError.
LOCK, TRY_LOCK = fcntl.LOCK_EX, fcntl.LOCK_EX | fcntl.LOCK_NB


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
