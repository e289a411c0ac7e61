"""What the reference asks of storage."""

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa


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
