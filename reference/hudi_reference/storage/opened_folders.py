"""The folders of a table on a local file system, reached one by one through opened folders."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from hudi_reference.storage.system_calls import SystemCalls
from hudi_reference.storage.system_faults import link_in_table

#: The steps to the folder of all markers, which stays when it is empty: Apache Hudi makes it with the table, and its writers
#: with early conflict detection list it before they store a file.
MARKERS = (".hoodie", ".temp")
#: How often a step is tried while other processes remove and make the folder.
TRIES = 100
#: The errors of a step to something that is no folder: a file or a symbolic link.
_NO_FOLDER = (errno.ENOTDIR, errno.ELOOP)


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
