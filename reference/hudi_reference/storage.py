"""The reference's only way to storage: the semantics of an object store, and no more.

No rename, no append, no directories. A path is relative to the table's base path and uses `/`. An object appears whole or
not at all. What creates an object exclusively (`create`) or replaces a known version (`replace`) decides every race
between writers; nothing else does.
"""

import fcntl
import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from hudi_reference.errors import Misuse, PathOutsideTable
from hudi_reference.requirement import implements


@dataclass(frozen=True)
class ObjectInfo:
    """An object as a listing shows it. `size` in bytes, `modified` in milliseconds since the epoch."""

    path: str
    size: int
    modified: int
    version: str


class ObjectExists(Exception):
    """`create` found the object there already."""


class ObjectChanged(Exception):
    """`replace` found another version than the one it was given."""


class Storage(Protocol):
    """What the reference needs of storage. `get`, `open` raise FileNotFoundError for a missing object."""

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """`length` bytes from byte `start` on (all of them if None); fewer if the object ends before."""

    def open(self, path: str) -> pa.NativeFile:
        """The object for random access, closed by the caller."""

    def head(self, path: str) -> ObjectInfo | None:
        """The object's size and version, None if there is none."""

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """All objects below the folder `prefix` at any depth, sorted by path, without those below the folder `skip`."""

    def names(self, folder: str) -> tuple[str, ...]:
        """What lies directly in a folder, sorted: names of objects, and names of folders with a `/` at the end.

        One listing, and the cheapest there is: no sizes, nothing deeper.
        """

    def put(self, path: str, data: bytes) -> None:
        """Create or overwrite."""

    def create(self, path: str, data: bytes) -> None:
        """Create; raises ObjectExists if there is one, of two callers exactly one succeeds."""

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Overwrite that version of the object; raises ObjectChanged if it is another one by now."""

    def delete(self, path: str) -> None:
        """Remove; no error if there is none."""


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
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # somebody has removed the empty folder
                return tempfile.mkstemp(prefix=self._STAGING, dir=folder)

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


class MemoryStorage:
    """Objects in a dictionary; the storage of tests and of simulated processes that share one table."""

    def __init__(self) -> None:
        self._objects: dict[str, tuple[bytes, int]] = {}
        self._lock = Lock()
        self._writes = 0

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Slice the object."""
        return self._body(path)[start : None if length is None else start + length]

    def open(self, path: str) -> pa.NativeFile:
        """Wrap the bytes."""
        return pa.BufferReader(self._body(path))

    def head(self, path: str) -> ObjectInfo | None:
        """Look the object up."""
        found = self._objects.get(inside(path))
        return None if found is None else ObjectInfo(path, len(found[0]), found[1], str(found[1]))

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """Filter the names."""
        folder = inside(prefix)
        return [
            ObjectInfo(path, len(body), written, str(written))
            for path, (body, written) in sorted(self._objects.items())
            if is_below(path, folder) and not (skip is not None and is_below(path, skip))
        ]

    def names(self, folder: str) -> tuple[str, ...]:
        """Cut the paths after the next step."""
        start = len(prefix := f"{inside(folder)}/".lstrip("/"))
        rest = (path[start:].partition("/") for path in tuple(self._objects) if path.startswith(prefix))
        return tuple(sorted({name + slash for name, slash, _ in rest}))

    def put(self, path: str, data: bytes) -> None:
        """Store."""
        with self._lock:
            self._store(path, data)

    def create(self, path: str, data: bytes) -> None:
        """Store unless there."""
        with self._lock:
            if inside(path) in self._objects:
                raise ObjectExists(path)
            self._store(path, data)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Store if the version is the one given."""
        with self._lock:
            info = self.head(path)
            if info is None or info.version != version:
                raise ObjectChanged(path)
            self._store(path, data)

    def delete(self, path: str) -> None:
        """Forget."""
        with self._lock:
            self._objects.pop(inside(path), None)

    def _body(self, path: str) -> bytes:
        try:
            return self._objects[inside(path)][0]
        except KeyError:
            raise FileNotFoundError(path) from None

    def _store(self, path: str, data: bytes) -> None:
        self._writes += 1
        self._objects[inside(path)] = (bytes(data), self._writes)


@implements("LAY-004")
class ObjectStorage:
    """A prefix of a bucket, through obstore. `store` is any obstore store rooted at the table's base path."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """A ranged GET; past the end of the object, no bytes."""
        import obstore

        if start == 0 and length is None:
            return bytes(obstore.get(self._store, inside(path)).bytes())
        info = self.head(path)
        if info is None:
            raise FileNotFoundError(path)
        end = info.size if length is None else min(info.size, start + length)
        return bytes(obstore.get_range(self._store, inside(path), start=start, end=end)) if start < end else b""

    def open(self, path: str) -> pa.NativeFile:
        """Random access by ranged GETs."""
        import obstore

        return pa.PythonFile(io.BufferedReader(_ObjectReader(obstore.open_reader(self._store, inside(path)))), mode="r")

    def head(self, path: str) -> ObjectInfo | None:
        """A HEAD request."""
        import obstore

        try:
            return _object_info(obstore.head(self._store, inside(path)))
        except FileNotFoundError:
            return None

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """LIST, all pages."""
        import obstore

        pages = obstore.list(self._store, inside(prefix) or None)
        found = [_object_info(meta) for page in pages for meta in page]
        kept = [info for info in found if is_below(info.path, prefix) and not (skip and is_below(info.path, skip))]
        return sorted(kept, key=lambda info: info.path)

    def names(self, folder: str) -> tuple[str, ...]:
        """LIST with the delimiter `/`, all pages."""
        import obstore

        found = obstore.list_with_delimiter(self._store, inside(folder) or None)
        objects = (meta["path"].rpartition("/")[2] for meta in found["objects"])
        folders = (f"{prefix.rstrip('/').rpartition('/')[2]}/" for prefix in found["common_prefixes"])
        return tuple(sorted([*objects, *folders]))

    def put(self, path: str, data: bytes) -> None:
        """PUT."""
        import obstore

        obstore.put(self._store, inside(path), data)

    def create(self, path: str, data: bytes) -> None:
        """PUT with If-None-Match: *."""
        import obstore

        try:
            obstore.put(self._store, inside(path), data, mode="create")
        except obstore.exceptions.AlreadyExistsError as error:
            raise ObjectExists(path) from error

    def replace(self, path: str, data: bytes, version: str) -> None:
        """PUT with If-Match."""
        import obstore

        try:
            obstore.put(self._store, inside(path), data, mode={"e_tag": version})
        except (obstore.exceptions.PreconditionError, FileNotFoundError) as error:
            raise ObjectChanged(path) from error

    def delete(self, path: str) -> None:
        """DELETE."""
        import obstore

        with suppress(FileNotFoundError):
            obstore.delete(self._store, inside(path))


class _ObjectReader(io.RawIOBase):
    """obstore's reader as a file of Python: Arrow asks a file for more than reading and seeking."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._reader.seek(offset, whence))

    def tell(self) -> int:
        return int(self._reader.tell())

    def readinto(self, buffer: Any) -> int:
        data = self._reader.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@dataclass
class _Memory:
    """The tables of `memory:///` URIs of this process."""

    tables: dict[str, MemoryStorage] = field(default_factory=dict)


_MEMORY = _Memory()


def storage_of(uri: str) -> Storage:
    """The storage that a table's URI names: `file:///path` or a plain path, `memory:///name`, `s3://bucket/prefix`.

    S3 takes endpoint and keys from the usual environment variables (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, ...).
    """
    parts = urlsplit(uri)
    if parts.scheme in ("s3", "s3a"):
        return ObjectStorage(_s3_store(parts.netloc, parts.path))
    if parts.scheme == "memory":
        return _MEMORY.tables.setdefault(parts.netloc + parts.path, MemoryStorage())
    if parts.scheme == "file":
        return LocalStorage(Path(unquote(parts.path)))
    if "://" in uri:
        raise Misuse(f"unknown storage scheme {parts.scheme!r}", expected="file, s3 or memory", found=uri)
    return LocalStorage(Path(uri).absolute())


def _s3_store(bucket: str, prefix: str) -> Any:
    """Retries are off: after a retried create the answer would no longer say whose object is there."""
    from obstore.store import S3Store

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    options: dict[str, Any] = {"client_options": {"allow_http": True}, "retry_config": {"max_retries": 0}}
    if endpoint:
        options |= {"endpoint": endpoint, "virtual_hosted_style_request": False}
    return S3Store(bucket, prefix=prefix.strip("/") or None, **options)


def is_below(path: str, folder: str) -> bool:
    """Whether `path` lies in `folder` or deeper; every path lies below the empty folder."""
    folder = folder.rstrip("/")
    return not folder or path.startswith(folder + "/")


def inside(path: str) -> str:
    """`path` itself, if it stays inside the table.

    Raises PathOutsideTable for absolute paths and those with `.` or `..` steps: a hostile name in the table's metadata must
    not reach other files.
    """
    steps = path.split("/")
    if path.startswith("/") or "\0" in path or ".." in steps or "." in steps:
        raise PathOutsideTable("a path that leads outside the table", rule="LAY-005", found=repr(path))
    return path.strip("/")


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


def _object_info(meta: Any) -> ObjectInfo:
    return ObjectInfo(meta["path"], meta["size"], int(meta["last_modified"].timestamp() * 1000), str(meta["e_tag"]))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
