"""The protocol of storage, and the paths of objects, relative to the table's base path."""

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from hudi_reference.errors import PathOutsideTable


@dataclass(frozen=True)
class ObjectInfo:
    """An object as a listing shows it. `size` in bytes, `modified` in milliseconds since the epoch."""

    path: str
    size: int
    modified: int
    version: str


class ObjectExists(Exception):
    """The object that `create` was called for exists already."""


class ObjectChanged(Exception):
    """The object that `replace` was called for has another version."""


class Storage(Protocol):
    """The operations on objects. `get` and `open` raise FileNotFoundError for a missing object."""

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """`length` bytes from byte `start` on (all of them if None); fewer at the end of the object."""

    def open(self, path: str) -> pa.NativeFile:
        """The object for random access, closed by the caller."""

    def head(self, path: str) -> ObjectInfo | None:
        """The object's size and version, None if there is none."""

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """All objects below the folder `prefix` at any depth, sorted by path, without those below the folder `skip`."""

    def names(self, folder: str) -> tuple[str, ...]:
        """The entries directly in a folder, sorted: names of objects, and names of folders with a `/` at the end.

        It is one listing without sizes and without subfolders.
        """

    def put(self, path: str, data: bytes) -> None:
        """Create or overwrite."""

    def create(self, path: str, data: bytes) -> None:
        """Create the object; raises ObjectExists if it exists. Of two callers, exactly one succeeds."""

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Overwrite this version of the object; raises ObjectChanged if it has another version."""

    def delete(self, path: str) -> None:
        """Delete the object; no error if it does not exist."""


def is_below(path: str, folder: str) -> bool:
    """Whether `path` is below `folder`; every path is below the empty folder."""
    folder = folder.rstrip("/")
    return not folder or path.startswith(folder + "/")


def require_inside_table(path: str) -> str:
    """`path`, if it is inside the table.

    Raises PathOutsideTable for absolute paths and for `.` or `..` steps, so that malicious names in the metadata of a table
    do not reach other files.
    """
    steps = path.split("/")
    if path.startswith("/") or "\0" in path or ".." in steps or "." in steps:
        raise PathOutsideTable("the path leads outside the table", rule="LAY-005", found=repr(path))
    return path.strip("/")
