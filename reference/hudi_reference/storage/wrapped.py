"""Views of a storage: a folder as a storage, a storage with one additional object, and an object as a file."""

import io
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from hudi_reference.storage.protocol import ObjectInfo, Storage


@dataclass(frozen=True)
class FolderStorage:
    """The objects below a folder as a storage."""

    storage: Storage
    folder: str

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """See `Storage`, also for the other methods."""
        return self.storage.get(self._path(path), start, length)

    def open(self, path: str) -> pa.NativeFile:
        """For random access."""
        return self.storage.open(self._path(path))

    def head(self, path: str) -> ObjectInfo | None:
        """Size and version."""
        found = self.storage.head(self._path(path))
        return None if found is None else replace(found, path=path)

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """All objects with their paths relative to the folder."""
        found = self.storage.list(self._path(prefix), skip=None if skip is None else self._path(skip))
        return [replace(info, path=info.path.removeprefix(f"{self.folder}/")) for info in found]

    def names(self, folder: str) -> tuple[str, ...]:
        """The entries directly in a folder."""
        return self.storage.names(self._path(folder))

    def put(self, path: str, data: bytes) -> None:
        """Create or overwrite."""
        self.storage.put(self._path(path), data)

    def create(self, path: str, data: bytes) -> None:
        """Create."""
        self.storage.create(self._path(path), data)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Overwrite that version."""
        self.storage.replace(self._path(path), data, version)

    def delete(self, path: str) -> None:
        """Remove."""
        self.storage.delete(self._path(path))

    def _path(self, path: str) -> str:
        return f"{self.folder}/{path}".strip("/")


@dataclass(frozen=True)
class StorageWithPendingObject(FolderStorage):
    """A read-only view of a storage with one additional object."""

    path: str = ""
    content: bytes = b""

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Includes the additional object."""
        if path == self.path:
            return self.content[start : None if length is None else start + length]
        return super().get(path, start, length)

    def names(self, folder: str) -> tuple[str, ...]:
        """Includes the additional object."""
        parent, _, name = self.path.rpartition("/")
        found = super().names(folder)
        return tuple(sorted({*found, name})) if folder == parent else found


class ObjectReader(io.RawIOBase):
    """An object of known size, whose last bytes are known too, as a Python file object.

    `read` returns the bytes between two offsets.
    """

    def __init__(self, read: Callable[[int, int], bytes], size: int, end: bytes) -> None:
        self._read, self._size, self._end, self._place = read, size, end, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """The new position."""
        self._place = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        return self._place

    def tell(self) -> int:
        """The position."""
        return self._place

    def readinto(self, buffer: Any) -> int:
        """How many bytes were read; 0 at the end."""
        known = self._place - (self._size - len(self._end))
        if known >= 0:
            data = self._end[known : known + len(buffer)]
        else:
            data = self._read(self._place, min(self._size, self._place + len(buffer)))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)
