"""A storage that can only be read, so that a validation cannot change a table."""

from dataclasses import dataclass
from typing import NoReturn

from hudi_conformance.storage_reads import StorageReads
from hudi_reference.errors import Misuse
from hudi_reference.storage import Storage


@dataclass(frozen=True)
class ReadOnlyStorage(StorageReads):
    """The read requests of a storage. Every other request raises Misuse."""

    storage: Storage

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
