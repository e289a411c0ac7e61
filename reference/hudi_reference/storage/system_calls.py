"""The system calls by which `LocalStorage` uses a local file system. There are no others.

Each takes a name inside an opened folder, so that no other process can change the meaning of a path between a check and its
use, and none follows a symbolic link at that name. Tests and the explorer replace this class: they record the calls, make one
of them fail, or lose what was not synced.
"""

import fcntl
import os

_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


class SystemCalls:
    """The calls of this process. Each raises OSError; `at` and `folder` are descriptors of opened folders."""

    def open_root(self, path: str) -> int:
        """Open the folder at an absolute path, also through symbolic links: they lie above the table."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open_folder(self, name: str, at: int) -> int:
        """Open a folder."""
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=at)

    def open_file(self, name: str, at: int) -> int:
        """Open a file for reading; does not wait for the writer of a named pipe."""
        return os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | _FLAGS, dir_fd=at)

    def create_file(self, name: str, at: int) -> int:
        """Create a file that does not exist, for writing."""
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o644, dir_fd=at)

    def close(self, descriptor: int) -> None:
        """Close a file or folder."""
        os.close(descriptor)

    def read(self, file: int, size: int, offset: int) -> bytes:
        """At most `size` bytes from there on; none at the end."""
        return os.pread(file, size, offset)

    def write(self, file: int, data: memoryview) -> int:
        """Append bytes; the number of them that were written."""
        return os.write(file, data)

    def lock(self, descriptor: int, *, wait: bool) -> None:
        """Lock a file or folder until it is closed. Raises BlockingIOError if another process has locked it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def status_of(self, descriptor: int) -> os.stat_result:
        """The status of an opened file or folder."""
        return os.fstat(descriptor)

    def status(self, name: str, at: int) -> os.stat_result:
        """The status of an entry, of the link itself if it is one."""
        return os.stat(name, dir_fd=at, follow_symlinks=False)

    def entries(self, folder: int) -> "list[os.DirEntry[str]]":
        """The entries of a folder, whose status can be read as long as the folder is open."""
        with os.scandir(folder) as found:
            return list(found)

    def make_root(self, path: str) -> None:
        """Make the folder at an absolute path."""
        os.mkdir(path)  # noqa: PTH102 - a system call of its own, so that each new folder can be synced

    def make_folder(self, name: str, at: int) -> None:
        """Make a folder."""
        os.mkdir(name, dir_fd=at)

    def remove_folder(self, name: str, at: int) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=at)

    def link(self, name: str, new: str, folder: int) -> None:
        """Give a file a second name in its folder. Raises FileExistsError if there is one."""
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)

    def rename(self, name: str, new: str, folder: int) -> None:
        """Rename a file in its folder, over the file that has the name."""
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)

    def remove(self, name: str, at: int) -> None:
        """Remove the name of a file, or a link."""
        os.unlink(name, dir_fd=at)

    def sync(self, descriptor: int) -> None:
        """Wait until the bytes of a file, or the entries of a folder, are on the disk."""
        os.fsync(descriptor)
