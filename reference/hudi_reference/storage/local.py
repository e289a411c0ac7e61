"""A folder of the local file system as storage."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from hudi_reference.requirement import implements
from hudi_reference.storage.paths import inside
from hudi_reference.storage.protocol import ObjectChanged, ObjectExists, ObjectInfo


@implements("S3-001", "S3-002")
class LocalStorage:
    """A folder of the local file system.

    A new object is written beside its place under a name that no listing shows, then linked (create) or renamed
    (overwrite) into place: both are atomic, a reader never sees half a file. Folders come and go with what is in them.
    """

    _STAGING = ".staging~"

    def __init__(self, root: Path) -> None:
        self.root = root

    def _full(self, path: str) -> Path:
        return self.root / inside(path)

    def _existing(self, path: str) -> Path:
        """The file; a folder is no object, and nothing lies below a file."""
        full = self._full(path)
        if not full.is_file():
            raise FileNotFoundError(path)
        return full

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a range."""
        with self._existing(path).open("rb") as file:
            file.seek(start)
            return file.read() if length is None else file.read(length)

    def open(self, path: str) -> pa.NativeFile:
        """Map the file into memory."""
        full = self._existing(path)
        return pa.memory_map(str(full)) if full.stat().st_size else pa.BufferReader(b"")

    def head(self, path: str) -> ObjectInfo | None:
        """Stat the file."""
        full = self._full(path)
        try:
            stat = full.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return _local_info(path, stat) if full.is_file() else None

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """Walk the folder."""
        skipped = None if skip is None else str(self.root / skip.rstrip("/"))
        found = []
        for entry in _walk(str(self._full(prefix)), skipped):
            if not entry.name.startswith(self._STAGING):
                with suppress(FileNotFoundError):  # deleted since the folder was read
                    found.append(_local_info(os.path.relpath(entry.path, self.root), entry.stat()))
        return sorted(found, key=lambda info: info.path)

    def names(self, folder: str) -> tuple[str, ...]:
        """Read the folder."""
        try:
            with os.scandir(self._full(folder)) as entries:
                found = [entry.name if entry.is_file() else f"{entry.name}/" * entry.is_dir() for entry in entries]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(sorted([name for name in found if name and not name.startswith(self._STAGING)]))

    def put(self, path: str, data: bytes) -> None:
        """Write beside, then rename into place."""
        with self._staged(path, data) as staged:
            staged.replace(self._full(path))

    def create(self, path: str, data: bytes) -> None:
        """Write beside, then link into place."""
        with self._staged(path, data) as staged:
            try:
                os.link(staged, self._full(path))
            except FileExistsError as error:
                raise ObjectExists(path) from error

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Compare and overwrite under a lock on the folder."""
        with _locked(self._full(path).parent):
            info = self.head(path)
            if info is None or info.version != version:
                raise ObjectChanged(path)
            self.put(path, data)

    def delete(self, path: str) -> None:
        """Unlink, and remove the folders that are empty now."""
        full = self._full(path)
        with suppress(FileNotFoundError, NotADirectoryError):
            full.unlink()
            with suppress(OSError):  # the first one that is not empty
                for folder in full.relative_to(self.root).parents[:-1]:
                    (self.root / folder).rmdir()

    def _stage(self, folder: Path) -> tuple[int, str]:
        """A new file that no listing shows, open for writing: (descriptor, path)."""
        while True:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                return tempfile.mkstemp(prefix=self._STAGING, dir=folder)
            except FileNotFoundError:
                continue  # somebody has removed the empty folder
            except FileExistsError:  # the same, while it was made; or a file lies in its place
                if any(above.is_file() for above in (folder, *folder.parents)):
                    raise

    @contextmanager
    def _staged(self, path: str, data: bytes) -> Iterator[Path]:
        descriptor, name = self._stage(self._full(path).parent)
        staged = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            staged.chmod(0o644)
            yield staged
        finally:
            staged.unlink(missing_ok=True)


def _walk(folder: str, skip: str | None) -> Iterator[os.DirEntry[str]]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.path == skip:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, skip)
        elif entry.is_file():
            yield entry


def _local_info(path: str, stat: os.stat_result) -> ObjectInfo:
    version = hashlib.md5(f"{stat.st_ino} {stat.st_mtime_ns} {stat.st_size}".encode(), usedforsecurity=False).hexdigest()
    return ObjectInfo(path, stat.st_size, stat.st_mtime_ns // 1_000_000, version)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
