"""The read requests of a storage, for storages that treat only the changes of another one differently."""

import pyarrow as pa

from hudi_reference.storage import ObjectInfo, Storage


class StorageReads:
    """Reads `storage`."""

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
