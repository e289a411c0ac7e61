"""A folder of the local file system as storage."""

import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from hudi_reference.errors import SymbolicLinkInTable
from hudi_reference.requirement import implements
from hudi_reference.storage.protocol import ObjectChanged, ObjectExists, ObjectInfo, require_inside_table


@implements("S3-001", "S3-002")
class LocalStorage:
    """A folder of the local file system.

    A new object is written to a hidden file in its folder, and then linked (create) or renamed (overwrite) to its name. Both
    are atomic, so that a reader never sees a partial file. Folders are created and removed with their contents.

    The root and the folders above it may be symbolic links. Below the root none is followed, because its target may lie outside
    the table: every operation raises SymbolicLinkInTable for a path that leads through a link, or to one. All paths go through
    `_locate`, and all listings through `_entries`.
    """

    _STAGING = ".staging~"

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    @implements("LAY-005")
    def _locate(self, path: str) -> tuple[str, os.stat_result | None]:
        """The path of an object and its status, if it exists. Raises PathOutsideTable, SymbolicLinkInTable."""
        place, found = str(self.root), None
        steps = [step for step in require_inside_table(path).split("/") if step]
        for number, step in enumerate(steps, 1):
            place = f"{place}/{step}"
            try:
                found = os.lstat(place)
            except (FileNotFoundError, NotADirectoryError):  # a folder that does not exist has no contents
                return "/".join((place, *steps[number:])), None
            if stat.S_ISLNK(found.st_mode):
                raise self._link(place)
        return place, found

    def _link(self, place: str) -> SymbolicLinkInTable:
        return SymbolicLinkInTable(
            "symbolic links inside the table are not followed", rule="LAY-005", path=os.path.relpath(place, self.root),
            expected="folders and ordinary files below the base path", found="a symbolic link",
            remedy="remove the link, or replace it by its target",
        )  # fmt: skip

    def existing(self, path: str) -> tuple[Path, os.stat_result]:
        """The file of an object, with its size and times.

        Raises:
            FileNotFoundError: there is no such object, or the path is a folder.
            PathOutsideTable: the path leads outside the table.
            SymbolicLinkInTable: the path leads through a link, or to one.
        """
        place, found = self._locate(path)
        if found is None or not stat.S_ISREG(found.st_mode):
            raise FileNotFoundError(path)
        return Path(place), found

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a range."""
        with self.existing(path)[0].open("rb") as file:
            file.seek(start)
            return file.read() if length is None else file.read(length)

    def open(self, path: str) -> pa.NativeFile:
        """Map the file into memory."""
        full, found = self.existing(path)
        return pa.memory_map(str(full)) if found.st_size else pa.BufferReader(b"")

    def head(self, path: str) -> ObjectInfo | None:
        """Stat the file."""
        try:
            return _local_info(path, self.existing(path)[1])
        except FileNotFoundError:
            return None

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """Walk the folder."""
        skipped = None if skip is None else str(self.root / skip.rstrip("/"))
        folders, found = [self._locate(prefix)[0]], []
        while folders:
            for entry in self._entries(folders.pop(), skipped):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False) and not entry.name.startswith(self._STAGING):
                    with suppress(FileNotFoundError):  # deleted after the folder was read
                        path = os.path.relpath(entry.path, self.root)
                        found.append(_local_info(path, entry.stat(follow_symlinks=False)))
        return sorted(found, key=lambda info: info.path)

    def names(self, folder: str) -> tuple[str, ...]:
        """Read the folder."""
        entries = self._entries(self._locate(folder)[0])
        found = [entry.name if entry.is_file(follow_symlinks=False) else f"{entry.name}/" * entry.is_dir() for entry in entries]
        return tuple(sorted([name for name in found if name and not name.startswith(self._STAGING)]))

    def _entries(self, folder: str, skip: str | None = None) -> Sequence[os.DirEntry[str]]:
        """The entries directly in a folder, without `skip`; none if there is no such folder. Raises SymbolicLinkInTable."""
        try:
            with os.scandir(folder) as entries:
                found = [entry for entry in entries if entry.path != skip]
        except (FileNotFoundError, NotADirectoryError):
            return []
        for entry in found:
            if entry.is_symlink():
                raise self._link(entry.path)
        return found

    def put(self, path: str, data: bytes) -> None:
        """Write a hidden file, then rename it."""
        with self._hidden_copy(path, data) as staged:
            staged.replace(Path(self._locate(path)[0]))

    def create(self, path: str, data: bytes) -> None:
        """Write a hidden file, then link it to its name."""
        with self._hidden_copy(path, data) as staged:
            try:
                os.link(staged, Path(self._locate(path)[0]))
            except FileExistsError as error:
                raise ObjectExists(path) from error

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Compare and overwrite under a lock on the folder."""
        with _lock_folder(Path(self._locate(path)[0]).parent):
            info = self.head(path)
            if info is None or info.version != version:
                raise ObjectChanged(path)
            self.put(path, data)

    def delete(self, path: str) -> None:
        """Delete the file and the folders that become empty."""
        full = Path(self._locate(path)[0])
        with suppress(FileNotFoundError, NotADirectoryError):
            full.unlink()
            with suppress(OSError):  # the first folder that is not empty
                for folder in full.relative_to(self.root).parents[:-1]:
                    (self.root / folder).rmdir()

    def _create_hidden_file(self, folder: Path) -> tuple[int, str]:
        """A new hidden file, open for writing: (descriptor, path)."""
        while True:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                return tempfile.mkstemp(prefix=self._STAGING, dir=folder)
            except FileNotFoundError:
                continue  # another process has removed the empty folder
            except FileExistsError:  # another process removed it while it was created, or a file has its name
                if any(above.is_file() for above in (folder, *folder.parents)):
                    raise

    @contextmanager
    def _hidden_copy(self, path: str, data: bytes) -> Iterator[Path]:
        descriptor, name = self._create_hidden_file(Path(self._locate(path)[0]).parent)
        staged = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            staged.chmod(0o644)
            yield staged
        finally:
            staged.unlink(missing_ok=True)


def _local_info(path: str, found: os.stat_result) -> ObjectInfo:
    version = hashlib.md5(f"{found.st_ino} {found.st_mtime_ns} {found.st_size}".encode(), usedforsecurity=False).hexdigest()
    return ObjectInfo(path, found.st_size, found.st_mtime_ns // 1_000_000, version)


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
