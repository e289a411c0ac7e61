"""A storage that can only be read, so that a validation cannot change a table."""

from dataclasses import dataclass
from typing import NoReturn

import pyarrow as pa

from hudi_reference.errors import Misuse
from hudi_reference.storage import ObjectInfo, Storage


@dataclass(frozen=True)
class ReadOnlyStorage:
    """The read requests of a storage. Every other request raises Misuse."""

    storage: Storage

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """See `Storage`, also for the other methods."""
        return self.storage.get(path, start, length)

    def open(self, path: str) -> pa.NativeFile:
        """For random access."""
        return self.storage.open(path)

    def head(self, path: str) -> ObjectInfo | None:
        """Size and version."""
        return self.storage.head(path)

    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """All objects below a folder."""
        return self.storage.list(prefix, skip=skip)

    def names(self, folder: str) -> tuple[str, ...]:
        """The entries directly in a folder."""
        return self.storage.names(folder)

    def put(self, path: str, data: bytes) -> None:
        """Refused."""
        _refuse("put", path)

    def create(self, path: str, data: bytes) -> None:
        """Refused."""
        _refuse("create", path)

    def replace(self, path: str, data: bytes, version: str) -> None:
        """Refused."""
        _refuse("replace", path)

    def delete(self, path: str) -> None:
        """Refused."""
        _refuse("delete", path)


def _refuse(request: str, path: str) -> NoReturn:
    raise Misuse(f"a validation must not change the table: {request}", rule="RDR-001", path=path)
